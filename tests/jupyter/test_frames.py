"""Which frames a traceback shows: the user's own, however the pipeline was written."""

import re
import statistics
import traceback
from types import FunctionType

import numpy as np
import pytest

from hastega_magic.compiler.outcome import Group
from hastega_magic.jupyter import commands
from hastega_magic.jupyter.magics import HastegaMagics

OURS = re.compile(r"hastega_magic|run_cell_magic|run_line_magic|site-packages|__hastega|During handling")


def frames(seen, kind):
    """The places that the traceback shows, checked to be nothing of ours."""
    assert type(seen.error).__name__ == kind
    assert not OURS.search(seen.out), seen.out
    return re.findall(r"^Cell In\[(\d+)\], line (\d+)(?:, in ([\w.<>]*))?", seen.out, re.MULTILINE)


def test_what_is_made_around_ordinary_code_is_not_shown(notebook):
    notebook.run("def inverse(x):\n    return 1 // (x - 5)")
    seen = notebook("a = 1\nlist(map(inverse, range(1000)))")
    assert frames(seen, "ZeroDivisionError") == [("2", "3", ""), ("1", "2", "inverse")]


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("%%hastega --quiet\n{}f(400)", ["f", "f.<locals>.<genexpr>"]),
        ("@hastega\n{}f(400)", ["f", "f.<locals>.<genexpr>"]),
        ("%%hastega --quiet\nsum(nosuch * i for i in range(400))", ["<genexpr>"]),
    ],
)
def test_names_of_frames_are_those_of_python(notebook, cell, names):
    notebook.run("from hastega_magic import hastega")
    seen = notebook.run(cell.format("def f(n):\n    return sum(nosuch * i for i in range(n))\n"))
    frames(seen, "NameError")
    walked = [each.f_code.co_qualname for each, _ in traceback.walk_tb(seen.error.__traceback__)]
    assert walked[-len(names) :] == names
    assert walked[-len(names) - 1] == "<module>"


def test_what_is_made_of_a_placeholder_is_not_shown(notebook):
    seen = notebook("xs = [1, 'a'] * 300\nxs |> map(_ + 1) |> sum")
    assert frames(seen, "TypeError") == [("1", "3", "")]
    seen = notebook("xs |> map(lambda _: _ + 1) |> sum")
    assert frames(seen, "TypeError") == [("2", "2", ""), ("2", "2", "<lambda>")]


@pytest.mark.parametrize(
    ("call", "inner"),
    [
        ("pipe(range(1000)).map(inverse).sum()", []),
        ("pipe(range(1000)).map(inverse).run()", []),
        ("list(pipe(range(1000)).map(inverse))", []),
        ("ordinary(1000)", [("2", "3", "ordinary")]),
        ("piped(1000)", [("3", "4", "piped")]),
    ],
)
def test_pipes_and_decorated_functions_in_ordinary_cells(notebook, call, inner):
    notebook.run("from hastega_magic import hastega, pipe\ndef inverse(x):\n    return 1 // (x - 5)")
    notebook.run("@hastega\ndef ordinary(n):\n    return [each for each in map(inverse, range(n))]")
    notebook("@hastega\ndef piped(n):\n    return range(n) |> map(inverse) |> sum", "--quiet")
    found = frames(notebook.run(call), "ZeroDivisionError")
    assert found[: 1 + len(inner)] == [("4", "1", ""), *inner]
    assert found[-1] == ("1", "3", "inverse")


def test_a_pipe_inside_a_stage_leaves_the_statement_to_be_seen(notebook):
    notebook.run("from hastega_magic import pipe")
    seen = notebook(
        "a = 1\n(range(3)\n |> map(lambda x: pipe([x]).map(lambda y: 1 // y).sum())\n |> to_list)"
    )
    assert frames(seen, "ZeroDivisionError")[0] == ("2", "3", "")


@pytest.mark.parametrize("call", ["%%hastega --quiet\ninverses(range(9))", "inverses(range(9))"])
def test_a_debugger_goes_up_and_down_in_what_was_shown(notebook, call):
    notebook("def inverses(xs):\n    return xs |> map(lambda x: 1 // (x - 5)) |> sum", "--quiet")
    seen = notebook.run(call)
    places = [line for _, line, _ in frames(seen, "ZeroDivisionError")]
    walked = [
        each for each in traceback.extract_tb(seen.error.__traceback__) if "IPython" not in each.filename
    ]
    assert [str(each.lineno) for each in walked] == places
    again = notebook.run("%tb")
    assert again.out == seen.out


def test_of_a_pipeline_a_debugger_shows_the_statement_with_the_variables_of_the_notebook(notebook):
    seen = notebook("xs = [1, 0]\nys = xs |> map(lambda x: 1 // x)", "--quiet")
    statement = seen.error.__traceback__.tb_frame
    assert (statement.f_code.co_name, statement.f_locals["xs"]) == ("<module>", [1, 0])


def test_without_the_extension_exceptions_are_left_alone(notebook):
    notebook.run("from hastega_magic import pipe")
    notebook.run("%unload_ext hastega_magic")
    seen = notebook.run("pipe(range(1000)).map(lambda x: 1 // x).sum()")
    assert not hasattr(seen.error, "_render_traceback_")


def test_an_interrupted_command(notebook, monkeypatch):
    def interrupted(rest, magics):
        raise KeyboardInterrupt

    command = commands.COMMANDS["calibrate"]._replace(run=interrupted)
    monkeypatch.setitem(commands.COMMANDS, "calibrate", command)
    seen = notebook.run("%hastega calibrate")
    assert "KeyboardInterrupt" in seen.out
    assert "commands.py" not in seen.out


def test_an_interrupt_in_what_python_makes_of_a_record(notebook, monkeypatch):
    """Methods of dataclasses stand in no file."""

    class Interrupting:
        def __set__(self, record, value):
            raise KeyboardInterrupt

    monkeypatch.setattr(Group, "workspace", Interrupting(), raising=False)
    seen = notebook("xs = range(10)\nxs |> map(lambda x: x + 1) |> sum")
    assert frames(seen, "KeyboardInterrupt") == [("1", "3", "")]
    assert "__init__" not in seen.out


@pytest.mark.parametrize("place", ["_begin", "_keep_hook", "_show_value", "_show_report"])
def test_an_interrupt_while_a_magic_imports(notebook, monkeypatch, tmp_path, place):
    """The first cells do; what is imported imports others, and calls functions."""
    (tmp_path / "imported_first.py").write_text("import imported_then")
    (tmp_path / "imported_then.py").write_text("def f():\n    raise KeyboardInterrupt\nf()")
    monkeypatch.syspath_prepend(tmp_path)

    def imports(*args):
        import imported_first  # noqa: F401

    # As if it stood in a file of ours.
    imports = FunctionType(imports.__code__, {**globals(), "__name__": "hastega_magic.importing"})
    monkeypatch.setattr(HastegaMagics, place, imports)
    seen = notebook("xs = range(10)\nxs |> sum")
    assert frames(seen, "KeyboardInterrupt") == []
    assert "imported" not in seen.out


def test_an_interrupt_while_numpys_error_state_is_set(notebook, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    interrupted = FunctionType(
        interrupted.__code__, {**globals(), "__name__": np.errstate.__enter__.__module__}
    )
    monkeypatch.setattr(np.errstate, "__enter__", interrupted)
    seen = notebook.run("%%hastega --on numpy\nxs = range(10)\nxs |> map(lambda x: x / 4) |> sum")
    assert "KeyboardInterrupt" in seen.out
    assert "interrupted" not in seen.out


def test_an_interrupt_shows_the_libraries_that_a_stage_calls(notebook, monkeypatch):
    def interrupted(data, xbar=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(statistics, "_ss", interrupted)
    seen = notebook("import statistics\n[1, 2, 4] |> statistics.variance")
    assert "statistics.py" in seen.out
    assert "variance(data, xbar)" in seen.out


@pytest.mark.parametrize("first", ["%%hastega --quiet", "%%hastega --no-baseline"])
def test_an_interrupt_while_a_value_makes_its_text(notebook, first):
    notebook.run("class Long:\n    def __repr__(self):\n        raise KeyboardInterrupt")
    seen = notebook.run(f"{first}\nn = range(9) |> sum\nLong()")
    assert frames(seen, "KeyboardInterrupt") == [("1", "3", "Long.__repr__")]
    assert notebook.ns["n"] == 36


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("pipe([1]).nosuch()", "AttributeError"),
        ("pipe([1, 2]).map().sum()", "TypeError"),
        ("pipe([1, 2]).sum(foo=3)", "TypeError"),
        ("pipe([1], foo=1)", "TypeError"),
        ("hastega(3)", "TypeError"),
        ("hastega()(3)", "TypeError"),
        ("@hastega(nope=3)\ndef f(): pass", "TypeError"),
    ],
)
def test_wrong_arguments_of_pipes_and_decorators_show_the_users_line_alone(notebook, call, error):
    notebook.run("from hastega_magic import hastega, pipe")
    assert frames(notebook.run(call), error) == [("2", "1", "")]


@pytest.mark.parametrize(
    ("text", "kind", "places"),
    [
        ("a = 1\nrange(10) |> map(lambda x: 1 // x) |> sum", "ZeroDivisionError", ["2", "2, in <lambda>(x)"]),
        ("1 / 0", "ZeroDivisionError", ["1"]),
        ("\nrange(10) |> mpa(_)", "NameError", ["2"]),
        ("def f():\n    raise KeyboardInterrupt\nf()", "KeyboardInterrupt", ["3", "2, in f()"]),
    ],
)
@pytest.mark.parametrize("first", ["", "%%hastega --quiet\n"])
def test_a_text_that_is_measured_shows_its_own_lines(notebook, first, text, kind, places):
    notebook.run("from hastega_magic import measure\ndef measured(text):\n    return measure(text)")
    seen = notebook.run(f"{first}measured({text!r})")
    assert frames(seen, kind) == [("2", "2" if first else "1", ""), ("1", "3", "measured")]
    assert re.findall(r"^File <measure \w+>:(.*)$", seen.out, re.MULTILINE) == places
    assert ("did you mean map?" in seen.out) == (kind == "NameError")
    assert notebook.run("%tb").out == seen.out


@pytest.mark.parametrize("text", ["range(9) |> map(lambda x: x |> sum", "range(9) |> take(-1)", "y = 3\nfor"])
def test_a_text_that_cannot_be_read_has_its_line_and_caret(notebook, text):
    notebook.run("from hastega_magic import measure")
    seen = notebook.run(f"measure({text!r})")
    assert isinstance(seen.error, SyntaxError)
    assert not OURS.search(seen.out), seen.out
    first, *_, line, caret, message = seen.out.rstrip().splitlines()
    assert first.startswith("Traceback")
    assert (line.strip(), caret.strip()) == (text.splitlines()[-1], "^")
    assert message.startswith("SyntaxError: ")


def test_a_syntax_error_of_a_stage_shows_the_users_line_alone(notebook):
    notebook.run("from hastega_magic import pipe")
    seen = notebook.run("pipe([1]).map(lambda x: eval('a b')).sum()")
    assert not OURS.search(seen.out.replace("hastega: element", "")), seen.out
    notebook.run("%unload_ext hastega_magic")
    assert "interactiveshell" in notebook.run("pipe([1]).map(lambda x: eval('a b')).sum()").out


# Warnings of what stages call


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("b = 1\nxs |> np.log", 3),
        ("b = 1\nxs |> map(_ * 2) |> np.log |> sum", 3),
        ("xs |> map(lambda x: (str(x), np.log(x))[1]) |> to_list", 2),
        ("xs |> tap(np.log) |> sum", 2),
        ("for _ in range(2):\n    b = xs |> np.log", 3),
        ("def logs(v):\n    return v |> np.log\nb = logs(xs)", 3),
    ],
)
def test_warnings_name_the_users_line(notebook, body, line):
    notebook.ns.update(np=np, xs=np.array([0.0, 1.0]))
    for _ in range(2):  # a cell that runs again warns again
        shown = notebook.run(f"%%hastega --quiet\n{body}").err
        assert not OURS.search(shown), shown
        assert re.findall(r":(\d+): RuntimeWarning: divide by zero", shown) == [str(line)]
        assert body.splitlines()[line - 2].strip() in shown
