"""Texts inside functions, which say what is to be done: `mode == "mean"`, `kind in ("a", "b")`, `f(x, "mean")`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const
from hastega_magic.syntax.values.values import Known, Symbolic

if TYPE_CHECKING:
    from hastega_magic.syntax.functions.expressions import Frame


def is_written(node: ast.expr) -> TypeGuard[ast.Constant]:
    """Whether it is a literal text."""
    return isinstance(node, ast.Constant) and type(node.value) is str


def compared(frame: Frame, node: ast.Compare) -> Expr | None:
    """Whether a text is another one, or among some, of which one is written out; None where not all are known."""
    if len(node.ops) > 1:
        return None
    [op], [other] = node.ops, node.comparators
    if isinstance(op, (ast.In, ast.NotIn)) and isinstance(other, (ast.Tuple, ast.List, ast.Set)):
        others = other.elts
    elif isinstance(op, (ast.Eq, ast.NotEq)):
        others = [other]
    else:
        return None
    if not any(map(is_written, (node.left, *others))):
        return None
    one, *texts = [_text(frame, each) for each in (node.left, *others)]
    if one is None or None in texts:
        return None
    return const((one in texts) is isinstance(op, (ast.In, ast.Eq)))


def _text(frame: Frame, node: ast.expr) -> str | None:
    """The text that is written, or that a variable or an attribute holds."""
    held: object = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, (ast.Name, ast.Attribute)):
        try:
            found = frame.peek(node)
        except NotCompilable:
            return None
        held = found.value if isinstance(found, Known) else None
    return held if type(held) is str else None


def argument(frame: Frame, node: ast.expr) -> Symbolic:
    """What a function of Python's is given: a text, too."""
    return Known(node.value, repr(node.value)) if is_written(node) else frame.evaluate(node)


__all__ = ["argument", "compared", "is_written"]
