"""Integers near and beyond 64 bits, in the three modes."""

from __future__ import annotations

import battery
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.compiler.loops import clear_cache

BIG = battery.BIG
MANY = 100_000


def with_one(value, place=MANY // 2):
    xs = np.arange(MANY)
    xs[place] = value
    return xs


def test_one_large_element_costs_one_block():
    xs = with_one(2**40)
    ran = battery.run("xs |> map(lambda x: x * x + 1)", {"xs": xs})
    assert ran.value[MANY // 2] == 2**80 + 1
    assert [int(v) for v in ran.value] == [int(x) ** 2 + 1 for x in xs]
    assert ran.executions[0].fell_back
    (warning,) = ran.warnings
    for part in ("x * x + 1", f"element {MANY // 2} of xs", str(2**40), str(2**80)):
        assert part in warning


def test_large_elements_within_64_bits_run_on_the_machine():
    xs = with_one(2**31)
    ran = battery.run("xs |> map(lambda x: x * x)", {"xs": xs})
    assert np.array_equal(ran.value, xs * xs)
    assert not ran.executions[0].fell_back
    assert ran.warnings == []


@pytest.mark.parametrize("sink", ["sum", "count", "max", "min", "prod", "to_list", "mean", "any", "all"])
def test_filtered_overflow(sink):
    xs = with_one(2**40)[MANY // 2 - 5000 : MANY // 2 + 5000]
    text = f"xs |> map(lambda x: x * x) |> filter(lambda x: x % 5000 == 1) |> {sink}"
    battery.assert_like_python(text, {"xs": xs}, quiet=True)


def test_an_element_that_a_filter_drops_does_not_overflow():
    ran = battery.run("xs |> filter(lambda x: x < 10**6) |> map(lambda x: x * x)", {"xs": with_one(2**40)})
    assert ran.warnings == []
    assert len(ran.value) == MANY - 1


def test_an_overflow_in_a_branch_not_taken_is_none():
    ran = battery.run("xs |> map(lambda x: x * x if x < 10**6 else 0)", {"xs": with_one(2**62)})
    assert ran.warnings == []
    assert ran.value[MANY // 2] == 0


@pytest.mark.parametrize(
    "source", [[BIG] * 5000, [-BIG - 1] * 5000, [BIG, -BIG - 1] * 3000, [2**62] * 4096 + [1] * 5]
)
def test_sums_beyond_64_bits(source):
    assert battery.run("xs |> sum", {"xs": source}).value == sum(source)
    assert battery.run(
        "xs |> map(lambda x: x) |> reduce(lambda a, b: a + b)", {"xs": np.array(source)}
    ).value == sum(source)


def test_products_beyond_64_bits():
    xs = list(range(1, 60))
    battery.assert_like_python("xs |> prod", {"xs": xs}, quiet=True)
    battery.assert_like_python("xs |> reduce(lambda a, b: a * b, -3)", {"xs": xs}, quiet=True)
    battery.assert_like_python("xs |> map(lambda x: x % 3 - 1) |> prod", {"xs": xs * 500}, quiet=True)


def test_checked_names_stage_element_and_value():
    ran = battery.run(
        "xs |> map(lambda x: x + 1) |> map(lambda x: x * x)", {"xs": with_one(2**40)}, int_mode="checked"
    )
    assert isinstance(ran.error, OverflowError)
    for part in ("`map(lambda x: x * x)`", f"element {MANY // 2} of xs", str(2**40), str((2**40 + 1) ** 2)):
        assert part in str(ran.error)


def test_checked_lets_what_fits_through():
    xs = with_one(2**31)
    assert np.array_equal(
        battery.run("xs |> map(lambda x: x * x)", {"xs": xs}, int_mode="checked").value, xs * xs
    )


WRAPPING = {
    "x * 3": lambda x: x * 3,
    "x * 3 % 7": lambda x: x * 3 % 7,
    "x * x >= 0": lambda x: x * x >= 0,
    "abs(x) < 0": lambda x: np.abs(x) < 0,
    "-x": lambda x: -x,
    "(x << 3) % 5": lambda x: (x << 3) % 5,
    "x * 6 * 7 % 11": lambda x: x * 6 * 7 % 11,
    "(x + 1) // 2": lambda x: (x + 1) // 2,
    "x // -1": lambda x: x // -1,
    "22 * x * (x + 1) % 6700417": lambda x: 22 * x * (x + 1) % 6700417,
    "x - 2**62 - 2**62": lambda x: x - 2**62 - 2**62,
}


@pytest.mark.parametrize("text", WRAPPING)
@battery.examples(10)
@given(xs=st.lists(battery.ints, min_size=1, max_size=30).map(np.array))
def test_wrap_is_what_numpy_does(text, xs):
    ran = battery.run(f"xs |> map(lambda x: {text})", {"xs": xs.astype(np.int64)}, int_mode="wrap")
    with np.errstate(all="ignore"):
        assert battery.same(ran.value, WRAPPING[text](xs))
    assert ran.warnings == []


@pytest.mark.parametrize(
    ("sink", "numpy"), [("sum", np.sum), ("prod", np.prod), ("max", np.max), ("min", np.min)]
)
def test_wrapped_reductions(sink, numpy):
    xs = np.array([2**62, -3, 2**62 + 5, 7, -BIG] * 1000)
    ran = battery.run(f"xs |> map(lambda x: x * 5) |> {sink}", {"xs": xs}, int_mode="wrap")
    with np.errstate(all="ignore"):
        assert ran.value == int(numpy(xs * 5))


@pytest.mark.parametrize(
    "text", ["x // -1", "-x", "abs(x)", "x - 1", "x * -1", "x % -1", "divmod(x, -1)[0]", "~x"]
)
def test_the_smallest_integer(text):
    battery.assert_like_python(
        f"xs |> map(lambda x: {text})", {"xs": np.array([-BIG - 1, 5, -BIG, BIG])}, quiet=True
    )


def test_lists_beyond_64_bits():
    xs = [1, 2**64, -(2**70)]
    ran = battery.assert_like_python("xs |> map(lambda x: x // 3) |> sum", {"xs": xs})
    assert ran.warnings
    assert isinstance(
        battery.run("xs |> map(lambda x: x)", {"xs": xs}, int_mode="checked").error, OverflowError
    )


@pytest.mark.parametrize("sink", ["sum", "prod", "reduce(lambda a, b: a + b)"])
def test_what_is_made_of_one_bool_that_python_evaluated(sink):
    """No float holds the element, so that Python compares it."""
    battery.assert_like_python(f"xs |> map(lambda x: x > 5.0) |> {sink}", {"xs": [BIG]}, quiet=True)
    filtered = f"xs |> filter(lambda x: x > 5) |> map(lambda x: x / 3 > 1) |> {sink}"
    battery.assert_like_python(filtered, {"xs": [BIG, 3]}, quiet=True)


@pytest.mark.parametrize("text", ["x + 1", "x * 2", "x // 7", "x % 10", "x - 2**63", "x >> 1", "-x", "x / 3"])
def test_unsigned_64_bits(text):
    xs = np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1, 12345], np.uint64)
    battery.assert_like_python(f"xs |> map(lambda x: {text})", {"xs": xs}, quiet=True)


def test_captured_unsigned_64_bits():
    table = np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1, 12345], np.uint64)
    for text in ("table[i]", "table[i] > i", "table[i] // 3"):
        battery.assert_like_python(
            f"range(6) |> map(lambda i: {text}) |> to_list", {"table": table}, quiet=True
        )


def test_results_between_2_63_and_2_64_are_unsigned():
    ran = battery.run("xs |> map(lambda x: x + x)", {"xs": [2**62, 2**62 + 5, 1]})
    assert ran.value.dtype == np.uint64


def test_smaller_values_later_are_computed_as_cheaply_as_if_they_came_first():
    clear_cache()
    cell = "a |> zip(b) |> map(lambda a, b: a % b)"
    small, large = np.arange(1, 40_001), np.arange(2**60, 2**60 + 40_000)
    kernels = []
    for xs in (small, large, large, small):
        ran = battery.run(cell, {"a": xs, "b": small}, on="parallel")
        assert ran.value.tolist() == (xs % small).tolist()
        kernels.append(ran.executions[-1].compiled.first)
    assert kernels == [0, 1, 1, 0]
    one = np.where(np.arange(40_000) % 4096 == 77, 2**60, 5)  # a sample misses what sends each block on
    assert [
        battery.run(cell, {"a": one, "b": small}, on="parallel").executions[-1].compiled.first
        for _ in range(3)
    ] == [
        1,
        1,
        1,
    ]
