"""`--on auto` on made-up machines: what is chosen, that nobody can tell it by the values, and what the report says."""

from dataclasses import replace

import numpy as np
import pytest
from machines import CLASSES, GPU, machine

from hastega_magic import hastega
from hastega_magic.compiler.choice import costs
from hastega_magic.compiler.choice.auto import is_built
from hastega_magic.lazy import pipe
from hastega_magic.report import Report
from hastega_magic.report.verdict import predicted_phases
from hastega_magic.runtime.cpu import host
from hastega_magic.session import Options, Session

SLOW_PYTHON = machine(python=1e-3)
QUICK_PYTHON = replace(machine(python=1e-15), python=replace(machine(python=1e-15).python, call=1e-9))


def run(text, names=None, quiet=False, **options):
    session = Session(dict(names or {}), Options(baseline=False, quiet=quiet, **options))
    session.run_cell(text)
    return session.namespace, session.last_report.to_dict()["pipelines"]


ALIKE = (
    "range(10) |> map(lambda x: x * 3 + 1)",
    "range(1, 50) |> map(lambda x: 22 * x * (x + 1) % 6700417) |> sum",
    "range(20) |> filter(lambda x: x % 3 == 0)",
    "range(20) |> filter(lambda x: x > 90)",
    "range(20) |> map(lambda x: x > 3)",
    "range(20) |> map(lambda x: x / 4)",
    "xs |> map(lambda x: x * 0.5 - 1.0)",
    "ints |> map(lambda x: (x, x + 1))",
    "ints |> enumerate |> map(lambda i, x: i * x) |> to_list",
    "ints |> zip(range(8)) |> map(lambda x, y: x - y) |> max",
    "small |> map(lambda x: x & 3) |> count",
    "flags |> map(lambda x: not x) |> any",
    "listed |> map(lambda x: x // 2) |> to_list",
    "listed |> map(lambda x: x + 1) |> prod",
    "range(7) |> to_list",
)
NAMES = {
    "xs": np.linspace(-2, 2, 9), "ints": np.arange(8), "small": np.arange(9, dtype=np.uint8),
    "flags": np.array([True, False]), "listed": [5, -3, 2],
}  # fmt: skip


@pytest.mark.parametrize("text", ALIKE)
def test_python_gives_the_very_values_of_the_loop(on, text, same):
    on(QUICK_PYTHON)
    names, (report,) = run(f"found = {text}", NAMES)
    theirs, _ = run(f"found = {text}", NAMES, on="simd")
    one, other = names["found"], theirs["found"]
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        one, other = one.tolist(), other.tolist()
    assert same(one, other)
    if "> 90" in text:
        assert report["backend"] != "python", "only the loop knows the type of nothing"
        return
    assert report["backend"] == "python"
    assert report["device"] == "CPython"
    assert report["threads"] == 1


def test_what_plain_python_computes_is_no_kernel_time(on):
    on(QUICK_PYTHON)
    _, (data,) = run("y = xs |> map(lambda x: x * 2) |> sum", {"xs": [1, 2, 3]})
    (phase,) = [each for each in data["phases"] if each["name"] == "kernel"]
    assert phase["python"] == phase["seconds"] > 0
    report = Report.from_dict({"pipelines": [data]})
    assert "kernel" not in report.to_text()
    assert set(predicted_phases(report.pipelines[0])) & {"kernel", "python"} == {"python"}


def test_a_name_may_be_assigned_twice_in_one_loop(on):
    on(QUICK_PYTHON)
    names, (report,) = run(
        "xs = xs |> map(lambda x: x + 1)\nxs = xs |> map(lambda x: x * 2)\nt = xs |> sum", {"xs": [1, 2]}
    )
    assert report["backend"] == "python"
    assert (names["xs"].tolist(), names["t"]) == ([4, 6], 10)


def test_stages_that_make_the_same_loop_are_not_taken_for_each_other(on):
    on(QUICK_PYTHON)
    _, (first,) = run("found = xs |> map(lambda x: x)", NAMES)
    assert first["backend"] == "python"
    names, (second,) = run("found = xs |> drop(1)", NAMES)
    assert second["cached"]
    assert second["backend"] != "python"
    assert names["found"].tolist() == NAMES["xs"][1:].tolist()


def test_a_cell_that_python_computes_is_compiled_and_shown_all_the_same(on):
    on(QUICK_PYTHON)
    _, (report,) = run("ys = range(1, 20) |> map(lambda x: x * x)\ntotal = ys |> sum")
    assert report["backend"] == report["cost"]["chosen"] == "python"
    assert report["loops"] == 1
    assert report["barriers"] == []
    assert report["vector"]["lanes"] > 0
    assert report["code"]["llvm"]
    assert report["code"]["asm"]
    assert "was not run" in report["cost"]["because"]
    assert report["cost"]["because"] in report["why"]
    assert [phase["name"] for phase in report["phases"]].count("kernel") == 1


@pytest.mark.parametrize(
    "text",
    [
        "xs |> sum",  # the loop's order of adding is its own
        "xs |> map(math.exp)",  # off by one place at most
        "large |> map(lambda x: x * x)",  # leaves what needs no check, though nothing overflows
        "range(1, 5) |> map(lambda x: 10 // (x - k))",  # may raise: with a note
        "singles |> map(lambda x: x * 2)",  # NumPy's numbers warn of overflow
        "range(5) |> map(lambda x: x * n)",  # the same
        "range(9) |> cumsum",
        "range(9) |> map(lambda x: complex(x, 1.0))",
        "range(9) |> map(lambda x: (x, x * 1j))",
        "range(9) |> take(4)",
    ],
)
def test_what_python_might_compute_otherwise_is_the_loops(on, text):
    import math

    on(QUICK_PYTHON)
    names = {
        **NAMES,
        "math": math,
        "k": 9,
        "n": np.int64(3),
        "large": np.array([3, 3_000_000_000]),
        "singles": np.ones(4, np.float32),
    }
    _, (report,) = run(f"found = {text}", names)
    assert report["backend"] in ("parallel", "simd")


def test_sizes_decide(on):
    on(machine(start=1e-3))
    text = "total = range({}) |> map(lambda x: x * x + 1) |> sum"
    assert run(text.format(10))[1][0]["backend"] == "python"
    _, (some,) = run(text.format(30_000))
    assert (some["backend"], some["threads"]) == ("simd", 1)
    assert "too few elements for 4 threads" in some["cost"]["because"]
    _, (more,) = run(text.format(300_000))
    assert more["backend"] == "simd"
    on(machine(start=1e-9))
    _, (many,) = run(text.format(300_000))
    assert many["backend"] == "parallel"
    assert "arithmetic" in many["cost"]["because"]


def test_the_report_predicts_every_back_end(on):
    on(machine(GPU))
    _, (report,) = run("ys = xs |> map(lambda x: x * 2.0 + 1.0)", {"xs": np.arange(300_000.0)})
    cost = report["cost"]
    assert [row["backend"] for row in cost["predicted"]] == ["python", "simd", "parallel", "opencl:0"]
    assert cost["operations"] == 2
    assert cost["bytes"] == 16
    assert cost["bound"] in ("memory", "arithmetic", "launch")
    assert cost["measured"] > 0
    assert cost["calibrated"] == "2026-01-01T00:00:00Z"
    assert all(row["seconds"] > 0 and row["phases"] for row in cost["predicted"])
    assert "calibrate" not in cost["because"]
    _, (forced,) = run("ys = xs |> map(lambda x: x * 2.0 + 1.0)", {"xs": np.arange(3000.0)}, on="simd")
    assert forced["cost"]["because"] == "", "it was asked for"
    assert forced["cost"]["chosen"] == "simd"
    assert forced["cost"]["predicted"]


def test_without_a_calibration_the_sentence_says_how_to_make_one(on):
    on(machine(calibrated=""))
    _, (report,) = run("total = range(100) |> sum")
    assert "%hastega calibrate" in report["cost"]["because"]


def test_quiet_cells_choose_too(on):
    on(QUICK_PYTHON)
    names, (report,) = run("ys = range(10) |> map(_ + 1)", quiet=True)
    assert report["backend"] == "python"
    assert "cost" not in report or report["cost"] is None
    assert names["ys"].tolist() == list(range(1, 11))


def test_what_runs_again_and_again_is_called_directly(on):
    on(QUICK_PYTHON)
    numbers = pipe(range(100)).map(lambda x: x * 2)
    assert [numbers.sum() for _ in range(3)] == [9900] * 3
    report = numbers.explain().to_dict()["pipelines"][0]
    assert report["cost"]["predicted"]


def test_a_pinned_back_end_goes_before_the_model(on, monkeypatch):
    on(QUICK_PYTHON)
    monkeypatch.setenv(costs.AUTO, "simd")
    _, (report,) = run("ys = range(10) |> map(_ + 1)")
    assert report["backend"] == "simd"
    assert report["cost"]["because"] == ""


def test_comparing_begins_with_what_computed(on):
    on(machine(start=1e-3))
    _, (report,) = run("total = range(300_000) |> map(lambda x: x * x) |> sum", compare=("parallel",))
    assert [each["backend"] for each in report["baselines"]] == ["simd, run again", "parallel"]
    assert report["model"]["rows"][0]["backend"] == "simd"
    curves = {row["backend"]: row["measured"] for row in report["cost"]["curves"]}
    for row in report["model"]["rows"]:
        if row["backend"] in curves:
            assert [list(each) for each in curves[row["backend"]]][-len(row["points"]) :] == [
                list(each) for each in row["points"]
            ]
    assert len(curves["parallel"]) > 1


def test_a_device_that_was_compared_has_its_points_on_its_curve(on, device):
    on(machine(replace(device, launch=1.0)))
    _, (report,) = run("total = range(30_000) |> map(lambda x: x * x + 5) |> sum", compare=("opencl",))
    (row,) = [each for each in report["model"]["rows"] if each["backend"] == "opencl"]
    assert row["predicted"] == "opencl:0"
    curves = {each["backend"]: each["measured"] for each in report["cost"]["curves"]}
    assert [tuple(each) for each in curves["opencl:0"]] == [tuple(each) for each in row["points"]]


def test_figures_are_assumed_where_nothing_was_measured(on, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    on(None)
    monkeypatch.setattr(costs._KNOWN, "store", None)
    found = costs.machine()
    assert found.calibrated == ""
    assert found.devices == ()
    assert found.identity == costs.identity()
    assert costs.machine() is found


# ------------------------------------------------------------------------------------------------ devices


@pytest.fixture
def device(on):
    """PoCL's device, told of as if it were as fast as nothing else."""
    pytest.importorskip("pyopencl")
    from hastega_magic.runtime import opencl

    there = opencl.devices()
    if not there:
        pytest.skip("no OpenCL device")
    info = there[0]
    return replace(
        GPU, name=info.name, platform=info.platform, driver=opencl.driver_version(0), launch=1e-9, kernel=1e-10,
        inward=1e-15, outward=1e-15, compile=0.0, shared=info.unified, block={},
    )  # fmt: skip


TEXT = "ys = xs |> map(lambda x: x * 3.0 + 0.25)"


def test_a_device_that_is_predicted_to_be_faster_computes(on, device):
    on(machine(device))
    xs = np.arange(5000.0)
    names, (report,) = run(TEXT, {"xs": xs})
    assert report["backend"] == "opencl"
    assert report["cost"]["chosen"] == "opencl:0"
    assert device.name in report["cost"]["because"]
    assert report["code"]["opencl"]
    assert report["code"]["llvm"]
    assert np.array_equal(names["ys"], xs * 3.0 + 0.25)


def test_its_compiler_has_to_be_earned(on, device):
    on(machine(replace(device, compile=3.5e-5)))  # a CPU's call takes 3e-5
    session = Session({"xs": np.arange(500.0)}, Options(baseline=False))
    chosen = []
    for _ in range(3):
        session.run_cell("earned = xs |> map(lambda x: x * 3.0 + 7.25)")
        report = session.last_report.to_dict()["pipelines"][0]
        chosen.append(report["backend"])
        if len(chosen) == 1:
            assert "compiler" in report["cost"]["because"]
    assert chosen == ["simd", "opencl", "opencl"]


def test_a_loop_that_somebody_sent_there_is_compiled_already(on, device):
    on(machine(replace(device, compile=1.0)))
    session = Session({"xs": np.arange(500.0)}, Options(baseline=False))
    chosen = []
    for name in ("auto", "opencl", "auto"):
        session.run_cell(
            "sent = xs |> map(lambda x: x * 3.0 + 8.25)", options=Options(on=name, baseline=False)
        )
        chosen.append(session.last_report.to_dict()["pipelines"][0]["backend"])
    assert chosen == ["simd", "opencl", "opencl"]


@pytest.mark.parametrize("change", [{"name": "Another"}, {"driver": "0"}, {"number": 7}])
def test_a_device_that_is_no_longer_what_was_measured_is_not_chosen(on, device, change):
    on(machine(replace(device, **change)))
    _, (report,) = run("ys = xs |> map(lambda x: x * 3.0 + 0.75)", {"xs": np.arange(5000.0)})
    assert report["backend"] == "simd"


def test_a_device_that_fails_leaves_the_loop_to_the_cpu(on, device, monkeypatch):
    from hastega_magic.compiler.backend_opencl import OpenCl
    from hastega_magic.runtime.opencl import DeviceError

    tried = []

    def fails(*_):
        tried.append(1)
        raise DeviceError("no memory left")

    monkeypatch.setattr(OpenCl, "run", fails)
    on(machine(device))
    session = Session({"xs": np.arange(5000.0)}, Options(baseline=False))
    for _ in range(2):
        session.run_cell("failed = xs |> map(lambda x: x * 3.0 + 1.25)")
        assert session.last_report.to_dict()["pipelines"][0]["backend"] == "simd"
    assert len(tried) == 1, "it is not asked again"


def test_a_loop_that_was_built_once_need_not_earn_it(on, device):
    class Compiled:
        def __init__(self):
            self.pictures = {}

    compiled = Compiled()
    is_built(compiled, 3)
    assert compiled.pictures


@pytest.mark.parametrize(("operation", "then"), [(1e-8, "parallel"), (1.25e-7, "opencl")])
def test_a_list_that_is_made_while_it_is_computed_may_be_sooner_here(on, device, same, operation, then):
    there = machine(device)
    lanes = host().vector_bits // 64  # an element costs the same, however many this machine has
    on(replace(there, cpu=replace(there.cpu, classes=dict.fromkeys(CLASSES, operation * lanes))))

    def scaled(xs):
        return [x * 3 + (x & 7) for x in xs]

    compiled, xs, chosen = hastega(threads=4)(scaled), list(range(70_000)), []
    with costs.not_learning():  # what runs take here says nothing of that machine
        for _ in range(3):
            assert same(compiled(xs), scaled(xs))
            chosen.append(compiled.explain().pipelines[0].backend)
    assert chosen == ["opencl", then, then]
