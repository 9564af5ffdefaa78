"""Ranges of what loops carry: the smallest intervals found that a turn does not leave.

    s1 = %0 in [1, 100]; turn: s1 = s1 // 2         s1: int [0, 100]
    s2 = 0;              turn: s2 = s2 + 1          s2: int [0, 2^46]      (a counter: loops end before that)

A fixpoint by widening (Cousot and Cousot, POPL 1977): bounds that keep growing go to the next of a few limits.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping

from hastega_magic.interval import INT64, INT64_MAX, TOP, Interval
from hastega_magic.ir.expr import Expr, is_const, postorder
from hastega_magic.ir.loop import EVERY, MOST_TURNS, Iteration, facts, iteration, operands
from hastega_magic.ops.compare import TURNED
from hastega_magic.types import BOOL, INT

_LIMITS = ((1 << 31) - 1, (1 << 52) - 1, INT64_MAX)
_PATIENCE = 4
"""How often a bound may grow before it is widened, in all turns of the analysis together."""

_ROOM = 8
"""Bits that a limit on a loop's state may lose so that it is looked at once for several turns."""

_FEW = 1 << 16
"""The largest step of what counts as a counter."""

Ranges = dict[Expr, Interval]
Rule = Callable[[Expr, list[Interval]], Interval]


class Inference:
    """Intervals of all integer nodes below some roots, loops included; `rule` gives a node's from its operands'.

    ranges       of every INT and BOOL node, clamped to int64
    overflowing  nodes whose value may leave int64
    limited      parts of loops' states that `limit` is assumed to hold when a turn begins, and need not

    `limit`: turns are only made where the state, but for counters, lies within -limit - 1 and limit.
    """

    def __init__(self, roots: Iterable[Expr], rule: Rule, limit: int | None = None) -> None:
        """Infer everything."""
        self._rule = rule
        self._roots = list(roots)
        self._limit = INT64 if limit is None else Interval(-limit - 1, limit)
        self._leaves: Ranges = {}  # of loops' own leaves, as a turn begins; they only grow
        self._after: Ranges = {}  # of the state, as a turn ends
        self._facts: dict[Expr, dict[tuple[str, Expr], None]] = {}
        self._grew: dict[Expr, int] = {}
        self.limited: dict[Expr, Interval] = {}
        self.ranges: Ranges = {}
        self.overflowing: dict[Expr, None] = {}
        grown = True
        while grown:  # again where a loop that stands in several places was entered with more
            self._grown = False
            self.ranges, self.overflowing = {}, {}
            self._walk(self._roots, self.ranges)
            grown = self._grown

    def _walk(self, roots: Iterable[Expr], ranges: Ranges) -> None:
        for node in postorder(roots):
            if node.op == "turns":
                self._turns(node, ranges)
            if node.type in (INT, BOOL):
                exact = self._range(node, ranges)
                if not exact.fits_int64:
                    self.overflowing[node] = None
                    exact = exact.meet(INT64)
                ranges[node] = exact

    def _range(self, node: Expr, ranges: Ranges) -> Interval:
        if node.op in ("carry", "outer"):
            return self._refined(node)
        if node.op == "result":
            assert isinstance(node.value, int)
            return self._after.get(iteration(node.args[0]).state[node.value], TOP).meet(INT64)
        return self._rule(node, [ranges.get(arg, TOP) for arg in node.args])

    def _refined(self, leaf: Expr) -> Interval:
        """What a leaf can be while there are turns: within what the loop's condition says of it."""
        found = self._leaves.get(leaf, TOP).meet(INT64)
        for op, other in self._facts.get(leaf, ()):
            known = self._leaves.get(other, TOP) if other.op != "const" else self._rule(other, [])
            found = found.meet(_RESTRICTIONS[op](found, known))
        return found

    def room(self, body: Iteration) -> Ranges:
        """Intervals of the limited parts of a state from which EVERY turns can be made; empty where none are found.

        They are at most a few bits narrower than the limits, which hold the state for all of these turns.
        """
        held = {leaf: self.limited[leaf] for leaf in body.state if leaf in self.limited}
        if not held or any(node.op == "turns" for node in postorder(body.roots())):
            return {}
        leaves, overflowing = self._leaves, self.overflowing
        self.overflowing = {}
        try:
            for fewer in range(_ROOM + 1):
                most = self._limit.hi
                assert most is not None
                inside = Interval(-(most >> fewer) - 1, most >> fewer)
                start = {leaf: interval.meet(inside) for leaf, interval in held.items()}
                self._leaves = leaves | start
                if self._stays(body, held):
                    return start
        finally:
            self._leaves, self.overflowing = leaves, overflowing
        return {}

    def _stays(self, body: Iteration, held: Ranges) -> bool:
        """Whether the next turns begin with the state within its limits, if this one begins as `_leaves` says."""
        for _ in range(EVERY - 1):
            inner: Ranges = {}
            self._walk(body.roots(), inner)
            for leaf, step in zip(body.state, body.step, strict=True):
                if leaf in held:
                    self._leaves[leaf] = inner[step]
                    if not inner[step].within(held[leaf]):
                        return False
        return True

    def _turns(self, loop: Expr, ranges: Ranges) -> None:
        body = iteration(loop)
        for fact in facts(body):
            if fact.op in _RESTRICTIONS and all(arg.type is INT for arg in fact.args):
                left, right = fact.args
                for leaf, op, other in ((left, fact.op, right), (right, TURNED[fact.op], left)):
                    if leaf.op == "carry" and other.op in ("const", "outer", "carry"):
                        self._facts.setdefault(leaf, {})[op, other] = None
        starts, outside = operands(loop)
        for leaf, arg in (*zip(body.state, starts, strict=True), *zip(body.outer, outside, strict=True)):
            if leaf.type is INT:
                self._join(leaf, ranges.get(arg, TOP).meet(INT64), leaf.op == "carry")
        counters: set[Expr] = set()
        for leaf, step, start in zip(body.state, body.step, starts, strict=True):
            found = _counted(leaf, step, ranges.get(start, TOP).meet(INT64))
            if found is not None:
                counters.add(leaf)
                self._join(leaf, found, False)
        growing = True
        while growing:
            kept = dict(self.overflowing)
            inner: Ranges = {}
            self._walk(body.roots(), inner)
            growing = self._grow(body, inner, counters)
            if growing:
                self.overflowing = kept
            else:
                ranges.update(inner)

    def _grow(self, body: Iteration, inner: Ranges, counters: Container[Expr]) -> bool:
        """Let the state hold what it is after a turn; whether that changed anything."""
        growing = False
        bounds = body.bounds or (None,) * len(body.state)
        for leaf, step, known in zip(body.state, body.step, bounds, strict=True):
            if leaf.type is not INT or leaf in counters:
                continue
            old = self._after[leaf]
            new = old.join(inner[step]) if known is None else old.join(known)
            if not new.within(old):
                growing = True
                self._join(leaf, new, known is None)
        return growing

    def _join(self, leaf: Expr, found: Interval, limited: bool) -> None:
        old = self._after.get(leaf)
        new = found if old is None else old.join(found)
        if new != old:
            self._grew[leaf] = self._grew.get(leaf, 0) + 1
            if old is not None and self._grew[leaf] > _PATIENCE:
                new = _widened(old, new)
            self._after[leaf] = new
            self._leaves[leaf] = new.meet(self._limit) if limited else new
            self._grown = self._grown or old is not None
            if self._leaves[leaf] != new:
                self.limited[leaf] = self._leaves[leaf]


def _without(found: Interval, other: Interval) -> Interval:
    """The values that are not `other`'s, if that is a single one at an end."""
    if other.lo is None or other.lo != other.hi:
        return found
    lo = None if found.lo is None else found.lo + (found.lo == other.lo)
    hi = None if found.hi is None else found.hi - (found.hi == other.hi)
    return Interval(lo, hi)


_RESTRICTIONS: Mapping[str, Callable[[Interval, Interval], Interval]] = {
    "lt": lambda _, other: Interval(None, _sum(other.hi, -1)),
    "le": lambda _, other: Interval(None, other.hi),
    "gt": lambda _, other: Interval(_sum(other.lo, 1), None),
    "ge": lambda _, other: Interval(other.lo, None),
    "eq": lambda _, other: other,
    "ne": _without,
}
"""The interval that a comparison with another leaves a value."""


def _widened(old: Interval, new: Interval) -> Interval:
    lo, hi = new.lo, new.hi
    if lo is not None and old.lo is not None and lo < old.lo:
        lo = next((-limit - 1 for limit in _LIMITS if -limit - 1 <= lo), None)
    if hi is not None and old.hi is not None and hi > old.hi:
        hi = next((limit for limit in _LIMITS if limit >= hi), None)
    return Interval(lo, hi).meet(INT64)


def _counted(leaf: Expr, step: Expr, start: Interval) -> Interval | None:
    """What a leaf to which each turn only adds a small constant, one of several perhaps, can be; None for others."""
    if leaf.type is not INT:
        return None
    least, most, wraps, pending, seen = 0, 0, False, [step], set[Expr]()
    while pending:
        node = pending.pop()
        if node is leaf or node in seen:
            continue
        seen.add(node)
        if node.op == "select":
            pending += node.args[1:]
            continue
        amount = _added(leaf, node)
        if amount is None or abs(amount) > _FEW:
            return None
        least, most, wraps = min(least, amount), max(most, amount), wraps or node.op == "wrapping_add"
    found = Interval(_sum(start.lo, least * MOST_TURNS), _sum(start.hi, most * MOST_TURNS))
    return None if least == most or (wraps and not found.fits_int64) else found.meet(INT64)


def _added(leaf: Expr, node: Expr) -> int | None:
    if node.op not in ("add", "sub", "wrapping_add") or leaf not in node.args:
        return None
    other = node.args[1] if node.args[0] is leaf else node.args[0]
    if (
        not is_const(other)
        or not isinstance(other.value, int)
        or (node.op == "sub" and node.args[0] is not leaf)
    ):
        return None
    return -other.value if node.op == "sub" else other.value


def _sum(a: int | None, b: int) -> int | None:
    return None if a is None else a + b
