"""OpenCL devices measured: launches, transfers, and classes of operations."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hastega_magic.calibration.cells import Timed, faster, in_turns, others, timed
from hastega_magic.calibration.host import Step
from hastega_magic.calibration.pace import PACE
from hastega_magic.calibration.training import LESSONS
from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.cost import defaults
from hastega_magic.cost.fit import class_costs, line, usable
from hastega_magic.cost.machine import Cpu, Device, Fit
from hastega_magic.cost.overlap import overlapping
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass
from hastega_magic.runtime.buffers import drop_kept

_MANY, _MORE, _MOST = 1 << 20, 1 << 24, 1 << 26
_TOO_SHORT = 2e-4
"""Kernels shorter than this are measured over more elements, up to the most."""

_FEW = 32 * BLOCK
"""Elements that take a GPU hardly longer than those of one block."""

_TRANSFERRED = 8 << 20
_ARRAY, _SHARED = 1 << 22, 1 << 23
"""Elements of the arrays that are sent and got back; of those in memory that device and host share."""

_KERNEL = "kernel"
"""What any kernel takes, beside the classes."""

_WITHIN = 0.7
"""Seconds in which a device's compiler is given lessons, where nothing else is said."""


def measure(step: Step, fits: list[Fit], cpu: Cpu, within: float = _WITHIN) -> tuple[Device, ...]:
    """All devices that work; of several of one name only the first is measured.

    `cpu`: the host's figures, which devices that are the host begin with. `within`: seconds for lessons.
    """
    try:
        from hastega_magic.runtime import opencl

        there = opencl.devices()
    except Exception:  # no pyopencl, or a loader that fails: there is no device
        return ()
    known: dict[tuple[str, str, str], Device] = {}
    found: list[Device] = []
    for info in there:
        name = info.name, info.platform, info.version
        try:
            if name not in known:
                known[name] = _measured(info, fits, cpu, within)
                step(info.name)
        except Exception:  # drivers fail each in their own way: the device is not chosen then  # noqa: S112
            continue
        found.append(replace(known[name], number=info.number))
    return tuple(found)


def driver_of(info: Any) -> str:
    """The version of a device's driver."""
    from hastega_magic.runtime import opencl

    return opencl.driver_version(info.number)


def _measured(info: Any, fits: list[Fit], cpu: Cpu, within: float) -> Device:
    on = f"opencl:{info.number}"
    began = time.perf_counter()
    first = timed(f"found = range(1, {_MOST + 1}) |> sum", on)
    compiling = [time.perf_counter() - began]
    elsewhere = others()
    latency, pinned, pageable = _transfers(info.number, fits) if not info.unified else ((0.0, 0.0),) * 3
    elements = _SHARED if info.unified else _ARRAY
    began = time.perf_counter()
    sending = timed("found = xs |> sum", on, {"xs": np.full(elements, 1.5)})
    compiling.append(time.perf_counter() - began)
    getting = timed(f"found = range({elements}) |> map(_ * 0.5)", on)
    PACE.part(0.82)
    known = [_Taught(first, True), _Taught(sending, False), _Taught(getting, False)]
    taught = [*known, *_lessons(on, compiling, within)]
    # After runs of the CPU, as where back ends are compared: threads and clocks of either side have gone to sleep.
    runs = in_turns([(first, 1), (sending, 1), (getting, 1)], 9, 0.1, 5, between=elsewhere)
    launch = statistics.mean(run for run, _ in runs)
    rounds, before = (5, _past_caches(elements)) if info.unified else (4, elsewhere)
    inward, read = _sizes(sending, elsewhere, f"to {info.name}", fits, elements, rounds)
    outward, written = _sizes(getting, before, f"from {info.name}", fits, elements, rounds)
    local, stored = (_slope(read), _whole(written)) if info.unified else (0.0, 0.0)
    PACE.part(0.9)
    block, classes = _classes(info, taught, elsewhere, [kernel for _, kernel in runs], cpu, stored)
    kernel = block.pop(_KERNEL)
    return Device(
        info.number, info.name, info.platform, driver_of(info), info.kind, info.unified, launch, min(kernel, launch),
        _chunk(info), latency, pinned, pageable, 0.0 if info.unified else inward, 0.0 if info.unified else outward,
        _fresh(getting, elements), local, stored, statistics.median(compiling), classes, block,
    )  # fmt: skip


def _past_caches(elements: int) -> Callable[[], object]:
    """The host stores so many elements past the caches, and so takes what they overwrite out of them."""
    return timed(f"found = range({elements}) |> map(_ + 7)", "parallel").once


@dataclass(frozen=True)
class _Taught:
    """A cell that the device has compiled. `stays`: it computes much, of what is neither sent nor got."""

    cell: Timed
    stays: bool


def _lessons(on: str, compiling: list[float], within: float) -> Iterator[_Taught]:
    """Lessons, as many as there is time for; adds the seconds that compiling each takes."""
    until = PACE.until(within)
    for lesson in (each for each in LESSONS[1:] if each.device):  # the first is timed anyway
        began = time.perf_counter()
        if began + max(compiling[-2:]) > until:  # the next one takes about as long as the last ones
            return
        stays = lesson.source == "range" and lesson.sums
        try:
            cell = timed(lesson.text(_MOST if stays else _FEW), on, lesson.namespace(1 if stays else _FEW))
        except Exception:  # the device has not what this lesson needs  # noqa: S112
            continue
        compiling.append(time.perf_counter() - began)
        yield _Taught(cell, stays)


def _classes(
    info: Any,
    taught: Sequence[_Taught],
    elsewhere: Callable[[], object],
    shortest: Sequence[float],
    cpu: Cpu,
    stored: float,
) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of an operation in a kernel over few blocks, and among many.

    `elsewhere`: runs between them; `shortest`: seconds of kernels over next to nothing; `stored`: seconds of each byte
    that a device writes into memory that it shares with the host.
    """
    few = BLOCK if info.kind == "cpu" else _FEW  # blocks lie side by side on a GPU
    runs = in_turns([(each.cell, few) for each in taught], 5, 0.1, between=elsewhere)
    blocks: list[tuple[dict[str, float], float]] = [({_KERNEL: 1.0}, each) for each in shortest]
    rows: list[tuple[dict[str, float], float]] = []
    for each, (_, least) in zip(taught, runs, strict=True):
        features = each.cell.features()
        counts = {name: count / features.lanes for name, count in features.operations.items()}
        starts = 1.0 + features.operations.get("pack", 0.0)  # packing is a kernel of its own
        blocks.append(({_KERNEL: starts, **{name: count * BLOCK for name, count in counts.items()}}, least))
        for size in (_MANY, _MORE, _MOST) if each.stays else ():
            _, seconds = each.cell.typical(size, runs=3, within=0.03)
            if seconds > _TOO_SHORT or size == _MOST:
                rows.append((counts, max(seconds - least, 0.1 * seconds) / size))
                break
        if features.packed and stored:
            _, seconds = each.cell.typical(_FEW, runs=5, within=0.03)
            took = max(seconds - least, 0.1 * seconds) / _FEW
            rows.append((counts, overlapping(took, stored * features.packed)))
    # The host's own operations, done by all of its threads; by one, where there is a block for no more.
    one = {name: each / 8 for name, each in defaults.CLASSES.items()}
    among = one
    if info.kind == "cpu":
        one = cpu.classes
        among = {name: each / max(1.0, cpu.all.speed) for name, each in one.items()}
    begun = {_KERNEL: statistics.median(shortest)}
    scaled = info.kind != "cpu"
    return class_costs(blocks, {**begun, **one}, scaled=scaled), class_costs(rows, among, scaled=scaled)


def _chunk(info: Any) -> float:
    """Bytes of a chunk, as runs have found them best; 0.0 where nothing is sent."""
    from hastega_magic.runtime import opencl

    return 0.0 if info.unified else float(opencl.device(f"opencl:{info.number}").chunk_bytes)


_Points = list[tuple[float, float]]
"""Bytes and seconds."""


def _sizes(
    cell: Timed, before: Callable[[], object], what: str, fits: list[Fit], elements: int, rounds: int
) -> tuple[float, _Points]:
    """Seconds for each byte of eight to an element, of a run, and what kernels took: a few sizes up to `elements`."""
    runs: _Points = []
    kernels: _Points = []
    for size in (elements // 16, elements // 4, elements):
        pairs: list[tuple[float, float]] = []
        for _ in range(2 if PACE.hurried else rounds):
            before()
            forget_inputs()
            pairs.append(cell.once(size))
        run, kernel = (usable(each) for each in zip(*pairs[1:], strict=True))
        runs.append((8.0 * size, faster(run)))
        kernels.append((8.0 * size, faster(kernel)))
    found = line(runs)
    fits.append(Fit(what, "byte", found.a, found.b, found.r2))
    return found.a, kernels


def _whole(kernels: _Points) -> float:
    """Seconds for each byte of the longest kernel."""
    size, seconds = kernels[-1]
    return seconds / size


def _slope(kernels: _Points) -> float:
    """The same without what a kernel takes to begin, as far as the shortest one tells that."""
    (small, short), (large, long) = kernels[0], kernels[-1]
    whole = _whole(kernels)
    return min(max((long - short) / (large - small), whole / 2), whole)


def _fresh(cell: Timed, elements: int) -> float:
    """Seconds for each byte that a result in new memory takes more."""
    again, _ = cell.typical(runs=3)
    drop_kept()
    return max(0.0, cell.once()[0] - again) / (8 * elements)


def _transfers(
    number: int, fits: list[Fit]
) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float]]:
    """Latency, and seconds for each byte with pinned and with pageable memory, to the device and from it."""
    from hastega_magic.runtime import opencl
    from hastega_magic.runtime.opencl.lane import Lane, copy_seconds

    lane = Lane(opencl.device(f"opencl:{number}"))
    pinned = lane.staging("calibration", _TRANSFERRED, "uint8")
    pageable = np.ones(_TRANSFERRED, np.uint8)
    each: dict[str, tuple[float, float]] = {}
    for name, memory in (("pinned", pinned), ("pageable", pageable)):
        small = copy_seconds(lane, memory[:64])
        large = copy_seconds(lane, memory)
        middle = copy_seconds(lane, memory[: _TRANSFERRED // 4])
        rates: list[float] = []
        for way in (0, 1):
            sizes = ((64, small[way]), (_TRANSFERRED // 4, middle[way]), (_TRANSFERRED, large[way]))
            found = line([(float(size), seconds) for size, seconds in sizes])
            fits.append(Fit(f"{name}, {('to', 'from')[way]} the device", "byte", found.a, found.b, found.r2))
            rates.append(found.a)
        each[name] = rates[0], rates[1]
        if name == "pinned":
            each["latency"] = small
    return each["latency"], each["pinned"], each["pageable"]


__all__: Sequence[str] = ["driver_of", "measure"]
