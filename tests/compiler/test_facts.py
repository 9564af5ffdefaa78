"""The facts of the logistic map, and the mistakes of earlier compilers of this kind."""

from __future__ import annotations

import functools
import operator

import battery
import numpy as np
import pytest

STEP = "map(lambda x: mu * x * (x + 1) % p)"
TEN = " |> ".join([STEP] * 10)


def logistic(text, p=6_700_417, **options):
    return battery.run(text, {"p": p, "mu": 22}, **options)


def test_one_step():
    assert logistic(f"[1] |> {STEP}", p=61).value.tolist() == [44]


def test_ten_steps():
    assert logistic(f"[1, 2, 3] |> {TEN}", p=61).value.tolist() == [28, 25, 37]


def test_ten_steps_by_the_default_prime():
    expected = [5756693, 3714507, 3456095, 6578590, 2830244]
    assert logistic(f"range(1, 6) |> {TEN}").value.tolist() == expected


@pytest.mark.parametrize("source", ["[2**25]", "range(2**25, 2**25 + 1)", "np.array([2**25])"])
def test_the_last_element(source):
    assert logistic(f"{source} |> {TEN}").value.tolist() == [1916457]


def test_sum_and_xor():
    ran = logistic(
        f"ys = range(1, 100001) |> {TEN}\nt = ys |> sum\nx = ys |> reduce(lambda a, b: a ^ b)\n(t, x)"
    )
    assert ran.value == (335016001477, 4562325)
    assert len(ran.executions) == 1


def test_ten_chained_maps_and_one_map_of_ten_calls_are_the_same_loop():
    calls = "def f(x):\n    return mu * x * (x + 1) % p\n"
    nested = functools.reduce(lambda inner, _: f"f({inner})", range(10), "x")
    one = logistic(f"{calls}range(1, 5000) |> map(lambda x: {nested})")
    chained = logistic(f"range(1, 5000) |> {TEN}")
    assert np.array_equal(one.value, chained.value)
    (a,), (b,) = one.executions, chained.executions
    assert a.fused.outputs[0].value is b.fused.outputs[0].value


def test_the_intermediates_need_more_than_53_bits():
    x = 33_554_432
    largest = 22 * x * (x + 1)
    assert largest == 24_769_798_688_735_232 > 2**53
    ran = logistic(f"range({x - 9}, {x + 1}) |> {STEP}")
    assert ran.value.tolist() == [22 * y * (y + 1) % 6_700_417 for y in range(x - 9, x + 1)]
    assert not ran.executions[0].fell_back


def test_beyond_32_bits():
    ran = logistic(f"range(9870, 9890) |> {STEP}")
    assert ran.value.tolist() == [22 * y * (y + 1) % 6_700_417 for y in range(9870, 9890)]


INTS = list(range(-40, 41))
MISTAKES = {
    "10 - x * 2": lambda x: 10 - x * 2,
    "7 % (x + 41.5)": lambda x: 7 % (x + 41.5),
    "(x + 1) * (x - 1)": lambda x: (x + 1) * (x - 1),
    "x > 3": lambda x: x > 3,
    "x < 3": lambda x: x < 3,
    "x % 2.5": lambda x: x % 2.5,
    "x % -2.5": lambda x: x % -2.5,
    "100 / (x + 41)": lambda x: 100 / (x + 41),
    "7 % (x + 41)": lambda x: 7 % (x + 41),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_what_was_once_compiled_to_something_else(text):
    ran = battery.run(f"xs |> map(lambda x: {text})", {"xs": INTS})
    assert battery.same(ran.value.tolist(), [MISTAKES[text](x) for x in INTS])
    battery.one_loop(ran)


@pytest.mark.parametrize(("text", "place"), [("100 / (x + 1)", 39), ("7 % (x + 2)", 38)])
def test_division_by_zero_names_the_element(text, place):
    ran = battery.assert_like_python(f"xs |> map(lambda x: {text})", {"xs": INTS})
    assert isinstance(ran.error, ZeroDivisionError)
    assert f"element {place} of xs, which is {INTS[place]}" in ran.notes


def test_two_comparisons_in_one_cell_do_not_share_their_code():
    ran = battery.run("a = xs |> map(lambda x: x > 3)\nb = xs |> map(lambda x: x < 3)\n(a, b)", {"xs": INTS})
    assert ran.value[0].tolist() == [x > 3 for x in INTS]
    assert ran.value[1].tolist() == [x < 3 for x in INTS]


def test_overflow_is_not_silent():
    ran = battery.run("xs |> map(lambda x: x * x)", {"xs": [3, 2**40]})
    assert ran.value.tolist() == [9, 2**80]
    assert len(ran.warnings) == 1


def test_two_chained_maps_are_one_loop():
    ran = battery.run("xs |> map(lambda x: x + 1) |> map(lambda x: x * 2)", {"xs": INTS})
    assert battery.one_loop(ran).fused.outputs[0].value.op == "mul"


@pytest.mark.parametrize("name", ["uint8", "int8", "bool", "int16"])
def test_small_elements_are_not_cut(name):
    xs = np.array([0, 1, 100, 127, 200, 255]).astype(name)
    ran = battery.run("xs |> map(lambda x: x * 300 + 7)", {"xs": xs})
    assert ran.value.tolist() == [int(x) * 300 + 7 for x in xs]
    assert ran.value.dtype == np.int64


def test_bytes_are_numbers():
    ran = battery.run("xs |> map(lambda x: x * 300)", {"xs": bytes(range(256))})
    assert ran.value.tolist() == [x * 300 for x in range(256)]


def test_the_cell_of_the_design():
    ys = f"ys = (range(1, n)\n      |> {STEP}\n      |> {STEP})"
    text = f"{ys}\ntotal = ys |> filter(lambda y: y % 2 == 0) |> sum\ntotal"
    ran = battery.run(text, {"n": 100_000, "mu": 22, "p": 6_700_417})
    expected = [22 * x * (x + 1) % 6_700_417 for x in range(1, 100_000)]
    expected = [22 * x * (x + 1) % 6_700_417 for x in expected]
    assert ran.namespace["ys"].tolist() == expected
    assert ran.value == sum(y for y in expected if y % 2 == 0)
    execution = battery.one_loop(ran)
    assert execution.compiled.variants.proved
    assert len(execution.fused.outputs) == 2


def test_reduce_of_exclusive_or_is_the_one_of_functools():
    xs = [5, -3, 2**62, 7]
    ran = battery.run("xs |> reduce(lambda a, b: a ^ b, 9)", {"xs": xs})
    assert ran.value == functools.reduce(operator.xor, xs, 9)
