"""Whether figures can be those of a machine: what is divided by is not zero, and nothing is absurdly large.

A file may hold anything; a machine that passes here gives finite predictions for any loop.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hastega_magic.cost.machine import Curve, Device, Machine, Threads

_SECONDS = (1e-12, 1e3)
"""Of something that a machine does once."""

_EACH = (1e-18, 1.0)
"""Seconds for an element or a byte where logarithms are taken of them."""

_SIZE = (1.0, 1e15)
_COUNT = (1, 1 << 20)
_NONE = 0.0


def check(machine: Machine) -> None:
    """ValueError that names the first figure which no machine has."""
    cpu = machine.cpu
    _count("threads", machine.identity.threads)
    _within("cpu", _SECONDS, call=cpu.call, setup=cpu.setup)
    _within("cpu", (_NONE, 1.0), block=cpu.block)
    _classes("cpu", cpu.classes)
    for name, threads in (("one", cpu.one), ("all", cpu.all)):
        _threads(f"cpu.{name}", threads)
    for name, curve in cpu.lists.items():
        _curve(f"list of {name}", curve)
    _curve("unlist", cpu.unlist)
    _within("python", _SECONDS, call=machine.python.call)
    _classes("python", machine.python.classes)
    for device in machine.devices:
        _device(device)
    for fit in machine.fits:
        _within(fit.what, (_NONE, _SECONDS[1]), a=fit.a, b=fit.b)
        _within(fit.what, (_NONE, 1.0), r2=fit.r2)


def _threads(what: str, threads: Threads) -> None:
    _count(what, threads.count)
    _within(what, (_NONE, _SECONDS[1]), start=threads.start, ramp=threads.ramp, knee=threads.knee)
    _within(what, (1e-3, 1e6), speed=threads.speed)
    _within(what, (_NONE, 1.0), fresh=threads.fresh)
    for name, curve in (("read", threads.read), ("write", threads.write), ("copy", threads.copy)):
        _curve(f"{what}.{name}", curve)


def _device(device: Device) -> None:
    if not 0 <= device.number < _COUNT[1]:
        raise ValueError("a device's number is none")
    what = f"opencl:{device.number}"
    _within(what, _SECONDS, launch=device.launch)
    _within(what, (_NONE, _SECONDS[1]), kernel=device.kernel, compile=device.compile)
    _within(what, (_NONE, _SIZE[1]), chunk=device.chunk)
    once = dict(zip(("latency to", "latency from"), device.latency, strict=True))
    _within(what, (_NONE, _SECONDS[1]), **once)
    each = {"inward": device.inward, "outward": device.outward, "fresh": device.fresh, "local": device.local,
            "stored": device.stored}  # fmt: skip
    for name, pair in (("pinned", device.pinned), ("pageable", device.pageable)):
        each |= {f"{name} to": pair[0], f"{name} from": pair[1]}
    _within(what, (_NONE, 1.0), **each)
    for classes in (device.classes, device.block):
        _classes(what, classes)


def _classes(what: str, classes: Mapping[str, float]) -> None:
    _within(what, (_NONE, 1.0), **classes)


def _curve(what: str, curve: Curve) -> None:
    if not curve.points:
        raise ValueError(f"{what} has no points")
    sizes = [size for size, _ in curve.points]
    _all(what, _SIZE, sizes)
    _all(what, _EACH, (seconds for _, seconds in curve.points))
    if any(later <= size for size, later in pairwise(sizes)):
        raise ValueError(f"{what}: its sizes do not rise")


def _count(what: str, number: int) -> None:
    if not _COUNT[0] <= number <= _COUNT[1]:
        raise ValueError(f"{what}: no number of threads")


def _within(what: str, bounds: tuple[float, float], **figures: float) -> None:
    for name, figure in figures.items():
        _all(f"{what}.{name}", bounds, (figure,))


def _all(what: str, bounds: tuple[float, float], figures: Iterable[float]) -> None:
    low, high = bounds
    for figure in figures:
        if not (math.isfinite(figure) and low <= figure <= high):
            raise ValueError(f"{what} is {figure:.3g}")


__all__ = ["check"]
