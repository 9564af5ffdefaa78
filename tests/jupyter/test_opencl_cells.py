"""OpenCL in a shell: what a user sees of devices that are not there, or fail."""

import re

import numpy as np
import pytest

cl = pytest.importorskip("pyopencl")


@pytest.mark.parametrize("options", ["--on opencl:7", "--compare parallel,opencl:7"])
def test_an_unknown_device_is_one_line_with_those_there_are(notebook, options):
    seen = notebook("before = 1\ny = range(10) |> sum", options)
    assert type(seen.error).__name__ == "UsageError"
    assert re.search(r"there is no OpenCL device '7'; opencl:0 is .*\((cpu|gpu)", seen.text)
    assert len(seen.text.strip().splitlines()) == 1
    assert seen.reports == []
    assert "before" not in notebook.ns


def test_an_unknown_back_end_to_compare_is_one_line(notebook):
    seen = notebook("y = range(10) |> sum", "--compare parallel,cuda")
    assert len(seen.text.strip().splitlines()) == 1
    assert "no back end 'cuda': did you mean opencl?" in seen.text


def test_a_lost_device_is_one_sentence_and_the_next_cell_is_right(notebook, monkeypatch):
    def lost(*_, **__):
        raise cl.RuntimeError("clEnqueueNDRangeKernel failed: DEVICE_NOT_AVAILABLE")

    notebook.ns["xs"] = np.arange(1000)
    with monkeypatch.context() as patch:
        patch.setattr(cl, "enqueue_nd_range_kernel", lost)
        seen = notebook("y = xs |> map(lambda x: x + 1)", "--on opencl --no-baseline")
    assert type(seen.error).__name__ == "DeviceError"
    lines = seen.out.strip().splitlines()
    assert lines[0].endswith("failed; the next cell starts it afresh")
    assert lines[1:] == ["    clEnqueueNDRangeKernel failed: DEVICE_NOT_AVAILABLE"]
    assert "y" not in notebook.ns
    seen = notebook("y = xs |> map(lambda x: x + 1)", "--on opencl --no-baseline")
    assert seen.error is None
    assert np.array_equal(notebook.ns["y"], np.arange(1, 1001))
    assert seen.reports[0]["pipelines"][0]["backend"] == "opencl"


def test_a_build_failure_is_a_sentence_with_the_log_folded(notebook, monkeypatch):
    import hastega_magic.codegen.opencl as codegen

    with monkeypatch.context() as patch:
        patch.setattr(codegen, "generate", lambda *_: "__kernel void hastega(void) { this is no C; }\n" * 40)
        seen = notebook("y = range(1000) |> map(lambda x: x * 31 + 7)", "--on opencl --no-baseline")
    assert type(seen.error).__name__ == "BuildError"
    lines = seen.out.strip().splitlines()
    assert lines[0].startswith("BuildError: the OpenCL compiler of ")
    assert len(lines) <= 14
    assert "hastega_magic" not in seen.out


def test_an_error_of_python_on_the_device_names_the_users_line(notebook):
    notebook.ns["xs"] = [3, 0, 1]
    seen = notebook("y = 1\nz = xs |> map(lambda x: 6 // x)", "--on opencl --no-baseline")
    assert type(seen.error).__name__ == "ZeroDivisionError"
    assert "----> 3 z = xs |> map(lambda x: 6 // x)" in seen.out
    assert "element 1 of xs, which is 0" in seen.out
    assert "hastega_magic" not in seen.out
    assert notebook.ns["y"] == 1
