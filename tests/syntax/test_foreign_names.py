"""Stages and functions as other languages and libraries write them: what is said instead of bare syntax errors."""

import ast
import re
from pathlib import Path

import pytest

from hastega_magic.errors import CellSyntaxError
from hastega_magic.session import Session
from hastega_magic.syntax import foreign_names
from hastega_magic.syntax.cell import plan
from hastega_magic.syntax.stages import STAGES

NAMES = [(name, form) for form, names in foreign_names._ROWS for name in names.split()]


def notes(text):
    with pytest.raises(Exception) as caught:  # noqa: PT011  of any kind
        Session({"xs": [1, 2, 3]}).run_cell(text)
    return getattr(caught.value, "__notes__", [])


@pytest.mark.parametrize(("name", "form"), NAMES)
def test_names_that_stages_have_elsewhere(name, form):
    said, *_ = notes(f"xs |> {name}")
    assert said == f"hastega: `{name}` is no stage: did you mean {form}?"


def test_no_name_is_there_twice_or_is_a_stage_here():
    plain = [foreign_names._plain(name) for name, _ in NAMES]
    assert len(set(plain)) == len(plain)
    assert not set(plain) & {foreign_names._plain(name) for name in STAGES}
    assert not {name for name, _ in NAMES} & set(
        vars(__builtins__) if not isinstance(__builtins__, dict) else __builtins__
    )


def test_the_document_has_the_table():
    text = (Path(__file__).parents[2] / "docs" / "language.md").read_text(encoding="utf-8")
    table = text[text.index("| elsewhere | here |") :]
    rows = re.findall(r"^\| (`.*`) \| (.*) \|$", table, re.MULTILINE)[: len(foreign_names._ROWS)]
    plain = [(form.replace("\\|", "|").replace("`", ""), names.replace("`", "")) for names, form in rows]
    assert plain == [(form.replace("`", ""), names) for form, names in foreign_names._ROWS]


@pytest.mark.parametrize(
    "form",
    [form for form, _ in foreign_names._ROWS if not form.startswith(("a ", "map(f), or", "drop(1), or"))],
)
def test_what_is_named_can_be_read(form):
    found = plan(f"f = g = None\nxs |> {form.replace('lambda x: not ...', 'lambda x: not x')}")
    assert found.sites


@pytest.mark.parametrize(
    ("written", "near"),
    [("takeWhile(_ > 1)", "take_while"), ("Enum.map(_ + 1)", "map"), ("Enum.chunk_every(2)", "chunk(n)"),
     ("Stream.to_list", "to_list"), ("flatMap(str)", "a comprehension, [y for x in xs for y in f(x)]")],
)  # fmt: skip
def test_other_spellings_and_modules(written, near):
    name = re.match(r"[\w.]+", written)[0]
    said, caret = notes(f"xs |> {written}")
    assert said == f"hastega: `{name}` is no stage: did you mean {near}?"
    assert caret == f"    xs |> {written}\n          {'^' * len(name)}"


def test_what_the_user_has_defined_is_called():
    session = Session({"xs": [1, 2, 3], "avg": lambda values: "mine", "Enum": type("Enum", (), {"map": len})})
    assert session.run_cell("xs |> avg").value == "mine"
    assert session.run_cell("xs |> Enum.map").value == 3


WRITTEN = {
    "map(x: x+1) |> sum": "map(lambda x: x+1)",
    "map(x -> x * 2)": "map(lambda x: x * 2)",
    "map(x => x*(x+1)) |> sum": "map(lambda x: x*(x+1))",
    "map((x) => {x})": "map(lambda x: x)",
    "map(|x| { x + 1 })": "map(lambda x: x + 1)",
    "map(x => {x: 1})": "map(lambda x: {x: 1})",
    "map(x => x ** 2  # the square": "map(lambda x: x ** 2)",
    "where(x -> x > 1, 0)": "where(lambda x: x > 1, 0)",
    "where(x -> x > 1, y -> y)": "where(lambda x: ...)",
    "map((x, x) => x)": "map(lambda x: ...)",
    "filter(fn x -> x > 1 end)": "filter(lambda x: x > 1)",
    "map(&(&1 + 1))": "map(_ + 1)",
    "map(& &1 * 2)": "map(_ * 2)",
    "map(|x| x + 1)": "map(lambda x: x + 1)",
    "map(\\x -> x + 1)": "map(lambda x: x + 1)",
    "map(lambda x -> x + 1)": "map(lambda x: x + 1)",
    "map(function(x) { return x; })": "map(lambda x: ...)",
    "map(&sqrt/1)": "map(lambda x: ...)",
    "map(x ->": "map(lambda x: ...)",
    "reduce((a, b) => a + b, 0)": "reduce(lambda a, b: a + b, 0)",
    "scan(fn a, b -> a + b end)": "scan(lambda a, b: a + b)",
    "reduce(& &1 + &2)": "reduce(lambda total, x: ...)",
    f"map(x -> {' + '.join(['x'] * 40)})": "map(lambda x: ...)",
}


def refused(text):
    with pytest.raises(CellSyntaxError) as caught:
        plan(text)
    return caught.value


@pytest.mark.parametrize("written", WRITTEN)
def test_functions_as_others_write_them(written):
    error = refused(f"xs = [1]\ny = xs |> {written}")
    assert error.msg == f"a function is written otherwise in Python: `{WRITTEN[written]}`"
    assert (error.lineno, error.offset) == (2, len("y = xs |> ") + written.index("(") + 2)
    if "..." not in WRITTEN[written]:
        plan(f"xs |> {WRITTEN[written]}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("xs |> map lambda x: x", "a stage's arguments stand in parentheses: `map(...)`"),
        ("xs |> take 3 |> sum", "a stage's arguments stand in parentheses: `take(...)`"),
        ("xs |> .map(f)", "a stage is written without a dot: `|> map`"),
        ("y = xs |> sum else 0", "invalid syntax"),
        ("y = xs |> sum for x in xs", "invalid syntax"),
        ("xs |> sum as y", "invalid syntax"),
        ("xs |> map(f) g", "invalid syntax"),
        ("ys = {x -> 1}; xs |> map(f)", "invalid syntax"),
        ("xs |> filter(lambda x: x = 1)", 'expression cannot contain assignment, perhaps you meant "=="?'),
    ],
)
def test_other_mistakes(text, said):
    assert refused(text).msg == said


@pytest.mark.parametrize(
    ("stage", "better"),
    [
        ("count(_ > 2)", "filter(_ > 2) |> count"), ("count(lambda x: x > 2)", "filter(lambda x: x > 2) |> count"),
        ("any(_ > 2)", "map(_ > 2) |> any"), ("sum(_ * 2)", "map(_ * 2) |> sum"),
        ("sum(lambda x: x)", "map(lambda x: x) |> sum"), ("mean(_ * 2)", "map(_ * 2) |> mean"),
        ("max(lambda x: -x)", "max(key=lambda x: -x)"), ("first(_ > 1)", "filter(_ > 1) |> first"),
        ("take(_ < 2)", "take_while(_ < 2)"), ("drop(lambda x: x < 2)", "drop_while(lambda x: x < 2)"),
        ("cumsum(_ + 1)", "map(_ + 1) |> cumsum"), ("count(_)", "filter(_) |> count"),
        (f"count(lambda x: {' + '.join(['x'] * 40)})", "filter(f) |> count"),
    ],
)  # fmt: skip
def test_functions_for_stages_that_take_none(stage, better):
    error = refused(f"xs |> {stage}")
    assert error.msg == f"{stage.partition('(')[0]} takes no function: write `{better}`"
    tree = ast.parse(f"f = None\n(xs, {better.replace(' |> ', ', ')})")
    assert tree.body


AND, OR, NOT = (
    f"`{one}` is written `{other}` in Python" for one, other in (("&&", "and"), ("||", "or"), ("!", "not"))
)
CHOICE = "`a ? b : c` is written `b if a else c` in Python"
COLON = "a colon stands behind the names of a lambda: `lambda x: ...`"
STEPS = "Python has no `++` and no `--`: write `+ 1` or `- 1`"
RANGE = "the numbers from `a` to `b` are written `range(a, b + 1)`"
ALONE = "an operator alone is no function: write "


@pytest.mark.parametrize(
    ("text", "marked", "said"),
    [
        ("xs |> map(lambda x: x > 1 && x < 3)", "&&", AND),
        ("if 1 && 2: pass", "&&", AND),
        ("xs |> filter(_ > 1 || _ < 3) |> sum", "||", OR),
        ("xs |> map(lambda x: !x)", "!", NOT),
        ("xs |> filter(!(_ > 1))", "!", NOT),
        ("xs |> map(lambda x: x > 1 ? 1 : 0) |> sum", "?", CHOICE),
        ("xs |> map(lambda x: x++)", "++", STEPS),
        ("xs |> map(lambda x: x--) |> sum", "--", STEPS),
        ("xs |> map(lambda x: return x)", "return", "a lambda gives its value without `return`"),
        ("xs |> map(lambda x: if x: 1 else: 0)", "if", "inside a lambda stands `a if condition else b`"),
        ("xs |> map(lambda x x * 2)", " ", COLON),
        ("xs |> reduce(lambda a, x a + x)", " ", COLON),
        ("xs |> map(def f(x): return x)", "def",
         "`def` stands on lines of its own, and the function's name here: `map(f)`"),
        ("xs |> map{ _ + 1 }", "map", "a stage's arguments stand in parentheses: `map(...)`"),
        ("xs |> filter { _ > 1 }", "filter", "a stage's arguments stand in parentheses: `filter(...)`"),
        ("xs |> reduce(+)", "+", f"{ALONE}`sum`, or `reduce(lambda total, x: total + x)`"),
        ("xs |> scan(+, 0)", "+", f"{ALONE}`cumsum`, or `scan(lambda total, x: total + x)`"),
        ("xs |> scan(*)", "*", f"{ALONE}`scan(lambda total, x: total * x)`"),
        ("xs -> sum", "->", "a pipeline is written with `|>`: `|> sum`"),
        ("xs >| map(_ + 1)", ">|", "a pipeline is written with `|>`: `|> map`"),
        ("let y = xs |> sum", "let", "a name gets its value without a word before: `x = ...`"),
        ("y := xs |> sum", ":=", "a name gets its value by `=`: `x = ...`"),
        ("xs |>= sum", "|>=", "a pipeline gives a new value, and a name takes it by `=`: `x = x |> ...`"),
        ("1..5 |> sum", "1..5", RANGE),
        ("y = (1 ... 5) |> sum", "1 ... 5", RANGE),
        ("[1..5] |> sum", "1..5", RANGE),
        ("1:5 |> sum", "1:5", RANGE),
        ("y = (0:5) |> map(_ + 1) |> sum", "0:5", RANGE),
    ],
)  # fmt: skip
def test_words_and_operators_of_other_languages(text, marked, said):
    error = refused(f"z = 1\n{text}")
    assert error.msg == said
    at = (error.offset or 0) - 1
    assert (error.lineno, text[at : at + len(marked)]) == (2, marked)
    if marked == " ":
        assert re.search(r"lambda [\w, ]*\w$", text[:at])


@pytest.mark.parametrize(
    "text",
    ["x = 'a && b' b", "f(a b)", "x = 3 +", "def f(x) -> sum return 3", "xs |> sum else 0", "x = 'a ? b : c' b",
     "lambda x: x for", "y = {a ? 2}", "f = x -> sum(x)", "f = (a) -> max(a, 3)",
     "y = (1..5)", "[1, 2, 3][1:2] |> 3 3", "{1:2} |> 3 3", "x = 1 # !\n)", "xs |> map(lambda x: x) return"],
)  # fmt: skip
def test_other_lines_keep_pythons_words(text):
    with pytest.raises(SyntaxError) as pythons:
        compile(text.replace("|>", "| "), "<cell>", "exec")
    assert refused(text).msg == pythons.value.msg


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("xs |> take(_)", [1, 2]),
        ("xs |> take(_ - 1)", [1]),
        ("xs |> sum(_)", 8),
        ("[xs |> sum(_ * 2) for _ in range(2)]", [6, 8]),
        ("y = []\nfor _ in range(2):\n    y.append(xs |> sum(_ * 2))\ny", [6, 8]),
    ],
)
def test_the_last_value_may_be_a_number(text, value):
    found = Session({"xs": [1, 2, 3], "_": 2}).run_cell(text).value
    assert (found if isinstance(found, int) else list(found)) == value


@pytest.mark.parametrize(
    ("text", "name", "column"),
    [
        ("xs | sum", "sum", 3),
        ("y = xs | map(str)", "map", 7),
        ("y = (xs | filter(abs) | sum)", "filter", 8),
        ("xs | count", "count", 3),
    ],
)
def test_a_bar_in_place_of_a_pipe(text, name, column):
    assert notes(f"z = 1\n{text}") == [
        f"hastega: a pipeline is written with `|>`: did you mean `|> {name}`?",
        f"    {text}\n    {' ' * column}^",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "xs | {1}",
        "first = 3\n{2} | first",
        "first = 3\n{2} | first | 3",
        "'x | sum' | 3",
        "xs | {1}  # | sum",
        "map(abs)  # | map",
        "last = lambda x: x\n{2} | last(3)",
        "map(abs)",
        "y = [] |> map(abs)\nfilter(abs)",
        "def f():\n    return xs | 3\nf()",
    ],
)
def test_other_errors_are_as_they_are(text):
    assert notes(text) == []
