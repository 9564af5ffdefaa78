"""Vast loops whose `reduce` has an order: what is carried goes on from window to window."""

from __future__ import annotations

import functools
import os
import signal
import threading
from typing import Any

import numpy as np
import pytest

from hastega_magic.runtime import windows
from hastega_magic.session import Options, Session

N = 5 * 64 * 4096 + 4099
"""Elements of more than five windows, and no whole number of blocks."""


def value(cell: str, on: str = "parallel", repeat: int = 1, **names: object) -> Any:
    options = Options(on=on, threads=2, baseline=False, repeat=repeat)
    return Session(dict(names), options).run_cell(f"{cell}\n").value


@pytest.mark.parametrize("on", ["simd", "parallel"])
@pytest.mark.parametrize(
    ("kept", "step", "begun"),
    [
        ("x % 1", "(a * 31 + x) % 1_000_003", 0),
        ("x >= 0", "(a * 31 + x) % 1_000_003", 7),
        ("x % 3", "(a * 7 + x) % 1009", None),
        ("x < 9000", "(a * 7 + x) % 1009", None),
        ("x > 1_300_000", "(a * 7 + x) % 1009", None),
        ("x < 0", "(a * 7 + x) % 1009", 5),
        ("x % 5", "(a * a + x) % 1.5", 0.25),
        ("x % 2", "(a[0] + 1, (a[1] * 3 + x) % 1009)", (0, 0)),
    ],
)
def test_the_value_goes_on(on: str, kept: str, step: str, begun: object, opened: list[int]) -> None:
    begin = "" if begun is None else f", {begun}"
    found = value(f"range({N}) |> filter(lambda x: {kept}) |> reduce(lambda a, x: {step}{begin})", on)
    elements = filter(eval(f"lambda x: {kept}"), range(N))
    given = () if begun is None else (begun,)
    expected = functools.reduce(eval(f"lambda a, x: {step}"), elements, *given)
    assert (type(found), found) == (type(expected), expected)
    assert len(set(opened)) > 5


def test_floats_have_the_bits_of_one_window(opened: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    cell = f"range({N}) |> map(lambda x: x / 7) |> reduce(lambda a, x: a * 0.5 + x, 0.0)"
    found = value(cell)
    assert len(set(opened)) > 5
    monkeypatch.setattr(windows, "WORDS", 1 << 21)
    assert repr(found) == repr(value(cell))


def test_a_later_variant_begins_anew(opened: list[int]) -> None:
    xs = np.ones(N, np.int64)
    xs[-5000:] = 2**62
    for _ in range(2):
        found = value("xs |> reduce(lambda a, x: (a * 3 + x // 2) % 1009, 1)", xs=xs)
        assert found == functools.reduce(lambda a, x: (a * 3 + x // 2) % 1009, xs.tolist(), 1)
        assert opened


def test_steps_beyond_64_bits_are_pythons(opened: list[int]) -> None:
    with pytest.warns(RuntimeWarning, match="no int64 holds"):
        found = value(f"range({N}) |> reduce(lambda a, x: a * 3 if x > {N - 50} else x + a % 7, 1)")
    assert found == functools.reduce(lambda a, x: a * 3 if x > N - 50 else x + a % 7, range(N), 1)


def test_each_run_begins_anew(opened: list[int]) -> None:
    found = value(f"range({N}) |> reduce(lambda a, x: (a * 31 + x) % 1009, 1)", repeat=3)
    assert found == functools.reduce(lambda a, x: (a * 31 + x) % 1009, range(N), 1)
    assert opened.count(0) == 3


def test_of_a_vast_range_nothing_is_kept_and_ctrl_c_ends_it() -> None:
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        value("range(10**15) |> reduce(lambda a, x: (a * 31 + x) % 1_000_003, 0)")
    timer.join()
