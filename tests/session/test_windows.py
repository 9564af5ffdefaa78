"""Loops whose blocks' partial results are folded window by window: what vast ranges are gone through by."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hastega_magic.compiler import backends
from hastega_magic.runtime import windows
from hastega_magic.runtime.cpu.launch import LoopResult
from hastega_magic.session import Options, Session

N = 1_300_003
"""More than nine windows of 32 blocks would hold, and no whole number of blocks."""

ON = ["simd", "parallel", "opencl", "all"]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Small windows; the list gets the first block of each."""
    found: list[int] = []
    usual = LoopResult.next_window

    def noted(self: LoopResult, folds: object) -> None:
        found.append(self.begin)
        usual(self, folds)

    monkeypatch.setattr(LoopResult, "next_window", noted)
    monkeypatch.setattr(windows, "WORDS", 64)
    monkeypatch.setattr(backends, "soon", lambda *given: None)
    return found


def value(cell: str, on: str = "parallel", **names: object) -> object:
    """The value of the cell's pipeline over `xs`."""
    options = Options(on=on, threads=3, baseline=False)
    return Session(dict(names), options).run_cell(f"{cell}\n").value


def in_windows(cell: str, on: str, opened: list[int], **names: object) -> object:
    """The same, which must have been gone through in windows."""
    opened.clear()
    found = value(cell, on, **names)
    assert len(set(opened)) > 4
    return found


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ("sum", sum),
        ("map(_ * 3_000_000_000_000) |> sum", lambda xs: 3_000_000_000_000 * sum(xs)),
        ("filter(lambda x: x % 7 == 3) |> count", lambda xs: sum(x % 7 == 3 for x in xs)),
        ("filter(lambda x: x % 7 == 3) |> mean", lambda xs: np.mean([x for x in xs if x % 7 == 3])),
        ("map(lambda x: x * x % 10_007) |> max", lambda xs: max(x * x % 10_007 for x in xs)),
        ("filter(lambda x: x > 900_000) |> min", lambda xs: 900_001),
        ("map(_ == 1_300_002) |> any", lambda xs: True),
        ("map(_ < 0) |> any", lambda xs: False),
        ("map(_ < 1_300_002) |> all", lambda xs: False),
        ("map(_ < 1_300_003) |> all", lambda xs: True),
        ("reduce(lambda a, b: a ^ b)", lambda xs: 1_300_003),
        ("filter(_ > 5_000_000) |> max", ValueError),
    ],
)
def test_values_are_pythons(on: str, stages: str, expected: object, opened: list[int]) -> None:
    """Of integers, whatever runs the loop."""
    cell = f"range({N}) |> {stages}"
    if expected is ValueError:
        with pytest.raises(ValueError, match=r"max\(\)"):
            in_windows(cell, on, opened)
        assert len(opened) > 4
        return
    found = in_windows(cell, on, opened)
    wanted = expected(range(N))  # type: ignore[operator]
    assert found == wanted
    assert type(found) is (float if "mean" in stages else type(wanted))


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize(
    "stages",
    [
        "map(lambda x: math.sin(x)) |> sum",
        "map(lambda x: x * 0.1) |> filter(lambda x: x > 3) |> mean",
        "map(lambda x: x / 7) |> var",
        "map(lambda x: complex(x / 3, -x)) |> sum",
    ],
)
def test_floats_have_the_same_bits(
    on: str, stages: str, opened: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the fixed tree gives them of all partial results at once."""
    found = in_windows(f"range({N}) |> {stages}", on, opened, math=math)
    monkeypatch.setattr(windows, "WORDS", 1 << 21)
    opened.clear()
    assert repr(found) == repr(value(f"range({N}) |> {stages}", on, math=math))
    assert not opened


def test_float32_is_added_in_its_own_width(opened: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays, too, are gone through in windows."""
    xs = np.random.default_rng(5).random(N, np.float32)
    found = in_windows("xs |> sum", "parallel", opened, xs=xs)
    monkeypatch.setattr(windows, "WORDS", 1 << 21)
    assert type(found) is np.float32
    assert found == value("xs |> sum", xs=xs)


def test_several_results_of_one_loop(opened: list[int]) -> None:
    """They share its windows."""
    session = Session({}, Options(on="parallel", threads=2, baseline=False))
    session.run_cell(
        f"xs = range({N})\na = xs |> sum\nb = xs |> max\nc = xs |> filter(_ % 2 == 0) |> count\n"
    )
    assert len(opened) > 4
    assert [session.namespace[name] for name in "abc"] == [sum(range(N)), N - 1, (N + 1) // 2]


@pytest.mark.parametrize("on", ON)
def test_blocks_that_need_python_are_known(on: str, opened: list[int]) -> None:
    """All of them: the loop runs once more, without windows."""
    with pytest.raises(ZeroDivisionError):
        value(f"range({N}) |> map(lambda x: 5 // (x - 1_000_000)) |> sum", on)
    assert opened
    found = value(f"range({N}) |> map(lambda x: (x + 2**62) * (x > 1_299_000) * 3) |> sum", on)
    assert found == sum((x + 2**62) * 3 for x in range(1_299_001, N))


@pytest.mark.parametrize("stages", ["argmax", "map(lambda x: x / 3) |> max", "map(_ * 2)"])
def test_places_are_asked_for(stages: str, opened: list[int]) -> None:
    """Of what is looked for again where it was found, each block's result is kept; arrays have a place for each."""
    found = value(f"range({N}) |> {stages}")
    assert not opened
    expected = {"argmax": N - 1, "map(_ * 2)": None}.get(stages, (N - 1) / 3)
    if expected is not None:
        assert found == expected


def test_each_run_of_repeat_begins_anew(opened: list[int]) -> None:
    """Also where several back ends share the elements."""
    for on in ON:
        options = Options(on=on, threads=2, baseline=False, repeat=3)
        assert Session({}, options).run_cell(f"range({N}) |> sum\n").value == sum(range(N))


def test_windows_hold_no_more_than_they_may() -> None:
    """Whatever the number of blocks."""
    from hastega_magic.ir.expr import const
    from hastega_magic.ir.kernel import Accumulate

    sums = [Accumulate("add", const(1), None), Accumulate("count", const(1), None)]
    assert windows.window_of(sums, 1 << 20) == 1 << 19
    assert windows.window_of(sums, 1 << 19) == 0
    assert windows.window_of([Accumulate("mul", const(1), None)], 1 << 40) == 0
    assert windows.window_of([], 1 << 40) == windows.WORDS
