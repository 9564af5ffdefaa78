"""The frame of a kernel's function: its operands read from the words, and the loop that claims blocks."""

from __future__ import annotations

from collections.abc import Sequence

from hastega_magic.codegen.llvm.body import Address, Body
from hastega_magic.codegen.llvm.fold import Fold, memory_lanes
from hastega_magic.codegen.llvm.text import Writer, element_type, literal, splat
from hastega_magic.codegen.llvm.trail import Trail
from hastega_magic.codegen.located import Located
from hastega_magic.interval import NOT_NEGATIVE, Interval
from hastega_magic.ir import abi
from hastega_magic.ir.expr import Expr, is_const
from hastega_magic.ir.kernel import Assume, Guard, Kernel
from hastega_magic.ir.loop import results_used
from hastega_magic.ir.printer import Places, kernel_places
from hastega_magic.ir.scan import ROW
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.ir.target import Target
from hastega_magic.types import FLOAT, INT


def _zero_of(condition: Expr) -> Expr | None:
    """The int of which the condition says that it is zero."""
    zero = condition.op == "eq" and condition.args[0].type is INT and is_const(condition.args[1], 0)
    return condition.args[0] if zero else None


class Frame(Located[Writer]):
    """What all parts of the function share: the kernel, its layout, and the names of its operands."""

    def __init__(self, kernel: Kernel, target: Target) -> None:
        """Lay out the words; nothing is written yet."""
        self.kernel = kernel
        self.target = target
        self.layout = abi.layout(kernel)
        self.writer = Writer()
        self.places = kernel_places(kernel) if kernel.located else Places()
        self.lanes = kernel.schedule.lanes
        self.used = results_used(kernel.roots())
        self.folds = [
            Fold(statement, self.lanes, quarters=not target.shifts_signed) for statement in self.layout.folds
        ]
        self.assumes = kernel.of(Assume)
        self.bounds = list(dict.fromkeys((each.interval, each.status) for each in self.assumes))
        self.guards = kernel.of(Guard)
        self.least = self._least()
        if self.least:
            told = {each.load for each in self.assumes if (each.interval, each.status) in self.least}
            self.guards = [guard for guard in self.guards if _zero_of(guard.condition) not in told]
        products = any(fold.kind == "mul" and fold.element == "i64" for fold in self.folds)
        self.troubled = bool(self.guards) or products
        self.sources: list[Address] = []
        self.tables: list[Address] = []
        self.rooms: dict[int, str] = {}
        self.scratch: dict[int, str] = {}
        self.memory: dict[int, str] = {}
        self.totals: dict[int, str] = {}
        self.missing: dict[str, str] = {}
        self.powers: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        self.in_doubt: dict[int, str] = {}
        self.results: list[str] = []
        self.partials: list[str] = []
        self.positions: list[str] = []
        trails = self.layout.trailing and target.vector_bits >= 128
        self.trail = Trail(self) if trails else None

    def _least(self) -> set[tuple[Interval, int]]:
        """Bounds of which one operation looks after both the sign of values and whether one is zero: the least of them.

        Divisors, that is, which need both; where there are such instructions.
        """
        if self.target.vector_bits < 512 or self.layout.turns or self.kernel.schedule.refill:
            return set()
        zeros = {_zero_of(guard.condition) for guard in self.guards}
        loads = {
            bound: [each.load for each in self.assumes if (each.interval, each.status) == bound]
            for bound in self.bounds
        }
        return {
            bound
            for bound in self.bounds
            if bound[0] == NOT_NEGATIVE and all(load in zeros for load in loads[bound])
        }

    @property
    def far(self) -> bool:
        """Whether sources are asked for into the cache behind the nearest one.

        Stores past the caches take the nearest one's buffers, and so would what is asked for into it. Running values
        read their block twice, and have it there. Where parts are gone through side by side, what is asked for is near.
        """
        stores = self.layout.stores
        dense = any(store.mask is None for store in stores) and not any(store.running for store in stores)
        schedule = self.kernel.schedule
        return self.trail is not None or (schedule.stream and schedule.parts == 1 and dense)

    @property
    def locality(self) -> int:
        """How near what is asked for ahead is to be kept, as LLVM counts it.

        Running values read their block twice, and the next run of a loop that only reads begins where this one ends.
        """
        if self.far:
            return 2
        stores = self.layout.stores
        again = not stores or any(store.running for store in stores)
        return 0 if self.target.reads_past_caches and not again else 3

    def streams(self, size: int) -> bool:
        """Whether dense results of `size` bytes an element are stored past the caches: whole, aligned vectors only."""
        return self.kernel.schedule.stream and self.lanes * size >= 16

    @property
    def packs(self) -> bool:
        """Whether results go where the blocks before left off, so that blocks are handed over in order."""
        return self.layout.group_count > 0

    def claiming(self, counter: str) -> str:
        """The instruction that claims blocks from a counter, and gives the first one."""
        return f"atomicrmw add ptr {counter}, i64 {self.handed} seq_cst, align 8"

    def entry(self) -> None:
        """Read the words."""
        w = self.writer
        w.label("entry")
        self.length = self.word(abi.LENGTH, "i64", "length")
        self.blocks = self.word(abi.BLOCKS, "i64", "blocks")
        self.block_list = self.word(abi.BLOCK_LIST, "ptr", "list")
        self.status = self.word(abi.STATUS, "ptr", "status")
        self.shared = self.word(abi.SHARED, "ptr", "shared")
        self.kept = self.word(abi.COUNTS, "ptr", "kept")
        self.origin = self.word(abi.ORIGIN, "i64", "origin")
        self.handed = self.word(abi.HANDED, "i64", "handed")
        for slot, source in enumerate(self.kernel.sources):
            first = self.layout.source(slot)
            base = self.word(first, "i64" if source.storage is None else "ptr", "source")
            self.sources.append(Address(base, self.word(first + 1, "i64", "stride")))
        for slot in range(len(self.kernel.tables)):
            first = self.layout.table(slot)
            base, stride = self.word(first, "ptr", "table"), self.word(first + 1, "i64", "stride")
            self.tables.append(Address(base, stride, self.word(first + 2, "i64", "length")))
        self.results += [
            self.word(self.layout.store(number), "ptr", "result") for number in range(len(self.layout.stores))
        ]
        self.partials += [
            self.word(self.layout.fold(number), "ptr", "partial") for number in range(len(self.folds))
        ]
        self.memory |= {
            number: w.let(f"alloca {memory_lanes(fold)}, align 64", "lanes")
            for number, fold in enumerate(self.folds)
            if fold.tree
        }
        packed = [number for number, group in enumerate(self.layout.groups) if group is not None]
        self.rooms |= {
            number: w.let(
                f"getelementptr i8, ptr %scratch, i64 {abi.OWN + place * self.layout.room_bytes}", "rooms"
            )
            for place, number in enumerate(packed)
        }
        if self.packs and not self.trail:
            words = self.layout.handover * self._record_words
            self.records = w.let(f"alloca [{words} x i64], align 64", "records")
        if self.target.vector_bits >= 512:
            affine = [store.value.type for store in self.layout.stores if store.running == "affine"]
            kinds = {f"<{lanes} x {element_type(type_)}>" for type_ in affine for lanes in (self.lanes, ROW)}
            self.missing |= {vector: self._unknown(vector) for vector in sorted(kinds)}
        self.next = self.shared_word(abi.NEXT)
        self.stop = self.shared_word(abi.STOP)
        self.turn = self.shared_word(abi.TURN)
        self.flags = self.shared_word(abi.FLAGS)
        self.positions += [
            self.shared_word(abi.POSITIONS + abi.LINE * group) for group in range(self.layout.group_count)
        ]
        if self.trail:
            self.trail.entry()
        lane_numbers = ", ".join(f"i64 {lane}" for lane in range(self.lanes))
        self.iota = w.let(f"or <{self.lanes} x i64> <{lane_numbers}>, zeroinitializer", "iota")

    def _unknown(self, vector: str) -> str:
        """Negative zeros that LLVM does not know: elements that move up beside them take one operation of AVX-512.

        Beside known ones it expands the vector, which takes two; on AMD's Zen moving averages took a fifth longer so.
        """
        w = self.writer
        place, zeros = w.let(f"alloca {vector}, align 64", "missing"), splat("double", literal(-0.0, FLOAT))
        w.line(f"store volatile {vector} {zeros}, ptr {place}, align 64")
        return w.let(f"load volatile {vector}, ptr {place}, align 64")

    def word(self, number: int, type_: str, hint: str) -> str:
        """The word of this number, read."""
        place = self.writer.let(f"getelementptr i64, ptr %words, i64 {number}")
        return self.writer.let(f"load {type_}, ptr {place}, align 8", hint)

    def shared_word(self, offset: int) -> str:
        """The address of a shared word."""
        return self.writer.let(f"getelementptr i64, ptr {self.shared}, i64 {offset}", "shared")

    def begin_block(self) -> None:
        """Which elements the block has."""
        w = self.writer
        w.label("block")
        again = ", [ %turn, %again ]" if self.rejoins else ""
        w.line(f"%turn = phi i64 [ %first, %run ], [ %turn.next, %done ]{again}")
        if self.rejoins:
            w.line("%alone = phi i1 [ false, %run ], [ %alone, %done ], [ true, %again ]")
        w.line(f"%listed = icmp ne ptr {self.block_list}, null")
        w.line("br i1 %listed, label %lookup, label %start")
        w.label("lookup")
        w.line(f"%entry.at = getelementptr i64, ptr {self.block_list}, i64 %turn")
        w.line("%entry.number = load i64, ptr %entry.at, align 8")
        w.line("br label %start")
        w.label("start")
        w.line("%number = phi i64 [ %turn, %block ], [ %entry.number, %lookup ]")
        if self.packs:
            w.line("%place = sub i64 %turn, %first")
            self.enter("%place")
        w.line(f"%begin = mul i64 %number, {BLOCK}")
        self._count()
        w.line("%end0 = add i64 %begin, %elements")
        w.line(f"%end1 = icmp ult i64 %end0, {self.length}")
        w.line(f"%end = select i1 %end1, i64 %end0, i64 {self.length}")
        w.line("%size = sub i64 %end, %begin")
        if self.kernel.schedule.parts > 1:
            w.line("%full = icmp eq i64 %size, %elements")
            w.line("%whole = select i1 %full, i64 %size, i64 0")
            for part in range(1, self.kernel.schedule.parts):
                w.line(f"%part{part} = mul i64 %part, {part}")
            w.line("%main.stop = add i64 %begin, %part")
        else:
            w.line(f"%whole = and i64 %size, {-self.kernel.schedule.step}")
        w.line("%main.end = add i64 %begin, %whole")

    def _count(self) -> None:
        """How many blocks are computed as one, and how many elements that, and a part of it, are."""
        w, parts = self.writer, self.kernel.schedule.parts
        if not self.joins:
            w.line(f"%elements = add i64 0, {BLOCK}")
        else:
            # An odd number: addresses that differ by a power of two get into each other's way.
            w.line("%claimed = sub i64 %bound, %turn")
            w.line("%besides = sub i64 %claimed, 1")
            w.line("%odd = or i64 %besides, 1")
            w.line(f"%bound.end = mul i64 %bound, {BLOCK}")
            w.line(f"%within = icmp ule i64 %bound.end, {self.length}")
            if self.rejoins:
                w.line("%apart = or i1 %listed, %alone")
            w.line(f"%together = xor i1 {'%apart' if self.rejoins else '%listed'}, true")
            w.line("%all = and i1 %within, %together")
            w.line("%count = select i1 %all, i64 %odd, i64 1")
            w.line(f"%elements = mul i64 %count, {BLOCK}")
        if parts > 1:
            w.line(f"%part = lshr i64 %elements, {parts.bit_length() - 1}")

    @property
    def joins(self) -> bool:
        """Whether the blocks of a run may be computed as one: of each there is nothing to be said but that it is done.

        Statuses are those of blocks that are done before a first run; listed blocks, which are not, go one by one.
        """
        return self.kernel.schedule.parts > 1 and not self.folds

    @property
    def rejoins(self) -> bool:
        """Whether such a run may turn out to have trouble, so that it is computed again, block by block."""
        return self.joins and bool(self.bounds or self.troubled)

    def enter(self, place: str) -> None:
        """From here on, packed elements and totals are those of the block at this place of the thread's run."""
        w = self.writer
        if self.trail:
            self.trail.enter()
            return
        offset = w.let(f"mul i64 {place}, {abi.ROOM * 8}")
        for number, rooms in self.rooms.items():
            self.scratch[number] = w.let(f"getelementptr i8, ptr {rooms}, i64 {offset}", "packed")
            self.totals[number] = w.let(
                f"getelementptr i64, ptr {self.scratch[number]}, i64 {BLOCK + abi.SLACK}", "totals"
            )

    @property
    def _record_words(self) -> int:
        return 1 + self.layout.group_count + len(self.layout.stores)

    def record(self, place: str, word: int) -> str:
        """The address of what is remembered of a block of the thread's run until it is handed over.

        Its number, then how many elements each packed group has, then for each store the total of its running sum.
        """
        index = self.writer.let(f"mul i64 {place}, {self._record_words}")
        index = self.writer.let(f"add i64 {index}, {word}")
        return self.writer.let(f"getelementptr i64, ptr {self.records}, i64 {index}")

    def total_word(self, number: int) -> int:
        """The word of a record that belongs to a store."""
        return 1 + self.layout.group_count + number

    def body(self) -> Body:
        """Where nodes without leaves in memory can be emitted, for one vector."""
        return Body(self.writer, self.kernel, [], [], "", "", "", 1)

    def lane_places(self, number: int, place: str, count: int) -> list[str]:
        """Addresses of `count` neighbouring vectors among a tree fold's virtual lanes, from lane `place` on."""
        fold = self.folds[number]
        base = self.writer.let(f"getelementptr {fold.element}, ptr {self.memory[number]}, i64 {place}")
        return [base] + [
            self.writer.let(f"getelementptr {fold.element}, ptr {base}, i64 {vector * self.lanes}")
            for vector in range(1, count)
        ]

    def store_lanes(self, number: int, vectors: Sequence[str], place: str) -> None:
        """Write neighbouring vectors of virtual lanes."""
        fold = self.folds[number]
        for name, where in zip(vectors, self.lane_places(number, place, len(vectors)), strict=True):
            self.writer.line(f"store <{self.lanes} x {fold.element}> {name}, ptr {where}, align 8")

    def load_lanes(self, number: int, places: Sequence[str]) -> list[str]:
        """Read the vectors at the given virtual lanes."""
        fold = self.folds[number]
        return [
            self.writer.let(
                f"load <{self.lanes} x {fold.element}>, ptr {self.lane_places(number, place, 1)[0]}, align 8"
            )
            for place in places
        ]
