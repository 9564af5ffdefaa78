"""Loops inside the body, in lockstep: all vectors in flight make turns until no lane of any of them is left.

    turn:  %m = phi <8 x i1> ...            lanes that make this turn
           ...                              a turn, of all lanes
           %s' = select %m, new, %s         only what is read after the loop is kept for lanes that are done
           %m' = and %m, goes on
           br any lane of %m' and no stop asked for, turn, after

Where a lane needs Python its whole block does, so that the others need not go on; perhaps they never would end, and
one mask for all vectors tells of it, from what was found before the loop on. After
LIMIT turns an element is left to Python too: an earlier one may raise there.

Short bodies are written several times, so that leaving is decided once for several turns. Where a counter ends the loop
after a known number of turns (ir/counted.py), they are written as often as divides it, and no lane has to be kept.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hastega_magic.codegen.llvm.text import element_type, splat
from hastega_magic.codegen.turned import Turned
from hastega_magic.ir.counted import together
from hastega_magic.ir.expr import Expr, is_const
from hastega_magic.ir.kernel import Guard
from hastega_magic.ir.loop import EVERY, Iteration, everything, iteration, needed, operands, settled, uniform
from hastega_magic.records import dataclass

if TYPE_CHECKING:
    from hastega_magic.codegen.llvm.body import Body

_OFTEN = ((16, 4), (40, 2))
"""Operations of a body, and how often one of at most so many is written."""

_COUNTED = ((16, 8), (40, 4))
"""The same, at most, where the number of turns is known."""


LIMIT = 1 << 34
"""Turns after which Python takes over: the better part of a minute."""


def emit_turns(body: Body, node: Expr, used: frozenset[int]) -> Turned:
    """Write the loop; `used`: the parts of its state that are read after it."""
    w, loop = body.writer, iteration(node)
    starts, outside = operands(node)
    kept = sorted(needed(loop, used) - {0})
    i1 = body.vector("i1")
    live = [_first(body, name, number) for number, name in enumerate(body[starts[0]])]
    state = {number: list(body[starts[number]]) for number in kept}
    trouble = _lost(body)
    before, label, done = w.block, w.name("turn")[1:], w.name("turned")[1:]
    w.line(f"br label %{label}")
    w.label(label)
    places: list[tuple[int, str]] = []

    def phi(type_: str, start: str) -> str:
        name = w.name("c")
        places.append((len(w.lines), f"[ {start}, %{before} ]"))
        w.lines.append(f"  {name} = phi {type_} ")
        return name

    live = [phi(i1, name) for name in live]
    known = together(node, turns_at_once(loop, _COUNTED))
    plan = Plan(loop, used, uniform(loop, starts, used), settled(node), known)
    for number in kept:
        type_ = body.vector(element_type(loop.state[number].type))
        if loop.state[number] in plan.uniform:
            state[number] = [phi(type_, state[number][0])] * body.vectors
        else:
            state[number] = [phi(type_, name) for name in state[number]]
    trouble = phi(i1, trouble)
    turns = phi("i64", "0")
    fixed = dict(zip(loop.outer, (body[arg] for arg in outside), strict=True))
    live, trouble = turn_by_turn(body, plan, fixed, state, live, trouble)
    counted = w.let(f"add i64 {turns}, 1")
    late = w.let(f"icmp uge i64 {counted}, {LIMIT}")
    first = w.let(f"insertelement {i1} poison, i1 {late}, i32 0")
    lates = w.let(f"shufflevector {i1} {first}, {i1} poison, <{body.lanes} x i32> zeroinitializer")
    alive = united(body, live)
    trouble = w.let(f"or {i1} {trouble}, {w.let(f'and {i1} {alive}, {lates}')}")
    asked = w.let(f"load atomic i64, ptr {body.stop} monotonic, align 8")
    going = w.let(f"icmp eq i64 {asked}, 0")
    going = w.let(f"and i1 {going}, {some(body, alive)}")
    fine = w.let(f"xor i1 {some(body, trouble)}, true")
    more = w.let(f"and i1 {going}, {fine}")
    ends = [
        name
        for number in kept
        for name in (state[number][:1] if loop.state[number] in plan.uniform else state[number])
    ]
    after = [*live, *ends, trouble, counted]
    for (line, start), name in zip(places, after, strict=True):
        w.lines[line] += f"{start}, [ {name}, %{w.block} ]"
    w.line(f"br i1 {more}, label %{label}, label %{done}")
    w.label(done)
    return Turned([trouble] * body.vectors, {number: state[number] for number in kept})


def _lost(body: Body) -> str:
    """The lanes that have failed so far, in blocks that are lost because of them."""
    lost, i1 = body.lost or splat("i1", "false"), body.vector("i1")
    for guard in body.kernel.of(Guard):
        names = body.values.get(guard.condition, ())
        for name in dict.fromkeys(_first(body, name, number) for number, name in enumerate(names)):
            lost = body.writer.let(f"or {i1} {lost}, {name}")
    return lost


def united(body: Body, masks: Sequence[str]) -> str:
    """The lanes that are set in some vector."""
    found = masks[0]
    for name in masks[1:]:
        found = body.writer.let(f"or {body.vector('i1')} {found}, {name}")
    return found


def some(body: Body, mask: str) -> str:
    """Whether some lane is set."""
    bits = body.writer.let(f"bitcast {body.vector('i1')} {mask} to i{body.lanes}")
    return body.writer.let(f"icmp ne i{body.lanes} {bits}, 0")


def _first(body: Body, name: str, number: int) -> str:
    """Which lanes make a first turn: none beyond the last element, where nothing says that a loop would end."""
    mask = body.mask_of(number)
    return name if mask is None else body.writer.let(f"and {body.vector('i1')} {name}, {mask}")


@dataclass(frozen=True)
class Plan:
    """A loop as it is written.

    `used`: the parts of its state that are read after it. `uniform`: nodes that have one value in all vectors.
    `settled`: parts that change in the last turn alone (ir/loop.py). `together`: so many turns at once are made by all
    elements, if not 0.
    """

    loop: Iteration
    used: frozenset[int]
    uniform: frozenset[Expr]
    settled: Mapping[int, tuple[Expr, Expr | None]]
    together: int = 0


def turn_by_turn(
    body: Body,
    plan: Plan,
    fixed: dict[Expr, list[str]],
    state: dict[int, list[str]],
    live: list[str],
    trouble: str,
) -> tuple[list[str], str]:
    """Write as many turns as are made at once; `state` is brought up to date.

    The lanes that make another one, and those that need Python.
    """
    times = plan.together or turns_at_once(plan.loop)
    for number in range(times):
        left = [plan.loop.trouble, plan.loop.rare if number % EVERY == 0 else None]
        needs = [node for node in left if node is not None]
        ends = not plan.together or number == times - 1
        live, trouble = _turn(body, plan, fixed, state, live, trouble, needs, ends)
    return live, trouble


def _turn(
    body: Body,
    plan: Plan,
    fixed: dict[Expr, list[str]],
    state: dict[int, list[str]],
    live: list[str],
    trouble: str,
    needs: list[Expr],
    ends: bool,
) -> tuple[list[str], str]:
    """One turn; `state` is brought up to date. The lanes that make another one, and those that need Python.

    `needs`: conditions under which they do. `ends`: whether it may be the last one.
    """
    w, i1, loop = body.writer, body.vector("i1"), plan.loop
    values = fixed | {loop.state[number]: names for number, names in state.items()}
    values[loop.state[0]] = [splat("i1", "true")] * body.vectors
    inner = replace(body, mask=None, masks=live, values=values, turned={}, uniform=plan.uniform)
    frozen = frozenset[int]() if plan.together else plan.used
    settled = {number: plan.settled[number] for number in state if number in frozen & plan.settled.keys()}
    conditions, without = _parted(loop.step[0], {condition for condition, _ in settled.values()})
    conditions = conditions if ends else []
    wanted = [loop.step[number] for number in state if number not in settled]
    wanted += [node for pair in settled.values() for node in pair if node is not None]
    inner.emit([*conditions, *wanted, *needs])

    def under(node: Expr, masks: list[str]) -> list[str]:
        return [w.let(f"and {i1} {m}, {name}") for m, name in zip(masks, inner[node], strict=True)]

    def selected(masks: list[str], type_: str, new: list[str], old: list[str]) -> list[str]:
        triples = zip(masks, new, old, strict=True)
        return [w.let(f"select {i1} {m}, {type_} {yes}, {type_} {no}") for m, yes, no in triples]

    last = {node: under(node, live) for node in dict.fromkeys(pair[0] for pair in settled.values())}
    for number, before in state.items():
        type_ = body.vector(element_type(loop.state[number].type))
        condition, value = settled.get(number, (None, None))
        if condition is None:
            new = inner[loop.step[number]]
            state[number] = selected(live, type_, new, before) if number in frozen else new
        elif value is None:
            pairs = zip(before, last[condition], strict=True)
            state[number] = [w.let(f"or {type_} {old}, {m}") for old, m in pairs]
        else:
            state[number] = selected(last[condition], type_, inner[value], before)
    going = live
    for node in conditions:
        going = under(node, going)
    for node in without:
        others = [w.let(f"xor {i1} {name}, {splat('i1', 'true')}") for name in last[node]]
        going = [w.let(f"and {i1} {m}, {other}") for m, other in zip(going, others, strict=True)]
    for node in needs:  # such lanes go on until the loop ends because of them
        trouble = w.let(f"or {i1} {trouble}, {united(body, under(node, live))}")
    return going, trouble


def _parted(node: Expr, ends: Container[Expr]) -> tuple[list[Expr], list[Expr]]:
    """What has to hold so that another turn follows, and those of `ends` that must not."""
    if node.op == "and":
        yes, no = zip(*(_parted(arg, ends) for arg in node.args), strict=True)
        return sum(yes, list[Expr]()), sum(no, list[Expr]())
    if node.op == "not" and node.args[0] in ends:
        return [], [node.args[0]]
    if node.op == "select" and is_const(node.args[1], False) and node.args[0] in ends:
        yes, no = _parted(node.args[2], ends)
        return yes, [node.args[0], *no]
    return ([] if is_const(node, True) else [node]), []


def operations(loop: Iteration) -> int:
    """Operations of a turn; of loops inside it, of one turn of theirs."""
    return sum(bool(node.args) for node in everything(loop.roots()))


def turns_at_once(loop: Iteration, often: Sequence[tuple[int, int]] = _OFTEN) -> int:
    """How many turns are written one after the other."""
    if any(node.op == "turns" for node in everything(loop.roots())):
        return 1
    return next((times for most, times in often if operations(loop) <= most), 1)
