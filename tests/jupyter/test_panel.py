"""The panel, driven as a front end drives it: values set, buttons clicked, what is shown read."""

import base64
import re
import time
from dataclasses import replace

import pytest

from hastega_magic.jupyter import runs
from hastega_magic.jupyter.panel import Panel
from hastega_magic.jupyter.runs import Line
from hastega_magic.progress import listening, task

CELL = "total = range(1, 100_001) |> map(lambda x: x * 3 + 1) |> sum"
WIDGET = "application/vnd.jupyter.widget-view+json"


def magics_of(notebook):
    return notebook.shell.magics_manager.registry["HastegaMagics"]


def panel_of(notebook, cell=CELL, options=""):
    assert notebook(cell, options).error is None
    magics = magics_of(notebook)
    return Panel(magics.kept(), magics.report())


def measured(panel, seconds=60):
    before = len(panel.lines)
    panel.start.click()
    assert panel.wait(seconds)
    assert len(panel.lines) == before + 1
    return panel.lines[-1]


def svg_of(panel):
    return base64.b64decode(re.search(r"base64,([^\"]+)", panel.chart.value)[1]).decode()


def test_the_first_lines_are_the_report_s(notebook):
    panel = panel_of(notebook)
    baseline, own = panel.lines
    assert (baseline.what, baseline.baseline, baseline.n) == ("pure Python", True, 100_000)
    assert own.what == "the cell: parallel"
    assert "pure Python" in svg_of(panel)
    assert "the cell: parallel" in panel.table.value


def test_measure_adds_a_line_to_chart_and_table(notebook):
    panel = panel_of(notebook)
    rows, bars = panel.table.value.count("<tr"), svg_of(panel).count("<rect")
    panel.on.value = "simd"
    line = measured(panel)
    assert line.what == "simd, 1 thread"
    assert (line.equal, line.n) == (True, 100_000)
    assert panel.table.value.count("<tr") == rows + 1
    assert svg_of(panel).count("<rect") > bars
    assert "simd, 1 thread" in panel.table.value
    assert panel.said.value == ""
    assert (panel.start.disabled, panel.stop.disabled) == (False, True)
    assert panel.bar.layout.visibility == "hidden"


def test_while_it_measures_it_says_what_a_dead_kernel_could_not(notebook):
    panel = panel_of(notebook)
    assert panel.widget._dom_classes == ("hastega-widgets",)
    assert panel.warned.value == ""
    with listening(panel), task("measure", 10) as work:
        panel.show(work)
        assert "run the cell again" in panel.warned.value
    panel.close()
    assert panel.warned.value == ""


def test_every_choice_reaches_the_run(notebook):
    panel = panel_of(notebook)
    panel.on.value, panel.width.value, panel.fuse.value = "simd", 2, False
    panel.int_mode.value, panel.n.value = "wrap", 500
    line = measured(panel)
    assert line.what == "simd, 1 thread, 2 lanes, not fused, wrap"
    assert line.n == 500


@pytest.mark.parametrize("on", ["parallel", "numpy", "python", "opencl"])
def test_back_ends(notebook, on):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    panel = panel_of(notebook)
    assert on in panel.on.options
    panel.on.value = on
    line = measured(panel)
    assert line.equal
    assert line.seconds > 0
    assert panel.width.disabled == panel.fuse.disabled == (on in ("numpy", "python"))


def test_sizes_cannot_be_larger_than_the_sources(notebook):
    panel = panel_of(notebook)
    panel.n.value = 10**12
    assert panel.n.value == 100_000
    panel.n.value = -3
    assert panel.n.value == 1


def test_the_cell_s_options_are_the_first_choice(notebook):
    panel = panel_of(notebook, options="--on simd --width 4 --threads 1 --int wrap --no-baseline")
    chosen = (panel.on.value, panel.width.value, panel.threads.value, panel.fuse.value, panel.int_mode.value)
    assert chosen == ("simd", 4, 1, True, "wrap")
    assert [line.what for line in panel.lines] == ["the cell: simd"]


def test_cancel_ends_the_run_soon_and_the_panel_goes_on(notebook):
    assert notebook("total = range(1, 200_001) |> map(lambda x: x * x % 7) |> sum").error is None
    panel = Panel(_with_long_source(magics_of(notebook)), None)
    panel.start.click()
    ends = time.perf_counter() + 20
    while panel.bar.layout.visibility == "hidden" and time.perf_counter() < ends:
        time.sleep(0.02)
    assert panel.running
    assert (panel.start.disabled, panel.stop.disabled) == (True, False)
    assert panel.said.value.startswith("measure")
    assert 0 <= panel.bar.value < 1
    panel.stop.click()
    assert panel.wait(5)  # the whole would take minutes
    assert panel.said.value == "Cancelled."
    assert panel.lines == []
    assert panel.bar.layout.visibility == "hidden"
    assert (panel.start.disabled, panel.stop.disabled) == (False, True)
    panel.n.value = 1000
    assert measured(panel).n == 1000


def _with_long_source(magics):
    """What the last cell left, as if its range had been much longer."""
    (kept,) = magics.kept()
    workspace = replace(kept.workspace, columns=dict(kept.workspace.columns))
    for key, column in kept.workspace.columns.items():
        source = replace(column.source, length=2 * 10**10)
        workspace.columns[key] = replace(column, source=source, data=range(1, 2 * 10**10 + 1))
    return [replace(kept, workspace=workspace, length=2 * 10**10)]


def test_cancel_without_a_run_does_nothing(notebook):
    panel = panel_of(notebook)
    panel.stop.click()
    panel.cancel()
    measured(panel)
    panel.cancel()
    assert measured(panel).equal


def test_what_cannot_run_is_a_line_with_the_reason(notebook):
    notebook.ns["xs"] = [2**62, 2**62]
    panel = panel_of(notebook, "y = xs |> map(lambda x: x * 4)", "--no-baseline --int wrap")
    panel.int_mode.value = "checked"
    line = measured(panel)
    assert line.seconds == 0
    assert line.note.startswith("OverflowError: ")
    assert "did not run: OverflowError" in panel.table.value
    assert panel.said.value == "It did not run."
    panel.int_mode.value = "wrap"
    assert measured(panel).equal


def test_a_released_panel_measures_no_more_and_keeps_what_it_has(notebook):
    panel = panel_of(notebook)
    measured(panel)
    table = panel.table.value
    panel.release()
    assert panel.start.disabled
    assert panel._kept == ()
    assert "run this cell again" in panel.said.value
    panel.start.click()
    assert panel.wait(1)
    assert panel.table.value == table


def test_a_panel_that_is_released_while_it_measures_says_why_it_stops(notebook):
    assert notebook("total = range(1, 200_001) |> map(lambda x: x * x % 7) |> sum").error is None
    panel = Panel(_with_long_source(magics_of(notebook)), None)
    panel.start.click()
    assert panel.running
    panel.release()
    assert panel.wait(5)
    assert "run this cell again" in panel.said.value
    assert panel.start.disabled
    assert panel.stop.disabled


def test_a_cell_without_compiled_pipelines(notebook):
    panel = panel_of(notebook, "y = [1, 'a'] |> map(str)", "--no-baseline")
    assert panel.start.disabled
    assert "nothing to measure" in panel.said.value


@pytest.mark.parametrize(
    ("cell", "measurable"),
    [
        (CELL, True),
        (CELL + "\ny = [1, 'a'] |> map(str)", True),
        ("y = range(9) |> tap(str) |> map(lambda x: str(x)) |> count", None),
        ("y = range(9) |> map(lambda x: x + 1) |> map(str) |> to_list", None),
        ("for i in range(3):\n    y = range(9) |> map(lambda x: x + i) |> sum", None),
        ("print(range(9) |> map(lambda x: x + 1) |> sum)", None),
        (CELL + "\n1 / 0", None),
        ("y = range(9) |> map(lambda x: 1 // (x - 2)) |> sum", None),
    ],
)
def test_the_report_says_whether_there_is_something_to_measure(notebook, cell, measurable):
    seen = notebook(cell)
    [report] = seen.reports
    assert report["cell"].get("measurable") is measurable
    kept = magics_of(notebook).kept()
    assert bool(kept) is bool(measurable) or seen.error is not None


class InKernel:
    """What tells a notebook's shell from a terminal's."""


@pytest.fixture
def in_kernel(notebook, monkeypatch):
    monkeypatch.setattr(type(notebook.shell), "kernel", InKernel(), raising=False)
    return notebook


def test_the_report_comes_first_and_the_panel_is_an_output_of_its_own(in_kernel):
    seen = in_kernel(CELL, "--widgets --no-baseline")
    report, panel = seen.bundles
    assert "text/html" in report
    assert WIDGET not in report
    assert panel[WIDGET]["model_id"] == magics_of(in_kernel).panel.widget.model_id
    assert "hastega_magic.measure()" in panel["text/plain"]
    assert set(panel) == {WIDGET, "text/plain"}


def test_the_next_panel_takes_over_and_the_next_cell_waits_for_none(in_kernel):
    in_kernel(CELL, "--widgets --quiet")
    first = magics_of(in_kernel).panel
    in_kernel(CELL, "--widgets --quiet")
    second = magics_of(in_kernel).panel
    assert first is not second
    assert first.start.disabled
    assert first._kept == ()
    second._kept = _with_long_source(magics_of(in_kernel))
    second.n.max = second.n.value = 2 * 10**10
    second.start.click()
    assert second.running
    in_kernel("y = range(10) |> sum", "--quiet")
    assert not second.running
    assert second.said.value == "Cancelled."


def test_no_panel_where_the_cell_fails(in_kernel):
    seen = in_kernel(CELL + "\n1 / 0", "--widgets --no-baseline")
    assert isinstance(seen.error, ZeroDivisionError)
    assert [WIDGET in bundle for bundle in seen.bundles] == [False]


def test_in_a_terminal_there_is_a_sentence_instead(notebook):
    seen = notebook(CELL, "--widgets --no-baseline")
    assert "hastega_magic.measure() does the same" in seen.out
    assert len(seen.bundles) == 1
    assert magics_of(notebook).panel is None


def test_measure_in_python_does_what_the_panel_does(notebook):
    notebook(CELL)
    seen = notebook.run("import hastega_magic\nrun = hastega_magic.measure(on='simd', n=1000)")
    assert seen.error is None
    assert (notebook.ns["run"].on, notebook.ns["run"].n, notebook.ns["run"].equal) == ("simd", 1000, True)


def test_measure_of_a_report_and_of_a_text(notebook):
    import hastega_magic

    notebook.ns["xs"] = list(range(100))
    notebook("y = xs |> map(lambda x: x + 1)\nxs = 'gone'")
    last = hastega_magic.last_report()
    assert hastega_magic.measure(last).n == 100
    notebook("z = range(7) |> sum")
    notebook.ns["xs"] = list(range(50))
    assert hastega_magic.measure(last).n == 50
    assert notebook.ns["xs"] == list(range(50))
    run = hastega_magic.measure("w = v |> sum", namespace={"v": range(20)}, on="simd")
    assert (run.n, run.on) == (20, "simd")
    assert "w" not in notebook.ns


def test_measure_before_any_cell_is_one_line(notebook):
    seen = notebook.run("import hastega_magic\nhastega_magic.measure()")
    assert seen.out.strip() == "UsageError: no %%hastega cell has run in this kernel"
    seen = notebook.run("hastega_magic.measure(3)")
    assert seen.out.strip() == "UsageError: measure() takes the text of a cell or a report, not 3"


def test_what_gave_nothing_to_measure_is_called_what_it_is(notebook):
    no_loop = "ran no pipeline that became one loop"
    notebook("x = 3")
    notebook.run("from hastega_magic import last_report, measure\nreport = last_report()")
    assert f"UsageError: the last %%hastega cell {no_loop}" in notebook.run("measure(report)").out
    notebook("y = 3")
    assert f"UsageError: the cell of the report {no_loop}" in notebook.run("measure(report)").out
    for text in ("x = 3", "for i in range(3): y = 1"):
        assert f"UsageError: the text {no_loop}" in notebook.run(f"measure({text!r})").out


def test_of_a_cell_that_raised_that_is_said(notebook):
    cell = "%%hastega\nrange(10) |> map(lambda x: 1 // x) |> sum"
    assert "1 fused loop" in notebook.run(cell, front_end=False).out
    why = "the last %%hastega cell raised ZeroDivisionError, before a pipeline that became one loop gave its result"
    assert notebook.run("import hastega_magic\nhastega_magic.measure()").out.strip() == f"UsageError: {why}"
    assert notebook.run("%hastega edit llvm").text.strip() == f"UsageError: %hastega edit: {why}"
    notebook("take(")
    assert "cell raised SyntaxError, before" in notebook.run("hastega_magic.measure()").out


# The picture and the table alone


def test_the_picture_says_in_words_what_it_shows():
    lines = [Line("pure Python", 1000, 1e-3, baseline=True), Line("simd <b>", 1000, 1e-6)]
    picture = runs.picture(lines)
    assert 'alt="Runs so far. pure Python: 1.00 µs for one element; simd &lt;b&gt;: 1.00 ns' in picture
    table = runs.table(lines)
    assert "simd &lt;b&gt;" in table
    assert ">1\u202f000</td>" in table


def test_without_runs_there_is_no_picture():
    assert runs.picture([]) == ""
    assert runs.picture([Line("simd", 5, 0.0, note="no")]) == ""


def test_the_picture_shows_the_last_runs_and_the_baseline():
    lines = [Line("pure Python", 1, 1.0, baseline=True), *(Line(f"run {n}", 1, 1.0) for n in range(30))]
    picture = runs.picture(lines)
    assert "pure Python" in picture
    assert "run 29" in picture
    assert "run 3:" not in picture
    assert runs.table(lines).count("<tr") == 32


def test_transfers_are_bytes_and_seconds():
    line = Line("opencl", 10, 1.0, phases=(("to_device", 0.5, 2_000_000), ("kernel", 0.5, 10)))
    assert "to device 2.00 MB in 500 ms" in runs.table([line])


def test_another_result_is_said():
    assert "✗ another result" in runs.table([Line("opencl", 10, 1.0, equal=False)])
