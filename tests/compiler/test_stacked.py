"""A statement that became several loops shows the code of each, and its links meet the right lines."""

import json
import re

import pytest

from hastega_magic.compiler.reporting.stacked import MOST, LoopTexts, stacked
from hastega_magic.session import Options, Session

UNFUSED = """\
ys = (range(9000)
      |> map(lambda x: x * 11 % 1009)
      |> map(lambda x: x + 77777)
      |> filter(lambda x: x % 13 > 5))
"""


def run(text, names=None, **options):
    session = Session(names or {})
    report = session.run_cell(text, options=Options(baseline=False, **options)).report
    return session, report.to_dict()["pipelines"][0], report


def texts_of(pipeline, listing, line):
    code = pipeline["code"][listing].splitlines()
    return [
        code[number - 1]
        for link in pipeline["links"]
        if link["span"][0] == link["span"][2] == line
        for number in link[listing]
    ]


def test_every_loop_of_no_fuse_is_shown():
    session, pipeline, _ = run(UNFUSED, fuse=False)
    expected = [x * 11 % 1009 + 77777 for x in range(9000)]
    assert session.namespace["ys"].tolist() == [x for x in expected if x % 13 > 5]
    assert pipeline["loops"] == 3
    code = pipeline["code"]
    for name, comment in (("fused", ";"), ("llvm", ";"), ("asm", "#"), ("opencl", "//")):
        heads = re.findall(rf"^{comment} ── loop (\d) of 3: (\w+)", code[name], re.MULTILINE)
        assert heads == [("1", "map"), ("2", "map"), ("3", "filter")], name
    assert code["llvm"].count("define void @hastega") == 3
    assert all("── loop 3 of 3" in step["text"] for step in code["passes"])
    assert any("3 of them" in why or "all of them" in why for why in pipeline["why"])


@pytest.mark.parametrize("listing", ["fused", "llvm", "opencl"])
def test_links_of_every_loop_meet_their_lines(listing):
    _, pipeline, _ = run(UNFUSED, fuse=False)
    # Without 52-bit multiply-adds, in OpenCL C and on many CPUs, a modulus is its reciprocal in hexadecimal digits.
    reciprocals = listing == "opencl" or (listing == "llvm" and "madd52" not in pipeline["code"]["llvm"])
    constants = ((3, "77777"),) if reciprocals else ((2, "1009"), (3, "77777"), (4, "13"))
    for line, constant in constants:
        assert any(re.search(rf"\b{constant}L?\b", text) for text in texts_of(pipeline, listing, line)), (
            listing,
            line,
        )
    assert not any("77777" in text for text in texts_of(pipeline, listing, 2))
    assert not any("1009" in text for text in texts_of(pipeline, listing, 4))


def test_lanes_point_into_the_first_loop():
    _, pipeline, _ = run(UNFUSED, fuse=False)
    fused = pipeline["code"]["fused"].splitlines()
    steps = [step for step in pipeline["lanes"]["steps"] if step["line"]]
    assert steps
    for step in steps:
        assert step["text"].split(" = ")[0].split(":")[0] in fused[step["line"] - 1]


def test_loops_around_a_barrier_are_both_shown():
    text = "ys = (range(50)\n |> map(lambda x: x * 3)\n |> (lambda values: values[::-1])\n |> map(lambda x: x + 55))"
    session, pipeline, _ = run(text)
    assert list(session.namespace["ys"]) == [x * 3 + 55 for x in reversed(range(50))]
    assert pipeline["loops"] == 2
    assert pipeline["code"]["llvm"].count("define void @hastega") == 2
    assert any("55" in each for each in texts_of(pipeline, "fused", 4))


def test_many_loops_are_cut_and_counted():
    stages = "".join(f"\n  |> map(lambda x: x + {number})" for number in range(MOST + 9))
    session, pipeline, report = run(f"ys = (range(500){stages})", fuse=False)
    added = sum(range(MOST + 9))
    assert session.namespace["ys"].tolist() == [x + added for x in range(500)]
    assert pipeline["loops"] == MOST + 9
    assert "9 more loops, without listings" in pipeline["code"]["fused"]
    assert len(report.to_html()) < 100_000
    assert len(json.dumps(report.published(), ensure_ascii=False).encode()) < 150_000


def test_one_loop_without_a_listing_is_one():
    text = "; ── 1 more loop, without listings"
    part = LoopTexts("map(f)", {"fused": "fused"}, (), (), ())
    assert stacked([part, part], 3).code["fused"].splitlines()[-1] == text


def test_one_loop_has_no_heading():
    _, pipeline, _ = run(UNFUSED)
    assert pipeline["loops"] == 1
    assert all("── loop" not in pipeline["code"][name] for name in ("fused", "llvm", "asm", "opencl"))
