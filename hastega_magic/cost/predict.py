"""What a loop would take on a back end, phase by phase, and what bounds it: the roofline with everything around it.

    kernel = (arithmetic^4 + memory^4)^(1/4)      the slower of the two, a little more where they are alike
    run    = call + list conversion + kernel                                        on the CPU
    run    = launch + the longest of conversion, transfers and kernel, which overlap on a device

A `Model` holds what does not depend on the number of elements, so that a prediction takes a few microseconds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hastega_magic.cost.features import KEPT, Features, PythonFeatures
from hastega_magic.cost.machine import Device, Machine, Threads
from hastega_magic.ir.schedule import BLOCK

SHORT = 16
"""Up to so many blocks run on the calling thread (runtime/threads.py)."""

PIECE = 1 << 20
"""Elements of a list that are converted at a time (runtime/sources.py)."""

_SHARP = 4.0
"""The exponent with which arithmetic and memory overlap."""


@dataclass(frozen=True)
class Case:
    """What a run begins with, beside its loop.

    n         elements
    fresh     bytes of the results whose memory the system will give anew
    resident  part of the bytes sent to a device that is there already, from 0 to 1
    """

    n: int
    fresh: float = 0.0
    resident: float = 0.0


@dataclass(frozen=True)
class Phase:
    """A part of a run, by the names of the report's phases; "call" is what is in no other."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Prediction:
    """A run on a back end. `bound`: "arithmetic", "memory", "transfer", "conversion" or "launch".

    `seconds` is the whole run; on a device its phases overlap, and are longer together.
    """

    backend: str
    threads: int
    seconds: float
    phases: tuple[Phase, ...]
    bound: str

    def scaled(self, factor: float) -> Prediction:
        """The same, with all times multiplied."""
        phases = tuple(Phase(each.name, each.seconds * factor) for each in self.phases)
        return replace(self, seconds=self.seconds * factor, phases=phases)

    def phase(self, name: str) -> float:
        """The seconds of a phase; 0.0 where there is none."""
        return sum(each.seconds for each in self.phases if each.name == name)


class Model(ABC):
    """A loop on one back end. `backend`: as `--on` names it."""

    backend: str

    def seconds(self, case: Case) -> float:
        """The predicted time of a run."""
        return self.predict(case).seconds

    @abstractmethod
    def predict(self, case: Case) -> Prediction:
        """The same with its phases."""


def arithmetic(features: Features, classes: Mapping[str, float]) -> float:
    """Seconds that the operations of an element take on one thread."""
    return sum(classes.get(name, 0.0) * count for name, count in features.operations.items()) / features.lanes


class CpuModel(Model):
    """A loop through `threads` of the CPU's threads."""

    def __init__(self, backend: str, features: Features, machine: Machine, threads: int) -> None:
        self.backend = backend
        self._features, self._cpu = features, machine.cpu
        self._element = arithmetic(features, machine.cpu.classes)
        self._several = _limited(machine, threads)
        lists = machine.cpu.lists
        self._listing = sum(lists.get(name, max(lists.values(), default=0.0)) for name in features.lists)
        self._written = features.outward + KEPT * features.packed

    def _parts(self, case: Case) -> tuple[Threads, float, float, float, float, float, float]:
        """The threads, and seconds: call, setting up kernels, lists, computing, moving, and lists again."""
        n, cpu, features = case.n, self._cpu, self._features
        blocks = -(-n // BLOCK)
        # Lists are converted piece by piece, and each piece is a kernel of its own, whose elements lie in caches.
        piece = min(n, PIECE) if features.lists else n
        pieces = -(-n // piece) if piece else 1
        short = -(-piece // BLOCK) <= SHORT and not features.inner
        threads = cpu.one if short else self._several
        setup = pieces * (cpu.setup + (0.0 if short else threads.start))
        computing = n * self._element / min(threads.speed, max(1, blocks))
        moving = n * _moving(piece, features.inward, self._written, threads) + case.fresh * threads.fresh
        return (
            threads, cpu.call + blocks * cpu.block, setup, n * self._listing, computing, moving,
            n * features.unlisted * cpu.unlist,
        )  # fmt: skip

    def seconds(self, case: Case) -> float:
        """The predicted time of a run."""
        _, call, setup, listing, computing, moving, unlisting = self._parts(case)
        return call + setup + listing + overlapped(computing, moving) + unlisting

    def again(self, case: Case) -> float:
        """The predicted time of a later run that makes a list: it is made while others read and compute.

        One thread makes the objects; the rest of the work, and what is left of its time, is everybody's.
        """
        threads, call, setup, listing, computing, moving, unlisting = self._parts(case)
        if not unlisting:
            return self.seconds(case)
        work = listing + overlapped(computing, moving) * min(threads.speed, threads.count)
        return call + setup + max(unlisting, (unlisting + work) / max(1, threads.count))

    def predict(self, case: Case) -> Prediction:
        """The same with its phases."""
        threads, call, setup, listing, computing, moving, unlisting = self._parts(case)
        work = overlapped(computing, moving)
        kernel = setup + work
        parts = {"launch": call + setup, "conversion": listing + unlisting}
        parts["memory" if moving > computing else "arithmetic"] = work
        phases = _there(call=call, convert_in=listing, kernel=kernel, convert_out=unlisting)
        seconds = call + listing + kernel + unlisting
        return Prediction(self.backend, threads.count, seconds, phases, max(parts, key=parts.__getitem__))


class PythonModel(Model):
    """The pipelines in CPython."""

    backend = "python"

    def __init__(self, features: PythonFeatures, machine: Machine) -> None:
        self._call = machine.python.call
        classes = machine.python.classes
        self._element = sum(classes.get(name, 0.0) * count for name, count in features.operations.items())

    def seconds(self, case: Case) -> float:
        """The predicted time of a run."""
        return self._call + case.n * self._element

    def predict(self, case: Case) -> Prediction:
        """The same with its phases."""
        computing = case.n * self._element
        bound = "arithmetic" if computing > self._call else "launch"
        return Prediction("python", 1, self.seconds(case), _there(call=self._call, kernel=computing), bound)


class DeviceModel(Model):
    """A loop on an OpenCL device; `features` those of its kernel there."""

    def __init__(self, backend: str, features: Features, machine: Machine, device: Device) -> None:
        self.backend = backend
        self.device = device
        self._features = features
        self._element = arithmetic(features, device.classes)
        lists = machine.cpu.lists
        self._listing = sum(lists.get(name, max(lists.values(), default=0.0)) for name in features.lists)
        self._local = features.inward * device.local + (features.outward + features.packed) * device.stored
        self._after = features.unlisted * machine.cpu.unlist

    def predict(self, case: Case) -> Prediction:
        """The same with its phases."""
        n, device, features = case.n, self.device, self._features
        computing, local = n * self._element, n * self._local
        kernel = device.kernel + overlapped(computing, local)
        sent = got = 0.0
        if not device.shared:
            sent = n * features.bus_in * (1 - case.resident) * device.inward
            got = n * features.bus_out * device.outward
        got += case.fresh * device.fresh
        listing = n * self._listing
        call = device.launch
        seconds = call + max(listing, kernel - device.kernel, sent + got) + n * self._after
        phases = _there(
            call=call - device.kernel, convert_in=listing, to_device=sent, kernel=kernel, from_device=got,
            convert_out=n * self._after,
        )  # fmt: skip
        parts = {"launch": call, "conversion": listing + n * self._after, "transfer": sent + got}
        parts["memory" if local > computing else "arithmetic"] = kernel - device.kernel
        return Prediction(self.backend, 0, seconds, phases, max(parts, key=parts.__getitem__))

    def at_least(self, case: Case) -> float:
        """A time that the device cannot fall below, whatever the kernel is there."""
        n, features = case.n, self._features
        moved = 0.0
        if not self.device.shared:
            moved = (
                features.bus_in * (1 - case.resident) * self.device.inward
                + features.bus_out * self.device.outward
            )
        return self.device.launch + n * max(self._listing, moved)


def overlapped(computing: float, moving: float) -> float:
    """The time of two things that run at once and hinder each other a little."""
    most, least = max(computing, moving), min(computing, moving)
    return most if most <= 0 else most * (1 + (least / most) ** _SHARP) ** (1 / _SHARP)


def _moving(n: int, inward: float, outward: float, threads: Threads) -> float:
    """Seconds in which memory gives and takes so many bytes, for each of n elements that are gone through at once."""
    size, both = n * (inward + outward), min(inward, outward)
    seconds = 2 * both * threads.copy.at(size)
    if inward > both:
        seconds += (inward - both) * threads.read.at(size)
    if outward > both:
        seconds += (outward - both) * threads.write.at(size)
    return seconds


def _limited(machine: Machine, threads: int) -> Threads:
    """The figures of so many threads, between those of one and of all."""
    one, several = machine.cpu.one, machine.cpu.all
    if threads <= 1 or several.count <= 1:
        return one
    if threads >= several.count:
        return several
    share = (threads - 1) / (several.count - 1)
    speed = 1 + (several.speed - 1) * share
    # One thread has a part of the memory's bandwidth, and a few have all of it.
    near = math.sqrt(share)
    return Threads(
        threads, several.start, speed, one.read.towards(several.read, near), one.write.towards(several.write, near),
        one.copy.towards(several.copy, near), one.fresh + (several.fresh - one.fresh) * near,
    )  # fmt: skip


def _there(**seconds: float) -> tuple[Phase, ...]:
    return tuple(Phase(name, each) for name, each in seconds.items() if each > 0)


__all__ = [
    "SHORT", "Case", "CpuModel", "DeviceModel", "Model", "Phase", "Prediction", "PythonModel", "arithmetic",
    "overlapped",
]  # fmt: skip
