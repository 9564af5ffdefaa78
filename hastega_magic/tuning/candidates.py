"""The schedules that a loop might have, those that should be fastest first.

    8 lanes × 8 (the compiler's own)      8 × 4, 16 × 4, 8 × 2, 4 × 8, ...     then, with the fastest of these:
    blocks at a time, threads, stores past the caches, prefetch on a CPU; work-items of a group, chunk on a device

The estimate is that of a machine that begins two operations a cycle, each of which takes four: too few vectors in
flight wait for each other, too many do not fit into registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hastega_magic.ir import abi
from hastega_magic.ir.expr import Expr
from hastega_magic.ir.kernel import Kernel, Store
from hastega_magic.ir.loop import everything
from hastega_magic.ir.schedule import VIRTUAL_LANES, Tuned
from hastega_magic.ir.target import Target
from hastega_magic.records import dataclass
from hastega_magic.types import BOOL, FLOAT32

_BEGUN, _LATENCY = 2.0, 4.0
"""Operations that begin in a cycle, and cycles that one takes."""

_SPILL = 2.0
"""Operations for each value that registers do not hold: a store and a load."""

_CODE = 6000
"""Instructions beyond which a loop leaves the cache of decoded ones."""

_CHUNKS = (1 << 18, 1 << 20, 1 << 22)
_PREFETCH = (0, 384, 1024, 4096)
_GRAINS = (1, 4, 16, 64)
_ITEMS = (1, 2, 4)


@dataclass(frozen=True)
class Limits:
    """What the user fixed, and what the machine has: `width` lanes (0: free), and at most so many `threads`.

    `free_threads`: whether fewer may be tried. `elements`: over so many the loop runs.
    """

    width: int = 0
    threads: int = 1
    free_threads: bool = True
    elements: int = 1 << 62


@dataclass(frozen=True)
class Space:
    """`vectors`: alternatives to the compiler's own lanes and vectors in flight, the fastest first by estimate.

    `axes`: alternatives in other respects, each with the name of the field that it decides.
    """

    own: Tuned
    vectors: tuple[Tuned, ...]
    axes: tuple[tuple[str, tuple[object, ...]], ...]

    @property
    def possible(self) -> int:
        """How many schedules there are to try, the compiler's own included."""
        return 1 + len(self.vectors) + sum(len(values) for _, values in self.axes)


def space(kernel: Kernel, target: Target, limits: Limits) -> Space:
    """What could be tried for a loop whose own schedule is the kernel's."""
    own = Tuned(kernel.schedule.lanes, kernel.schedule.in_flight)
    pairs = [
        (lanes, in_flight)
        for lanes in _lanes(kernel, target, limits)
        for in_flight in (1, 2, 4, 8, 16)
        if lanes * in_flight <= VIRTUAL_LANES and (lanes, in_flight) != (own.lanes, own.in_flight)
    ]
    shape = Shape.of(kernel, target)
    pairs.sort(key=lambda pair: shape.cycles(*pair))
    vectors = tuple(Tuned(lanes, in_flight) for lanes, in_flight in pairs)
    return Space(
        own, vectors, tuple((name, values) for name, values in _axes(kernel, target, limits) if values)
    )


def _lanes(kernel: Kernel, target: Target, limits: Limits) -> Sequence[int]:
    if limits.width:
        return (target.lanes(limits.width),)
    if target.spelling == "opencl":
        most = target.most_lanes
        return (1,) if target.has("groups") else tuple(each for each in (1, 2, 4, 8, 16) if each <= most)
    native = _native(kernel, target)
    return [each for each in (native // 2, native, 2 * native, 4 * native) if 1 <= each <= VIRTUAL_LANES]


def _native(kernel: Kernel, target: Target) -> int:
    """Elements in a register."""
    types = [node.type for node in everything(kernel.roots()) if node.op != "const"]
    narrow = FLOAT32 in types and all(type_ in (FLOAT32, BOOL) for type_ in types)
    return max(1, target.vector_bits // (32 if narrow else 64))


def _axes(kernel: Kernel, target: Target, limits: Limits) -> Iterable[tuple[str, tuple[object, ...]]]:
    own = kernel.schedule
    if target.spelling == "opencl":
        if not target.has("groups"):
            yield "grain", tuple(each for each in _ITEMS if each != own.grain)
        yield "chunk", tuple(each for each in _CHUNKS if each < limits.elements)
        return
    layout = abi.layout(kernel)
    if limits.threads > 1:
        if not layout.group_count:
            yield "grain", tuple(each for each in _GRAINS if each != own.grain)
        if limits.free_threads:
            fewer = {limits.threads // 2, limits.threads * 3 // 4} - {0, limits.threads}
            yield "threads", tuple(sorted(fewer, reverse=True))
    if own.stream and dense_stores(kernel):
        yield "stream", (False,)
    if dense_sources(kernel):
        yield "prefetch", tuple(each for each in _PREFETCH if each != own.prefetch)


def dense_sources(kernel: Kernel) -> bool:
    """Whether it reads memory from one element to the next, which can be asked for ahead."""
    return any(source.storage is not None and source.layout == "dense" for source in kernel.sources)


def dense_stores(kernel: Kernel) -> bool:
    """Whether it stores all elements, which can go past the caches."""
    return any(store.mask is None and not store.running for store in kernel.of(Store))


@dataclass(frozen=True)
class Shape:
    """What the estimate knows of a loop's body.

    operations  of an element; `depth` of them one after the other at most
    live        values of an element that are needed at once, about
    native      elements in a register, of which there are `registers`
    exact       whether 52-bit multiply-adds are used, which vectors of other sizes than 2, 4 and 8 have not
    """

    operations: int
    depth: int
    live: int
    native: int
    registers: int
    exact: bool

    @classmethod
    def of(cls, kernel: Kernel, target: Target) -> Shape:
        """The shape of a lowered kernel."""
        depths: dict[Expr, int] = {}
        operations = 0
        for node in everything(kernel.roots()):
            below = max((depths.get(each, 0) for each in node.args), default=0)
            depths[node] = below + (1 if node.args else 0)
            operations += 1 if node.args else 0
        depth = max(depths.values(), default=0)
        loads = len(kernel.sources)
        live = loads + 1 + operations // max(1, 2 * depth)
        exact = any(node.op.startswith("madd52") for node in depths)
        registers = 32 if target.vector_bits >= 512 or target.isa == "NEON" else 16
        return cls(max(1, operations), max(1, depth), live, _native(kernel, target), registers, exact)

    def cycles(self, lanes: int, in_flight: int) -> float:
        """Cycles of an element with so many lanes and vectors in flight: a figure to order schedules by."""
        parts = max(1.0, lanes / self.native)
        vectors = parts * in_flight
        operations = self.operations * vectors * (4.0 if self.exact and lanes not in (2, 4, 8) else 1.0)
        spilt = max(0.0, self.live * vectors - self.registers)
        busy = (operations + _SPILL * spilt + 4) / _BEGUN  # the loop's own operations are four
        if operations > _CODE:
            busy *= 1.5
        return max(busy, self.depth * _LATENCY) / (lanes * in_flight)


def varied(base: Tuned, name: str, value: object) -> Tuned:
    """The same with another value of a field."""
    return replace(base, **{name: value})  # pyright: ignore[reportArgumentType]  # of an axis, which has the field's type


__all__ = ["Limits", "Shape", "Space", "dense_sources", "dense_stores", "space", "varied"]
