"""Schedules of kernels with loops inside: vectors in flight, and whether lanes that are done are refilled.

while b: a, b = b, a % b            8 in flight: a turn is one long chain of operations that wait for each other
                                    refilled: elements differ in how many turns they make
for i in range(60): ...             in lockstep: all elements make as many
"""

from __future__ import annotations

from collections.abc import Sequence

from hastega_magic.ir.counted import in_step
from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.ir.kernel import Kernel, in_any_order
from hastega_magic.ir.loop import everything, iteration, operands, results_used, uniform
from hastega_magic.ir.schedule import Schedule
from hastega_magic.ir.target import Target

_LANES = 8
"""Lanes for which there is an instruction that moves elements into those that are done."""


_MANY = 8
"""Vectors in flight where a turn is a long chain; else half as many."""

_REGISTERS = 24
"""Of 32, those that what many vectors carry from turn to turn may take."""

_WORK = {"fdiv": 32, "truediv": 32, "fsqrt": 40, "sqrt": 40, "floor": 2, "rint": 2, "reciprocal_estimate": 3}
_LATENCY = {
    "fdiv": 24, "truediv": 24, "fsqrt": 32, "sqrt": 32, "floor": 8, "rint": 8, "reciprocal_estimate": 7, "gather": 20,
}  # fmt: skip
"""Halves of cycles that an operation over a vector keeps units busy for, and cycles until its result is there."""


def in_flight(nodes: Sequence[Expr], most: int, registers: int) -> int:
    """How many vectors go through the loops side by side, of at most so many: half of them, as a rule.

    Where all elements make as many turns none waits for the slowest, so that there are as many as registers hold.
    """
    loops = [node for node in nodes if node.op == "turns"]
    if len(loops) != 1:
        return most // 2
    (loop,) = loops
    read = [node.value for node in nodes if node.op == "result" and node.args[0] is loop]
    used = [each for each in read if isinstance(each, int)]
    if in_step(loop, used):
        body, (starts, _) = iteration(loop), operands(loop)
        shared = uniform(body, starts, used).intersection(body.state)
        room = most * (_carried(loop) - len(shared)) <= registers // 2
        return most if room and not _looks_up(loop) else most // 2
    return most if most == _MANY and _is_long_chain(loop) else most // 2


def _carried(loop: Expr) -> int:
    """Vectors that a turn hands to the next one, or reads from outside, for each that is in flight."""
    body = iteration(loop)
    return len(body.state) - 1 + len(body.outer)


def _looks_up(loop: Expr) -> bool:
    """Whether turns have loops of their own, or wait for memory."""
    return any(node.op in ("turns", "gather") for node in everything(iteration(loop).roots()))


def _is_long_chain(loop: Expr) -> bool:
    """Whether more than a few vectors are needed to keep the machine busy, and registers hold what they carry."""
    body = iteration(loop)
    if _looks_up(loop):
        return False
    ready: dict[Expr, int] = {}
    work = 0
    for node in postorder(body.step):
        multiplies = node.op in ("mul", "wrapping_mul") and not node.type.is_float
        if node.args:
            work += 3 if multiplies else _WORK.get(node.op, 1)
        floats = node.type.is_float or any(arg.type.is_float for arg in node.args)
        taken = 15 if multiplies else _LATENCY.get(node.op, 4 if floats else 1)
        ready[node] = max((ready[arg] for arg in node.args), default=0) + (taken if node.args else 0)
    chain = max((ready[step] for step in body.step), default=0)
    return 4 * chain > _MANY * work and _MANY * _carried(loop) <= _REGISTERS


def refilled(kernel: Kernel, target: Target) -> Schedule:
    """The kernel's schedule, with lanes refilled where that can be done and should gain.

    One loop, results that are stored each at its element's own place or folded in any order, 64-bit lanes of AVX-512.
    """
    schedule = kernel.schedule
    fits = (
        schedule.lanes == _LANES
        and target.vector_bits == 512
        and target.has("avx512f", "avx512vl")
        and all(map(in_any_order, kernel.body))
    )
    loops = [node for node in postorder(kernel.roots()) if node.op == "turns"]
    if not fits or len(loops) != 1 or not _diverges(kernel, loops[0]):
        return schedule
    return Schedule(schedule.lanes, schedule.in_flight, schedule.grain, refill=True)


def _diverges(kernel: Kernel, loop: Expr) -> bool:
    body, (starts, _) = iteration(loop), operands(loop)
    used = results_used(kernel.roots()).get(loop, frozenset[int]())
    return body.step[0] not in uniform(body, starts, used)
