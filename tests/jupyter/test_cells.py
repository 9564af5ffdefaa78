"""Cells as a user runs them: values, names, and what is displayed."""

import re

import numpy as np
import pytest


def test_the_value_is_shown_as_the_shell_shows_values(notebook):
    seen = notebook("xs = range(10) |> map(_ + 1)\nxs |> sum")
    assert re.match(r"Out\[1\]: 55\n", seen.out)
    assert notebook.ns["_"] == 55
    assert notebook.ns["Out"] == {1: 55}
    assert notebook.run("_ + 1").out == "Out[2]: 56\n"
    assert isinstance(notebook.ns["xs"], np.ndarray)


def test_a_semicolon_keeps_the_value_back(notebook):
    assert "Out" not in notebook("range(10) |> sum;").out
    assert "Out" not in notebook("range(10) |> sum ;  # the sum").out
    assert notebook("x = range(10) |> sum").out == ""


def test_a_value_without_a_pipeline(notebook):
    seen = notebook("a = 2\na + 1")
    assert seen.out == "Out[1]: 3\n"
    assert seen.reports[0]["pipelines"] == []


def test_the_result_stands_before_the_report(notebook):
    out = notebook.run("%%hastega --no-baseline\ny = range(10) |> sum\ny", front_end=False).out
    assert out.index("Out[1]: 45") < out.index("y   1 fused loop")


def test_one_bundle_with_three_forms(notebook):
    seen = notebook("total = range(10) |> map(lambda x: x * x) |> sum")
    [bundle] = seen.bundles
    assert set(bundle) == {"application/vnd.hastega.report+json", "text/html", "text/plain"}
    [report] = seen.reports
    assert report["schema"] == 1
    assert (
        report["cell"]["source"]
        == "%%hastega --no-baseline\ntotal = range(10) |> map(lambda x: x * x) |> sum\n"
    )
    [pipeline] = report["pipelines"]
    assert (pipeline["name"], pipeline["loops"], pipeline["elements"]) == ("total", 1, 10)
    assert pipeline["span"][0] == 2, "lines are those of the editor, the magic's own being the first"
    assert bundle["text/plain"].startswith("total   1 fused loop")
    assert "total" in bundle["text/html"]


def test_a_terminal_prints_the_text(notebook):
    out = notebook.run("%%hastega --no-baseline\ny = range(10) |> sum", front_end=False).out
    assert out.startswith("y   1 fused loop")
    assert "<div" not in out


def test_quiet_shows_no_report(notebook):
    seen = notebook("y = range(10) |> sum\ny", "--quiet")
    assert (seen.out, seen.err, seen.bundles) == ("Out[1]: 45\n", "", [])


def test_baselines_are_measured_and_equal(notebook):
    [report] = notebook("y = range(1000) |> map(_ * 3) |> sum", "").reports
    baselines = report["pipelines"][0]["baselines"]
    assert {each["backend"] for each in baselines} >= {"python", "numpy"}
    assert all(each["equal"] for each in baselines)


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("pipeline", "map"),
        ("fused", "mul"),
        ("passes", "simplify"),
        ("llvm", "define"),
        ("asm", "ret"),
        ("phases", "kernel"),
        ("baselines", "NumPy"),
    ],
)
def test_show_prints_a_section_alone(notebook, section, expected):
    seen = notebook("y = range(100) |> map(_ * 3) |> sum", f"--show {section}")
    assert seen.bundles == []
    assert seen.out.startswith(f"── y: {section}\n")
    assert expected in seen.out


@pytest.mark.parametrize(
    ("stages", "lines"),
    [
        (
            "map(_ + 1) |> map(str) |> to_list",
            ["source", "map", "array", "map(str) ; Python: `str`", "to_list ; Python"],
        ),
        ("map(str) |> to_list", ["source range(30)", "map(str) ; Python: `str`", "to_list ; Python"]),
        (
            "map(_ + 1) |> tap(str) |> map(_ * 2) |> sum",
            ["source", "map", "array", "tap(str) ; Python: ", "source", "map", "sum"],
        ),
        (
            "tap(str) |> map(_ * 2) |> sum",
            ["source range(30)", "tap(str) ; Python: ", "source", "map", "sum"],
        ),
    ],
)
def test_the_pipeline_that_is_shown_has_the_stages_that_python_runs(notebook, stages, lines):
    seen = notebook(f"y = range(30) |> {stages}", "--no-baseline --show pipeline")
    title, *shown = [" ".join(each.split()) for each in seen.out.splitlines() if re.match(r" ? ?[^; ]", each)]
    assert title == "── y: pipeline"
    heads = [each for each in shown if not each.startswith("pipeline y")]
    assert [each[: len(line)] for each, line in zip(heads, lines, strict=True)] == lines


@pytest.mark.parametrize(("on", "who"), [("python", "Python"), ("numpy", "NumPy")])
def test_the_pipeline_that_is_shown_says_who_computed_it(notebook, on, who):
    seen = notebook("y = range(30) |> map(_ + 1) |> sum", f"--no-baseline --on {on} --show pipeline")
    assert re.findall(r"^  (\S.*?) +; (.*)", seen.out, re.MULTILINE) == [("map(_ + 1)", who), ("sum", who)]


def test_show_takes_several_sections_in_their_order(notebook):
    seen = notebook("y = range(100) |> sum", "--no-baseline --show phases,fused")
    assert re.findall(r"^── y: (\w+)", seen.out, re.MULTILINE) == ["phases", "fused"]


def test_names_of_the_notebook_are_seen_and_set(notebook):
    notebook.run("import math\nlimit = 5\ndef twice(x):\n    return 2 * x\ntable = [10, 20, 30, 40, 50]")
    notebook("limit += 1\nys = range(limit) |> map(twice) |> to_list\nimport operator")
    assert notebook.ns["ys"] == [0, 2, 4, 6, 8, 10]
    assert notebook.ns["limit"] == 6
    assert "operator" in notebook.ns
    assert not [name for name in notebook.ns if "hastega" in name]


def test_functions_of_ordinary_cells_are_compiled_and_may_change(notebook):
    notebook.run("def f(x):\n    return x + a\na = 1")
    [report] = notebook("y = range(10) |> map(f) |> sum").reports
    assert (notebook.ns["y"], report["pipelines"][0]["loops"]) == (55, 1)
    assert report["pipelines"][0]["barriers"] == []
    notebook.run("def f(x):\n    return x * a\na = 2")
    notebook("y = range(10) |> map(f) |> sum")
    assert notebook.ns["y"] == 90


def test_functions_with_pipelines_work_in_every_later_cell(notebook):
    notebook("def f(n):\n    return range(n) |> map(_ * 2) |> sum\na = f(4)")
    assert notebook.ns["a"] == 12
    assert notebook.run("f(5)").out == "Out[2]: 20\n"
    notebook("def g(n):\n    return range(n) |> map(_ * 3) |> sum\nb = g(5), f(5)")
    assert notebook.ns["b"] == (30, 20)
    assert notebook.run("f(5), g(5)").out == "Out[4]: (20, 30)\n"
    notebook("c = f(6)\nd = range(3) |> map(f)")
    assert (notebook.ns["c"], notebook.ns["d"].tolist()) == (30, [0, 0, 2])
    assert notebook("x = 3 +").error is not None
    assert notebook.run("f(5)").out == "Out[7]: 20\n"


def test_values_are_not_kept_alive(notebook):
    import weakref

    notebook("def f(n):\n    return range(n) |> sum\nys = range(100_000) |> map(_ * 3)\nt = ys |> sum", "")
    kept = weakref.ref(notebook.ns["ys"])
    notebook.run("del ys")
    assert kept() is None


def test_the_second_cell_of_a_shape_needs_no_compiling(notebook):
    notebook.run("%hastega cache clear")
    first = notebook("y = range(100) |> map(lambda x: x * 5 + 2) |> sum").reports[0]["pipelines"][0]
    second = notebook("z = range(90) |> map(lambda t: t * 5 + 2) |> sum").reports[0]["pipelines"][0]
    assert (first["cached"], second["cached"]) == (False, True)
    assert "compile" in {phase["name"] for phase in first["phases"]}
    assert "compile" not in {phase["name"] for phase in second["phases"]}
    assert notebook.ns["z"] == sum(t * 5 + 2 for t in range(90))


def test_loading_is_a_phase_of_the_first_cell(notebook):
    first, second = (notebook("y = range(100) |> sum").reports[0]["cell"]["phases"] for _ in range(2))
    (loading,) = [each for each in first if each["name"] == "load"]
    assert loading["seconds"] > 0
    assert "load" not in {each["name"] for each in second}


def test_a_barrier_is_named(notebook):
    seen = notebook("log = []\ny = range(5) |> map(lambda x: log.append(x) or x) |> sum")
    assert (notebook.ns["log"], notebook.ns["y"]) == ([0, 1, 2, 3, 4], 10)
    [barrier] = seen.reports[0]["pipelines"][0]["barriers"]
    assert "log.append" in barrier["stage"]
    assert barrier["reason"]
    assert "✗ barrier" in seen.bundles[0]["text/plain"]


def test_output_of_the_cell_itself_comes_first(notebook):
    out = notebook.run(
        "%%hastega --no-baseline\nprint('hello')\nrange(3) |> tap(print) |> sum", front_end=False
    ).out
    assert out.startswith("hello\nrange(0, 3)\nOut[1]: 3\n")


def test_each_run_of_a_cell_warns(notebook):
    for number in (1, 2):
        seen = notebook("y = range(3) |> map(lambda x: x * 2**62)")
        assert seen.err.count("IntegerOverflowWarning") == 1, f"run {number}"
        assert "element 2 of range(3)" in seen.err
        assert "y = range(3)" in seen.err, "the user's own line is shown"
        assert "hastega_magic" not in seen.err
    assert notebook.ns["y"].tolist() == [0, 2**62, 2**63]


def test_a_filter_on_the_warning_is_respected(notebook):
    quiet = "import warnings\nwarnings.simplefilter('ignore')\n"
    seen = notebook(f"{quiet}y = range(3) |> map(lambda x: x * 2**62) |> sum")
    assert (seen.err, notebook.ns["y"]) == ("", 3 * 2**62)


@pytest.mark.parametrize("on", ["parallel", "auto", "python", "numpy"])
@pytest.mark.parametrize("before", ["", "sorted |> "])
def test_the_report_of_a_statement_that_raised_says_so(notebook, on, before):
    notebook(f"z = range(5000) |> {before}map(lambda x: 1 // (x - 2500)) |> sum", f"--on {on}")
    notebook.run("from hastega_magic import last_report\nreport = last_report()")
    assert notebook.ns["report"].to_text().startswith("z   ✗ raised ZeroDivisionError · ")
    (found,) = notebook.ns["report"].to_dict()["pipelines"]
    assert found["raised"] == "ZeroDivisionError"
    if on in ("parallel", "auto"):
        assert (found["loops"], found["elements"], found["int"]["mode"]) == (1, 5000, "exact")


def test_a_barrier_that_raised_is_told_of(notebook):
    (bundle,) = notebook("z = ['1', 'x'] |> map(lambda s: int(s)) |> sum").bundles
    assert bundle["text/plain"].startswith("z   ✗ raised ValueError · ✗ 1 barrier")
    assert "✗ barrier map(lambda s: int(s)): elements of type str are not compiled" in bundle["text/plain"]
    seen = notebook("z = ['1', 'x'] |> map(lambda s: int(s)) |> sum", "--strict")
    assert seen.bundles == []  # the error says it


@pytest.mark.parametrize(
    ("ends", "raised"),
    [
        ("f(0)", "ZeroDivisionError"),
        ("try: f(0)\nfinally: f(2)", "ZeroDivisionError"),
        ("try: f(0)\nexcept ZeroDivisionError: 1\nf(2)", None),
        ("nosuch", None),
    ],
)
def test_a_later_run_that_ended_the_cell_is_told_of(notebook, ends, raised):
    function = "def f(k):\n    return [1, k] |> map(lambda x: 1 // x) |> sum\n"
    notebook(f"{function}f(1); f(3)\n{ends}")
    notebook.run("from hastega_magic import last_report\nreport = last_report()")
    (found,) = notebook.ns["report"].to_dict()["pipelines"]
    assert found.get("raised") == raised
    told = [each for each in found["why"] if "one of which raised ZeroDivisionError and ended it" in each]
    assert bool(told) == bool(raised)
    assert ("✗ raised" in notebook.ns["report"].to_text()) == bool(raised)


@pytest.mark.parametrize(
    ("on", "said", "other"),
    [("python", "ran in Python", "numpy"), ("numpy", "computed by NumPy, array by array", "python")],
)
def test_python_and_numpy_are_held_against_each_other(notebook, on, said, other):
    notebook.run("xs = list(range(3000))\nfrom hastega_magic import last_report")
    notebook("y = xs |> map(_ * 3 + 1) |> sum", f"--on {on}")
    notebook.run("report = last_report()")
    (found,) = notebook.ns["report"].to_dict()["pipelines"]
    assert [(each["backend"], each["equal"]) for each in found["baselines"]] == [(other, True)]
    assert f"no compiled loop · {said} · " in notebook.ns["report"].to_text(200)
    assert "to compile" not in notebook.ns["report"].to_text(200)


def test_a_baseline_warns_of_nothing(notebook):
    seen = notebook("y = range(300_000) |> map(lambda x: x**5)", "--on python")
    assert notebook.ns["y"][-1] == 299_999**5
    assert "Warning" not in seen.err


@pytest.mark.parametrize("on", ["python", "numpy"])
def test_what_somebody_sees_is_not_called_again_for_a_baseline(notebook, on):
    notebook.run("seen = []")
    notebook("y = [1, 2] |> map(lambda x: seen.append(x)) |> count", f"--on {on}")
    notebook("y = [1, 2] |> tap(seen.append) |> count", f"--on {on}")
    assert len(notebook.ns["seen"]) == 3


def test_a_statement_that_gave_its_results_has_not_raised(notebook):
    """Neither where the loop did, and Python never asked for the element, nor where the cell failed behind it."""
    notebook("z = range(5000) |> map(lambda x: 1 // (x - 2500)) |> map(str) |> first\nint('a')")
    notebook.run("from hastega_magic import last_report\nreport = last_report()")
    (found,) = notebook.ns["report"].to_dict()["pipelines"]
    assert (found.get("raised"), notebook.ns["z"]) == (None, "-1")


def test_last_report_is_that_of_the_last_cell(notebook):
    notebook("a = range(10) |> sum", "--quiet")
    notebook.run(
        "from hastega_magic import last_report\nname = last_report().to_dict()['pipelines'][0]['name']"
    )
    assert notebook.ns["name"] == "a"
    notebook("b = range(10) |> map(lambda x: 1 // x) |> sum")
    notebook.run("text = last_report().to_text()")
    assert notebook.ns["text"].startswith("b   ✗ raised ZeroDivisionError · 1 fused loop · ")


def test_imports_from_the_future_hold_for_their_cell_and_for_those_after_it(notebook):
    annotated = "def f(x: Unknown):\n    return x"
    seen = notebook(
        f"from __future__ import annotations\n{annotated}\ny: Unknown = range(3) |> map(f) |> sum"
    )
    assert seen.error is None
    assert notebook.ns["__annotations__"] == {"y": "Unknown"}
    for run in (notebook.run, notebook):
        del notebook.ns["f"]
        assert run(annotated).error is None
        assert notebook.ns["f"].__annotations__ == {"x": "Unknown"}


def test_imports_from_the_future_in_an_ordinary_cell_hold_for_cells_with_pipelines(notebook):
    notebook.run("from __future__ import annotations")
    assert notebook("def f(x: Unknown):\n    return x\nrange(3) |> map(f) |> sum").error is None


def test_a_shown_phase_is_not_both_the_kernel_and_python(notebook):
    text = "y = range(5000) |> map(_ + 1) |> map(lambda v: hash(str(v)) % 7) |> map(_ * 2) |> sum"
    out = notebook(text, "--on simd --show phases").out
    assert re.search("^  Python +[0-9.]+ .s$", out, re.MULTILINE)
    assert re.search("^  kernel ", out, re.MULTILINE)


def test_the_time_to_another_result_is_not_shown(notebook):
    seen = notebook(
        "y = range(5000) |> map(_ * 2**40) |> map(_ * _)", "--on simd --int wrap --show baselines"
    )
    assert re.search("^  pure Python +– +another result$", seen.out, re.MULTILINE)
    assert re.search("^  NumPy +[0-9.]+ .s +[0-9.]+ ×   ✓ equal", seen.out, re.MULTILINE)


def test_phases_and_baselines_that_are_asked_for_are_those_of_the_report(notebook):
    out = notebook("y = range(5000) |> map(_ + 1)", "--on simd --show phases,baselines").out
    notebook.run("import hastega_magic")
    report = notebook.run("print(hastega_magic.last_report().to_text())").out.splitlines()
    shown = [line for line in out.splitlines() if line.startswith("  ")]
    assert [line for line in shown if line not in report] == []
    assert [line.split()[0] for line in shown if "convert out" in line or "pure Python" in line]
