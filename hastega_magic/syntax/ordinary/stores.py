"""Places of sequences that turns of a `for` statement store into, one a turn: `out[i] = f(i)`, `image[j, i] = ...`.

    for i in range(n):                 def turn(i):
        if a[i] > 0:                       item = out[i]
            out[i] = a[i] / 2              if a[i] > 0:
                                               item = a[i] / 2
                                           return item

In a turn such a place is a variable like others (scalar replacement: Callahan, Carr and Kennedy, Improving register
allocation for subscripted variables, PLDI 1990); what it is when the turn is over is stored. Turns do not meet: no
other reads the place. Rows and columns, `out[k][i]`, `image[k, i]`, `image[i, k]`, are sequences where all turns have
the same one.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.rewriting import NoPipeline
from hastega_magic.syntax.ordinary.statements import may_go_on
from hastega_magic.syntax.ordinary.variables import definitely, read_first, stored
from hastega_magic.syntax.reading.trees import SCOPES, copied


@dataclass(frozen=True)
class Stores:
    """What turns store into, or read of the same variables.

    sequences how they are written
    roots     the variables that these are, or are parts of
    keys      how many variables number parts
    parts     which of these are parts
    kept      which are stored into
    chosen    of these, into which turns may store nothing
    shifts    what is added to the number of a turn for its place in each
    numbered  whether turns are numbered by `enumerate`; else they go through their numbers
    rereads   whether a turn may read what it has stored itself, which an array has made of its own type
    """

    sequences: tuple[str, ...]
    roots: tuple[str, ...]
    keys: int
    parts: tuple[bool, ...]
    kept: tuple[bool, ...]
    chosen: tuple[bool, ...]
    shifts: tuple[int, ...]
    numbered: bool
    rereads: bool


@dataclass(frozen=True)
class Stored:
    """The same as code.

    given     code for each sequence
    keys      the variables that number parts
    items     the variables that stand for the places that a turn stores into, and for whether it does, if that matters
    body      a turn's statements with these in place of the places, which begin as what stands there if that matters
    """

    stores: Stores
    given: tuple[ast.expr, ...]
    keys: tuple[str, ...]
    items: tuple[str, ...]
    body: tuple[ast.stmt, ...]


def stored_by(node: ast.For, names: Collection[str]) -> Stored:
    """What it stores into sequences of these names; NoPipeline where it is not one place a turn."""
    number, numbered = _number(node)
    changing = stored([node])
    if changing & {*names} or number in stored(
        node.target.elts[1:] if isinstance(node.target, ast.Tuple) else ()
    ):
        raise NoPipeline("what it stores into, or where, is given a value in turns")
    if any(map(_stores_a_tuple, node.body)):
        raise NoPipeline("it stores tuples, in which Python is as fast")
    standing = _Standing(number, names, changing)
    standing.kept = frozenset(standing.read(each) for each in _targets(node.body) if root_of(each) in names)
    body = [cast(ast.stmt, standing.visit(copied(each))) for each in node.body]
    others = (each for part in body for each in ast.walk(part) if isinstance(each, ast.Name))
    for name in sorted({each.id for each in others if each not in standing.parts} & {*names}):
        raise NoPipeline(f"`{name}` is stored into, and read otherwise than at one place for each turn")
    places = [*standing.found.values()]
    kept = [each for each in places if each.text in standing.kept]
    items = frozenset(each.item for each in kept)
    begun = begun_with({each.item: each.place for each in kept}, body)
    body, variables, chosen = flagged(body, [each.item for each in kept])
    named = {each.id for it in places for each in ast.walk(it.given) if isinstance(each, ast.Name)}
    keys = tuple(sorted(named.difference(each.root for each in places)))
    stores = Stores(
        tuple(each.text for each in places),
        tuple(each.root for each in places),
        len(keys),
        tuple(not isinstance(each.given, ast.Name) for each in places),
        tuple(each in kept for each in places),
        chosen,
        tuple(each.shift for each in places),
        numbered,
        rereads(body, items),
    )
    return Stored(stores, tuple(each.given for each in places), keys, variables, (*begun, *body))


def _stores_a_tuple(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(targets=[ast.Subscript()], value=ast.Tuple()):
            return True
        case _:
            return False


def begun_with(places: Mapping[str, ast.Subscript], body: list[ast.stmt]) -> list[ast.stmt]:
    """What gives variables for places the values that they begin a turn with, if these matter."""
    items = frozenset(places)
    read = read_first(body, items)
    needed = items if may_go_on(body) else read | (items - definitely(body, items))
    made: list[ast.stmt] = []
    for item, place in places.items():
        if item not in needed:
            continue
        value = None if item in read else _number_given(item, body)
        if value is None:
            value = copied(place)
            value.ctx = ast.Load()
        begun = ast.Assign([ast.Name(item, ast.Store())], value)
        made.append(ast.fix_missing_locations(ast.copy_location(begun, place)))
    return made


def _number_given(item: str, body: Sequence[ast.stmt]) -> ast.expr | None:
    """A number that the variable is given: where it is given none, it may be this one, which is not stored then."""
    for each in (each for part in body for each in ast.walk(part)):
        match each:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Constant(value=bool() | int() | float())
            ) if name == item:
                return copied(each.value)
            case _:
                pass
    return None


def flagged(
    body: list[ast.stmt], items: Sequence[str]
) -> tuple[list[ast.stmt], tuple[str, ...], tuple[bool, ...]]:
    """The statements, which note in variables whether a place is stored into where turns may not do so.

    With them the variables for places, each with that behind it where there is one, and for which there is.
    """
    surely = frozenset[str]() if may_go_on(body) else definitely(body, frozenset(items))
    flags = {item: f"{item}stored__" for item in items if item not in surely}
    if not flags:
        return body, tuple(items), (False,) * len(items)
    noted = _Noted(flags)
    made = [cast(ast.stmt, each) for part in body for each in noted.noted(part)]
    begun = [_flag(flag, False, body[0]) for flag in flags.values()]
    variables = (name for item in items for name in (item, flags.get(item)) if name is not None)
    return [*begun, *made], tuple(variables), tuple(item in flags for item in items)


def _flag(name: str, value: bool, place: ast.stmt) -> ast.stmt:
    made = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))
    return ast.fix_missing_locations(ast.copy_location(made, place))


class _Noted(ast.NodeTransformer):
    """A flag is set behind each statement that gives a variable a value."""

    def __init__(self, flags: Mapping[str, str]) -> None:
        self.flags = flags

    def noted(self, node: ast.stmt) -> list[ast.AST]:
        made: ast.AST | list[ast.AST] = self.visit(node)
        return made if isinstance(made, list) else [made]

    def _behind(self, node: ast.stmt, target: ast.expr) -> ast.AST | list[ast.AST]:
        flag = self.flags.get(target.id) if isinstance(target, ast.Name) else None
        return node if flag is None else [node, _flag(flag, True, node)]

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.AST]:
        return self._behind(node, node.targets[0])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.AST]:
        return self._behind(node, node.target)


def _targets(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    """What is stored into."""
    walked = (each for part in body for each in ast.walk(part) if isinstance(each, ast.Subscript))
    return (each for each in walked if isinstance(each.ctx, ast.Store))


def _number(node: ast.For) -> tuple[str, bool]:
    """The variable that tells turns apart, and whether `enumerate` gives it."""
    match node.target, node.iter:
        case ast.Name(id=name), _:
            return name, False
        case ast.Tuple(elts=[ast.Name(id=name), _]), ast.Call(func=ast.Name(id="enumerate")):
            return name, True
        case _:
            raise NoPipeline("it stores into places, and its turns are not numbered")


_HEAVY = 8
"""Operations of a turn, beside which what a run of a loop costs, and storing, is little."""


def is_heavy(body: Sequence[ast.stmt]) -> bool:
    """Whether a turn takes Python so long that a loop over few turns, or one that fills lists, is worth it."""
    inside = [each for part in body for each in ast.walk(part)]
    if any(isinstance(each, (ast.For, ast.While, ast.GeneratorExp)) for each in inside):
        return True
    return (
        sum(isinstance(each, (ast.BinOp, ast.Compare, ast.Call, ast.Subscript)) for each in inside) >= _HEAVY
    )


def root_of(target: ast.expr) -> str:
    """The variable of which a place is, or is in a part: `a[i]`, `a[k][i]`, `a[k, i]`; "" if it is nothing of these."""
    match target:
        case ast.Subscript(slice=ast.Slice()):
            return ""
        case ast.Subscript(value=ast.Name(id=name)):
            return name
        case ast.Subscript(value=ast.Subscript(value=ast.Name(id=name), slice=key)):
            return "" if isinstance(key, (ast.Slice, ast.Tuple)) else name
        case _:
            return ""


# Places


@dataclass(frozen=True)
class _Place:
    """A sequence, the place in it, what is added to the number of a turn for that, and the variable in its place."""

    text: str
    root: str
    given: ast.expr
    place: ast.Subscript
    shift: int
    item: str


class _Standing(ast.NodeTransformer):
    """Variables in place of what turns store into, outside of functions and comprehensions inside."""

    def __init__(self, number: str, names: Collection[str], changing: Collection[str]) -> None:
        self.number, self.names, self.changing = number, names, changing
        self.found: dict[str, _Place] = {}
        self.kept = frozenset[str]()
        """The sequences that are stored into; places of others stay as they are."""
        self.parts: set[ast.Name] = set()
        """Where the variables of these stand."""

    def visit(self, node: ast.AST) -> ast.AST:
        return node if isinstance(node, SCOPES) else super().visit(node)

    def read(self, node: ast.expr) -> str:
        """The sequence that a place is of."""
        found = self._place(cast(ast.Subscript, node))
        if found is None:
            raise NoPipeline(f"`{root_of(node)}` is stored into at other places than one for each turn")
        return ast.unparse(found[0])

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        root: ast.expr = node
        while isinstance(root, ast.Subscript):
            root = root.value
        if not isinstance(root, ast.Name) or root.id not in self.names:
            return self.generic_visit(node)
        found = self._place(node) if root_of(node) else None
        if found is None:
            return node
        given, shift = found
        text = ast.unparse(given)
        known = self.found.get(text)
        if known is None:
            item = f"__hastega_item_{len(self.found)}__"
            known = self.found[text] = _Place(text, root.id, given, node, shift, item)
        if text not in self.kept:
            self.parts.add(root)
            return node
        if known.shift != shift:
            return node  # another turn's place
        return ast.copy_location(ast.Name(known.item, node.ctx), node)

    def _place(self, node: ast.Subscript) -> tuple[ast.expr, int] | None:
        """The sequence, and what is added to the number; None where it is not one for all turns, or another place."""
        whole = node.value
        match node.slice:
            case ast.Tuple(elts=[first, second]) if isinstance(whole, ast.Name):
                key, row = (second, True) if self._stays(first) else (first, False)
                if not self._stays(first if row else second):
                    return None
                all_ = ast.Slice()
                both: list[ast.expr] = [first, all_] if row else [all_, second]
                whole = ast.Subscript(whole, ast.Tuple(both, ast.Load()), ast.Load())
            case key:
                if isinstance(whole, ast.Subscript) and not self._stays(whole.slice):
                    return None
        shift = shift_of(key, self.number)
        made = ast.fix_missing_locations(ast.copy_location(copied(whole), node))
        return None if shift is None else (made, shift)

    def _stays(self, key: ast.expr) -> bool:
        """Whether it is the same in all turns, and nobody can tell how often it is asked for."""
        match key:
            case ast.Constant(value=int()):
                return True
            case ast.Name(id=name):
                return name not in self.changing
            case ast.BinOp(left, ast.Add() | ast.Sub(), right):
                return self._stays(left) and self._stays(right)
            case ast.UnaryOp(ast.USub(), operand):
                return self._stays(operand)
            case _:
                return False


def shift_of(key: ast.expr, number: str) -> int | None:
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


# Order


def rereads(body: Sequence[ast.stmt], items: Collection[str]) -> bool:
    """Whether one of the variables may be read behind where one is given a value."""
    return _rereads(body, items, False)[0]


def _rereads(body: Sequence[ast.stmt], items: Collection[str], before: bool) -> tuple[bool, bool]:
    """The same, and whether one is given a value; `before`: whether one has been before."""
    again = False
    for each in body:
        match each:
            case ast.If(test=test, body=first, orelse=second):
                ends = [_rereads(block, items, before) for block in (first, second)]
                again = again or (before and _reads(test, items)) or any(one for one, _ in ends)
                before = any(known for _, known in ends)
                continue
            case ast.For() | ast.While():  # whose turns come behind each other
                before = before or _gives(each, items)
                again = again or (before and _reads(each, items))
            case _:
                again = again or (before and _reads(each, items))
                before = before or _gives(each, items)
    return again, before


def _named(node: ast.AST, items: Collection[str]) -> Iterator[ast.Name]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in items)


def _gives(node: ast.AST, items: Collection[str]) -> bool:
    return any(isinstance(each.ctx, ast.Store) for each in _named(node, items))


def _reads(node: ast.AST, items: Collection[str]) -> bool:
    adds = (each.target for each in ast.walk(node) if isinstance(each, ast.AugAssign))
    read = any(isinstance(each.ctx, ast.Load) for each in _named(node, items))
    return read or any(True for each in adds for _ in _named(each, items))


__all__ = [
    "Stored",
    "Stores",
    "begun_with",
    "flagged",
    "is_heavy",
    "rereads",
    "root_of",
    "shift_of",
    "stored_by",
]
