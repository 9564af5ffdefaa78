"""The builder that rows and rules make nodes with: it knows ranges and simplifies what it makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, const, make
from hastega_magic.passes.infer import Leaves, node_range
from hastega_magic.types import ScalarType


class GraphBuilder:
    """Makes nodes; ranges of new nodes follow from their operands' (clamped to int64, as the machine holds them)."""

    def __init__(
        self, leaves: Leaves, ranges: Mapping[Expr, Interval], estimates: bool = False, serial: bool = False
    ) -> None:
        """`ranges`: what is known already; the builder keeps its own copy and adds to it.

        `estimates`, `serial`: as in `ops.row.Builder`.
        """
        self.leaves = leaves
        self.estimates, self.serial = estimates, serial
        self.ranges = dict(ranges)

    def op(self, name: str, *args: Expr) -> Expr:
        """The operator over operands."""
        return make(name, *args)

    def const(self, value: Any, type_: ScalarType | None = None) -> Expr:
        """A constant."""
        return const(value, type_)

    def range_of(self, term: Expr) -> Interval:
        """The interval of an integer or bool node."""
        return node_range(term, self.leaves, self.ranges)
