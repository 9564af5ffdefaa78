"""Notes name an element by its number in what it is said to be an element of."""

from __future__ import annotations

import numpy as np
import pytest

from hastega_magic.session import Options, Session

XS = [10, 20, 30, 40, 50, 60, 70, 80]
BAD = "lambda x: 2 + 1 // (x - {})"


def note_of(stages: str, source: object = XS, **options: object) -> str:
    session = Session({"xs": source}, Options(**{"on": "parallel", "baseline": False, **options}))
    with pytest.raises(ZeroDivisionError) as raised:
        session.run_cell(f"r = {stages}")
    (said,) = (each for each in raised.value.__notes__ if each.startswith("hastega: element"))
    return said.removeprefix("hastega: ").partition(", in `")[0]


@pytest.mark.parametrize(
    "last", ["map({})", "filter({})", "take_while({})", "drop_while({})", "min(key={})", "where({}, 0)"]
)
@pytest.mark.parametrize(
    "stages",
    ["drop(2)", "step(2)", "reverse", "drop_while(lambda x: x < 25)", "drop(1) |> reverse |> step(3)", "take(7)"],
)  # fmt: skip
def test_in_the_source(stages: str, last: str) -> None:
    assert note_of(f"xs |> {stages} |> {last.format(BAD.format(50))}") == "element 4 of xs, which is 50"


@pytest.mark.parametrize(
    ("stages", "element", "value"),
    [
        (f"xs |> cumsum |> map({BAD.format(60)})", "element 2 of what `cumsum` gives", "60"),
        (f"xs |> drop(2) |> cumsum |> filter({BAD.format(120)})", "element 2 of what `cumsum` gives", "120"),
        (f"xs |> filter(_ > 25) |> drop(1) |> map({BAD.format(50)})", "element 2 of what `filter(_ > 25)` gives", "50"),
        (f"xs |> filter(_ > 25) |> map({BAD.format(50)})", "element 4 of xs", "50"),
        (f"xs |> map({BAD.format(30)}) |> chunk(3) |> map(sum)", "element 2 of xs", "30"),
        (f"xs |> drop(1) |> map({BAD.format(80)}) |> window(3) |> map(sum)", "element 7 of xs", "80"),
        ("xs |> drop(2) |> zip(xs) |> map(lambda a, b: 1 // (a - 50))", "element 2 of what `drop(2)` gives", "50"),
        ("xs |> enumerate |> where(lambda t: 1 // (t[0] - 3), 0)", "element 3", "(3, 40)"),
        (f"iter(xs) |> min(key={BAD.format(30)})", "element 2", "30"),
    ],
)  # fmt: skip
def test_in_what_a_stage_gives(stages: str, element: str, value: str) -> None:
    assert note_of(stages) == f"{element}, which is {value}"


@pytest.mark.parametrize("behind", ["", " |> map(_ * 2)", " |> filter(_ > 0) |> sum"])
def test_without_fusion(behind: str) -> None:
    stages = f"xs |> map(_ + 1) |> take(5) |> map({BAD.format(31)}){behind}"
    assert note_of(stages, fuse=False) == "element 2 of what `take(5)` gives, which is 31"
    assert note_of(f"xs |> map({BAD.format(30)}){behind}", fuse=False) == "element 2 of xs, which is 30"


def test_in_a_stretch_of_a_large_source() -> None:
    source = np.arange(100_000)
    stages = f"xs |> drop(2) |> take_while({BAD.format(70_000)}) |> sum"
    assert note_of(stages, source) == "element 70000 of xs, which is 70000"
