"""The CPU measured: calls, threads, caches and memory, lists, and classes of operations."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from hastega_magic.calibration.cells import Timed, faster, in_turns, others, timed
from hastega_magic.calibration.pace import PACE
from hastega_magic.calibration.training import FUNCTIONS, LESSONS, Lesson
from hastega_magic.cost import defaults
from hastega_magic.cost.fit import class_costs, line, team
from hastega_magic.cost.machine import Cpu, Curve, Fit, Threads
from hastega_magic.cost.overlap import DIVIDER
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass
from hastega_magic.runtime.buffers import drop_kept
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.runtime.threads import ALONE_BLOCKS, SMALL_BLOCKS

_SIZES = tuple(1 << bits for bits in (15, 20, 22, 24, 26))
"""Bytes of the arrays that bandwidths are measured on: the caches one after the other, and memory."""

_LISTS = (1 << 14, 1 << 17, 1 << 20)
"""Elements of the lists that are converted: their objects in caches, and in memory."""

_LONG = "((((0.3 * x + 0.2) * x - 0.4) * x + 0.7) * x - 0.6) * x"
_WORK, _MOST_WORK = (SMALL_BLOCKS * BLOCK + 1, 1 << 19, 1 << 21, 1 << 23, 1 << 25), 1 << 24
"""Elements of the loops that say what several threads are worth; the most, for each of the threads."""

_WORK_WITHIN = 0.02
"""Seconds for each of them."""

_LESSONS_WITHIN, _LEAST = 0.65, 18
"""Seconds for the lessons, of which so many are had in any case."""

_LEAST_HURRIED = 12

_CURVES_WITHIN = 0.45
"""Seconds for the bandwidths of one thread, and of all."""

_NO_CURVES = (Curve(()), Curve(()), Curve(()))
_PATIENCE = 0.4
"""Seconds in which the largest array has to be made."""

_SOON = 1 << 22
"""Bytes of an array that is made at once everywhere."""

_MEMORY_PART = 16
"""No array takes more than this part of the memory that is free."""

Step = Callable[[str], None]
"""Is told what was measured just now."""


@dataclass(frozen=True)
class Host:
    """The CPU, and the lines that were fitted."""

    cpu: Cpu
    fits: tuple[Fit, ...]


def prepare(enough: Callable[[], bool]) -> dict[str, Timed]:
    """Lessons, by name, compiled one after the other until that is enough."""
    found: dict[str, Timed] = {}
    for each in LESSONS:
        if enough():
            break
        found[each.name] = timed(each.text(), "simd", each.namespace())
    return found


def measure(threads: int, step: Step, prepared: Mapping[str, Timed] | None = None) -> Host:
    """Measure it; about two seconds, and less of it where that would take longer. `prepared`: what `prepare` gave."""
    fits: list[Fit] = []
    PACE.part(0.15)
    calls = _Calls()
    _, setup, wake = calls.sample()
    step("calls")
    PACE.part(0.18)
    classes = _classes(step, prepared or {})
    PACE.part(0.36)
    calls.sample()
    block = _block(fits)
    numbers = _numbers()
    sizes = [size for size in _SIZES if size <= numbers.nbytes]
    alone = _memory(
        Threads(1, wake, 1.0, 0.0, 1.0, *_NO_CURVES, fresh=0.0), None, setup, sizes, numbers, fits
    )
    step("memory")
    several = alone
    PACE.part(0.52)
    if threads > 1:
        several = _memory(_team(threads, setup), alone, setup, sizes, numbers, fits)
        step("threads")
    PACE.part(0.6)
    call, _, _ = calls.sample()
    lists, unlist = _lists(call, fits)
    step("lists")
    call, setup, wake = calls.sample()
    alone = replace(alone, start=wake)
    several = alone if threads == 1 else several
    return Host(Cpu(call, block, setup, classes, alone, several, lists, unlist), tuple(fits))


def lessons_on(
    on: str, lessons: Sequence[Lesson], rounds: int = 2, prepared: Mapping[str, Timed] | None = None
) -> list[tuple[dict[str, float], float]]:
    """Of each lesson the operations of an element, and its seconds: by how much a run over more of them is longer.

    `prepared`: those that are compiled, by name.
    """
    known = prepared or {}
    ready = [(each, known.get(each.name) or timed(each.text(), on, each.namespace())) for each in lessons]
    best: dict[str, tuple[float, float]] = {}
    for _ in range(rounds):  # apart in time, so that what disturbs one round spares the other
        for lesson, cell in ready:
            _, longer = cell.typical(runs=4, within=0.006)
            _, shorter = cell.typical(lesson.elements // 8, runs=4, within=0.003)
            # The least of each, not of their differences: those are least where the shorter one was disturbed.
            known_long, known_short = best.get(lesson.name, (longer, shorter))
            best[lesson.name] = min(longer, known_long), min(shorter, known_short)
    rows: list[tuple[dict[str, float], float]] = []
    for lesson, cell in ready:
        longer, shorter = best[lesson.name]
        each = max(longer - shorter, 0.1 * longer) / (lesson.elements - lesson.elements // 8)
        found = cell.features()
        counts = {name: count / found.lanes for name, count in found.operations.items()}
        rows.append((counts, each))
    return rows


class _Calls:
    """Short runs, at several moments: for a second here and there all of a machine may be slower."""

    def __init__(self) -> None:
        numbers = {"xs": np.arange(2.0), "ks": np.arange(2)}
        texts = ("range(1, 3) |> sum", "range(1, 3) |> map(_ + 7)", "xs |> map(_ * 2.0)", "ks |> sum")
        self._cells = [timed(f"found = {text}", "simd", numbers) for text in texts]
        # A loop inside may take long: it is never run on the calling thread.
        self._cells.append(timed(f"{FUNCTIONS}found = range(1, 3) |> map(horner) |> sum", "simd"))
        self._between = others()
        self._found: tuple[list[tuple[float, float, float]], ...] = ([], [])

    def sample(self) -> tuple[float, float, float]:
        """Seconds, so far: of a run without its kernel, of a kernel over one element, and of handing it on."""
        cells = [(cell, 1) for cell in self._cells]
        # Runs follow their like, or others: half of each, where neither is what a notebook always has.
        for found, between in zip(self._found, (None, self._between), strict=True):
            *here, (_, there) = in_turns(cells, rounds=5, within=0.02, between=between)
            setup = statistics.mean(kernel for _, kernel in here)
            call = statistics.mean(run - kernel for run, kernel in here)
            found.append((max(call, 1e-7), setup, max(there - setup, 2e-6)))
        kinds = [[statistics.median(each) for each in zip(*found, strict=True)] for found in self._found]
        call, setup, wake = (statistics.mean(each) for each in zip(*kinds, strict=True))
        return call, setup, wake


def _classes(step: Step, prepared: Mapping[str, Timed]) -> dict[str, float]:
    rows: list[tuple[dict[str, float], float]] = []
    until, enough = PACE.until(_LESSONS_WITHIN), _LEAST_HURRIED if PACE.hurried else _LEAST
    for start in range(0, len(LESSONS), 6):
        late = time.perf_counter() > until
        if (
            late and len(rows) >= enough
        ):  # a machine that others use as well: the rest is assumed in proportion
            break
        rows += lessons_on("simd", LESSONS[start : start + 6], 1 if late else 2, prepared)
        step("operations")
    return class_costs(rows, defaults.CLASSES, unit=DIVIDER)


def _block(fits: list[Fit]) -> float:
    """Seconds that each block's partial results take at the end of a run."""
    cell = timed(f"found = range(1, {(1 << 24) + 1}) |> sum", "simd")
    points: list[tuple[float, float]] = []
    for size in (1 << 16, 1 << 20, 1 << 24):
        ((run, kernel),) = in_turns([(cell, size)], 5, 0.01, typical=faster)
        points.append((size / BLOCK, run - kernel))
    found = line(points)
    fits.append(Fit("partial results", "block", found.a, found.b, found.r2))
    return found.a


def _memory(
    threads: Threads,
    alone: Threads | None,
    setup: float,
    sizes: Sequence[int],
    numbers: AnyArray,
    fits: list[Fit],
) -> Threads:
    """With curves of reading, writing and both. `alone`: the same of one thread; None: it is to be measured."""
    largest, count = len(numbers), threads.count
    on = "simd" if alone is None else "parallel"
    cells = (
        timed("found = xs |> sum", on, {"xs": numbers}), timed(f"found = range({largest}) |> map(_ + 7)", on),
        timed("found = xs |> map(_ * 2.0)", on, {"xs": numbers}),
    )  # fmt: skip
    points: list[list[tuple[float, float]]] = [[], [], []]
    until = PACE.until(_CURVES_WITHIN)
    last, took = 0, 0.0
    for size in sizes:
        elements, began = size // 8, time.perf_counter()
        handed = elements > (ALONE_BLOCKS if count == 1 else SMALL_BLOCKS) * BLOCK
        late = last and began + took * size / last > until
        if (alone is not None and not handed) or (late and len(points[0]) > 2):
            continue
        for number, (_, kernel) in enumerate(
            in_turns([(cell, elements) for cell in cells], 5, 0.02, 2, faster)
        ):
            moved = size * (2 if number == 2 else 1)
            spent = kernel - setup - (threads.start if handed else 0.0)
            least = 0.1 * kernel
            if alone is not None:
                by_one = moved * (alone.read, alone.write, alone.copy)[number].at(moved)
                spent -= threads.ramp * by_one / (by_one + threads.knee)
                least = by_one / count
            points[number].append((float(moved), max(spent, least) / moved))
        last, took = size, time.perf_counter() - began
    for what, found in zip(("read", "write", "copy"), points, strict=True):
        if len(found) > 1:
            fitted = line([(size, size * each) for size, each in found[-3:]])
            name = f"{what}, {count} thread{'s' if count > 1 else ''}"
            fits.append(Fit(name, "byte", fitted.a, fitted.b, fitted.r2))
    read, write, copy = (Curve(_rising(each)) for each in points)
    if alone is not None and not points[0]:  # no array is large enough for several threads
        read, write, copy = alone.read, alone.write, alone.copy
    return replace(threads, read=read, write=write, copy=copy, fresh=_fresh(cells[1], min(largest, 1 << 21)))


def _numbers() -> AnyArray:
    """An array as large as there is memory for, and as can be made soon: some systems give pages slowly."""
    most = [size for size in _SIZES if size <= _free_memory() / _MEMORY_PART] or list(_SIZES[:2])
    numbers = np.zeros(0)
    for size, larger in zip(most, [*most[1:], 0], strict=True):
        if size < _SOON and larger:
            continue
        began = time.perf_counter()
        numbers = np.full(size // 8, 1.5)
        if (time.perf_counter() - began) * larger / size > (_PATIENCE / 3 if PACE.hurried else _PATIENCE):
            break
    return numbers


def _rising(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """More elements are hardly ever faster, each: what says so was disturbed."""
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


def _team(threads: int, setup: float) -> Threads:
    """What it takes to set all threads to work, and how much faster they are: over work from nothing to much."""
    most = max(2 * _WORK[-1], _MOST_WORK * threads)
    text = f"found = range(1, {most + 1}) |> map(lambda x: {_LONG}) |> sum"
    alone, together = timed(text, "simd"), timed(text, "parallel")
    points: list[tuple[float, float]] = []
    work = 0.0
    for size in _WORK:
        # What threads take to begin is the most of short work: as long as after Python's code, which keeps one awake.
        short = size == _WORK[0]
        within, between = (3 * _WORK_WITHIN, _python_code) if short else (_WORK_WITHIN, None)
        pairs = in_turns([(alone, size), (together, size)], 9, within, typical=faster, between=between)
        work = max(pairs[0][1] - setup, 1e-7)
        points.append((work, pairs[1][1] - setup))
    ((_, longest),) = in_turns([(together, most)], 5, _WORK_WITHIN, 1, faster)
    points.append((work * most / _WORK[-1], longest - setup))
    start, speed, ramp, knee = team(points, threads)
    return Threads(threads, start, speed, ramp, knee, *_NO_CURVES, fresh=0.0)


def _python_code() -> None:
    """Some milliseconds in which other cores have nothing to do."""
    sum([each * each for each in range(60_000)])


def _lists(call: float, fits: list[Fit]) -> tuple[dict[str, Curve], Curve]:
    """Seconds for each element of lists of each type that become arrays, and of arrays that become lists."""
    largest = _LISTS[-1]
    samples: dict[str, list[object]] = {
        "int64": list(range(1 << 20, (1 << 20) + largest)), "float64": [0.5 + each for each in range(_LISTS[1])],
        "bool": [each % 3 == 0 for each in range(_LISTS[1])],
    }  # fmt: skip
    found: dict[str, Curve] = {}
    for name, sample in samples.items():
        cell = timed("found = xs |> max" if name != "bool" else "found = xs |> any", "simd", {"xs": sample})
        found[name] = _by_element(
            cell, f"list of {name}", [each for each in _LISTS if each <= len(sample)], call, fits
        )
    # Floats lie in memory as ints do, and what matters there is how far apart.
    ints, floats = found["int64"], found["float64"]
    beyond = floats.at(_LISTS[1]) * max(1.0, ints.at(largest) / ints.at(_LISTS[1]))
    found["float64"] = Curve((*floats.points, (float(largest), beyond)))
    found["float32"] = found["float64"].scaled(3)  # NumPy's own conversion: a call for each
    cell = timed(f"found = range({largest}) |> map(_ * 3) |> to_list", "simd")
    return found, _by_element(cell, "array to list", _LISTS, call, fits)


def _by_element(cell: Timed, what: str, sizes: Sequence[int], call: float, fits: list[Fit]) -> Curve:
    points: list[tuple[float, float]] = []
    for size in sizes:
        ((run, kernel),) = in_turns([(cell, size)], 5, 0.012, typical=faster)
        points.append((float(size), max(run - kernel - call, 0.1 * (run - kernel))))
    fitted = line(points)
    fits.append(Fit(what, "element", fitted.a, fitted.b, fitted.r2))
    return Curve(_rising([(size, seconds / size) for size, seconds in points]))


def _free_memory() -> float:
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return float(1 << 30)


def now() -> str:
    """The time of a calibration."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


__all__ = ["Host", "Step", "lessons_on", "measure", "now", "prepare"]
