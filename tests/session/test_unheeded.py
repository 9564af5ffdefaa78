"""Options that change nothing with the back end that was named are told of, in one line."""

import pytest

from hastega_magic.session import Options, Session


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
