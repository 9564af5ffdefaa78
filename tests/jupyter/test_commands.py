"""`%hastega doctor` and `%hastega devices`: two forms of one answer, and one line for what cannot be."""

import importlib.util
import io
import sys
from contextlib import redirect_stdout

import pytest

from hastega_magic.doctor import mend

no_opencl = importlib.util.find_spec("pyopencl") is None


def displayed(seen):
    """The text and the HTML of the one bundle displayed."""
    assert seen.error is None
    [bundle] = seen.bundles
    assert set(bundle) == {"text/plain", "text/html"}
    return bundle["text/plain"], bundle["text/html"]


def test_devices_are_a_table(notebook):
    text, html = displayed(notebook.run("%hastega devices"))
    head, *rows = text.splitlines()
    assert head.split() == ["--on", "kind", "device", "platform", "units", "memory", "float64", "driver"]
    names = [row.split()[0] for row in rows]
    assert names[:2] == ["parallel", "simd"]
    at = head.index("kind")
    assert {row[at - 1] for row in rows} == {" "}, "the columns are aligned"
    assert all(row[at] != " " for row in rows)
    assert html.count("<tr>") == len(rows) + 1
    assert "<style" not in html
    assert "<script" not in html


@pytest.mark.skipif(no_opencl, reason="pyopencl is not installed")
def test_devices_are_named_as_on_takes_them(notebook):
    text, _ = displayed(notebook.run("%hastega devices"))
    names = [line.split()[0] for line in text.splitlines() if line.startswith("opencl:")]
    assert names == [f"opencl:{number}" for number in range(len(names))]
    assert names
    assert notebook("y = range(10) |> sum", f"--quiet --no-baseline --on {names[0]}").error is None


def test_devices_without_pyopencl(notebook, monkeypatch):
    monkeypatch.setattr("hastega_magic.doctor.devices.folder_of", lambda name: None)
    text, html = displayed(notebook.run("%hastega devices"))
    note = text.splitlines()[-1]
    assert note.startswith("opencl: none, pyopencl is not installed")
    assert mend.requirement("pyopencl") in note
    assert sys.executable in note
    assert "pyopencl is not installed" in html


@pytest.mark.skipif(no_opencl, reason="pyopencl is not installed")
def test_devices_of_a_driver_that_fails(notebook, monkeypatch):
    def fail():
        raise RuntimeError("the driver\nis odd")

    monkeypatch.setattr("hastega_magic.runtime.inspect_opencl.inspect", fail)
    text, _ = displayed(notebook.run("%hastega devices"))
    assert "RuntimeError: the driver is odd" in text.splitlines()[-1]
    assert "%hastega doctor" in text.splitlines()[-1]


def test_the_doctor(notebook):
    text, html = displayed(notebook.run("%hastega doctor"))
    assert text.startswith("hastega doctor: everything that is needed works")
    assert "✓ parallel" in text
    assert "✓ parallel" in html
    assert "<style" not in html
    assert "<script" not in html


def test_the_doctor_of_an_extension_in_a_terminal(notebook):
    seen = notebook.run("%hastega doctor --on parallel", front_end=False)
    assert seen.out.startswith("hastega doctor: everything that is needed works")
    assert "<table" not in seen.out


def test_the_doctor_says_what_a_variable_of_the_notebook_does(notebook, tmp_path, monkeypatch):
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path / "none"))
    text, html = displayed(notebook.run("%hastega doctor --on opencl"))
    assert text.startswith("hastega doctor: something that is needed does not work")
    if not no_opencl:
        assert "unset OCL_ICD_VENDORS" in text
        assert "unset OCL_ICD_VENDORS" in html


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("doctor --on nowhere", ["nowhere", "parallel"]),
        ("doctor --on cuda", ["cuda", "did you mean opencl?"]),
        ("doctor --onn parallel", ["--onn", "--on"]),
        ("doctor now", ["now"]),
        ("devices all", ["all"]),
        ("cache --clear", ["did you mean clear?"]),
        ("report page.html", ["unexpected 'page.html': did you mean --save page.html?"]),
        ("report --save", ["a value is missing: --save FILE"]),
        ("doctor simd", ["unexpected 'simd': did you mean --on simd?"]),
        ("on --reprot", ["there is no option --reprot: did you mean --report?"]),
        ("on --quiet --report", ["%hastega on: --report asks for what --quiet hides"]),
        ("on --quiet --show=fused", ["%hastega on: --show asks for what --quiet hides"]),
        ("on report", ["unexpected 'report': did you mean --report?"]),
        ("help --onn", ["there is no option --onn: did you mean --on?"]),
        ("help scam", ["there is no stage 'scam': did you mean scan?"]),
    ],
)
def test_what_cannot_be_is_one_line(notebook, line, words):
    said = notebook.run(f"%hastega {line}").refusal
    assert all(word in said for word in words), said


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("cache", "%hastega cache [clear]            the loops that need no compiling again; forget them"),
        ("--on", "--on BACKEND   what computes: auto, python, numpy, simd, parallel, opencl, all; opencl:DEVICE"),
        ("--quiet", "--quiet   show no report"),
    ],
)  # fmt: skip
def test_help_tells_of_one_command_or_option(notebook, asked, told):
    assert notebook.run(f"%hastega help {asked}").text == f"{told}\n"
    assert asked in notebook.run("%hastega help").text


def test_a_command_without_options_names_none(notebook):
    assert notebook.run("%hastega devices --all").refusal.endswith("there is no option --all")


def test_calibrate_says_what_was_measured_and_where_it_is_kept(notebook, monkeypatch, tmp_path):
    from dataclasses import replace

    from machines import GPU, machine

    from hastega_magic.calibration import machine as calibration
    from hastega_magic.compiler.choice import costs
    from hastega_magic.cost.store import Store

    found = machine(GPU, replace(GPU, number=1, name="Shared", shared=True))

    def calibrate():
        costs.adopt(found, Store(tmp_path / "cache", found.identity))
        return found

    for name in ("machine", "learned", "store"):
        monkeypatch.setattr(costs._KNOWN, name, None)
    monkeypatch.setattr(calibration, "calibrate", calibrate)
    said = notebook.run("%hastega calibrate").out
    assert said.startswith("measured in ")
    assert str(tmp_path) in said
    assert "4 threads start in 50.0 µs" in said
    assert "opencl:0 A GPU" in said
    assert "in the host's memory" in said
    (tmp_path / "no").write_text("in the way")

    def homeless():
        costs.adopt(found, Store(tmp_path / "no" / "cache", found.identity))
        return found

    monkeypatch.setattr(calibration, "calibrate", homeless)
    assert "cannot be written to" in notebook.run("%hastega calibrate").out


@pytest.mark.parametrize(
    "cell",
    ["%%hastega\nrange(3) |> map(_ * 2) |> sum", "%%hastega --show phases\n[1] |> sum", "%hastega devices"],
)
def test_a_terminal_whose_encoding_has_no_marks(notebook, cell):
    terminal = io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True)
    with redirect_stdout(terminal):
        result = notebook.shell.run_cell(cell)
    result.raise_error()
    shown = terminal.buffer.getvalue().decode("ascii")
    assert shown
    assert "?" not in shown
