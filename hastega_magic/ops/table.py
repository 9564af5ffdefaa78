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
    int_quotients,
    integer_division,
    integers,
    machine,
    numpy_division,
    numpy_functions,
    rounding,
)
from hastega_magic.ops.functions import (
    arc,
    area,
    cbrt,
    erf,
    exp,
    hyperbolic,
    hypot,
    log,
    logaddexp,
    power,
    trig,
)
from hastega_magic.ops.row import Op

OPS: dict[str, Op] = {
    row.name: row
    for module in (
        arithmetic,
        integer_division,
        int_quotients,
        compare,
        convert,
        elementary,
        complex_numbers,
        machine,
        checks,
        exp,
        hyperbolic,
        log,
        trig,
        arc,
        power,
        hypot,
        area,
        cbrt,
        erf,
        logaddexp,
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
