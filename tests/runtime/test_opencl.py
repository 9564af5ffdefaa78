"""Devices by name, plans of launches, the ledger, and what failures say."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from hastega_magic.errors import UsageError
from hastega_magic.runtime import opencl
from hastega_magic.runtime.opencl import BuildError, DeviceError, DeviceInfo, select
from hastega_magic.runtime.opencl.build_log import compilers_words
from hastega_magic.runtime.opencl.ledger import Ledger, union
from hastega_magic.session import Options, Session


def info(number=0, name="Fast One", kind="gpu", platform="Some Platform", **facts):
    given = {
        "version": "OpenCL C 1.2", "units": 4, "memory": 1 << 30, "allocation": 1 << 28, "float64": True,
        "denormals": True, "exact_float32": True, "unified": False,
    }  # fmt: skip
    return DeviceInfo(number, platform, name, kind, **(given | facts))


THERE = [
    info(0, "Slow One", "cpu", "Portable Computing Language"), info(1), info(2, "Fast Two"),
    info(3, "Odd", "accelerator"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "number"),
    [
        ("opencl", 1), ("opencl:0", 0), ("opencl:2", 2), ("opencl:gpu", 1), ("opencl:cpu", 0),
        ("opencl:accelerator", 3), ("opencl:two", 2), ("opencl:portable", 0),
    ],
)  # fmt: skip
def test_devices_are_chosen(spec, number):
    assert select(spec, THERE).number == number


def test_without_a_gpu_the_first_device_is_chosen():
    assert select("opencl", THERE[:1]).number == 0


@pytest.mark.parametrize("spec", ["opencl:4", "opencl:nvidia"])
def test_unknown_devices_are_answered_with_those_there_are(spec):
    with pytest.raises(UsageError, match=r"opencl:0 is Slow One \(cpu.*opencl:3 is Odd"):
        select(spec, THERE)


@pytest.mark.parametrize("spec", ["opencl:", "opencl: "])
def test_a_device_without_a_name_is_none(spec):
    with pytest.raises(UsageError, match=r"^'opencl:' names no device; opencl:0 is Slow One"):
        select(spec, THERE)


def test_no_platform_says_what_to_install():
    with pytest.raises(UsageError, match=r"pip install hastega-magic\[pocl\]"):
        select("opencl", [])


def test_the_union_of_intervals():
    assert union([]) == 0
    assert union([(0, 2), (1, 3), (5, 6)]) == 4
    assert union([(0, 10), (2, 3)]) == 10


@pytest.mark.parametrize(
    ("version", "bits"),
    [
        ("OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-znver3", 256),
        ("OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-haswell", 256),
        ("OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-skylake-avx512", 512),
        ("OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-sapphirerapids", 512),
        ("OpenCL 3.0 PoCL HSTR: cpu-x86_64-pc-linux-gnu-znver4", 512),
        ("OpenCL 3.0 CUDA 13.0", 512),
    ],
)
def test_vectors_are_no_wider_than_what_pocl_builds_for(version, bits):
    assert opencl._vector_bits(version) == bits


class NullEvent:
    """A command of a device that does nothing, at the given nanoseconds."""

    def __init__(self, start, end):
        self.profile = SimpleNamespace(start=start, end=end)


def test_the_ledger_of_a_null_device():
    ledger = Ledger()
    ledger.device("to_device", NullEvent(0, 1000), 100)
    ledger.device("to_device", NullEvent(500, 2000), 300)
    ledger.device("kernel", NullEvent(2000, 2500), 0)
    ledger.host("convert_out", 1.0, 1.5, 7)
    assert ledger.phases() == [
        ("to_device", pytest.approx(2e-6), 400), ("kernel", pytest.approx(5e-7), 0), ("convert_out", 0.5, 7),
    ]  # fmt: skip


@pytest.fixture
def device():
    pytest.importorskip("pyopencl")
    found = opencl.device("opencl")
    yield found
    found.reset()


CELL = "y = xs |> map(lambda x: x * 2 + 1)"


def run(session, text=CELL, **options):
    session.run_cell(text, options=Options(on="opencl", baseline=False, **options))
    return session.namespace["y"]


def test_a_build_failure_has_the_compilers_words_below_one_sentence(device):
    with pytest.raises(BuildError) as caught:
        device.built("__kernel void broken(void) { this is no C; }\n" * 30)
    lines = caught.value._render_traceback_()
    assert "refused the kernel" in lines[0]
    assert len(lines) <= 14
    assert "error" in caught.value.log
    assert "clBuildProgram" not in caught.value.log
    assert (run(Session({"xs": np.arange(10)})) == np.arange(10) * 2 + 1).all()


def test_the_compilers_words_of_several_devices_and_what_is_no_log():
    failed = "clBuildProgram failed: BUILD_PROGRAM_FAILURE - clBuildProgram failed: BUILD_PROGRAM_FAILURE\n\n"
    linked = (
        "Build on <pyopencl.Device 'a' on 'P' at 0x1>:\n\nCannot find symbol f\nignoring debug info with an "
    )
    linked += "invalid version (0) in /cache/program.bcDevice a failed to build the program\n"
    clang = "Build on <pyopencl.Device 'b' on 'N' at 0x2>:\n\n<kernel>:3:1: error: no\n  x y\n  ^\n"
    said = compilers_words(f"{failed}{linked}{clang}(options: -I /lib/pyopencl/cl)\n(source saved as x.cl)")
    assert said == "Cannot find symbol f\n<kernel>:3:1: error: no\n  x y\n  ^"
    assert (
        compilers_words("clBuildProgram failed: OUT_OF_HOST_MEMORY")
        == "clBuildProgram failed: OUT_OF_HOST_MEMORY"
    )


class Broken:
    """Stands in for a function of pyopencl: fails so many times, then works."""

    def __init__(self, original, error, times):
        self.original, self.error, self.times, self.calls = original, error, times, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return self.original(*args, **kwargs)


def test_a_full_device_gets_smaller_chunks(device, monkeypatch):
    import pyopencl as cl

    xs = np.arange(1_000_000)
    run(Session({"xs": xs}), device_memory=8)
    failing = Broken(
        cl.enqueue_nd_range_kernel, cl.MemoryError("clEnqueueNDRangeKernel failed: MEM_OBJECT_ALLOCATION_FAILURE"), 2
    )  # fmt: skip
    monkeypatch.setattr(cl, "enqueue_nd_range_kernel", failing)
    assert (run(Session({"xs": xs}), device_memory=8) == xs * 2 + 1).all()
    assert failing.calls > 2


def test_a_device_without_room_for_a_block_is_a_clear_error(device, monkeypatch):
    import pyopencl as cl

    session = Session({"xs": np.arange(100_000)})
    run(session)
    failing = Broken(None, cl.MemoryError("failed: MEM_OBJECT_ALLOCATION_FAILURE"), 10**6)
    with monkeypatch.context() as patch:
        patch.setattr(cl, "enqueue_nd_range_kernel", failing)
        with pytest.raises(DeviceError, match="no memory left"):
            run(session)
    assert (run(session) == np.arange(100_000) * 2 + 1).all(), "the next cell is right"


def test_a_lost_device_is_started_afresh(device, monkeypatch):
    import pyopencl as cl

    session = Session({"xs": np.arange(100_000)})
    run(session)
    context = device.context
    with monkeypatch.context() as patch:
        patch.setattr(
            cl, "enqueue_nd_range_kernel", Broken(None, cl.RuntimeError("failed: DEVICE_NOT_AVAILABLE"), 9)
        )
        with pytest.raises(DeviceError, match="starts it afresh") as caught:
            run(session)
    assert "DEVICE_NOT_AVAILABLE" in caught.value.log
    assert (run(session) == np.arange(100_000) * 2 + 1).all()
    assert device.context is not context


def test_too_little_memory_is_said_before_anything_runs(device):
    table = np.arange(1 << 18, dtype=np.float64)
    session = Session({"xs": np.arange(1000), "table": table})
    with pytest.raises(DeviceError, match=r"too little memory: .* need 2\.\d MiB, and 1\.0 MiB"):
        run(session, "y = xs |> map(lambda i: table[i])", device_memory=1)


def test_float64_data_on_a_device_without_it_is_refused(device, monkeypatch):
    monkeypatch.setattr(device, "info", dataclasses.replace(device.info, float64=False))
    session = Session({"xs": np.arange(1000) / 3})
    with pytest.raises(UsageError, match=r"no float64.*astype"):
        run(session)
    session = Session({"xs": np.arange(1000, dtype=np.float32)})
    run(session)
    run(Session({"xs": np.arange(1000)}), "y = xs |> map(lambda x: x + 1)")
    session = Session({"xs": np.arange(1000)})
    run(session, "y = xs |> map(lambda x: x / 3)")
    (pipeline,) = session.last_report.to_dict()["pipelines"]
    assert "no float64" in pipeline["barriers"][0]["reason"], "only the code needs it: Python computes"
    assert (session.namespace["y"] == np.arange(1000) / 3).all()
