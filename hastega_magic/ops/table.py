"""All rows, by name and by the Python object that users write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hastega_magic.ops import (
    arithmetic,
    checks,
    compare,
    complex_numbers,
    convert,
    elementary,
    floating_parts,
    functions_arc,
    functions_area,
    functions_cbrt,
    functions_erf,
    functions_exp,
    functions_hyperbolic,
    functions_hypot,
    functions_log,
    functions_logaddexp,
    functions_pow,
    functions_trig,
    integer_division,
    integers,
    machine,
    numpy_division,
    numpy_functions,
    rounding,
)
from hastega_magic.ops.row import Op

OPS: dict[str, Op] = {
    row.name: row
    for module in (
        arithmetic,
        integer_division,
        compare,
        convert,
        elementary,
        complex_numbers,
        machine,
        checks,
        functions_exp,
        functions_hyperbolic,
        functions_log,
        functions_trig,
        functions_arc,
        functions_pow,
        functions_hypot,
        functions_area,
        functions_cbrt,
        functions_erf,
        functions_logaddexp,
        integers,
        numpy_functions,
        numpy_division,
        floating_parts,
        rounding,
    )
    for row in module.ROWS
}

_BY_CALLABLE: dict[int, Op] = {id(spelling): row for row in OPS.values() for spelling in row.spellings}


def op_of_callable(function: Callable[..., Any] | object) -> Op | None:
    """The row that this very Python object (operator.add, np.sqrt, abs, ...) spells, or None."""
    return _BY_CALLABLE.get(id(function))
