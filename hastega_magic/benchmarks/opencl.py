"""OpenCL against kernels written by hand: the logistic map, and the bandwidth of a reduction on the device.

`python -m hastega_magic.benchmarks opencl` runs the workloads; `opencl-bandwidth` is measured from the
report's kernel phase, over an input that an earlier loop of the cell has left on the device.
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from hastega_magic.benchmarks.harness import message
from hastega_magic.benchmarks.logistic import ITERATIONS, MU, N, P
from hastega_magic.benchmarks.model import Row, Workload, untimed

_MAPS = f"\n      |> map(lambda x: {MU} * x * (x + 1) % {P})" * ITERATIONS
_LOOP = f"for (int k = 0; k < {ITERATIONS}; k++) x = {MU} * x * (x + 1) % {P};"
_NAME = "opencl-bandwidth"
_N = 100_000_000


def _from_array(n: int) -> str:
    del n
    return f"ys = (xs{_MAPS})\n"


def _from_range(n: int) -> str:
    return f"ys = (range(1, {n + 1}){_MAPS})\n"


def _array(n: int) -> dict[str, object]:
    return {"xs": np.arange(1, n + 1, dtype=np.int64)}


def _kernel(parameter: str, load: str) -> str:
    return f"""
__kernel void run({parameter}__global long *out) {{
    const size_t i = get_global_id(0);
    long x = {load};
    {_LOOP}
    out[i] = x;
}}
"""


def _cupy(parameters: str, load: str, call: str, setup: str) -> str:
    return f"""
{setup}
kernel = cupy.ElementwiseKernel("{parameters}", "int64 y", "long long x = {load}; {_LOOP} y = x;", "logistic")
def run({"xs" if "xs" in call else "n"}):
    return cupy.asnumpy({call})
"""


LOGISTIC_OPENCL: tuple[Workload, ...] = (
    Workload(
        name="opencl-logistic",
        group="opencl",
        doc="ten chained maps over an int64 array, NumPy in and out, on an OpenCL device",
        cell=_from_array,
        result="ys",
        n=N,
        inputs=_array,
        out="int64",
        backend="opencl",
        programs={
            "opencl": _kernel("__global const long *xs, ", "xs[i]"),
            "cupy": _cupy("int64 v", "v", "kernel(cupy.asarray(xs))", ""),
        },
    ),
    Workload(
        name="opencl-logistic-range",
        group="opencl",
        doc="the same over a range, which is made on the device",
        cell=_from_range,
        result="ys",
        n=N,
        out="int64",
        backend="opencl",
        programs={
            "opencl": _kernel("", "i + 1"),
            "cupy": _cupy("int64 v", "v", "kernel(cupy.arange(1, n + 1, dtype=cupy.int64))", ""),
        },
    ),
)


def bandwidth(n: int | None, backend: str, threads: int, repeat: int) -> list[Row]:
    """Read rate of a sum of squares over float64 on the device, beside that of the device's own copy.

    `ratio` of the copy's row is hastega's rate over the copy's rate (which counts reads and writes).
    """
    from hastega_magic.runtime import opencl
    from hastega_magic.session import Options, Session

    size = n or _N
    spec = backend if backend.startswith("opencl") else "opencl"
    try:
        device = opencl.device(spec)
    except Exception as error:  # whatever keeps a device from being used is the row's note
        return [untimed(_NAME, "hastega", size, threads, str(error).splitlines()[0])]
    session = Session({"xs": np.random.default_rng(1).random(size)}, Options(on=spec, baseline=False))
    cell = "m = xs |> mean\nv = xs |> map(lambda x: (x - m) * (x - m)) |> sum\n"
    ours: list[float] = []
    try:
        for _ in range(repeat):
            session.run_cell(cell)
            assert session.last_report is not None
            phases = session.last_report.pipelines[1].phases
            ours.append(next(phase.seconds for phase in phases if phase.name == "kernel"))
        copies = _copies(device, 8 * size, repeat)
    except Exception as error:  # the device's own words say why
        words = " ".join(str(getattr(error, "log", "")).split())
        return [untimed(_NAME, "hastega", size, threads, f"{message(error)} {words}".strip())]
    mine, theirs = 8 * size / statistics.median(ours), 16 * size / statistics.median(copies)
    expected = float(np.var(session.namespace["xs"])) * size
    equal = abs(float(session.namespace["v"]) - expected) <= 1e-9 * expected
    return [
        _row("hastega:kernel", size, threads, ours, 1.0, equal, f"{mine / 1e9:.0f} GB/s"),
        _row(
            "device copy", size, threads, copies, mine / theirs, None, f"{theirs / 1e9:.0f} GB/s read + write"
        ),
    ]


def _row(
    peer: str, n: int, threads: int, seconds: list[float], ratio: float, equal: bool | None, note: str
) -> Row:
    median = statistics.median(seconds)
    return Row(_NAME, peer, n, threads, median, min(seconds), max(seconds), ratio, equal, note)


def _copies(device: Any, size: int, repeat: int) -> list[float]:
    """Seconds of copies from one buffer of the device to another, by its own clock."""
    import importlib

    cl: Any = importlib.import_module("pyopencl")
    queue = device.queue()
    buffers = [cl.Buffer(device.context, cl.mem_flags.READ_WRITE, size) for _ in range(2)]
    seconds: list[float] = []
    for number in range(repeat + 1):
        event = cl.enqueue_copy(queue, buffers[1], buffers[0])
        event.wait()
        if number:  # the first one makes the pages
            seconds.append((event.profile.end - event.profile.start) * 1e-9)
    return seconds
