"""Properties that hold for every row of the operator table, generated from the table."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hastega_magic.errors import NotCompilable
from hastega_magic.interval import INT64, INT64_MAX, INT64_MIN, Interval
from hastega_magic.ir.expr import leaf
from hastega_magic.ir.interpreter import evaluate
from hastega_magic.ops import OPS, op_of_callable
from hastega_magic.types import BOOL, FLOAT, FLOAT32, FLOAT64, INT

CORNERS = [0, 1, -1, 2, 63, 64, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, INT64_MAX, INT64_MIN, INT64_MIN + 1]
FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.5,
    2.5,
    2.0**53,
    2.0**63,
    -(2.0**63),
    5e-324,
    1e308,
    math.inf,
    -math.inf,
    math.nan,
]
PYTHON_RAISES = (ZeroDivisionError, ValueError, OverflowError)

int64s = st.sampled_from(CORNERS) | st.integers(INT64_MIN, INT64_MAX) | st.integers(-100, 100)
floats = st.sampled_from(FLOATS) | st.floats() | st.floats(-100, 100)
floats32 = (
    (st.sampled_from(FLOATS) | st.floats(width=32))
    .map(np.float64)
    .map(lambda value: np.float32(value) if abs(value) < 1e38 or not math.isfinite(value) else np.float32(1))
)
VALUES = {BOOL: st.booleans(), INT: int64s, FLOAT: floats, FLOAT32: floats32}
TO_PYTHON = {BOOL: bool, INT: int, FLOAT: float, FLOAT64: float, FLOAT32: np.float32}
DTYPES = {BOOL: np.bool_, INT: np.int64, FLOAT: np.float64, FLOAT64: np.float64, FLOAT32: np.float32}


def signatures(row):
    """The operand types that the row takes unconverted."""
    found = []
    for kinds in ([type_] * row.arity for type_ in (BOOL, INT, FLOAT, FLOAT32)):
        tries = [tuple(kinds), (BOOL, *kinds[1:])] if row.arity > 1 else [tuple(kinds)]
        for types in tries:
            try:
                signature = row.signature(types)
            except NotCompilable:
                continue
            if signature.operands not in [each.operands for each in found] and all(
                type_ in VALUES for type_ in signature.operands
            ):
                found.append(signature)
    return found


def cases(keep):
    return [
        pytest.param(row, signature, id=f"{row.name}-{'-'.join(each.value for each in signature.operands)}")
        for row in OPS.values()
        if row.name != "gather"
        for signature in signatures(row)
        if keep(row, signature)
    ]


def operands_of(data, row, signature):
    values = [data.draw(VALUES[type_]) for type_ in signature.operands]
    if row.name in ("shl", "wrapping_shl"):  # 1 << 2 ** 40 would fill the memory
        values[1] = data.draw(st.integers(-2, 70))
    if row.name in ("round_decimals", "round_tens"):
        values[1] = float(10 ** data.draw(st.integers(0, 22)))
    if row.name == "pow":
        values = [data.draw(st.integers(-70, 70) | int64s), data.draw(st.integers(-2, 70))]
    return values


def call(row, values):
    with np.errstate(all="ignore"):
        return row.python(*values)


def leaves_of(signature, ranges=None):
    nodes = [leaf("load", type_, slot) for slot, type_ in enumerate(signature.operands)]
    given_ranges = ranges or [INT64] * len(nodes)
    return nodes, {node: each for node, each in zip(nodes, given_ranges, strict=True) if node.type is INT}


def computed(expression, values):
    return evaluate([expression], lambda node: values[node.value])[expression]


def test_every_row_can_be_lowered():
    bare = {row.name for row in OPS.values() if not row.llvm and row.expand is None}
    assert bare == {"gather"}


def test_every_spelling_finds_its_row():
    for row in OPS.values():
        for spelling in row.spellings:
            assert op_of_callable(spelling) is row
    assert op_of_callable(print) is None


@st.composite
def interval_and_value(draw):
    value = draw(int64s | st.integers(-(2**70), 2**70))
    reach = st.integers(0, 3) | st.integers(0, 2**65) | st.none()
    below, above = draw(reach), draw(reach)
    return Interval(None if below is None else value - below, None if above is None else value + above), value


def _integral(row, signature):
    return (
        row.range is not None
        and signature.result in (BOOL, INT)
        and all(type_.is_integral for type_ in signature.operands)
    )


@pytest.mark.parametrize(("row", "signature"), cases(_integral))
@given(data=st.data())
def test_ranges_are_sound(row, signature, data):
    pairs = [
        (Interval(0, 1), data.draw(st.booleans())) if type_ is BOOL else data.draw(interval_and_value())
        for type_ in signature.operands
    ]
    values = [value for _, value in pairs]
    if row.name in ("shl", "pow"):  # large ones would fill the memory
        count = data.draw(st.integers(0, 70))
        around = Interval(count - data.draw(st.integers(0, count)), count + data.draw(st.integers(0, 100)))
        pairs[1], values[1] = (around, count), count
    if row.range(*([INT64] * row.arity)) == INT64:  # machine operations are defined on int64 alone
        values = [min(max(value, INT64_MIN), INT64_MAX) for value in values]
        pairs = [
            (interval.join(Interval(value, value)), value)
            for (interval, _), value in zip(pairs, values, strict=True)
        ]
    try:
        result = call(row, values)
    except PYTHON_RAISES:
        return
    assert result in row.range(*(interval for interval, _ in pairs))


@pytest.mark.parametrize("name", ["int", "floor_int", "ceil_int", "round_int"])
@given(value=floats)
def test_ranges_of_rounding_hold_without_trouble(name, value, builder_class):
    row = OPS[name]
    signature = row.signature((FLOAT,))
    nodes, _ = leaves_of(signature)
    if not computed(row.trouble(builder_class(), nodes), [value]):
        assert call(row, [value]) in row.range(Interval(None, None))


def _has_numpy(row, signature):
    # NumPy's own exp, sin, ... may differ in the last place; its square does not.
    same_bits = "approximate" not in row.traits or row.name == "sqr"
    return row.numpy is not None and same_bits and row.name != "hypot"


@pytest.mark.parametrize(("row", "signature"), cases(_has_numpy))
@given(data=st.data())
def test_numpy_is_python(row, signature, data, same):
    values = operands_of(data, row, signature)
    try:
        expected = call(row, values)
    except PYTHON_RAISES:
        return
    if signature.result is INT and int(expected) not in INT64:
        return
    arrays = [
        np.array([value], DTYPES[type_]) for value, type_ in zip(values, signature.operands, strict=True)
    ]
    with np.errstate(all="ignore"):
        result = row.numpy(*arrays)
        expected = TO_PYTHON[signature.result](expected)
    assert result.dtype == DTYPES[signature.result]
    assert same(TO_PYTHON[signature.result](result[0]), expected)


@pytest.mark.parametrize(
    ("row", "signature"), cases(lambda row, s: row.overflow is not None and s.result is INT)
)
@given(data=st.data())
def test_overflow_is_never_missed(row, signature, data, builder_class):
    values = operands_of(data, row, signature)
    try:
        exact = call(row, values)
    except PYTHON_RAISES:
        return
    nodes, ranges = leaves_of(signature)
    flagged = computed(row.overflow(builder_class(ranges), nodes), values)
    if exact not in INT64:
        assert flagged
    elif abs(exact) < 2**62 and row.name != "shl":
        assert not flagged


@pytest.mark.parametrize(("row", "signature"), cases(lambda row, s: row.trouble is not None))
@given(data=st.data())
def test_trouble_holds_wherever_python_raises(row, signature, data, builder_class):
    values = operands_of(data, row, signature)
    nodes, ranges = leaves_of(signature)
    flagged = computed(row.trouble(builder_class(ranges), nodes), values)
    try:
        call(row, values)
    except PYTHON_RAISES:
        assert flagged


FIRST = {row.expand: row for row in reversed(OPS.values())}


def _expands(row, signature):
    # `sin` and `math_sin` have one expansion, which need not be tried twice.
    return row.expand is not None and FIRST[row.expand] is row


@pytest.mark.parametrize(("row", "signature"), cases(_expands))
@given(data=st.data())
def test_expansions_are_python(row, signature, data, builder_class, same):
    values = operands_of(data, row, signature)
    reach = data.draw(st.sampled_from([0, 1, 1000, 2**64]))
    intervals = [
        Interval(value - reach, value + reach).meet(INT64) if type_ is INT else Interval(None, None)
        for value, type_ in zip(values, signature.operands, strict=True)
    ]
    nodes, ranges = leaves_of(signature, intervals)
    builder = builder_class(ranges)
    for rule in (row.trouble, row.overflow if signature.result is INT else None):
        if rule is not None and computed(rule(builder, nodes), values):
            computed(row.expand(builder, nodes), values)  # whatever it gives, it must not trap
            return
    expected = call(row, values)
    with np.errstate(all="ignore"):
        expected = TO_PYTHON[signature.result](expected)
    assert same(computed(row.expand(builder, nodes), values), expected)


@pytest.mark.parametrize("name", ["mod", "floordiv"])
@pytest.mark.parametrize("type_", [FLOAT, FLOAT32], ids=["float64", "float32"])
@given(data=st.data())
@example(data=None)
def test_float_division_on_ordinary_numbers_is_no_trouble(name, type_, data, builder_class):
    width = 32 if type_ is FLOAT32 else 64
    ordinary = st.floats(0.125, 1000, width=width)
    values = [1.5, 0.5] if data is None else [data.draw(ordinary), data.draw(ordinary)]
    row = OPS[name]
    nodes, _ = leaves_of(row.signature((type_, type_)))
    assert not computed(row.trouble(builder_class(), nodes), values)


@given(a=floats32, b=floats32, c=floats32)
def test_fma_of_float32_rounds_once(a, b, c):
    with np.errstate(all="ignore"):
        found = OPS["fma"].python(a, b, c)
        # The product of two float32 numbers is exact in float64, so only the sum can round twice.
        wide = np.longdouble(float(a) * float(b)) + np.longdouble(float(c))
    assert type(found) is np.float32
    if np.isfinite(found) and float(wide) == wide:
        with np.errstate(all="ignore"):
            neighbours = [np.nextafter(found, np.float32(side)) for side in (-math.inf, math.inf)]
        for neighbour in neighbours:
            assert abs(float(found) - float(wide)) <= abs(float(neighbour) - float(wide))
