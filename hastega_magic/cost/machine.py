"""What a machine can do, as measured (or assumed): plain data, and its JSON.

Times are seconds, sizes bytes. Curves say how long a byte takes by how many bytes are gone through: caches are faster
than memory.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, field, fields, is_dataclass
from types import UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from hastega_magic.cost.sanity import check
from hastega_magic.records import dataclass

SCHEMA = 2
"""Of the stored form; another one is foreign."""


@dataclass(frozen=True)
class Identity:
    """Which machine the figures are of: they hold on no other.

    cpu      the CPU's name and its vector instructions; `threads` that this process may use
    devices  what is known of drivers without loading any: a file's content, a version
    """

    cpu: str
    threads: int
    python: str
    version: str
    devices: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """A short name, fit for a file."""
        return hashlib.blake2b(json.dumps(asdict(self)).encode(), digest_size=10).hexdigest()


@dataclass(frozen=True)
class Curve:
    """Seconds per byte (or element) at some sizes, in rising order; between them the logarithms are interpolated."""

    points: tuple[tuple[float, float], ...]

    def at(self, size: float) -> float:
        """Seconds for each byte (element) where `size` of them are gone through."""
        if not self.points:
            return 0.0
        if size <= self.points[0][0]:
            return self.points[0][1]
        for (low, fast), (high, slow) in zip(self.points, self.points[1:], strict=False):
            if size <= high:
                share = math.log(size / low) / math.log(high / low)
                return fast * (slow / fast) ** share
        return self.points[-1][1]

    def scaled(self, factor: float) -> Curve:
        """The same, everything taking `factor` times as long."""
        return Curve(tuple((size, each * factor) for size, each in self.points))

    def towards(self, other: Curve, share: float) -> Curve:
        """A curve between this one and another, at this one's sizes."""
        return Curve(tuple((size, each + (other.at(size) - each) * share) for size, each in self.points))


@dataclass(frozen=True)
class Fit:
    """A measured line: `a` seconds for each element (or byte) and `b` once; `r2` is 1.0 where all points lie on it."""

    what: str
    unit: str
    a: float
    b: float
    r2: float


@dataclass(frozen=True)
class Threads:
    """The CPU through so many threads.

    start     seconds to set them to work and to wait for them, beyond a kernel on the calling thread
    speed     how many times as fast as one they compute, once all are at work
    ramp      seconds that are lost until they are: threads wake one after the other, on cores that slept
    knee      seconds of one thread's work of which half of `ramp` is lost
    read, write, copy  curves of a sum over an array, of filling one whose memory is in use already, and of both at
              once (by the bytes of both)
    fresh     seconds for each byte of a result whose memory the system gives anew, beyond writing it
    """

    count: int
    start: float
    speed: float
    ramp: float
    knee: float
    read: Curve
    write: Curve
    copy: Curve
    fresh: float


@dataclass(frozen=True)
class Cpu:
    """The CPU. `classes`: seconds of a vector operation on one thread, by class (cost/features.py).

    call      seconds of a run over one element, without its kernel, and `block` for each block of 4096 at its end
    setup     seconds of a kernel over one element
    lists     seconds for each element of a list that becomes an array, by NumPy's name of its type, over the elements
              that are converted: objects of long lists lie in memory, those of short ones in caches
    unlist    the same for an array that becomes a list
    """

    call: float
    block: float
    setup: float
    classes: Mapping[str, float]
    one: Threads
    all: Threads
    lists: Mapping[str, Curve]
    unlist: Curve


@dataclass(frozen=True)
class Python:
    """CPython: seconds of a run over nothing, and of its work for an element, by class."""

    call: float
    classes: Mapping[str, float]


@dataclass(frozen=True)
class Device:
    """An OpenCL device.

    name, platform, driver  which one it is; `number` among all devices when it was measured
    shared    it computes in the host's memory
    launch    seconds of a run over one element, transfers of nothing included; `kernel`: of its kernel alone
    chunk     bytes that are sent or got at once, with a kernel for each; 0 where it computes in the host's memory
    latency, pinned, pageable  (to the device, from it): seconds of a small transfer, and of a byte of a large one
    inward, outward  seconds for each byte that a loop sends or gets, with what the host does for it
    fresh     the same, more, where the result's memory is new
    local     seconds for each byte that a kernel reads of the host's memory, `stored` for one that it writes; 0.0 where
              a kernel's bytes cross a bus before and after
    compile   seconds that its compiler takes for a kernel
    classes   seconds of an operation for one element, where all of the device computes
    block     seconds of an operation in a kernel over a few blocks, which a small part of the device computes
    """

    number: int
    name: str
    platform: str
    driver: str
    kind: str
    shared: bool
    launch: float
    kernel: float
    chunk: float
    latency: tuple[float, float]
    pinned: tuple[float, float]
    pageable: tuple[float, float]
    inward: float
    outward: float
    fresh: float
    local: float
    stored: float
    compile: float
    classes: Mapping[str, float]
    block: Mapping[str, float]


@dataclass(frozen=True)
class Machine:
    """All of it. `calibrated`: when it was measured (ISO 8601); "" where figures are assumed."""

    identity: Identity
    calibrated: str
    cpu: Cpu
    python: Python
    devices: tuple[Device, ...] = ()
    fits: tuple[Fit, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """As it is stored."""
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_dict(cls, data: object) -> Machine:
        """What `to_dict` gave; ValueError for anything else: missing fields, other types, figures of no machine."""
        if not isinstance(data, dict) or cast("dict[str, object]", data).get("schema") != SCHEMA:
            raise ValueError("not a calibration of this version")
        found = _read(
            cls, {key: value for key, value in cast("dict[str, object]", data).items() if key != "schema"}
        )
        check(found)
        return found


T = TypeVar("T")

_LARGEST = 1e300
"""Beyond, a number is none: integers of JSON may have any number of digits."""


def _read(kind: type[T], data: object) -> T:
    """A value of the annotated type from JSON's; ValueError where it is none."""
    if is_dataclass(kind):
        given: dict[str, object] = cast("dict[str, object]", data) if isinstance(data, dict) else {}
        hints = get_type_hints(kind)
        names = [each.name for each in fields(kind)]
        if not isinstance(data, dict) or set(given) != set(names):
            raise ValueError(f"no {kind.__name__}")
        return cast(T, kind(**{name: _read(hints[name], given[name]) for name in names}))
    origin, args = get_origin(kind), get_args(kind)
    if origin is tuple:
        if not isinstance(data, (list, tuple)):
            raise ValueError("no sequence")
        items = cast("list[object]", data)
        kinds = [args[0]] * len(items) if len(args) == 2 and args[1] is Ellipsis else args
        if len(kinds) != len(items):
            raise ValueError("another length")
        return cast(T, tuple(_read(each, item) for each, item in zip(kinds, items, strict=True)))
    if origin is not None and origin is not UnionType:  # a mapping from names
        if not isinstance(data, dict):
            raise ValueError("no mapping")
        return cast(
            T, {str(key): _read(args[1], value) for key, value in cast("dict[str, object]", data).items()}
        )
    if kind is float:
        if isinstance(data, bool) or not isinstance(data, (int, float)) or not 0 <= data <= _LARGEST:
            raise ValueError("no amount")
        return cast(T, float(data))
    if type(data) is not kind:
        raise ValueError(f"no {kind}")
    return data


__all__ = ["SCHEMA", "Cpu", "Curve", "Device", "Fit", "Identity", "Machine", "Python", "Threads"]
