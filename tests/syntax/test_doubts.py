"""What a pipeline's text hardly means: Python's meaning stays, and one sentence says what may be meant."""

import pytest

from hastega_magic.session import Options, Session
from hastega_magic.syntax.cell import plan


def doubts(text):
    return [each.sentence for site in plan(text).sites.values() for each in site.doubts]


@pytest.mark.parametrize(
    ("text", "operator", "compared", "meant"),
    [
        ("xs |> filter(_ > 1 & _ < 5)", "& >", "1 & _", "_ > 1 and _ < 5"),
        ("xs |> filter(1 < _ & _ < 5)", "& <", "_ & _", "1 < _ and _ < 5"),
        ("xs |> filter(_ < 1 | _ > 5)", "| <", "1 | _", "_ < 1 or _ > 5"),
        ("xs |> filter(_ % 2 == 0 & _ > 3)", "& ==", "0 & _", "_ % 2 == 0 and _ > 3"),
        ("xs |> filter(lambda x: x >= lo & x <= hi)", "& >=", "lo & x", "x >= lo and x <= hi"),
        ("xs |> map(_ > 1 & _ < 5 & _ != 3) |> sum", "& >", "1 & _", "_ > 1 and _ < 5 and _ != 3"),
        ("xs |> map((_ + 1) > (1) & (_) < (5))", "& >", "(1) & (_)", "(_ + 1) > (1) and (_) < (5)"),
        ("xs |> map(lambda a, b: a > 1 & b > 2)", "& >", "1 & b", "a > 1 and b > 2"),
        ("xs |> map(lambda a, b: a % 2 == 0 & b % 2 == 0)", "& ==", "0 & b % 2", "a % 2 == 0 and b % 2 == 0"),
        ("xs |> filter(_ > 1 &\n _ < 5)", "& >", "1 & _", "_ > 1 and _ < 5"),
        ("xs |> map(f(_ > 1 & _ < 5)) |> min(key=_ + 1)", "& >", "1 & _", "_ > 1 and _ < 5"),
        ("xs |> filter(_ > 1 & _ < 5 & (_ != 3))", "& >", "1 & _", "and"),
    ],
)
def test_comparisons_that_were_meant_to_be_two(text, operator, compared, meant):
    operator, comparison = operator.split()
    said = f"`{operator}` binds tighter than `{comparison}`, so that `{compared}` is compared here"
    assert doubts(text) == [f"{said}: did you mean `{meant}`?"]


@pytest.mark.parametrize(
    "condition",
    [
        "x & mask == 0", "x & 1 == 0", "x & 7 > 3", "mask & x == x", "x == x & mask", "3 < x & 7 < 6",
        "lo < x & mask < hi", "0 <= x & 1 <= x", "x == mask & x != 0", "x | 1 == y", "x > (1 & x) < 5",
        "(x > 1) & (x < 5)", "x > 1 and x < 5", "1 < x < 5", "lo < mask & hi < top", "0 < x | y < 9",
        "1 < x & y < 5", "x in a & x in b",
    ],
)  # fmt: skip
def test_masks_are_masks(condition):
    assert doubts(f"xs |> filter(lambda x: {condition})") == []


def test_of_an_inner_pipeline_it_is_said_once():
    assert len(doubts("xs |> map(lambda x: x |> f(lambda y: y > 1 & y < 5))")) == 1


def test_the_report_says_it_and_the_meaning_is_pythons():
    ran = Session({}, Options(baseline=False)).run_cell("range(9) |> filter(_ > 1 & _ < 5) |> to_list")
    assert ran.value == [x for x in range(9) if x > 1 & x < 5]
    [said] = ran.report.pipelines[0].warnings
    assert said.endswith("did you mean `_ > 1 and _ < 5`?")


def test_an_error_says_it():
    with pytest.raises(TypeError) as caught:
        Session({}).run_cell("[1.5] |> filter(_ > 1 & _ < 5) |> sum")
    assert any(note.endswith("did you mean `_ > 1 and _ < 5`?") for note in caught.value.__notes__)


@pytest.mark.parametrize(
    ("text", "stage"), [("[1] |> sum(_)", "sum"), ("[1] |> enumerate(_) |> sum", "enumerate")]
)
def test_a_start_that_is_written_as_the_element(text, stage):
    said = (
        f"`{stage}(_)` begins with the variable `_`, in notebooks the last value shown, for it takes no function of "
        f"the element: did you mean `|> {stage}`?"
    )
    assert doubts(text) == [said]
    with pytest.raises(NameError) as caught:
        Session({}).run_cell(text)
    assert caught.value.__notes__[0] == f"hastega: {said}"


def test_a_start_keeps_pythons_meaning():
    ran = Session({"_": 10}, Options(baseline=False)).run_cell("[1, 2] |> sum(_)")
    assert ran.value == 13
    assert len(ran.report.pipelines[0].warnings) == 1


@pytest.mark.parametrize(
    "text",
    [
        "for _ in range(3):\n    xs |> sum(_)",
        "def sum(x, y): ...\nxs |> sum(_)",
        "xs |> take(_)",
        "xs |> dot(_)",
    ],
)
def test_a_variable_that_the_user_may_mean(text):
    assert doubts(text) == []
