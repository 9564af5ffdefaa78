"""The notebooks run in a real kernel, and what they show survives without one."""

import copy
import json
import re
import sys
from pathlib import Path

import pytest
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

from demo import no_opencl
from notebook_runner import REPORT_MIME, add_code, drop_tagged, execute, load, reports
from tests.notebooks.wrong_answers import WRONG

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.md"))
COURSE = ("tour", "simd", "control", "pictures", "gpu", "fusion", "exact", "prototype")
"""Those with exercises; `logistic` is the demonstration."""

MARKS = [pytest.param(name, marks=[pytest.mark.timeout(240)]) for name in NOTEBOOKS]


def tags(cell):
    return cell.metadata.get("tags", [])


def tagged(notebook, tag):
    """Cells with this tag, under the name that is their other tag."""
    found = [cell for cell in notebook.cells if tag in tags(cell)]
    named = {next(each for each in tags(cell) if each != tag): cell for cell in found}
    assert len(named) == len(found), f"two cells are the same {tag}"
    return named


def printed(cell):
    """What the cell wrote to its output; a progress bar goes to the error stream."""
    return "".join(output.text for output in cell.outputs if output.get("name") == "stdout")


def source_of(solution):
    """The code in a solution's cell."""
    (code,) = re.findall(r"```python\n(.*?)```", solution.source, re.DOTALL)
    return code.rstrip()


def answer(notebook, wrong):
    """Have each exercise answered behind its check: first in the wrong ways, then by the solution.

    Returns exercises, answers, the sentences that are expected, and the cells of the checks.
    """
    exercises, checks, solutions = (tagged(notebook, tag) for tag in ("exercise", "check", "solution"))
    assert list(wrong) == list(exercises), "every exercise has a typical mistake"
    judged = []
    for exercise, given in exercises.items():
        begin, end = notebook.cells.index(given), notebook.cells.index(checks[exercise])
        again, behind = notebook.cells[begin + 1 : end + 1], []
        for text, sentence in [*wrong[exercise], (source_of(solutions[exercise]), None)]:
            behind += [new_code_cell(text), *copy.deepcopy(again)]
            judged.append((exercise, text, sentence, behind[-1]))
        notebook.cells[end + 1 : end + 1] = behind
    return judged


@pytest.fixture(scope="module", params=MARKS)
def executed(request, tmp_path_factory):
    """A notebook executed, its cells as they are shipped, the page of its last report, and what checks said to answers.

    The answers follow the checks of the exercises that are shipped, so that one kernel runs both.
    """
    name = request.param
    if name == "gpu" and no_opencl():
        pytest.skip(no_opencl())
    page = tmp_path_factory.mktemp(name) / "report.html"
    notebook = load(FOLDER / f"{name}.md")
    if no_opencl():
        drop_tagged(notebook, "opencl")
    shipped = new_notebook(cells=list(notebook.cells))
    judged = answer(notebook, WRONG.get(name, {}))
    add_code(
        notebook,
        "from pathlib import Path\n"
        "from hastega_magic import last_report\n"
        f"_ = Path({str(page)!r}).write_text(last_report().to_page(), encoding='utf-8')",
    )
    execute(notebook, cwd=FOLDER)
    return name, shipped, page, judged


def test_the_course_is_there():
    assert set(NOTEBOOKS) == {"logistic", *COURSE}


@pytest.mark.parametrize("name", COURSE)
def test_sections_and_exercises(name):
    notebook = load(FOLDER / f"{name}.md")
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings[-2:] == ["Exercises", "Solutions"]
    assert len(headings) >= 5
    exercises, checks, solutions = (tagged(notebook, tag) for tag in ("exercise", "check", "solution"))
    assert 2 <= len(exercises) <= 4
    assert list(exercises) == list(checks) == list(solutions)
    for exercise in exercises.values():
        assert "= ..." in exercise.source
    for name_, solution in solutions.items():
        assert solution.source.startswith("<details>"), f"{name_} would be seen before it is looked for"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_no_outputs_are_committed_and_saving_changes_nothing(name):
    import jupytext

    path = FOLDER / f"{name}.md"
    source = path.read_text(encoding="utf-8")
    notebook = load(path)
    assert all(not cell.get("outputs") for cell in notebook.cells)
    written = jupytext.writes(notebook, fmt="md:myst")
    assert re.sub(r"    jupytext_version: .*\n", "", written) == source


def test_cells_show_what_they_should(executed):
    _, notebook, page, _ = executed
    cells = [cell for cell in notebook.cells if re.match(r"%%hastega\s", cell.source + "\n")]
    assert cells
    for cell in cells:
        options = cell.source.partition("\n")[0].split()
        shown = reports(new_notebook(cells=[cell]))
        errors = [output for output in cell.outputs if output.output_type == "error"]
        assert bool(errors) == ("raises-exception" in tags(cell)), cell.source
        if "--show" in options:
            assert printed(cell).startswith("── ")
        if "--quiet" in options or "--show" in options or errors:
            assert len(shown) <= bool(errors)
            continue
        (bundle,) = shown
        report = bundle[REPORT_MIME]
        assert report["schema"] == 1
        assert report["cell"]["source"].strip() in cell.source
        assert bool(report["pipelines"]) == ("|>" in cell.source)
        json.dumps(report, allow_nan=False)
        assert bundle["text/plain"].strip()
        # What GitHub, nbconvert and an untrusted notebook leave of an output: no script, no style element.
        assert not re.search(r"<\s*(script|style|html|body)\b", bundle["text/html"], re.IGNORECASE)
    assert page.read_text(encoding="utf-8").lower().startswith("<!doctype html>")


FAILING = {
    "control": ["ZeroDivisionError: integer division"],
    "exact": ["OverflowError: an integer that no int64 holds", "ZeroDivisionError: integer division"],
    "fusion": ["StrictError: `map(talkative)` is not compiled"],
    "pictures": ["IndexError: index 64 is out of bounds"],
    "prototype": [
        "KernelError: LLVM says: expected instruction opcode",
        "KernelError: a kernel may not have a call of `@exit`",
        "KernelError: the process that tried the edited kernel crashed",
    ],
}
"""What the cells that fail by intention are to show, in order."""


def test_cells_fail_for_the_reason_that_the_text_gives(executed):
    name, notebook, _, _ = executed
    errors = [each for cell in notebook.cells for each in cell.get("outputs", ()) if each.output_type == "error"]
    expected = FAILING.get(name, [])
    for error, said in zip(errors, expected, strict=True):
        assert f"{error.ename}: {error.evalue}".startswith(said)


def test_exercises_are_shipped_unsolved(executed):
    name, notebook, _, _ = executed
    checks = tagged(notebook, "check")
    assert bool(checks) == (name in COURSE)
    for exercise, cell in checks.items():
        assert printed(cell) == f"{exercise}: not solved yet\n"


def test_checks_tell_right_from_wrong(executed):
    name, _, _, judged = executed
    assert bool(judged) == (name in COURSE)
    for exercise, text, sentence, check in judged:
        said = printed(check)
        if sentence is None:
            assert said == f"{exercise}: right\n", text
        else:
            assert said.startswith(f"{exercise}: wrong. "), (text, said)
            assert sentence in said, (text, said)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("target", ["avx2", "sse2"])
def test_what_is_said_of_lanes_holds_on_smaller_machines(target):
    _on(f"battery.on_target({target!r})", "simd", "control", "prototype")


def test_what_is_said_of_transfers_holds_where_the_device_has_its_own_memory():
    if no_opencl():
        pytest.skip(no_opencl())
    _on("battery.as_gpu()", "gpu")


def _on(machine, *names):
    """Execute notebooks, one after the other, in a kernel that takes its machine for another one."""
    notebook = new_notebook(cells=[cell for name in names for cell in load(FOLDER / f"{name}.md").cells])
    battery = Path(__file__).parents[1] / "compiler"
    prelude = f"""\
import sys
sys.path.insert(0, {str(battery)!r})
import battery
machine = {machine}
machine.__enter__()"""
    notebook.cells.insert(0, new_code_cell(prelude))
    execute(notebook, cwd=FOLDER)
    assert reports(notebook)


def test_a_failing_cell_fails_the_run(tmp_path):
    notebook = new_notebook(cells=[new_code_cell("assert 1 + 1 == 3")])
    with pytest.raises(CellExecutionError, match="AssertionError"):
        execute(notebook, cwd=tmp_path)


def test_the_kernel_is_this_interpreter_without_the_users_profile(tmp_path, monkeypatch):
    profile = tmp_path / "ipython" / "profile_default" / "startup"
    profile.mkdir(parents=True)
    (profile / "00.py").write_text("started_by_profile = True\n")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    source = "import sys\nprint(sys.prefix, 'started_by_profile' in globals())"
    notebook = execute(new_notebook(cells=[new_code_cell(source)]), cwd=tmp_path)
    assert notebook.cells[0].outputs[0]["text"] == f"{sys.prefix} False\n"
