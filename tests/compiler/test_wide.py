"""Integers beyond 64 bits inside sums and products: exact, and without Python's help where 128 bits hold them."""

from __future__ import annotations

import battery
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.compiler import loops
from hastega_magic.ir.interpreter import run_fused
from hastega_magic.runtime.python import elements

BACKENDS = ("parallel", "items", "groups")
RNG = np.random.default_rng(3)
WIDE = RNG.integers(-(2**63), 2**63 - 1, 9_001)
OTHER = RNG.integers(-(2**63), 2**63 - 1, 9_001)
UNSIGNED = RNG.integers(0, 2**64 - 1, 9_001, dtype=np.uint64)
for array, edges in (
    (WIDE, (2**63 - 1, -(2**63), 0)),
    (OTHER, (-(2**63),) * 3),
    (UNSIGNED, (2**64 - 1, 2**63, 0)),
):
    array[:3] = edges
NAMES = {
    "xs": WIDE,
    "ys": OTHER,
    "us": UNSIGNED,
    "few": WIDE[:33],
    "none": WIDE[:0],
    "list": WIDE[:70].tolist(),
}

SUMS = (
    "xs |> map(lambda x: x * x) |> sum",
    "xs |> dot(ys)",
    "us |> sum",
    "us |> map(lambda u: u * 3 - 1) |> mean",
    "us |> zip(ys) |> map(lambda u, y: u * y) |> sum",
    "xs |> map(lambda x: x ** 3) |> sum",
    "xs |> map(lambda x: x * 10**30 + 5) |> sum",
    "xs |> zip(ys) |> map(lambda x, y: x * x - y * y + (x << 3) - 7 * x) |> sum",
    "xs |> filter(lambda x: x > 0) |> map(lambda x: (x - 7) ** 2) |> sum",
    "xs |> map(lambda x: x * x if x % 3 else -x) |> sum",
    "list |> map(lambda x: x * x) |> reduce(lambda a, b: a + b, 5)",
    "few |> map(lambda x: x * -2**63) |> sum",
    "none |> map(lambda x: x * x) |> sum",
    "xs |> map(lambda x: x >> 40) |> map(lambda x: x * x) |> sum",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name"),
    [(text, "parallel") for text in SUMS]
    + [(text, "items") for text in SUMS[1:8:3]]
    + [(SUMS[4], "groups"), (SUMS[9], "groups")],
)
def test_sums_need_no_python(text, name):
    with battery.in_form(name):
        ran = battery.assert_like_python(text, NAMES, threads=3)
        (pipeline,) = ran.report["pipelines"]
        assert pipeline["loops"] == 1
        assert pipeline["barriers"] == []
        assert pipeline["int"] == {"mode": "exact", "proved": True, "guarded": False, "fell_back": False}
        (execution,) = ran.executions
        assert not execution.recovered
        if name == "parallel" and "reduce" not in text:
            columns = [list(elements(column.data)) for column in execution.columns]
            (found,) = run_fused(execution.compiled.fused, columns).values()
            assert found == ran.value


linear = st.recursive(
    st.sampled_from(("x", "y", "5", "-2**63", "2**64")),
    lambda term: st.one_of(
        st.tuples(term, st.sampled_from("+-*"), term).map("({0[0]} {0[1]} {0[2]})".format),
        term.map("(-{})".format),
        st.tuples(term, term).map("({0[0]} if x > y else {0[1]})".format),
        st.tuples(term, st.integers(0, 70)).map("({0[0]} << {0[1]})".format),
        term.map("({} % 7)".format),
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("name", BACKENDS[:2])
@battery.examples(10)
@given(text=linear, xs=battery.int_arrays("int64"), kind=st.sampled_from(("int64", "uint64", "int16")))
def test_any_sum_is_exact(name, text, xs, kind):
    with battery.in_form(name):
        ys = xs[::-1].astype(kind)
        cell = f"xs |> zip(ys) |> map(lambda x, y: {text}) |> sum"
        battery.assert_like_python(cell, {"xs": np.resize(xs, 90), "ys": np.resize(ys, 90)}, quiet=True)


def test_only_sums_that_are_exact_have_parts():
    ran = battery.run("xs |> map(lambda x: x * x) |> sum", {"xs": WIDE}, int_mode="checked")
    assert isinstance(ran.error, OverflowError)
    ran = battery.run("xs |> map(lambda x: x * x) |> sum", {"xs": WIDE}, int_mode="wrap")
    with np.errstate(all="ignore"):
        assert ran.value == int((WIDE * WIDE).sum())
    ran = battery.assert_like_python("y = xs |> map(lambda x: x * x)\ny |> sum", {"xs": WIDE[:9]})
    assert ran.executions[-1].fell_back  # `y` holds the elements, so they are checked all the same


def test_lanes_show_the_number_that_is_summed():
    ran = battery.run("xs |> map(lambda x: x * x) |> sum", {"xs": np.array([3, 2**40, -(2**63)])})
    steps = ran.report["pipelines"][0]["lanes"]["steps"]
    assert steps[-1]["values"][:3] == ["9", "1.209e+24", "8.507e+37"]
    assert steps[-1]["text"].startswith("line 1 = sum 2^64 · ")


def test_small_elements_cost_no_parts():
    loops.clear_cache()
    ran = battery.run("xs |> map(lambda x: x * x) |> sum", {"xs": np.arange(50_000)})
    (execution,) = ran.executions
    kernel = execution.compiled.bodies[0].kernel
    assert kernel.body[0].interval.hi < 2**32
    assert "mul_hi" not in {node.op for root in kernel.roots() for node in (root, *root.args)}


PRODUCTS = {
    "factorial": (range(1, 34), True),
    "beyond 128 bits": (range(1, 100), False),
    "zero": (list(range(-5, 6)), True),
    "in one lane": ([2**40, *[1] * 7, 2**40, -3, *[1] * 9_000, 2**40], True),
    "least": ([-(2**63), 2, 1, -1], True),
    "two large": ([-(2**63), -(2**62)], True),
    "none": (np.array([], np.int64), True),
    "signs": (np.full(50_001, -1), True),
    "threes": ([3] * 79 + [1] * 5_000, True),
    "twos": ([-2] * 125, True),
}


@pytest.mark.parametrize(
    ("case", "name"),
    [(case, "parallel") for case in PRODUCTS]
    + [(case, name) for case in ("beyond 128 bits", "in one lane", "threes") for name in BACKENDS[1:]],
)
def test_products(case, name):
    source, alone = PRODUCTS[case]
    with battery.in_form(name):
        ran = battery.assert_like_python("xs |> prod", {"xs": source}, threads=3)
        assert bool(ran.executions[0].recovered) is not alone
        (pipeline,) = ran.report["pipelines"]
        assert pipeline["int"] == {"mode": "exact", "proved": False, "guarded": True, "fell_back": not alone}


@pytest.mark.parametrize("name", BACKENDS[:2])
@battery.examples(12)
@given(xs=st.lists(st.sampled_from((1, -1, 2, -3, 7, 2**31, 2**40 + 1, -(2**62), -(2**63))), max_size=80))
def test_any_product_is_exact(name, xs):
    with battery.in_form(name):
        battery.assert_like_python("xs |> map(lambda x: x + 0) |> prod", {"xs": xs}, quiet=True)
