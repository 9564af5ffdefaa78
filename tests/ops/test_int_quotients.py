"""Quotients of ints have the bits of CPython's, of any size and however near the middle of two floats."""

from __future__ import annotations

import functools
import itertools
import random

import numpy as np
import pytest
from battery import some

from hastega_magic.ops.int_quotients import MOST_DIVISOR
from hastega_magic.session import Options, Session

DIVISORS = (3, 7, -10, 10**9, 641, 2**40 - 1, -(2**40), 999_999_999_989, 1_000_003, 5 * 2**35)


@functools.cache
def dividends(divisor: int) -> list[int]:
    """Ints of all sizes; and such as lie in the middle of two quotients, or a little beside."""
    chance = random.Random(divisor)
    found = [chance.getrandbits(chance.randint(1, 63)) for _ in range(4000)]
    found += [2**53 + each for each in range(-40, 40)] + [2**63 - 1 - each for each in range(40)]
    while len(found) < 12_000:
        bits = chance.randint(1, max(2, 63 - abs(divisor).bit_length()))
        middle = (chance.getrandbits(53) | 1 << 53) << bits >> 53  # 54 bits and more, where they fit
        found.append(middle * abs(divisor) + chance.choice((-2, -1, 0, 0, 0, 1, 2)))
    limits = [each for each in found if each < 2**63]
    return [*limits, *(-each for each in limits), -(2**63)]


@pytest.mark.parametrize("on", ["simd", "parallel", "numpy", "opencl"])
@pytest.mark.parametrize("divisor", DIVISORS)
def test_constants(divisor: int, on: str) -> None:
    values = dividends(divisor)
    session = Session({"xs": np.array(values)}, Options(on=on, baseline=False, quiet=True))
    session.run_cell(f"r = xs |> map(lambda x: x / {divisor})")
    assert session.namespace["r"].tolist() == [each / divisor for each in values]
    if on != "numpy":
        assert not session.last_report.pipelines[0].integers.fell_back


@pytest.mark.parametrize("on", ["simd", "opencl"])
def test_variables(on: str) -> None:
    chance = random.Random(1)
    divisors = [
        chance.choice((-1, 1)) * (chance.getrandbits(chance.randint(1, 62)) | 1) for _ in range(20_000)
    ]
    values = [chance.getrandbits(chance.randint(1, 63)) for _ in divisors]
    names = {"xs": np.array(values), "ys": np.array(divisors)}
    session = Session(names, Options(on=on, baseline=False, quiet=True))
    session.run_cell("r = xs |> zip(ys) |> map(lambda x, y: x / y)")
    assert names["r"].tolist() == [x / y for x, y in zip(values, divisors, strict=True)]


def test_by_zero() -> None:
    session = Session({"xs": np.array([2**60, 5])}, Options(on="simd", baseline=False, quiet=True))
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        session.run_cell("r = xs |> map(lambda x: 2**60 / (x - 5))")


@pytest.mark.parametrize("value", [MOST_DIVISOR - 1, MOST_DIVISOR + 1, 2**53 + 1, 2**62 - 1])
def test_large_divisors(value: int) -> None:
    values = dividends(value)
    session = Session({"xs": np.array(values)}, Options(on="simd", baseline=False, quiet=True))
    session.run_cell(f"r = xs |> map(lambda x: x / {value})")
    assert session.namespace["r"].tolist() == [each / value for each in values]


COMPARED = ["x < k", "x <= k", "x > k", "x >= k", "x == k", "x != k", "k < x", "k >= x", "k == x"]
BOUNDS = [0.5, -0.5, 3.0, 2.0**53 + 2, 0.5e18, -7.25, 2.0**62, -(2.0**63), 2.0**63, 1e30, float("inf")]


@pytest.mark.parametrize(("compared", "bound"), some(itertools.product(COMPARED, BOUNDS), every=2))
def test_ints_beside_float_constants(compared: str, bound: float) -> None:
    near = [int(bound) + each for each in range(-3, 4)] if abs(bound) < 2**62 else []
    values = [*near, 0, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 10**18, 500000000000000001]
    session = Session({"xs": np.array(values), "k": bound}, Options(on="simd", baseline=False, quiet=True))
    session.run_cell(f"r = xs |> map(lambda x: {compared}) |> to_list")
    assert session.namespace["r"] == [eval(compared, {"x": x, "k": bound}) for x in values]


@pytest.mark.parametrize(
    "quotient", ["x / 1e9", "1e30 / (x | 1)", "x / 1024", "x / -(2**40)", "x / 2.0**-1000"]
)
def test_ints_beside_floats(quotient: str) -> None:
    values = dividends(3)
    session = Session({"xs": np.array(values)}, Options(on="simd", baseline=False, quiet=True))
    session.run_cell(f"r = xs |> map(lambda x: {quotient}) |> to_list")
    assert session.namespace["r"] == [eval(quotient, {"x": x}) for x in values]
    assert not session.last_report.pipelines[0].integers.fell_back


@pytest.mark.parametrize(
    ("compared", "bound", "on"),
    some(
        itertools.product(
            ["x < k", "x >= k", "x == k", "k < x", "k != x", "x == table[0]", "table[0] <= x"],
            [2.0**53, 2.0**63, -(2.0**63), 3.0, -0.5],
            ["simd", "numpy", "opencl"],
        ),
        every=2,
    ),
)
def test_floats_of_numpys_round_the_ints_that_they_are_compared_with(
    compared: str, bound: float, on: str
) -> None:
    values = [2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63) + 1, -(2**63), 0, 3, 4]
    names = {"k": np.float64(bound), "table": np.array([bound])}
    session = Session({"xs": values, **names}, Options(on=on, baseline=False, quiet=True))
    session.run_cell(f"r = xs |> map(lambda x: {compared}) |> to_list")
    assert session.namespace["r"] == [bool(eval(compared, {"x": x, **names})) for x in values]
