"""What Unicode ends lines with and Python does not: in a cell's strings and comments it changes no line number."""

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


def test_the_shell_is_left_as_it_was(notebook):
    notebook.run("%unload_ext hastega_magic")
    assert notebook.shell.compile.cache.__func__.__name__ == "cache"
    notebook.run("%load_ext hastega_magic")
    notebook.run("%load_ext hastega_magic")
    assert notebook.shell.compile.cache.cache.__func__.__name__ == "cache"


@pytest.mark.parametrize(
    ("line", "caret", "said"),
    [
        ("y = range(300) |> map(lambda x: 1 // (x - 5)) |> sum", 18, "element 5 of range(300), 5, in"),
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
