"""Devices that fail or lack something: smaller chunks where that helps, else one clear sentence; then all is well."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest

from hastega_magic.compiler.loops import clear_cache
from hastega_magic.errors import UsageError
from hastega_magic.runtime import opencl
from hastega_magic.runtime.opencl import BuildError, DeviceError
from hastega_magic.session import Options, Session

cl = pytest.importorskip("pyopencl")

XS = np.arange(1_000_000)
CELL = "y = xs |> map(lambda x: x * 2 + 1)"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    """No test finds loops or devices of another: whether forms of a device share loops depends on the machine."""
    monkeypatch.setattr(opencl, "_DEVICES", {})
    clear_cache()
    yield
    clear_cache()


@pytest.fixture(params=["shared", "sent", "group"])
def memory(request, monkeypatch):
    """Options for a device that computes in the host's memory, one that is sent its inputs, and a GPU's form."""
    if request.param == "group":
        _described(monkeypatch, kind="gpu", unified=False)
    return {"device_memory": 8} if request.param == "sent" else {}


def _described(monkeypatch, **facts):
    """All devices with other facts, before any of them is used."""
    described = opencl._described
    monkeypatch.setattr(opencl, "_described", lambda *args: dataclasses.replace(described(*args), **facts))


def run(names, text=CELL, **options):
    session = Session(dict(names))
    session.run_cell(text, options=Options(on="opencl", baseline=False, **options))
    return session


def right(**options):
    assert np.array_equal(run({"xs": XS}, **options).namespace["y"], XS * 2 + 1)


class Failing:
    """Stands in for a function of pyopencl: works some times, then fails so often, then works again."""

    def __init__(self, original, error, after=0, times=10**9):
        self.original, self.error, self.after, self.times, self.calls = original, error, after, times, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        if self.after < self.calls <= self.after + self.times:
            raise self.error
        return self.original(*args, **kwargs)


LOST = cl.RuntimeError("clEnqueueNDRangeKernel failed: DEVICE_NOT_AVAILABLE")
FULL = cl.MemoryError("clEnqueueNDRangeKernel failed: MEM_OBJECT_ALLOCATION_FAILURE")


@pytest.mark.parametrize(
    "name", ["enqueue_nd_range_kernel", "enqueue_copy", "Buffer", "CommandQueue", "Kernel"]
)
def test_a_device_lost_in_the_middle(memory, monkeypatch, name):
    right(**memory)
    failures = []
    for after in (0, 1, 3):
        with monkeypatch.context() as patch:
            patch.setattr(cl, name, Failing(getattr(cl, name), LOST, after))
            if after:
                opencl.device("opencl").release()
            try:
                right(**memory)
            except DeviceError as error:
                failures.append(error)
        right(**memory)
    assert failures or name in ("Kernel", "CommandQueue", "enqueue_copy"), "kept ones are used again"
    assert all("failed; the next cell starts it afresh" in str(error) for error in failures)
    assert all("DEVICE_NOT_AVAILABLE" in error.log for error in failures)


def test_what_failed_leaves_the_names_as_they_were(memory, monkeypatch):
    session = Session({"xs": XS, "z": "old"})
    options = Options(on="opencl", baseline=False, **memory)
    with monkeypatch.context() as patch:
        patch.setattr(cl, "enqueue_nd_range_kernel", Failing(None, LOST))
        with pytest.raises(DeviceError):
            session.run_cell("y = 5\nz = xs |> map(lambda x: x + 1)\nw = 6", options=options)
    assert (session.namespace["y"], session.namespace["z"]) == (5, "old")
    assert "w" not in session.namespace
    session.run_cell("z = xs |> map(lambda x: x + 1)", options=options)
    assert np.array_equal(session.namespace["z"], XS + 1)


def test_buffers_that_do_not_fit_become_smaller(memory, monkeypatch):
    """A device on which no buffer of more than 100 000 bytes can be made, whatever it said of itself."""
    original, refused = cl.Buffer, []

    def small(context, flags, size=0, hostbuf=None):
        needed = size or hostbuf.nbytes
        if needed > 100_000 and not flags & cl.mem_flags.ALLOC_HOST_PTR:
            refused.append(needed)
            raise cl.MemoryError("clCreateBuffer failed: MEM_OBJECT_ALLOCATION_FAILURE")
        return original(context, flags, size=size, hostbuf=hostbuf)

    monkeypatch.setattr(cl, "Buffer", small)
    opencl.device("opencl").release()
    right(**memory)
    assert refused
    opencl.device("opencl").reset()


def test_no_memory_at_all_is_one_sentence(memory, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(cl, "enqueue_nd_range_kernel", Failing(None, FULL))
        with pytest.raises(DeviceError, match="has no memory left, even for one block at a time") as caught:
            right(**memory)
    assert "MEM_OBJECT_ALLOCATION_FAILURE" in caught.value.log
    right(**memory)


def test_a_build_failure_in_a_cell(memory, monkeypatch):
    import hastega_magic.codegen.opencl as codegen

    session = Session({"xs": XS})
    text, options = "y = xs |> map(lambda x: x * 29 + 3)", Options(on="opencl", baseline=False, **memory)
    with monkeypatch.context() as patch:
        patch.setattr(codegen, "generate", lambda *_: "__kernel void hastega(void) { this is no C; }\n" * 40)
        with pytest.raises(BuildError, match="refused the kernel") as caught:
            session.run_cell(text, options=options)
    shown = caught.value._render_traceback_()
    assert shown[0].startswith("BuildError: the OpenCL compiler of ")
    assert "error" in "\n".join(shown[1:])
    assert shown[-1].endswith("more lines in the exception's `log`")
    session.run_cell(text, options=options)
    assert np.array_equal(session.namespace["y"], XS * 29 + 3)


# Devices that lack something


@pytest.mark.parametrize(
    "data",
    [{"xs": np.arange(9) / 2}, {"xs": [0.5, 1.5]}, {"xs": np.arange(9), "table": np.arange(99.0)}],
    ids=["array", "list", "captured"],
)
def test_float64_data_is_refused_before_any_code_is_made(monkeypatch, data):
    import hastega_magic.codegen.opencl as codegen

    _described(monkeypatch, float64=False)
    monkeypatch.setattr(codegen, "generate", Failing(None, AssertionError("code was made")))
    text = "y = xs |> map(lambda x: table[x])" if "table" in data else CELL
    with pytest.raises(UsageError, match=r"no float64.*`\.astype\(np\.float32\)`, or choose `--on parallel`"):
        run(data, text)


WITHOUT_FLOAT64 = {
    "a quotient of ints": "y = xs |> map(lambda x: x / 3)",
    "a remainder by way of floats": "y = xs |> map(lambda x: x * x % 1000)",
    "a product that may overflow": "y = ones |> prod",
    "a quotient that the device rounds wrongly": "y = s |> map(lambda x: x / (x + x))",
}


@pytest.mark.parametrize("name", WITHOUT_FLOAT64)
def test_code_that_needs_float64_is_left_to_python(monkeypatch, name):
    _described(monkeypatch, float64=False, exact_float32=False)
    names = {"xs": XS[:5000], "ones": np.ones(5000, np.int64), "s": XS[1:5001].astype(np.float32), "np": np}
    session = run(names, WITHOUT_FLOAT64[name])
    (pipeline,) = session.last_report.pipelines
    assert pipeline.loops or "no float64" in pipeline.barriers[0].reason
    assert "double" not in pipeline.code.opencl
    expected = Session(dict(names))
    expected.run_cell(WITHOUT_FLOAT64[name], options=Options(on="python", baseline=False))
    assert np.array_equal(session.namespace["y"], expected.namespace["y"])


def test_a_device_that_flushes_subnormal_numbers_is_not_trusted_with_float32(monkeypatch):
    _described(monkeypatch, denormals=False)
    s = np.array([1e-42, 3, -1e-40], np.float32)
    session = run({"xs": s, "np": np}, "y = xs |> map(lambda x: x + x)")
    assert "subnormal" in session.last_report.pipelines[0].barriers[0].reason
    assert list(session.namespace["y"]) == list(s + s)
    assert run({"xs": XS}).last_report.pipelines[0].backend == "opencl"


def test_a_small_device_is_told_of_before_anything_is_sent(monkeypatch):
    _described(monkeypatch, kind="gpu", unified=False, memory=1 << 20)
    table = np.arange(1 << 18)
    with pytest.raises(DeviceError, match=r"too little memory: a block of this loop and its captured arrays"):
        run({"xs": XS[:1000], "table": table}, "y = xs |> map(lambda i: table[i])")
    right()


FORKS = """
import os
import numpy as np
from hastega_magic.errors import UsageError
from hastega_magic.session import Options, Session

def session(on):
    made = Session({"xs": np.arange(200_000)}, Options(on=on, baseline=False))
    return lambda: (made.run_cell("y = xs |> map(_ * 2 + 1) |> sum"), made.namespace["y"])[1]

def refused(run):
    try:
        run()
    except UsageError as error:
        return "forked" in str(error)

known, others = session("opencl"), [session("auto"), session("all"), session("parallel")]
assert [run() for run in (known, *others)] == [200_000**2] * 4
child = os.fork()
if not child:
    right = [run() for run in others] == [200_000**2] * 3
    os._exit(0 if refused(known) and refused(session("opencl")) and right else 1)
assert os.waitpid(child, 0)[1] == 0
assert known() == 200_000**2
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_in_a_forked_process_drivers_are_left_behind():
    subprocess.run([sys.executable, "-c", FORKS], check=True, timeout=120)
