"""Loops inside the body, in OpenCL C: all vectors (or rows) in flight make turns until none of them goes on.

    long8 live1 = v1, s2 = v2;
    while (any(live1)) {
        ...                                  a turn, of all lanes
        s2 = select(s2, v9, live1);          only what is read after the loop is kept for lanes that are done
        live1 &= v10;
    }

A device cannot be asked to stop. Operations in turns are counted over the whole block, and where they reach the limit
of the launch, the block is LATE: it is run again with a higher limit, and the host can stop in between. After LIMIT
turns of one loop, an element is left to Python.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hastega_magic.codegen.opencl.text import is_narrow_float, vector_type
from hastega_magic.codegen.turned import Turned
from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.ir.loop import Iteration, iteration, needed, operands
from hastega_magic.types import BOOL

if TYPE_CHECKING:
    from hastega_magic.codegen.opencl.body import Body

LIMIT = 1 << 24
"""Turns after which Python takes over: a fraction of a second for each block. With loops inside 16 times as many."""


def emit_turns(body: Body, node: Expr, used: frozenset[int]) -> Turned:
    """Write the loop; `used`: the parts of its state that are read after it."""
    w, loop = body.writer, iteration(node)
    starts, outside = operands(node)
    kept = sorted(needed(loop, used) - {0})
    mask = vector_type(BOOL, body.lanes)
    # What a work-item of a group starts with must look as if it depended on the item: see Frame.own.
    live = [
        _variable(body, "live", mask, f"{name}{_live(body, k)}") for k, name in enumerate(body[starts[0]])
    ]
    state = {
        number: [
            _variable(body, "s", vector_type(loop.state[number].type, body.lanes), name)
            for name in body[starts[number]]
        ]
        for number in kept
    }
    trouble = [_variable(body, "bad", mask, f"{name} & 0") for name in live]
    weight, inner = _weight(body, loop)
    if inner:  # whose turns count as well
        most = _variable(body, "most", "long", f"min(limit, turned + {weight * (LIMIT << 4)}L)")
        counted, step, late = "turned", f"turned += {weight};", f"turned >= {most}"
        beyond = "turned >= limit"
    else:
        most = _variable(body, "most", "int", f"clamp((limit - turned) / {weight}, 1L, {LIMIT}L)")
        counted = _variable(body, "turns", "int", "0")
        step, late, beyond = f"++{counted};", f"{counted} == {most}", f"{most} < {LIMIT}"
    going, some = " | ".join(live), "" if body.lanes == 1 else "any"
    # The block is lost already where an earlier vector needed Python.
    lost = " | ".join(("trouble", *(trouble if loop.trouble is not None or inner else ())))
    with w.block(f"while ({some}({going}) && {counted} < {most} && !{some}({lost}))"):
        fixed = dict(zip(loop.outer, (body[arg] for arg in outside), strict=True))
        _turn(body, loop, fixed, state, live, trouble, used)
        w.line(step)
    with w.block(f"if ({late} && {some}({going}))"):
        w.line(f"late |= {beyond};")
        for name, bad in zip(live, trouble, strict=True):
            w.line(f"{bad} |= {name};")
    if not inner:
        w.line(f"turned += {counted} * {weight}L;")
    return Turned(trouble, state)


def _weight(body: Body, loop: Iteration) -> tuple[int, bool]:
    """Operations of a turn, in all vectors, without those of loops inside it; and whether there are such."""
    nodes = list(postorder(loop.roots()))
    weight = max(1, sum(bool(node.args) for node in nodes)) * len(body.positions)
    return weight, any(node.op == "turns" for node in nodes)


def _live(body: Body, vector: int) -> str:
    """The lanes alone that have an element, or make the turn around: others may need Python, or never end."""
    live = body.masks[vector] if body.masks else body.live
    return "" if live is None else f" & {live}"


def _variable(body: Body, hint: str, type_: str, start: str) -> str:
    name = body.writer.name(hint)
    body.writer.line(f"{type_} {name} = {start};")
    return name


def _turn(
    body: Body,
    loop: Iteration,
    fixed: dict[Expr, list[str]],
    state: dict[int, list[str]],
    live: list[str],
    trouble: list[str],
    used: frozenset[int],
) -> None:
    w = body.writer
    values = fixed | {loop.state[number]: names for number, names in state.items()}
    values[loop.state[0]] = live
    inner = replace(body, live=None, masks=live, values=values, turned={})
    wanted = [loop.step[0], *(loop.step[number] for number in state)]
    needs_python = [node for node in (loop.trouble, loop.rare) if node is not None]
    inner.emit([*wanted, *needs_python])
    # A new value may be the old one of another part of the state: all are named before any is changed.
    fresh = {
        number: [
            w.let(vector_type(loop.state[number].type, body.lanes), name, "n")
            for name in inner[loop.step[number]]
        ]
        for number in state
    }
    for number, names in state.items():
        for name, new, mask in zip(names, fresh[number], live, strict=True):
            w.line(f"{name} = {_kept(body, loop.state[number], mask, new, name) if number in used else new};")
    for k, mask in enumerate(live):
        going = inner[loop.step[0]][k]
        for node in needs_python:
            bad = w.let(vector_type(BOOL, body.lanes), f"{mask} & {inner[node][k]}", "bad")
            w.line(f"{trouble[k]} |= {bad};")
            going = f"{going} & {'!' if body.lanes == 1 else '~'}{bad}"
        w.line(f"{mask} &= {going};")


def _kept(body: Body, part: Expr, mask: str, new: str, old: str) -> str:
    if body.lanes == 1:
        return f"{mask} ? {new} : {old}"
    chosen = f"convert_int{body.n}({mask})" if is_narrow_float(part) else mask
    return f"select({old}, {new}, {chosen})"
