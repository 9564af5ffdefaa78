"""Cells run three ways, and hypothesis's strategies for them: shared by the tests of the whole compiler."""

from __future__ import annotations

import contextlib
import math
import os
import warnings
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pytest
from at_once import same_at_once
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from hastega_magic.compiler import driver, groups, loops
from hastega_magic.compiler.execute import Execution
from hastega_magic.ir.interpreter import run_fused
from hastega_magic.ir.target import Target, describe
from hastega_magic.runtime import cpu
from hastega_magic.runtime.python import elements
from hastega_magic.session import Options, Session

T = TypeVar("T")
BIG = (1 << 63) - 1
EFFORT = int(os.environ.get("HASTEGA_TEST_EFFORT", "1"))
"""Multiplies the number of examples, for a long search; with more than 1, `some` are all."""


def some(cases: Iterable[T], every: int = 6) -> list[T]:
    """One in so many of the cases, spread over all that they are products of, the same ones each time."""
    return [each for each in cases if EFFORT > 1 or zlib.crc32(repr(each).encode()) % every == 0]


_backend = "auto"
_quiet = False


@contextlib.contextmanager
def on_backend(name: str, quiet: bool = False) -> Iterator[None]:
    """Cells that do not say where they run are run there meanwhile; `quiet`: without what only reports show."""
    global _backend, _quiet
    before, _backend, _quiet = (_backend, _quiet), name, quiet
    try:
        yield
    finally:
        _backend, _quiet = before


def examples(count: int) -> settings:
    """Settings for a search: one in four of the examples, the same every time, unless more effort is asked for."""
    return settings(
        max_examples=max(2, count // 4) if EFFORT == 1 else count * EFFORT,
        deadline=None,
        derandomize=EFFORT == 1,
        suppress_health_check=list(HealthCheck),
    )


@dataclass
class Ran:
    """What a cell did: its value or its exception, what it warned of, and the loops that ran."""

    value: Any = None
    error: Exception | None = None
    warnings: list[str] = field(default_factory=list[str])
    executions: list[Execution] = field(default_factory=list[Execution])
    tables: list[list[list[Any]]] = field(default_factory=list[list[list[Any]]])
    namespace: dict[str, Any] = field(default_factory=dict[str, Any])
    session: Session | None = None

    @property
    def report(self) -> dict[str, Any]:
        assert self.session is not None
        assert self.session.last_report is not None
        return self.session.last_report.to_dict()

    @property
    def notes(self) -> str:
        return "\n".join(getattr(self.error, "__notes__", []))


def run(text: str, names: dict[str, Any] | None = None, **options: Any) -> Ran:
    """Run a cell in a namespace of its own (with math and np), without baselines."""
    namespace = {"math": math, "np": np, **(names or {})}
    return run_in(
        Session(namespace, Options(**{"baseline": False, "quiet": _quiet, "on": _backend, **options})), text
    )


def run_in(session: Session, text: str) -> Ran:
    """The same in a session that may have run cells before."""
    ran = Ran(namespace=session.namespace, session=session)
    original = driver.run_loops

    def spy(*args: Any) -> Execution:
        ran.tables.append([list(elements(column.data)) for column in args[1].table_columns])
        ran.executions.append(original(*args))
        return ran.executions[-1]

    driver.run_loops = groups.run_loops = spy
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                ran.value = session.run_cell(text).value
            except Exception as error:
                ran.error = error
    finally:
        driver.run_loops = groups.run_loops = original
    name = session.options.on
    if name in ("simd", "parallel", "opencl"):
        assert all(execution.backend.name == name for execution in ran.executions)
    ran.warnings = [str(each.message) for each in caught if "Integer" in each.category.__name__]
    return ran


def python(text: str, names: dict[str, Any] | None = None) -> Ran:
    """The same cell with every stage run by CPython, whose report nobody reads."""
    return run(text, names, on="python", quiet=True)


def same(a: Any, b: Any) -> bool:
    """Equal, of one type, NaN as NaN, zeros with their signs. A float32 may stand for the float it is."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if len(a) == len(b) == 0:
            return True  # which type no elements have is the compiler's to say
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if not a.dtype.hasobject and a.tobytes() == b.tobytes():
            return True
        return (
            all(same(a[name], b[name]) for name in a.dtype.names)
            if a.dtype.names
            else same(a.tolist(), b.tolist())
        )
    a, b = _plain(a), _plain(b)
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and (
            same_at_once(a, b) or all(same(*pair) for pair in zip(a, b, strict=True))
        )
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, float):
        return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return bool(a == b)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def close(a: Any, b: Any, tolerance: float = 1e-12) -> bool:
    """For float reductions, whose order of rounding is not Python's."""
    a, b = _plain(a), _plain(b)
    if isinstance(a, complex) and isinstance(b, complex):
        return close(a.real, b.real, tolerance) and close(a.imag, b.imag, tolerance)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(close(*pair, tolerance) for pair in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float) and math.isfinite(a) and math.isfinite(b):
        return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)
    return same(a, b)


def assert_like_python(
    text: str, names: dict[str, Any] | None = None, equal: Any = same, **options: Any
) -> Ran:
    """The cell gives what CPython gives: the same value, or the same exception with the same message."""
    expected, found = python(text, names), run(text, names, **options)
    assert type(found.error) is type(expected.error), (found.error, expected.error, found.value)
    assert str(found.error) == str(expected.error)
    assert equal(found.value, expected.value), f"{found.value!r} is not {expected.value!r}"
    return found


def assert_interpreted(ran: Ran, equal: Any = same) -> None:
    """The interpreter of the IR gives what the machine gave (for single loops that no element raised in)."""
    (execution,) = ran.executions
    columns = [list(elements(column.data))[: execution.length] for column in execution.columns]
    found = run_fused(execution.fused, columns, ran.tables[0])
    for output, value in zip(execution.fused.outputs, execution.values, strict=True):
        expected = found[output.name]
        assert equal(list(elements(value)) if isinstance(value, np.ndarray) else value, expected)


def one_loop(ran: Ran) -> Execution:
    """The cell was a single native loop, without a barrier."""
    assert ran.error is None
    (pipeline,) = {pipe["loops"]: pipe for pipe in ran.report["pipelines"]}.values()
    assert pipeline["barriers"] == []
    (execution,) = ran.executions
    return execution


# Targets

FEATURE_SETS = ("host", "avx512 without ifma", "avx2", "sse2")


def target(name: str) -> Target:
    """The host's CPU, or what is left of it without some features."""
    host = cpu.host()
    gone = {"host": (), "avx512 without ifma": ("ifma", "vbmi"), "avx2": ("avx512", "avx10")}.get(name)
    if gone is None:
        left = frozenset(each for each in host.features if not each.startswith(("avx", "fma", "f16c")))
    else:
        left = frozenset(each for each in host.features if not any(part in each for part in gone))
    return host if name == "host" else describe(host.triple, "generic", left)


@contextlib.contextmanager
def on_target(name: str) -> Iterator[Target]:
    """Cells are compiled for this target meanwhile. The code of smaller targets runs on larger ones."""
    found, original = target(name), cpu.host
    loops.clear_cache()
    cpu.host = lambda: found
    try:
        yield found
    finally:
        cpu.host = original
        loops.clear_cache()


@contextlib.contextmanager
def as_gpu() -> Iterator[None]:
    """OpenCL devices are taken for GPUs with memory of their own: their form of the code, and all transfers."""
    from hastega_magic.runtime import opencl

    described, known = opencl._described, opencl._DEVICES
    loops.clear_cache()
    opencl._DEVICES = {}
    opencl._described = lambda *args: replace(described(*args), kind="gpu", unified=False)
    try:
        yield
    finally:
        opencl._described, opencl._DEVICES = described, known
        loops.clear_cache()


@contextlib.contextmanager
def in_form(name: str) -> Iterator[None]:
    """Cells run on the CPU meanwhile ("parallel"), on OpenCL ("items"), or there in a GPU's form ("groups")."""
    if name != "parallel":
        pytest.importorskip("pyopencl")
    form = as_gpu() if name == "groups" else contextlib.nullcontext()
    with form, on_backend("parallel" if name == "parallel" else "opencl"):
        yield


def assert_same_bits_everywhere(text: str, names: dict[str, Any]) -> None:
    """One number, whatever the threads, the lanes and the device's form."""
    found = [run(text, names, threads=threads, width=width) for threads in (1, 3) for width in (1, 4, 8)]
    with in_form("items"):
        found.append(run(text, names))
    assert not any(ran.error for ran in found)
    assert len({repr(ran.value) for ran in found}) == 1


# Values

EDGES = (0, 1, -1, 2, 3, -3, 7, 10, -10, 61, 4095, 2**31 - 1, -(2**31), 2**32, 2**52, 2**53, 2**53 + 1, -(2**53) - 1,
         2**62, -(2**62), BIG, BIG - 1, -BIG, -BIG - 1)  # fmt: skip
FLOAT_EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 0.1, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-310, 1e16,
               2.0**52 + 0.5, 2.0**53, 9.3e18, -9.3e18, 1e308, -1e308, math.inf, -math.inf, math.nan)  # fmt: skip

small_ints = st.integers(-20, 20)
ints = st.one_of(small_ints, st.sampled_from(EDGES), st.integers(-BIG - 1, BIG))
python_ints = st.one_of(ints, st.integers(-(2**70), 2**70))
floats = st.one_of(st.sampled_from(FLOAT_EDGES), st.floats(-100, 100), st.floats())


def int_arrays(name: str) -> st.SearchStrategy[Any]:
    """Arrays of an integer type with its own edges."""
    info = np.iinfo(name)
    values = st.one_of(st.integers(info.min, info.max), st.sampled_from((info.min, info.max, 0, 1)))
    return st.lists(values, min_size=1, max_size=40).map(lambda found: np.array(found, name))


def _laid_out(array: Any, layout: str) -> Any:
    if layout == "reversed":
        return array[::-1]
    if layout == "strided":
        return np.repeat(array, 3)[1::3]
    if layout == "swapped":
        return array.astype(array.dtype.newbyteorder(">"))
    if layout == "read-only":
        array = array.copy()
        array.flags.writeable = False
    return array


LAYOUTS = ("dense", "reversed", "strided", "swapped", "read-only")
int_sources = st.one_of(
    st.lists(ints, max_size=40),
    st.lists(python_ints, max_size=20),
    st.lists(small_ints, max_size=40).map(tuple),
    st.builds(range, st.integers(-50, 50), st.integers(-50, 200), st.sampled_from((1, 2, -1, 7, -13))),
    st.builds(
        _laid_out,
        st.sampled_from(("int64", "int32", "uint8", "int16", "uint64", "uint32")).flatmap(int_arrays),
        st.sampled_from(LAYOUTS),
    ),
    st.lists(st.booleans(), min_size=1, max_size=30).map(np.array),
)
float_sources = st.one_of(
    st.lists(floats, max_size=40),
    st.builds(_laid_out, st.lists(floats, min_size=1, max_size=40).map(np.array), st.sampled_from(LAYOUTS)),
)
complexes = st.builds(complex, floats, floats)
complex_sources = st.one_of(
    st.lists(complexes, min_size=1, max_size=40),
    st.builds(
        _laid_out, st.lists(complexes, min_size=1, max_size=40).map(np.array), st.sampled_from(LAYOUTS)
    ),
)
float32_sources = st.builds(
    _laid_out,
    st.lists(st.floats(width=32), min_size=1, max_size=40).map(lambda found: np.array(found, np.float32)),
    st.sampled_from(LAYOUTS),
)
