"""What a loop carries from turn to turn, as numbers: a value that may be missing has another that says so."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeGuard

from hastega_magic.ir.expr import Expr, Value, convert, flatten, made_like, map_value, structure
from hastega_magic.syntax.values.branches import numeric
from hastega_magic.syntax.values.mixed import lifted, zero
from hastega_magic.syntax.values.values import FALSE, TRUE, Partly, Symbolic, is_none
from hastega_magic.types import ScalarType

if TYPE_CHECKING:
    from hastega_magic.syntax.functions.expressions import Frame


class OtherTypes(Exception):
    """A turn gives names other types than they had."""


Carried = Expr | Partly | tuple["Carried", ...]
"""What a loop can carry from turn to turn."""


def carriable(value: Symbolic) -> TypeGuard[Carried]:
    """Whether the value is a number, may be missing, or is a tuple of such."""
    if isinstance(value, tuple):
        return bool(value) and all(map(carriable, value))
    return isinstance(value, (Expr, Partly))


def encoded(value: Carried) -> Value:
    """The numbers of a value, those that say whether there is one included."""
    if isinstance(value, Partly):
        return value.present, value.value
    return value if isinstance(value, Expr) else made_like(value, map(encoded, value))


def decoded(form: Carried, value: Value) -> Carried:
    """The value of the same form whose numbers these are."""
    if isinstance(form, Expr):
        return value
    assert isinstance(value, tuple)
    if isinstance(form, Partly):
        present, held = value
        assert isinstance(present, Expr)
        return Partly(present, held, form.unbound, form.name)
    return made_like(form, map(decoded, form, value))


def as_partly(old: Partly, new: Symbolic) -> Symbolic:
    """A value that is there, or None, as one that may be missing."""
    if is_none(new) and not old.unbound:
        return Partly(FALSE, old.value, False, old.name)
    if numeric(new):
        return Partly(TRUE, new, old.unbound, old.name)
    return new


def _as_mixed(old: Carried, new: Carried) -> Carried:
    """A number of one type as one of two, where the state has room for both."""
    if isinstance(old, Partly) and isinstance(new, Partly):
        return Partly(new.present, lifted(new.value, old.value), new.unbound, new.name)
    return lifted(new, old) if numeric(new) and numeric(old) else new


def nothing(value: Carried) -> Carried:
    """Zeros in the place of a value that is not there yet."""
    zeros = map_value(lambda node: zero(node.type), encoded(value))
    return decoded(value, zeros)


def after_turns(first: Expr, value: Carried) -> Symbolic:
    """A value that turns give, where there is a first one."""
    if first is TRUE or isinstance(value, Partly) or not numeric(value):
        return value
    return Partly(first, value, True, "")


def typed(name: str, old: Carried, new: Carried) -> Iterator[Expr]:
    """The numbers of the new value, if it has the old one's types."""
    new = _as_mixed(old, new)
    before, after = encoded(old), encoded(new)
    if structure(before) == structure(after):
        yield from flatten(after)
        return
    if not _widened(before, after):
        raise OtherTypes(f"`{name}` changes its type from turn to turn")
    for one, other in zip(flatten(before), flatten(after), strict=True):
        yield convert(other, one.type)


def _widened(old: Value, new: Value) -> bool:
    """Whether types differ only as float and float64 do, which are one to the machine."""
    if isinstance(old, Expr) or isinstance(new, Expr):
        kinds = {each.type for each in (old, new) if isinstance(each, Expr)}
        return type(old) is type(new) and (len(kinds) == 1 or kinds == {ScalarType.FLOAT, ScalarType.FLOAT64})
    return type(old) is type(new) and len(old) == len(new) and all(map(_widened, old, new))


def read_elsewhere(function: ast.AST, loop: ast.AST, names: Mapping[str, Carried]) -> dict[str, Carried]:
    """The names that the function reads outside the loop, too."""

    def reads(tree: ast.AST) -> Counter[str]:
        nodes = ast.walk(tree) if names else ()
        return Counter(
            node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        )

    everywhere = reads(function) - reads(loop)
    return {name: value for name, value in names.items() if everywhere[name]}


def computed(frame: Frame, ends: Iterable[Expr]) -> set[Expr]:
    """What names stand for as the loop begins, and where it ends: Python has computed it, loops included."""
    found: set[Expr] = set(ends)
    inner: Frame | None = frame
    while inner is not None:
        for value in inner.names.values():
            if carriable(value):
                found.update(flatten(encoded(value)))
        inner = inner.enclosing
    return found


def assigned(statement: ast.For | ast.While) -> list[str]:
    """The names that a turn may bind, in the order of the text."""
    found: dict[str, None] = {}
    pending: list[ast.AST] = [*reversed(statement.body)]
    pending.append(statement.target if isinstance(statement, ast.For) else statement.test)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        if isinstance(node, ast.FunctionDef):
            found[node.name] = None
        elif not isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))
    return list(found)
