"""`isinstance` of an element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.expr import Expr, const
from hastega_magic.ir.pipeline import FIRST_PARAMETER
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import Known, Symbolic
from hastega_magic.types import FLOAT, FLOAT32, FLOAT64, INT, Composite, ScalarType


def is_instance(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """What the type of an element says; of bools, which may be NumPy's, only Python knows."""
    if len(args) != 2 or not isinstance(args[0], Expr):
        raise NotCompilable("`isinstance` of something that is no number is not compiled")
    graph.only_python("`isinstance`")
    type_ = _TYPES.get(args[0].type)
    # NumPy's integers, which count as Python's elsewhere.
    numpys = graph.ufuncs and type_ is int and not _is_element(args[0])
    if type_ is None or args[0].op == "const" or numpys:
        raise NotCompilable(f"`isinstance` of a {args[0].type.value} is not compiled")
    graph.keep(args[0])
    try:
        return const(issubclass(type_, _classes(args[1])))
    except TypeError as error:
        reraise_signal(error)
        raise NotCompilable(f"`isinstance`: {error}") from None


def _is_element(node: Expr) -> bool:
    """Whether it is what the function is given, and nothing that is computed or captured."""
    return node.op == "param" and cast(int, node.value) < FIRST_PARAMETER


def _classes(value: Symbolic) -> Any:
    """The class, or the classes, that `isinstance` is given."""
    if isinstance(value, tuple) and not isinstance(value, Composite):
        return tuple(map(_classes, value))
    if not isinstance(value, Known):
        raise NotCompilable("`isinstance` with something that is no class is not compiled")
    return value.value


_TYPES: Mapping[ScalarType, type] = {INT: int, FLOAT: float, FLOAT64: np.float64, FLOAT32: np.float32}
