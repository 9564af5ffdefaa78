"""Shares and schedules in a report: every form shows them, whatever a file holds."""

from dataclasses import replace

import pytest

from hastega_magic.report import Report
from hastega_magic.report.choices import share_sentences, tried_rows, tuning_hint, tuning_sentences
from hastega_magic.report.measured import Candidate, Share, Split, Tuning

PARTS = Share("parallel", "a CPU", 4, 3_000_000, 3e-3), Share("opencl:0", "a <b>GPU</b>", 0, 1_000_000, 1e-3)
SPLIT = Split(PARTS, "probed", 0.3)
OWN, FAST = (
    Candidate("8 lanes × 8", 2e-3, (2e-3, 3e-3)),
    Candidate("16 lanes × 2", 1e-3, (1e-3, 1.1e-3), True),
)
TUNING = Tuning(
    (OWN, Candidate("32 lanes × 2", note="it did not <i>run</i>"), FAST), 20, 4096, 1.5, 2.0, "time"
)


def with_them(sample, split=SPLIT, tuning=TUNING):
    report = sample.logistic()
    return replace(
        report, pipelines=(replace(report.pipelines[0], backend="all", split=split, tuning=tuning),)
    )


def test_they_are_in_every_form_and_come_back_from_json(sample):
    report = with_them(sample)
    assert Report.from_dict(report.to_dict()) == report
    text, html = report.to_text(120), report.to_html()
    for words in ("3 000 000", "75 %", "1.00 G/s", "16 lanes × 2", "2.0 ×", "✓ chosen", "1.00 ms to 1.10 ms"):
        spaced = words.replace(" ", "\u202f") if words[0] == "3" else words
        assert spaced in text
        assert spaced in html
    assert "<i>" not in html
    assert "a <b>GPU</b>" not in html
    assert "shared by a CPU and a <b>GPU</b>" in text


def test_who_computed_nothing_shared_nothing(sample):
    first, second = SPLIT.parts
    alone = with_them(sample, replace(SPLIT, parts=(first, replace(second, elements=0, seconds=0.0))))
    assert f"all of it computed by {first.device}" in alone.to_text(120)
    assert "shared by" not in alone.to_text(120)
    nobody = with_them(sample, replace(SPLIT, parts=tuple(replace(each, elements=0) for each in SPLIT.parts)))
    assert "shared by a CPU and" in nobody.to_text(120)


def test_the_sentences_say_what_the_figures_say():
    said = " ".join(share_sentences(SPLIT))
    assert "first small part" in said
    assert "waited 30 %" in said
    failed = replace(SPLIT, parts=(SPLIT.parts[0], replace(SPLIT.parts[1], failed="it caught fire")))
    assert "the CPU computed what was left to it: it caught fire" in " ".join(share_sentences(failed))
    assert tuning_hint(TUNING) == "16 lanes × 2: 2.0 × as fast as the compiler's own schedule"
    assert "2 of 20 schedules" in " ".join(tuning_sentences(TUNING))
    (earlier,) = tuning_sentences(Tuning((OWN, FAST), earlier="2026-11-21"))
    assert "Tuned on 2026-11-21" in earlier
    same = Tuning((replace(OWN, chosen=True), replace(FAST, chosen=False)))
    assert "nothing was faster" in tuning_hint(same)


def test_long_lists_are_cut_but_not_in_a_page():
    many = Tuning((OWN, *(Candidate(str(number), 1e-3 * (number + 1)) for number in range(40))))
    rows = tried_rows(many)
    assert rows[0][0] == "8 lanes × 8"
    assert [row[0] for row in rows[1:3]] == ["0", "1"], "the fastest first"
    assert rows[-1][0] == f"and {41 - (len(rows) - 1)} more"
    assert len(tried_rows(many, whole=True)) == 41


@pytest.mark.parametrize(
    "odd", [7, None, [], {"parts": 3, "tried": "x"}, {"parts": [None, 5, {"elements": -3, "seconds": float("nan")}],
            "waited": 1e300, "by": [], "tried": [{}, 3, {"spread": {}, "seconds": -1}], "limit": "x"}],
)  # fmt: skip
def test_files_may_hold_anything(sample, odd):
    data = sample.logistic().to_dict()
    data["pipelines"][0].update(split=odd, tuning=odd, backend="all")
    report = Report.from_dict(data)
    assert report.to_text()
    assert report.to_html()
    for pipeline in report.pipelines:
        assert list(share_sentences(pipeline.split or SPLIT))
        assert list(tuning_sentences(pipeline.tuning or TUNING))
