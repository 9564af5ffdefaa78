"""Options that change nothing with the back end that was named are told of, in one line."""

from dataclasses import replace

import pytest

from hastega_magic.compiler.reporting.ineffective import narrowed
from hastega_magic.ir.target import Target
from hastega_magic.session import Options, Session

POCL = Target("opencl", "PoCL", frozenset(), 256, "OpenCL", "opencl")


def told(text="s = [1, 2] |> sum", **options):
    (pipeline,) = Session({}, Options(baseline=False, **options)).run_cell(text).report.pipelines
    return list(pipeline.warnings)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"on": "simd", "threads": 3}, "--threads changes nothing with --on simd."),
        ({"on": "python", "strict": True}, "--strict is for compiled loops: CPython computed it."),
        (
            {"on": "simd", "threads": 3, "device_memory": 5},
            "--threads and --device-memory change nothing with --on simd.",
        ),
        ({"on": "parallel", "device_memory": 5}, "--device-memory changes nothing with --on parallel."),
        ({"on": "python", "tune": True}, "--tune is for compiled loops: CPython computed it."),
        ({"on": "numpy", "width": 4}, "--width is for compiled loops: NumPy computed it."),
        (
            {"on": "python", "threads": 2, "fuse": False, "fast_math": True, "repeat": 3},
            "--repeat, --threads, --fast-math and --no-fuse are for compiled loops: CPython computed it, once.",
        ),
    ],
)
def test_what_changes_nothing_is_one_line(options, line):
    assert told(**options) == [line]


@pytest.mark.parametrize(
    "options",
    [
        {"on": "parallel", "threads": 1},
        {"on": "auto", "threads": 1, "device_memory": 100},
        {"on": "simd", "width": 4, "fuse": False, "fast_math": True},
        {"on": "simd", "threads": 1, "compare": ("parallel",)},
        {"on": "python"},
    ],
)
def test_nothing_is_said_of_what_some_back_end_heeds(options):
    assert told(**options) == []


def test_of_a_stage_that_cannot_be_compiled_its_barrier_tells():
    assert told("s = [1, 2] |> map(lambda x: str(x))", threads=2) == []


@pytest.mark.parametrize(
    ("target", "width", "line"),
    [
        (POCL, 16, "--width 16: PoCL has vectors of 4 lanes at most, and the loop these."),
        (
            replace(POCL, vector_bits=64),
            2,
            "--width 2: PoCL has vectors of 1 lane at most, and the loop these.",
        ),
        (
            replace(POCL, cpu="A GPU", features=frozenset({"groups"})),
            8,
            "--width changes nothing on A GPU, which itself makes lanes of work-items.",
        ),
        (POCL, 4, ""),
        (POCL, 0, ""),
        (replace(POCL, spelling="llvm"), 64, ""),
    ],
)
def test_fewer_lanes_than_asked_for_are_one_line(target, width, line):
    assert narrowed(width, target) == line


def test_the_report_tells_of_fewer_lanes():
    pytest.importorskip("pyopencl")
    [line] = told(on="opencl", width=32)
    assert line.startswith("--width ")
