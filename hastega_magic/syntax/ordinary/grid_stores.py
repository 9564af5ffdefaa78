"""Places of tables that turns of two nested `for` statements store into, one a turn: `image[i, j] = f(i, j)`.

    for i in range(h):                 range(h * w) |> map(lambda place: (place // w, place % w))
        for j in range(w):                 |> map(turn)
            image[i, j] = i * j

What no other turn does to a place (`stores.py`) is one loop over all of them. Where the variables of the last turn
are read later, the last outer turn is not among them: Python's statement runs for it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from typing import cast

from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.stores import begun_with, flagged, is_heavy, rereads, shift_of
from hastega_magic.syntax.ordinary.variables import stored
from hastega_magic.syntax.reading.trees import SCOPES, copied


@dataclass(frozen=True)
class GridStores:
    """What turns store into.

    roots    the variables that hold the tables
    lists    whether these may be lists of lists: there is much to compute, beside which storing takes little
    pairs    whether a place is written as one subscript of two numbers, which only arrays take
    shifts   what is added to the numbers of a turn, in the order of the subscripts, for its place in each
    turned   whether the inner number comes first
    chosen   into which of them turns may store nothing
    rereads  as in `Stores`
    """

    roots: tuple[str, ...]
    lists: bool
    pairs: tuple[bool, ...]
    shifts: tuple[tuple[int, int], ...]
    turned: tuple[bool, ...]
    chosen: tuple[bool, ...]
    rereads: bool


@dataclass(frozen=True)
class GridStored:
    """The same as code, as `Stored` has it. `numbers`: the variables of the two statements; `inner`: the second one."""

    stores: GridStores
    numbers: tuple[str, str]
    inner: ast.For
    items: tuple[str, ...]
    body: tuple[ast.stmt, ...]


def stored_in_grid(node: ast.For, names: Collection[str]) -> GridStored | None:
    """What the statement and the one inside it store into tables of these names; None where it is otherwise."""
    match node:
        case ast.For(
            target=ast.Name(id=outer),
            iter=ast.Call(func=ast.Name(id="range")),
            body=[
                ast.For(
                    target=ast.Name(id=inner), iter=ast.Call(func=ast.Name(id="range")), orelse=[]
                ) as within
            ],
        ) if outer != inner:
            pass
        case _:
            return None
    given = stored(within.body)
    bounds = {each.id for each in ast.walk(within.iter) if isinstance(each, ast.Name)}
    if {outer, inner, *names} & given or {outer, inner} & {*names} or ({outer} | given) & bounds:
        return None
    standing = _Standing((outer, inner), names)
    body = [cast(ast.stmt, standing.visit(copied(each))) for each in within.body]
    others = {each.id for part in body for each in ast.walk(part) if isinstance(each, ast.Name)}
    if _breaks(within.body) or not names or others & {*names} or standing.odd or bounds & {*names}:
        return None
    places = standing.found
    items = {root: place.item for root, place in places.items()}
    first = begun_with({each.item: each.place for each in places.values()}, body)
    found = [*places.values()]
    again = rereads(body, frozenset(items.values()))
    body, variables, chosen = flagged(body, [*items.values()])
    stores = GridStores(
        tuple(places),
        is_heavy(body),
        tuple(isinstance(each.place.value, ast.Name) for each in found),
        tuple(each.shifts for each in found),
        tuple(each.turned for each in found),
        chosen,
        again,
    )
    return GridStored(stores, (outer, inner), within, variables, (*first, *body))


def _breaks(body: Sequence[ast.stmt]) -> bool:
    """Whether a `break` among the statements ends the loop whose body they are."""
    for each in body:
        match each:
            case ast.Break():
                return True
            case ast.If(body=first, orelse=second):
                if _breaks(first) or _breaks(second):
                    return True
            case _:
                pass
    return False


@dataclass(frozen=True)
class _Place:
    place: ast.Subscript
    shifts: tuple[int, int]
    turned: bool
    item: str


class _Standing(ast.NodeTransformer):
    """Variables in place of places, outside of functions and comprehensions inside."""

    def __init__(self, numbers: tuple[str, str], names: Collection[str]) -> None:
        self.numbers, self.names = numbers, names
        self.found: dict[str, _Place] = {}
        self.odd = False
        """Whether a table has more places than one for each turn, or is written in two ways."""

    def visit(self, node: ast.AST) -> ast.AST:
        return node if isinstance(node, SCOPES) else super().visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        match node:
            case ast.Subscript(value=ast.Name(id=root), slice=ast.Tuple(elts=[first, second])):
                pass
            case ast.Subscript(value=ast.Subscript(value=ast.Name(id=root), slice=first), slice=second):
                pass
            case _:
                return self.generic_visit(node)
        if root not in self.names:
            return self.generic_visit(node)
        shifts, turned = self._shifts(first, second, *self.numbers), False
        if shifts is None:
            shifts, turned = self._shifts(first, second, *self.numbers[::-1]), True
        if shifts is None:
            return node
        item = f"__hastega_item_{len(self.found)}__"
        place = self.found.setdefault(root, _Place(node, shifts, turned, item))
        same = (place.shifts, place.turned, type(place.place.value)) == (shifts, turned, type(node.value))
        self.odd = self.odd or not same
        return ast.copy_location(ast.Name(place.item, node.ctx), node)

    @staticmethod
    def _shifts(first: ast.expr, second: ast.expr, one: str, other: str) -> tuple[int, int] | None:
        found = shift_of(first, one), shift_of(second, other)
        return None if found[0] is None or found[1] is None else (found[0], found[1])


__all__ = ["GridStored", "GridStores", "stored_in_grid"]
