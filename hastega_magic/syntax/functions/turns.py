"""Loops that become nodes: which names they carry from turn to turn, and what one turn makes of them.

The body is evaluated over leaves for what it carries. If a turn changes the type of a name (`s = 0`, then `s += 0.5`),
the first turn is written out, and the loop carries the new type. Types that still change are for Python.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import field

from hastega_magic.errors import MixedTypes, NotCompilable
from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, Value, convert, flatten, leaf, map_value
from hastega_magic.ir.loop import closed, result, turns
from hastega_magic.records import dataclass
from hastega_magic.syntax.functions.flow import Exits, Flow
from hastega_magic.syntax.functions.iterate import Items
from hastega_magic.syntax.functions.loop_carried import (
    Carried,
    OtherTypes,
    after_turns,
    as_partly,
    assigned,
    carriable,
    computed,
    decoded,
    encoded,
    nothing,
    read_elsewhere,
    typed,
)
from hastega_magic.syntax.values.branches import Names, both, choice, either, numeric
from hastega_magic.syntax.values.graph import eager
from hastega_magic.syntax.values.mixed import zero
from hastega_magic.syntax.values.store import kept_in
from hastega_magic.syntax.values.values import FALSE, TRUE, Partly, Poison, ReadTooEarly, Symbolic, is_none
from hastega_magic.types import INT

_NUMBERS = itertools.count()

NOTHING: Mapping[str, Carried] = {}

_WRITTEN_OUT = 4
"""How many turns may have other types than those that follow."""


@dataclass
class _State:
    """What a loop carries, in order: starting values, leaves, and what a turn makes of them."""

    number: int
    starts: list[Expr] = field(default_factory=list[Expr])
    leaves: list[Expr] = field(default_factory=list[Expr])
    step: list[Expr] = field(default_factory=list[Expr])
    bounds: list[Interval | None] = field(default_factory=list["Interval | None"])

    def part(self, start: Expr, bound: Interval | None = None) -> Expr:
        """Another part of the state: its leaf."""
        new = leaf("carry", start.type, ("turn", self.number, len(self.leaves)))
        self.starts.append(start)
        self.leaves.append(new)
        self.bounds.append(bound)
        return new

    def parts(self, value: Value) -> Value:
        """Leaves for all numbers of a value."""
        return map_value(self.part, value)


@dataclass
class Turns:
    """One loop of a function. `items`: what a `for` goes through; None for a `while`."""

    flow: Flow
    statement: ast.For | ast.While
    items: Items | None
    keys: list[str] = field(default_factory=list[str])
    """Keys of the store under which turns put something."""

    def evaluate(self) -> Expr:
        """Evaluate the loop and what follows it; the condition under which control goes on behind it."""
        graph, frame = self.flow.frame.graph, self.flow.frame
        place, last = None if self.items is None else self.items.start, None
        exits, entered, reaching, reason = Exits(), TRUE, TRUE, NotCompilable("")
        written, most = 0, None if self.items is None else self.items.most
        if most is not None and not self.flow.has_room(most):
            raise NotCompilable("slices are gone through within each other, or many of them")
        while written < (_WRITTEN_OUT if most is None else most):
            before, effects, began = dict(frame.names), len(graph.effects), graph.store.clock
            if most is None:
                try:
                    with graph.under(entered):
                        left = self._attempt(place, last)
                    # What follows is for those, too, that made no turn or were done with it before.
                    return self._behind(*left, exits, reaching)
                except (OtherTypes, ReadTooEarly, MixedTypes) as error:
                    reason = NotCompilable(str(error)) if isinstance(error, OtherTypes) else error
                    frame.names = dict(before)
                    del graph.effects[effects:]
            with graph.under(entered):
                first = self._test(place, last)
                with graph.under(first):
                    falls = self.flow.turn(self.statement, self.item(place), exits)
            fills = first is TRUE and bool(graph.store.changed_since(began)) and self.flow.has_room(1)
            written += most is not None or not fills
            reaching = choice(entered, choice(first, falls, TRUE), reaching)
            entered = both(entered, both(first, falls))
            if first is not TRUE:
                frame.names = self.flow.merged(first, frame.names, before)
            if entered is FALSE:
                return self._behind(FALSE, FALSE, False, exits, reaching)
            if place is not None and self.items is not None:
                place, last = self.items.after(place), place
        if most is not None:
            return self._behind(FALSE, FALSE, False, exits, reaching)
        raise reason

    def item(self, place: Expr | None) -> Symbolic | None:
        """What the loop's name is bound to at a place of the iterable; None for a `while`."""
        return None if place is None or self.items is None else self.items.item(place)

    def first_test(self, place: Expr | None) -> Expr:
        """Whether there is a turn, with the names as they are; of a `for`, one at the place."""
        graph, frame = self.flow.frame.graph, self.flow.frame
        if isinstance(self.statement, ast.While):
            found = frame.condition(self.statement.test)
            graph.keep(found)
            return found
        assert self.items is not None
        assert place is not None
        return self.items.at(graph, place)

    def _test(self, place: Expr | None, last: Expr | None) -> Expr:
        return self.first_test(place) if last is None else self.next_test(last)

    def next_test(self, place: Expr) -> Expr:
        """Whether there is a turn of a `for` behind the one at the place."""
        assert self.items is not None
        return self.items.behind(self.flow.frame.graph, place)

    # The loop itself

    def _attempt(self, start: Expr | None, last: Expr | None) -> tuple[Expr, Expr, bool]:
        """The loop as a node: who leaves it by `break`, who by `return`, and whether nobody leaves it otherwise."""
        flow, graph, frame = self.flow, self.flow.frame.graph, self.flow.frame
        first = self._test(start, last)
        if first is FALSE:
            return FALSE, FALSE, False
        outside = frame.names
        before = computed(frame, () if self.items is None else self.items.ends)
        body = self._body(start, first, outside)
        body.missing = read_elsewhere(frame.syntax.node, self.statement, body.missing)
        if body.missing:  # what turns assign can be read after the loop, where there were any
            frame.names = dict(outside)
            body = self._body(start, first, outside, body.missing)
        state = body.state
        path = graph.path
        live = first if path is None else both(path, first)
        loop_body, from_outside, new = closed(
            state.leaves,
            state.step,
            body.effects,
            state.bounds,
            lambda node: node in before or (eager(node) and _plain(node)),
            body.holds,
            frame.inner,
        )
        graph.rename(new)
        loop = turns(loop_body, (live, *state.starts[1:]), from_outside)
        graph.note(loop, graph.place if not frame.in_cell else frame.syntax.places.span(self.statement))
        if body.effects:
            graph.keep(loop)
        values = iter([result(loop, number) for number in range(len(state.leaves))])
        next(values)
        after = dict(outside)
        for name in body.assigned:
            after[name] = Poison(f"`{name}` has no value where the loop makes no turn")
        if body.counter is not None:
            next(values)
        for name, value in body.carried.items():
            found = decoded(value, map_value(lambda _: next(values), encoded(value)))
            after[name] = after_turns(first, found) if name in body.extra else found
        broke = next(values) if body.broke is not None else FALSE
        left = next(values) if body.left is not None else FALSE
        if body.left is not None:
            assert body.returned is not None
            returned = map_value(lambda _: next(values), body.returned)
            flow.returns.append((both(flow.taken(), left), returned))
            flow.left.append(kept_in(after))
        frame.names = after
        return broke, left, body.endless

    def _body(
        self, start: Expr | None, first: Expr, outside: Names, extra: Mapping[str, Carried] = NOTHING
    ) -> _Body:
        """The body, evaluated; what it changes in the store is carried from turn to turn, as names are."""
        frame, store = self.flow.frame, self.flow.frame.graph.store
        while True:
            began = store.clock
            names = [*assigned(self.statement), *self.keys]
            body = _Body(self, start, first, names, dict(extra))
            body.evaluate()
            more = [key for key in store.changed_since(began) if key in outside and key not in names]
            if not more:
                return body
            self.keys += sorted(more)
            frame.names = dict(outside)

    def _behind(self, broke: Expr, left: Expr, endless: bool, exits: Exits, reaching: Expr) -> Expr:
        """What follows the node: `else` where the loop was not left, then all that did not return.

        `exits` holds the ways out of turns that were written out before it. `reaching`: whether an element took none of
        these; it may make no further turn all the same.
        """
        flow, graph = self.flow, self.flow.frame.graph
        after = flow.frame.names
        ended = both(reaching, both(graph.negation(left), graph.negation(broke)))
        own = Exits()
        if endless:
            falls = broke
        elif self.statement.orelse:
            own.breaks += [] if broke is FALSE else [(broke, dict(after))]
            falls = flow.after(self.statement, ended, own)
        else:
            falls = graph.negation(left)
        falls = both(reaching, falls)
        for condition, names in exits.breaks:
            flow.frame.names = names if falls is FALSE else flow.merged(condition, names, flow.frame.names)
            falls = either(falls, condition)
        return falls


@dataclass
class _Body:
    """One evaluation of a loop's body over leaves.

    carried    names with their leaves, in the order of the state
    extra      names that have no value before the loop, with what stands for it in the state
    missing    names that the body assigns and that had no value before, likewise
    """

    loop: Turns
    start: Expr | None
    first: Expr
    assigned: Sequence[str]
    extra: dict[str, Carried] = field(default_factory=dict[str, "Carried"])
    carried: dict[str, Carried] = field(default_factory=dict[str, "Carried"])
    missing: dict[str, Carried] = field(default_factory=dict[str, "Carried"])
    effects: list[tuple[Expr | None, Expr]] = field(default_factory=list["tuple[Expr | None, Expr]"])
    counter: Expr | None = None
    holds: Expr | None = None
    endless: bool = False
    broke: Expr | None = None
    left: Expr | None = None
    returned: Value | None = None

    def evaluate(self) -> None:
        """Evaluate one turn, and what the state is then; OtherTypes where it has other types."""
        flow = self.loop.flow
        graph, frame = flow.frame.graph, flow.frame
        self.state = _State(next(_NUMBERS))
        self.state.part(self.first)
        self._enter(frame.names)
        inside = {name: value for name, value in frame.names.items() if name not in self.assigned}
        unknown: Names = {}
        for name in self.assigned:
            before = frame.names.get(name)
            unread = Poison(f"`{name}` is read before it is assigned", early=True)
            unknown[name] = before if isinstance(before, Poison) else unread
        kept = {
            name: value
            for name, value in self.carried.items()
            if name not in self.extra or isinstance(value, Partly)
        }
        frame.names = {**inside, **unknown, **kept}
        path, effects, base = graph.path, graph.effects, flow.base
        returns, left, loops = flow.returns, flow.left, flow.loops
        graph.path, graph.effects, flow.base = None, self.effects, None
        flow.returns, flow.left, flow.loops = [], [], []
        try:
            exits = Exits()
            self.holds = self._known()
            falls = flow.turn(self.loop.statement, self.loop.item(self.counter), exits)
            if falls is FALSE:
                again = going = FALSE
            elif falls is TRUE:
                again = going = self._goes_on()
            else:
                with graph.under(falls):
                    again = self._goes_on()
                    going = both(falls, again)
            self.endless = self.first is TRUE and again is TRUE
            self._leave(falls, going, exits)
        finally:
            graph.path, graph.effects, flow.base = path, effects, base
            flow.returns, flow.left, flow.loops = returns, left, loops

    def _known(self) -> Expr | None:
        """The loop's condition, which holds as a turn begins; it was evaluated before, and raises nothing here."""
        graph, frame = self.loop.flow.frame.graph, self.loop.flow.frame
        names, effects = dict(frame.names), graph.effects
        graph.effects = []
        try:
            found = self.loop.first_test(self.counter)
        finally:
            frame.names, graph.effects = names, effects
        # The end of a `for` is computed before it, whatever that takes.
        return found if self.loop.items is not None or eager(found) else None

    def _enter(self, names: Names) -> None:
        """Leaves for the counter and for every name that a turn assigns and that has a value."""
        if self.start is not None:
            self.counter = self.state.part(convert(self.start, INT), self._places())
        for name in self.assigned:
            value = self.extra.get(name, names.get(name))
            if value is None:
                continue
            if is_none(value):
                raise OtherTypes(f"`{name}` is None in all of the first turns of a loop")
            if carriable(value):
                self.carried[name] = decoded(value, self.state.parts(encoded(value)))

    def _places(self) -> Interval | None:
        """Where the counter can be, the place behind the last included."""
        items = self.loop.items
        assert items is not None
        if not items.certain:
            return None
        ends = (items.range[0], items.range[-1] + items.step)
        return Interval(min(ends), max(ends))

    def _goes_on(self) -> Expr:
        """Whether there is another turn after this one."""
        if self.counter is None or self.loop.items is None:
            return self.loop.first_test(None)
        return self.loop.next_test(self.counter)

    def _leave(self, falls: Expr, going: Expr, exits: Exits) -> None:
        """What the state is after the turn."""
        flow, step = self.loop.flow, self.state.step
        names = flow.frame.names
        for condition, then in exits.breaks:
            names = then if falls is FALSE else flow.merged(condition, then, names)
            falls = either(falls, condition)
        reached = falls
        for (condition, _), then in zip(flow.returns, flow.left, strict=True):
            kept = {**names, **then}
            names = kept if reached is FALSE else flow.merged(condition, kept, names)
            reached = either(reached, condition)
        step.append(going)
        if self.counter is not None and self.loop.items is not None:
            step.append(self.loop.items.after(self.counter))
        for name, old in self.carried.items():
            new = names.get(name, old)
            if isinstance(new, Poison) and falls is FALSE:
                new = old  # every element has left by `return`
            if isinstance(old, Partly):
                new = as_partly(old, new)
            if not carriable(new):
                raise OtherTypes(
                    new.reason if isinstance(new, Poison) else f"`{name}` is no number in a loop"
                )
            step += typed(name, old, new)
        self.missing = {
            name: nothing(value)
            for name, value in names.items()
            if name in self.assigned and name not in self.carried and carriable(value)
        }
        if exits.breaks and (self.loop.statement.orelse or self.endless):
            self.broke = self.state.part(FALSE)
            step.append(_any(flow, exits))
        if flow.returns:
            self.left = self.state.part(FALSE)
            value = flow.returned(flow.returns)
            if not numeric(value):
                raise NotCompilable("a loop returns None, or something else that is no number")
            condition = FALSE
            for taken, _ in flow.returns:
                condition = either(condition, taken)
            step.append(condition)
            self.returned = self.state.parts(map_value(lambda node: zero(node.type), value))
            step += flatten(value)


def _any(flow: Flow, exits: Exits) -> Expr:
    found = FALSE
    for condition, _ in exits.breaks:
        found = either(found, condition)
    return found


def _plain(node: Expr) -> bool:
    """Whether the node can be computed before the loop: not another loop, whose turns count."""
    return node.op not in ("turns", "result")
