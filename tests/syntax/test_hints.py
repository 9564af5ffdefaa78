"""Notes on names that nobody has defined, and stages that are given no function."""

import math
import re

import pytest

from hastega_magic.errors import CellSyntaxError, Span
from hastega_magic.session import Session
from hastega_magic.syntax.cell import plan
from hastega_magic.syntax.hints import marked


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("[1] |> flter(_ > 2)", "hastega: `flter` is no stage: did you mean filter?"),
        ("[1] |> map(_ + 1) |> sume", "hastega: `sume` is no stage: did you mean sum?"),
        ("[1] |> Map(_ + 1)", "hastega: `Map` is no stage: did you mean map?"),
        ("[1] |> sort", "hastega: `sort` is no stage: did you mean sorted?"),
        ("[1] |> sum |> sqrt", "hastega: `sqrt` is no stage: did you mean map(math.sqrt)?"),
        ("[1] |> astype(flaot64)", "hastega: types are written as strings: `astype('float64')`"),
        (
            "[1] | map(_ + 1)",
            "hastega: `_` stands for the element in stages behind `|>`: is one written as `|` or `>` here?",
        ),
        ("[1] |> zzzzzz", "hastega: `zzzzzz` is no stage, and no function of that name is defined"),
        ("[1] |> map(math.sqrt)", "hastega: `math` is not imported yet: `import math`"),
        ("np.arange(3) |> map(_ + 1) |> sum", "hastega: `np` is not imported yet: `import numpy as np`"),
        ("[1] |> pl.Series", "hastega: `pl` is not imported yet: `import polars as pl`"),
        ("[1] |> map(Math.sqrt)", "hastega: `Math` is not defined: did you mean math?"),
        ("[1] |> map(sqrt)", "hastega: `sqrt` is not defined: did you mean math.sqrt?"),
        ("[1] |> map(sqrt(x))", "hastega: `sqrt` is not defined: did you mean math.sqrt?"),
        (
            "[1] |> map(time + 1)",
            "hastega: `map(time + 1)` takes a function: write `map(lambda time: ...)`, or call the element `_`",
        ),
        (
            "[1] |> map(x + 1)",
            "hastega: `map(x + 1)` takes a function: write `map(lambda x: ...)`, or call the element `_`",
        ),
    ],
)
def test_what_was_perhaps_meant(text, note):
    with pytest.raises(NameError) as caught:
        Session({}).run_cell(text)
    name = caught.value.name
    shown = [] if name == "_" else [f"    {text}\n    {' ' * text.rindex(name)}"]
    assert [each.rstrip("^") for each in caught.value.__notes__] == [note, *shown]


def test_the_caret_stands_where_a_screen_shows_the_stage():
    wide = marked("x = '日本語'; y = xs |> 名()", Span(1, 21, 1, 22), 1)
    assert wide.splitlines()[1] == "    " + " " * (21 + 3) + "^^"
    assert marked("if 1:\n\txs |> f", Span(2, 7, 2, 8), 1).splitlines()[1] == "    \t" + " " * 6 + "^"


def test_the_caret_stands_under_the_stage():
    with pytest.raises(NameError) as caught:
        Session({}).run_cell("x = 1\ny = ([1]\n    |> mapp(_ + x)\n    |> sum)")
    assert caught.value.__notes__[1] == "        |> mapp(_ + x)\n           ^^^^"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("y = xs |> map(_ + 1) |> sum", "y = xs |> map(_ + 1) |> sum", 4),
        ("y = [1] |> map(_ + len(xs)) |> sum", "y = [1] |> map(_ + len(xs)) |> sum", 23),
        ("y = ('é', [1] |> zip(xs) |> sum)", "y = ('é', [1] |> zip(xs) |> sum)", 21),
        ("y = ([1]\n    |> zip([2])  # not xs\n    |> zip(xs))", "    |> zip(xs))", 11),
        ("for i in [1]:\n    y = xs |> map(_ + i)", "    y = xs |> map(_ + i)", 8),
    ],
)
def test_a_name_that_is_no_more_is_marked_where_it_was_read(text, line, column):
    with pytest.raises(NameError) as caught:
        Session({}).run_cell(f"xs = [1]\ndel xs\n{text}")
    assert caught.value.__notes__[-1] == f"    {line}\n    {' ' * column}^^"


def test_what_ordinary_code_reads_has_no_caret():
    with pytest.raises(NameError) as caught:
        Session({}).run_cell("xs = [1]\ny = xs |> sum\ndel xs\nxs")
    assert not getattr(caught.value, "__notes__", [])


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (
            "[1, 2] |> scan(lambda a: a, 0)",
            "`scan` calls its function with the value so far and an element: write `scan(lambda total, x: ...)`",
        ),
        ("[1, 2] |> reduce(lambda a: a)", "write `reduce(lambda total, x: ...)`"),
        (
            "[1, 2] |> take_while(lambda a, b: a) |> count",
            "with one element: write `take_while(lambda x: ...)`",
        ),
        ("[1, 2] |> scan(lambda a, x: a + 'b')", ""),
    ],
)
def test_a_function_of_too_few_or_too_many(text, written):
    with pytest.raises(TypeError) as caught:
        Session({}).run_cell(text)
    notes = [each for each in getattr(caught.value, "__notes__", []) if "calls its function" in each]
    assert [written in each for each in notes] == [True] * bool(written)


def test_what_math_has_inside_a_function():
    with pytest.raises(NameError) as caught:
        Session({}).run_cell("[2] |> map(lambda x: x * pi)")
    said = "hastega: `pi` is not defined: did you mean math.pi?"
    assert said in caught.value.__notes__


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        ("xs.map(_ + 1) |> sum", "map"),
        ("y = 1\nxs.filter(lambda x: x)", "filter"),
        ("range(3).sum() |> print", "sum"),
        ("y = [1] |> zip(xs.reverse_() if 0 else xs.take(2))", "take"),
    ],
)
def test_a_stage_as_a_method_of_what_a_pipeline_may_go_through(text, stage):
    with pytest.raises(AttributeError) as caught:
        Session({"xs": [1, 2], "_": 0}).run_cell(text)
    *_, line = text.splitlines()
    at = line.index(f".{stage}") + 1
    assert caught.value.__notes__ == [
        f"hastega: `{stage}` is a stage: is it meant as `|> {stage}`?",
        f"    {line}\n    {' ' * at}{'^' * len(stage)}",
    ]


@pytest.mark.parametrize("text", ["x.count", "[1] |> zip(x.count)", "(lambda x: x.first)(3) |> print"])
def test_an_attribute_of_one_value_is_none(text):
    with pytest.raises(AttributeError) as caught:
        Session({"x": 3}).run_cell(text)
    assert not any("is a stage" in note for note in getattr(caught.value, "__notes__", []))


@pytest.mark.parametrize("text", ["[1] |> map(lambda x: y + x)", "y + 1", "[1] |> map(f)"])
def test_where_nothing_better_is_known_python_speaks_for_itself(text):
    with pytest.raises(NameError) as caught:
        Session({}).run_cell(text)
    assert not any("did you mean" in note for note in getattr(caught.value, "__notes__", []))


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("xs |> map(_ + 1) sum", (1, 17), "did you forget `|>` before `sum`?"),
        ("xs\n  |> map(_ + 1) sum", (2, 16), "did you forget `|>` before `sum`?"),
        ("t = (xs |> map(_ * 2) sum)", (1, 22), "did you forget `|>` before `sum`?"),
        ("xs map(_ + 1) |> sum", (1, 3), "did you forget `|>` before `map`?"),
        ("xs |> map(_ + 1) |  # so", (1, 17), "nothing stands after `|`, and a pipe is `|>`"),
        ("xs |> map(_ + 1) total", (1, 17), "invalid syntax"),
        ("xs sum", (1, 3), "invalid syntax"),
        (
            "xs |> reduce(0, lambda a, b: a + b)",
            (1, 13),
            "reduce takes its function first: `reduce(f, init)`",
        ),
        ("xs |> scan(0, lambda a, b: a + b)", (1, 11), "scan takes its function first: `scan(f, init)`"),
    ],
)
def test_what_was_forgotten_or_swapped(text, at, words):
    with pytest.raises(CellSyntaxError, match=re.escape(words)) as caught:
        plan(text)
    assert caught.value.span[:2] == at


@pytest.mark.parametrize(
    ("text", "at"), [("xs |> map(3)", 10), ("xs |> filter('a')", 13), ("xs |> map([1])", 10)]
)
def test_a_stage_that_is_given_no_function(text, at):
    with pytest.raises(CellSyntaxError, match="takes a function: write it with `_`") as caught:
        plan(text)
    assert caught.value.span[:2] == (1, at)


@pytest.mark.parametrize(
    ("text", "marked", "words"),
    [
        ("xs |> take(-2)", "-2", "reverse |> take(2)"),
        ("xs |> take(n=2.5)", "2.5", "a whole number of elements, not 2.5"),
        ("xs |> map(_ + 1) |> window(0) |> sum", "0", "from 1 on, not 0"),
        ("xs |> chunk('a')", "'a'", "not 'a'"),
        ("xs |> astype('int65')", "'int65'", "did you mean 'int64'?"),
        ("xs |> enumerate(start=None)", "None", "from a whole number"),
        ("xs |> to_list()[0]", "to_list()[0]", "`[0]` stands behind the stage alone"),
        ("xs |> sum / 2", "sum / 2", "`/ 2` stands behind the stage alone: put the pipeline in parentheses"),
        ("xs |> prod() * 2 + 1", "prod() * 2 + 1", "`* 2 + 1` stands behind the stage alone"),
        ("xs |> mean - xs |> min", "mean - xs", "`- xs` stands behind the stage alone"),
        ("xs |> map(_ + 1).sum()", "map(_ + 1).sum()", "`.sum()` stands behind the stage alone"),
        ("xs |> map(_ + 1) .sum()", "map(_ + 1) .sum()", "`.sum()` stands behind the stage alone"),
        ("xs |> map[_ + 1]", "map[_ + 1]", "a stage's arguments stand in parentheses: `map(...)`"),
        (
            "xs |> filter(_ > 2, _ < 5)",
            "filter(_ > 2, _ < 5)",
            "filter takes one function: write `filter(_ > 2 and _ < 5)`",
        ),
        (
            "xs |> take_while(_ > 0, 1 < _ < 5, _ != 3)",
            "take_while(_ > 0, 1 < _ < 5, _ != 3)",
            "take_while takes one function: write `take_while(_ > 0 and 1 < _ < 5 and _ != 3)`",
        ),
        ("xs |> filter(_ > 2, 3)", "filter(_ > 2, 3)", "filter takes 1 argument, 2 given: filter(f)"),
        ("xs |> take[3] |> sum", "take[3]", "a stage's arguments stand in parentheses: `take(...)`"),
    ],
)
def test_what_is_wrong_whatever_the_data(text, marked, words):
    with pytest.raises(CellSyntaxError, match=re.escape(words)) as caught:
        plan(text)
    span = caught.value.span
    assert text[span.col : span.end_col] == marked


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("xs |> map(lambda x, y: x)", TypeError, "write `map(lambda x: ...)`"),
        ("xs |> zip(xs) |> map(lambda x, y, z: x)", TypeError, "or `map(lambda a, b: ...)`"),
        ("xs |> take(minus)", ValueError, "take takes a number of elements from 0 on, not -1"),
        ("xs |> dot(xs[1:])", ValueError, "the other has only 2 elements"),
        ("xs[1:] |> dot(xs)", ValueError, "the other has more than 2 elements"),
        ("xs |> sum |> map(_ + 1)", TypeError, "is given a single int here"),
        ("xs |> zip(minus)", TypeError, "is given a single int here"),
        ("xs |> astype(xs)", TypeError, "astype knows no type [1, 2, 3]"),
    ],
)
def test_what_the_data_make_wrong(text, error, words):
    with pytest.raises(error) as caught:
        Session({"xs": [1, 2, 3], "minus": -1}).run_cell(text)
    assert words in " ".join([str(caught.value), *getattr(caught.value, "__notes__", ())])


def test_filter_takes_none():
    assert Session({}).run_cell("[0, 1] |> filter(None) |> to_list").value == [1]


def test_an_operator_between_callables_is_the_users_own():
    class Then:
        def __init__(self, f):
            self.f = f

        def __matmul__(self, other):
            return lambda value: other.f(self.f(value))

    names = {"ordered": Then(sorted), "size": Then(len)}
    assert Session(dict(names)).run_cell("[3, 1] |> ordered @ size").value == 2


@pytest.mark.parametrize("sink", ["sum", "mean", "max", "cumsum", "sorted"])
def test_a_function_that_forgot_to_return(sink):
    with pytest.raises(TypeError, match="'NoneType'") as caught:
        Session({}).run_cell(f"def area(r):\n    a = 3 * r\ny = range(5) |> map(area) |> {sink}")
    assert caught.value.__notes__ == [
        "hastega: an element is None: does the function of `map(area)` return a value in every case?",
        f"    y = range(5) |> map(area) |> {sink}\n    {' ' * 29}{'^' * len(sink)}",
    ]


def test_an_element_that_is_none():
    with pytest.raises(TypeError, match="'NoneType'") as caught:
        Session({}).run_cell("[1, None] |> sum")
    assert caught.value.__notes__ == [
        "hastega: element 1 is None",
        f"    [1, None] |> sum\n    {' ' * 13}^^^",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("y = [1] |> map(math.squareroot) |> sum", [" " * 20 + "^" * 10]),
        ("y = xs.real |> sum", [" " * 7 + "^^^^"]),
        ("y = math.squareroot(2)\n[1] |> sum", []),
        ("y = [xs.real for _ in ([1] |> take(1))], xs.real", []),
    ],
)
def test_an_attribute_that_is_not_there(text, shown):
    with pytest.raises(AttributeError) as caught:
        Session({"math": math, "xs": [1]}).run_cell(text)
    assert [each.splitlines()[1] for each in getattr(caught.value, "__notes__", [])] == [
        f"    {each}" for each in shown
    ]
