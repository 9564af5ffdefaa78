"""What a device is said to have moved, on a null device whose clock is known: a nanosecond per byte."""

import dataclasses
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from hastega_magic.compiler.loops import clear_cache
from hastega_magic.runtime import opencl
from hastega_magic.runtime.opencl import (
    chunk as opencl_chunk,
)
from hastega_magic.runtime.opencl import (
    inputs as opencl_inputs,
)
from hastega_magic.runtime.opencl import (
    lane as opencl_lane,
)
from hastega_magic.runtime.opencl import (
    launch as opencl_launch,
)
from hastega_magic.runtime.opencl import (
    resident as opencl_resident,
)
from hastega_magic.session import Options, Session

cl = pytest.importorskip("pyopencl")

N = 100_000
BLOCKS = -(-N // 4096)
KERNEL = 1_000_000
"""Nanoseconds of every kernel."""


class Event:
    """A command that took so many nanoseconds of the null device's clock."""

    def __init__(self, start, cost):
        self.profile = SimpleNamespace(start=start, end=start + cost)

    def wait(self):
        """It is done."""


class Null:
    """pyopencl without a device: buffers have a size, transfers a time, kernels compute nothing."""

    def __init__(self):
        self.now, self.lock = 0, threading.Lock()
        self.sent = self.fetched = 0

    def __getattr__(self, name):
        return getattr(cl, name)  # constants and exceptions

    def Buffer(self, context, flags, size=0, hostbuf=None):  # noqa: N802
        whole = SimpleNamespace(size=size)
        whole.get_sub_region = lambda start, length: SimpleNamespace(size=length)
        return whole

    def Kernel(self, program, name):  # noqa: N802
        return SimpleNamespace(set_arg=lambda *_: None)

    def Context(self, devices):  # noqa: N802
        return SimpleNamespace()

    def CommandQueue(self, context, properties):  # noqa: N802
        return SimpleNamespace(finish=lambda: None)

    def Program(self, context, text):  # noqa: N802
        return SimpleNamespace(build=lambda options=(): SimpleNamespace(binaries=[b"nothing"]))

    def enqueue_map_buffer(self, queue, buffer, flags, offset, shape, dtype):
        return np.zeros(shape, dtype), None

    def _command(self, cost):
        with self.lock:
            self.now += cost
            return Event(self.now - cost, cost)

    def enqueue_copy(self, queue, into, source, is_blocking=True):
        if isinstance(into, np.ndarray):
            self.fetched += into.nbytes
            into[...] = 0
            return self._command(into.nbytes)
        self.sent += source.nbytes
        return self._command(source.nbytes)

    def enqueue_fill_buffer(self, *_):
        return self._command(0)

    def enqueue_nd_range_kernel(self, *_):
        return self._command(KERNEL)


@pytest.fixture
def null(monkeypatch):
    device = Null()
    described = opencl._described
    monkeypatch.setattr(
        opencl, "_described",
        lambda *args: dataclasses.replace(described(*args), kind="gpu", unified=False, name="Null", platform="None"),
    )  # fmt: skip
    found = opencl._found()
    monkeypatch.setattr(opencl, "_DEVICES", {})
    monkeypatch.setattr(opencl, "_found", lambda: found)
    monkeypatch.setattr(opencl, "_opencl", lambda: device)
    for module in (opencl_chunk, opencl_inputs, opencl_lane, opencl_launch, opencl_resident):
        monkeypatch.setattr(module, "cl", device)
    clear_cache()
    yield device
    clear_cache()


def run(text, names, **options):
    session = Session(dict(names))
    session.run_cell(text, options=Options(on="opencl", **{"baseline": False, "quiet": True, **options}))
    return session.last_report


def phases(report, number=0):
    return {phase["name"]: phase for phase in report.to_dict()["pipelines"][number]["phases"]}


XS = {"xs": np.arange(N)}
CELL = "y = xs |> map(lambda x: x * x % 1000)"


def test_every_byte_and_nanosecond_of_a_map(null):
    report = run(CELL, XS)
    found = phases(report)
    chunks = found["kernel"]["seconds"] * 1e9 / KERNEL
    assert chunks == pytest.approx(round(chunks))
    assert found["convert_in"]["bytes"] == found["to_device"]["bytes"] == 8 * N
    assert found["to_device"]["seconds"] == pytest.approx(8 * N * 1e-9)
    assert found["from_device"]["bytes"] == 2 * N + BLOCKS, "remainders in 16 bits, and a status per block"
    assert found["from_device"]["seconds"] == pytest.approx((2 * N + BLOCKS) * 1e-9)
    assert found["convert_out"]["bytes"] == 2 * N
    assert found["kernel"]["bytes"] == 16 * N, "what the loop reads and gives, as the host has it"
    assert min(found[name]["seconds"] for name in ("convert_in", "convert_out")) > 0


def test_nothing_is_moved_that_is_not_accounted_for(null):
    for text, names in (
        (CELL, XS),
        ("y = xs |> sum\nz = xs |> filter(lambda x: x < 0)", XS),
        ("y = range(100_000) |> map(lambda x: x / 3) |> sum", {}),
        ("y = xs |> map(lambda x: table[x % 100])", {**XS, "table": np.arange(100.0)}),
        ("m = fs |> sum\ny = fs |> map(lambda x: x - m)", {"fs": np.ones(N)}),
        ("y = few |> map(lambda x: x + 1)", {"few": [1, 2, 3]}),
    ):
        opencl_lane.transfer_size(opencl.device("opencl"))  # what it tries out belongs to no pipeline
        null.sent = null.fetched = 0
        report = run(text, names)
        count = len(report.pipelines)
        assert (
            sum(phases(report, k).get("to_device", {"bytes": 0})["bytes"] for k in range(count)) == null.sent
        )
        assert sum(phases(report, k)["from_device"]["bytes"] for k in range(count)) == null.fetched


def test_a_range_is_not_sent_and_a_sum_brings_back_two_words_per_block(null):
    found = phases(run("y = range(100_000) |> map(lambda x: x / 3) |> sum", {}))
    assert not {"convert_in", "to_device"} & found.keys()
    assert found["from_device"]["bytes"] == BLOCKS * (8 + 8 + 1), "sum, count, status"


def test_rates_are_shown_as_text_and_html(null):
    report = run(CELL, XS)
    text = report.to_text().replace("\u202f", " ").replace("\u2009", " ").replace("\u00a0", " ")
    for name in ("to device", "from device"):
        (line,) = [line for line in text.splitlines() if line.strip().startswith(name)]
        assert line.rstrip().endswith("1.00 GB/s"), line
    assert "800 kB" in text
    page = report.to_html().replace("\u202f", " ").replace("\u2009", " ").replace("\u00a0", " ")
    assert page.count("1.00 GB/s") >= 2
    for name in ("convert in", "to device", "kernel", "from device", "convert out"):
        assert name in page


def test_empty_has_the_same_transfers_without_a_kernel(null):
    report = run(CELL, XS, compare=("parallel",))
    ours = phases(report)
    rows = {row["backend"]: row for row in report.to_dict()["pipelines"][0]["baselines"]}
    empty = {phase["name"]: phase for phase in rows["empty"]["phases"]}
    for name in ("convert_in", "to_device", "from_device", "convert_out"):
        assert empty[name]["bytes"] == ours[name]["bytes"]
    for name in ("to_device", "from_device"):
        assert empty[name]["seconds"] == pytest.approx(ours[name]["seconds"])
    assert "kernel" not in empty
    assert rows["empty"]["note"] == "the same transfers, and no computation"
    assert not rows["parallel"]["equal"], "a null device computes nothing, and the comparison notices"
    assert "empty" in report.to_text()


def test_phases_that_ran_at_once_do_not_count_twice():
    from hastega_magic.report import build_report
    from hastega_magic.runtime.opencl.ledger import Ledger
    from hastega_magic.trace import Trace

    ledger = Ledger(seconds=10.0)
    for name, start, end in (
        ("compile", 0, 4),
        ("to_device", 4, 9),
        ("kernel", 5, 9),
        ("from_device", 6, 10),
    ):
        ledger.host(name, start, end, 1)
    assert ledger.overlapped == pytest.approx(13 - 6)
    trace = Trace()
    trace.group = 0
    for name, seconds, size in ledger.phases():
        trace.add("phase", name=name, seconds=seconds, bytes=size)
    trace.add("overlap", seconds=ledger.overlapped)
    (pipeline,) = build_report(trace).pipelines
    assert pipeline.seconds() == pytest.approx(6)
    assert pipeline.seconds(compiling=True) == pytest.approx(4)
    assert Ledger(seconds=10.0).overlapped == 0


@pytest.mark.parametrize("memory", [1, 3])
@pytest.mark.parametrize(
    "text",
    [
        "y = xs |> map(lambda x: x * x % 1000)\nz = y |> sum\nw = xs |> filter(lambda x: x % 3 == 1)",
        "y = fs |> map(lambda x: x * 1.1) |> sum\nz = fs |> filter(lambda x: x > 0.5)\nw = fs |> max",
    ],
)
def test_chunks_of_a_small_device_give_the_same(memory, text):
    names = {"xs": np.arange(3 * N), "fs": np.sin(np.arange(3 * N))}
    found, expected = Session(dict(names)), Session(dict(names))
    found.run_cell(text, options=Options(on="opencl", baseline=False, device_memory=memory))
    expected.run_cell(text, options=Options(on="parallel", baseline=False, quiet=True))
    for name in "yzw":
        a, b = found.namespace[name], expected.namespace[name]
        assert type(a) is type(b)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
    assert all(lane.device_bytes <= memory << 20 for lane in opencl.device("opencl").kept)
