"""Loops inside the scalar graph: what a function computes turn after turn, element by element.

    while n != 1:                            %5 = turns (s0 = %4, s1 = %0, s2 = 0)
        n = n // 2 if n % 2 == 0 else ...        ...
        steps += 1                               next s0 = %9, s1 = %8, s2 = %10
    return steps                             %11 = result 2 of %5

A node "turns" has the starting values of the state, then what the loop reads from outside, as operands, and an
`Iteration` as its value. Its body is a graph of its own over two kinds of leaves: "carry" (a part of the state) and
"outer" (what is read from outside). State 0 is a bool: whether there is another turn; the body counts only where it
holds. The node itself is a bool: whether something in the loop is to be computed by Python instead. A node "result"
gives one part of the state after the last turn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from hastega_magic.interval import Interval
from hastega_magic.ir.expr import INVARIANT, Expr, is_const, leaf, node_of, postorder, rewrite
from hastega_magic.records import dataclass
from hastega_magic.types import BOOL

MOST_TURNS = 1 << 46
"""No loop makes more: after so many (days, at best), an element is left to Python."""


EVERY = 4
"""Turns between which a limit on the state that leaves room for them is not looked at."""


@dataclass(frozen=True)
class Leaving:
    """What of a loop is left to Python: conditions for every turn, and for every EVERY turns (`Iteration.rare`)."""

    trouble: Expr | None = None
    rare: Expr | None = None


@dataclass(frozen=True, repr=False)
class Iteration:
    """A loop's body.

    tag      names the body's leaves, and stays what it is while passes change the body
    state    its leaves "carry"; the first says whether there is another turn
    outer    its leaves "outer"
    step     the state after a turn
    effects  pairs (condition, node): what is evaluated in a turn though the state may not need it
    bounds   for each part of the state an interval that is known to hold it, or None
    trouble  condition under which Python must do the element (None: never, or not yet known)
    holds    what is known of the state as a turn begins, over the leaves (None: nothing)
    rare     like trouble, for a condition that is looked at in the first turn and then every EVERY turns, or more often
    inner    it is one of ours in a function of Python's (`math.comb`), whose user never has the integers on its way
    """

    tag: str
    state: tuple[Expr, ...]
    outer: tuple[Expr, ...]
    step: tuple[Expr, ...]
    effects: tuple[tuple[Expr | None, Expr], ...] = ()
    bounds: tuple[Interval | None, ...] = ()
    trouble: Expr | None = None
    holds: Expr | None = None
    rare: Expr | None = None
    inner: bool = False

    def __repr__(self) -> str:
        hasher = hashlib.blake2b(digest_size=12)
        for node in self.roots():
            hasher.update(node.digest)
        shape = f"{len(self.state)} {len(self.outer)} {len(self.effects)} {self.bounds}"
        shape = f"{shape} {self.trouble is None} {self.rare is None}{' inner' * self.inner}"
        hasher.update(shape.encode())
        return f"{self.tag}:{hasher.hexdigest()}"

    def roots(self) -> Iterator[Expr]:
        """Every node that a turn needs."""
        yield from self.step
        for condition, node in self.effects:
            if condition is not None:
                yield condition
            yield node
        yield from (node for node in (self.trouble, self.rare) if node is not None)

    def over(self, new: Mapping[Expr, Expr]) -> Iteration:
        """The same loop with its body's nodes replaced."""
        return replace(
            self,
            step=tuple(new[node] for node in self.step),
            effects=tuple((None if c is None else new[c], new[node]) for c, node in self.effects),
            trouble=None if self.trouble is None else new[self.trouble],
            rare=None if self.rare is None else new[self.rare],
        )


def iteration(node: Expr) -> Iteration:
    """The body of a node "turns"."""
    assert isinstance(node.value, Iteration)
    return node.value


def turns(body: Iteration, starts: Sequence[Expr], outer: Sequence[Expr]) -> Expr:
    """The node that runs the loop."""
    return node_of("turns", (*starts, *outer), BOOL, body)


_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def facts(body: Iteration) -> list[Expr]:
    """Conditions that hold as a turn begins."""
    pending, found = [] if body.holds is None else [body.holds], list[Expr]()
    while pending:
        node = pending.pop()
        if node.op == "and" or (
            node.op == "select" and node.args[2].op == "const" and not node.args[2].value
        ):
            pending += node.args[:2]
        else:
            found.append(node)
    return found


def truths(body: Iteration) -> dict[Expr, bool]:
    """Nodes of the body whose value is known while there are turns."""
    found: dict[Expr, bool] = {}
    for node in facts(body):
        found[node] = True
        if node.op in _OPPOSITE and not any(arg.type.is_float for arg in node.args):  # NaN is neither
            found[node_of(_OPPOSITE[node.op], node.args, node.type, None)] = False
    return found


def leaving(body: Iteration) -> set[Expr]:
    """Conditions of a turn that hold only in the last one."""
    pending, found = [body.step[0]], set[Expr]()
    while pending:
        node = pending.pop()
        if node.op == "and" or (node.op == "select" and is_const(node.args[2], False)):
            pending += node.args[:2]
        elif node.op == "select" and is_const(node.args[1], False):
            found.add(node.args[0])
            pending.append(node.args[2])
        elif node.op == "not":
            found.add(node.args[0])
    return found


def settled(loop: Expr) -> dict[int, tuple[Expr, Expr | None]]:
    """Parts of the state that have their first value until the last turn: a condition under which they get another.

    That one comes second (None: the condition itself, of a part that is False until then).
    """
    body, (starts, outside) = iteration(loop), operands(loop)
    final = leaving(body)
    same = dict(zip(body.outer, outside, strict=True))
    found: dict[int, tuple[Expr, Expr | None]] = {}
    for number, (step, start) in enumerate(zip(body.step, starts, strict=True)):
        if number and step in final and is_const(start, False):
            found[number] = step, None
        elif step.op == "select" and step.args[0] in final and same.get(step.args[2], step.args[2]) is start:
            found[number] = step.args[0], step.args[1]
    return found


def result(loop: Expr, number: int) -> Expr:
    """Part `number` of the state after the last turn of the loop."""
    return node_of("result", (loop,), iteration(loop).state[number].type, number)


def operands(loop: Expr) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """The starting values of the state, and what the body reads from outside."""
    count = len(iteration(loop).state)
    return loop.args[:count], loop.args[count:]


def everything(roots: Iterable[Expr], known: Container[Expr] = ()) -> Iterator[Expr]:
    """Every node below the roots and in the bodies of loops, once: operands before users, bodies before loops."""
    seen: set[Expr] = set()
    stack = [postorder(roots, known)]
    waiting: list[Expr] = []
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            if waiting:
                yield waiting.pop()
        elif node in seen or node in known:
            continue
        else:
            seen.add(node)
            if node.op == "turns":
                waiting.append(node)
                stack.append(postorder(iteration(node).roots(), known))
            else:
                yield node


def loops_in(roots: Iterable[Expr]) -> list[Expr]:
    """The loops, inner ones before those around them."""
    return [node for node in everything(roots) if node.op == "turns"]


def of_functions(roots: Iterable[Expr]) -> set[Expr]:
    """What the loops of functions of Python's compute."""
    return {
        node
        for loop in loops_in(roots)
        if iteration(loop).inner
        for node in everything(iteration(loop).roots())
    }


def changed(node: Expr, args: tuple[Expr, ...], new: Mapping[Expr, Expr]) -> Expr:
    """The node over other operands, and, where it is a loop, with its body's nodes replaced."""
    value = iteration(node).over(new) if node.op == "turns" else node.value
    if args == node.args and value == node.value:
        return node
    return node_of(node.op, args, node.type, value)


def gated(node: Expr, condition: Callable[[Expr], Expr]) -> Expr:
    """A loop that makes a first turn only where a condition holds as well; any other node as it is."""
    if node.op != "turns":
        return node
    return node_of(node.op, (condition(node.args[0]), *node.args[1:]), node.type, node.value)


def needed(body: Iteration, used: Collection[int]) -> set[int]:
    """The parts of the state that matter if the parts `used` are read after the loop."""
    wanted = {0, *used}
    own = {node: number for number, node in enumerate(body.state)}
    kept = [node for pair in body.effects for node in pair if node is not None]
    kept += [node for node in (body.trouble, body.rare) if node is not None]
    pending = [*kept, *(body.step[number] for number in wanted)]
    while pending:
        read = {own[node] for node in everything(pending) if node in own} - wanted
        wanted |= read
        pending = [body.step[number] for number in read]
    return wanted


def uniform(body: Iteration, starts: Sequence[Expr], used: Collection[int]) -> frozenset[Expr]:
    """The nodes of the body that have one value for all elements that make a turn together, as a counter has.

    `used`: the parts of the state that are read after the loop; they end at different turns.
    """
    parts = {
        number for number, start in enumerate(starts) if number and number not in used and start.op == "const"
    }
    while True:
        found = {body.state[number] for number in parts}
        for node in postorder(body.roots()):
            if node.op in ("const", "length") or (
                node.args
                and node.op not in ("gather", "turns", "result")
                and all(a in found for a in node.args)
            ):
                found.add(node)
        kept = {number for number in parts if body.step[number] in found}
        if kept == parts:
            return frozenset(found)
        parts = kept


def results_used(roots: Iterable[Expr]) -> dict[Expr, frozenset[int]]:
    """For each loop the parts of its state that are read after it."""
    found: dict[Expr, set[int]] = {}
    for node in everything(roots):
        if node.op == "result" and isinstance(node.value, int):
            found.setdefault(node.args[0], set()).add(node.value)
    return {loop: frozenset(numbers) for loop, numbers in found.items()}


def closed(
    state: Sequence[Expr],
    step: Sequence[Expr],
    effects: Sequence[tuple[Expr | None, Expr]],
    bounds: Sequence[Interval | None],
    hoisted: Callable[[Expr], bool],
    holds: Expr | None = None,
    inner: bool = False,
) -> tuple[Iteration, tuple[Expr, ...], dict[Expr, Expr]]:
    """A body over leaves of its own, made from one whose state are the leaves `state`.

    Nodes that do not depend on the state come from outside where `hoisted` holds for them. Gives the body, those
    nodes, and for each node of the body as it was the one that it has become.
    """
    roots = [*step, *(node for pair in effects for node in pair if node is not None)]
    roots += [] if holds is None else [holds]
    own = set(state)
    varying: set[Expr] = set()
    for node in postorder(roots):
        if node in own or any(arg in varying for arg in node.args):
            varying.add(node)
    outer = _outer(roots, varying, hoisted)

    def renamed(tag: str) -> dict[Expr, Expr]:
        leaves = {node: leaf("carry", node.type, (tag, k)) for k, node in enumerate(state)}
        leaves |= {node: leaf("outer", node.type, (tag, k)) for k, node in enumerate(outer)}
        return _replaced(roots, leaves)

    def made(tag: str) -> tuple[Iteration, dict[Expr, Expr]]:
        new = renamed(tag)
        return Iteration(
            tag,
            tuple(leaf("carry", node.type, (tag, k)) for k, node in enumerate(state)),
            tuple(leaf("outer", node.type, (tag, k)) for k, node in enumerate(outer)),
            tuple(new[node] for node in step),
            tuple((None if c is None else new[c], new[node]) for c, node in effects),
            tuple(bounds),
            None,
            None if holds is None else new[holds],
            inner=inner,
        ), new

    body, _ = made("")
    tag = hashlib.blake2b(repr(body).encode(), digest_size=6).hexdigest()
    body, new = made(tag)
    return body, tuple(outer), new


def _outer(roots: Sequence[Expr], varying: set[Expr], hoisted: Callable[[Expr], bool]) -> list[Expr]:
    """The topmost nodes that are computed before the loop."""
    found: dict[Expr, None] = {}
    seen: set[Expr] = set()
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node not in varying and node.op in INVARIANT:
            continue
        if node not in varying and (not node.args or hoisted(node)):
            found[node] = None
            continue
        stack.extend(reversed(node.args))
    return list(found)


def _replaced(roots: Sequence[Expr], leaves: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
    """Every node below the roots over other leaves; nodes above which stands none of the leaves' are left out."""
    return rewrite(roots, lambda node: node, leaves)
