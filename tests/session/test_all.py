"""`--on all`: the CPU and a device side by side give the bits that the CPU alone gives, whatever befalls the device."""

import threading
from dataclasses import replace

import machines
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outcomes import assigned

from hastega_magic.compiler.backend_opencl import OpenCl
from hastega_magic.compiler.choice import costs, shares, split
from hastega_magic.compiler.loops import clear_cache
from hastega_magic.errors import NotCompilable
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.runtime import opencl, threads
from hastega_magic.runtime.opencl import DeviceError
from hastega_magic.session import Options, Session

pytest.importorskip("pyopencl")

RNG = np.random.default_rng(6)
NAMES = {
    "np": np,
    "x": np.arange(30_007) - 15_000,
    "big": RNG.integers(-(2**63), 2**63 - 1, 20_001),
    "mixed": np.where(np.isin(np.arange(30_000), [6_000, 21_000]), 2**62, np.arange(30_000)),
    "f": RNG.normal(size=33_003),
    "s": RNG.normal(size=20_003).astype(np.float32),
    "numbers": [int(each) for each in RNG.integers(-99, 99, 20_000)],
    "zeros": np.where(np.arange(20_000) == 17_003, 0, 7),
    "flags": RNG.integers(0, 2, 20_001).astype(bool),
    "table": RNG.normal(size=100),
    "index": RNG.integers(0, 100, 20_001),
    "strided": np.arange(60_000)[::-3],
}
TURNS = """
def turns(v):
    n = 0
    while v > 1:
        v = v // 2 if v % 2 == 0 else 3 * v + 1
        n += 1
    return n
y = range(1, 20_000) |> map(turns)
"""
CELLS = [
    "y = x |> map(lambda v: v * v % 1000 - 5)",
    "y = x |> filter(lambda v: v % 3 == 0) |> map(lambda v: v * 2)\nz = x |> filter(lambda v: v > 0)",
    "y = x |> enumerate |> filter(lambda i, v: i % 3 == 0)",
    "y = x |> filter(lambda v: False)\nz = x |> filter(lambda v: True)",
    "y = f |> sum\nz = f |> mean\nw = f |> filter(lambda v: v > 0) |> sum\nm = f |> max",
    "y = s |> sum\nz = s |> min\nm = s |> filter(lambda v: v > 0) |> prod",
    "y = big |> map(lambda v: v % 1000)\nz = big |> map(lambda v: v // 7)\nw = big |> sum\nm = big |> min",
    "y = mixed |> map(lambda v: v * 3)",
    "y = mixed |> filter(lambda v: v % 2 == 0) |> map(lambda v: v * v % 1000)",
    "y = mixed |> map(lambda v: v * 3) |> sum",
    "y = numbers |> map(lambda v: v + 1)\nz = numbers |> filter(lambda v: v % 2) |> to_list",
    "y = zeros |> map(lambda v: 10 // v)",
    "y = flags |> sum\nz = flags |> any\nw = flags |> all\nm = flags |> filter(lambda b: b) |> count",
    "y = index |> map(lambda i: table[i])",
    "y = strided |> map(lambda v: v * 2)",
    "y = range(0, 120_000, 3) |> map(lambda v: v * v % 6_700_417) |> sum",
    "y = f |> window(3) |> map(lambda a, b, c: a + b * c)",
    "y = f |> var\nz = f |> argmax",
    "y = x |> map(lambda v: (v, v * 0.5))\nz = f |> map(lambda v: complex(v, 1))",
    "y = mixed |> map(lambda v: (v, v * 3, v + 1))",
    TURNS,
]


class Fixed(shares.Book):
    """As if it were known how fast each back end is: the CPU's share of the elements is given."""

    def __init__(self, share):
        super().__init__()
        self.share = share
        self.noted = []

    def rates(self, loop, backends):
        return [shares.Rate(1e-9 / max(self.share, 1e-12)), shares.Rate(1e-9 / max(1 - self.share, 1e-12))]

    def note(self, loop, backend, elements, seconds):
        self.noted.append((backend, elements))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A block is worth sharing, and nothing is known of other tests' loops and devices."""
    monkeypatch.setattr(shares, "LEAST", 1)
    monkeypatch.setattr(split, "LEAST", 1)
    monkeypatch.setattr(split, "BOOK", shares.Book())
    monkeypatch.setattr(opencl, "_DEVICES", {})
    clear_cache()
    yield
    clear_cache()


def known(monkeypatch, book):
    """All splits from now on share by this book."""
    original = split.Split.__init__
    monkeypatch.setattr(
        split.Split, "__init__", lambda self, cpu, devices, *args, **kw: original(self, cpu, devices, None, book)
    )  # fmt: skip


def run(text, names=NAMES, **options):
    return assigned(text, names, **{"on": "all", **options})


def same_bits(a, b):
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return a.tolist() == b.tolist() if a.dtype == object or a.dtype.names else a.tobytes() == b.tobytes()
    return type(a) is type(b) and repr(a) == repr(b)


def assert_as_alone(text, names=NAMES, **options):
    ours, said, pipeline = run(text, names, **options)
    alone, told, _ = run(text, names, on="parallel", quiet=True)
    assert said == told
    assert all(same_bits(ours[name], alone[name]) for name in alone), text
    return pipeline


@pytest.mark.parametrize("text", CELLS)
def test_the_same_bits_as_alone(text, monkeypatch):
    # In shared memory; in chunks that cross a bus; as a GPU's work-groups, which takes PoCL long to compile.
    forms = [(0.3, 0, {}), (0.6, 1, {}), (0.4, 0, {"kind": "gpu", "unified": False})]
    for share, memory, facts in forms[: 3 if CELLS.index(text) % 3 == 1 else 2]:
        book, described = Fixed(share), opencl._described
        with monkeypatch.context() as patch:
            known(patch, book)
            patch.setattr(opencl, "_DEVICES", {})
            patch.setattr(opencl, "_described", lambda *args: replace(described(*args), **facts))  # noqa: B023
            pipeline = assert_as_alone(text, device_memory=memory)
        if pipeline["elements"] and pipeline.get("split"):
            assert {name for name, count in book.noted if count} == {"parallel", "opencl:0"}
            assert sum(part["elements"] for part in pipeline["split"]["parts"]) == pipeline["elements"]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    length=st.integers(2 * BLOCK, 20 * BLOCK),
    share=st.floats(0, 1),
    text=st.sampled_from(
        ["y = a |> filter(lambda v: v % 3 == 1) |> map(lambda v: v * v)\nz = a |> sum",
         "y = a |> map(lambda v: v / 7) |> sum", "y = a |> filter(lambda v: v > 2**40) |> map(lambda v: v * 2**20)"]
    ),
)  # fmt: skip
def test_any_length_and_any_shares(length, share, text):
    values = np.random.default_rng(length).integers(-(2**20), 2**20, length)
    values[length // 2] = 2**41
    with pytest.MonkeyPatch.context() as patch:
        known(patch, Fixed(share))
        assert_as_alone(text, {"a": values})


class Even(shares.Book):
    """As if every back end took as long for an element, whatever the machine's other work slows."""

    def note(self, loop, backend, elements, seconds):
        super().note(loop, backend, elements, elements * 1e-9)


def test_the_report_says_who_computed_what(monkeypatch):
    monkeypatch.setattr(split, "BOOK", Even())
    session = Session({"x": np.arange(40 * BLOCK)})
    options = Options(on="all", baseline=False)
    cell = "y = x |> filter(lambda v: v % 3 == 0)"
    found = []
    for _ in range(2):
        session.run_cell(cell, options=options)
        found.append(session.last_report.to_dict()["pipelines"][0])
    assert [each["split"]["by"] for each in found] == ["probed", "measured"]
    pipeline = found[-1]
    assert pipeline["backend"] == "all"
    parts = pipeline["split"]["parts"]
    devices = [f"opencl:{number}" for number in range(len(opencl.devices()))]
    assert [part["backend"] for part in parts] == ["parallel", *devices]
    assert all(part["device"] in pipeline["device"] for part in parts)
    assert sum(part["elements"] for part in parts) == 40 * BLOCK
    assert all(part["seconds"] > 0 for part in parts if part["elements"])
    assert 0 <= pipeline["split"]["waited"] <= 1
    text, html = session.last_report.to_text(), session.last_report.to_html()
    assert "shared by" in text
    assert "opencl:0" in text
    assert "Shares" in html
    assert "__kernel" in pipeline["code"]["opencl"]
    assert "opencl" not in pipeline["code"].get("not_run", []), "the device ran it"
    assert session.last_report.from_dict(session.last_report.to_dict()) == session.last_report


def test_the_first_shares_are_the_cost_models_where_the_machine_was_measured(monkeypatch):
    devices = [
        replace(
            machines.GPU,
            number=number,
            name=info.name,
            platform=info.platform,
            driver=opencl.driver_version(number),
        )
        for number, info in enumerate(opencl.devices())
    ]
    cell = "y = range(400_000) |> map(lambda v: v * v % 1000) |> map(lambda v: v * v % 999)"
    given = []
    for each, calibrated in ((2e-10, True), (6e-10, True), (6e-10, False)):
        measured = machines.machine(
            *(replace(device, classes=dict.fromkeys(device.classes, each)) for device in devices)
        )
        with (
            monkeypatch.context() as patch,
            costs.not_learning(),
        ):  # what other loops took here is of no matter
            patch.setattr(
                costs._KNOWN, "machine", measured if calibrated else replace(measured, calibrated="")
            )
            patch.setattr(split, "BOOK", shares.Book())
            clear_cache()
            found = assert_as_alone(cell)["split"]
        assert found["by"] == ("predicted" if calibrated else "probed")
        given.append(found["parts"][1]["elements"])
    assert 0 < given[1] < given[0] < 400_000, "a slower device gets less"


def test_phases_of_both_and_by_how_much_they_overlap(monkeypatch):
    known(monkeypatch, Fixed(0.5))
    _, _, pipeline = run("y = x |> map(lambda v: v + 1)", device_memory=1, repeat=3)
    names = {phase["name"] for phase in pipeline["phases"]}
    assert names >= {"to_device", "kernel", "from_device"}
    running = [each["seconds"] for each in pipeline["phases"] if each["name"] not in ("parse", "infer", "fuse", "codegen", "compile")]  # fmt: skip  # noqa: E501
    longest = max(part["seconds"] for part in pipeline["split"]["parts"])
    took = sum(running) - pipeline.get("overlapped", 0.0)
    assert took > 0.999 * longest, (
        "launches, which no phase of a device tells of, are part of the kernel's time"
    )


def test_few_elements_running_values_and_no_device_are_left_to_the_cpu(monkeypatch):
    told = []
    for text, names in (
        ("y = x |> map(lambda v: v + 1)", {"x": np.arange(BLOCK)}),
        ("y = x |> cumsum", NAMES),
        ("y = x |> scan(lambda a, b: a ^ b, 0)", NAMES),
    ):
        pipeline = assert_as_alone(text, names)
        assert pipeline["backend"] == pipeline["cost"]["chosen"] == "parallel"
        assert "split" not in pipeline
        told.append(next(each for each in pipeline["why"] if each.startswith("--on all")))
    monkeypatch.setattr(opencl, "_found", list)
    pipeline = assert_as_alone("y = x |> map(lambda v: v + 1)")
    told.append(next(each for each in pipeline["why"] if each.startswith("--on all")))
    assert [
        word in each
        for word, each in zip(("too few", "running", "running", "no OpenCL device"), told, strict=True)
    ]
    assert pipeline["backend"] == pipeline["cost"]["chosen"] == "parallel"


@pytest.mark.parametrize("text", [CELLS[0], CELLS[1], CELLS[4], CELLS[8]])
@pytest.mark.parametrize("when", ["before", "after", "both"])
def test_a_device_that_fails_has_its_share_computed_by_the_cpu(text, when, monkeypatch):
    ran = OpenCl.run

    def fails(self, job, options, trace):
        if when != "before":
            result = ran(self, job, options, trace)
            for array in result.arrays:
                array[job.stretch.first : job.stretch.stop] = 77
            result.status[job.stretch.first // BLOCK :] = 2
        raise DeviceError("the device caught fire")

    monkeypatch.setattr(OpenCl, "run", fails)
    if when != "both":
        known(monkeypatch, Fixed(0.4))
    pipeline = assert_as_alone(text)
    device = pipeline["split"]["parts"][1]
    assert device["failed"] == "the device caught fire"
    assert device["elements"] == 0
    assert any("caught fire" in each for each in pipeline["why"])


def test_a_device_that_cannot_take_part_is_named(monkeypatch):
    def refuses(self, kernel, fast_math):
        raise NotCompilable("it has no float64")

    monkeypatch.setattr(OpenCl, "generate", refuses)
    pipeline = assert_as_alone(CELLS[4])
    assert pipeline["backend"] == pipeline["cost"]["chosen"] == "parallel"
    assert any("took no part: it has no float64" in each for each in pipeline["why"])


def test_what_an_element_or_a_source_raises_is_raised(monkeypatch):
    known(monkeypatch, Fixed(0.4))
    values = list(range(30_000))
    for place in (100, 29_000):  # on either side
        values[place] = 2**70
        assert_as_alone("y = v |> map(lambda a: a % 7)", {"v": list(values)})
        values[place] = place


def test_an_interrupt_stops_all_and_leaves_nothing_behind(monkeypatch):
    book = Fixed(0.5)
    known(monkeypatch, book)
    waiting, making, seen, jobs = threads._woken, threads._Job, [], []

    def interrupted(done):
        if not seen and threading.current_thread() is threading.main_thread():
            seen.append(True)
            raise KeyboardInterrupt
        return waiting(done)

    def made(*args):
        jobs.append(making(*args))
        return jobs[-1]

    monkeypatch.setattr(threads, "_woken", interrupted)
    monkeypatch.setattr(threads, "_Job", made)
    session = Session(dict(NAMES))
    options = Options(on="all", baseline=False, repeat=1)
    with pytest.raises(KeyboardInterrupt):
        session.run_cell("y = x |> map(lambda v: v + 1)", options=options)
    assert len(jobs) >= 2
    assert all(each.finished or not each.begun for each in jobs)
    assert "y" not in session.namespace
    assert not book.noted
    session.run_cell("y = x |> map(lambda v: v + 1)", options=options)
    assert np.array_equal(session.namespace["y"], NAMES["x"] + 1)


def test_it_can_be_compared_and_measured():
    session = Session({"x": np.arange(10 * BLOCK)})
    session.run_cell("y = x |> map(lambda v: v * 3)", options=Options(compare=("all",)))
    rows = {row["backend"]: row for row in session.last_report.to_dict()["pipelines"][0]["baselines"]}
    assert rows["all"]["equal"]
    assert rows["all"]["seconds"] > 0
