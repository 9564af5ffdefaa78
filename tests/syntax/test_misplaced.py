"""Other operators in place of `|>`, and parts of pipelines that Python cannot evaluate: what was perhaps meant."""

import pytest

from hastega_magic.errors import CellSyntaxError
from hastega_magic.session import Session
from hastega_magic.syntax.cell import plan

MEANT = "hastega: a pipeline is written with `|>`: did you mean `|> {}`?"


def raised(text, **names):
    """The notes of what a cell raises, where `_` is the last value that IPython has shown."""
    with pytest.raises(TypeError) as caught:
        Session({"_": "", "f": lambda x: x + 1, "n": 3, **names}).run_cell(text)
    return getattr(caught.value, "__notes__", [])


def marked(text, piece):
    return f"    {text}\n    {' ' * text.index(piece)}{'^' * len(piece)}"


@pytest.mark.parametrize(
    ("text", "stage", "operator"),
    [
        ("y = range(9) | map(_ + 1) | sum", "map", "|"),
        ("y = range(9) |> map(f) | filter(_ > 1)", "filter", "|"),
        ("range(9) > map(_ + 1)", "map", ">"),
        ("range(9) > map(f)", "map", ">"),
        ("range(9) > sum", "sum", ">"),
        ("range(9) >> filter(f)", "filter", ">>"),
        ("range(9) >> sum", "sum", ">>"),
    ],
)
def test_another_operator_before_a_stage(text, stage, operator):
    column = text.index(f" {operator} ") + 1
    assert raised(text) == [MEANT.format(stage), f"    {text}\n    {' ' * column}{'^' * len(operator)}"]


@pytest.mark.parametrize(
    "text", ["n > max", "range(9) | n", "'a' > max(_ + n, n)", "f('a') | sum(range(n))", "_ + n", "f(_ + n)"]
)
def test_operators_that_are_meant(text):
    assert not any("did you mean" in note for note in raised(text))


@pytest.mark.parametrize(
    ("text", "at"),
    [("xs || map(f)", 3), ("xs | > sum", 3), ("xs |>> take(3)", 3), ("xs |> map(f) %>% filter(g)", 13)],
)
def test_what_is_no_operator(text, at):
    with pytest.raises(CellSyntaxError, match=r"^a pipeline is written with `\|>`: `\|> \w+`") as caught:
        plan(text)
    assert caught.value.span.col == at


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1 + range(9) |> sum", "1 + (range(9) |> sum)"),
        ("y = n * xs.keys() |> map(f) |> max", "n * (xs.keys() |> map(f) |> max)"),
        (f"n - range(9) |> {' |> '.join(['map(f)'] * 9)}", None),
    ],
)
def test_an_operator_that_took_the_source(text, written):
    notes = raised(text, xs={1: 2})
    source = text.partition(" |>")[0].removeprefix("y = ")
    meant = f"write `{written}`" if written else "the pipeline stands in parentheses"
    operator = source.split()[1]
    assert notes == [
        f"hastega: `|>` binds weaker than `{operator}`: for the pipeline alone {meant}",
        marked(text, source),
    ]


@pytest.mark.parametrize(
    "text",
    ["[1] * 2.5 |> sum", "n + 'a' + 1 |> sum", "[1] + n |> sum", "n + None |> sum", "(n + [1]) |> sum"],
)
def test_an_operator_that_no_parentheses_help(text):
    assert not any("binds weaker" in note for note in raised(text))


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("y = [1] |> map(f()) |> sum", "f()", "a stage is given the function itself: write `map(f)`"),
        ("[1] |> max(key=f())", "f()", "a stage is given the function itself: write `max(key=f)`"),
        (
            "[1] |> filter(xs + 1)",
            "xs + 1",
            "`filter` takes a function: write it with `_` for the element, or as `lambda x: ...`",
        ),
    ],
)
def test_an_argument_that_is_no_function(text, given, said):
    assert raised(text, xs=range(3)) == [f"hastega: {said}", marked(text, given)]


def test_what_is_called_but_is_no_function_is_none_for_a_stage():
    assert not any("itself" in note for note in raised("[1] |> map(n())"))


def test_an_assignment_in_place_of_a_comparison():
    with pytest.raises(CellSyntaxError, match=r"filter has no argument '_' \(a comparison is written `==`\)"):
        plan("xs |> filter(_ = 3)")
