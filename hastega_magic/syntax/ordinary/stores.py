"""Places of sequences that turns of a `for` statement store into, one place a turn: `out[i] = f(i)`.

    for i in range(n):                 def turn(i):
        if a[i] > 0:                       item = out[i]
            out[i] = a[i] / 2              if a[i] > 0:
                                               item = a[i] / 2
                                           return item

In a turn such a place is a variable like others (scalar replacement: Callahan, Carr and Kennedy, Improving register
allocation for subscripted variables, PLDI 1990); what it is when the turn is over is stored. Turns do not meet: no
other reads the place.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.rewriting import NoPipeline
from hastega_magic.syntax.ordinary.variables import definitely, read_first
from hastega_magic.syntax.reading.trees import copied

_SCOPES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


@dataclass(frozen=True)
class Stores:
    """What turns store into.

    names    the variables that hold the sequences
    shifts   what is added to the number of a turn for its place in each
    numbered whether turns are numbered by `enumerate`; else they go through their numbers
    rereads  whether a turn may read what it has stored itself, which an array has made of its own type
    """

    names: tuple[str, ...]
    shifts: tuple[int, ...]
    numbered: bool
    rereads: bool


def stores_of(node: ast.For, names: Sequence[str]) -> Stores:
    """What it stores into sequences of these names; NoPipeline where it is not one place a turn."""
    number, numbered = _number(node)
    shifts: dict[str, int] = {}
    for each in _places(node.body, names):
        shift = _shift(each.slice, number)
        name = cast(ast.Name, each.value).id
        if shift is None or shifts.setdefault(name, shift) != shift:
            raise NoPipeline(f"`{name}` is stored into, or read, at other places than one for each turn")
    standing = [each for each in _walk(node.body) if isinstance(each, ast.Name) and each.id in shifts]
    if len(standing) > sum(1 for _ in _places(node.body, names)):
        raise NoPipeline(f"`{standing[0].id}` is read as a whole where turns store into it")
    hidden = (each for scope in _walk(node.body) if isinstance(scope, _SCOPES) for each in ast.walk(scope))
    if any(isinstance(each, ast.Name) and each.id in shifts for each in hidden):
        raise NoPipeline("a place that is stored into is read in a function or comprehension inside")
    return Stores(tuple(shifts), tuple(shifts.values()), numbered, _rereads(node.body, names, False)[0])


def _number(node: ast.For) -> tuple[str, bool]:
    """The variable that tells turns apart, and whether `enumerate` gives it."""
    match node.target, node.iter:
        case ast.Name(id=name), _:
            return name, False
        case (
            ast.Tuple(elts=[ast.Name(id=name), _]),
            ast.Call(func=ast.Name(id="enumerate")),
        ):
            return name, True
        case _:
            raise NoPipeline("it stores into places, and its turns are not numbered")


def _shift(key: ast.expr, number: str) -> int | None:
    """What is added to the number; None if it is another place."""
    match key:
        case ast.Name(id=name) if name == number:
            return 0
        case ast.BinOp(ast.Name(id=name), ast.Add(), ast.Constant(value=int(by))) if name == number:
            return by
        case ast.BinOp(ast.Constant(value=int(by)), ast.Add(), ast.Name(id=name)) if name == number:
            return by
        case ast.BinOp(ast.Name(id=name), ast.Sub(), ast.Constant(value=int(by))) if name == number:
            return -by
        case _:
            return None


def _walk(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for each in body:
        yield from ast.walk(each)


def _places(body: Sequence[ast.AST], names: Collection[str]) -> Iterator[ast.Subscript]:
    """Subscripts of sequences of these names."""
    for each in _walk(body):
        match each:
            case ast.Subscript(value=ast.Name(id=name)) if name in names:
                yield each
            case _:
                pass


def _rereads(body: Sequence[ast.stmt], names: Collection[str], stored: bool) -> tuple[bool, bool]:
    """Whether one of the places may be read behind a store into it; and whether one has been stored into then.

    `stored`: whether one has been before.
    """
    rereads = False
    for each in body:
        match each:
            case ast.If(test=test, body=first, orelse=second):
                ends = [_rereads(block, names, stored) for block in (first, second)]
                rereads = rereads or (stored and _reads(test, names)) or any(again for again, _ in ends)
                stored = any(known for _, known in ends)
                continue
            case ast.For() | ast.While():  # whose turns come behind each other
                stored = stored or _stores(each, names)
                rereads = rereads or (stored and _reads(each, names))
            case _:
                rereads = rereads or (stored and _reads(each, names))
                stored = stored or _stores(each, names)
    return rereads, stored


def _stores(node: ast.AST, names: Collection[str]) -> bool:
    return any(isinstance(each.ctx, ast.Store) for each in _places([node], names))


def _reads(node: ast.AST, names: Collection[str]) -> bool:
    adds = (each.target for each in ast.walk(node) if isinstance(each, ast.AugAssign))
    read = any(isinstance(each.ctx, ast.Load) for each in _places([node], names))
    return read or any(True for each in adds for _ in _places([each], names))


def item_of(name: str) -> str:
    """The variable that stands for a place of this sequence."""
    return f"__hastega_item_{name}__"


def as_variables(node: ast.For, stores: Stores) -> list[ast.stmt]:
    """A turn's statements with variables in the places' place, which begin as what stands there if that matters."""
    standing = _Standing({name: item_of(name) for name in stores.names})
    body = [cast(ast.stmt, standing.visit(copied(each))) for each in node.body]
    items = frozenset(map(item_of, stores.names))
    needed = items
    if not any(isinstance(each, ast.Continue) for each in _walk(body)):
        needed = read_first(body, items) | (items - definitely(body, items))
    first = {cast(ast.Name, each.value).id: each for each in _places(node.body, stores.names)}
    begun: list[ast.stmt] = []
    for name, place in first.items():
        if item_of(name) in needed:
            read = ast.Subscript(ast.Name(name, ast.Load()), copied(place.slice), ast.Load())
            made = ast.Assign([ast.Name(item_of(name), ast.Store())], ast.copy_location(read, place))
            begun.append(ast.fix_missing_locations(ast.copy_location(made, place)))
    return [*begun, *body]


class _Standing(ast.NodeTransformer):
    """Variables in place of subscripts."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        match node.value:
            case ast.Name(id=name) if name in self.names:
                return ast.copy_location(ast.Name(self.names[name], node.ctx), node)
            case _:
                return self.generic_visit(node)


__all__ = ["Stores", "as_variables", "item_of", "stores_of"]
