"""`%hastega edit` and `%%hastega_kernel` in a shell: the new cell, what it assigns, what it shows, what it refuses."""

import re

import numpy as np
import pytest

CELL = "ys = xs |> map(lambda x: x * 3 + 1)\ntotal = ys |> sum"


@pytest.fixture
def cells(notebook, monkeypatch):
    """The cells that the magic makes."""
    found = []
    monkeypatch.setattr(notebook.shell, "set_next_input", lambda text, replace=False: found.append(text))
    notebook.ns["xs"] = np.arange(20_000)
    return found


def test_the_kernel_comes_in_a_new_cell_that_runs_as_it_is(notebook, cells):
    notebook(CELL)
    assert notebook.run("%hastega edit llvm").error is None
    [cell] = cells
    head, *lines = cell.splitlines()
    assert head == "%%hastega_kernel llvm total"
    assert "define void @hastega(ptr noalias %words, ptr noalias %scratch) #0 {" in lines
    assert "dbg" not in cell
    seen = notebook.run(cell)
    assert seen.error is None
    assert seen.out == ""
    [bundle] = seen.bundles
    assert set(bundle) == {"text/plain", "text/html"}
    title, verdict, times = bundle["text/plain"].splitlines()
    assert title == "edited llvm kernel · parallel · 20\u202f000 elements · ys_edited, total_edited"
    assert verdict == "✓ equal to the original"
    assert re.match(
        r"edited [\d.]+ \S+, original [\d.]+ \S+: [\d.]+ × as fast \(medians of \d+ runs? in turns", times
    )
    assert np.array_equal(notebook.ns["ys_edited"], notebook.ns["xs"] * 3 + 1)
    assert notebook.ns["total_edited"] == notebook.ns["total"]


def test_without_elements_there_are_no_times(notebook, cells):
    notebook("ys = [] |> map(_ + 1)")
    notebook.run("%hastega edit llvm")
    [bundle] = notebook.run(cells[0]).bundles
    title, _, times = bundle["text/plain"].splitlines()
    assert title.endswith("0 elements · ys_edited")
    assert times == "nothing to measure: without elements neither runs"
    assert "<img" not in bundle["text/html"]


def test_the_html_is_static(notebook, cells):
    notebook(CELL)
    notebook.run("%hastega edit llvm")
    html = notebook.run(cells[0]).bundles[0]["text/html"]
    assert "✓ equal to the original" in html
    assert html.count("<img ") == 1
    assert not re.search(r"<(script|style|iframe|object)|\son\w+=|javascript:", html)
    assert len(html) < 10_000


def test_the_original_stays_and_the_difference_is_named(notebook, cells):
    notebook(CELL)
    notebook.run("%hastega edit llvm ys")
    assert cells[0].startswith("%%hastega_kernel llvm ys\n")
    original = notebook.ns["ys"]
    changed = re.sub(r"(add <\d+ x i64> %v\d+, splat \(i64) 1\)", r"\1 2)", cells[0])
    seen = notebook.run(changed)
    assert "✗ not equal: `ys`: element 0 is 2, the original's is 1" in seen.bundles[0]["text/plain"]
    assert notebook.ns["ys"] is original
    assert notebook.ns["ys_edited"][0] == 2
    assert notebook.ns["total_edited"] == notebook.ns["total"] + 20_000


def test_a_kernel_that_breaks_a_rule_is_refused_with_the_line_of_the_cell(notebook, cells):
    notebook(CELL)
    notebook.run("%hastega edit llvm")
    broken = cells[0].replace("entry:\n", "entry:\n  call void @abort()\n") + "declare void @abort()\n"
    seen = notebook.run(broken)
    line = next(number for number, each in enumerate(broken.splitlines(), 1) if "call void @abort" in each)
    where, source, said = seen.out.splitlines()
    assert (where, source) == (f"  Cell line {line}", "      call void @abort()")
    assert said.startswith("KernelError: a kernel may not have a call of `@abort`. A kernel computes: ")
    assert seen.bundles == []
    assert "total_edited" not in notebook.ns


def test_what_llvm_cannot_read_has_its_words_and_a_caret(notebook, cells):
    notebook(CELL)
    notebook.run("%hastega edit llvm")
    seen = notebook.run(cells[0].replace("entry:\n", "entry:\n  %new = frobnicate i64 2\n"))
    where, source, caret, said = seen.out.splitlines()
    assert source == "      %new = frobnicate i64 2"
    assert caret.index("^") == source.index("frobnicate")
    assert said == "KernelError: LLVM says: expected instruction opcode"
    assert re.fullmatch(r"  Cell line \d+", where)


def test_a_kernel_that_dies_leaves_the_notebook_as_it_was(notebook, cells):
    notebook(CELL)
    notebook.run("%hastega edit llvm")
    wild = re.sub(
        r"getelementptr i64(, ptr %result\d+, i64 %v\d+)", r"getelementptr [99999 x i64]\1", cells[0]
    )
    seen = notebook.run(wild)
    assert re.match(r"KernelError: the process that tried the edited kernel crashed \(SIG\w+\)", seen.out)
    assert "hastega_magic" not in seen.out
    assert np.array_equal(notebook.ns["ys"], notebook.ns["xs"] * 3 + 1)
    assert notebook.run(cells[0]).error is None


def test_a_result_without_a_name_is_called_by_its_line(notebook, cells):
    notebook("xs |> map(lambda x: x + 1) |> sum")
    notebook.run("%hastega edit llvm")
    assert cells[0].startswith("%%hastega_kernel llvm line_2\n")
    assert notebook.run(cells[0]).error is None
    assert notebook.ns["line_2_edited"] == sum(range(20_001))


def test_opencl_likewise(notebook, cells):
    pytest.importorskip("pyopencl")
    notebook(CELL)
    notebook.run("%hastega edit opencl")
    assert cells[0].startswith("%%hastega_kernel opencl total\n")
    seen = notebook.run(cells[0])
    assert "edited opencl kernel · opencl" in seen.bundles[0]["text/plain"]
    assert notebook.ns["total_edited"] == notebook.ns["total"]
    broken = cells[0].replace("const long begin =", "const long begin = oops +")
    seen = notebook.run(broken)
    assert "Cell line " in seen.out
    assert "oops" in seen.out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", ["language"]),
        ("llvm", ["the name of the result is missing: %%hastega_kernel llvm NAME"]),
        ("llmv total", ["did you mean llvm?"]),
        ("ptx total", ["ptx", "llvm", "opencl"]),
        ("llvm nothing", ["nothing", "ys, total"]),
        ("llvm total more", ["more"]),
    ],
)
def test_what_cannot_be_is_one_line(notebook, cells, line, words):
    notebook(CELL)
    said = notebook.run(f"%%hastega_kernel {line}\nnothing").refusal
    assert all(word in said for word in words), said


def test_before_any_cell_and_after_the_next(notebook, cells):
    assert "no %%hastega cell has run in this kernel" in notebook.run("%hastega edit llvm").refusal
    notebook(CELL)
    notebook("z = 1")
    assert "ran no pipeline" in notebook.run("%hastega edit llvm total").refusal
    assert cells == []


def test_an_edited_kernel_without_its_original_says_which_cell_to_run(notebook, cells):
    again = "run the cell that gives total again, then this one"
    before = notebook.run("%%hastega_kernel llvm total\nnothing").refusal
    assert before == f"%%hastega_kernel: no %%hastega cell has run in this kernel; {again}"
    notebook(CELL)
    notebook.run("%hastega edit llvm")
    for later in ("z = 1", "zs = range(10) |> map(lambda x: x + 1)"):
        notebook(later)
        assert notebook.run(cells[0]).refusal.endswith(again)
    notebook(CELL)
    assert notebook.run(cells[0]).error is None


def test_help_and_unloading_know_the_magic(notebook):
    assert "%hastega edit llvm|opencl [NAME]" in notebook.run("%hastega help").out
    notebook.run("%unload_ext hastega_magic")
    assert "hastega_kernel" not in notebook.shell.magics_manager.magics["cell"]


def test_what_python_raises_has_the_users_frames_alone(notebook, cells):
    notebook.ns["xs"] = np.arange(1, 9001)
    notebook("ys = xs |> map(lambda x: 100 // x)")
    notebook.ns["xs"][77] = 0
    notebook.run("%hastega edit llvm")
    seen = notebook.run(cells[0])
    assert isinstance(seen.error, ZeroDivisionError)
    assert "hastega_magic" not in seen.out
    assert "lambda x: 100 // x" in seen.out
