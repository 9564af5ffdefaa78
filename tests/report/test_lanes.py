from __future__ import annotations

from dataclasses import replace

import pytest

from hastega_magic.report import Report
from hastega_magic.report.lanes import lanes_notes, lanes_text
from hastega_magic.report.model import Lanes, LaneStep

GOLDEN = """\
line                                lane 0  lane 1  lane 2   lane 3
   1  %0 = load range(1, 33554433)       1       2       3        4
   5  %m: bool = eq %2, 0             True    True   False     True
   6  total = sum %2 where %m        43560  386232       –  4268880"""


def test_the_whole_table(sample):
    (pipeline,) = sample.logistic().pipelines
    assert lanes_text(pipeline.lanes) == GOLDEN
    assert GOLDEN in sample.logistic().to_html()


def test_dead_lanes_have_a_sign_that_is_explained(sample):
    (pipeline,) = sample.logistic().pipelines
    assert any(note.startswith("–: the lane takes no part") for note in lanes_notes(pipeline.lanes))
    alive = Lanes(2, (LaneStep(1, "%0", ("1", "2"), (True, True)),), 1)
    assert not any(note.startswith("–") for note in lanes_notes(alive))
    # A value that a lane has although it takes no part is not shown as if it counted.
    ghost = Lanes(2, (LaneStep(1, "%0", ("1", "2"), (True, False)),), 1)
    assert lanes_text(ghost).splitlines()[1].split() == ["1", "%0", "1", "–"]


def test_long_views_are_cut_with_a_note(sample):
    (pipeline,) = sample.logistic().pipelines
    many = Lanes(
        16, tuple(LaneStep(i, "%1 = " + "x" * 500, ("v" * 200,) * 16, (True,) * 16) for i in range(64)), 900
    )
    html = Report(pipelines=(replace(pipeline, lanes=many),)).to_html()
    assert "The first 40 of 900 steps are shown." in html
    assert len(html) - len(sample.logistic().to_html()) < 20_000
    whole = Report(pipelines=(replace(pipeline, lanes=many),)).to_html(full=True)
    assert "The first 64 of 900 steps are shown." in whole


def test_without_lanes_there_is_no_section(sample):
    (pipeline,) = sample.logistic().pipelines
    report = Report(pipelines=(replace(pipeline, lanes=None),))
    assert "<b>Lanes</b>" not in report.to_html()
    assert "lanes" not in report.to_dict()["pipelines"][0]


@pytest.mark.parametrize(
    "data",
    [
        3,
        {"steps": []},
        {"steps": [3]},
        {"steps": [{"values": ["1", 2, None], "active": [True]}], "lanes": "x"},
    ],
)
def test_a_broken_view_is_read_as_far_as_it_goes(data):
    report = Report.from_dict({"pipelines": [{"lanes": data}]})
    assert report.to_html()
    lanes = report.pipelines[0].lanes
    assert lanes is None or all(len(step.values) == len(step.active) for step in lanes.steps)


def test_missing_masks_mean_that_all_lanes_take_part():
    (pipeline,) = Report.from_dict({"pipelines": [{"lanes": {"steps": [{"values": ["1", "2"]}]}}]}).pipelines
    assert pipeline.lanes == Lanes(2, (LaneStep(0, "", ("1", "2"), (True, True)),), 1)
