"""An object of the user's that stands for a number of elements is asked for it once in each run."""

from __future__ import annotations

from typing import Any

import pytest

from hastega_magic.session import Options, Session


class Two:
    """Says each time that it is asked."""

    def __init__(self, said: list[Any]) -> None:
        self.said = said

    def __index__(self) -> int:
        self.said.append("index")
        return 2


class Odd:
    """Has no number to give."""

    def __index__(self) -> int:
        raise LookupError("none today")


def run(cell: str, on: str = "simd", **names: Any) -> list[Any]:
    said: list[Any] = []
    session = Session(
        {"two": Two(said), "noted": lambda x: said.append(x) or str(x), "odd": Odd(), **names},
        Options(on=on, baseline=False, quiet=True),
    )
    said.append(session.run_cell(cell).value)
    return said


STAGES = ("take", "drop", "step", "window", "chunk", "enumerate")
CELLS = (
    "range(9) |> {} |> count",
    "[1, 2, 3] |> filter(lambda x: x) |> {} |> to_list",
    "[1, 'a', 3] |> {} |> to_list",
    "{{1, 2}} |> {} |> count",
    "range(0) |> {} |> to_list",
    "range(9) |> {} |> map(lambda x: str(x)) |> to_list",
)


@pytest.mark.parametrize("on", ["simd", "numpy", "python"])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("cell", CELLS)
def test_it_is_asked_once(cell: str, stage: str, on: str) -> None:
    asked, value = run(cell.format(f"{stage}(two)"), on)
    assert asked == "index"
    assert [value] == run(cell.format(f"{stage}(2)"), on)


@pytest.mark.parametrize("stage", STAGES)
def test_and_once_in_each_turn_of_a_loop(stage: str) -> None:
    cell = f"found = []\nfor _ in range(5):\n    found.append(range(9) |> {stage}(two) |> count)\nlen(found)"
    assert run(cell) == ["index"] * 5 + [5]


def test_and_in_each_run_of_a_cell() -> None:
    said: list[Any] = []
    session = Session({"two": Two(said)}, Options(on="simd", baseline=False, quiet=True))
    for _ in range(5):
        session.run_cell("total = range(9) |> drop(two) |> sum")
    assert said == ["index"] * 5


def test_it_is_asked_before_the_elements_and_behind_a_callable() -> None:
    assert run("range(9) |> map(noted) |> take(two) |> to_list") == ["index", 0, 1, ["0", "1"]]
    assert run("range(9) |> noted |> take(two) |> to_list")[:2] == [range(9), "index"]


@pytest.mark.parametrize("on", ["simd", "python"])
def test_what_it_raises_is_raised(on: str) -> None:
    with pytest.raises(LookupError, match="none today"):
        run("range(9) |> map(lambda x: x + 1) |> take(odd) |> to_list", on)
    with pytest.raises(TypeError, match="take takes a whole number of elements"):
        run("range(9) |> take(noted) |> to_list", on)
