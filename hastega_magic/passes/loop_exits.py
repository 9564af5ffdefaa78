"""Values that are chosen after a loop, by how it was left, are chosen as it is left. An early `return` looks like that.

    %2: turns (s4 = False, s5 = 0)                              %2: turns (s6 = 200)
      %6 = gt %5, 4.0                                             %6 = gt %5, 4.0
      next s0 = not %6 and ..., s4 = %6, s5 = s1                  next s0 = not %6 and ..., s6 = select %6, s1, 200
    %9 = select (result 4 of %2), (result 5 of %2), 200         %9 = result 6 of %2

A lane that goes on still has the 200, so one masked move stands for two, and no mask is carried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hastega_magic.ir.expr import Expr, is_const, leaf, make, node_of, postorder, rewrite
from hastega_magic.ir.loop import Iteration, iteration, leaving, operands, result


def chosen_on_leaving(roots: Sequence[Expr]) -> dict[Expr, Expr]:
    """What each node below the roots becomes."""
    new = {node: node for node in postorder(roots)}
    for loop in [node for node in new if node.op == "turns"]:
        current = new[loop]
        choices = _choices(current, [new[root] for root in roots])
        if choices:
            changed = rewrite([new[root] for root in roots], lambda node: node, _inside(current, choices))
            new = {node: changed.get(image, image) for node, image in new.items()}
    return new


def _choices(loop: Expr, roots: Sequence[Expr]) -> list[Expr]:
    """The nodes that choose by a part of the loop's state, if nothing else reads that, nor what they choose."""
    body, (starts, _) = iteration(loop), operands(loop)
    final = leaving(body)
    users: dict[Expr, list[Expr]] = {}
    behind = {loop}
    found: list[Expr] = []
    for node in postorder(roots):
        for arg in node.args:
            users.setdefault(arg, []).append(node)
        if any(arg in behind for arg in node.args):
            behind.add(node)
        if node.op != "select":
            continue
        how, value, otherwise = node.args
        parts = [part for part in (how, value) if part.op == "result" and part.args[0] is loop]
        if len(parts) < 2 or otherwise in behind or not isinstance(how.value, int):
            continue
        if body.step[how.value] in final and is_const(starts[how.value], False):
            found.append(node)
    inside = {part for node in found for part in node.args[:2]}
    if any(part in roots or not set(users[part]) <= set(found) for part in inside):
        return []
    return found


def _inside(loop: Expr, choices: Sequence[Expr]) -> dict[Expr, Expr]:
    """The loop with the choices in its state, and what these become."""
    body, (starts, outside) = iteration(loop), operands(loop)
    state, outer, step = list(body.state), list(body.outer), list(body.step)
    starts, outside = list(starts), list(outside)
    for node in choices:
        how, value, otherwise = node.args
        assert isinstance(how.value, int)
        assert isinstance(value.value, int)
        inner = otherwise
        if otherwise.op != "const":
            if otherwise not in outside:
                outer.append(leaf("outer", otherwise.type, (body.tag, len(outer))))
                outside.append(otherwise)
            inner = outer[outside.index(otherwise)]
        state.append(leaf("carry", node.type, (body.tag, len(state))))
        starts.append(otherwise)
        step.append(make("select", body.step[how.value], body.step[value.value], inner))
    bounds = (*body.bounds, *([None] * len(choices))) if body.bounds else ()
    changed: Iteration = replace(
        body, state=tuple(state), outer=tuple(outer), step=tuple(step), bounds=bounds
    )
    made = node_of("turns", (*starts, *outside), loop.type, changed)
    first = len(body.state)
    return {loop: made} | {node: result(made, first + number) for number, node in enumerate(choices)}
