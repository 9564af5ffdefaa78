"""Loops whose blocks' partial results are folded window by window: what vast ranges are gone through by."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hastega_magic.runtime import windows
from hastega_magic.session import Options, Session

N = 1_300_003
"""More than nine windows of 32 blocks would hold, and no whole number of blocks."""

ON = ["simd", "parallel", "opencl", "all"]


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
        ("filter(lambda x: x % 7 == 3) |> mean", lambda xs: float(np.mean([x for x in xs if x % 7 == 3]))),
        ("map(lambda x: x * x % 10_007) |> max", lambda xs: max(x * x % 10_007 for x in xs)),
        ("filter(lambda x: x > 900_000) |> min", lambda xs: 900_001),
        ("map(_ == 1_300_002) |> any", lambda xs: True),
        ("map(_ < 0) |> any", lambda xs: False),
        ("map(_ < 1_300_002) |> all", lambda xs: False),
        ("map(_ < 1_300_003) |> all", lambda xs: True),
        ("reduce(lambda a, b: a ^ b)", lambda xs: 1_300_003),
        ("filter(_ > 5_000_000) |> max", ValueError),
        ("map(lambda x: (x - 700_001) ** 2 // 3) |> argmin", lambda xs: 700_000),
        ("map(lambda x: (x % 911_003) * 2**60) |> max", lambda xs: 911_002 * 2**60),
        ("map(lambda x: (x % 911_003) * 2**60) |> argmax", lambda xs: 911_002),
        ("map(lambda x: x ** 4) |> sum", lambda xs: sum(x**4 for x in xs)),
        ("map(lambda x: x if x % 3 else x / 2) |> max", lambda xs: 1_300_001),
        ("map(lambda x: x if x % 3 else x / 2) |> min", lambda xs: 0.0),
        ("map(lambda x: 2 if x % 100_000 == 17 else 1) |> prod", lambda xs: 2**13),
        ("map(lambda x: (x - 650_000) / 3) |> max", lambda xs: 650_002 / 3),
        ("map(lambda x: abs(x - 650_000.0)) |> argmin", lambda xs: 650_000),
        ("map(lambda x: -0.0 if x == 9 else abs(x - 900_000.0)) |> min", lambda xs: -0.0),
        ("map(lambda x: math.nan if x == 0 else x / 2) |> max", lambda xs: math.nan),
        (
            "map(lambda x: math.nan if x % 5_000 else x / 2) |> filter(lambda x: x != 0) |> min",
            lambda xs: math.nan,
        ),
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
    found = in_windows(cell, on, opened, math=math)
    wanted = expected(range(N))  # type: ignore[operator]
    assert repr(found) == repr(wanted)


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


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("rest", [1, 4095, 4096, 4097])
def test_the_last_window_may_be_short(on: str, rest: int, opened: list[int]) -> None:
    """A block or two, to be shared by back ends of which each would have one."""
    length = 320 * 4096 + rest
    xs = np.ones(length)
    assert in_windows("xs |> map(lambda x: x + 1) |> sum", on, opened, xs=xs) == 2.0 * length
    assert in_windows(f"range({length}) |> map(lambda x: x // 2) |> max", on, opened) == (length - 1) // 2
    assert in_windows("xs |> map(lambda x: x > 0) |> all", on, opened, xs=xs) is True


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


def test_sums_and_extremes_of_one_loop(opened: list[int]) -> None:
    """Extremes have rows of their own, which change no sum; one count is of both."""
    session = Session({}, Options(on="parallel", threads=2, baseline=False))
    kept, halves = "xs |> filter(lambda x: x % 3 == 1)", "map(lambda x: x / 7)"
    cell = f"xs = range({N})\na = {kept} |> max\nb = {kept} |> mean\n"
    cell += f"c = {kept} |> {halves} |> min\nd = {kept} |> {halves} |> sum\n"
    session.run_cell(cell)
    assert len(opened) > 4
    there = [x for x in range(N) if x % 3 == 1]
    found = [session.namespace[name] for name in "abc"]
    assert found == [max(there), sum(there) / len(there), 1 / 7]
    opened.clear()
    alone = value(f"range({N}) |> filter(lambda x: x % 3 == 1) |> map(lambda x: x / 7) |> sum")
    assert opened
    assert session.namespace["d"] == alone


def test_arrays_have_a_place_for_each_element(opened: list[int]) -> None:
    """There is nothing to be folded."""
    found = value(f"range({N}) |> map(_ * 2)")
    assert not opened
    assert isinstance(found, np.ndarray)
    assert len(found) == N


def test_a_later_variant_goes_on_in_the_window(opened: list[int]) -> None:
    """Where numbers become too large for the first one, and stay so."""
    xs = np.arange(N) * 2**42
    found = in_windows("xs |> map(_ * 3) |> sum", "parallel", opened, xs=xs)
    assert found == 3 * 2**42 * sum(range(N))
    assert opened.count(0) == 1


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
    assert windows.window_of([], 1 << 40) == windows.WORDS


@pytest.mark.parametrize("stage", ["window(1)", "chunk(1)", "map(lambda x: (x,))"])
@pytest.mark.parametrize("function", ["np.abs", "np.sqrt", "np.negative"])
@pytest.mark.parametrize("on", ["simd", "numpy", "python"])
def test_a_tuple_of_one_number_is_an_array_to_numpy(stage, function, on):
    session = Session({"np": np}, Options(on=on, baseline=False, quiet=True))
    found = session.run_cell(f"range(1, 4) |> {stage} |> map({function})").value
    assert [each.shape for each in found] == [(1,)] * 3
