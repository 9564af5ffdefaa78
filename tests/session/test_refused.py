"""What is said where a stage was given something else than was meant, and where it stands."""

import functools
import itertools
import math
import operator

import pandas as pd
import pytest

from hastega_magic.errors import HastegaError
from hastega_magic.session import Session


def plus(x):
    return x + 1


def size(x):
    return x if x > 0 else -x


def outer(x):
    return plus(x)


class Fewer(dict):
    pass


NAMES = {
    "plus": plus, "size": size, "outer": outer, "math": math, "d": {"a": 1}, "fewer": Fewer(a=1),
    "df": pd.DataFrame({"a": [1]}),
}  # fmt: skip
KEYS = "a dict goes through its keys: `d.values() |> ...` goes through its values, `d.items()` through both"
COLUMNS = (
    "a DataFrame goes through the names of its columns: `df['name'] |> ...` goes through the values of one"
)


def notes(text):
    with pytest.raises((TypeError, ValueError, AttributeError, IndexError, ZeroDivisionError)) as caught:
        Session(dict(NAMES)).run_cell(text)
    assert not isinstance(caught.value, HastegaError)
    return getattr(caught.value, "__notes__", [])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("range(9) |> plus |> sum", "plus"),
        ("y = range(9) |> map(_ + 1) |> size |> max", "size"),
        ("range(9) |> math.sqrt", "math.sqrt"),
        ("range(9) |> map(_ + 1) |> math.sqrt", "math.sqrt"),
        ("range(9) |> abs |> sum", "abs"),
        ("['a'] |> str.upper", "str.upper"),
        ("['1'] |> int", "int"),
        ("[1] |> hash", "hash"),
        ("[1.5] |> round", "round"),
    ],
)
def test_a_function_of_one_element_is_given_all(text, name):
    said, caret = notes(text)
    assert said == f"hastega: `{name}` is called once, with all elements: `map({name})` calls it for each"
    assert caret == f"    {text}\n    {' ' * text.index(name)}{'^' * len(name)}"


@pytest.mark.parametrize(
    ("stage", "each"),
    [
        ("round(1)", "round(_, 1)"),
        ("pow(2)", "pow(_, 2)"),
        ("math.pow(2)", "math.pow(_, 2)"),
        ("round(ndigits=1)", "round(_, ndigits=1)"),
    ],
)
def test_a_function_of_one_element_and_more_is_given_all(stage, each):
    text = f"y = [1.25, 2.5] |> {stage}"
    name = stage.partition("(")[0]
    assert notes(text) == [
        f"hastega: `{name}` is called once, with all elements: `map({each})` calls it for each",
        f"    {text}\n    {' ' * text.index(stage)}{'^' * len(stage)}",
    ]
    Session(dict(NAMES)).run_cell(text.replace(stage, f"map({each})"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sum |> d", "`d` is no function, but of type dict: a source stands before `|>`"),
        ("[1, 2] |> k", "`k` is no function, but of type int"),
    ],
)
def test_what_is_no_function_behind_a_pipe(text, said):
    with pytest.raises(TypeError) as caught:
        Session({**NAMES, "k": 3}).run_cell(text)
    assert caught.value.__notes__ == [f"hastega: {said}", f"    {text}\n    {' ' * (len(text) - 1)}^"]


@pytest.mark.parametrize("stage", ["sorted(_ > 2)", "sorted(key=_ + 1)"])
def test_the_placeholder_in_an_argument_of_no_stage(stage):
    with pytest.raises(TypeError) as caught:
        Session({"_": [5]}).run_cell(f"y = [1, 2] |> {stage}")
    said = "hastega: `_` stands for the element in stages alone, and `sorted` is none: write `lambda x: ...`"
    assert caught.value.__notes__[0] == said


@pytest.mark.parametrize(
    ("stage", "better"),
    [
        ("round(_, 2)", "round(2)"),
        ("plus( _ )", "plus"),
        ("math.sqrt(_)", "math.sqrt"),
        ("math.pow(_, 3)", "math.pow(3)"),
        ("divmod(_, 3)", "divmod(3)"),
    ],
)
def test_the_value_so_far_written_as_an_argument(stage, better):
    text = f"y = range(9) |> mean |> {stage}"
    with pytest.raises(TypeError) as caught:
        Session({**NAMES, "_": 7}).run_cell(text)
    said, caret = caught.value.__notes__
    assert said == f"hastega: the value so far goes before the arguments by itself: write `{better}`"
    assert caret == f"    {text}\n    {' ' * text.index(stage)}{'^' * len(stage)}"
    Session({**NAMES, "_": 7}).run_cell(f"y = range(9) |> mean |> {better}")


@pytest.mark.parametrize(
    ("stage", "better"),
    [
        ("functools.reduce(operator.add)", "reduce(operator.add)"),
        ("functools.reduce(operator.add, _)", "reduce(operator.add)"),
        ("itertools.takewhile(lambda x: x < 2)", "take_while(lambda x: x < 2)"),
        ("itertools.dropwhile(lambda x: x < 2)", "drop_while(lambda x: x < 2)"),
        ("functools.reduce", "reduce(...)"),
    ],
)
def test_callables_that_take_their_function_first(stage, better):
    text = f"y = range(9) |> map(_ + 1) |> {stage}"
    names = {"functools": functools, "itertools": itertools, "operator": operator, "_": 7}
    with pytest.raises(TypeError) as caught:
        Session(dict(names)).run_cell(text)
    said, caret = caught.value.__notes__
    name = stage.partition("(")[0]
    first = f"`{name}` takes its function first, and is given the value so far there"
    assert said == f"hastega: {first}: write `{better}`"
    assert caret.endswith("^" * len(stage))


@pytest.mark.parametrize("text", ["range(9) |> plus(3, 4)", "[1] |> pow(_, 2)", "range(9) |> map(_, 3)"])
def test_other_arguments_are_what_is_wrong(text):
    with pytest.raises((TypeError, SyntaxError)) as caught:
        Session({**NAMES, "_": 7}).run_cell(text)
    assert not any("by itself" in note for note in getattr(caught.value, "__notes__", []))


@pytest.mark.parametrize(
    "text",
    [
        "[[1], 2] |> sorted",
        "['a', 1] |> sorted",
        "[[1], 2] |> set",
        "[1] |> ', '.join",
        "range(9) |> outer",  # what it calls may be wrong
        "range(9) |> plus(2)",
        "['a'] |> map(plus)",
    ],
)
def test_a_function_that_takes_all_elements(text):
    assert not any("called once" in note for note in notes(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("d |> map(_ + 1)", KEYS),
        ("fewer |> map(_ + 1) |> sum", KEYS),
        ("d |> sum", KEYS),
        ("d |> map(lambda key, value: value)", KEYS),
        ("df |> map(_ + 1)", COLUMNS),
        ("df |> filter(_.a > 2)", COLUMNS),
    ],
)
def test_names_in_place_of_values(text, said):
    assert notes(text)[-2] == f"hastega: {said}"


@pytest.mark.parametrize(
    "text", ["d |> map(len) |> map(_ + 'a')", "d.values() |> map(_ + 'a')", "d |> map(1 // (len(_) - 1))"]
)
def test_where_the_names_are_not_what_is_wrong(text):
    assert not any("goes through" in note for note in notes(text))


@pytest.mark.parametrize(
    "end", ["sum(None)", "prod(start=None)", "max(key=lambda x: None)", "dot([1, None])", "sorted(key=print)"]
)
def test_where_none_is_no_element(end):
    assert not any("is None" in note for note in notes(f"[1, 2] |> map(_ + 1) |> {end}"))


@pytest.mark.parametrize("end", ["sum", "sum(1.5)", "prod(start=2)", "max", "sorted(reverse=True)"])
def test_where_none_is_an_element(end):
    said = "hastega: an element is None: does the function of `map(nothing)` return a value in every case?"
    assert said in notes(f"def nothing(x): pass\n[1, 2] |> map(nothing) |> {end}")


@pytest.mark.parametrize(
    ("stages", "said"),
    [
        (
            "map(lambda x: x + 1)",
            "write `map(lambda a, b: ...)`, or `x[0]` is the first part of an element `x`",
        ),
        ("filter(_ > 1)", "write `filter(lambda a, b: ...)`, or `x[0]` is the first part of an element `x`"),
        ("take_while(lambda x: x < 5)", "`x[0]` is the first part of an element `x`"),
        ("reduce(lambda total, x: total + x, 0)", "`x[0]` is the first part of an element `x`"),
    ],
)
def test_a_function_that_takes_a_tuple_for_a_number(stages, said):
    for source in ("zip(ys)", "enumerate", "window(2)"):
        with pytest.raises(TypeError) as caught:
            Session({"xs": [1, 2, 3], "ys": [4, 5, 6]}).run_cell(f"xs |> {source} |> {stages}")
        assert caught.value.__notes__[1] == f"hastega: the elements are tuples: {said}"


def test_a_type_error_of_other_things_than_the_element_is_pythons_own():
    with pytest.raises(TypeError) as caught:
        Session({"xs": [1, 2], "k": "a"}).run_cell("xs |> zip(xs) |> map(lambda a, b: a + k)")
    assert not any("are tuples" in note for note in caught.value.__notes__)
