"""A loop inside the body whose lanes are refilled: where one has made its turns, the next element that waits moves in.

    refill:  the results of lanes that are done, each to its own element's place
             elements that wait, in order, into these lanes; what stands before the loop, for them
             br no lane has turns to make and nothing waits, finish, turn
    turn:    a few turns of all lanes, as in lockstep
             br idle lanes have cost as much as refilling does, or all are idle, refill, turn

Beside the loop's state a lane has its element's number, what the body reads from outside, and what is needed after the
loop. How long idle lanes wait is the ski-rental problem: until waiting has cost as much as what ends it, which is never
twice as much as the best plan (Karlin, Manasse, Rudolph and Sleator, Algorithmica 1988).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hastega_magic.codegen.llvm.body import Body
from hastega_magic.codegen.llvm.fold import Carried
from hastega_magic.codegen.llvm.lanes import Key, Lanes, Parts
from hastega_magic.codegen.llvm.store import memory_value
from hastega_magic.codegen.llvm.text import mangled, splat
from hastega_magic.codegen.llvm.turns import LIMIT, operations, some, turn_by_turn, turns_at_once, united
from hastega_magic.codegen.turned import Turned
from hastega_magic.ir.expr import Expr

if TYPE_CHECKING:
    from hastega_magic.codegen.llvm.loops import Loops

_PRICE = 60
"""Operations that refilling a vector takes beside those of the function itself."""

_LOOKS = 4
"""How often the age of elements is looked at until they are too old."""


class Refill:
    """Emits the loop over a block."""

    def __init__(self, loops: Loops) -> None:
        """Write into the function of the loops' frame.

        `sums` below: the registers of folds, then of range checks, then the lanes that need Python.
        """
        self.loops, self.frame = loops, loops.frame
        self.w, self.width = loops.frame.writer, loops.frame.lanes
        self.vectors = loops.frame.kernel.schedule.in_flight
        self.i1, self.i64 = f"<{self.width} x i1>", f"<{self.width} x i64>"
        self.parts = Parts(loops.frame)
        self.once: dict[Expr, list[str]] = {}

    def emit(self) -> Carried:
        """From the label `start` to the label `finish`."""
        w, held = self.w, self.parts.held()
        once = self.loops.body("%begin", self.vectors)
        once.emit([node for node in self.parts.steady if node.op != "table"])
        self.once = once.values
        types = [f"<{self.width} x {element}>" for element in held.values() for _ in range(self.vectors)]
        registers = [register for fold in self.frame.folds for register in fold.registers]
        carried = [*(f"<{self.width} x {each.element}>" for each in registers)]
        carried += [*([self.i64] * len(self.frame.bounds)), self.i1]
        nothing = "zeroinitializer"
        starts = [*([nothing] * self.vectors), *([splat("i64", -1)] * self.vectors)]
        starts += [nothing] * (len(types) - len(starts))
        starts += [
            *(each.start for each in registers),
            *([nothing] * (len(self.frame.bounds) + 1)),
            "0",
            "%begin",
        ]
        begun = w.block
        w.line("br label %refill")
        w.label("refill")
        names, places = self._phis([*types, *carried, "i64", "i64"])
        lanes = self._by_key(held, names)
        *sums, checks, first = names[len(types) :]
        sums = self._retire(lanes, sums)
        lanes, sums, fresh, first = self._fill(lanes, sums, checks, first)
        self.frame.at(None)
        w.line(f"br i1 {self._some(lanes['live'])}, label %turning, label %idle")
        w.label("idle")
        idle = [*self._flat(lanes), *sums, checks, first]
        w.line(f"br i1 {self._some(fresh)}, label %refill, label %finish")
        again = self._turns(held, lanes, sums, checks, first)
        self._close(places, [(starts, begun), (idle, "idle"), (again, "pause")])
        w.label("finish")
        names, places = self._phis(carried)
        stay = slice(len(types), len(types) + len(carried))
        self._close(places, [(idle[stay], "idle"), (again[stay], "pause")])
        rest = iter(names)
        folds = [[[next(rest) for _ in fold.registers]] for fold in self.frame.folds]
        *ranges, trouble = rest
        return Carried(folds, ranges, trouble, [], [])

    def _turns(
        self,
        held: Mapping[Key, str],
        lanes: Lanes,
        sums: list[str],
        checks: str,
        first: str,
    ) -> list[str]:
        """From the label `turning` on; what is carried where lanes are refilled, and out of the loop."""
        w, parts = self.w, self.parts
        changing = {key: element for key, element in held.items() if key == "live" or isinstance(key, int)}
        w.label("turning")
        waiting = w.let(f"icmp ult i64 {first}, %end")
        patience = w.let(f"select i1 {waiting}, i64 {self._patience()}, i64 -1")
        deadline = w.let(f"add i64 {checks}, {LIMIT // _LOOKS}")
        w.line("br label %going")
        w.label("going")
        types = [f"<{self.width} x {element}>" for element in changing.values() for _ in range(self.vectors)]
        names, places = self._phis([*types, self.i1, "i64", "i64"])
        inside = self._by_key(changing, names)
        bad, counted, idle = names[len(types) :]
        state = {number: inside[number] for number in parts.kept}
        fixed = {
            leaf: lanes[leaf] if leaf in lanes else self.once[node]
            for leaf, node in zip(parts.loop.outer, parts.outside, strict=True)
        }
        body = self.loops.body("", self.vectors)
        body.lost = sums[-1]
        live, bad = turn_by_turn(body, parts.plan, fixed, state, inside["live"], bad)
        after: Lanes = {"live": live, **state}
        counted = w.let(f"add i64 {counted}, 1")
        busy = "0"
        for mask in live:
            bits = w.let(f"zext i{self.width} {self._bits(mask)} to i64")
            busy = w.let(f"add i64 {busy}, {w.let(f'call i64 @llvm.ctpop.i64(i64 {bits})')}")
        idle = w.let(f"add i64 {idle}, {w.let(f'sub i64 {self.width * self.vectors}, {busy}')}")
        due = w.let(f"icmp uge i64 {idle}, {patience}")
        late = w.let(f"icmp uge i64 {counted}, {deadline}")
        none = w.let(f"icmp eq i64 {busy}, 0")
        asked = w.let(f"load atomic i64, ptr {self.frame.stop} monotonic, align 8")
        stopping = w.let(f"icmp ne i64 {asked}, 0")
        halt = w.let(f"or i1 {stopping}, {some(body, bad)}")
        leaving = halt
        for each in (due, late, none):
            leaving = w.let(f"or i1 {leaving}, {each}")
        w.line(f"br i1 {leaving}, label %pause, label %going")
        before = [*(name for key in changing for name in lanes[key]), sums[-1], checks, "0"]
        turned = [*(name for key in changing for name in after[key]), bad, counted, idle]
        self._close(places, [(before, "turning"), (turned, w.block)])
        w.label("pause")
        w.line(f"br i1 {halt}, label %finish, label %refill")
        return [*self._flat({**lanes, **after}), *sums[:-1], bad, counted, first]

    def _retire(self, lanes: Lanes, sums: list[str]) -> list[str]:
        """Results of lanes that are done, to their places and into folds."""
        w, parts = self.w, self.parts
        self.frame.at_source()
        end = self._splatted("%end")
        ended: list[str] = []
        for live, element in zip(lanes["live"], lanes["element"], strict=True):
            there = w.let(f"icmp ult {self.i64} {element}, {end}")
            ended.append(w.let(f"select {self.i1} {live}, {self.i1} zeroinitializer, {self.i1} {there}"))
        body = self.loops.body("", self.vectors)
        body.masks = ended
        body.values = self.once | {node: lanes[node] for node in parts.beside}
        body.values[parts.node] = [splat("i1", "false")] * self.vectors
        body.turned[parts.node] = Turned([], {number: lanes[number] for number in parts.kept})
        body.emit(parts.after)
        trouble = self._guarded(body, sums[-1], behind=True)
        rest, folded = iter(sums), list[str]()
        for fold in self.frame.folds:
            self.frame.at(fold.statement)
            state = [next(rest) for _ in fold.registers]
            for vector in range(self.vectors):
                state, _ = fold.take(body, vector, state)
            folded += state
        for number, store in enumerate(self.frame.layout.stores):
            self.frame.at(store)
            for vector in range(self.vectors):
                element, name, size = memory_value(body, store, vector)
                places = lanes["element"][vector]
                if store.fields > 1:
                    places = w.let(f"mul {self.i64} {places}, {splat('i64', store.fields)}")
                places = w.let(
                    f"getelementptr {element}, ptr {self.frame.results[number]}, {self.i64} {places}"
                )
                w.line(
                    f"call void @llvm.masked.scatter.{mangled(element, self.width)}.v{self.width}p0("
                    f"{body.vector(element)} {name}, {body.vector('ptr')} {places}, i32 {size}, "
                    f"{self.i1} {ended[vector]})"
                )
        return [*folded, *sums[len(folded) : -1], trouble]

    def _fill(
        self, lanes: Lanes, sums: list[str], checks: str, first: str
    ) -> tuple[Lanes, list[str], list[str], str]:
        """Elements that wait into lanes that are done, the lanes that got one, and the first one that still waits."""
        w, parts = self.w, self.parts
        self.frame.at_source()
        elements, firsts, fresh, idle = list[str](), list[str](), list[str](), list[str]()
        end = self._splatted("%end")
        for live in lanes["live"]:
            dead = w.let(f"xor {self.i1} {live}, {splat('i1', 'true')}")
            places = w.let(
                f"call {self.i64} @llvm.x86.avx512.mask.expand.v{self.width}i64("
                f"{self.i64} {self.frame.iota}, {self.i64} zeroinitializer, {self.i1} {dead})"
            )
            element = w.let(f"add {self.i64} {places}, {self._splatted(first)}")
            there = w.let(f"icmp ult {self.i64} {element}, {end}")
            fresh.append(w.let(f"and {self.i1} {dead}, {there}"))
            firsts.append(first)
            elements.append(element)
            idle.append(dead)
            bits = w.let(f"zext i{self.width} {self._bits(dead)} to i64")
            first = w.let(f"add i64 {first}, {w.let(f'call i64 @llvm.ctpop.i64(i64 {bits})')}")
        body = self.loops.picking(elements, firsts, fresh, self.once)
        body.emit(parts.before)
        trouble = self._guarded(body, sums[-1], behind=False)
        folded = sums[: -1 - len(self.frame.bounds)]
        ranges = [
            self.loops.range_check(body, number, each) for number, each in enumerate(sums[len(folded) : -1])
        ]
        self.frame.at(None)
        now, oldest = self._splatted(checks), splat("i64", LIMIT)
        for live, began in zip(lanes["live"], lanes["began"], strict=True):
            age = w.let(f"sub {self.i64} {now}, {began}")
            old = w.let(f"icmp uge {self.i64} {age}, {oldest}")
            trouble = w.let(f"or {self.i1} {trouble}, {w.let(f'and {self.i1} {live}, {old}')}")
        new: Lanes = {"element": elements, "began": [now] * self.vectors}
        new |= {number: body[parts.starts[number]] for number in parts.kept}
        new |= {leaf: body[node] for leaf, node in parts.outer.items()}
        new |= {node: body[node] for node in parts.beside}
        found: Lanes = {}
        for key, element in parts.held().items():
            type_ = f"<{self.width} x {element}>"
            if key == "live":
                entered = zip(fresh, body[parts.starts[0]], lanes[key], strict=True)
                turning = [(w.let(f"and {type_} {f}, {start}"), live) for f, start, live in entered]
                found[key] = [w.let(f"or {type_} {live}, {t}") for t, live in turning]
            else:
                chosen = zip(idle, new[key], lanes[key], strict=True)
                found[key] = [
                    w.let(f"select {self.i1} {dead}, {type_} {value}, {type_} {old}")
                    for dead, value, old in chosen
                ]
        return found, [*folded, *ranges, trouble], fresh, first

    def _guarded(self, body: Body, trouble: str, behind: bool) -> str:
        for guard in self.frame.guards:
            if (guard.condition in self.parts.behind) is not behind or guard.condition is self.parts.node:
                continue
            self.frame.at(guard)
            assert body.masks is not None
            for condition, mask in zip(body[guard.condition], body.masks, strict=True):
                bad = self.w.let(f"and {self.i1} {condition}, {mask}")
                trouble = self.w.let(f"or {self.i1} {trouble}, {bad}")
        return trouble

    def _patience(self) -> int:
        """How many lanes may be idle when asked, in all, until refilling is no dearer."""
        refilling = self.vectors * (_PRICE + self.parts.operations)
        turns = turns_at_once(self.parts.loop) * operations(self.parts.loop)
        return max(1, self.width * refilling // max(1, turns))

    # Writing

    def _splatted(self, name: str) -> str:
        return self.loops.body("", 1).splatted("i64", name)

    def _bits(self, mask: str) -> str:
        return self.w.let(f"bitcast {self.i1} {mask} to i{self.width}")

    def _some(self, masks: Sequence[str]) -> str:
        """Whether a lane of some vector is set."""
        body = self.loops.body("", 1)
        return some(body, united(body, masks))

    def _by_key(self, held: Mapping[Key, str], names: Sequence[str]) -> Lanes:
        rows = (list(names[at * self.vectors : (at + 1) * self.vectors]) for at in range(len(held)))
        return dict(zip(held, rows, strict=True))

    def _flat(self, lanes: Lanes) -> list[str]:
        return [name for key in self.parts.held() for name in lanes[key]]

    def _phis(self, types: Sequence[str]) -> tuple[list[str], list[int]]:
        """Phis that `_close` completes: their names and lines."""
        names = [self.w.name("r") for _ in types]
        places = [len(self.w.lines) + number for number in range(len(types))]
        self.w.lines += [f"  {name} = phi {type_} " for name, type_ in zip(names, types, strict=True)]
        return names, places

    def _close(self, places: Sequence[int], incoming: Sequence[tuple[Sequence[str], str]]) -> None:
        for order, place in enumerate(places):
            pairs = ", ".join(f"[ {names[order]}, %{label} ]" for names, label in incoming)
            self.w.lines[place] += pairs
