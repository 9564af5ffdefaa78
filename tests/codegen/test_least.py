"""Divisors that are looked after by the least of them: zeros and negative ones, wherever they stand."""

import itertools

import battery
import numpy as np
import pytest

from hastega_magic.ir.schedule import BLOCK

N = 3 * BLOCK + 77


@pytest.mark.parametrize(
    ("place", "target", "width"),
    battery.some(
        itertools.product(
            [0, 63, BLOCK - 1, BLOCK, 2 * BLOCK + 1000, N - 1], battery.FEATURE_SETS, [0, 4, 16]
        ),
        every=3,
    ),
)
def test_a_zero_is_found_and_a_negative_divisor_is_divided_by(place, target, width):
    xs = np.random.default_rng(1).integers(1, 10**6, N)
    with battery.on_target(target):
        for odd in (-7, -(2**63), 2**63 - 1):
            xs[place] = odd
            ran = battery.run("xs |> map(lambda x: 1000003 // x)", {"xs": xs}, width=width)
            assert ran.error is None
            assert np.array_equal(ran.value, 1000003 // xs)
        xs[place] = 0
        ran = battery.run("xs |> map(lambda x: 1000003 // x)", {"xs": xs}, width=width)
        assert isinstance(ran.error, ZeroDivisionError)
        assert f"element {place}" in "".join(getattr(ran.error, "__notes__", []))


def test_only_divisors_are():
    """A source that may be zero is no divisor, and keeps its own check."""
    xs, ys = np.arange(N) % 5, np.arange(1, N + 1)
    ran = battery.run("xs |> zip(ys) |> map(lambda x, y: x // y + x * x)", {"xs": xs, "ys": ys})
    assert np.array_equal(ran.value, xs // ys + xs * xs)
