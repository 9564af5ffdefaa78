"""What Unicode ends lines with and Python does not: in a cell's strings and comments it changes no line number."""

import inspect

import pytest

ENDS = ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"]


@pytest.mark.parametrize("end", ENDS, ids=ascii)
@pytest.mark.parametrize("stage", ["map(lambda x: x + 1)", "map(_ + 1)", "map(f)"])
def test_functions_behind_it_are_compiled(notebook, end, stage):
    head = f"s = 'a{end}b'  # c{end}d\ndef f(x):\n    return x + 1\n"
    seen = notebook(f"{head}range(3000) |> {stage} |> sum", "--on simd --strict --no-baseline")
    assert seen.out.startswith("Out[")
    assert "4501500" in seen.out


@pytest.mark.parametrize("end", ENDS, ids=ascii)
@pytest.mark.parametrize("loaded", [True, False])
def test_functions_of_other_cells_are_not_taken_for_their_neighbours(notebook, end, loaded):
    if not loaded:
        notebook.run("%unload_ext hastega_magic")
    notebook.run(f"rate = 2  # {end}0\nf = lambda x: x * 2\ng = lambda x: x * 3\nh = lambda x: x * 5")
    if not loaded:
        notebook.run("%load_ext hastega_magic")
    notebook("xs = range(400)\nq = xs |> map(g) |> sum", "--no-baseline --on simd --quiet")
    assert notebook.ns["q"] == 3 * sum(range(400))


def test_tracebacks_show_the_whole_line(notebook):
    notebook.run("x = 1\n\x0cdef h(t):\n    return 1 // t")
    out = notebook.run("h(0)").out
    assert "----> 3     return 1 // t" in out
    assert "----> 2 1 / 0" in notebook.run("# a\u2028b\n1 / 0").out


def test_cells_that_ran_before_keep_their_own_text(notebook):
    notebook.run("%unload_ext hastega_magic")
    notebook.shell.run_cell("def silent(x):\n    return x * 5", store_history=False)
    notebook.run("# \u2028\ndef other(x):\n    return x * 2")
    notebook.run("\n\n# \u2028\ndef third(x):\n    return x * 3")
    notebook.run("%load_ext hastega_magic")
    for name, k in (("silent", 5), ("other", 2), ("third", 3)):
        notebook(f"q = range(400) |> map({name}) |> sum", "--no-baseline --on simd --strict --quiet")
        assert notebook.ns["q"] == k * sum(range(400))
        assert inspect.getsource(notebook.ns[name]).startswith(f"def {name}")


def test_the_shell_is_left_as_it_was(notebook):
    notebook.run("%unload_ext hastega_magic")
    assert notebook.shell.compile.cache.__func__.__name__ == "cache"
    notebook.run("%load_ext hastega_magic")
    notebook.run("%load_ext hastega_magic")
    assert notebook.shell.compile.cache.cache.__func__.__name__ == "cache"


@pytest.mark.parametrize(
    ("line", "caret", "said"),
    [
        (
            "y = range(300) |> map(lambda x: 1 // (x - 5)) |> sum",
            18,
            "element 5 of range(300), which is 5, in",
        ),
        ("y = range(300) |> foo |> 3", 25, "a stage is a name or a call"),
        ("y = range(300) |> mpa(_ + 1)", 18, "`mpa` is no stage: did you mean map?"),
    ],
)
def test_carets_stand_under_the_text(notebook, line, caret, said):
    seen = notebook(f"s = 'a\u2028b'\n{line}", "--no-baseline")
    assert said in seen.out
    lines = seen.out.splitlines()
    below = next(number for number, each in enumerate(lines) if each.strip().strip("^") == "" and "^" in each)
    assert lines[below].index("^") - lines[below - 1].index(line) == caret


def test_a_kernel_names_a_cell_once(monkeypatch):
    from types import SimpleNamespace

    from ipykernel import compiler as kernels

    from hastega_magic.jupyter import lines

    named = []
    monkeypatch.setattr(kernels, "get_file_name", lambda code: named.append(code) or f"<{code}>")
    shell = SimpleNamespace(
        compile=kernels.XCachingCompiler(), history_manager=SimpleNamespace(input_hist_raw=[])
    )
    lines.install(shell)
    cached = [("run(a)", 1, "a"), ("a", 1, "a"), ("b", 2, "b"), ("run(a)", 3, "a")]
    names = [shell.compile.cache(code, number, raw_code=raw) for code, number, raw in cached]
    assert names == ["<a>", "<a>", "<b>", "<a>"]
    assert named == ["a", "b", "a"]
    lines.remove(shell)
    assert shell.compile.cache("b", 4, raw_code="b") == "<b>"
    assert shell.compile.cache("b", 5, raw_code="b") == "<b>"
    assert named == ["a", "b", "a", "b", "b"]


def test_a_stage_of_several_lines_stands_on_one_in_a_note(notebook):
    shown = notebook("y = range(3)\ny |> map(lambda x:\n    1 // x)").text
    assert "element 0 of y, which is 0, in `map(lambda x: 1 // x)` (cell line 3)\n" in shown
    assert "    y |> map(lambda x:\n         ^^^^^^^^^^^^^\n" in shown
    shown = notebook("[2**62] |> map(lambda x:\n    x * 4)", "--int checked").text
    assert "an integer that no int64 holds in `map(lambda x: x * 4)`: element 0" in shown
    assert "    [2**62] |> map(lambda x:\n               ^^^^^^^^^^^^^\n" in shown
    shown = notebook("[2] |> map(lambda x:\n    str(x))", "--strict").text
    assert "`map(lambda x: str(x))` is not compiled: `str` has no compiled form yet\n" in shown
    assert "    [2] |> map(lambda x:\n           ^^^^^^^^^^^^^\n" in shown
