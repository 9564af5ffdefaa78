"""All workloads, one entry each; a new one is one more entry here (or in a file of its family)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from hastega_magic.benchmarks.control_flow import CONTROL_FLOW
from hastega_magic.benchmarks.logistic import LOGISTIC
from hastega_magic.benchmarks.model import Workload
from hastega_magic.benchmarks.opencl import LOGISTIC_OPENCL
from hastega_magic.benchmarks.ordinary import ORDINARY
from hastega_magic.benchmarks.stages import STAGES

N = 10_000_000
SEED = 20_180_401


def _text(cell: str) -> Callable[[int], str]:
    """A cell whose text does not depend on the number of elements."""
    return lambda n: cell


def _ints(n: int) -> dict[str, object]:
    """`xs`: int64 in +-100 000, so that no sum of 1e8 squares leaves int64 (C would wrap)."""
    return {"xs": np.random.default_rng(SEED).integers(-100_000, 100_001, n, dtype=np.int64)}


def _floats(n: int) -> dict[str, object]:
    """`xs`: float64 in [0, 1)."""
    return {"xs": np.random.default_rng(SEED).random(n)}


def _complex(n: int) -> dict[str, object]:
    """`xs`: complex128 in the unit square."""
    rng = np.random.default_rng(SEED)
    return {"xs": rng.random(n) + 1j * rng.random(n)}


def _two_floats(n: int) -> dict[str, object]:
    rng = np.random.default_rng(SEED)
    return {"xs": rng.random(n), "ys": rng.random(n)}


# Pure Python gets lists: iterating over an array would box NumPy scalars and be slower.
_LISTS = "def setup(xs):\n    return {'xs': xs.tolist()}\n"


def _map_programs(c_type: str, signature: str) -> dict[str, str]:
    return {
        "python": _LISTS + "def run(xs):\n    return [x * 3 + 1 for x in xs]\n",
        "numpy": "def run(xs, out):\n    np.multiply(xs, 3, out=out)\n    return np.add(out, 1, out=out)\n",
        "c": f"""
void run(int64_t n, int threads, const void **in, void *result) {{
    const {c_type} *restrict xs = in[0];
    {c_type} *restrict out = result;
    #pragma omp parallel for simd num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) out[i] = xs[i] * 3 + 1;
}}
""",
        "numba": """
def run(n, xs, out):
    for i in prange(n):
        out[i] = xs[i] * 3 + 1
    return out
""",
        "numba:vectorize": f"signature = '{signature}'\ndef element(x):\n    return x * 3 + 1\n",
        "numexpr": "def run(xs, out):\n    return ne.evaluate('xs * 3 + 1', out=out)\n",
        "jax": "def run(xs):\n    return xs * 3 + 1\n",
    }


def _sum_programs(c_type: str) -> dict[str, str]:
    return {
        "python": _LISTS + "def run(xs):\n    return sum(xs)\n",
        "numpy": "def run(xs):\n    return xs.sum()\n",
        "c": _c_reduction(c_type, "s += xs[i];"),
        "numba": """
def run(n, xs):
    s = xs[0] * 0
    for i in prange(n):
        s += xs[i]
    return s
""",
        "numexpr": """
NOTE = "numexpr reduces on one thread"
def run(xs):
    return ne.evaluate("sum(xs)")
""",
        "jax": "def run(xs):\n    return jnp.sum(xs)\n",
    }


def _c_reduction(c_type: str, statement: str, more: str = "") -> str:
    # `simd` lets the compiler reassociate float sums; without it gcc -O3 keeps them scalar.
    return f"""
void run(int64_t n, int threads, const void **in, void *result) {{
    const {c_type} *xs = in[0];
    {more}
    {c_type} s = 0;
    #pragma omp parallel for simd num_threads(threads) schedule(static) reduction(+:s)
    for (int64_t i = 0; i < n; i++) {{ {statement} }}
    *({c_type} *)result = s;
}}
"""


_BASIC: tuple[Workload, ...] = (
    Workload(
        name="map-int64",
        group="map",
        doc="x * 3 + 1 over an int64 array",
        cell=_text("ys = xs |> map(lambda x: x * 3 + 1)\n"),
        result="ys",
        n=N,
        called=True,
        inputs=_ints,
        out="int64",
        programs=_map_programs("int64_t", "int64(int64)"),
    ),
    Workload(
        name="map-float64",
        group="map",
        doc="x * 3 + 1 over a float64 array",
        cell=_text("ys = xs |> map(lambda x: x * 3 + 1)\n"),
        result="ys",
        n=N,
        called=True,
        inputs=_floats,
        out="float64",
        # gcc and XLA contract to a fused multiply-add, which rounds once instead of twice.
        tolerance=1e-15,
        programs=_map_programs("double", "float64(float64)"),
    ),
    Workload(
        name="map-complex128",
        group="map",
        doc="x * 3 + 1 over a complex128 array",
        cell=_text("ys = xs |> map(lambda x: x * 3 + 1)\n"),
        result="ys",
        n=N,
        called=True,
        inputs=_complex,
        out="complex128",
        tolerance=1e-15,  # gcc and XLA contract to fused multiply-adds
        programs={
            "python": _LISTS + "def run(xs):\n    return [x * 3 + 1 for x in xs]\n",
            "numpy": "def run(xs, out):\n    np.multiply(xs, 3, out=out)\n    return np.add(out, 1, out=out)\n",
            "c": """
#include <complex.h>
void run(int64_t n, int threads, const void **in, void *result) {
    const double complex *restrict xs = in[0];
    double complex *restrict out = result;
    #pragma omp parallel for simd num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) out[i] = xs[i] * 3 + 1;
}
""",
            "numba": """
def run(n, xs, out):
    for i in prange(n):
        out[i] = xs[i] * 3 + 1
    return out
""",
            "numexpr": "def run(xs, out):\n    return ne.evaluate('xs * 3 + 1', out=out)\n",
            "jax": "def run(xs):\n    return xs * 3 + 1\n",
        },
    ),
    Workload(
        name="filter-reduce",
        doc="sum of the squares of the even elements of an int64 array",
        cell=_text("total = xs |> filter(lambda x: x % 2 == 0) |> map(lambda x: x * x) |> sum\n"),
        result="total",
        n=N,
        called=True,
        inputs=_ints,
        programs={
            "python": _LISTS + "def run(xs):\n    return sum(x * x for x in xs if x % 2 == 0)\n",
            "numpy": "def run(xs):\n    evens = xs[xs % 2 == 0]\n    return np.dot(evens, evens)\n",
            "c": _c_reduction("int64_t", "if (xs[i] % 2 == 0) s += xs[i] * xs[i];"),
            "numba": """
def run(n, xs):
    s = 0
    for i in prange(n):
        if xs[i] % 2 == 0:
            s += xs[i] * xs[i]
    return s
""",
            "numexpr": """
NOTE = "numexpr reduces on one thread"
def run(xs):
    return ne.evaluate("sum(where(xs % 2 == 0, xs * xs, 0))")
""",
            "jax": "def run(xs):\n    return jnp.sum(jnp.where(xs % 2 == 0, xs * xs, 0))\n",
        },
    ),
    Workload(
        name="sum-int64",
        group="sum",
        doc="sum of an int64 array",
        cell=_text("total = xs |> sum\n"),
        result="total",
        n=N,
        called=True,
        inputs=_ints,
        programs=_sum_programs("int64_t"),
    ),
    Workload(
        name="sum-float64",
        group="sum",
        doc="sum of a float64 array",
        cell=_text("total = xs |> sum\n"),
        result="total",
        n=N,
        called=True,
        inputs=_floats,
        scalar="float64",
        tolerance=1e-12,
        programs=_sum_programs("double"),
    ),
    Workload(
        name="dot",
        doc="sum of the products of two float64 arrays: zip, map, sum",
        cell=_text("total = xs |> zip(ys) |> map(lambda x, y: x * y) |> sum\n"),
        result="total",
        n=N,
        called=True,
        inputs=_two_floats,
        scalar="float64",
        tolerance=1e-12,
        programs={
            "python": """
def setup(xs, ys):
    return {"xs": xs.tolist(), "ys": ys.tolist()}
def run(xs, ys):
    return sum(x * y for x, y in zip(xs, ys))
""",
            "numpy": "NOTE = 'threads as its BLAS chooses'\ndef run(xs, ys):\n    return np.dot(xs, ys)\n",
            "c": _c_reduction("double", "s += xs[i] * ys[i];", "const double *ys = in[1];"),
            "numba": """
def run(n, xs, ys):
    s = 0.0
    for i in prange(n):
        s += xs[i] * ys[i]
    return s
""",
            "numexpr": """
NOTE = "numexpr reduces on one thread"
def run(xs, ys):
    return ne.evaluate("sum(xs * ys)")
""",
            "jax": "def run(xs, ys):\n    return jnp.dot(xs, ys)\n",
        },
    ),
)


def _table(entries: Iterable[Workload]) -> dict[str, Workload]:
    table: dict[str, Workload] = {}
    for entry in entries:
        if entry.name in table:
            raise ValueError(f"two workloads are named {entry.name!r}")
        table[entry.name] = entry
    return table


WORKLOADS: dict[str, Workload] = _table(
    (*LOGISTIC, *_BASIC, *CONTROL_FLOW, *STAGES, *ORDINARY, *LOGISTIC_OPENCL)
)


def members(name: str) -> list[str]:
    """The workloads that `name` stands for: a group's members, or the workload of that name.

    Empty where there is neither.
    """
    grouped = [w.name for w in WORKLOADS.values() if w.group == name]
    return grouped or ([name] if name in WORKLOADS else [])
