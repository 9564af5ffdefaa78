"""Which elements enter a loop: those that nothing has failed yet.

    y = math.sqrt(x)                guard %1 < 0
    while not y < 1: y /= 2         turns (s0 = not(%1 < 0) and ..., s1 = sqrt %1)

Python raises where a check fails. Here such an element goes on with a made-up value, of which no loop need end, until
its block is left to Python: so it makes no turn.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence

from hastega_magic.ir.expr import INVARIANT, Expr, is_const, make, postorder
from hastega_magic.ir.loop import iteration


def failing(roots: Sequence[Expr], checks: Iterable[Expr]) -> dict[Expr, Expr]:
    """For loops below the roots the condition under which an element has failed before it enters.

    `checks`: conditions under which an element fails. Those that depend on the loop, or on one behind it, do not count.
    """
    loops: list[Expr] = []
    behind: dict[Expr, int] = {}  # how many loops stand before what a node is computed from, and with it
    placed: set[Expr] = set()  # what has a leaf below it: else it is no single element's
    terms = list(_disjuncts(checks))
    for node in postorder([*roots, *terms]):
        behind[node] = max((behind[arg] for arg in node.args), default=0)
        if node.op == "turns":
            loops.append(node)
            behind[node] = len(loops)
        if any(arg in placed for arg in node.args) or not (node.args or node.op in INVARIANT):
            placed.add(node)
    found: dict[Expr, Expr] = {}
    for before, loop in enumerate(loops):
        failed = [term for term in terms if behind[term] <= before]
        if failed and loop in placed and not _counted(loop):
            found[loop] = functools.reduce(lambda a, b: make("or", a, b), failed)
    return found


def _disjuncts(checks: Iterable[Expr]) -> Iterator[Expr]:
    seen: set[Expr] = set()
    pending = list(checks)[::-1]
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op == "or":
            pending += node.args[::-1]
        else:
            yield node


def _counted(loop: Expr) -> bool:
    """Whether it is a `for` over a `range` that is known and that nothing leaves: all elements make the same turns."""
    body = iteration(loop)
    # Of made-up values alone, as the shifts of a negative exponent, it never ends.
    if is_const(body.step[0], True):
        return False
    known = {leaf for leaf, bound in zip(body.state, body.bounds, strict=True) if bound is not None}
    leaves = (node for node in postorder([body.step[0]]) if not node.args)
    return is_const(loop.args[0]) and all(node in known or node.op == "const" for node in leaves)
