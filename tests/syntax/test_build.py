import functools
import math
import operator

import numpy as np
import pytest

from hastega_magic.errors import NOWHERE
from hastega_magic.ir.expr import const, flatten, leaf, make, map_value
from hastega_magic.ir.interpreter import evaluate
from hastega_magic.syntax.loops.build import BoundStage, View, build
from hastega_magic.syntax.site import StageSite
from hastega_magic.types import BOOL, FLOAT, INT


@pytest.fixture
def built(cell, stages_of, env):
    """What is built of the last pipeline statement of a cell."""

    def make_loop(text, **names):
        namespace = cell(text, math=math, np=np, operator=operator, functools=functools, **names)
        env.filename = namespace["filename"]
        source, stages = stages_of(namespace)
        return build("ys", env.source(source), stages, env)

    return make_loop


def elements(result, source, *others):
    """The elements that the loop makes, by the interpreter."""
    view = result.view or View()
    stop = None if view.count is None else view.start + view.count
    columns = [list(source)[view.start : stop], *map(list, others)]
    rows = list(zip(*columns, strict=False))
    found = []
    for index, (first, *rest) in enumerate(rows):
        value, kept = first, True
        for stage in result.pipeline.stages:
            if stage.kind == "zip":
                value = (value, *rest)
            elif stage.kind == "enumerate":
                value = (stage.number + index, value)
            else:
                numbers = dict(zip(flatten(stage.fn.params), _flat(value), strict=True))
                result_of = evaluate(flatten(stage.fn.result), numbers.__getitem__)
                computed = map_value(result_of.__getitem__, stage.fn.result)
                if stage.kind == "filter" and not computed:
                    kept = False
                    break
                value = value if stage.kind == "filter" else computed
        if kept:
            found.append(value)
    return found


def _flat(value):
    return [number for part in value for number in _flat(part)] if isinstance(value, tuple) else [value]


def test_the_design_pipeline(built):
    result = built(
        "p, mu = 61, 22\nrange(1, 9) |> map(lambda x: mu*x*(x+1) % p) |> filter(_ % 2 == 0) |> sum"
    )
    assert (result.consumed, result.reason, result.cut) == (3, None, False)
    assert [stage.kind for stage in result.pipeline.stages] == ["map", "filter"]
    assert [stage.text for stage in result.pipeline.stages] == [
        "map(lambda x: mu*x*(x+1) % p)",
        "filter(_ % 2 == 0)",
    ]
    assert (result.pipeline.name, result.pipeline.sink.kind, result.pipeline.source.kind) == (
        "ys",
        "sum",
        "range",
    )
    logistic = [22 * x * (x + 1) % 61 for x in range(1, 9)]
    assert elements(result, range(1, 9)) == [y for y in logistic if y % 2 == 0]


def test_without_a_sink_the_elements_are_an_array(built):
    result = built("range(5) |> map(_ + 1)")
    assert (result.pipeline.sink.kind, result.consumed) == ("array", 1)


@pytest.mark.parametrize("sink", ["sum", "prod", "min", "max", "count", "mean", "any", "all", "to_list"])
def test_sinks(built, sink):
    result = built(f"range(5) |> filter(_ > 1) |> {sink} |> map(_ + 1)")
    assert (result.pipeline.sink.kind, result.consumed, result.reason) == (sink, 2, None)
    assert result.pipeline.sink.text == sink


class TestPositions:
    def test_enumerate_and_zip(self, built):
        result = built(
            "range(5, 9) |> enumerate(10) |> map(lambda i, x: i * x) |> zip(a, b)", a=[1, 2, 3], b=[4, 5, 6]
        )
        assert elements(result, range(5, 9), [1, 2, 3], [4, 5, 6]) == [(50, 1, 4), (66, 2, 5), (84, 3, 6)]

    @pytest.mark.parametrize(
        "stages",
        [
            ["take(4)", "drop(1)"],
            ["drop(1)", "take(4)"],
            ["drop(2)", "drop(3)", "take(2)"],
            ["take(3)", "drop(5)"],
            ["enumerate", "drop(2)", "take(3)"],
            ["drop(2)", "enumerate(start=7)", "drop(1)", "take(9)", "take(2)"],
            ["take(0)"],
            ["drop(100)"],
            ["enumerate", "enumerate(5)", "drop(1)"],
        ],
    )
    def test_take_and_drop(self, built, stages):
        text = " |> ".join(["range(10, 20)", *stages, "map(lambda t: t)"])
        result = built(text)
        assert (result.consumed, result.cut) == (len(stages) + 1, False)
        expected = iter(range(10, 20))
        for stage in stages:
            name, _, rest = stage.partition("(")
            number = int(rest.strip(")").removeprefix("start=") or 0)
            if name == "enumerate":
                expected = iter(list(enumerate(expected, number)))
            else:
                bounds = (number,) if name == "take" else (number, None)
                expected = iter(list(expected)[slice(*bounds)])
        assert elements(result, range(10, 20)) == list(expected)

    @pytest.mark.parametrize(
        ("text", "consumed"),
        [
            ("range(9) |> filter(_ > 1) |> take(2)", 1),
            ("range(9) |> filter(_ > 1) |> drop(2) |> sum", 1),
            ("range(9) |> map(_ + 1) |> filter(_ > 1) |> enumerate |> sum", 2),
            ("range(9) |> filter(_) |> zip([1])", 1),
            ("range(9) |> map(1 // (_ - 3)) |> drop(2)", 1),
            ("range(9) |> filter(1 // _ > 3) |> drop(2)", 1),
            ("range(9) |> drop(2) |> zip([1])", 1),
        ],
    )
    def test_what_needs_a_loop_of_its_own(self, built, text, consumed):
        result = built(text)
        assert (result.consumed, result.cut, result.reason) == (consumed, True, None)
        assert result.pipeline.sink.kind == "array"

    def test_drop_goes_before_what_cannot_raise(self, built):
        result = built("range(9) |> map(_ % 7) |> drop(2)")
        assert (result.consumed, result.view) == (2, View(2, 1, 7))


class TestReduce:
    @pytest.mark.parametrize(
        ("function", "kind"),
        [
            ("operator.add", "add"),
            ("operator.mul", "mul"),
            ("operator.and_", "and"),
            ("operator.or_", "or"),
            ("operator.xor", "xor"),
            ("min", "min"),
            ("max", "max"),
            ("lambda a, b: a + b", "add"),
            ("lambda a, b: b * a", "mul"),
            ("lambda a, b: a if a < b else b", "min"),
            ("lambda a, b: b if a <= b else a", "max"),
            ("f", "xor"),
            ("lambda a, b: max(b, a)", "max"),
            ("functools.partial(lambda k, a, b: a | b, 3)", "or"),
            ("np.add", "add"),
        ],
    )
    def test_associative_functions(self, built, function, kind):
        result = built(f"def f(a, b):\n  c = a ^ b\n  return c\nrange(5) |> reduce({function})")
        assert result.reason is None
        assert (result.pipeline.sink.kind, result.initial) == (f"reduce_{kind}", ())

    def test_the_starting_value_is_kept_outside(self, built):
        assert built("range(5) |> reduce(operator.add, 7)").initial == (7,)
        assert built("range(5) |> reduce(operator.add, init=8)").initial == (8,)

    @pytest.mark.parametrize(
        ("text", "kind", "types"),
        [
            ("range(5) |> reduce(lambda a, b: b - a)", "fold", ("int", "int", None)),
            ("range(5) |> filter(_ > 1) |> reduce(lambda a, b: a - b)", "fold", ("int", "int", None)),
            ("range(5) |> reduce(lambda a, b: max(a, a * b))", "fold", ("int", "int", None)),
            ("range(5) |> reduce(lambda a, b: a if a > b * 2 else b * 3, 1)", "fold", ("int", "int", "int")),
            ("range(5) |> reduce(lambda a, b: a * b % 7, 3)", "fold", ("int", "int", "int")),
            ("np.ones(3) |> reduce(operator.add)", "fold", ("float64", "float64", None)),
            ("range(5) |> reduce(operator.add, 0.5)", "fold", ("float", "int", "float")),
            ("np.ones(3) |> scan(lambda a, b: a * 0.9 + b, 0)", "scan", ("float64", "float64", "float64")),
            ("range(5) |> map(_ > 2) |> scan(operator.add, 0)", "scan", ("int", "bool", "int")),
        ],
    )
    def test_other_functions_go_through_the_elements_in_order(self, built, text, kind, types):
        sink = built(text).pipeline.sink
        assert sink.kind == kind
        total, element = flatten(sink.fn.params)
        begun = sink.init[0].type.value if sink.init else None
        assert (total.type.value, element.type.value, begun) == types

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("range(5) |> reduce(lambda a: a)", "takes 1 argument, 2 given"),
            ("range(5) |> map(_ > 2) |> reduce(operator.add)", "another type than the elements"),
            ("range(5) |> reduce(print)", "observation"),
            ("range(5) |> zip([1]) |> reduce(operator.add)", "a tuple stands where a number is needed"),
            (
                "range(5) |> reduce(lambda a, b: (a ^ True) + b, True)",
                "another type than the value it begins with",
            ),
            (
                "range(5) |> reduce(lambda a, b: a if b > 2 else b * 0.5, 1)",
                "gives ints and floats among each other",
            ),
            ("range(5) |> reduce(operator.add, 'a')", "no number"),
            ("range(5) |> reduce(lambda a, b: (a, b), 1)", "gives a tuple"),
            ("np.ones(3) |> scan(lambda a, b: b if a > 1 else a * b, 1)", "another type"),
        ],
    )
    def test_other_functions_are_left_to_python(self, built, text, words):
        result = built(text)
        assert words in result.reason.text
        assert result.consumed == text.count("|>") - 1


@pytest.mark.parametrize(
    ("text", "consumed", "words", "under"),
    [
        ("range(5) |> map(_ + 1) |> tap(print) |> sum", 1, "observation", "tap(print)"),
        ("range(5) |> map(print) |> sum", 0, "`print` is called", "map(print)"),
        ("range(5) |> map(lambda x: print(x))", 0, "`print` is called", "print(x)"),
        ("range(5) |> map(_ * 2) |> sorted |> sum", 1, "`sorted` is no stage", "sorted"),
        ("range(5) |> map(_ * 2) |> reversed", 1, "(did you mean reverse?)", "reversed"),
        ("range(5) |> fliter(abs)", 0, "did you mean filter", "fliter(abs)"),
        ("range(5) |> sum(3j)", 0, "`sum` from 3j on", "sum(3j)"),
        ("range(5) |> min(key=lambda x: (x, 1))", 0, "`min` by keys that", "min(key=lambda x: (x, 1))"),
        (
            "range(5) |> map(lambda x: 1 if x % 2 else 0.5) |> max(default=0)",
            1,
            "with `default`",
            "max(default=0)",
        ),
        ("range(5) |> enumerate |> max", 1, "of tuples", "max"),
        ("range(5) |> take(0 - 1)", 0, "negative", "take(0 - 1)"),
        ("range(5) |> drop(3 / 2)", 0, "no integer", "drop(3 / 2)"),
        ("range(5) |> enumerate(str(1))", 0, "no integer", "enumerate(str(1))"),
        ("range(5) |> zip('abc')", 0, "not an array", "zip('abc')"),
        ("range(5) |> map(lambda x: x + nowhere)", 0, "`nowhere`", "nowhere"),
        ("range(5) |> take(*[1, 2])", 0, "takes 1 argument, 2 given", "take(*[1, 2])"),
        ("range(5) |> enumerate |> map(lambda a, b, c: a)", 1, "argument", "map(lambda a, b, c: a)"),
    ],
)
def test_barriers_say_why_and_where(built, text, consumed, words, under):
    result = built(text, fliter=lambda xs, f: xs)
    assert (result.consumed, result.cut) == (consumed, False)
    assert (result.pipeline is None) == (consumed == 0)
    assert words in result.reason.text
    line, col, end_line, end_col = result.reason.span
    assert text.split("\n")[line - 1][col:end_col] == under
    assert line == end_line


@pytest.mark.parametrize("name", ["sorted", "set", "list", "round"])
def test_functions_of_python_are_no_misspelt_stages(built, name):
    assert built(f"range(5) |> {name}").reason.text.endswith("Python calls it on the value so far")


def test_tuples_may_be_counted_and_listed(built):
    for sink in ("count", "to_list"):
        assert built(f"range(5) |> zip([1, 2]) |> {sink}").pipeline.sink.kind == sink


def test_element_types_go_from_stage_to_stage(built):
    result = built("range(5) |> zip(np.ones(5)) |> map(lambda i, x: (i / 2, i > 2)) |> map(lambda t: t[1])")
    first, second = (stage.fn for stage in result.pipeline.stages[1:])
    assert [node.type.value for node in flatten(first.params)] == ["int", "float64"]
    assert second.params == (leaf("param", FLOAT, 0), leaf("param", BOOL, 1))


def test_filter_without_a_function(built):
    result = built("range(5) |> filter(None) |> filter(bool) |> filter(_)")
    assert {stage.fn.result for stage in result.pipeline.stages} == {
        make("ne", leaf("param", INT, 0), const(0))
    }


def test_tables_are_the_environments(built, env):
    result = built("t = [1, 2, 3]\nu = np.arange(3.0)\nrange(3) |> map(lambda x: t[x] + u[x] + t[0])")
    assert [table.name for table in result.pipeline.tables] == ["t", "u"]
    assert result.pipeline.tables == tuple(env.tables)


def test_a_stage_of_no_cell(env):
    site = StageSite("map", "map", NOWHERE, known=True)
    result = build("", env.source(range(3)), [BoundStage(site, None, (abs,))], env)
    assert result.pipeline.stages[0].fn.result == make("abs", leaf("param", INT, 0))
