"""What a loop would take on a back end, phase by phase, and what bounds it: the roofline with everything around it.

    kernel = (arithmetic^4 + memory^4)^(1/4)      the slower of the two, a little more where they are alike,
             + start + ramp                       on several threads; one kernel for each chunk on a device
    run    = call + list conversion + kernel                                        on the CPU
    run    = launch + the longest of conversion, transfers and kernel, which overlap on a device

A `Model` holds what does not depend on the number of elements, so that a prediction takes a few microseconds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace

from hastega_magic.cost.features import KEPT, Features, PythonFeatures
from hastega_magic.cost.machine import Device, Machine, Threads
from hastega_magic.cost.overlap import DIVIDER, overlapped
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import changed, dataclass

SHORT, ALONE = 16, 256
"""Up to so many blocks run on the calling thread (runtime/threads.py), where there are several and where it is one."""

PIECE = 1 << 20
"""Elements of a list that are converted at a time (runtime/sources.py)."""


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

    def corrected(self, run: float, kernel: float) -> Prediction:
        """The same, all of the run multiplied by `run` and its kernel by `kernel`; other phases take what is left.

        On a device, where phases overlap, they are multiplied by `run`, too.
        """
        seconds, own = self.seconds * run, self.phase("kernel")
        others = sum(each.seconds for each in self.phases) - own
        took = min(own * kernel, seconds) if others > 0 else seconds
        rest = run if self.backend.startswith("opencl") or others <= 0 else (seconds - took) / others
        phases = tuple(
            Phase(each.name, took if each.name == "kernel" else each.seconds * rest) for each in self.phases
        )
        return changed(self, seconds=seconds, phases=phases)

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


def arithmetic(features: Features, classes: Mapping[str, float], divider: bool = True) -> float:
    """Seconds that the operations of an element take on one thread; `divider`: divisions have a unit of their own."""
    one = other = 0.0
    for name, count in features.operations.items():
        seconds = classes.get(name, 0.0) * count
        if divider and name in DIVIDER:
            other += seconds
        else:
            one += seconds
    return overlapped(one, other) / features.lanes


@dataclass(frozen=True)
class _Piece:
    """A kernel: threads that run it, and seconds: to begin, of computing, of moving bytes, and of all of it."""

    threads: int
    setup: float
    computing: float
    moving: float
    seconds: float


class CpuModel(Model):
    """A loop through `threads` of the CPU's threads."""

    def __init__(self, backend: str, features: Features, machine: Machine, threads: int) -> None:
        self.backend = backend
        self._features, self._cpu = features, machine.cpu
        self._element = arithmetic(features, machine.cpu.classes)
        self._chain = sum(
            machine.cpu.classes.get(name, 0.0) * count for name, count in features.chain.items()
        )
        self._all = _limited(machine, threads)
        lists = machine.cpu.lists
        self._lists = [lists[name] for name in features.lists if name in lists]
        self._written = features.outward + KEPT * features.packed

    def _piece(self, n: int, fresh: float) -> _Piece:
        """A kernel over n elements, of whose results so many bytes are in new memory."""
        cpu, features, blocks = self._cpu, self._features, -(-n // BLOCK)
        threads = max(1, min(self._all.count, blocks))
        here = not features.inner and blocks <= (ALONE if threads == 1 else SHORT)
        one = cpu.one
        computing = n * self._element
        moving = n * _moving(n, features.inward, self._written, one) + fresh * one.fresh
        waiting = n * self._chain
        alone = overlapped(computing + waiting, moving)
        if here or threads == 1:
            start = 0.0 if here else one.start
            return _Piece(1, cpu.setup + start, computing + waiting, moving, cpu.setup + start + alone)
        several = self._all  # some of them, where there are fewer blocks
        share = (threads - 1) / max(1, several.count - 1)
        start = one.start + (several.start - one.start) * share
        # While one thread goes from element to element, others compute what it goes through next.
        computing = overlapped(computing / min(several.speed, threads), waiting)
        moving = n * _moving(n, features.inward, self._written, several) + fresh * several.fresh
        # Who computes for long has all threads for nearly all of the time; until then some are still on their way.
        lost = several.ramp * share * alone / (alone + several.knee) if alone > 0 else 0.0
        seconds = cpu.setup + start + overlapped(computing, moving) + lost
        return _Piece(threads, cpu.setup + start + lost, computing, moving, seconds)

    def _parts(self, case: Case) -> tuple[_Piece, float, float, float, float]:
        """A kernel, how many there are, and seconds: call, lists, and lists again."""
        n, cpu, features = case.n, self._cpu, self._features
        # Lists are converted piece by piece, and each piece is a kernel of its own, whose elements lie in caches.
        pieces = n / min(n, PIECE) if features.lists and n else 1.0
        piece = self._piece(min(n, PIECE) if features.lists else n, case.fresh / pieces)
        listing = n * sum([each.at(n) for each in self._lists])
        unlisting = n * features.unlisted * cpu.unlist.at(n) if features.unlisted else 0.0
        return piece, pieces, cpu.call - (-n // BLOCK) * cpu.block, listing, unlisting

    def seconds(self, case: Case) -> float:
        """The predicted time of a run."""
        piece, pieces, call, listing, unlisting = self._parts(case)
        return call + listing + pieces * piece.seconds + unlisting

    def again(self, case: Case) -> float:
        """The predicted time of a later run that makes a list: it is made while others read and compute.

        One thread makes the objects; the rest of the work, and what is left of its time, is everybody's.
        """
        piece, pieces, call, listing, unlisting = self._parts(case)
        if not unlisting:
            return self.seconds(case)
        work = listing + piece.threads * pieces * overlapped(piece.computing, piece.moving)
        together = max(unlisting, (unlisting + work) / self._all.count)
        return call + pieces * piece.setup + together

    def predict(self, case: Case) -> Prediction:
        """The same with its phases."""
        piece, pieces, call, listing, unlisting = self._parts(case)
        kernel = pieces * piece.seconds
        parts = {"launch": call + pieces * piece.setup, "conversion": listing + unlisting}
        parts["memory" if piece.moving > piece.computing else "arithmetic"] = kernel - pieces * piece.setup
        phases = _there(call=call, convert_in=listing, kernel=kernel, convert_out=unlisting)
        seconds = call + listing + kernel + unlisting
        return Prediction(self.backend, piece.threads, seconds, phases, max(parts, key=parts.__getitem__))


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
        self.device, self.machine, self.features = device, machine, features
        self.least = f"{backend}, at least"
        # Each result that filters shorten is moved together by a kernel of its own.
        self._starts = 1.0 + features.operations.get("pack", 0.0)
        self._element = arithmetic(features, device.classes, divider=False)
        # What filters leave is moved together by kernels of their own: by many threads, however few it is, or by one.
        together = device.kind != "cpu"
        moved = replace(features, operations={"pack": features.operations.get("pack", 0.0)})
        rest = replace(features, operations={**features.operations, "pack": 0.0}) if together else features
        self._moved = BLOCK * arithmetic(moved, device.block) if together else 0.0
        self._block = arithmetic(rest, device.block, divider=False)
        lists = machine.cpu.lists
        self._lists = [lists[name] for name in features.lists if name in lists]
        # Both at once take more than either, and less than one after the other.
        self._local = math.hypot(
            features.inward * device.local, (features.outward + features.packed) * device.stored
        )
        self._unlist = machine.cpu.unlist if features.unlisted else None

    def _kernels(self, case: Case) -> tuple[float, float, float]:
        """Seconds of the kernels beside the first one's start: of computing, of memory, and of all together."""
        n, device, features = case.n, self.device, self.features
        crossing = max(features.bus_in * (1 - case.resident), features.bus_out)
        chunks = max(1.0, n * crossing / device.chunk) if device.chunk else 1.0
        # A kernel over a few blocks takes as long as one: the others are computed beside it.
        alone = chunks * (self._moved + self._block * min(n / chunks, BLOCK))
        computing, local = max(alone, n * self._element), n * self._local
        return computing, local, overlapped(computing, local) + (chunks * self._starts - 1) * device.kernel

    def _outside(self, case: Case) -> tuple[float, float, float, float]:
        """Seconds: of lists, of transfers to the device and from it, and of lists at the end.

        Both ways at once take more than either, as the host copies for both, and less than one after the other.
        """
        n, device, features = case.n, self.device, self.features
        sent = got = 0.0
        if not device.shared:
            sent = n * features.bus_in * (1 - case.resident) * device.inward
            got = n * features.bus_out * device.outward
        got += case.fresh * device.fresh
        listing = n * sum([each.at(n) for each in self._lists])
        return listing, sent, got, n * features.unlisted * self._unlist.at(n) if self._unlist else 0.0

    def predict(self, case: Case) -> Prediction:
        """The same with its phases."""
        device = self.device
        computing, local, working = self._kernels(case)
        listing, sent, got, unlisting = self._outside(case)
        if device.shared:  # nothing is sent: what new memory takes is the kernel's
            working, local, got = max(working, got), max(local, got), 0.0
        seconds = device.launch + max(listing, working, math.hypot(sent, got)) + unlisting
        phases = _there(
            call=device.launch - device.kernel, convert_in=listing, to_device=sent, kernel=device.kernel + working,
            from_device=got, convert_out=unlisting,
        )  # fmt: skip
        parts = {
            "launch": device.launch,
            "conversion": listing + unlisting,
            "transfer": math.hypot(sent, got),
        }
        parts["memory" if local > computing else "arithmetic"] = working
        return Prediction(self.backend, 0, seconds, phases, max(parts, key=parts.__getitem__))

    def at_least(self, case: Case) -> float:
        """A time that the device cannot fall below, whatever the kernel is there."""
        listing, sent, got, _ = self._outside(case)
        return self.device.launch + max(listing, math.hypot(sent, got))


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
    # One thread has a part of the memory's bandwidth, and a few have all of it.
    near = math.sqrt(share)
    return Threads(
        threads, one.start + (several.start - one.start) * share, 1 + (several.speed - 1) * share,
        several.ramp * share, several.knee, one.read.towards(several.read, near),
        one.write.towards(several.write, near), one.copy.towards(several.copy, near),
        one.fresh + (several.fresh - one.fresh) * near,
    )  # fmt: skip


def _there(**seconds: float) -> tuple[Phase, ...]:
    return tuple(Phase(name, each) for name, each in seconds.items() if each > 0)


__all__ = [
    "ALONE", "SHORT", "Case", "CpuModel", "DeviceModel", "Model", "Phase", "Prediction", "PythonModel", "arithmetic",
]  # fmt: skip
