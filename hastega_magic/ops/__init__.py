"""The operator table: one row per operator, and everything that is known about it."""

from hastega_magic.ops.row import Builder, Op, Signature, Term
from hastega_magic.ops.table import OPS, op_of_callable

__all__ = ["OPS", "Builder", "Op", "Signature", "Term", "op_of_callable"]
