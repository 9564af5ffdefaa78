"""Ordinary code over NumPy's arrays and over Series: equal to Python's in value, type and warnings, compiled or not."""

import functools
import linecache
import math
import re
import types
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hastega_magic import hastega
from hastega_magic.compiler.fastpath import boxed

N = 600
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64"]
NAMES = {
    "math": math,
    "np": np,
    "k": 3,
    "half": 0.5,
    "xs": list(range(N)),
    "table": np.arange(N, dtype=np.int16) * 3,
    "plain": list(range(N)),
}


def made(expression, **names):
    """A function of no arguments that gives the expression, and the same decorated."""
    text = f"def code():\n    return {expression}\n"
    file = f"<{expression} {id(names)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace = NAMES | names
    exec(compile(text, file, "exec"), namespace)
    return namespace["code"], hastega(namespace["code"])


def ran(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function()
        except Exception as error:
            value = (type(error), str(error))
    return value, [(each.category, str(each.message)) for each in caught]


def listed(value):
    """Sets in an order, dicts as pairs."""
    if isinstance(value, (set, frozenset)):
        return type(value).__name__, sorted(value, key=repr)
    return list(value.items()) if isinstance(value, dict) else value


def compared(expression, same, **names):
    """Whether the expression was compiled, and why not; what it gave is equal to Python's, twice over."""
    plain, compiled = made(expression, **names)
    expected, warned = ran(plain)
    for _ in range(2):
        found, told = ran(compiled)
        assert same(listed(found), listed(expected)), expression
        assert told == warned, expression
    pipelines = compiled.explain().pipelines
    if pipelines and pipelines[0].loops:
        return True, ""
    return False, pipelines[0].barriers[0].reason if pipelines else "no pipeline"


@pytest.fixture(autouse=True, scope="module")
def _few():
    """Arrays as short as these are gone through as they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boxed, "MANY", 256)
        yield


INT64S = np.arange(-N // 2, N // 2)
FLOATS = INT64S * 0.25

COMPILED = [
    ("[x * 2 for x in a]", INT64S),
    ("[x * k + 1 for x in a if x % 2 == 0]", INT64S),
    ("[x * half for x in a]", INT64S),
    ("[x / 4 for x in a]", INT64S),
    ("[x * 2 for x in a]", INT64S.astype(np.int32)),
    ("[x * 2 for x in a]", INT64S[::-1]),
    ("[x * 2 for x in a]", INT64S.astype(">i4")),
    ("[x // 2 for x in a]", (INT64S % 100).astype(np.uint8)),
    ("[x + 1 for x in a]", (INT64S + N).astype(np.uint64)),
    ("[x > 3 for x in a]", INT64S),
    ("[x == True for x in a]", INT64S % 2 == 0),
    ("[x + True for x in a]", INT64S),
    ("[not x for x in a]", INT64S),
    ("[int(x) + 1 for x in a]", INT64S),
    ("[float(x) * 2 for x in a]", FLOATS),
    ("[bool(x) for x in a]", INT64S),
    ("[(x, x > 3, int(x)) for x in a]", INT64S),
    ("[x + i for i, x in enumerate(a)]", INT64S),
    ("[x * y for x, y in zip(a, xs)]", FLOATS),
    ("[x if x > 3 else -x for x in a]", INT64S),
    ("[math.sqrt(abs(x)) for x in a]", FLOATS),
    ("[x * 0.5 + 1 for x in a]", FLOATS.astype(np.float32)),
    ("[x * 2 for x in a]", np.where(INT64S % 7 == 0, np.nan, FLOATS)),
    ("[x * 2 for x in a if x == x]", np.where(INT64S % 7 == 0, np.nan, FLOATS)),
    ("[1 / x if x else x for x in a]", FLOATS),
    ("[x ** 3 for x in a]", FLOATS),
    ("[2 ** x for x in a]", (INT64S % 9).astype(np.float32)),
    ("[x ** 0.5 for x in a]", (INT64S % 9).astype(np.int8) ** 2),
    ("sum(x for x in a if x > 0)", INT64S),
    ("sum(x * 2 for x in a)", INT64S),
    ("sum(x > 3 for x in a)", INT64S),
    ("sum(1 for x in a if x > 3)", INT64S),
    ("sum(x * 0.25 for x in a)", FLOATS),
    ("sum(x for x in a if x > 1e9)", FLOATS),
    ("min(x * 2 for x in a)", INT64S.astype(np.int16)),
    ("max(x * 2 for x in a if x < 0)", FLOATS.astype(np.float32)),
    ("any(x > 298 for x in a)", INT64S),
    ("all(-500 < x < 500 for x in a)", INT64S),
    ("len([x for x in a if x > 3])", INT64S),
    ("{x % 10 for x in a}", INT64S),
    ("tuple(x + 1 for x in a)", INT64S),
    ("sorted(-x for x in a)", INT64S),
    ("list(map(abs, a))", INT64S),
    ("list(filter(None, a))", FLOATS),
    ("[x + 1 for x in a if x]", np.arange(N) % 2 == 0),
    ("[x.real * 2 for x in a]", INT64S),
    ("[table[i] for i in a]", np.arange(N)),
    ("[table[i] * 2 for i in xs]", FLOATS),
    ("[plain[x] for x in a]", np.arange(N)),
    ("sum(a)", INT64S),
    ("sum(a)", INT64S.astype(">i8")),
    ("min(a)", INT64S[::-1]),
    ("max(a)", FLOATS.astype(np.float32)),
    ("sum(x for x in a)", INT64S[::2].repeat(4)[::2]),
    ("max(a) - min(a)", INT64S.astype(np.int16)),
]

PYTHONS = [
    ("[x * 2 for x in a]", (INT64S % 100).astype(np.int8), "otherwise than Python"),
    ("[x * 2 for x in a]", INT64S + 2**62, "otherwise than Python"),
    ("[-x for x in a]", np.arange(N, dtype=np.uint8), "overflow"),
    ("[x / (x - 3) for x in a]", FLOATS, "otherwise than Python"),
    ("[x * 1e308 for x in a]", FLOATS, "otherwise than Python"),
    ("[x if x > 3 else 0 for x in a]", INT64S, "of one type for some"),
    ("[max(x, 0) for x in a]", INT64S, "of one type for some"),
    ("[x ** 0 for x in a]", INT64S, "exponent 0"),
    ("[x ** -1 for x in a]", INT64S + N, "negative powers"),
    ("[math.floor(x) for x in a]", INT64S + 2**62, "left to NumPy"),
    ("[x.imag for x in a]", INT64S, "`imag` of a number"),
    ("[np.sqrt(x) for x in a]", INT64S + N, "uses NumPy"),
    ("sum(x for x in a)", INT64S + 2**60, "otherwise than Python"),
    ("sum(x for x in a)", FLOATS.astype(np.float32), "rounds at every step"),
    ("sum(x for x in a if x > 1000)", INT64S, "perhaps of no elements"),
    ("[x + y for x, y in zip(a, xs)]", np.arange(N, dtype=np.uint8), "otherwise than Python"),
    ("[x + x for x in a]", np.arange(N) % 2 == 0, "computes another"),
    ("[x + True for x in a]", np.arange(N) % 2 == 0, "computes another"),
    ("[(not 2) * x for x in a]", np.arange(N) % 2 == 0, "computes another"),
    ("[plain[x > 3] for x in a]", FLOATS, "a bool in the place of an int"),
    ("[max(not x, x) for x in a]", np.arange(N) % 3 == 0, "Python's for some elements"),
    ("[len(x) for x in a]", np.ones((N, 2)), "ndarray"),
    ("[x + 1 for x in a]", np.ones(N, np.float16), "ndarray"),
    ("[x + 1 for x in a]", np.ones(N, np.complex128), "ndarray"),
    ("[x for x in a if x > 3]", np.ma.ones(N), "MaskedArray"),
    ("sum(a)", INT64S + 2**60, "otherwise than Python"),
    ("sum(a)", FLOATS.astype(np.float32), "rounds at every step"),
    ("math.prod(a)", INT64S % 2 * 2 + 1, "left to NumPy"),
    ("max(a.sum() for a in a)", np.ones((N, 2)), "an element is read"),
    ("sum(a)", INT64S[:200], "no pipeline"),
    ("any(a)", INT64S, "no pipeline"),
    ("sum(a)", INT64S.tolist(), "no pipeline"),
    ("max(a)", {str(x): x for x in range(N)}, "no pipeline"),
    ("sum(a, 5)", INT64S, "no pipeline"),
    ("max(a, key=abs)", INT64S, "left to NumPy"),
]


@pytest.mark.parametrize(("expression", "a"), COMPILED)
def test_it_is_compiled(expression, a, same):
    assert compared(expression, same, a=a) == (True, "")


@pytest.mark.parametrize(("expression", "a", "reason"), PYTHONS)
def test_it_is_left_to_numpy_with_a_reason(expression, a, reason, same):
    compiled, why = compared(expression, same, a=a)
    assert not compiled
    assert reason in why


# What nothing is done with, and what stands behind attributes, in containers, and in modules


@pytest.mark.parametrize(
    "expression",
    [
        "(lambda y: 3)(x * 2)",
        "(x * 2, x)[1]",
        "len([-2 - x])",
        "(lambda y: y if x < 3 else x)(x * 2)",
        "(lambda y: 3)(x * 2) if x > 90 else 4",
        "[x * 2, 3][1]",
    ],
)
@pytest.mark.parametrize("type_", [np.int8, np.uint8, np.int64])
def test_numpy_warns_of_what_is_not_used_too(expression, type_, same):
    compiled, _ = compared(f"list(map(lambda x: {expression}, a))", same, a=(INT64S % 250).astype(type_))
    assert compiled == (type_ is np.int64)


class _Held:
    table = np.array([5, 2])
    rate = np.float64(0.5)
    root = staticmethod(np.sqrt)

    def at(self, x):
        return self.table[x % 2] + x


_MODULE = types.ModuleType("numbers_of_ours")
vars(_MODULE).update(table=np.array([5, 2]), rate=np.float64(2.5), inner=_Held())
HELD = {
    "held": _Held(),
    "Held": _Held,
    "space": types.SimpleNamespace(inner=_Held()),
    "module": _MODULE,
    "some": [np.int64(5), np.int64(2)],
    "pairs": {0: np.int64(5), 1: np.float64(2)},
    "tables": {0: np.array([5, 2])},
    "objects": {0: _Held()},
    "partly": functools.partial(lambda x, b: x + b[0], b=(np.int64(5),)),
    "float64": np.float64,
}


@pytest.mark.parametrize(
    "element",
    [
        "held.table[0] + x", "Held.table[x % 2] + x", "space.inner.table[0] * x", "held.at(x)", "held.rate * x",
        "Held.root(x)", "module.table[x % 2] + x", "module.rate * x", "module.inner.rate * x", "sum(some) + x",
        "pairs[x % 2]", "tables[0][x % 2]", "objects[0].rate * x", "partly(x)", "float64(x)",
    ],
)  # fmt: skip
def test_numpys_numbers_are_found_wherever_they_are(element, same):
    compared(f"[{element} for x in xs]", same, **HELD)


def test_long_chains_of_objects_are_no_reason_to_wait(same):
    chain = None
    for number in range(5000):
        chain = types.SimpleNamespace(number=number, rest=chain)
    compared("[chain.rest.number + x for x in xs]", same, chain=chain)


# Any expression over any array

LEAVES = ["x", "x", "y", "2", "3", "-1", "k", "half", "i"]
_unary = st.sampled_from(["-{}", "abs({})", "~{}", "not {}", "int({})", "float({})", "bool({})", "{} ** 2"])
_binary = st.sampled_from([
    "{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} // {}", "{} % {}", "{} & {}", "{} << ({} & 7)", "{} < {}",
    "{} == {}", "{} and {}", "min({}, {})",
])  # fmt: skip


def _larger(parts):
    inside = parts.map(lambda text: f"({text})")
    return (
        st.builds(str.format, _unary, inside)
        | st.builds(str.format, _binary, inside, inside)
        | st.builds("{} if {} else {}".format, inside, inside, inside)
    )


EXPRESSIONS = st.recursive(st.sampled_from(LEAVES), _larger, max_leaves=5)
SHAPES = st.sampled_from([
    "[{} for i, (x, y) in enumerate(zip(a, b))]", "sum({} for i, (x, y) in enumerate(zip(a, b)))",
    "[{} for i, (x, y) in enumerate(zip(a, b)) if x < y]", "max({} for i, (x, y) in enumerate(zip(a, b)) if y)",
    "[({}, y) for i, (x, y) in enumerate(zip(a, xs))]", "(max(a), min(b), math.prod(a))",
])  # fmt: skip


@st.composite
def arrays(draw):
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    if dtype.kind == "b":
        values = st.booleans()
    elif dtype.kind == "f":
        values = st.floats(-100, 100, width=16)
        if draw(st.booleans()):
            values |= st.sampled_from([np.nan, np.inf, 3e38, -0.0])
    else:
        limits = np.iinfo(dtype)
        near = st.integers(max(-10, limits.min), 10)
        values = near if draw(st.booleans()) else near | st.integers(limits.min, limits.max)
    return np.resize(np.array(draw(st.lists(values, min_size=1, max_size=12)), dtype), N)


@settings(max_examples=50)
@given(expression=EXPRESSIONS, shape=SHAPES, a=arrays(), b=arrays())
def test_any_expression(expression, shape, a, b, same):
    if shape.startswith("sum") and "f" in a.dtype.kind + b.dtype.kind:
        shape = "list" + shape[3:]  # a sum of floats may round otherwise
    if "half" in expression or "/" in expression or "float" in expression:
        shape = shape.replace("sum", "list")
    compared(shape.format(expression), same, a=a, b=b)


# Series, and what changes from run to run


def test_series_give_pythons_numbers(same):
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    for a in (pandas.Series(INT64S), pandas.Series(FLOATS.astype(np.float32)), polars.Series("a", INT64S)):
        for expression in ("[x * 2 for x in a]", "sum(x for x in a if x > 3)", "[(x, x > 2) for x in a]"):
            assert compared(expression, same, a=a) == (True, "")
    compiled, why = compared("[x for x in a if x]", same, a=arrow.array(INT64S))
    assert not compiled
    assert "only Python can give" in why
    compiled, why = compared("[x + 1 for x in a]", same, a=polars.Series([1, None] * 300))
    assert not compiled
    assert "null" in why


def test_one_piece_of_code_over_many_kinds(same):
    @hastega
    def doubled(xs):
        return [x * 2 for x in xs], sum(x for x in xs if x > 2)

    plain = doubled.__wrapped__
    pandas = pytest.importorskip("pandas")
    sources = [
        INT64S,
        INT64S.tolist(),
        pandas.Series(INT64S),
        FLOATS,
        INT64S.astype(np.int32),
        INT64S.repeat(9),
    ]
    for _ in range(3):
        for source in sources:
            assert same(doubled(source), plain(source))


def test_a_captured_number_that_changes(same):
    @hastega
    def scaled(xs, k):
        return [x * k for x in xs]

    for k in (2, 3, 4, 5, 0.5, 7, True):
        assert same(scaled(INT64S, k), scaled.__wrapped__(INT64S, k))


def test_a_longer_array_may_overflow_where_a_shorter_did_not(same):
    @hastega
    def total(xs):
        return sum(x for x in xs)

    for length in (300, 1000, 70_000, 1000):
        array = np.full(length, 2**31 // 1024, np.int32)
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            assert same(total(array), total.__wrapped__(array))


def test_word_of_underflow_is_numpys(same):
    with np.errstate(under="warn"):
        compiled, why = compared("[x * 1e-300 for x in a]", same, a=FLOATS * 1e-10)
    assert not compiled
    assert "underflow" in why


@pytest.mark.parametrize(
    "power", ["x ** 1.5", "x ** 7", "x ** -2.0", "x ** -1", "2.5 ** x", "(x, x ** 0.5)", "pow(x, 0, 97)"]
)
@pytest.mark.parametrize("dtype", ["int64", "int8", "float64", "bool"])
def test_powers_are_of_numpys_types(power, dtype):
    xs = (np.arange(300) % 3 + 1).astype(dtype)
    python, compiled = made(f"[{power} for x in xs]", xs=xs)
    try:
        wanted = python()
    except (TypeError, ValueError) as error:  # of ints to negative powers, and of three numbers
        with pytest.raises(type(error), match=re.escape(str(error))):
            compiled()
        return
    found = compiled()
    assert [kinds_of(each) for each in found] == [kinds_of(each) for each in wanted]
    assert np.allclose(found, wanted, rtol=1e-14)


def kinds_of(value):
    return tuple(map(type, value)) if isinstance(value, tuple) else type(value)


def test_rows_are_no_numbers():
    _, compiled = made("sum(a)", a=np.ones((N, 2)))
    assert compiled().tolist() == [N, N]
    assert compiled.explain().pipelines == ()
