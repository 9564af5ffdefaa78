"""Cells on OpenCL against the same cells on the CPU: the same bits, in every form a kernel has."""

import dataclasses
import itertools
import math
import warnings

import numpy as np
import pytest
from battery import some

from hastega_magic.runtime import opencl
from hastega_magic.session import Options, Session

pytest.importorskip("pyopencl")

RNG = np.random.default_rng(20_180_401)
NAMES = {
    "np": np,
    "math": math,
    "x": np.arange(30_007) - 15_000,
    "small": RNG.integers(-1000, 1000, 20_003),
    "big": RNG.integers(-(2**63), 2**63 - 1, 9_001),
    "mixed": np.where(np.arange(20_000) == 13_000, 2**62, np.arange(20_000)),
    "f": RNG.normal(size=20_003),
    "bits": np.frombuffer(RNG.bytes(8 * 20_001)).copy(),
    "s": np.frombuffer(RNG.bytes(4 * 20_001), np.float32).copy(),
    "t": RNG.normal(size=20_003).astype(np.float32),
    "i8": RNG.integers(-128, 128, 9_001).astype(np.int8),
    "u64": RNG.integers(0, 2**64 - 1, 9_001, np.uint64),
    "flags": RNG.integers(0, 2, 9_001).astype(bool),
    "table": RNG.normal(size=100),
    "index": RNG.integers(0, 100, 9_001),
    "strided": np.arange(40_000)[::-3],
    "swapped": np.arange(10_000).astype(">i4"),
    "zeros": np.array([1, 2, 3, 0, 5] * 2000),
}
CELLS = [
    "y = range(1, 50_001) |> map(lambda v: 22 * v * (v + 1) % 6_700_417) |> map(lambda v: v * v % 97 - 5)",
    "y = x |> filter(lambda v: v % 3 == 0) |> map(lambda v: v * 2)",
    "y = x |> enumerate |> filter(lambda i, v: i % 3 == 0)",
    "y = f |> filter(lambda v: v > 0.5) |> map(lambda v: v > 1)",
    "y = x |> filter(lambda v: False)",
    "y = x |> filter(lambda v: True)",
    "y = bits |> map(lambda v: v * v - 1.5 * v + 2)",
    "y = bits |> map(lambda v: -v if v > 0 else v / 7)",
    "y = bits |> map(lambda v: np.sqrt(abs(v)) + np.floor(v))",
    "y = s |> map(lambda v: v * v - v)",
    "y = s |> map(lambda v: np.sqrt(abs(v)) / (v + 1))",
    "y = t |> sum\nz = t |> min\nm = t |> filter(lambda v: v > 0) |> prod",
    "y = f |> sum\nm = f |> mean\nz = f |> filter(lambda v: v > 0) |> sum\nw = f |> max",
    "y = f |> map(lambda v: 1 + v * 1e-6) |> prod",
    "y = big |> map(lambda v: v % 1000)\nz = big |> map(lambda v: v // 7)\nw = big |> sum\nm = big |> min",
    "y = big |> zip(big[::-1].copy()) |> map(lambda a, b: a // b)",
    "y = big |> map(lambda v: v * 3)",
    "y = mixed |> map(lambda v: v * 3)",
    "y = mixed |> map(lambda v: v * v % 1000)",
    "y = mixed |> filter(lambda v: v % 2 == 0) |> map(lambda v: v * v % 1000)",
    "y = mixed |> map(lambda v: v * 3) |> sum",
    "y = small |> map(lambda v: 100 // (v * v + 1)) |> sum",
    "y = small |> zip(small[::-1].copy()) |> map(lambda a, b: a % b if b != 0 else 0)",
    "y = small |> map(lambda v: (v << 3) ^ (v >> 2) | 3 & ~v)",
    "y = small |> map(lambda v: abs(v) + min(v, 3) * max(v, -3))",
    "y = small |> map(lambda v: (v > 0) < (v % 2 == 0))",
    "y = zeros |> map(lambda v: 10 // v)",
    "y = zeros |> map(lambda v: 10 / v)",
    "y = i8 |> map(lambda v: v + 1)\nz = i8 |> sum",
    "y = u64 |> max",
    "y = flags |> sum\nz = flags |> any\nw = flags |> all\nm = flags |> filter(lambda b: b) |> count",
    "y = flags |> map(lambda b: not b)",
    "y = index |> map(lambda i: table[i])",
    "y = index |> map(lambda i: table[i + 30])",
    "y = strided |> map(lambda v: v * 2)\nz = swapped |> sum",
    "y = range(1, 21) |> prod\nz = range(1, 100) |> prod",
    "y = x |> reduce(lambda a, b: a ^ b)",
    "y = f |> map(math.floor)\nz = f |> map(lambda v: v % 0.3)\nw = f |> map(lambda v: v // 0.3)",
    "y = f |> map(lambda v: math.exp(v) + math.sin(v))\nz = t |> map(np.exp)",
    "y = [3, 1, 2] |> map(lambda v: v + 1) |> to_list",
    "y = [5] |> map(lambda v: 1 // 0)",
    "y = [5, 6] |> map(lambda v: 2.5) |> sum\nz = [5, 6] |> map(lambda v: 3) |> sum",
    "y = [] |> sum",
    "y = [] |> min",
    "y = range(0) |> map(lambda v: v + 1)",
    "y = [-0.0, -0.0] |> sum",
    "y = small |> map(lambda v: 1 // 0) |> sum",
    "y = small |> map(lambda v: 3) |> sum\nz = small |> map(lambda v: 0.1) |> sum",
    "m = f |> mean\ny = f |> map(lambda v: (v - m) * (v - m)) |> sum",
]


@pytest.fixture
def form(request, monkeypatch):
    """Options for the form: vectors in shared memory, the same in chunks of 1 MiB, or a GPU's work-groups."""
    if request.param == "groups":
        described = opencl._described
        monkeypatch.setattr(
            opencl, "_described",
            lambda *args: dataclasses.replace(described(*args), kind="gpu", unified=False),
        )  # fmt: skip
    monkeypatch.setattr(opencl, "_DEVICES", {})
    return {"device_memory": 1} if request.param == "chunks" else {}


def run(text, names=NAMES, **options):
    """The names that the cell assigns, what it raises, and its report."""
    session = Session(dict(names))
    error = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            session.run_cell(text, options=Options(**{"baseline": False, "quiet": True, **options}))
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised} {getattr(raised, '__notes__', [])}"
    made = {name: session.namespace.get(name) for name in "yzwm" if name not in names}
    return made, error, session.last_report.to_dict()["pipelines"]


def same_bits(a, b):
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype == object or a.dtype.names:
            return a.tolist() == b.tolist()
        if a.dtype.kind == "f":  # the payload of a NaN is the machine's
            return bool((np.isnan(a) == np.isnan(b)).all()) and a[a == a].tobytes() == b[b == b].tobytes()
        return a.tobytes() == b.tobytes()
    return type(a) is type(b) and repr(a) == repr(b)


CASES = some(itertools.product(("items", "chunks", "groups"), CELLS), every=4)
"""The form of the code that shares memory runs the whole battery (tests/compiler) besides."""


@pytest.mark.parametrize(("form", "text"), CASES, indirect=["form"])
def test_the_same_bits_as_on_the_cpu(text, form):
    expected, wrong, _ = run(text, on="parallel")
    found, error, pipelines = run(text, on="opencl", **form)
    assert error == wrong
    for name, value in expected.items():
        assert same_bits(value, found[name]), (name, value, found[name])
    if error is None:
        assert {pipeline["backend"] for pipeline in pipelines} == {"opencl"}
        assert all(not pipeline["barriers"] for pipeline in pipelines)


@pytest.mark.parametrize("width", [1, 2, 4, 16])
def test_every_width_gives_the_same_bits(width):
    for text in ("y = f |> map(lambda v: v * 1.1) |> sum", "y = x |> filter(lambda v: v % 3 == 1)"):
        assert same_bits(run(text, on="parallel")[0]["y"], run(text, on="opencl", width=width)[0]["y"])


def phases(pipelines):
    return {phase["name"]: phase for phase in pipelines[0]["phases"]}


def test_what_crosses_the_bus_is_accounted_for():
    n = 100_000
    blocks = -(-n // 4096)
    names = {"xs": np.arange(n)}
    made, _, pipelines = run("y = xs |> map(lambda x: x * x % 1000)", names, on="opencl", device_memory=64)
    found = phases(pipelines)
    assert made["y"].dtype == np.int64
    assert found["to_device"]["bytes"] == found["convert_in"]["bytes"] == 8 * n
    assert 2 * n + blocks <= found["from_device"]["bytes"] <= 2 * n + 2 * blocks, "remainders fit in 16 bits"
    assert all(found[name]["seconds"] > 0 for name in ("to_device", "kernel", "from_device", "convert_out"))


def test_a_range_is_made_on_the_device():
    _, _, pipelines = run(
        "y = range(100_000) |> map(lambda x: x + 1) |> sum", {}, on="opencl", device_memory=64
    )
    assert "to_device" not in phases(pipelines)
    assert phases(pipelines)["from_device"]["bytes"] < 2000


@pytest.mark.skipif(
    "not opencl.devices() or not opencl.select('opencl', opencl.devices()).unified",
    reason="the device has memory of its own",
)
def test_shared_memory_is_not_copied():
    names = {"xs": np.arange(100_000)}
    _, _, pipelines = run("y = xs |> map(lambda x: x + 1)", names, on="opencl")
    assert not {"to_device", "from_device", "convert_in"} & phases(pipelines).keys()


def test_the_report_has_the_kernel_and_the_floor():
    names = {"xs": np.arange(50_000)}
    _, _, (pipeline,) = run(
        "y = xs |> map(lambda x: x * 3)",
        names,
        on="opencl",
        device_memory=1,
        baseline=True,
        quiet=False,
        compare=("parallel",),
    )
    assert "__kernel" in pipeline["code"]["opencl"]
    assert "@hastega" in pipeline["code"]["llvm"]
    assert "not_run" not in pipeline["code"], "`parallel` ran it"
    rows = {row["backend"]: row for row in pipeline["baselines"]}
    assert rows["parallel"]["equal"]
    assert {phase["name"] for phase in rows["empty"]["phases"]} >= {"to_device", "from_device"}
    assert "kernel" not in {phase["name"] for phase in rows["empty"]["phases"]}


def test_staging_is_bounded_whatever_the_length():
    from hastega_magic.runtime.opencl.plan import STAGING

    names = {"xs": np.ones(3_000_000)}
    run("y = xs |> map(lambda x: x + 1)", names, on="opencl", device_memory=200)
    kept = opencl.device("opencl").kept
    assert kept
    assert sum(lane.staging_bytes for lane in kept) <= STAGING
    assert sum(lane.device_bytes for lane in kept) <= 200 << 20


def test_the_start_of_the_drivers_is_a_phase_of_the_cell_that_waits_for_it(monkeypatch):
    if not opencl.devices():
        pytest.skip("there is no device")
    session = Session({}, Options(on="opencl"))
    phases = []
    with monkeypatch.context() as patched:
        patched.setattr(opencl, "_DRIVERS", opencl._Drivers())
        for _ in range(2):
            report = session.run_cell("t = range(5000) |> map(lambda x: x * 3) |> sum").report
            phases.append({each.name: each.seconds for each in report.cell.phases})
            assert not {"load", "device", "baselines"} & {each.name for each in report.pipelines[0].phases}
    first, second = phases
    assert first["device"] > 0
    assert first["baselines"] > 0
    assert "device" not in second
