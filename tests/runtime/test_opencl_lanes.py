"""Launches are cut by measurement, run on several threads with a queue each, through pinned memory that is bounded."""

import dataclasses
import subprocess
import sys
import threading

import numpy as np
import pytest

from hastega_magic.runtime import opencl
from hastega_magic.runtime.opencl import chunk as opencl_chunk
from hastega_magic.runtime.opencl import lane as opencl_lane
from hastega_magic.runtime.opencl.plan import LANES, STAGING, cut, sizes
from hastega_magic.session import Options, Session

cl = pytest.importorskip("pyopencl")

XS = np.arange(3_000_000)
TEXT = "y = xs |> map(lambda x: x * 2 + 1)"
MIB = 1 << 20


@pytest.fixture
def device(monkeypatch):
    monkeypatch.setattr(opencl, "_DEVICES", {})
    return opencl.device("opencl")


def run(text=TEXT, names=None, **options):
    session = Session(names or {"xs": XS})
    session.run_cell(text, options=Options(on="opencl", baseline=False, **options))
    return session


def kernel_of(text):
    from hastega_magic.compiler import loops

    run(text, device_memory=64)
    return loops.cached_loops()[-1].bodies[0].kernel


@pytest.mark.parametrize("transfer", [1 * MIB, 4 * MIB, 16 * MIB])
def test_a_chunk_is_as_large_as_the_measured_transfer(device, transfer):
    kernel = kernel_of(TEXT)
    big = opencl.DeviceInfo(
        0, "", "", "gpu", "OpenCL C 1.2", 100, 64 << 30, 16 << 30, True, True, True, False
    )  # fmt: skip
    plan = cut(big, kernel, 1 << 28, tables=0, memory=0, transfer=transfer, threads=16, shared=False)
    assert plan.lanes == LANES
    assert plan.chunk * 8 == transfer
    assert plan.lanes * plan.chunk * (sizes(kernel, True).inward + sizes(kernel, True).outward) <= STAGING


def test_the_size_of_transfers_is_measured_once(device, monkeypatch):
    assert device.chunk_bytes == 0
    measured = []
    seconds = opencl_lane._seconds
    monkeypatch.setattr(opencl_lane, "_seconds", lambda *args: measured.append(args) or seconds(*args))
    for _ in range(3):
        run(device_memory=64)
    assert len(measured) == 2, "a short transfer and a long one"
    assert 1 * MIB <= device.chunk_bytes <= 16 * MIB


@pytest.mark.parametrize(
    ("fixed", "rate", "size"), [(4e-6, 50e9, 4_000_000), (1e-6, 10e9, MIB), (1e-3, 10e9, 8 * MIB)]
)
def test_what_is_measured_decides(device, monkeypatch, fixed, rate, size):
    monkeypatch.setattr(opencl_lane, "_seconds", lambda lane, buffer, staged: fixed + len(staged) / rate)
    assert opencl_lane.transfer_size(device) == pytest.approx(size, rel=0.01), "the fixed cost is a twentieth"


def test_chunks_run_on_several_threads_each_with_its_queue_through_pinned_memory(device, monkeypatch):
    where, flags, together = set(), [], threading.Barrier(2, timeout=30)
    chunk, buffer = opencl_chunk.ChunkRun.chunk, cl.Buffer
    first = threading.local()

    def noted(self, lane, number, start, stop):
        where.add((threading.get_ident(), lane.queue.int_ptr))
        if not hasattr(first, "met"):
            first.met = True
            together.wait()  # two chunks are under way at once, or this breaks
        chunk(self, lane, number, start, stop)

    def flagged(context, given, size=0, hostbuf=None):
        flags.append((given, size))
        return buffer(context, given, size=size, hostbuf=hostbuf)

    opencl_lane.transfer_size(device)
    monkeypatch.setattr(opencl_chunk.ChunkRun, "chunk", noted)
    monkeypatch.setattr(cl, "Buffer", flagged)
    session = run(device_memory=16, threads=2)
    assert np.array_equal(session.namespace["y"], XS * 2 + 1)
    assert len(where) == len({thread for thread, _ in where}) == len({queue for _, queue in where}) == 2
    pinned = [size for given, size in flags if given & cl.mem_flags.ALLOC_HOST_PTR and size >= MIB]
    assert len(pinned) == 4, "per lane one for what goes in and one for what comes out"


def test_lanes_are_kept_for_a_loop_of_the_same_shape_and_bounded_for_others(device, monkeypatch):
    described = opencl._described
    monkeypatch.setattr(
        opencl, "_described", lambda *args: dataclasses.replace(described(*args), unified=False)
    )
    monkeypatch.setattr(opencl, "_DEVICES", {})
    sent = opencl.device("opencl")
    sent.chunk_bytes = 16 * MIB
    names = {f"x{k}": np.arange(1 << 22) for k in range(6)}
    for _ in range(2):
        run("y = x0 |> map(lambda x: x * 2 + 1)", names)
    (first, *_) = sent.kept
    run("y = x1 |> map(lambda x: x * 2 + 1)", names)
    assert first in sent.kept, "its staging memory was used again"
    cell = "y = x0 |> zip(x1, x2, x3, x4, x5) |> map(lambda a, b, c, d, e, f: a + b + c + d + e + f)"
    for text in (
        cell,
        cell.replace("a +", "a * 0.5 +"),
        TEXT.replace("xs", "x5"),
        "z = x0 |> filter(lambda x: x > 7)",
    ):
        run(text, names)
        assert sum(lane.staging_bytes for lane in sent.kept) <= STAGING


PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from hastega_magic.session import Options, Session

def field(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

n, memory = int(sys.argv[1]), int(sys.argv[2])
space = {"xs": np.arange(10_000)}
session = Session(space, Options(on="opencl", baseline=False, device_memory=memory))
cell = sys.argv[3]
session.run_cell(cell)
space["xs"] = np.arange(n)
del space["y"]
before = field("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
session.run_cell(cell)
print(field("VmHWM") - before - getattr(space["y"], "nbytes", 0))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of the resident set from /proc")
@pytest.mark.parametrize("memory", [0, 64])
@pytest.mark.parametrize(
    "cell", ["y = xs |> map(lambda x: x * 2 + 1)", "y = xs |> filter(lambda x: x % 2)", "y = xs |> sum"]
)
def test_host_memory_beyond_source_and_result_is_bounded(cell, memory):
    """What the device itself holds counts too, as PoCL's memory is the host's."""
    n = 1 << 25  # each array takes as much as the bound
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(n), str(memory), cell],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert int(done.stdout) <= 256 * MIB, f"{int(done.stdout) / MIB:.0f} MiB"
