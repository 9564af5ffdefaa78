"""What an element waits for where it needs what the one before gave: the longest chain of operations through a step.

a * 31 + x          one after the other: multiply, simple
a / (x * x + 1)     divide: what does not depend on `a` is computed meanwhile
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.ir.kernel import Step

_LATENCY = {
    "simple": (0.33e-9, 1.3), "float": (1.2e-9, 4.0), "multiply": (1e-9, 1.3), "madd": (1.3e-9, 3.0),
    "divide": (4.5e-9, 0.75), "root": (6e-9, 0.75), "convert": (1.6e-9, 4.0), "gather": (1.7e-9, 0.33),
}  # fmt: skip
"""By class how long the result of one operation is waited for, in seconds at some 3 GHz, and as so many operations
on whole vectors one after the other, whose time is measured."""


def chain(step: Step, class_of: Callable[[Expr], str], turns: Callable[[Expr], float]) -> Mapping[str, float]:
    """By class as many operations on whole vectors as take the time that a step waits for the one before.

    `class_of`: an operation's class; "": it takes no time. `turns`: of a loop inside, all of which counts as "turn".
    """
    waited: dict[Expr, float] = dict.fromkeys(step.totals, 0.0)
    before: dict[Expr, Expr | None] = dict.fromkeys(step.totals)
    for node in postorder(step.results):
        last = max((each for each in node.args if each in waited), key=waited.__getitem__, default=None)
        if last is not None:
            seconds, _ = _LATENCY.get(class_of(node), (0.0, 0.0))
            waited[node], before[node] = waited[last] + seconds, last
    counts: defaultdict[str, float] = defaultdict(float)
    node = max((each for each in step.results if each in waited), key=waited.__getitem__, default=None)
    while node is not None:
        if node.op == "turns":
            counts["turn"] += turns(node)
        elif (name := class_of(node)) in _LATENCY:
            counts[name] += _LATENCY[name][1]
        node = before[node]
    return dict(counts)


__all__ = ["chain"]
