"""Workloads of one stage over a long array: filters, running sums, moving averages, windows."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from hastega_magic.benchmarks.model import Workload

N = 100_000_000
_SEED = 20_180_401

_LISTS = "def setup(xs):\n    return {'xs': xs.tolist()}\n"


# Nobody writes into the sources, and a hundred million elements for every peer would not fit into memory.
@functools.lru_cache(maxsize=2)
def _random(kind: str, n: int) -> npt.NDArray[np.generic]:
    rng = np.random.default_rng(_SEED)
    return rng.random(n) if kind == "float64" else rng.integers(0, 1_000_000, n, dtype=np.int64)


def _ints(n: int) -> dict[str, object]:
    """`xs`: int64 in [0, 1 000 000)."""
    return {"xs": _random("int64", n)}


def _floats(n: int) -> dict[str, object]:
    """`xs`: float64 in [0, 1)."""
    return {"xs": _random("float64", n)}


# Two passes over blocks, in parallel: count, then write. Elements are gathered without a branch in a buffer that
# stays in L2, unless hardly any is kept, where a branch is cheaper.
_NUMBA_FILTER = """
NOTE = "two passes over blocks"
def run(n, xs, out):
    size = 16384
    blocks = (n + size - 1) // size
    counts = np.zeros(blocks + 1, np.int64)
    for b in prange(blocks):
        kept = 0
        for i in range(b * size, min(n, (b + 1) * size)):
            x = xs[i]
            kept += {test}
        counts[b + 1] = kept
    for b in range(blocks):
        counts[b + 1] += counts[b]
    for b in prange(blocks):
        {buffer}
        for i in range(b * size, min(n, (b + 1) * size)):
            x = xs[i]
            {keep}
        {copy}
    return out[:counts[blocks]]
"""
_BRANCHING = {
    "buffer": "at = counts[b]",
    "keep": "if {test}:\n                out[at] = x * 3\n                at += 1",
    "copy": "pass",
}
_BRANCHLESS = {
    "buffer": "part, at = np.empty(size + 1, np.int64), 0",
    "keep": "part[at] = x * 3\n            at += {test}",
    "copy": "out[counts[b]:counts[b + 1]] = part[:at]",
}


def _filter(percent: int, test: str, branching: bool) -> Workload:
    numba = _NUMBA_FILTER
    for name, text in (_BRANCHING if branching else _BRANCHLESS).items():
        numba = numba.replace(f"{{{name}}}", text)
    return Workload(
        name=f"filter-{percent}",
        group="stages",
        doc=f"three times the elements with {test}: about {percent} % of an int64 array",
        cell=lambda n: f"ys = xs |> filter(lambda x: {test}) |> map(lambda x: x * 3)\n",
        result="ys",
        n=N,
        inputs=_ints,
        out="int64",
        programs={
            "python": f"{_LISTS}def run(xs):\n    return [x * 3 for x in xs if {test}]\n",
            "numpy": f"""
def run(xs):
    kept = xs[{test.replace("x", "xs")}]
    return np.multiply(kept, 3, out=kept)
""",
            "numba": numba.replace("{test}", test),
            "polars": f"""
def setup(xs):
    return {{"frame": pl.LazyFrame({{"x": xs}})}}
def run(frame):
    x = pl.col("x")
    return frame.filter({test}).select(x * 3).collect()["x"]
""",
        },
    )


_CUMSUM_SEQUENTIAL = """
def run(n, xs, out):
    total = xs[0] * 0
    for i in range(n):
        total += xs[i]
        out[i] = total
    return out
"""
_CUMSUM_PARALLEL = """
NOTE = "a part for each thread: its sum, then its running sums"
def run(n, threads, xs, out):
    starts = np.zeros(threads + 1, xs.dtype)
    for t in prange(threads):
        total = xs[0] * 0
        for i in range(n * t // threads, n * (t + 1) // threads):
            total += xs[i]
        starts[t + 1] = total
    for t in range(threads):
        starts[t + 1] += starts[t]
    for t in prange(threads):
        total = starts[t]
        for i in range(n * t // threads, n * (t + 1) // threads):
            total += xs[i]
            out[i] = total
    return out
"""
_C_CUMSUM = """
void run(int64_t n, int threads, const void **in, void *result) {
    const TYPE *restrict xs = in[0];
    TYPE *restrict out = result, total = 0;
    for (int64_t i = 0; i < n; i++) out[i] = total += xs[i];
}
"""


def _cumsum(kind: str) -> Workload:
    ints = kind == "int64"
    return Workload(
        name=f"cumsum-{kind}",
        group="stages",
        doc=f"running sums of {kind}",
        cell=lambda n: "ys = xs |> cumsum\n",
        result="ys",
        n=N,
        inputs=_ints if ints else _floats,
        out=kind,
        # Sums one after the other drift: 1e8 of them are apart from sums in blocks by 1e-12 and more.
        tolerance=0.0 if ints else 1e-10,
        programs={
            "python": f"{_LISTS}from itertools import accumulate\ndef run(xs):\n    return list(accumulate(xs))\n",
            "numpy": "def run(xs, out):\n    return np.cumsum(xs, out=out)\n",
            "numba": _CUMSUM_PARALLEL,
            "numba:sequential": _CUMSUM_SEQUENTIAL,
            "c": _C_CUMSUM.replace("TYPE", "int64_t" if ints else "double"),
        },
    )


_AVERAGE = Workload(
    name="moving-average",
    group="stages",
    doc="an exponential moving average by scan, float64",
    cell=lambda n: "a = 0.1\nys = xs |> scan(lambda acc, x: a * x + (1 - a) * acc, 0.0)\n",
    result="ys",
    n=N,
    inputs=_floats,
    out="float64",
    tolerance=1e-13,
    programs={
        "python": f"""{_LISTS}
def run(xs):
    a, acc, found = 0.1, 0.0, []
    for x in xs:
        acc = a * x + (1 - a) * acc
        found.append(acc)
    return found
""",
        "numba:sequential": """
def run(n, xs, out):
    a, acc = 0.1, 0.0
    for i in range(n):
        acc = a * xs[i] + (1 - a) * acc
        out[i] = acc
    return out
""",
        "c": """
void run(int64_t n, int threads, const void **in, void *result) {
    const double *restrict xs = in[0];
    double *restrict out = result, a = 0.1, acc = 0;
    for (int64_t i = 0; i < n; i++) out[i] = acc = a * xs[i] + (1 - a) * acc;
}
""",
    },
)

_SUM_OF_FIVE = "xs[i] + xs[i + 1] + xs[i + 2] + xs[i + 3] + xs[i + 4]"
_WINDOW = Workload(
    name="window-mean",
    group="stages",
    doc="the mean of every five neighbours, float64",
    cell=lambda n: "ys = xs |> window(5) |> map(lambda a, b, c, d, e: (a + b + c + d + e) / 5)\n",
    result="ys",
    n=N,
    inputs=_floats,
    out="float64",
    tolerance=1e-14,  # convolve multiplies by 0.2, and C may contract
    programs={
        "python": f"""{_LISTS}
def run(xs):
    return [({_SUM_OF_FIVE}) / 5 for i in range(len(xs) - 4)]
""",
        "numpy": 'def run(xs):\n    return np.convolve(xs, np.full(5, 0.2), "valid")\n',
        "numba": f"""
def run(n, xs, out):
    for i in prange(n - 4):
        out[i] = ({_SUM_OF_FIVE}) / 5
    return out[:n - 4]
""",
    },
)

STAGES: tuple[Workload, ...] = (
    _filter(1, "x % 100 == 0", branching=True),
    _filter(14, "x % 7 == 0", branching=False),
    _filter(50, "x % 2 == 0", branching=False),
    _filter(99, "x % 100 != 0", branching=False),
    _cumsum("float64"),
    _cumsum("int64"),
    _AVERAGE,
    _WINDOW,
)
