"""The loop body: each node of the scalar graph as one instruction per vector in flight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from hastega_magic.codegen.llvm.divide import quotients
from hastega_magic.codegen.llvm.text import Writer, element_type, mangled, picked, splat, splat_literal
from hastega_magic.codegen.turned import Turned
from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.origins import UNNAMED
from hastega_magic.ir.pipeline import Source
from hastega_magic.ops import OPS
from hastega_magic.records import dataclass
from hastega_magic.types import BOOL, FLOAT32, INT, Storage

_LINE = 64
"""Bytes of a line of the caches."""

_LONG_TURN = 256
"""Bytes of a source from which on a turn can ask for a line twice without asking much more."""


@dataclass(frozen=True)
class Address:
    """Names of a memory operand's base pointer, stride in bytes (None where dense) and, for tables, length."""

    base: str
    stride: str | None = None
    length: str | None = None


@dataclass
class Body:
    """Emits nodes for `vectors` vectors at element `position`.

    `mask` names the live lanes of a tail, `masks` those of each vector in a loop; `stop` what asks loops to end;
    `uniform` the nodes that have one value in all vectors; `lost` the lanes in which the block needed Python so far.
    """

    writer: Writer
    kernel: Kernel
    sources: list[Address]
    tables: list[Address]
    iota: str
    origin: str
    position: str
    vectors: int
    mask: str | None = None
    places: Mapping[Expr, int] = field(default_factory=dict[Expr, int])
    values: dict[Expr, list[str]] = field(default_factory=dict[Expr, list[str]])
    masks: list[str] | None = None
    stop: str = ""
    turned: dict[Expr, Turned] = field(default_factory=dict[Expr, Turned])
    uniform: frozenset[Expr] = frozenset()
    used: Mapping[Expr, frozenset[int]] = field(default_factory=dict[Expr, "frozenset[int]"])
    lost: str = ""
    locality: int = 3
    """What is asked for ahead goes into the nearest cache (3), the one behind it (2), or the nearest one alone (0).

    `sooner`: and some of it sooner.
    """
    sooner: bool = False
    parts: int = 1
    """Parts of the block that a turn goes through; `starts`: where it is in those behind the first."""
    starts: dict[int, str] = field(default_factory=dict[int, str])
    branches: bool = False
    """Whether a node may begin new blocks."""

    together = True
    """Whether the elements of a vector are neighbours."""

    @property
    def lanes(self) -> int:
        """Elements of a vector."""
        return self.kernel.schedule.lanes

    def at_lanes(self, lanes: int) -> Body:
        """Where nodes without leaves in memory can be emitted for one vector of so many lanes."""
        schedule = replace(self.kernel.schedule, lanes=lanes)
        return Body(self.writer, replace(self.kernel, schedule=schedule), [], [], "", "", "", 1)

    def vector(self, element: str) -> str:
        """The vector type over an element type."""
        return f"<{self.lanes} x {element}>"

    def emit(self, roots: list[Expr]) -> None:
        """Everything below the roots, operands first, vector beside vector."""
        leaves: list[Expr] = []
        for node in postorder(roots, self.values):
            leaves.append(node)
            if node.op not in UNNAMED:  # constants and the like belong to what uses them, which follows
                self.writer.place = self.places.get(node, 0)
                self._emit_each(leaves)
                leaves.clear()
        self._emit_each(leaves)
        self.writer.place = 0

    def _emit_each(self, nodes: list[Expr]) -> None:
        for node in nodes:
            self.values[node] = self._node(node)

    def __getitem__(self, node: Expr) -> list[str]:
        """The names of the node's vectors."""
        return self.values[node]

    def mask_of(self, number: int) -> str | None:
        """The live lanes of a vector; None: all."""
        return self.masks[number] if self.masks is not None else self.mask

    def _each(self, node: Expr, make: Callable[[int], str]) -> list[str]:
        if node in self.uniform:
            return [self.writer.let(make(0))] * self.vectors
        return [self.writer.let(make(number)) for number in range(self.vectors)]

    def splatted(self, element: str, name: str) -> str:
        """A vector with the named scalar in every lane."""
        vector = self.vector(element)
        first = self.writer.let(f"insertelement {vector} poison, {element} {name}, i32 0")
        return self.writer.let(
            f"shufflevector {vector} {first}, {vector} poison, <{self.lanes} x i32> zeroinitializer"
        )

    def start_of(self, number: int) -> str:
        """The number of a vector's first element."""
        part, place = divmod(number, self.vectors // self.parts)
        start = self.position
        if part:
            start = self.starts.get(part) or self.writer.let(f"add i64 {start}, %part{part}")
            self.starts[part] = start
        return self.writer.let(f"add i64 {start}, {place * self.lanes}")

    def element_numbers(self, number: int) -> str:
        """Positions of the elements in a vector."""
        start = self.start_of(number)
        return self.writer.let(f"add {self.vector('i64')} {self.splatted('i64', start)}, {self.iota}")

    def _node(self, node: Expr) -> list[str]:
        match node.op:
            case "const":
                return [splat_literal(node)] * self.vectors
            case "load":
                return [self._load(node, number) for number in range(self.vectors)]
            case "index":
                return [self._index(number) for number in range(self.vectors)]
            case "length":
                assert isinstance(node.value, int)
                length = self.tables[node.value].length
                assert length is not None
                return [self.splatted("i64", length)] * self.vectors
            case "table":
                return [""] * self.vectors
            case "gather":
                return [self._gather(node, number) for number in range(self.vectors)]
            case "turns":
                from hastega_magic.codegen.llvm.turns import emit_turns

                self.turned[node] = emit_turns(self, node, self.used.get(node, frozenset()))
                return self.turned[node].trouble
            case "result":
                assert isinstance(node.value, int)
                return self.turned[node.args[0]].state[node.value]
            case "divided_by" if self.branches:
                return quotients(self, node)
            case _:
                return self._operator(node)

    def _operator(self, node: Expr) -> list[str]:
        row = OPS[node.op]
        subject = node.args[1] if node.op == "select" else node.args[0]
        template = row.llvm["float" if subject.type.is_float else subject.type.value]
        operand, result = element_type(node.args[0].type), element_type(node.type)
        names = [self.values[arg] for arg in node.args]
        return self._each(
            node,
            lambda number: template.format(
                *(name[number] for name in names),
                r=self.vector(result),
                t=self.vector(operand),
                t0=self.vector(operand),
                m=mangled(operand, self.lanes),
                bits=64 * self.lanes,
                ones=splat(result, "true" if result == "i1" else -1),
            ),
        )

    # Memory

    def _load(self, node: Expr, number: int) -> str:
        slot = node.value
        assert isinstance(slot, int)
        source, address = self.kernel.sources[slot], self.sources[slot]
        if source.storage is None:
            return self.of_range(address, number)
        storage = source.storage
        if source.layout == "scalar":
            kind = memory_type(storage)
            return self.splatted(
                kind, self.writer.let(f"load {kind}, ptr {address.base}, align {storage.size}")
            )
        if source.layout == "dense":
            return self._widened(self.dense(address, storage, number, asks=not source.beside), storage)
        if source.layout == "turned" and self.together and self.mask is None:
            return self._widened(self._turned(address, storage, number, not source.beside), storage)
        if source.layout in ("even", "odd") and self.together and self.mask is None:
            return self._of_pairs(address, storage, number, source.layout == "odd")
        # Vectors of fewer lanes would be read from before the first element that is used.
        fits = source.apart and source.vectors and source.apart <= self.lanes + 1
        if fits and self.together and self.mask is None:
            return self._widened(self._apart(address, storage, number, source), storage)
        assert address.stride is not None
        numbers = self.element_numbers(number)
        stride = self.splatted("i64", address.stride)
        offsets = self.writer.let(f"mul {self.vector('i64')} {numbers}, {stride}")
        raw = self._gathered(address.base, "i8", offsets, storage, self.mask_of(number), 1)
        if source.layout == "swapped":
            raw = self._swapped(raw, storage)
        return self._widened(raw, storage)

    def dense(self, address: Address, storage: Storage, number: int, asks: bool = True) -> str:
        """Neighbouring elements of an array, as they lie in memory. `asks`: for those ahead, too."""
        element = memory_type(storage)
        start = self.start_of(number)
        place = self.writer.let(f"getelementptr {element}, ptr {address.base}, i64 {start}")
        vector = self.vector(element)
        if asks and self.mask is None:
            self._ask(place, storage.size, number)
        if self.mask is None:
            return self.writer.let(f"load {vector}, ptr {place}, align {storage.size}")
        return self.writer.let(
            f"call {vector} @llvm.masked.load.{mangled(element, self.lanes)}.p0(ptr {place}, i32 {storage.size}, "
            f"{self.vector('i1')} {self.mask}, {vector} zeroinitializer)"
        )

    def _ask(self, place: str, size: int, number: int, direction: int = 1) -> None:
        """Ask for what lies ahead of a vector of elements of this size, if it is the first in its line of the cache."""
        offset, turn = number * self.lanes * size, self.vectors * self.lanes * size
        if not self.kernel.schedule.prefetch or offset % 64:
            return
        distances = [1]
        if self.sooner and turn >= _LONG_TURN:
            # The machine's own prefetchers begin anew in each page: these few lines let them begin sooner.
            distances += [2] * (offset == 0) + [3] * (offset == turn // 2)
        for each in distances:
            ahead = self.writer.let(
                f"getelementptr i8, ptr {place}, i64 {direction * each * self.kernel.schedule.prefetch}"
            )
            self.writer.line(f"call void @llvm.prefetch.p0(ptr {ahead}, i32 0, i32 {self.locality}, i32 1)")

    def _turned(self, address: Address, storage: Storage, number: int, asks: bool) -> str:
        """Elements that lie one before the other. `asks`: for those further on, too."""
        w, element, lanes = self.writer, memory_type(storage), self.lanes
        before = w.let(f"sub i64 {1 - lanes}, {self.start_of(number)}")
        place = w.let(f"getelementptr {element}, ptr {address.base}, i64 {before}")
        vector = self.vector(element)
        if asks:
            self._ask(place, storage.size, number, -1)
        there = w.let(f"load {vector}, ptr {place}, align {storage.size}")
        numbers = ", ".join(f"i32 {lanes - 1 - lane}" for lane in range(lanes))
        return w.let(f"shufflevector {vector} {there}, {vector} poison, <{lanes} x i32> <{numbers}>")

    def _of_pairs(self, address: Address, storage: Storage, number: int, odd: bool) -> str:
        """Every other number of twice as many, the first of which is a pair's first one."""
        w, element, lanes = self.writer, memory_type(storage), self.lanes
        pairs = f"<{2 * lanes} x {element}>"
        start = self.start_of(number)
        first = w.let(f"shl i64 {start}, 1")
        first = w.let(f"sub i64 {first}, 1") if odd else first
        place = w.let(f"getelementptr {element}, ptr {address.base}, i64 {first}")
        if not odd:  # of the same lines
            self._ask(place, storage.size, number)
            if lanes * storage.size >= _LINE:
                self._ask(w.let(f"getelementptr i8, ptr {place}, i64 {_LINE}"), storage.size, number)
        both = w.let(f"load {pairs}, ptr {place}, align {storage.size}")
        numbers = ", ".join(f"i32 {2 * lane + odd}" for lane in range(lanes))
        return w.let(f"shufflevector {pairs} {both}, {pairs} poison, <{lanes} x i32> <{numbers}>")

    def _apart(self, address: Address, storage: Storage, number: int, source: Source) -> str:
        """Elements that lie apart: all from the first that is used to the last are read, and these are picked."""
        w, element, lanes, apart = self.writer, memory_type(storage), self.lanes, source.apart
        vector, last = self.vector(element), apart * (lanes - 1)
        first = w.let(f"mul i64 {self.start_of(number)}, {apart}")
        starts = [min(part * lanes, last - lanes + 1) for part in range(apart)]
        parts: list[str] = []
        for start in starts:
            place = w.let(f"add i64 {first}, {start}") if start else first
            place = w.let(f"getelementptr {element}, ptr {address.base}, i64 {place}")
            if not source.beside:
                self._ask(place, storage.size, number)
            parts.append(w.let(f"load {vector}, ptr {place}, align {storage.size}"))
        places = [lane * apart for lane in range(lanes)]
        chosen = [min(place // lanes, apart - 1) for place in places]
        order = [part * lanes + place - starts[part] for part, place in zip(chosen, places, strict=True)]
        return picked(w, parts, element, lanes, order)

    def of_range(self, address: Address, number: int) -> str:
        """Elements of a range: its start and its step are the address's base and stride."""
        assert address.stride is not None
        place = self.start_of(number)
        scaled = self.writer.let(f"mul i64 {place}, {address.stride}")
        first = self.writer.let(f"add i64 {address.base}, {scaled}")
        steps = self.writer.let(
            f"mul {self.vector('i64')} {self.iota}, {self.splatted('i64', address.stride)}"
        )
        return self.writer.let(f"add {self.vector('i64')} {self.splatted('i64', first)}, {steps}")

    def _index(self, number: int) -> str:
        numbers, i64 = self.element_numbers(number), self.vector("i64")
        return self.writer.let(f"add {i64} {numbers}, {self.splatted('i64', self.origin)}")

    def _gather(self, node: Expr, number: int) -> str:
        """An element of a captured array; lanes whose index is out of bounds read nothing."""
        table, index = node.args
        slot = table.value
        assert isinstance(slot, int)
        address, storage = self.tables[slot], self.kernel.tables[slot].storage
        assert address.length is not None
        name = self.values[index][number]
        i64, i1 = self.vector("i64"), self.vector("i1")
        inside = self.writer.let(f"icmp ult {i64} {name}, {self.splatted('i64', address.length)}")
        if (mask := self.mask_of(number)) is not None:
            inside = self.writer.let(f"and {i1} {inside}, {mask}")
        raw = self._gathered(address.base, memory_type(storage), name, storage, inside, storage.size)
        return self._widened(raw, storage)

    def _gathered(
        self, base: str, unit: str, offsets: str, storage: Storage, mask: str | None, align: int
    ) -> str:
        element = memory_type(storage)
        pointers, vector = self.vector("ptr"), self.vector(element)
        places = self.writer.let(f"getelementptr {unit}, ptr {base}, {self.vector('i64')} {offsets}")
        return self.writer.let(
            f"call {vector} @llvm.masked.gather.{mangled(element, self.lanes)}.v{self.lanes}p0({pointers} {places}, "
            f"i32 {align}, {self.vector('i1')} {mask or splat('i1', 'true')}, {vector} zeroinitializer)"
        )

    def _swapped(self, raw: str, storage: Storage) -> str:
        """The other byte order."""
        if storage.size == 1:
            return raw
        element, bits = memory_type(storage), f"i{8 * storage.size}"
        as_int = raw if element == bits else self._cast("bitcast", element, raw, bits)
        turned = self.writer.let(
            f"call {self.vector(bits)} @llvm.bswap.{mangled(bits, self.lanes)}({self.vector(bits)} {as_int})"
        )
        return turned if element == bits else self._cast("bitcast", bits, turned, element)

    def _widened(self, raw: str, storage: Storage) -> str:
        """What lay in memory as the value that functions see."""
        if storage.scalar is BOOL:
            return self.writer.let(f"icmp ne {self.vector('i8')} {raw}, zeroinitializer")
        if storage.scalar is INT and storage.size < 8:
            return self._cast("sext" if storage.signed else "zext", memory_type(storage), raw, "i64")
        return raw

    def _cast(self, how: str, source: str, name: str, target: str) -> str:
        return self.writer.let(f"{how} {self.vector(source)} {name} to {self.vector(target)}")


def memory_type(storage: Storage) -> str:
    """LLVM's type of an element in memory."""
    if storage.scalar.is_float:
        return "float" if storage.scalar is FLOAT32 else "double"
    return f"i{8 * storage.size}"
