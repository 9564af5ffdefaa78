"""Workloads whose elements take different numbers of turns: loops and branches inside the function."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hastega_magic.benchmarks.model import Workload

_SEED = 20_180_401


def _points(n: int) -> dict[str, object]:
    """`a`, `b`: a square grid over the Mandelbrot set, row by row, as float64."""
    side = max(1, int(n**0.5))
    columns, rows = np.meshgrid(np.linspace(-2.0, 0.5, side), np.linspace(-1.25, 1.25, side))
    return {"a": np.resize(columns.ravel(), n), "b": np.resize(rows.ravel(), n)}


def _pairs(bits: int) -> Callable[[int], dict[str, object]]:
    """`a`, `b`: int64 in [1, 2^bits)."""

    def inputs(n: int) -> dict[str, object]:
        rng = np.random.default_rng(_SEED)
        return {"a": rng.integers(1, 1 << bits, n), "b": rng.integers(1, 1 << bits, n)}

    return inputs


_MANDELBROT = """def escape(a, b):
    x = y = 0.0
    for i in range(200):
        if x * x + y * y > 4.0:
            return i
        x, y = x * x - y * y + a, 2 * x * y + b
    return 200
"""
_COLLATZ = """def length(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
"""
_GCD = """def gcd(a, b):
    while b:
        a, b = b, a % b
    return a
"""


def _programs(function: str, name: str, sources: str, c_function: str, c_call: str) -> dict[str, str]:
    """The peers' programs around a function of the elements, which Python and numba share.

    Pure Python gets lists: iterating over an array would box NumPy scalars and be slower.
    """
    lists = ", ".join(f"'{source}': {source}.tolist()" for source in sources.split(", ") if source)
    setup = f"def setup({sources}):\n    return {{{lists}}}\n" if sources else ""
    elements = f"zip({sources})" if sources else "range(1, n + 1)"
    each = "a, b" if sources else "v"
    items = ", ".join(f"{source}[i]" for source in sources.split(", ")) if sources else "i + 1"
    return {
        "python": (
            f"{setup}{function}\n"
            f"def run({sources or 'n'}):\n    return [{name}({each}) for {each} in {elements}]\n"
        ),
        "numba": f"""
from numba import njit
{function}
element = njit({name})
def run(n, out{", " + sources if sources else ""}):
    for i in prange(n):
        out[i] = element({items})
    return out
""",
        "c": f"""
{c_function}
void run(int64_t n, int threads, const void **in, void *result) {{
    int64_t *restrict out = result;
    #pragma omp parallel for num_threads(threads) schedule(dynamic, 4096)
    for (int64_t i = 0; i < n; i++) out[i] = {c_call};
}}
""",
    }


_GCD_C = """static int64_t gcd(int64_t a, int64_t b) {
    while (b) { int64_t r = a % b; a = b; b = r; }
    return a;
}"""


def _gcd(bits: int) -> Workload:
    return Workload(
        name=f"gcd-{bits}",
        group="control-flow",
        doc=f"greatest common divisors of pairs of {bits}-bit integers, by Euclid's algorithm",
        cell=lambda n: f"{_GCD}ys = a |> zip(b) |> map(gcd)\n",
        result="ys",
        n=2_000_000,
        inputs=_pairs(bits),
        out="int64",
        programs=_programs(
            _GCD, "gcd", "a, b", _GCD_C, "gcd(((const int64_t *)in[0])[i], ((const int64_t *)in[1])[i])"
        ),
        sample=100_000,
    )


CONTROL_FLOW: tuple[Workload, ...] = (
    Workload(
        name="mandelbrot",
        group="control-flow",
        doc="escape times over the Mandelbrot set, at most 200 iterations, float64",
        cell=lambda n: f"{_MANDELBROT}ys = a |> zip(b) |> map(escape)\n",
        result="ys",
        n=4_000_000,
        inputs=_points,
        out="int64",
        programs=_programs(
            _MANDELBROT,
            "escape",
            "a, b",
            """static int64_t escape(double a, double b) {
    double x = 0.0, y = 0.0;
    for (int64_t i = 0; i < 200; i++) {
        if (x * x + y * y > 4.0) return i;
        double z = x * x - y * y + a;
        y = 2 * x * y + b;
        x = z;
    }
    return 200;
}""",
            "escape(((const double *)in[0])[i], ((const double *)in[1])[i])",
        ),
        sample=50_000,
    ),
    Workload(
        name="collatz",
        group="control-flow",
        doc="lengths of Collatz sequences of 1 to n, overflow guarded (the peers' is not)",
        cell=lambda n: f"{_COLLATZ}ys = range(1, {n + 1}) |> map(length)\n",
        result="ys",
        n=10_000_000,
        out="int64",
        programs=_programs(
            _COLLATZ,
            "length",
            "",
            """static int64_t length(int64_t n) {
    int64_t steps = 0;
    while (n != 1) { n = n % 2 == 0 ? n / 2 : 3 * n + 1; steps++; }
    return steps;
}""",
            "length(i + 1)",
        ),
        sample=100_000,
    ),
    _gcd(52),
    _gcd(62),
)
