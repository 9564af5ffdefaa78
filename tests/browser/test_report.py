"""The report in a real front end: run, read, saved, and opened again with neither kernel nor trust."""

import json
import os
import subprocess
from typing import Any

import front as fronts

from hastega_magic.report import Report
from hastega_magic.report.verdict import reasons
from hastega_magic.report.verdict import verdict as words

MIME = "application/vnd.hastega.report+json"
CELL = """%%hastega --threads 2
p, mu = 6_700_417, 22
ys = (range(1, 0x8001)
      |> map(lambda x: mu * x * (x + 1) % p)
      |> map(lambda x: mu * x * (x + 1) % p))
total = ys |> filter(lambda y: y % 2 == 0) |> sum"""
FIRST = (".hastega-verdict", ".hastega-times", ".hastega-baselines", ".hastega-tabs")
EVIL = "<img src=x onerror='window.harmed=1'><script>window.harmed=1</script>\"'&😀 שלום \u202eevil"
# The contrast of WCAG between an element's text and the first opaque background behind it.
CONTRAST = """element => {
  const channels = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = colour => channels(colour).slice(0, 3).map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  let behind = element, fill;
  do { fill = getComputedStyle(behind).backgroundColor; behind = behind.parentElement; }
  while (behind && channels(fill).length === 4 && channels(fill)[3] === 0);
  const [a, b] = [light(getComputedStyle(element).color), light(fill)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}"""


def lit(page: Any, pane: str) -> list[int]:
    rows = page.locator(f".hastega-pane-{pane} .hastega-line.hastega-lit")
    return [int(row) for row in rows.evaluate_all("rows => rows.map(row => row.dataset.line)")]


def poisoned(value: Any) -> Any:
    if isinstance(value, str):
        return EVIL
    if isinstance(value, list):
        return [poisoned(each) for each in value]
    return {key: poisoned(each) for key, each in value.items()} if isinstance(value, dict) else value


def test_jupyterlab_finds_nothing_wrong_with_the_extension(front):
    """Of one that asks for another version it says, in red, that it may be outdated."""
    tool = fronts.bin_folder() / "jupyter-labextension"
    environment = {**os.environ, "JUPYTER_PATH": str(front.folder.parent / "jupyter")}
    done = subprocess.run(
        [tool, "list"], check=False, env=environment, capture_output=True, text=True, timeout=120
    )
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "hastega-magic v" in line]
    assert lines
    assert all("enabled" in line and "OK" in line for line in lines), lines


def test_a_cell_is_run_read_saved_and_read_again_with_neither_kernel_nor_trust(write, open_notebook, front):
    name = write("run.ipynb", ("%load_ext hastega_magic", None), (CELL, None))
    page = open_notebook(name, run=True)
    page.wait_for_selector(".hastega-report .hastega-tab")
    verdict = page.inner_text(".hastega-verdict")
    assert verdict.startswith("ys, total")
    assert "1 fused loop" in verdict
    assert "1 thread " in verdict  # of 8 blocks
    tabs = page.locator(".hastega-report [role=tab]").all_inner_texts()
    assert tabs[:3] == ["Code", "Pipeline", "Passes"]
    # What a reader sees first: the verdict, the time and what others take, all within the first screen.
    assert "pure Python" in page.inner_text(".hastega-baselines")
    places = [page.locator(what).bounding_box()["y"] for what in FIRST]
    assert places == sorted(places)
    page.locator(".hastega-verdict").evaluate("element => element.scrollIntoView()")
    # The verdict wraps where its times say more ("2.6 × slower than NumPy"), which is not for a test to decide.
    heights = [
        page.locator(what).bounding_box()["height"] for what in (".hastega-report", ".hastega-verdict")
    ]
    assert heights[0] - heights[1] < 980

    # The report that this kernel sent has links, and they light.
    row = page.locator(".hastega-pane-fused .hastega-line", has_text="= mod ").first
    row.hover()
    assert lit(page, "fused")
    assert lit(page, "llvm")
    assert lit(page, "asm")
    assert "% p" in page.inner_text(".hastega-card")

    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    saved = json.loads((front.folder / name).read_text(encoding="utf-8"))
    data = [output["data"] for output in saved["cells"][1]["outputs"] if MIME in output.get("data", {})]
    assert {MIME, "text/html", "text/plain"} <= set(data[0])

    # Another text is another signature: nobody has trusted this file, and its kernel is nowhere.
    saved["cells"][0]["source"] = "# changed elsewhere"
    saved["metadata"]["kernelspec"] = {"name": "gone", "display_name": "Gone"}
    (front.folder / "again.ipynb").write_text(json.dumps(saved), encoding="utf-8")
    page = open_notebook("again.ipynb")
    page.wait_for_selector(".hastega-report .hastega-tab")
    panel = "window.jupyterapp.shell.currentWidget"
    assert page.evaluate(f"() => {panel}.content.model.cells.get(1).trusted") is False
    assert page.evaluate(f"() => {panel}.sessionContext.session?.kernel ?? null") is None
    assert page.inner_text(".hastega-verdict") == verdict
    # The question for another kernel, which may come any time now.
    page.evaluate(
        "() => setInterval(() => document.querySelectorAll('.jp-Dialog').forEach(each => each.remove()), 50)"
    )
    page.locator(".hastega-pane-fused .hastega-line", has_text="= mod ").first.hover()
    assert lit(page, "asm")


def test_panes_stepper_slider_and_lanes_of_a_saved_report(write, open_notebook, sample):
    page = open_notebook(write("saved.ipynb", (CELL, sample)))
    page.wait_for_selector(".hastega-report .hastega-tab")
    assert "the static form" not in page.inner_text(".jp-Cell-outputArea, .jp-OutputArea")

    page.hover('.hastega-pane-fused [data-line="7"]')
    assert lit(page, "fused") == [7]
    assert len(lit(page, "asm")) > 3
    assert "remainder" in page.inner_text(".hastega-card")

    def tab(label: str) -> Any:
        page.click(f'.hastega-tab:text-is("{label}")')
        return page.locator(".hastega-report [role=tabpanel]:not([hidden])")

    panel = tab("Passes")
    for _ in range(3):
        panel.locator('[aria-label="The next pass"]').click()
    assert panel.locator("[role=status]").inner_text().startswith("4/")
    assert panel.locator(".hastega-added").count() == panel.locator(".hastega-removed").count() == 1

    panel = tab("Size")
    slider = panel.locator("input[type=range]")
    slider.focus()
    page.keyboard.press("Home")
    assert panel.locator("tr.hastega-best").inner_text().strip().startswith("pure Python")
    page.keyboard.press("End")
    assert panel.locator("tr.hastega-best").inner_text().strip().startswith("OpenCL")
    assert "faster than NumPy from" in panel.inner_text()

    panel = tab("Lanes")
    panel.locator('[aria-label="The next step"]').click()
    assert panel.locator("tr.hastega-now").count() == 1


def test_all_of_it_is_reached_by_keys_that_the_notebook_does_not_take(write, open_notebook, sample):
    page = open_notebook(write("keys.ipynb", (CELL, sample), ("1", None)))
    page.wait_for_selector(".hastega-report .hastega-tab")
    active = "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    before = page.evaluate(active)
    # In command mode the notebook means the arrow keys for itself, wherever the focus is.
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.ready")
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:enter-command-mode')")
    page.focus(".hastega-tab[aria-selected=true]")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".hastega-tab[aria-selected=true]") == "Pipeline"
    page.keyboard.press("ArrowLeft")
    page.focus(".hastega-pane-fused [role=listbox]")
    for _ in range(6):
        page.keyboard.press("ArrowDown")
    assert lit(page, "fused") == [7]
    page.keyboard.press("Enter")
    page.hover('.hastega-pane-fused [data-line="4"]')
    assert lit(page, "fused") == [7]
    page.keyboard.press("Escape")
    assert lit(page, "fused") == []
    assert page.evaluate(active) == before


def test_light_and_dark_are_readable(write, open_notebook, sample):
    page = open_notebook(write("dark.ipynb", (CELL, sample)))
    page.wait_for_selector(".hastega-report .hastega-tab")
    found = {}
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme
        )
        dark = str(theme != "JupyterLab Dark").lower()
        page.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{dark}'")
        page.wait_for_timeout(300)
        page.hover('.hastega-pane-fused [data-line="7"]')
        for what in (
            ".hastega-verdict",
            ".hastega-card",
            ".hastega-line.hastega-lit .hastega-code",
            ".hastega-pane-asm .hastega-vector .hastega-op >> nth=-1",
            ".hastega-fold",
            ".hastega-tab >> nth=0",
        ):
            found[theme, what] = page.locator(what).first.evaluate(CONTRAST)
    assert {where: ratio for where, ratio in found.items() if ratio < 4.5} == {}


def test_hostile_text_runs_nothing(write, open_notebook, sample):
    page = open_notebook(write("evil.ipynb", (CELL, {**poisoned(sample), "schema": 1})))
    page.wait_for_selector(".hastega-report .hastega-tab")
    for number in range(page.locator(".hastega-tab").count()):
        page.locator(".hastega-tab").nth(number).click()
    assert page.evaluate("() => window.harmed ?? 0") == 0
    assert page.locator(".hastega-report img, .hastega-report script").count() == 0
    assert "<img src=x" in page.inner_text(".hastega-report")


def test_fifty_reports_are_built_when_they_are_looked_at(write, open_notebook, sample):
    page = open_notebook(write("fifty.ipynb", *[(f"# {number}", sample) for number in range(50)]))
    page.wait_for_selector(".hastega-report .hastega-tab")
    assert page.locator(".hastega-tabs").count() < 15
    page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.scrollToCell("
        "window.jupyterapp.shell.currentWidget.content.widgets[49])"
    )
    last = page.locator(".jp-Cell").last
    last.locator(".hastega-tabs").wait_for()
    assert "1 fused loop" in last.inner_text()


def test_a_report_of_a_newer_schema_shows_what_is_known_and_says_so(write, open_notebook, sample):
    page = open_notebook(write("newer.ipynb", (CELL, {**sample, "schema": 7, "wonders": {"of": ["2031"]}})))
    page.wait_for_selector(".hastega-report .hastega-tab")
    assert "newer version (schema 7)" in page.inner_text(".hastega-note")
    assert page.inner_text(".hastega-verdict").startswith("ys, total")


def test_what_was_cut_is_marked(write, open_notebook):
    """The report that a kernel sends of many stages is cut; where, and how to get the rest, is said."""
    stages = " |> ".join(f"map(lambda x: x * {k % 7 + 2} % 1_000_003)" for k in range(150))
    cell = f"%%hastega --no-baseline --int wrap\ntotal = range(1, 1001) |> {stages} |> sum"
    page = open_notebook(write("long.ipynb", ("%load_ext hastega_magic", None), (cell, None)), run=True)
    page.wait_for_selector(".hastega-report .hastega-tab")
    assert "%hastega report --save FILE.html" in page.inner_text(".hastega-body")
    assert page.locator(".hastega-panehead .hastega-cut").count() > 0
    page.click('.hastega-tab:text-is("Passes")')
    assert "left out" in page.inner_text(".hastega-diff") or "more lines" in page.inner_text(".hastega-diff")


def baseline(backend: str, seconds: float, **facts: Any) -> dict[str, Any]:
    return {"backend": backend, "seconds": seconds, "elements": 9, "equal": True, **facts}


def test_the_words_are_those_of_the_text_and_the_html(write, open_notebook, sample):
    (base,) = sample["pipelines"]
    run = {"phases": [{"name": "compile", "seconds": 1.0}, {"name": "kernel", "seconds": 0.01, "bytes": 8}]}
    others = [
        baseline("simd", 0.02), baseline("parallel, run again", 0.004), baseline("opencl:gpu", 0.001),
        baseline("numpy", 0.4, extrapolated=True), baseline("empty", 0.002),
        baseline("python", 3.0, equal=False), baseline("opencl", 0.0, equal=False, elements=0),
    ]  # fmt: skip
    device = "cpu-" + "a long name of a device " * 4
    guarded = {"mode": "exact", "proved": False, "guarded": True, "fell_back": False}
    variants = [
        {**run, "baselines": others, "int": guarded},
        {**run, "baselines": others[:1], "overlapped": 0.002, "backend": "opencl:1", "device": device},
        {"loops": 0, "backend": "python", "threads": 0, "phases": [], "name": "", "int": {"fell_back": True}},
        {
            "loops": 2,
            "cached": True,
            "vector": {"lanes": 1},
            "barriers": [{"stage": "tap(f)", "reason": "seen"}],
        },
        {
            "vector": {"lanes": 8, "bits": 256, "scalar_ops": ["a  b\tc", "\u200bd"]},
            "int": {**guarded, "mode": "wrap"},
        },
    ]
    report = {**sample, "pipelines": [{**base, **each} for each in variants]}
    page = open_notebook(write("words.ipynb", (CELL, report)))
    page.wait_for_selector(".hastega-report .hastega-tab")
    expected = Report.from_dict(report).pipelines
    told = page.locator(".hastega-verdict").evaluate_all(
        "all => all.map(each => Array.from(each.querySelectorAll(':scope > span'), part => part.textContent))"
    )
    assert told == [[part.text for part in words(pipeline)] for pipeline in expected]
    for more in page.locator(".hastega-verdict button").all():
        more.click()
    for place, pipeline in enumerate(expected):
        panel = page.locator(".hastega-pipeline").nth(place)
        panel.locator('.hastega-tab:text-is("Why")').click()
        assert panel.locator(".hastega-plain li").all_text_contents() == list(reasons(pipeline)), place


def test_no_line_of_the_code_is_cut_on_a_small_screen(write, open_notebook, sample):
    page = open_notebook(write("small.ipynb", (CELL, sample)))
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_selector(".hastega-report .hastega-tab")
    cut = "all => all.filter(each => each.scrollWidth > each.clientWidth + 1).length"
    listings = page.locator(".hastega-panes .hastega-listing:visible")
    for _ in range(2):  # beside the file browser, and without it
        assert listings.count() == 5
        assert listings.evaluate_all(cut) == 0
        boxes = {
            key: page.locator(f".hastega-pane-{key}").bounding_box()
            for key in ("source", "fused", "llvm", "asm")
        }
        assert boxes["source"]["y"] == boxes["fused"]["y"] < boxes["llvm"]["y"] == boxes["asm"]["y"]
        assert boxes["llvm"]["width"] > boxes["asm"]["width"]
        page.evaluate("() => window.jupyterapp.shell.collapseLeft?.()")
        page.wait_for_timeout(200)
    page.click('.hastega-button:text-is("wrap")')
    assert listings.evaluate_all(cut) > 0


def test_a_narrow_notebook_needs_no_sideways_scrolling(write, open_notebook, sample):
    (pipeline,) = sample["pipelines"]
    code = "map(lambda value: table[value] + offsets.get(value, default) * factors[value])"
    reasons_given = ["It calls a method.", "unbroken_" * 12]
    barriers = [{"stage": code, "reason": why, "span": [3, 1, 3, 60]} for why in reasons_given]
    name = ", ".join(f"result_{number}" for number in range(9))
    report = {**sample, "pipelines": [{**pipeline, "name": name, "barriers": barriers}]}
    page = open_notebook(write("narrow.ipynb", (CELL, report)))
    page.set_viewport_size({"width": 620, "height": 1000})
    page.evaluate("() => window.jupyterapp.shell.collapseLeft?.()")
    page.wait_for_selector(".hastega-report .hastega-tab")
    for number in range(page.locator(".hastega-tab").count()):
        page.locator(".hastega-tab").nth(number).click()
        wide, room = page.locator(".hastega-report").evaluate("box => [box.scrollWidth, box.clientWidth]")
        assert wide <= room + 1, page.locator(".hastega-tab").nth(number).inner_text()


def test_cells_are_coloured_over_pythons_highlighting(write, open_notebook):
    page = open_notebook(write("colours.ipynb", (CELL, None), ("x = 1 |> 2", None)))
    page.wait_for_selector(".hastega-cm-pipe")
    assert page.locator(".hastega-cm-magic").all_inner_texts() == ["%%hastega"]
    assert page.locator(".hastega-cm-pipe").all_inner_texts() == ["|>"] * 4
    assert page.locator(".hastega-cm-stage").all_inner_texts() == ["map", "map", "filter"]
    assert page.locator(".hastega-cm-sink").all_inner_texts() == ["sum"]
    # Python's own: a keyword has a class of the highlighter's.
    classes = page.locator(".cm-content span", has_text="lambda").first.get_attribute("class")
    assert classes
    assert "hastega" not in classes
