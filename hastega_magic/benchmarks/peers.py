"""Who hastega is measured against, each at its best: result arrays preallocated, compiled, warmed up.

A peer takes a workload's program text in its own language and makes an `Entrant` of it.  What is
not installed raises `Unavailable`, whose message becomes the note of a row without times.
"""

from __future__ import annotations

import importlib
import inspect
import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hastega_magic.benchmarks import cc
from hastega_magic.benchmarks.model import Entrant, Workload
from hastega_magic.records import dataclass


class Unavailable(Exception):
    """This peer cannot run here; the message is one line that says why."""


@dataclass(frozen=True)
class Case:
    """One workload at one size: `n` elements on `threads` threads."""

    workload: Workload
    n: int
    threads: int


Names = dict[str, Any]
Run = Callable[[], object]


@dataclass(frozen=True)
class Peer:
    """A peer: `bind(text, case)` makes the function that is timed.

    `parallel` says whether it follows `--threads`, `sampled` whether it gets only
    `workload.sample` elements and its time is extrapolated.
    """

    name: str
    doc: str
    bind: Callable[[str, Case], tuple[Run, str]]
    parallel: bool = True
    sampled: bool = False


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Unavailable(f"{name} is not installed ({error})") from error


def _arguments(function: Callable[..., object], names: Mapping[str, Any]) -> list[Any]:
    return [names[parameter] for parameter in inspect.signature(function).parameters]


def _load(text: str, case: Case, tools: Mapping[str, Any]) -> tuple[Names, Names]:
    """Execute a Python program text; its globals, and the names that its `run` may ask for."""
    scope: Names = dict(tools)
    exec(compile(text, f"<{case.workload.name}>", "exec"), scope)
    names: Names = {"n": case.n, "threads": case.threads, **case.workload.inputs(case.n)}
    if "setup" in scope:
        names |= scope["setup"](*_arguments(scope["setup"], names))
    if case.workload.out:
        # Written once here, so that the pages exist before the first run.
        names["out"] = np.zeros(case.n, dtype=case.workload.out)
    return scope, names


def _note(scope: Names) -> str:
    return str(scope.get("NOTE", ""))


def _python(text: str, case: Case) -> tuple[Run, str]:
    scope, names = _load(text, case, {})
    run, arguments = scope["run"], _arguments(scope["run"], names)
    return (lambda: run(*arguments)), _note(scope)


def _numpy(text: str, case: Case) -> tuple[Run, str]:
    scope, names = _load(text, case, {"np": np})
    run, arguments = scope["run"], _arguments(scope["run"], names)
    return (lambda: run(*arguments)), _note(scope)


def _c(text: str, case: Case) -> tuple[Run, str]:
    try:
        program = cc.Program(text)
    except cc.CompilerError as error:
        raise Unavailable(str(error)) from error
    workload = case.workload
    inputs = [np.ascontiguousarray(value) for value in workload.inputs(case.n).values()]
    out = np.zeros(case.n if workload.out else 1, dtype=workload.out or workload.scalar)

    def run() -> object:
        program(case.n, case.threads, inputs, out)
        return out if workload.out else out[0].item()

    return run, " ".join(cc.FLAGS[:3])


def _numba_module(threads: int) -> Any:
    numba = _module("numba")
    most: int = numba.config.NUMBA_NUM_THREADS
    if threads > most:
        raise Unavailable(f"numba was started for at most {most} threads: set NUMBA_NUM_THREADS")
    numba.set_num_threads(threads)
    return numba


def _numba(text: str, case: Case) -> tuple[Run, str]:
    numba = _numba_module(case.threads)
    scope, names = _load(text, case, {"np": np, "prange": numba.prange})
    arguments = _arguments(scope["run"], names)
    jitted = numba.njit(parallel=True)(scope["run"])
    return (lambda: jitted(*arguments)), "; ".join(filter(None, ("njit, prange", _note(scope))))


def _numba_sequential(text: str, case: Case) -> tuple[Run, str]:
    numba = _module("numba")  # how many threads others use stays as it is
    scope, names = _load(text, case, {"np": np})
    arguments = _arguments(scope["run"], names)
    jitted = numba.njit(scope["run"])
    return (lambda: jitted(*arguments)), "njit, one loop"


def _numba_vectorize(text: str, case: Case) -> tuple[Run, str]:
    numba = _numba_module(case.threads)
    scope, names = _load(text, case, {"np": np})
    ufunc = numba.vectorize([scope["signature"]], target="parallel")(scope["element"])
    xs, out = names["xs"], names["out"]
    return (lambda: ufunc(xs, out=out)), "vectorize(target='parallel')"


def _numexpr(text: str, case: Case) -> tuple[Run, str]:
    # numexpr allows itself at most 8 threads unless told before its import.
    os.environ.setdefault("NUMEXPR_MAX_THREADS", str(max(case.threads, os.cpu_count() or 1)))
    numexpr = _module("numexpr")
    numexpr.set_num_threads(case.threads)
    scope, names = _load(text, case, {"np": np, "ne": numexpr})
    run, arguments = scope["run"], _arguments(scope["run"], names)
    return (lambda: run(*arguments)), _note(scope)


def _polars(text: str, case: Case) -> tuple[Run, str]:
    # Polars sizes its pool once, when it is imported.
    os.environ.setdefault("POLARS_MAX_THREADS", str(case.threads))
    polars = _module("polars")
    if (started := polars.thread_pool_size()) != case.threads:
        raise Unavailable(f"polars was started with {started} threads in this process")
    scope, names = _load(text, case, {"np": np, "pl": polars})
    run, arguments = scope["run"], _arguments(scope["run"], names)
    return (lambda: run(*arguments)), "lazy, collected"


_jax_threads: list[int] = []


def _jax_module(threads: int) -> Any:
    if not _jax_threads:
        # XLA sizes its pool once, when its first client is made.
        os.environ["NPROC"] = os.environ["PJRT_NPROC"] = str(threads)
        _jax_threads.append(threads)
    if _jax_threads[0] != threads:
        raise Unavailable(f"JAX was started with {_jax_threads[0]} threads in this process")
    jax = _module("jax")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    return jax


def _jax(text: str, case: Case) -> tuple[Run, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jax = _jax_module(case.threads)
        scope, names = _load(text, case, {"np": np, "jax": jax, "jnp": jax.numpy})
        parameters = inspect.signature(scope["run"]).parameters
        # The arrays are put on JAX's side before the clock starts, once.
        arguments = [names[p] if p == "n" else jax.numpy.asarray(names[p]) for p in parameters]
        jitted = jax.jit(scope["run"], static_argnames=("n",) if "n" in parameters else ())
        jax.block_until_ready(arguments)
    return (lambda: jax.block_until_ready(jitted(*arguments))), "jit, block_until_ready"


def _opencl(text: str, case: Case) -> tuple[Run, str]:
    """A kernel written by hand, on the device that hastega takes: copied in, run, copied out."""
    cl = _module("pyopencl")
    from hastega_magic.runtime import opencl

    device = opencl.device("opencl")
    context = device.context
    queue = cl.CommandQueue(context)
    kernel = cl.Kernel(cl.Program(context, text).build(), "run")
    inputs = [np.ascontiguousarray(value) for value in case.workload.inputs(case.n).values()]
    out = np.zeros(case.n, case.workload.out)
    flags = cl.mem_flags
    sources = [cl.Buffer(context, flags.READ_ONLY, each.nbytes) for each in inputs]
    target = cl.Buffer(context, flags.WRITE_ONLY, out.nbytes)

    def run() -> object:
        for array, buffer in zip(inputs, sources, strict=True):
            cl.enqueue_copy(queue, buffer, array, is_blocking=False)
        kernel(queue, (case.n,), None, *sources, target)
        cl.enqueue_copy(queue, out, target)
        return out

    return run, f"by hand, transfers included, on {device.info.name}"


def _cupy(text: str, case: Case) -> tuple[Run, str]:
    cupy = _module("cupy")
    scope, names = _load(text, case, {"np": np, "cupy": cupy})
    run, arguments = scope["run"], _arguments(scope["run"], names)
    return (lambda: run(*arguments)), "ElementwiseKernel, NumPy in and out"


PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer("c", "C, cc -O3 -march=native, OpenMP", _c),
        Peer("numba", "numba, njit(parallel=True) with prange", _numba),
        Peer("numba:sequential", "numba, njit, one thread", _numba_sequential, parallel=False),
        Peer("numba:vectorize", "numba, vectorize(target='parallel')", _numba_vectorize),
        Peer("polars", "polars, a lazy frame", _polars),
        Peer("numexpr", "numexpr", _numexpr),
        Peer("jax", "JAX on the CPU, 64 bits", _jax),
        Peer("opencl", "an OpenCL kernel written by hand, with its transfers", _opencl),
        Peer("cupy", "CuPy, with its transfers", _cupy),
        Peer("numpy", "NumPy", _numpy, parallel=False),
        Peer("python", "pure Python", _python, parallel=False, sampled=True),
    )
}


def enter(peer: Peer, workload: Workload, n: int, threads: int) -> Entrant:
    """Make `peer` ready for `workload`; Unavailable where it cannot run here.

    Raises KeyError where the workload has no program for it.
    """
    used = threads if peer.parallel else 1
    size = min(n, workload.sample) if peer.sampled else n
    run, note = peer.bind(workload.programs[peer.name], Case(workload, size, used))
    return Entrant(name=peer.name, n=size, threads=used, run=run, note=note)
