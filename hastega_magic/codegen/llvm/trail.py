"""Packed results that trail behind: what a thread packed before is written while it computes what it claimed next.

    main       after each turn: some whole vectors of the claim before, past the caches, at an even pace
    handover   the rest of them
               wait until all blocks before are handed over
    placed     take the place of the results packed now, and let the next thread go on
               what is no whole vector at both ends is written here, the rest trails behind
    claim      go on in the other half of the scratch

Memory is then read and written all the time and at once, as in a plain copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hastega_magic.ir.schedule import BLOCK
from hastega_magic.types import RESULT_STORAGE

if TYPE_CHECKING:
    from hastega_magic.codegen.llvm.frame import Frame

_DONE, _STOP, _SHARE, _FROM, _INTO = range(5)
"""Of what trails behind: bytes written; where whole vectors end; bytes for a turn; from where; whereto."""

_MEMCPY = "call void @llvm.memcpy.p0.p0.i64(ptr {}, ptr {}, i64 {}, i1 false)"


class Trail:
    """What a thread remembers of its packed results, for kernels whose stores are packed and nothing more."""

    def __init__(self, frame: Frame) -> None:
        """Nothing is written yet."""
        self.frame = frame
        self._vector = frame.target.vector_bits // 8
        self._packed: dict[int, tuple[int, int]] = {}
        """For each packed store its group, and the bytes of an element."""
        for number, group in enumerate(frame.layout.groups):
            if group is not None:
                self._packed[number] = group, RESULT_STORAGE[frame.layout.stores[number].value.type].size
        self._trails: dict[int, str] = {}
        self._counts: list[str] = []
        self._half = ""

    def entry(self) -> None:
        """Nothing is packed, and nothing trails behind."""
        w = self.frame.writer
        for number in self._packed:
            self._trails[number] = w.let("alloca [5 x i64], align 64", "trail")
            for word in (_DONE, _STOP, _SHARE):
                w.line(f"store i64 0, ptr {self._word(number, word)}, align 8")
        self._counts = [w.let("alloca i64, align 8", "packed") for _ in self.frame.positions]
        self._half = w.let("alloca i64, align 8", "half")
        for each in (*self._counts, self._half):
            w.line(f"store i64 0, ptr {each}, align 8")

    def enter(self, counts: list[str] | None = None) -> None:
        """Packed elements go behind so many of each group: `counts`, or what the claim's blocks before left."""
        w = self.frame.writer
        counts = [self._load(each) for each in self._counts] if counts is None else counts
        half = self._load(self._half)
        for number, (group, size) in self._packed.items():
            offset = w.let(f"add i64 {half}, {w.let(f'mul i64 {counts[group]}, {size}')}")
            self.frame.scratch[number] = w.let(
                f"getelementptr i8, ptr {self.frame.rooms[number]}, i64 {offset}", "packed"
            )

    def end_block(self, positions: list[str]) -> None:
        """So many elements of each group were packed."""
        w = self.frame.writer
        for each, position in zip(self._counts, positions, strict=True):
            w.line(f"store i64 {w.let(f'add i64 {self._load(each)}, {position}')}, ptr {each}, align 8")

    def some(self) -> None:
        """After a turn: each store's share of what trails behind."""
        for number in self._packed:
            self._copy(f"trail{number}", number, whole=False)

    def rest(self, label: str) -> None:
        """All that trails behind."""
        for number in self._packed:
            self._copy(f"{label}{number}", number, whole=True)

    def place(self) -> None:
        """It is the thread's turn: from the label `placed` to a branch to the label `claim`."""
        w, frame = self.frame.writer, self.frame
        begins = [self._load(each) for each in frame.positions]
        counts = [self._load(each) for each in self._counts]
        for where, begin, count in zip(frame.positions, begins, counts, strict=True):
            w.line(f"store i64 {w.let(f'add i64 {begin}, {count}')}, ptr {where}, align 8")
        w.line(f"store atomic i64 %bound, ptr {frame.turn} release, align 8")
        turns = w.let(f"mul i64 {frame.handed}, {BLOCK // frame.kernel.schedule.step}")
        self.enter(["0"] * len(counts))
        for number, (group, size) in self._packed.items():
            frame.at(frame.layout.stores[number])
            begin, length = (w.let(f"mul i64 {each[group]}, {size}") for each in (begins, counts))
            into = w.let(f"getelementptr i8, ptr {frame.results[number]}, i64 {begin}")
            self._leave(number, into, length, turns)
        frame.at(None)
        for each in self._counts:
            w.line(f"store i64 0, ptr {each}, align 8")
        other = w.let(f"sub i64 {frame.layout.half_bytes}, {self._load(self._half)}")
        w.line(f"store i64 {other}, ptr {self._half}, align 8")
        w.line("br label %claim")

    def _leave(self, number: int, into: str, length: str, turns: str) -> None:
        """Write what is no whole vector at both ends; the rest trails behind, in so many turns."""
        w, packed = self.frame.writer, self.frame.scratch[number]
        missing = w.let(f"sub i64 0, {w.let(f'ptrtoint ptr {into} to i64')}")
        head = self._least(w.let(f"and i64 {missing}, {self._vector - 1}"), length)
        whole = w.let(f"and i64 {w.let(f'sub i64 {length}, {head}')}, {-self._vector}")
        stop = w.let(f"add i64 {head}, {whole}")
        w.line(_MEMCPY.format(into, packed, head))
        behind, source = (w.let(f"getelementptr i8, ptr {each}, i64 {stop}") for each in (into, packed))
        w.line(_MEMCPY.format(behind, source, w.let(f"sub i64 {length}, {stop}")))
        share = w.let(f"udiv i64 {whole}, {w.let(f'mul i64 {turns}, {self._vector}')}")
        share = w.let(f"mul i64 {w.let(f'add i64 {share}, 1')}, {self._vector}")
        values = (f"i64 {head}", f"i64 {stop}", f"i64 {share}", f"ptr {packed}", f"ptr {into}")
        for word, value in enumerate(values):
            w.line(f"store {value}, ptr {self._word(number, word)}, align 8")

    def _copy(self, loop: str, number: int, *, whole: bool) -> None:
        w, vector = self.frame.writer, f"<{self._vector // 8} x i64>"
        self.frame.at(self.frame.layout.stores[number])
        done, goal = (self._load(self._word(number, word)) for word in (_DONE, _STOP))
        if not whole:
            goal = self._least(w.let(f"add i64 {done}, {self._load(self._word(number, _SHARE))}"), goal)
        w.line(f"br i1 {w.let(f'icmp ult i64 {done}, {goal}')}, label %{loop}.any, label %{loop}.none")
        w.label(f"{loop}.any")
        packed, into = (self._load(self._word(number, word), "ptr") for word in (_FROM, _INTO))
        w.line(f"store i64 {goal}, ptr {self._word(number, _DONE)}, align 8")
        w.line(f"br label %{loop}")
        w.label(loop)
        w.line(f"%{loop}.j = phi i64 [ {done}, %{loop}.any ], [ %{loop}.next, %{loop} ]")
        value = w.let(
            f"load {vector}, ptr {w.let(f'getelementptr i8, ptr {packed}, i64 %{loop}.j')}, align 1"
        )
        where = w.let(f"getelementptr i8, ptr {into}, i64 %{loop}.j")
        w.line(f"store {vector} {value}, ptr {where}, align {self._vector}, !nontemporal !0")
        w.line(f"%{loop}.next = add i64 %{loop}.j, {self._vector}")
        w.line(f"%{loop}.more = icmp ult i64 %{loop}.next, {goal}")
        w.line(f"br i1 %{loop}.more, label %{loop}, label %{loop}.none")
        w.label(f"{loop}.none")
        self.frame.at(None)

    def _word(self, number: int, word: int) -> str:
        return self.frame.writer.let(f"getelementptr i64, ptr {self._trails[number]}, i64 {word}")

    def _load(self, where: str, type_: str = "i64") -> str:
        return self.frame.writer.let(f"load {type_}, ptr {where}, align 8")

    def _least(self, one: str, other: str) -> str:
        w = self.frame.writer
        return w.let(f"select i1 {w.let(f'icmp ult i64 {one}, {other}')}, i64 {one}, i64 {other}")
