"""Values that turns make more and more different, where the first is only nearly Python's.

An elementary function may be off by the last bit. Where the next turn goes on with what it gives, as
`reduce(lambda t, x: 3.9 * math.sin(t) + x, xs)` does, nobody can tell how far off the last value is.
"""

from __future__ import annotations

from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.python.by_python import same_bits
from hastega_magic.ir.expr import Expr, flatten
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.loop import everything
from hastega_magic.ir.pipeline import Fn
from hastega_magic.ops import OPS
from hastega_magic.syntax.ordinary.parts import Ordinary

DRIFTS = "turns go on with what an elementary function gives, whose last bit may be another"
_STEPPED = frozenset({"fold", "scan"})


def loops_of(outcome: Outcome) -> list[Fused]:
    """The loops that computed a statement: all of it, and its parts."""
    whole = (outcome, *(part.outcome for part in outcome.parts))
    ran = [each.execution for each in whole if each is not None]
    return [each.compiled.fused for each in ran if each is not None]


def _goes_on(outcome: Outcome) -> bool:
    """Whether a loop's turns go on with what may be another value than Python's."""
    sinks = [output.sink for fused in loops_of(outcome) for output in fused.outputs]
    return any(each.kind in _STEPPED and each.fn is not None and _drifts(each.fn) for each in sinks)


def _drifts(step: Fn) -> bool:
    assert isinstance(step.params, tuple)
    handed_on: set[Expr] = {*flatten(step.params[0])}
    nodes = [*everything(step.roots())]
    if any(node.op == "turns" for node in nodes):  # whose bodies have variables of their own
        return any(map(_is_near, nodes))
    for node in nodes:
        if not handed_on.isdisjoint(node.args):
            if _is_near(node):
                return True
            handed_on.add(node)
    return False


def _is_near(node: Expr) -> bool:
    row = OPS.get(node.op)
    return node.type.is_float and row is not None and "approximate" in row.traits


def are_same_bits(outcome: Outcome) -> bool:
    """Whether Python's last bits are those of its loops."""
    ran = [part.outcome.execution for part in outcome.parts if part.outcome is not None] or [
        outcome.execution
    ]
    return all(each is not None and same_bits(each.compiled.fused, ordinary=True) for each in ran)


def unfit(code: Ordinary, outcome: Outcome) -> str:
    """Why loops are not to do it, though they have; "" where they are."""
    if code.picks and not are_same_bits(outcome):
        return "which of its elements it is may be decided by last bits, in which loops may differ"
    return DRIFTS if _goes_on(outcome) else ""


__all__ = ["DRIFTS", "are_same_bits", "loops_of", "unfit"]
