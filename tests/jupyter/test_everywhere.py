"""`%hastega on`: `|>` in every cell of an ordinary shell."""

import re

import numpy as np


def test_cells_with_pipes_run_and_show_no_report(notebook):
    notebook.run("%hastega on")
    seen = notebook.run("xs = range(10) |> map(_ + 1)\nxs |> sum")
    assert seen.out == "Out[2]: 55\n"
    assert seen.reports == []
    assert isinstance(notebook.ns["xs"], np.ndarray)
    assert notebook.run("_ + 1").out == "Out[3]: 56\n"
    assert "1 fused loop" in notebook.run("%hastega report", front_end=False).out


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
