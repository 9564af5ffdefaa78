"""Loops that a counter ends, after as many turns for every element: `for j in range(20)`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from hastega_magic.ir.expr import Expr, is_const, postorder
from hastega_magic.ir.loop import Iteration, iteration, operands, uniform

_FEW = 256
"""Turns of an element that take so little time, even for 65 536 elements, that an interrupt can wait."""


def in_step(loop: Expr, used: Collection[int]) -> bool:
    """Whether all elements make as many turns, one at least. `used`: the parts of the state that are read after it."""
    starts, _ = operands(loop)
    body = iteration(loop)
    return is_const(starts[0], True) and body.step[0] in uniform(body, starts, used)


def turns_made(loop: Expr) -> int | None:
    """The number of turns that all elements make, where a counter from one constant to another ends the loop.

    `s0 = True, s1 = 0; next s0 = s1 + 1 < 20, s1 = s1 + 1`: 20.
    """
    (first, *_), _ = operands(loop)
    body, starts = iteration(loop), operands(loop)[0]
    test = body.step[0]
    if not is_const(first, True) or test.op != "lt" or test.args[1].op != "const":
        return None
    for state, step, start in zip(body.state[1:], body.step[1:], starts[1:], strict=True):
        if step is not test.args[0] or step.op not in ("add", "wrapping_add") or start.op != "const":
            continue
        by = step.args[1] if step.args[0] is state else None
        numbers = [None if each is None else each.value for each in (start, by, test.args[1])]
        if by is None or by.op != "const" or not all(type(each) is int for each in numbers):
            continue
        begin, stride, end = (int(str(each)) for each in numbers)
        if stride > 0:
            return max(1, -(-(end - begin) // stride))
    return None


def together(loop: Expr, most: int) -> int:
    """How many turns at most, and no more than so many, all elements make without a look at whether another follows.

    0: that is not known.
    """
    made = turns_made(loop)
    return 0 if made is None else max(each for each in range(1, most + 1) if made % each == 0)


def end_soon(roots: Iterable[Expr]) -> bool:
    """Whether all loops below the roots, with those inside them, make few turns: an element takes little time then."""
    return all(_all_turns(node) <= _FEW for node in postorder(roots) if node.op == "turns")


def _all_turns(loop: Expr) -> int:
    """The turns of a loop and of those inside it for one element; more than a few where that is not known.

    Of an edited kernel the process that tries it knows that there are loops, not which.
    """
    made = turns_made(loop) if isinstance(loop.value, Iteration) else None
    if made is None or made > _FEW:
        return _FEW + 1
    inside = (node for node in postorder(iteration(loop).roots()) if node.op == "turns")
    return made * max(1, sum(map(_all_turns, inside)))


__all__ = ["end_soon", "in_step", "together", "turns_made"]
