import array
import functools
import math
import operator

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import conjunction, const, flatten, leaf, make
from hastega_magic.syntax.functions.lower import lower, parameters
from hastega_magic.syntax.operations import sums
from hastega_magic.types import BOOL, FLOAT, FLOAT32, INT

CAPTURED = {
    "k": 7, "half": 0.5, "flag": True, "table": [3, 1, 4, 1, 5], "reals": [0.5, 1.5], "pair": (2, 9),
    "bytes_": array.array("B", [9, 8, 7]), "cube": lambda v: v * v * v, "math": math, "operator": operator,
    "np": np, "add3": functools.partial(lambda a, b, c=0: a + b * 2 + c * 3, 3, c=1),
}  # fmt: skip

INT_FUNCTIONS = [
    "x", "x + 1", "2 * x - k", "-x", "+x", "~x", "x // 3", "x % 3", "x // k - x % k", "100 // x",
    "7 % (x + 2)", "10 - x * 2", "100 / (x + 1)", "(x + 1) * (x - 1)", "x & 6 | 1 ^ x", "x << 2", "x >> 1",
    "1 << x", "x ** 2", "x ** 3", "x ** 10", "x ** 0", "x ** 1", "2 ** (x % 9)", "(x > 1) ** 2",
    "x * half", "x / k", "x if x > 2 else -x", "x > 2", "0 < x <= 3", "0 < x < 100 // x", "x and 10 // x",
    "x or k", "not x", "x > 0 and x < 3", "x != 0 and 6 % x == 0", "x == 0 or 6 // x > 1", "(x, x + 1)",
    "(x, 1 // x)[0]", "(x, x + 1, x + 2)[1:]", "(x, (x + 1, x + 2))[1][0]", "(1, 2) + (x,)",
    "table[x % 5]", "table[-1 - x % 5]", "table[x]", "bytes_[x]", "reals[x > 1]", "pair[0] * x",
    "pair[-1] + table[2]", "len(table) * x + len((1, 2))", "cube(x) + cube(v=2)", "add3(x)", "abs(x)",
    "int(x)", "int(x > 2)", "int(x * half)", "float(x)", "bool(x)", "bool((x,))", "round(x)",
    "round(x * half)", "round(x > 1)", "min(x, 3)", "max(x, 3, k)", "min((x, 2))", "divmod(x, 3)",
    "divmod(7, x)", "pow(x, 2)", "math.sqrt(x)", "math.floor(x)", "math.ceil(x / 2)", "math.floor(x / 2)",
    "math.trunc(x / 3)", "math.fabs(x) + math.pi", "math.copysign(2, x)", "math.isnan(x)",
    "operator.add(x, k)", "operator.not_(x)", "operator.truth(x)", "operator.floordiv(9, x)",
    "operator.pow(x, 2)", "(y := x + 1) * y", "k if flag else 1 // 0", "flag and x", "flag or x",
    "x + flag", "x * 1e3 < 10**3", "2 ** 0.5 * x", "x ** 2.0", "x // 1 ** 5", "x ** (1 + 1)",
    "3 if x else (k)", "np.square(x)", "x + True", "-(x > 1)", "x % -3", "x // -3", "1 < 2 < x",
    "x if 1 else 1 // 0", "not (x and 1 // x > 0)",
]  # fmt: skip


def outcome(function, *args):
    try:
        return function(*args)
    except (ArithmeticError, IndexError, ValueError, TypeError) as error:
        return type(error)


def same(left, right):
    return repr(left) == repr(right)


@pytest.mark.parametrize("body", INT_FUNCTIONS)
def test_functions_of_an_int_mean_what_python_means(graph, cell, body):
    function = cell(f"f = lambda x: {body}", **CAPTURED)["f"]
    env, fn = graph(f"lambda x: {body}", INT, **CAPTURED)
    for x in (0, 1, 2, 3, 4, 5, 17, -1, -2, -3, -6, 1000, -(10**6)):
        expected, found = outcome(function, x), outcome(env.run, fn, x)
        if body == "np.square(x)":
            expected = int(expected)
        if body == "1 << x" and x > 500:
            continue
        assert same(found, expected), (x, found, expected)


@pytest.mark.parametrize("body", [
    "x + 1", "x * x - half", "x / 3", "1 / x", "x // 2", "x % 2.5", "-x", "x ** 2", "x ** 1", "x ** 0",
    "x > 1", "x == k", "0 <= x < 1", "x if x > 0 else 0.0", "x and 1 / x", "x or 2.5", "not x", "int(x)",
    "round(x)", "float(x)", "bool(x)", "math.sqrt(x)", "math.floor(x)", "math.ceil(x)", "math.trunc(x)",
    "min(x, 1.5)", "max(x, half)", "abs(x)", "math.fabs(x)", "math.isinf(x)", "math.isfinite(x)",
    "divmod(x, 2.0)", "reals[x > 1]", "x < 1 < 1 / x",
])  # fmt: skip
def test_functions_of_a_float_mean_what_python_means(graph, cell, body):
    function = cell(f"f = lambda x: {body}", **CAPTURED)["f"]
    env, fn = graph(f"lambda x: {body}", FLOAT, **CAPTURED)
    for x in (0.0, -0.0, 1.0, 0.5, 1.5, 2.5, -2.5, 1e9, -1e-9, 1e200, math.inf, -math.inf, math.nan):
        assert same(outcome(env.run, fn, x), outcome(function, x)), x


DEFINITIONS = [
    "def f(x):\n  'doc'\n  y = x + 1\n  z: int = y * 2\n  z -= x\n  w: int\n  pass\n  return z * y",
    "def f(x):\n  a, (b, c) = x, (x + 1, x + 2)\n  a, b = b, a\n  d = e = a * b\n  return (a, d - e + c)",
    "def f(x):\n  y = 1 // x\n  return 0",
    "def f(x):\n  1 // x\n  return x",
    "def f(x):\n  y = (1 // x, x)\n  return y[1]",
    "def f(x):\n  y = table[x]\n  return x",
    "def f(x):\n  y = 1 // x if x > 1 else 5\n  return x",
    "def f(x):\n  y = x > 1 and 1 // (x - 3) > 0\n  return x",
    "def f(x):\n  y = 0 if 1 // x > 0 else 0\n  return x",
    "def g(a, b=5, c=3): return a * b - c\ndef f(x):\n  v = g(x, c=2) + g(x, 1, 2)\n  return v",
    "def g(a):\n  b = 1 // a\n  return a\ndef f(x):\n  return g(x) if x > 0 else -1",
    "def f(x):\n  u, v = pair\n  return u * x + v",
    "def f(x, scale=3): return x * scale",
    "def outer(n):\n  return lambda x: x * n + k\nf = outer(11)",
    "def f(x):\n  return x * late\nlate = 13",
    "def f(x):\n  return (lambda_(x), divmod(x, k))[0]\nlambda_ = lambda v: v - 1",
    "def f(x): return 1 // x ** 0",
    "def g(x): return 1 // (x - 2)\ndef f(x): return g(x) ** 0 + min(g(x), 3)",
]


@pytest.mark.parametrize("text", DEFINITIONS)
def test_definitions_mean_what_python_means(graph, cell, text):
    function = cell(text, **CAPTURED)["f"]
    env, fn = graph(text, INT, **CAPTURED)
    for x in (0, 1, 2, 3, 4, 5, -1, -5, -6, 40):
        expected, found = outcome(function, x), outcome(env.run, fn, x)
        assert same(found, expected), (x, found, expected)


@pytest.mark.parametrize(
    "text",
    [
        "lambda x: x > 0 and x",
        "lambda x: x or half",
        "lambda x: not x or x % 2 and half",
        "lambda x: x and 6 % x",
        "lambda x: (x,)",
        "lambda x: x == 0 or (x > 2 and 5 // (x - 3) > 0)",
        "def f(x):\n  y = x % 3\n  return y and x",
        "lambda x: x > 0 and x * 10**18 > 5",
        "lambda x: x if flag else 0.5",
    ],
)
def test_predicates_need_only_truth(graph, cell, text):
    function = cell(f"f = {text}" if text.startswith("lambda") else text, **CAPTURED)["f"]
    env, fn = graph(text, INT, predicate=True, **CAPTURED)
    assert fn.result.type is BOOL
    for x in range(-5, 6):
        expected = outcome(lambda x: bool(function(x)), x)
        assert outcome(env.run, fn, x) == expected, x


def test_pairs_are_spread_or_not(graph):
    pair = (leaf("param", INT, 0), leaf("param", FLOAT, 1))
    for text in ("lambda a, b: (b, a + 1)", "lambda t: (t[1], t[0] + 1)", "lambda a, b, c=1: (b, a + c)"):
        _, fn = graph(text, INT, FLOAT)
        assert fn.params == pair
        assert fn.result == (pair[1], make("add", pair[0], const(1)))
    env, fn = graph("lambda i, p: i * p[0] + p[1]", INT, (INT, INT))
    assert env.run(fn, 2, 3, 4) == 10


@pytest.mark.parametrize(
    ("function", "types", "op"),
    [
        (operator.add, (INT, INT), "add"),
        (math.sqrt, FLOAT, "sqrt"),
        (np.sqrt, FLOAT32, "fsqrt"),
        (abs, INT, "abs"),
        (max, (INT, INT), "max"),
        (functools.partial(operator.mul, 3), INT, "mul"),
        (float, INT, "int_to_float"),
        (bool, INT, "ne"),
        (divmod, (INT, INT), None),
    ],
)
def test_functions_not_written_in_python(env, function, types, op):
    fn = lower(function, parameters(types), env)
    assert getattr(fn.result, "op", None) == op


def test_parameters_are_numbered_from_left_to_right():
    assert [node.value for node in flatten(parameters((INT, (FLOAT, BOOL), INT), 3))] == [3, 4, 5, 6]


def test_float32_stays_float32_beside_python_floats(graph):
    _, fn = graph("lambda x: x * 0.5 + 1", FLOAT32)
    assert fn.result.type is FLOAT32


class TestEffects:
    def test_infallible_functions_have_none(self, graph):
        for text in ("lambda x: x * 2 % 7", "def f(x):\n  y = x // 3\n  return 5", "lambda x: x << 3"):
            assert graph(text, INT)[1].effects == ()

    def test_carry_the_condition_under_which_python_evaluates(self, graph):
        _, fn = graph("def f(x):\n  y = (1 // x if x > 5 else 0) if x > 3 else 2\n  return x", INT)
        x = fn.params
        above3, above5 = make("gt", x, const(3)), make("gt", x, const(5))
        division = make("floordiv", const(1), x)
        inner = make("select", above5, division, const(0))
        assert fn.effects == (
            (conjunction([above3, above5]), division),
            (above3, inner),
            (None, make("select", above3, inner, const(2))),
        )

    def test_constant_conditions_evaluate_one_branch(self, graph):
        _, fn = graph("lambda x: x if flag else 1 // x", INT, flag=True)
        assert (fn.result, fn.effects) == (fn.params, ())

    def test_hold_the_result(self, graph):
        _, fn = graph("lambda x: 1 // x", INT)
        assert fn.effects == ((None, fn.result),)


def test_subscripts_wrap_as_python_does(graph):
    _, fn = graph("lambda x: t[x]", INT, t=[1, 2])
    x, length = fn.params, leaf("length", INT, 0)
    place = make("select", make("lt", x, const(0)), make("wrapping_add", x, length), x)
    assert fn.result == make("gather", leaf("table", INT, 0), place)


def test_powers_are_products(graph):
    _, fn = graph("lambda x: x ** 5", INT)
    x = fn.params
    square = make("mul", x, x)
    assert fn.result == make("mul", x, make("mul", square, square))


def test_the_reason_points_into_the_cell(graph):
    with pytest.raises(NotCompilable) as caught:
        graph("def f(x):\n  y = x + 1\n  return y * len('abc')", INT)
    assert tuple(caught.value.reason.span) == (3, 17, 3, 22)


def test_spans_are_kept_for_the_running_cell_alone(graph, cell, env):
    _, fn = graph("lambda x: x * 2 + x * 2", INT)
    product = make("mul", fn.params, const(2))
    assert [tuple(span) for span in fn.spans[product]] == [(1, 14, 1, 19), (1, 22, 1, 27)]
    assert [tuple(span) for span in fn.spans[fn.result]] == [(1, 14, 1, 27)]
    assert tuple(fn.span) == (1, 4, 1, 27)
    elsewhere = cell("g = lambda x: x * 2")["g"]
    other = lower(elsewhere, parameters(INT), env)
    assert tuple(other.span) == (0, 0, 0, 0)
    assert other.spans == {}


_leaves = st.sampled_from(["x", "y", "1", "2", "-3", "k", "7"])


def _wider(inner):
    binary = st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%", "&", "|", "<", "==", ">="]), inner)
    return st.one_of(
        binary.map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda t: f"(not {t})"),
        inner.map(lambda t: f"int({t})"),
        st.tuples(inner, inner).map(lambda t: f"divmod({t[0]}, {t[1]})[1]"),
        st.tuples(inner, inner).map(lambda t: f"g({t[0]}, {t[1]})"),
    )


@settings(max_examples=120, deadline=None)
@given(st.recursive(_leaves, _wider, max_leaves=8), st.recursive(_leaves, _wider, max_leaves=6))
def test_any_function_means_what_python_means(graph, cell, first, second):
    helper = "def g(a, b): return a - b if a > b else b"
    text = f"{helper}\ndef f(x, y):\n  k = {first.replace('k', '9')}\n  return {second}"
    function = cell(text)["f"]
    try:
        env, fn = graph(text, INT, INT)
    except NotCompilable as error:
        assume("more than three numbers" in str(error))  # each of a type that depends on the element
        raise
    for x in (0, 1, -1, 3, 8, -20):
        for y in (0, 2, -3, 7):
            assert same(outcome(env.run, fn, x, y), outcome(function, x, y)), (x, y)


def test_spans_are_where_values_are_computed(graph, cell):
    def placed(text, **names):
        _, fn = graph(text, INT, **names)
        lines = text.splitlines()
        shift = 0 if text.startswith("def") else 4
        return {
            lines[span.line - 1][span.col - shift : span.end_col - shift]
            for spans in fn.spans.values()
            for span in spans
        }

    helper = cell("def h(x):\n  y = x * 7\n  return y - 1")["h"]
    assert placed("lambda x: x") == set()
    assert placed("lambda x: float(x * 2) + x") == {"x * 2", "float(x * 2)", "float(x * 2) + x"}
    assert placed("lambda x: int(x * 2)") == {"x * 2"}
    assert placed("lambda x: h(x + 1) * 2", h=helper) == {"x + 1", "h(x + 1)", "h(x + 1) * 2"}
    assert placed("def f(x):\n  y = x * 3\n  y += 2\n  return y") == {"x * 3", "y += 2"}


def test_a_graph_is_kept_as_long_as_what_the_function_reads_stays(graph, cell):
    space = cell("f = lambda x: x * k", k=7)
    env, _ = graph("lambda x: x", INT)
    element = parameters(INT)
    first = lower(space["f"], element, env)
    assert lower(space["f"], element, env) is first
    for value in (8, 7.0, True):
        space["k"] = value
        found = lower(space["f"], element, env)
        assert found is not first
        assert found is lower(space["f"], element, env)
    assert lower(space["f"], parameters(FLOAT), env) is not found
    assert lower(space["f"], element, env, predicate=True) is not found
    space["k"] = 7
    assert lower(space["f"], element, env) is first
    space["k"] = "seven"
    with pytest.raises(NotCompilable):
        lower(space["f"], element, env)


def test_zeros_of_both_signs_are_different_numbers(graph, cell):
    space = cell("f = lambda x: x * k", k=0.0)
    env, _ = graph("lambda x: x", FLOAT)
    results = []
    for zero in (0.0, -0.0):
        space["k"] = zero
        results.append(lower(space["f"], parameters(FLOAT), env).result.args[1].value)
    assert [math.copysign(1, value) for value in results] == [1, -1]


class TestSumOfATuple:
    @staticmethod
    def compensated(values):
        """CPython's sum of floats from 3.12 on."""
        total, lost = 0.0, 0.0
        for value in values:
            new = total + value
            lost += (total - new) + value if abs(total) >= abs(value) else (value - new) + total
            total = new
        return total + lost if lost and math.isfinite(lost) else total

    def test_adds_from_the_left(self, graph):
        env, fn = graph("lambda a, b, c: sum((a, b, c), 4)", INT, FLOAT, INT)
        assert env.run(fn, 1, 0.5, 2) == 7.5

    def test_compensated_where_cpython_does(self, graph, monkeypatch):
        monkeypatch.setattr(sums, "COMPENSATED", True)
        env, fn = graph("lambda a, b, c, d: sum((a, b, c, d))", FLOAT, FLOAT, FLOAT, FLOAT)
        for values in (
            (1e100, 1.0, -1e100, 3.0),
            (0.1, 0.2, 0.3, 0.4),
            (math.inf, 1.0, 2.0, 3.0),
            (1.0, -0.0, 1e16, 1.0),
        ):
            assert env.run(fn, *values) == self.compensated(values)
