"""The notebooks run in a real kernel, and what they show survives without one."""

import json
import re
import sys
from pathlib import Path

import pytest
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

from notebook_runner import REPORT_MIME, add_code, execute, load, reports

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.md"))


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] != []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_and_shows_reports(path, tmp_path):
    notebook = load(path)
    page = tmp_path / "report.html"
    add_code(
        notebook,
        "from pathlib import Path\n"
        "from hastega_magic import last_report\n"
        f"Path({str(page)!r}).write_text(last_report().to_page(), encoding='utf-8')",
    )
    execute(notebook, cwd=path.parent)

    cells = [cell for cell in notebook.cells if cell.source.startswith("%%hastega")]
    shown = reports(notebook)
    assert cells
    assert len(shown) == len(cells)
    for cell, bundle in zip(cells, shown, strict=True):
        report = bundle[REPORT_MIME]
        assert report["schema"] == 1
        assert report["cell"]["source"].strip() in cell.source
        assert report["pipelines"]
        json.dumps(report, allow_nan=False)
        assert bundle["text/plain"].strip()
        # What GitHub, nbconvert and an untrusted notebook leave of an output: no script, no style element.
        assert not re.search(r"<\s*(script|style|html|body)\b", bundle["text/html"], re.IGNORECASE)
    assert page.read_text(encoding="utf-8").lower().startswith("<!doctype html>")


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
