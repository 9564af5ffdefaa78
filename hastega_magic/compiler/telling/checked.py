"""What a loop checks of each element, in the words of the cell.

mod of such operands, index out of range
operands of `%` that are left to Python, an index out of range
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hastega_magic.ir.kernel import TURN_NEEDS_PYTHON, Guard
from hastega_magic.ops import OPS
from hastega_magic.passes.guard import OF_OPERANDS
from hastega_magic.report import units

_WRITTEN = {
    "sqr": "**",
    "complex_abs": "abs",
    "complex_quotient_imag": "/",
    "complex_quotient_real": "/",
    "float_to_uint": "int",
    "floor_int": "floor",
    "ceil_int": "ceil",
    "round_int": "round",
    "hypot3": "hypot",
    "hypot4": "hypot",
}
"""What is written for operators whose rows have neither a symbol nor the name that is."""

_INSTEAD = {
    "complex_finite": "complex numbers that are not finite",
    "finite": "results that are not finite",
    "fits": "integers beyond their type",
    "required": "values that not every element has",
}
"""What is checked by operators that nobody writes."""

_NOUNS = {
    TURN_NEEDS_PYTHON: "turns of a loop that need Python",
    "index out of range": "indices out of range",
    "beyond 128 bits": "integers beyond 128 bits",
    "division by zero": "divisions by zero",
    "a float beyond 2^52 is rounded to tens": "floats beyond 2^52 that are rounded to tens",
    "a power beyond 64 bits, or to a negative number": "powers beyond 64 bits, or to a negative number",
}


def checked(guards: Iterable[Guard]) -> str:
    """The sentence of a loop's guards; "" if there are none."""
    reasons = sorted({guard.reason for guard in guards})
    operators = sorted({each for reason in reasons for each in _operator(reason)})
    parts = [f"operands of {units.listed(operators)} that are left to Python"] if operators else []
    parts += sorted({_NOUNS.get(each) or _told(each) for each in reasons if not [*_operator(each)]})
    if not parts:
        return ""
    return f"Checked for each element: {', '.join(parts)}; Python evaluates a block that has such."


def _operator(reason: str) -> Iterator[str]:
    """The operator whose operands are checked, as it is written."""
    name = reason.removesuffix(OF_OPERANDS)
    if name != reason and name not in _INSTEAD:
        yield f"`{_written(name)}`"


def _told(reason: str) -> str:
    """Of what nobody writes, and of integers: `mul beyond 64 bits`."""
    name, _, rest = reason.partition(" ")
    if reason.endswith(OF_OPERANDS):
        return _INSTEAD[reason.removesuffix(OF_OPERANDS)]
    return f"`{_written(name)}` {rest}" if name in OPS else reason


def _written(name: str) -> str:
    row = OPS.get(name)
    known = _WRITTEN.get(name) or (row.symbol if row is not None else "")
    return known or name.removeprefix("math_").replace("np_", "np.", 1)


__all__ = ["checked"]
