"""The CPU measured: calls, threads, caches and memory, lists, and classes of operations."""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hastega_magic.calibration.cells import Timed, timed
from hastega_magic.calibration.training import LESSONS, Lesson
from hastega_magic.cost import defaults
from hastega_magic.cost.fit import class_costs, line
from hastega_magic.cost.machine import Cpu, Curve, Fit, Threads
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.runtime.buffers import drop_kept
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.runtime.threads import SMALL_BLOCKS

_SIZES = tuple(1 << bits for bits in (15, 18, 20, 22, 24, 26, 28))
"""Bytes of the arrays that bandwidths are measured on: the caches one after the other, and memory."""

_LIST = 1 << 16
_LONG = "math.sqrt(x) + math.sqrt(x + 1) + math.sqrt(x + 2)"
_LESSONS_WITHIN, _LEAST = 2.5, 18
"""Seconds for the lessons, of which so many are had in any case."""

_CURVES_WITHIN = 0.6
"""Seconds for the bandwidths of one thread, and of all."""

_NAMES = {"math": math}
_PATIENCE = 0.4
"""Seconds in which the largest array has to be made."""

_MEMORY_PART = 16
"""No array takes more than this part of the memory that is free."""

Step = Callable[[str], None]
"""Is told what was measured just now."""


@dataclass(frozen=True)
class Host:
    """The CPU, and the lines that were fitted."""

    cpu: Cpu
    fits: tuple[Fit, ...]


def measure(threads: int, step: Step) -> Host:
    """Measure it; about two seconds."""
    fits: list[Fit] = []
    one = timed("found = range(1, 2) |> sum", "simd")
    run, setup = one.typical(runs=60)
    step("calls")
    classes = _classes(step)
    block = _block(fits)
    numbers = _numbers()
    sizes = [size for size in _SIZES if size <= numbers.nbytes]
    alone = _threads("simd", 1, 1.0, _start("simd", 1.0), sizes, numbers, fits)
    step("memory")
    several = alone
    if threads > 1:
        speed = _speed(threads)
        start = _start("parallel", speed)
        several = _threads("parallel", threads, speed, start, sizes, numbers, fits)
        step("threads")
    lists, unlist = _lists(fits)
    step("lists")
    return Host(
        Cpu(max(run - setup, 1e-7), block, setup, classes, alone, several, lists, unlist), tuple(fits)
    )


def lessons_on(on: str, lessons: Sequence[Lesson], rounds: int = 2) -> list[tuple[dict[str, float], float]]:
    """Of each lesson the operations of an element, and its seconds, without what a kernel takes over one element."""
    ready: list[tuple[Lesson, Timed]] = [(each, timed(each.text(), on, each.namespace())) for each in lessons]
    best: dict[str, float] = {}
    for _ in range(rounds):  # apart in time, so that what disturbs one round spares the other
        for lesson, cell in ready:
            _, kernel = cell.typical(runs=5, within=0.02)
            _, setup = cell.typical(1, runs=5, within=0.005)
            each = max(kernel - setup, 0.1 * kernel) / lesson.elements
            best[lesson.name] = min(best.get(lesson.name, each), each)
    rows: list[tuple[dict[str, float], float]] = []
    for lesson, cell in ready:
        found = cell.features()
        counts = {name: count / found.lanes for name, count in found.operations.items()}
        rows.append((counts, best[lesson.name]))
    return rows


def _classes(step: Step) -> dict[str, float]:
    rows: list[tuple[dict[str, float], float]] = []
    until = time.perf_counter() + _LESSONS_WITHIN
    for start in range(0, len(LESSONS), 6):
        late = time.perf_counter() > until
        if (
            late and len(rows) >= _LEAST
        ):  # a machine that others use as well: the rest is assumed in proportion
            break
        rows += lessons_on("simd", LESSONS[start : start + 6], rounds=1 if late else 2)
        step("operations")
    return class_costs(rows, defaults.CLASSES)


def _block(fits: list[Fit]) -> float:
    """Seconds that each block's partial results take at the end of a run."""
    cell = timed(f"found = range(1, {(1 << 22) + 1}) |> sum", "simd")
    points: list[tuple[float, float]] = []
    for size in (1 << 16, 1 << 19, 1 << 22):
        run, kernel = cell.typical(size)
        points.append((size / BLOCK, run - kernel))
    found = line(points)
    fits.append(Fit("partial results", "block", found.a, found.b, found.r2))
    return found.a


def _threads(
    on: str, count: int, speed: float, start: float, sizes: Sequence[int], numbers: AnyArray, fits: list[Fit]
) -> Threads:
    """Curves of reading, writing and both."""
    largest = len(numbers)
    reading = timed("found = xs |> sum", on, {"xs": numbers})
    copying = timed("found = xs |> map(_ * 2.0)", on, {"xs": numbers})
    writing = timed(f"found = range({largest}) |> map(_ + 7)", on)
    cells = (("read", reading, 1), ("write", writing, 1), ("copy", copying, 2))
    empty = {what: cell.typical(1, runs=15, within=0.01)[1] for what, cell, _ in cells}
    points: dict[str, list[tuple[float, float]]] = {what: [] for what, _, _ in cells}
    until = time.perf_counter() + _CURVES_WITHIN
    for number, size in enumerate(sizes):
        if number > 2 and time.perf_counter() > until:
            break
        there = start if size // 8 > SMALL_BLOCKS * BLOCK else 0.0
        for what, cell, factor in cells:
            _, kernel = cell.typical(size // 8, within=0.02)
            each = max(kernel - empty[what] - there, 0.1 * kernel) / (size * factor)
            points[what].append((float(size * factor), each))
    for what, found in points.items():
        fitted = line([(size, size * each) for size, each in found[-3:]])
        name = f"{what}, {count} thread{'s' if count > 1 else ''}"
        fits.append(Fit(name, "byte", fitted.a, fitted.b, fitted.r2))
    curves = [Curve(_rising(points[what])) for what, _, _ in cells]
    return Threads(count, start, speed, *curves, fresh=_fresh(writing, min(largest, 1 << 21)))


def _numbers() -> AnyArray:
    """An array as large as there is memory for, and as can be made soon: some systems give pages slowly."""
    most = [size for size in _SIZES if size <= _free_memory() / _MEMORY_PART] or list(_SIZES[:2])
    numbers = np.zeros(0)
    for size, larger in zip(most, [*most[1:], 0], strict=True):
        began = time.perf_counter()
        numbers = np.arange(size // 8, dtype=np.float64)
        if (time.perf_counter() - began) * larger / size > _PATIENCE:
            break
    return numbers


def _rising(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """A larger array is never faster than half of a smaller one: what says so was disturbed."""
    found: list[tuple[float, float]] = []
    for number, (size, each) in enumerate(points):
        later = min(slow for _, slow in points[number:])
        found.append((size, min(each, 1.5 * later)))
    return tuple(found)


def _fresh(writing: Timed, elements: int) -> float:
    """Seconds for each byte that writing takes more where the memory is new."""
    again, _ = writing.typical(elements, runs=3)
    found: list[float] = []
    for _ in range(2):
        drop_kept()
        found.append(writing.once(elements)[0])
    return max(0.0, min(found) - again) / (8 * elements)


def _speed(threads: int) -> float:
    """How many times as fast as one thread all of them compute."""
    text = f"found = range(1, {max(1 << 21, 64 * BLOCK * threads) + 1}) |> map(lambda x: {_LONG}) |> sum"
    alone, together = timed(text, "simd", _NAMES), timed(text, "parallel", _NAMES)
    together.once()
    pairs = [(alone.once()[1], together.once()[1]) for _ in range(5)]
    return min(float(threads), max(1.0, statistics.median(one / all_of for one, all_of in pairs)))


def _start(on: str, speed: float) -> float:
    """What it costs to set threads to work: more than few blocks are not run on the calling one."""
    few, more = SMALL_BLOCKS * BLOCK, (SMALL_BLOCKS + 2) * BLOCK
    cell = timed(f"found = range(1, {more + 1}) |> sum", on)
    here, there = cell.typical(few, runs=25)[1], cell.typical(runs=25)[1]
    return max(2e-6, there - here * (more / few) / speed)


def _lists(fits: list[Fit]) -> tuple[dict[str, float], float]:
    """Seconds for each element of lists of each type that become arrays, and of arrays that become lists."""
    found: dict[str, float] = {}
    many = 4 * _LIST
    samples: dict[str, list[object]] = {
        "int64": list(range(1 << 20, (1 << 20) + many)), "float64": [0.5 + each for each in range(many)],
        "bool": [each % 3 == 0 for each in range(many)],
    }  # fmt: skip
    for name, sample in samples.items():
        cell = timed("found = xs |> max" if name != "bool" else "found = xs |> any", "simd", {"xs": sample})
        points: list[tuple[float, float]] = []
        for size in (_LIST // 4, _LIST, many):
            run, kernel = cell.typical(size, within=0.02)
            points.append((size, run - kernel))
        fitted = line(points)
        fits.append(Fit(f"list of {name}", "element", fitted.a, fitted.b, fitted.r2))
        found[name] = fitted.a
    found["float32"] = 3 * found["float64"]  # NumPy's own conversion: a call for each
    cell = timed(f"found = range({many}) |> map(_ * 3) |> to_list", "simd")
    points = []
    for size in (_LIST // 4, _LIST, many):
        run, kernel = cell.typical(size, within=0.03)
        points.append((size, run - kernel))
    fitted = line(points)
    fits.append(Fit("array to list", "element", fitted.a, fitted.b, fitted.r2))
    return found, fitted.a


def _free_memory() -> float:
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return float(1 << 30)


def now() -> str:
    """The time of a calibration."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


__all__ = ["Host", "Step", "lessons_on", "measure", "now"]
