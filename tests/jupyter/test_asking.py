"""IPython's `?` behind a stage."""

import pytest

from hastega_magic.syntax.stages import STAGES


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("name", STAGES)
def test_every_stage_is_explained(notebook, name, everywhere):
    if everywhere:
        notebook.run("%hastega on")
    seen = notebook.run(f"nowhere |> {name}?")
    assert seen.error is None
    assert seen.text == f"{STAGES[name].help}\n"
    assert notebook.run(f"%hastega help {name}").text == seen.text


@pytest.mark.parametrize(
    "asked",
    [
        "y = xs |> map(_ + 1) |> scan??",
        "if True:\n    [1] |> scan ?  \n",
        "xs\n    # it goes on\n    |> map(_ + 1)\n    |> scan?",
        "f(xs |> scan?",
        "xs |> scan(f)?",
        "y = xs |> map(_ + 1) |> scan(lambda a, x: (a, [x])[0], init=(1)) ??",
        "xs |> scan(\n    f,  # here (and there\n    init=')',\n)?",
        "f((xs) |> scan()?",
        "'''\n'''; xs \\\n  |> scan?",
    ],
)
def test_the_whole_statement_gives_way(notebook, asked):
    seen = notebook.run(f"print('before')\n{asked}\nprint('after')")
    assert seen.error is None
    assert seen.out == f"before\n{STAGES['scan'].help}\nafter\n"


@pytest.mark.parametrize(
    "asked",
    [
        "pipe([1]).scan?",
        "y = hastega_magic.pipe(range(3)).map(lambda x: x.real).scan(f)??",
        "p.map(lambda x: (x, [x])[0]).scan?",
        "pipe(\n    [1],\n).map(f) \\\n  .scan ?",
    ],
)
def test_a_stage_of_the_explicit_form_is_explained(notebook, asked):
    notebook.run("import hastega_magic\nfrom hastega_magic import pipe\np = pipe([1])")
    seen = notebook.run(f"print('before')\n{asked}\nprint('after')")
    assert seen.error is None
    assert seen.out == f"before\n{STAGES['scan'].help}\nafter\n"


def test_methods_of_other_objects_stay_ipythons(notebook):
    notebook.run("def other(xs): ...\nfrom hastega_magic import pipe")
    for asked in (
        "other([1]).scan?",
        "nowhere(1).scan?",
        "pipe([1]).explain?",
        "'pipe([1]).scan?'",
        "(1).scan?",
    ):
        assert "A stage" not in notebook.run(asked).text


def test_what_stands_below_keeps_its_line(notebook):
    assert "----> 3 1 / 0" in notebook.run("[1]\n  |> scan?\n1 / 0").text


@pytest.mark.parametrize(
    "asked", ["# |> scan?", "'|> scan?'", "'''\n|> scan?'''", "x = 1 # xs |> scan?", "# |> scan(f)?"]
)
def test_what_is_no_code_asks_nothing(notebook, asked):
    seen = notebook.run(asked)
    assert seen.error is None
    assert "running" not in seen.out


def test_names_of_the_users_and_of_python_stay_ipythons(notebook):
    notebook.run("def scan(xs):\n    'My own.'")
    assert "My own." in notebook.run("[1] |> scan?").text
    assert "A stage" not in notebook.run("sum?").text
    assert "A stage" not in notebook.run("[1] |> sorted?").text
    for asked in ("[1] |> sorted(key=f)?", "[1] |> take(1)[0]?", "[1] |> map(take(1)?)", "[1] |> scan(f))?"):
        assert "A stage" not in notebook.run(asked).text


def test_unloaded_it_asks_ipython_again(notebook):
    notebook.run("%unload_ext hastega_magic")
    assert "not found" in notebook.run("xs |> scan?").text


def test_a_cell_of_the_magic_says_where_it_works(notebook):
    for asked in ("y = xs |> scan?", "y = xs |> map(f) |> scan(lambda a, x: (a))??", "xs |> scan(f,\n  1) ?"):
        seen = notebook(asked)
        assert "help (`name?`) does not work in a %%hastega cell" in seen.text


def test_there_is_no_help_on_others(notebook):
    assert "there is no stage 'scam': did you mean scan?" in notebook.run("%hastega help scam").text


def test_behind_a_magic_it_tells_its_options(notebook):
    cell, line = notebook.run("%%hastega?").out, notebook.run("%hastega?").out
    options = notebook.run("%hastega help").out
    assert "--threads N           at most so many threads" in cell
    assert "%hastega calibrate  " in line
    for told in (cell, line):  # Shift-Tab at `%%hastega` shows what `%hastega?` does
        assert options.partition("usage: ")[2].rstrip() in told
    assert cell.index("Compile the pipelines of a cell") < cell.index("usage: %%hastega")
    assert line.index("Answer a question") < line.index("%hastega help") < line.index("usage: %%hastega")
