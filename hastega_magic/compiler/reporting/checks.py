"""What a loop checks of each element, in one sentence of the reasons that its guards have.

operands of `%`, operands of `exp`, indices out of range
operands of `%` and `exp` that are left to Python, indices out of range
"""

from __future__ import annotations

from collections.abc import Iterable

from hastega_magic.ir.kernel import Guard
from hastega_magic.passes.guard import OPERANDS
from hastega_magic.report import units


def checked(guards: Iterable[Guard]) -> str:
    """The sentence of a loop's guards; "" if there are none."""
    reasons = sorted({guard.reason for guard in guards})
    operators = [each.removeprefix(OPERANDS) for each in reasons if each.startswith(OPERANDS)]
    parts = [f"{OPERANDS}{units.listed(operators)} that are left to Python"] if operators else []
    parts += [each for each in reasons if not each.startswith(OPERANDS)]
    if not parts:
        return ""
    return f"Checked for each element: {', '.join(parts)}; Python evaluates a block that has such."


__all__ = ["checked"]
