"""What needs a living kernel: the panel, the button that asks for it, and what is said when the kernel is gone."""

import importlib.util

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ipywidgets") is None, reason="the panel is made of ipywidgets"
)

LOAD = ("%load_ext hastega_magic", None)
PIPELINE = "total = range(1, 100_001) |> map(lambda x: x * 5) |> sum"
# The panel's next measurement gets as far as 30 %, and ends the process then.
DIES = """import os, time
from hastega_magic.jupyter import panel
from hastega_magic.progress import task

def measure(*_, **__):
    with task("measure: parallel", 10) as work:
        for done in range(4):
            time.sleep(0.3)
            work.at(done)
        os._exit(1)

panel.measure = measure"""


def test_a_panel_whose_kernel_dies_while_it_measures_says_so(write, open_notebook):
    cell = f"%%hastega --no-baseline --widgets\n{PIPELINE}"
    page = open_notebook(write("death.ipynb", LOAD, (cell, None), (DIES, None)), run=True)
    page.locator(".hastega-widgets button", has_text="Measure").click()
    page.wait_for_selector(".hastega-widgets >> text=Where this bar stands still for long")
    assert page.locator(".hastega-gone").count() == 0
    page.wait_for_selector(".hastega-gone")
    said = page.inner_text(".hastega-gone [role=status]")
    assert said.startswith("The kernel is gone")
    assert "Run the cell again" in said
    assert not page.locator(".hastega-gone .widget-hprogress").is_visible()
    # Nothing of it can be pressed, and the report is still there.
    inert = "button => button.closest('[inert]') !== null"
    assert page.locator(".hastega-gone button").evaluate_all(f"all => all.every({inert})")
    assert "1 fused loop" in page.inner_text(".hastega-verdict")


def test_the_button_under_a_report_runs_its_cell_with_a_panel(write, open_notebook):
    cell = f"%%hastega --no-baseline\n{PIPELINE}"
    page = open_notebook(write("button.ipynb", LOAD, (cell, None), ("1", None)), run=True)
    page.wait_for_selector(".hastega-measure")
    page.click(".hastega-measure")
    page.wait_for_selector(".hastega-widgets button")
    assert page.locator(".hastega-measure").count() == 0
    source = "() => window.jupyterapp.shell.currentWidget.content.model.cells.get(1).sharedModel.getSource()"
    assert page.evaluate(source) == f"%%hastega --widgets --no-baseline\n{PIPELINE}"


def test_without_a_kernel_there_is_no_button(write, open_notebook, sample):
    report = {**sample, "cell": {"source": f"%%hastega\n{PIPELINE}", "measurable": True}}
    page = open_notebook(write("saved.ipynb", (f"%%hastega\n{PIPELINE}", report), kernel="gone"))
    page.wait_for_selector(".hastega-report .hastega-tab")
    assert page.locator(".hastega-measure").count() == 1
    assert not page.locator(".hastega-measure").is_visible()
