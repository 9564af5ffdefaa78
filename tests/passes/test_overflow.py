"""Integers of 128 bits in pairs of words, against CPython's; and ranges that guards do not narrow."""

from __future__ import annotations

import functools
import itertools
import warnings

import numpy as np
import pytest
from battery import examples, some
from hypothesis import given
from hypothesis import strategies as st
from outcomes import value_on

from hastega_magic.compiler.options import Options
from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.session import Session

RNG = np.random.default_rng(7)
WIDE = RNG.integers(-(2**63), 2**63 - 1, 5_003)
SMALL = RNG.integers(-(2**17), 2**17, 5_003)
UNSIGNED = RNG.integers(0, 2**64 - 1, 5_003, dtype=np.uint64)
for _array, _edges in (
    (WIDE, (2**63 - 1, -(2**63), 0, -1, 1)),
    (UNSIGNED, (2**64 - 1, 2**63, 0, 1, 2**63 - 1)),
):
    _array[:5] = _edges
NAMES = {"xs": WIDE, "sm": SMALL, "us": UNSIGNED}

CELLS = (
    "sm |> map(lambda x: x ** 7) |> sum",
    "xs |> map(lambda x: x * 4) |> filter(lambda x: x > 2**63) |> sum",
    "xs |> map(lambda x: x * x) |> filter(lambda x: x > 10**30) |> count",
    "xs |> map(lambda x: abs(x * 4)) |> sum",
    "xs |> map(lambda x: ~(x * 4) ^ -5 | 3) |> sum",
    "xs |> map(lambda x: x * x % 7) |> sum",
    "xs |> map(lambda x: (x * x + 3 * x - 1) % 1000000007) |> sum",
    "xs |> map(lambda x: x * x // 1000) |> sum",
    "xs |> map(lambda x: x * x // 2**40) |> max",
    "xs |> map(lambda x: x * x // 10**18) |> sum",
    "xs |> map(lambda x: x * x % (10**18 + 9)) |> max",
    "xs |> map(lambda x: x * x // (3 - 2**64)) |> min",
    "xs |> map(lambda x: x * x % -(10**25)) |> min",
    "xs |> map(lambda x: x % 10**20) |> max",
    "xs |> map(lambda x: x * -5 // -(10**9) % 2**33) |> sum",
    "xs |> map(lambda x: divmod(x * 10, -(2**62)) > (0, -5)) |> any",
    "xs |> map(lambda x: x * -x >> 70) |> min",
    "xs |> map(lambda x: x * x) |> max",
    "xs |> map(lambda x: x * x) |> min",
    "xs |> filter(lambda x: x % 3 == 0) |> map(lambda x: x * -2**60) |> max",
    "xs |> filter(lambda x: x * x > 2**100) |> to_list",
    "xs |> map(lambda x: x * x > 2**100) |> sum",
    "xs |> map(lambda x: x * x % 7 == 3) |> any",
    "xs |> map(lambda x: x << 70) |> all",
    "xs |> map(lambda x: float(x * x)) |> max",
    "xs |> map(lambda x: (x * x).bit_length()) |> sum",
    "xs |> map(lambda x: (x * 6364136223846793005 + 1442695040888963407) % 2**64 >> 33) |> sum",
    "xs |> map(lambda x: min(x * 3, 2**63) - max(x * 5, -(2**64))) |> sum",
    "xs |> map(lambda x: x * 4) |> argmax",
    "xs |> map(lambda x: x * -x) |> argmin",
    "xs |> map(lambda x: x // 2**62 * 2**70) |> argmax",
    "us |> argmin",
    "xs |> map(lambda x: x * 4) |> reduce(max)",
    "xs |> map(lambda x: x * 4) |> reduce(min, -(10**30))",
    "xs |> map(lambda x: divmod(x * x, 1000)[1]) |> sum",
    "xs |> zip(us) |> filter(lambda x, u: u) |> map(lambda x, u: x * x // u) |> max",
    "xs |> zip(us) |> map(lambda x, u: x * 3 % (u + 1)) |> max",
    "xs |> zip(sm) |> map(lambda x, y: x * x // y if y else x) |> min",
    "sm |> zip(xs) |> filter(lambda y, x: y != 0 and x * x % y == 1) |> count",
    "xs |> zip(us) |> map(lambda x, u: divmod(u * 7, x | 1)[1]) |> sum",
    "us |> map(lambda u: u ^ -1) |> sum",
    "us |> map(lambda u: u + 1) |> max",
    "us |> map(lambda u: u % 10) |> sum",
    "us |> map(lambda u: u >> 3) |> min",
    "us |> filter(lambda u: u >= 2**63) |> count",
    "xs |> zip(us) |> map(lambda x, u: max(x, u)) |> sum",
    "xs |> map(lambda x: x * 4) |> filter(lambda x: x <= 2**63 - 1) |> sum",
    "xs |> map(lambda x: x * 4) |> filter(lambda x: x >= -(2**63)) |> count",
)  # fmt: skip


def python_value(cell: str) -> object:
    return value_on(cell, "python", NAMES)


@pytest.mark.parametrize(
    ("cell", "on"), [*((cell, "simd") for cell in CELLS), *((cell, "opencl") for cell in some(CELLS))]
)
def test_no_element_needs_python(cell, on):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    with warnings.catch_warnings():
        warnings.simplefilter("error", IntegerOverflowWarning)
        found = value_on(cell, on, NAMES)
    expected = python_value(cell)
    assert type(found) is type(expected)
    assert found == expected


@pytest.mark.parametrize(
    "cell",
    [
        "xs |> map(lambda x: x ** 3) |> max",
        "xs |> map(lambda x: x ** 3) |> argmin",
        "xs |> map(lambda x: x * x // 2 ** 125 * x) |> argmax",
        "xs |> map(lambda x: x ** 5 % 11) |> sum",
        "xs |> map(lambda x: x * 10**30 * 7) |> filter(lambda x: x > 0) |> count",
        "xs |> map(lambda x: x * x) |> to_list",
        "xs |> map(lambda x: 10**50 - x) |> min",
    ],
)
def test_beyond_128_bits_python_helps(cell):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegerOverflowWarning)
        assert value_on(cell, "simd", NAMES) == python_value(cell)


@pytest.mark.parametrize("on", ["simd", "opencl"])
@pytest.mark.parametrize(
    "stages", ["sum", "max", "map(lambda x: x > 0) |> sum", "map(lambda x: x * 63) |> min"]
)
def test_a_range_of_the_least_int64_alone(stages, on):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    names: dict[str, object] = {"xs": range(-(2**63), -(2**63) + 1)}
    expected = {"max": -(2**63), "sum": -(2**63), "map(lambda x: x * 63) |> min": -63 * 2**63}.get(stages, 0)
    found = value_on(f"xs |> {stages}", on, names)
    assert type(found) is int
    assert found == expected


@pytest.mark.parametrize(
    "code",
    [
        "[x for x in xs if x * 4 > 2**62]",
        "[x for x in xs if x * x > 2**125]",
        "[u for u in us if u * u + 1 > 5]",
        "max(x * x for x in xs)",
        "sum(1 for x in xs if x * x % 7 == 3)",
        "any(x * 4 == 2**40 for x in xs)",
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_numpys_scalars_wrap_in_ordinary_code(code):
    session = Session(dict(NAMES), Options(on="simd", threads=2, baseline=False, quiet=True))
    session.run_cell(f"t = {code}")
    expected = eval(code, dict(NAMES))
    found = session.namespace["t"]
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("start", [2**63, -(2**70), 10**400])
@pytest.mark.parametrize(
    "function",
    [
        "lambda a, x: x - a",
        "lambda a, x: min(a, x * 3)",
        "lambda a, x: (a * 3 + x) % 7",
        "lambda a, x: a + x",
    ],
)
def test_a_running_value_may_begin_beyond_64_bits(function, start):
    expected = list(itertools.accumulate(SMALL[:50].tolist(), eval(function), initial=start))[1:]
    names: dict[str, object] = {"xs": SMALL[:50]}
    assert value_on(f"xs |> reduce({function}, {start})", "simd", names) == expected[-1]
    found = value_on(f"xs |> scan({function}, {start})", "simd", names)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == expected


@pytest.mark.parametrize("on", ["simd", "parallel"])
def test_pairs_are_not_divided_by_zero(on):
    names: dict[str, object] = {"xs": np.array([2**62, 5, 2**62]), "ys": np.array([3, 0, 0])}
    for expression in ("x * x // y", "x * x % y", "x * 4 // (y * 2**63)"):
        with pytest.raises(ZeroDivisionError) as raised:
            value_on(f"xs |> zip(ys) |> map(lambda x, y: {expression}) |> max", on, names)
        assert any("element 1 of" in note for note in raised.value.__notes__)
        cell = f"xs |> zip(ys) |> map(lambda x, y: {expression} if y else -7) |> min"
        assert value_on(cell, on, names) == -7
        assert value_on(f"xs |> zip(ys) |> map(lambda x, y: y and {expression}) |> min", on, names) == 0


def test_one_check_of_a_division_costs_less_than_pairs():
    session = Session(dict(NAMES), Options(on="simd", threads=2, baseline=False))
    session.run_cell("t = xs |> zip(sm) |> filter(lambda x, y: y) |> map(lambda x, y: x // y) |> sum")
    assert session.last_report is not None
    (pipeline,) = session.last_report.to_dict()["pipelines"]
    assert "fdiv" not in pipeline["code"]["fused"]
    assert "umul_hi" not in pipeline["code"]["fused"]


def test_checked_integers_stay_errors():
    session = Session(dict(NAMES), Options(on="simd", int_mode="checked", baseline=False, quiet=True))
    with pytest.raises(OverflowError):
        session.run_cell("t = xs |> map(lambda x: x * x) |> filter(lambda x: x > 5) |> count")


CONSTANTS = st.sampled_from(
    [0, 1, 2, 3, -1, 7, 2**31, 2**40 + 3, 2**62, -(2**63), 2**63, 2**64 - 1, 10**20, -(10**25), 10**40]
).map(str)


DIVIDING = [1, 3, 7, -7, 10, 64, 1000, 10**9 + 7, 2**31 - 1, 2**32, 10**12, 2**64, -(10**19), 3**50]


def _grown(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, smaller, st.sampled_from("+-***&|^"), smaller),
        st.builds("({} % {})".format, smaller, st.sampled_from(DIVIDING)),
        st.builds("({} // {})".format, smaller, st.sampled_from(DIVIDING)),
        st.builds("({} {} ({} | 1))".format, smaller, st.sampled_from(["//", "%"]), smaller),
        st.builds(
            "({} {} {})".format,
            smaller, st.sampled_from([">>", "<<"]), st.sampled_from([0, 1, 5, 31, 63, 64, 65, 100]),
        ),
        st.builds("{}({})".format, st.sampled_from(["abs", "-", "~"]), smaller),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), smaller, smaller),
        st.builds(
            "({} if {} {} {} else {})".format,
            smaller, smaller, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), smaller, smaller,
        ),
    )  # fmt: skip


EXPRESSIONS = st.recursive(st.one_of(st.just("x"), st.just("y"), CONSTANTS), _grown, max_leaves=7)
INTS = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(-(2**33), 2**33), st.sampled_from([0, -1, 2**63 - 1])
)


@examples(60)
@given(
    EXPRESSIONS,
    st.lists(st.tuples(INTS, INTS), min_size=1, max_size=20),
    st.sampled_from(["sum", "max", "min", "argmin", "argmax", "count", "any", "to_list"]),
)
def test_any_expression(expression, pairs, sink):
    function = eval(f"lambda x, y: {expression}")
    values = [function(x, y) for x, y in pairs]
    expected = {
        "sum": sum, "max": max, "min": min, "any": any, "to_list": list, "count": lambda v: sum(e > 5 for e in v),
        "argmin": lambda v: v.index(min(v)), "argmax": lambda v: v.index(max(v)),
    }[sink](values)  # fmt: skip
    names: dict[str, object] = {"xs": np.array([x for x, _ in pairs]), "ys": np.array([y for _, y in pairs])}
    kept = " |> filter(lambda e: e > 5)" if sink == "count" else ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = value_on(f"xs |> zip(ys) |> map(lambda x, y: {expression}){kept} |> {sink}", "simd", names)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("on", ["simd", "parallel"])
def test_the_place_of_an_extreme_in_one_run_of_many(on):
    names: dict[str, object] = {"xs": np.resize(WIDE, 60_000)}
    session = Session(names, Options(on=on, threads=2, baseline=False, quiet=True))
    session.run_cell(
        "t = []\nfor k in range(-4, 9):\n    t.append(xs |> map(lambda x: x * (k * 4 + 1)) |> argmax)"
    )
    values = [int(x) for x in WIDE]
    lowest, highest = values.index(min(values)), values.index(max(values))
    assert session.namespace["t"] == [lowest if k < 0 else highest for k in range(-4, 9)]


def test_the_reduction_of_a_reduction():
    found = value_on("xs |> map(lambda x: x * 3) |> reduce(lambda a, b: a if a > b else b)", "simd", NAMES)
    assert found == functools.reduce(max, (int(x) * 3 for x in WIDE))
