"""The logistic map x -> 22 x (x + 1) mod 6 700 417, ten times, and the variants Hastega measured.

The variants differ in how the work is written (ten chained maps, one map with ten calls) and in
what goes in and comes out (a range, an array, a list); `empty` converts and calls but computes
nothing, so it shows what the conversion of lists costs.
"""

from __future__ import annotations

import numpy as np

from hastega_magic.benchmarks.model import Workload

P, MU, ITERATIONS = 6_700_417, 22, 10
N = 0x2000000
# Lists of 33 million ints need gigabytes; the variants by list therefore default to fewer.
N_LIST = 0x400000

_STEP = "mu * x * (x + 1) % p"


def _chained(source: str, tail: str = "") -> str:
    """The cell text with `ITERATIONS` chained maps over the expression `source`."""
    maps = f"      |> map(lambda x: {_STEP})\n" * ITERATIONS
    return f"p, mu = {P}, {MU}\nys = ({source}\n{maps}{tail}      )\n"


def _from_range(n: int) -> str:
    return _chained(f"range(1, {n + 1})")


def _calls(n: int) -> str:
    body = "f(" * ITERATIONS + "x" + ")" * ITERATIONS
    return (
        f"p, mu = {P}, {MU}\ndef f(x):\n    return {_STEP}\nys = range(1, {n + 1}) |> map(lambda x: {body})\n"
    )


def _from_array(n: int) -> str:
    del n
    return _chained("xs")


def _from_list(n: int) -> str:
    del n
    return _chained("xs", "      |> to_list()\n")


def _empty(n: int) -> str:
    del n
    return "ys = xs |> map(lambda x: x) |> to_list()\n"


def _array(n: int) -> dict[str, object]:
    return {"xs": np.arange(1, n + 1, dtype=np.int64)}


def _list(n: int) -> dict[str, object]:
    return {"xs": list(range(1, n + 1))}


def _python(source: str) -> str:
    return f"""
def run({source}):
    p, mu = {P}, {MU}
    out = []
    for x in {"range(1, n + 1)" if source == "n" else source}:
        for _ in range({ITERATIONS}):
            x = mu * x * (x + 1) % p
        out.append(x)
    return out
"""


_NUMPY_LOOP = f"""
    for _ in range({ITERATIONS}):
        np.add(out, 1, out=tmp)
        np.multiply(out, tmp, out=out)
        np.multiply(out, {MU}, out=out)
        np.remainder(out, {P}, out=out)
"""

_SETUP_XS = """
def setup(n):
    return {"xs": np.arange(1, n + 1, dtype=np.int64)}
"""
_SETUP_XS_TMP = """
def setup(n):
    return {"xs": np.arange(1, n + 1, dtype=np.int64), "tmp": np.empty(n, np.int64)}
"""
_SETUP_TMP = """
def setup(n):
    return {"tmp": np.empty(n, np.int64)}
"""
_NUMPY = f"""
def run(xs, out, tmp):
    np.copyto(out, xs)
{_NUMPY_LOOP}
    return out
"""
_NUMPY_LIST = f"""
def run(xs):
    out = np.array(xs, dtype=np.int64)
    tmp = np.empty_like(out)
{_NUMPY_LOOP}
    return out.tolist()
"""


def _c(load: str) -> str:
    return f"""
void run(int64_t n, int threads, const void **in, void *result) {{
    int64_t *out = result;
    #pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {{
        int64_t x = {load};
        for (int k = 0; k < {ITERATIONS}; k++) x = {MU} * x * (x + 1) % {P};
        out[i] = x;
    }}
}}
"""


def _numba(parameters: str, load: str) -> str:
    return f"""
def run({parameters}):
    for i in prange(n):
        x = {load}
        for _ in range({ITERATIONS}):
            x = {MU} * x * (x + 1) % {P}
        out[i] = x
    return out
"""


_NUMBA_UFUNC = f"""
signature = "int64(int64)"
def element(x):
    for _ in range({ITERATIONS}):
        x = {MU} * x * (x + 1) % {P}
    return x
"""

_NUMEXPR = f"""
def run(xs, out):
    ne.evaluate("{MU} * xs * (xs + 1) % {P}", out=out)
    for _ in range({ITERATIONS - 1}):
        ne.evaluate("{MU} * out * (out + 1) % {P}", out=out)
    return out
"""


def _jax(parameters: str, load: str, setup: str = "") -> str:
    return f"""
{setup}
def run({parameters}):
    x = {load}
    for _ in range({ITERATIONS}):
        x = {MU} * x * (x + 1) % {P}
    return x
"""


# `first` is an argument so that XLA cannot compute the whole result at compile time.
_SETUP_FIRST = """
def setup():
    return {"first": np.int64(1)}
"""

_RANGE_PROGRAMS = {
    "python": _python("n"),
    "numpy": _SETUP_XS_TMP + _NUMPY,
    "c": _c("i + 1"),
    "numba": _numba("n, out", "i + 1"),
    "numba:vectorize": _SETUP_XS + _NUMBA_UFUNC,
    "numexpr": _SETUP_XS + _NUMEXPR,
    "jax": _jax("n, first", "first + jnp.arange(n)", _SETUP_FIRST),
}

_GROUP = "logistic"

LOGISTIC: tuple[Workload, ...] = (
    Workload(
        name="logistic",
        group=_GROUP,
        doc="ten chained maps over a range (fusion)",
        cell=_from_range,
        result="ys",
        n=N,
        out="int64",
        programs=_RANGE_PROGRAMS,
    ),
    Workload(
        name="logistic-calls",
        group=_GROUP,
        doc="one map with ten calls of a function, over a range",
        cell=_calls,
        result="ys",
        n=N,
        out="int64",
        programs={"c": _RANGE_PROGRAMS["c"], "numba": _RANGE_PROGRAMS["numba"]},
    ),
    Workload(
        name="logistic-array",
        group=_GROUP,
        doc="ten chained maps over an int64 array (by binary)",
        cell=_from_array,
        result="ys",
        n=N,
        inputs=_array,
        out="int64",
        programs={
            "c": _c("((const int64_t *)in[0])[i]"),
            "numba": _numba("n, xs, out", "xs[i]"),
            "numba:vectorize": _NUMBA_UFUNC,
            "numexpr": _NUMEXPR,
            "numpy": _SETUP_TMP + _NUMPY,
            "jax": _jax("xs", "xs"),
        },
    ),
    Workload(
        name="logistic-list",
        group=_GROUP,
        doc="ten chained maps, a list in and a list out",
        cell=_from_list,
        result="ys",
        n=N_LIST,
        inputs=_list,
        programs={"python": _python("xs"), "numpy": _NUMPY_LIST},
    ),
    Workload(
        name="empty",
        group=_GROUP,
        doc="a list in and the same list out: conversion and call only",
        cell=_empty,
        result="ys",
        n=N_LIST,
        inputs=_list,
        programs={
            "python": "def run(xs):\n    return [x for x in xs]\n",
            "numpy": "def run(xs):\n    return np.array(xs, dtype=np.int64).tolist()\n",
        },
    ),
)
