"""Notes on names that nobody has defined, and stages that are given no function."""

import pytest

from hastega_magic.errors import CellSyntaxError
from hastega_magic.session import Session
from hastega_magic.syntax.cell import plan


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("[1] |> flter(_ > 2)", "hastega: `flter` is no stage: did you mean filter?"),
        ("[1] |> map(_ + 1) |> sume", "hastega: `sume` is no stage: did you mean sum?"),
        ("[1] |> zzzzzz", "hastega: `zzzzzz` is no stage, and no function of that name is defined"),
        (
            "[1] |> map(x + 1)",
            "hastega: `map(x + 1)` takes a function: write `map(lambda x: ...)`, or call the element `_`",
        ),
    ],
)
def test_what_was_perhaps_meant(text, note):
    with pytest.raises(NameError) as caught:
        Session({}).run_cell(text)
    assert caught.value.__notes__ == [note]


@pytest.mark.parametrize("text", ["[1] |> map(lambda x: y + x)", "y + 1", "[1] |> map(f)"])
def test_where_nothing_better_is_known_python_speaks_for_itself(text):
    with pytest.raises(NameError) as caught:
        Session({}).run_cell(text)
    assert not any("did you mean" in note for note in getattr(caught.value, "__notes__", []))


@pytest.mark.parametrize(
    ("text", "at"), [("xs |> map(3)", 10), ("xs |> filter('a')", 13), ("xs |> map([1])", 10)]
)
def test_a_stage_that_is_given_no_function(text, at):
    with pytest.raises(CellSyntaxError, match="takes a function: write it with `_`") as caught:
        plan(text)
    assert caught.value.span[:2] == (1, at)


def test_filter_takes_none():
    assert Session({}).run_cell("[0, 1] |> filter(None) |> to_list").value == [1]
