"""Bad input, as the user sees it: the right exception, the user's own line, nothing of ours, a shell that lives on."""

import re

import numpy as np
import pytest

OURS = re.compile(r"hastega_magic|run_cell_magic|site-packages|get_ipython|__hastega|During handling")


def fails(seen, kind, *words):
    """The text shown for an error of that kind, checked to hold the words and nothing of ours."""
    assert type(seen.error).__name__ == kind
    assert seen.error is not None
    shown = seen.out
    assert not OURS.search(shown), shown
    for word in words:
        assert word in shown, shown
    return shown


def alive(notebook):
    """The shell computes as before."""
    assert notebook("range(11) |> sum", "--quiet").out.startswith("Out[")


# Text that cannot be read


@pytest.mark.parametrize(
    ("body", "line", "text", "caret", "message"),
    [
        ("if 1:\n\tx = 2\n        y = 3", 4, "y = 3", 0, "inconsistent use of tabs"),
        ("%%time\n3", 2, "%%time", 0, "stand above `%%hastega`, not below"),
        ("\n%%nosuchmagic\n3", 3, "%%nosuchmagic", 0, "stand above `%%hastega`, not below"),
        ("x = 3 +", 2, "x = 3 +", 7, "invalid syntax"),
        ("a = 1\nb = range(3) |>", 3, "b = range(3) |>", 13, "nothing stands after `|>`"),
        ("a = (range(3)\n     |> map(_ + 1) |> )", 3, "|> map(_ + 1) |> )", 14, "nothing stands after `|>`"),
        ("if 1:\nx = 2", 3, "x = 2", 0, "expected an indented block"),
        ("x = 'abc", 2, "x = 'abc", 4, "unterminated string"),
        ("y = range(3) |> map()", 2, "y = range(3) |> map()", 16, "map"),
        ("return 3", 2, "return 3", 0, "'return' outside function"),
        ("a = 1\nawait a", 3, "await a", 0, "'await' outside function"),
        ("%time 3", 2, "%time 3", 0, "they do in any other, and after `%hastega on` beside `|>`"),
        ("x = 5\nx?", 3, "x?", 0, "does not work in a %%hastega cell: ask in another cell"),
    ],
)
def test_syntax_error_has_its_caret_under_the_users_line(notebook, body, line, text, caret, message):
    kind = {"inconsistent use": "TabError", "expected an indented": "IndentationError"}
    name = next((kind[words] for words in kind if message.startswith(words)), "SyntaxError")
    shown = fails(notebook(body), name, message)
    lines = shown.rstrip().splitlines()
    assert len(lines) == 4
    assert re.fullmatch(rf" +Cell In\[1\], line {line}", lines[0])
    assert lines[1].strip() == text
    assert lines[2].index("^") - 4 == caret
    assert lines[3].startswith(f"{name}: ")
    alive(notebook)


@pytest.mark.parametrize(
    "body", ["await a", "async with a:\n    pass", "async for x in a:\n    pass", "[x async for x in a]"]
)
def test_where_a_cell_may_await_is_said(notebook, body):
    fails(notebook(body), "SyntaxError", "a cell awaits under `%hastega on`")


def test_nothing_runs_before_a_syntax_error_and_no_report_is_shown(notebook):
    seen = notebook("before = 1\nx = range(3) |> sum\ny = 3 +")
    fails(seen, "SyntaxError")
    assert "before" not in notebook.ns
    assert seen.bundles == []


def test_syntax_error_from_running_code(notebook):
    shown = fails(notebook("a = 1\neval('1 +')"), "SyntaxError", "line 3", "eval('1 +')", "invalid syntax")
    assert shown.rstrip().endswith("SyntaxError: invalid syntax")


# What the cell's Python raises


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("y = nope |> sum", "NameError", ["name 'nope' is not defined", "----> 2 y = nope |> sum"]),
        ("y = range(3) |> map(lambda x: x + nope) |> sum", "NameError", ["name 'nope' is not defined"]),
        ("y = range(3) |> mop(lambda x: x)", "NameError", ["name 'mop' is not defined"]),
        ("y = 3 |> map(lambda x: x)", "TypeError", ["'int' object is not iterable", "----> 2"]),
        ("y = None |> sum", "TypeError", ["'NoneType' object is not iterable", "----> 2"]),
        ("y = range(3) |> zip(5)", "TypeError", ["'int' object is not iterable", "----> 2"]),
        ("y = [1, 2, 'a'] |> map(lambda x: x + 1) |> sum", "TypeError", ["can only concatenate str", "lambda"]),
        ("y = [1, 2, None] |> map(lambda x: x + 1)", "TypeError", ["unsupported operand type(s) for +", "lambda"]),
        ("y = [1, 2, None] |> sum", "TypeError", ["unsupported operand type(s) for +", "----> 2"]),
        ("y = [1, None] |> max", "TypeError", ["'>' not supported", "----> 2"]),
        ("y = [] |> min", "ValueError", ["empty", "----> 2"]),
        ("y = range(0) |> map(lambda x: x + 1) |> max", "ValueError", ["empty"]),
        ("y = [] |> mean", "StatisticsError", ["at least one data point"]),
        ("y = [] |> reduce(lambda a, b: a + b)", "TypeError", ["empty iterable with no initial value"]),
        ("y = range(-3, 3) |> map(lambda x: 5 % x)", "ZeroDivisionError", ["of range(-3, 3), which is 0", "lambda"]),
        ("y = range(-3, 3) |> map(lambda x: 5 // x)", "ZeroDivisionError", ["element 3 of range(-3, 3), which is 0"]),
        ("y = [1.0, 0.0] |> map(lambda x: 1 / x) |> sum", "ZeroDivisionError", ["element 1 of", "which is 0.0"]),
        ("import math\ny = [4, -1] |> map(math.sqrt)", "ValueError", ["element 1 of [4, -1], which is -1", "----> 3"]),
        ("y = [float('nan'), 1.0] |> map(int) |> sum", "ValueError", ["cannot convert float NaN", "element 0"]),
        ("y = [1.0, float('inf')] |> map(int) |> sum", "OverflowError", ["cannot convert float infinity", "element 1"]),
        ("t = [1, 2]\ny = [0, 1, 2] |> map(lambda i: t[i])", "IndexError", ["element 2 of [0, 1, 2], which is 2"]),
        ("import numpy as np\ny = np.array(5) |> map(_ + 1)", "TypeError", ["a 0-d array", "`.ravel()`", "----> 3"]),
        ("a, b = 1, 2\n1 / 0", "ZeroDivisionError", ["division by zero", "----> 3 1 / 0"]),
    ],
)  # fmt: skip
def test_bad_input_raises_what_python_raises(notebook, body, kind, words):
    fails(notebook(body), kind, *words)
    assert "y" not in notebook.ns
    alive(notebook)


CARETS = [
    ("map(f)", "TypeError", "write `map(lambda x: ...)`"),
    ("filter(lambda a, b: a)", "TypeError", "write `filter(lambda x: ...)`"),
    ("scan(lambda a: a)", "TypeError", "write `scan(lambda total, x: ...)`"),
    ("reduce(f)", "TypeError", "write `reduce(lambda total, x: ...)`"),
    ("take_while(f)", "TypeError", "write `take_while(lambda x: ...)`"),
    ("where(f, 0)", "TypeError", "write `where(lambda x: ..., ...)`"),
    ("tap(f)", "TypeError", "write `tap(lambda x: ...)`"),
    ("zip(5)", "TypeError", "write `map(lambda x: (x, ...))`"),
    ("enumerate(word)", "TypeError", "counts from a whole number, not 'flot32'"),
    ("astype(word)", "TypeError", "did you mean 'float32'?"),
    ("clip(word, 3)", "TypeError", "None is no bound"),
    ("take(word)", "TypeError", "take takes a whole number of elements, not 'flot32'"),
    ("take(less)", "ValueError", "at the end it is `reverse |> take(2)`"),
    ("step(f - 3)", "ValueError", "from 1 on, not 0"),
    ("window(word)", "TypeError", "whole number"),
    ("chunk(less)", "ValueError", "from 1 on, not -2"),
    ("sum(word)", "TypeError", "begins with a number, not 'flot32'"),
    ("min(key=f)", "TypeError", "write `min(key=lambda x: ...)`"),
    ("max(key=lambda a, b: a)", "TypeError", "write `max(key=lambda x: ...)`"),
    ("var(ddof=word)", "TypeError", "write `var(ddof=1)`"),
    ("std(ddof=9)", "StatisticsError", "more than 9"),
    ("dot(f)", "TypeError", "`map(lambda x: x * ...) |> sum`"),
    ("dot(range(2))", "ValueError", "`zip(...) |> map(lambda a, b: a * b) |> sum`"),
    ("bincount(minlength=word)", "TypeError", "whole number as minlength"),
    ("map(_ - 9) |> bincount", "ValueError", "counts numbers from 0 on"),
    ("map(_ / 2) |> bincount", "TypeError", "`map(int) |> bincount`"),
    ("map(_ * 1j) |> max", "TypeError", "`map(abs) |> max`"),
    ("filter(_ > 9) |> min", "ValueError", "`min(default=...)`"),
    ("filter(_ > 9) |> first", "ValueError", "`first(default=...)`"),
    ("filter(_ > 9) |> argmin", "ValueError", "argmin of no elements"),
    ("filter(_ > 9) |> mean", "StatisticsError", "at least one data point"),
    ("filter(_ > 9) |> reduce(lambda a, x: a + x)", "TypeError", "`reduce(f, init)`"),
    ("zip(xs) |> cumsum", "TypeError", "`map(lambda a, b: ...)` before `cumsum`"),
    ("sorted(kee=3)", "TypeError", "keyword argument"),
]


@pytest.mark.parametrize(("stages", "kind", "words"), CARETS)
def test_what_a_stage_cannot_take_is_marked_in_the_cell(notebook, stages, kind, words):
    """A sentence, and a caret under the stage that it is about: the last one here, behind another line."""
    notebook("xs = range(5)\nf = 3\nless = -2\nword = 'flot32'")
    shown = fails(notebook(f"z = 1\ny = (xs\n  |> {stages})"), kind, words)
    line, caret = shown.rstrip().splitlines()[-2:]
    assert line.strip() == f"|> {stages})"
    stage = stages.rpartition("|> ")[2]
    assert (caret.index("^"), caret.count("^")) == (line.rindex(stage), len(stage))
    alive(notebook)


def test_carets_in_fused_statements_and_larger_expressions(notebook):
    for body, stage in (
        ("a = range(5) |> map(_ + 1)\nb = a |> zip(5)\nc = b |> sum", "zip(5)"),
        ("a = (range(5) |> clip('a', 3) |> sum) + 1", "clip('a', 3)"),
        ("a = 5 |> sum", "5"),
    ):
        line, caret = fails(notebook(body), "TypeError").rstrip().splitlines()[-2:]
        assert line[caret.index("^") : caret.rindex("^") + 1] == stage


@pytest.mark.parametrize(
    ("body", "marked"),
    [
        ("[2**63 - 1] * 5 |> map(lambda x: x * x) |> sum", "map(lambda x: x * x)"),
        ("[2**63 - 1] * 5 |> map(lambda x: x * x)", "map(lambda x: x * x)"),
        ("[2**31] |> map(_ * _) |> map(lambda x: x * x) |> sum", "map(lambda x: x * x)"),
        ("range(2**63 - 2, 2**63 + 3) |> map(lambda x: x * 2) |> sum", "range(2**63 - 2, 2**63 + 3)"),
        ("range(2**63 - 2, 2**63 + 3) |> map(lambda x: x * 2)", "range(2**63 - 2, 2**63 + 3)"),
        ("[1, 2**70] |> map(_ + 1) |> sum", "[1, 2**70]"),
        ("[1, 2] |> zip([1, 2**70]) |> map(lambda x, y: x + y) |> sum", "zip([1, 2**70])"),
        ("[1, 2] |> map(_ + 99999999999999999999) |> sum", "map(_ + 99999999999999999999)"),
        ("[2**62] * 5 |> cumsum", "cumsum"),
    ],
)
def test_what_int64_does_not_hold_is_marked(notebook, body, marked):
    line, caret = fails(notebook(body, "--int checked"), "OverflowError").rstrip().splitlines()[-2:]
    assert line[caret.index("^") : caret.rindex("^") + 1] == marked


@pytest.mark.parametrize("source", ["np.float64(5)", "np.array(5.0)", "np.int32(3)", "5", "None"])
@pytest.mark.parametrize("stages", ["sum", "map(_ + 1)", "map(_ + 1) |> sum"])
def test_a_source_without_elements_is_marked(notebook, source, stages):
    notebook.ns["np"] = np
    line, caret = fails(notebook(f"{source} |> {stages}"), "TypeError").rstrip().splitlines()[-2:]
    assert line[caret.index("^") : caret.rindex("^") + 1] == source


@pytest.mark.parametrize(("source", "find"), [("[3, 1]", str.index), ("[3, 5]", str.rindex)])
def test_of_two_stages_that_read_the_same_the_one_that_raised_is_marked(notebook, source, find):
    stage = "map(lambda x: 4 // (x - 1))"
    body = f"{source} |> {stage} |> {stage} |> sum"
    column = find(body, stage)
    shown = fails(notebook(body), "ZeroDivisionError", f"(cell line 2, column {column + 1})")
    assert shown.rstrip().splitlines()[-1].index("^") == column + 4


@pytest.mark.parametrize(
    "body",
    [
        "y = range(3) |> sum\nint('a')",
        "y = range(3) |> sum\nz = pipe(3).sum()",
        "y = (range(3) |> sum) + pipe(3).sum()",
    ],
)
def test_no_caret_where_it_is_not_clear_what_failed(notebook, body):
    notebook.run("from hastega_magic import pipe")
    seen = notebook(body)
    assert seen.error is not None
    assert "^^" not in "".join(getattr(seen.error, "__notes__", ()))


def test_strict_marks_the_stage(notebook):
    seen = notebook("range(5) |> tap(print)", "--strict")
    assert seen.out.splitlines()[-1].strip() == "^" * len("tap(print)")


def test_the_statement_and_the_function_are_both_shown(notebook):
    notebook.run("def inverse(x):\n    return 1 // (x - 2)")
    shown = fails(
        notebook("a = 1\ny = (range(10)\n     |> map(inverse)\n     |> sum)"),
        "ZeroDivisionError",
        "Cell In[2], line 3\n",
        "----> 3 y = (range(10)",
        "Cell In[1], line 2, in inverse(x)",
        "----> 2     return 1 // (x - 2)",
    )
    note = "hastega: element 2 of range(10), which is 2, in `map(inverse)` (cell line 4)"
    assert shown.rstrip().endswith(f"{note}\n         |> map(inverse)\n            ^^^^^^^^^^^^")
    assert len(re.findall(r"^Cell In", shown, re.MULTILINE)) == 2


def test_an_error_in_a_function_with_a_pipeline_called_by_an_ordinary_cell(notebook):
    notebook("def f(n):\n    return range(n) |> map(lambda x: 1 // (x - 2)) |> sum\na = f(2)")
    assert notebook.ns["a"] == -2
    shown = fails(
        notebook.run("f(5)"), "ZeroDivisionError", "Cell In[2], line 1", "Cell In[1], line 3, in f(n)"
    )
    assert notebook.run("%tb").out == shown
    alive(notebook)


def test_what_an_exception_came_from_is_shown(notebook):
    body = (
        "try:\n    x = (range(3) |> map(lambda v: 1 // v) |> sum) + 1\n"
        "except ZeroDivisionError as e:\n    raise KeyError('k') from e"
    )
    fails(notebook(body), "KeyError", "direct cause", "ZeroDivisionError", "line 3", "line 5")


@pytest.mark.parametrize(
    ("options", "stages", "kind"),
    [
        ("--on numpy", "range(9) |> filter(_ > 20) |> min", "ValueError"),
        ("--on numpy", "[] |> mean", "StatisticsError"),
        ("--int checked", "[2**70, 1] |> map(lambda x: x + 1) |> to_list", "OverflowError"),
    ],
)
def test_what_ours_was_raised_for_is_not_shown(notebook, options, stages, kind):
    shown = fails(notebook(stages, options), kind)
    assert not re.search("zero-size|C long", shown)


def test_a_caught_error_leaves_nothing(notebook):
    body = "try:\n    x = (range(3) |> map(lambda v: 1 // v) |> sum) + 1\nexcept ZeroDivisionError:\n    x = -1\nx"
    assert notebook(body).out == "Out[1]: -1\n"


# Statements before the failing one


def test_statements_before_the_failing_one_have_taken_effect(notebook):
    seen = notebook(
        "xs = range(100)\na = xs |> map(lambda x: x + 1) |> sum\n"
        "b = xs |> map(lambda x: 1 // (x - 50)) |> sum\nc = xs |> max\nd = 1"
    )
    fails(seen, "ZeroDivisionError", "----> 4 b = ")
    assert notebook.ns["a"] == 5050
    assert not {"b", "c", "d"} & set(notebook.ns)
    assert [each["name"] for each in seen.reports[0]["pipelines"]] == ["a", "b"]
    assert "✗ raised ZeroDivisionError" in seen.bundles[0]["text/plain"]


@pytest.mark.parametrize(
    ("source", "second", "error"),
    [
        ("[3, -1]", "a |> bincount", "ValueError"),
        ("[1]", "xs |> filter(lambda x: x > 5) |> argmax", "ValueError"),
        ("[1, 2]", "xs |> filter(lambda x: x > 5) |> min", "ValueError"),
        ("[1, 2]", "xs |> zip(5) |> to_list", "TypeError"),
        ("[1, 2]", "k |> sum", "TypeError"),
        ("[1, 2]", "xs |> filter(lambda x: x > 5) |> mean", "StatisticsError"),
    ],
)
def test_so_they_have_where_the_value_as_a_whole_fails(notebook, source, second, error):
    seen = notebook(f"xs, k = {source}, 5\na = xs |> map(lambda x: x)\nb = {second}\nc = xs |> sum")
    fails(seen, error, "----> 4 b = ")
    assert notebook.ns["a"].tolist() == eval(source)
    assert not {"b", "c"} & set(notebook.ns)


def test_the_first_of_several_that_fail_is_told(notebook):
    seen = notebook("xs = [1]\na = xs |> filter(_ > 5)\nb = a |> argmax\nc = a |> min")
    fails(seen, "ValueError", "----> 4 b = ", "argmax of no elements")
    assert notebook.ns["a"].tolist() == []


def test_the_failing_statement_does_not_change_an_old_value(notebook):
    notebook.run("b = 'old'")
    seen = notebook("a = range(5) |> map(_ + 1)\nb = a |> map(lambda x: 1 // (x - 3)) |> sum")
    fails(seen, "ZeroDivisionError", "of a, which is 3")
    assert notebook.ns["a"].tolist() == [1, 2, 3, 4, 5]
    assert notebook.ns["b"] == "old"


def test_no_report_when_nothing_ran(notebook):
    assert notebook("y = nope |> sum").bundles == []
    assert notebook("y = 5 |> sum").bundles == []


def test_a_plain_statement_that_fails_leaves_the_report_of_what_ran(notebook):
    seen = notebook("a = range(5) |> sum\nraise RuntimeError('stop')")
    fails(seen, "RuntimeError", "----> 3 raise RuntimeError('stop')")
    assert (notebook.ns["a"], len(seen.reports)) == (10, 1)


# Input that is unusual, and good


@pytest.mark.parametrize(
    ("source", "python"),
    [
        ("[]", []),
        ("[1, 2.5, 3]", [1, 2.5, 3]),
        ("[1, 2**70, -2**65]", [1, 2**70, -(2**65)]),
        ("[True, 2, False]", [True, 2, False]),
        ("[float('inf'), -0.0, 1e308]", [float("inf"), -0.0, 1e308]),
        ("np.arange(10)[::-1]", list(range(9, -1, -1))),
        ("np.arange(20)[::-3]", list(range(19, -1, -3))),
        ("np.arange(6).astype('>i4')", list(range(6))),
        ("np.linspace(0, 1, 5).astype('>f8')", [0.0, 0.25, 0.5, 0.75, 1.0]),
        ("np.array([True, False, True])", [True, False, True]),
        ("np.array([2**64 - 1, 3], np.uint64)", [2**64 - 1, 3]),
        ("np.array([2**62, 3], np.uint64)", [2**62, 3]),
        ("np.array([-128, 127], np.int8)", [-128, 127]),
        ("np.broadcast_to(np.int64(7), 5)", [7] * 5),
        ("readonly", [1, 2, 3]),
        ("(x for x in range(5))", list(range(5))),
        ("range(10**20, 10**20 + 3)", [10**20, 10**20 + 1, 10**20 + 2]),
    ],
)
def test_unusual_sources_give_what_python_gives(notebook, source, python):
    notebook.run("import numpy as np\nreadonly = np.array([1, 2, 3])\nreadonly.flags.writeable = False")
    assert notebook(f"y = {source} |> map(lambda v: v * 2 + 1) |> to_list").error is None
    expected = [v * 2 + 1 for v in python]
    assert notebook.ns["y"] == expected
    assert [type(v) for v in notebook.ns["y"]] == [type(v) for v in expected]


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("y = [] |> sum", 0),
        ("y = [] |> prod", 1),
        ("y = [] |> count", 0),
        ("y = [-2**63] |> map(lambda x: x // -1) |> sum", 2**63),
        ("d = -1\ny = [-2**63, 5] |> map(lambda x: x // d) |> to_list", [2**63, -5]),
        ("d = -1\ny = [-2**63, 5] |> map(lambda x: x % d) |> to_list", [0, 0]),
        ("y = [-7, 7] |> map(lambda x: (x // 2, x % -3)) |> to_list", [(-4, -1), (3, -2)]),
        ("y = range(5) |> zip(range(3)) |> to_list", [(0, 0), (1, 1), (2, 2)]),
        ("y = [1, 2, 3] |> zip([1.5, 2.5]) |> map(lambda a, b: a * b) |> to_list", [1.5, 5.0]),
        ("y = [float('inf'), 1.0] |> max", float("inf")),
    ],
)
def test_unusual_results(notebook, body, value):
    assert notebook(body).error is None
    assert notebook.ns["y"] == value
    assert type(notebook.ns["y"]) is type(value)


def test_nan_passes_through(notebook):
    notebook("y = [float('nan'), 1.0] |> map(lambda x: x * 2)\nz = y |> sum")
    assert np.isnan(notebook.ns["y"][0])
    assert np.isnan(notebook.ns["z"])
