"""What the two forms of an OpenCL kernel share: parameters, stores, range checks and the block's status."""

from __future__ import annotations

from collections.abc import Sequence

from hastega_magic.codegen.located import Located
from hastega_magic.codegen.opencl.body import Body
from hastega_magic.codegen.opencl.fold import Fold
from hastega_magic.codegen.opencl.text import Writer, memory_type, suffix, vector_type
from hastega_magic.errors import NotCompilable
from hastega_magic.ir import abi
from hastega_magic.ir.device import bus_storages, partial_name
from hastega_magic.ir.expr import Expr
from hastega_magic.ir.kernel import LATE, TROUBLE, Accumulate, Assume, Guard, Kernel, Store
from hastega_magic.ir.loop import results_used
from hastega_magic.ir.printer import kernel_places
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.ir.target import Target
from hastega_magic.types import BOOL, INT

_PARTIAL = {"int64": "long", "float32": "float", "float64": "double"}
_MARKS = 29
"""Kinds of violation that fit beside trouble in a mark."""


class Frame(Located[Writer]):
    """The kernel, its layout, and the writer that all parts of its function share."""

    def __init__(self, kernel: Kernel, target: Target) -> None:
        """Nothing is written yet."""
        self.kernel = kernel
        self.target = target
        self.layout = abi.layout(kernel)
        self.writer = Writer()
        self.places = kernel_places(kernel)
        self.lanes = kernel.schedule.lanes
        self.n = suffix(self.lanes)
        self._used = results_used(kernel.roots())
        self.bus = bus_storages(kernel, target.has("narrow"))
        self.folds = [Fold(number, each, self.lanes) for number, each in enumerate(kernel.of(Accumulate))]
        self.assumes = kernel.of(Assume)
        self.bounds = list(dict.fromkeys((each.interval, each.status) for each in self.assumes))
        if len(self.bounds) > _MARKS:
            raise NotCompilable("the loop assumes different ranges of too many sources")
        self.guards = kernel.of(Guard)
        self.turns = self.layout.turns
        self.troubled = bool(self.guards) or self.turns or any(fold.checked for fold in self.folds)

    @property
    def mask(self) -> str:
        """The type of masks."""
        return vector_type(BOOL, self.lanes)

    def parameters(self) -> str:
        """The kernel's parameters, as ir/device.py has them."""
        words = ["const long length", "const long origin", "const long first", "__global const long *list"]
        words += ["__global uchar *status", *(["const long limit"] if self.turns else [])]
        for slot, source in enumerate(self.kernel.sources):
            if source.storage is None:
                words += [f"const long s{slot}_start", f"const long s{slot}_step"]
            else:
                words.append(f"__global const {memory_type(source.storage)} *restrict s{slot}")
        for slot, table in enumerate(self.kernel.tables):
            words.append(f"__global const {memory_type(table.storage)} *restrict t{slot}")
            words.append(f"const long t{slot}_length")
        words += [f"__global {memory_type(each)} *restrict r{slot}" for slot, each in enumerate(self.bus)]
        for group in range(self.layout.group_count):
            words += [f"__global ulong *restrict c{group}", f"__global long *restrict kept{group}"]
        for fold in self.folds:
            kind = _PARTIAL[partial_name(fold.statement)]
            words.append(f"__global {kind} *restrict p{fold.number}")
        return ",\n        ".join(words)

    def begin(self) -> None:
        """Which elements the block has; `turn` is known."""
        w = self.writer
        w.line("const long number = list ? list[turn] : turn;")
        w.line(f"const long begin = number * {BLOCK};")
        w.line(f"const long size = min(length - begin, {BLOCK}L);")
        w.line("const long whole = begin + (size & -64L);")

    def nowhere(self) -> Body:
        """Where nodes without leaves in memory can be emitted."""
        return Body(self.writer, self.kernel, self.target, [""])

    def body(self, positions: list[str], live: str | None = None) -> Body:
        """The loop body's values for elements at the positions."""
        body = Body(self.writer, self.kernel, self.target, positions, live, self.places.nodes)
        body.used = self._used
        body.emit(self._roots())
        return body

    def _roots(self) -> list[Expr]:
        return self.kernel.roots()

    def checks(self, body: Body) -> None:
        """Guards into `trouble`, and the bits of values under a bound into `range<k>`."""
        w = self.writer
        for guard in self.guards:
            self.at(guard)
            for number in range(len(body.positions)):
                live = "" if body.live is None else f" & {body.live}"
                w.line(f"trouble |= {body[guard.condition][number]}{live};")
        for number, (interval, status) in enumerate(self.bounds):
            for each in self.assumes:
                if (each.interval, each.status) != (interval, status):
                    continue
                self.at(each)
                for value in body[each.load]:
                    live = "" if body.live is None else f" & {body.live}"
                    folded = value if interval.lo == 0 else f"({value} ^ ({value} >> 63))"
                    w.line(f"range{number} |= {folded}{live};")
        self.at(None)

    def outside(self, number: int) -> str:
        """A mask of the accumulated bits beyond bound `number`."""
        interval, _ = self.bounds[number]
        assert interval.hi is not None
        bits = interval.hi.bit_length()
        return f"((as_ulong{self.n}(range{number}) >> {bits}UL) != 0)" if bits < 64 else "0"

    def declare_checks(self) -> None:
        """The accumulators of `checks`."""
        long = vector_type(INT, self.lanes)
        if self.troubled:
            self.writer.line(f"{self.mask} trouble = {self.own('0')};")
        for number in range(len(self.bounds)):
            self.writer.line(f"{long} range{number} = 0;")
        if self.turns:
            self.writer.line(f"long turned = {self.own('0', 'long')};")
            self.writer.line(f"int late = {self.own('0')};")

    def own(self, start: str, type_: str = "int") -> str:
        """What an accumulator of a work-item starts with.

        PoCL takes a variable that constants alone are folded into for one that all items of a group share, also
        where some of them have left the loop: it has to look as if it depended on the item.
        """
        if not (self.target.has("groups") and self.target.has("builtins")):
            return start
        return f"length < 0 ? ({type_})lane : {start}"

    def status(self, marks: str) -> None:
        """The block's status from marks: bit k for bound k, one more for trouble, and one for being late."""
        w = self.writer
        if not self.bounds and not self.troubled:
            w.line("status[number] = 0;")
            return
        text = f"({marks} >> {len(self.bounds)} & 1) ? {TROUBLE} : 0" if self.troubled else "0"
        if self.turns:
            text = f"({marks} >> {len(self.bounds) + 1} & 1) ? {LATE} : {text}"
        for number, (_, code) in enumerate(self.bounds):
            text = f"({marks} >> {number} & 1) ? {code} : {text}"
        w.line(f"status[number] = {text};")

    def stores(self, body: Body) -> None:
        """The values of every store, at their elements' own places."""
        for slot, store in enumerate(self.layout.stores):
            self.at(store)
            for number in range(len(body.positions)):
                self._store(body, slot, store, number)
        self.at(None)

    def _store(self, body: Body, slot: int, store: Store, number: int) -> None:
        w, element, position = self.writer, memory_type(self.bus[slot]), body.positions[number]
        value = body[store.value][number]
        if store.value.type is BOOL:
            value = f"convert_uchar{self.n}({value} & 1)"
        elif store.value.type is INT and element != "long":
            value = f"convert_{element}{self.n}({value})"
        if self.lanes == 1:
            w.line(f"r{slot}[{position}] = {value};")
        elif body.live is None:
            w.line(f"vstore{self.n}({value}, 0, r{slot} + {position});")
        else:
            buffer = w.name("tail")
            w.line(f"{element} {buffer}[{self.lanes}];")
            w.line(f"vstore{self.n}({value}, 0, {buffer});")
            stored = f"r{slot}[{position} + l] = {buffer}[l];"
            w.line(f"for (int l = 0; l < {self.lanes}; ++l) if ({position} + l < length) {stored}")

    def group_mask(self, group: int) -> Expr:
        """The mask of a packed group; what is written next belongs to the group's first store."""
        pairs: Sequence[tuple[Store, int | None]] = list(
            zip(self.layout.stores, self.layout.groups, strict=True)
        )
        store = next(store for store, each in pairs if each == group)
        assert store.mask is not None
        self.at(store)
        return store.mask
