"""`%hastega on`: `|>` in every cell of an ordinary shell."""

import re

import numpy as np
import pytest

from tests.compiler.battery import EFFORT


def test_cells_with_pipes_run_and_show_no_report(notebook):
    notebook.run("%hastega on")
    seen = notebook.run("xs = range(10) |> map(_ + 1)\nxs |> sum")
    assert seen.out == "Out[2]: 55\n"
    assert seen.reports == []
    assert isinstance(notebook.ns["xs"], np.ndarray)
    assert notebook.run("_ + 1").out == "Out[3]: 56\n"
    assert "1 fused loop" in notebook.run("%hastega report", front_end=False).out


def test_it_needs_no_magic_that_nobody_writes(notebook):
    known = notebook.shell.magics_manager.lsmagic()
    assert {name for name in known["cell"] if "hastega" in name} == {"hastega", "hastega_kernel"}


def test_reports_where_they_are_asked_for(notebook):
    notebook.run("%hastega on --report --no-baseline --on simd")
    [report] = notebook.run("range(10) |> sum").reports
    assert report["pipelines"][0]["backend"] == "simd"
    assert report["pipelines"][0]["span"][0] == 1, "lines are those of the editor"


def test_off_again(notebook):
    notebook.run("%hastega on")
    notebook.run("%hastega on")
    assert notebook.run("[1, 2] |> sum").error is None
    notebook.run("%hastega off")
    assert isinstance(notebook.run("[1, 2] |> sum").error, SyntaxError)
    notebook.run("%hastega on")
    notebook.run("%unload_ext hastega_magic")
    assert isinstance(notebook.run("[1, 2] |> sum").error, SyntaxError)


def test_other_cells_are_left_alone(notebook):
    notebook.run("%hastega on")
    before = notebook.run("x = 1 | 2\n'a |> b'  # |>")
    assert before.out == "Out[2]: 'a |> b'\n"
    assert notebook.run("%%hastega --no-baseline\nrange(3) |> sum").reports
    assert notebook.run("%%capture c\nprint(5)").error is None


def test_ipythons_own_syntax_in_a_cell_with_pipes(notebook):
    notebook.run("%hastega on")
    seen = notebook.run("%precision 3\ny = [1.23456] |> map(_ * 1) |> sum\ny")
    assert seen.out.splitlines()[-1] == "Out[2]: 1.235"
    assert notebook.run("a = %pwd\nn = [a] |> len\nn").out == "Out[3]: 1\n"


def test_errors_show_the_users_lines(notebook):
    notebook.run("%hastega on")
    seen = notebook.run("xs = [1, 0]\nxs |> map(lambda x: 1 // x)")
    assert isinstance(seen.error, ZeroDivisionError)
    assert "----> 2 xs |> map(lambda x: 1 // x)" in seen.text
    assert "hastega_magic" not in seen.text
    seen = notebook.run("a = 1\nxs |> |> sum")
    assert "line 2\n    xs |> |> sum\n       ^" in seen.text


def test_a_function_with_a_pipe_is_called_by_an_ordinary_cell(notebook):
    notebook.run("%hastega on")
    notebook.run("def total(xs):\n    return xs |> map(_ * 2) |> sum")
    assert notebook.run("total([1, 2])").out == "Out[3]: 6\n"


def test_wrong_options_are_told_at_once(notebook):
    seen = notebook.run("%hastega on --thread 2")
    assert re.search(r"%hastega on: there is no option --thread: did you mean --threads\?", seen.text)
    assert notebook.run("[1] |> sum").error is not None


CELLS = {  # with pipes, and the same without
    "1\nrange(4) |> sum\n3": "1\nsum(range(4))\n3",
    "range(4) |> sum\nn = range(5) |> sum": "sum(range(4))\nn = sum(range(5))",
    "n = 1\nn += range(5) |> sum": "n = 1\nn += sum(range(5))",
    "n: int = range(5) |> sum": "n: int = sum(range(5))",
    "a, b = 1, range(5) |> sum": "a, b = 1, sum(range(5))",
    "n = 2\nNone\nn\nfor i in range(2): range(n) |> sum": "n = 2\nNone\nn\nfor i in range(2): sum(range(n))",
    "'one'; n = 1; range(n + 4) |> sum; n": "'one'; n = 1; sum(range(n + 4)); n",
    "1\nrange(4) |> sum;": "1\nsum(range(4));",
    "range(4) |> sum\nprint(_)\n_": "sum(range(4))\nprint(_)\n_",
}


SETTINGS = ["all", "last", "last_expr", "last_expr_or_assign", "none"]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (cell, shown)
        for number, cell in enumerate(CELLS)
        for place, shown in enumerate(SETTINGS)
        if EFFORT > 1 or (number + place) % 2 == 0
    ],
)
def test_the_shells_own_setting_says_which_values_are_shown(notebook, cell, shown):
    notebook.shell.ast_node_interactivity = shown
    plain = notebook.run("_ = 7\n" + CELLS[cell])
    notebook.run("%hastega on")
    for _ in range(2):
        seen = notebook.run("_ = 7\n" + cell)
        assert seen.error is plain.error is None
        assert re.sub(r"Out\[\d+\]", "", seen.out) == re.sub(r"Out\[\d+\]", "", plain.out)
    awaits = notebook.run("import asyncio\nawait asyncio.sleep(0)\n_ = 7\n" + cell)
    assert re.sub(r"Out\[\d+\]", "", awaits.out).endswith(re.sub(r"Out\[\d+\]", "", plain.out))


def test_values_shown_before_a_statement_that_fails_are_shown(notebook):
    notebook.shell.ast_node_interactivity = "all"
    notebook.run("%hastega on")
    seen = notebook.run("t = range(4) |> sum\nt\n[1, 0] |> map(lambda x: 1 // x) |> sum\n8")
    assert seen.out.startswith("Out[2]: 6\n")
    assert isinstance(seen.error, ZeroDivisionError)
    assert "8" not in seen.out.splitlines()[:1]
    seen = notebook("1\nrange(4) |> sum")
    assert seen.out.splitlines()[:2] == ["Out[3]: 1", "Out[3]: 6"]


def test_a_pipe_in_a_cell_that_is_pythons_is_explained(notebook):
    said = "hastega: `|>` works in cells that begin with %%hastega"
    assert said in notebook.run("[1, 2] |> sum").out
    assert said in notebook.run("%%time\n[1, 2] |> sum").out
    for other in ("[1, 2", "'a |> b' +", "1 / 0", "%%hastega\n[1, 2] |> 3 +"):
        seen = notebook.run(other)
        assert seen.error is not None
        assert said not in seen.text
    inside = "hastega: `|>` does not work inside an f-string"
    assert inside in notebook.run("f'{[1, 2] |> sum}'").text
    notebook.run("%hastega on")
    assert said not in notebook.run("[1, 2] |>").text
    assert said not in notebook.run("if 1:\n    [1, 2] |> sum\n  y = 3").text
    assert inside in notebook.run("f'{[1, 2] |> sum}'").text
    notebook.run("%hastega off\n%unload_ext hastega_magic")
    assert said not in notebook.run("[1, 2] |> sum").text


FIRST = "hastega: `%%hastega` has to be the first line of its cell: comments and other code stand below it\n"
NO_BLANKS = "hastega: `%%hastega` has to begin its line: no blanks stand before it\n"
MISPLACED = {
    "# a comment\n%%hastega\n[1, 2] |> sum": FIRST,
    "import math\n%%hastega --quiet\n2": FIRST,
    "%time\n%%hastega\n2": FIRST,
    "%%time\n# a comment\n%%hastega\n2": FIRST,
    "'''\n%%hastega\n'''\n\n  %%hastega\n[1, 2] |> sum": FIRST,
    "x = 1\n%%hastega_kernel llvm xs\nret": FIRST.replace("hastega`", "hastega_kernel`"),
    "  %%hastega\n[1, 2] |> sum": NO_BLANKS,
    "\n\n\t%%hastega\n2": NO_BLANKS,
    "%%Hastega\n[1, 2] |> sum": "hastega: did you mean `%%hastega`?\n",
    "%%hastga\n2": "hastega: did you mean `%%hastega`?\n",
    "%%hastega: --quiet\n2": "hastega: did you mean `%%hastega`?\n",
    "%%hastega()\n2": "hastega: did you mean `%%hastega`?\n",
    "%% hastega --quiet\n2": "hastega: did you mean `%%hastega`?\n",
    "%%\n2": "",
    "%%nothing\n2": "",
    "%%writefile\nx = 1\n%%hastega\n2": "",
    "%%hastega --nothing\n2": "",
    "%%time\n%%hastega --nothing\n2": "",
    "%%time\n%%hastega --no-baseline\nexec('1 +')": "",
    "%%time\n%%hastega --no-baseline\n1 +": "",
    "'''\n%%hastega\n'''\n1 +": "",
}


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("cell", MISPLACED)
def test_a_cell_magic_that_ipython_does_not_see_is_explained(notebook, cell, everywhere):
    if everywhere:
        notebook.run("%hastega on")
    seen = notebook.run(cell)
    assert seen.error is not None
    assert "".join(re.findall("hastega: (?:`%%hastega|did).*\n", seen.out)) == MISPLACED[cell]


BLOCKS = {
    "xs |> sum": "complete",
    "xs\n  |> sum": "complete",
    "(xs\n |> map(_ + 1)": "incomplete",
    "for i in range(3):\n    xs |> sum": "incomplete",
    "def f():\n    return xs |> sum": "incomplete",
    "def f():\n    return xs |> sum\n\n": "complete",
    "s = 'a |> b": "invalid",
    "xs |> |> sum": "invalid",
}


def test_consoles_wait_for_the_rest_of_a_block_with_pipes(notebook):
    def answers():
        return {text: notebook.shell.check_complete(text)[0] for text in BLOCKS}

    before = answers()
    assert before["xs |> sum"] == "invalid"
    notebook.run("%hastega on")
    notebook.run("%hastega on")
    assert answers() == BLOCKS
    notebook.run("%hastega off")
    assert answers() == before


@pytest.mark.parametrize("body", ["[1] |> map(lambda x: await a)", "def f():\n    await a\n[1] |> sum"])
def test_it_is_no_advice_for_functions_that_cannot_await(notebook, body):
    seen = notebook(body)
    assert type(seen.error).__name__ == "SyntaxError"
    assert "'await' outside async function" in seen.text
    assert "%hastega on" not in seen.text


@pytest.mark.parametrize(
    ("cell", "out"),
    [
        ("if 1:\n    xs = range(3)\n  |> sum\nprint(xs)", "3\n"),
        ("def f():\n    return range(3)\n   |> map(_ + 1)\n   |> sum\nprint(f())", "6\n"),
        ("if 1:\n  if 1:\n        xs = range(3)\n      |> map(_ + 1)\n # so\n   |> sum\nprint(xs)", "6\n"),
        ("xs = range(3)\n        |> map(_ + 1)\n    |> sum\nprint(xs)", "6\n"),
        ("if 1:\n    xs = sorted([1,\n  2])\n  |> sum\nprint(xs)", "3\n"),
    ],
)
def test_a_line_with_a_pipe_begins_anywhere(notebook, cell, out):
    notebook.run("%hastega on")
    assert notebook.run(cell).out == out
    notebook.run("%hastega off")
    assert isinstance(notebook.run(cell).error, SyntaxError)


def test_other_lines_that_begin_anywhere_are_pythons_errors(notebook):
    notebook.run("%hastega on")
    seen = notebook.run("if 1:\n    xs = range(3)\n  y = 1\n  |> sum")
    assert isinstance(seen.error, IndentationError)
    assert "y = 1" in seen.text
    seen = notebook.run("if 1:\n    xs = range(3)\n  |> sum\n  |> abs\n  u = 3")
    assert "u = 3" in seen.text
