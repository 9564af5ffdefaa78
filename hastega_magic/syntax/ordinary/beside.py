"""Ordinary code as it stands beside the call that may run it as a pipeline: Python runs it there over few elements.

    [f(x) for x in xs]         TRY(7, ...) if WORTH[7](xs) else [f(x) for x in xs]

A call takes longer than few elements do, and what Python runs inside one counts for the limit of a recursion.

Names and constants may be evaluated twice, where they are all that is. Else what the code calls and goes through is
evaluated once, laid down, and taken in the same order by the one or the other, before anything else happens:

    [f(x) for x in g()]        TRY(7, (), (f,), (TAKEN(),), ...) if LAID[7](g()) else [f(x) for x in TAKEN()]
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

from hastega_magic.syntax.ordinary.parts import CALLEES, FUNCTIONS, OPERANDS
from hastega_magic.syntax.ordinary.rewriting import placed
from hastega_magic.syntax.ordinary.trailing import is_constant
from hastega_magic.syntax.reading.trees import copied
from hastega_magic.syntax.site import LAID, TAKEN, WORTH

MOST_LAID = 16
"""No more values are laid down at once: of a thread's, so many are kept that those of code that is interrupted stay."""

_PARTS = frozenset({CALLEES, FUNCTIONS, OPERANDS})
_Place = tuple[str, int]


def beside(
    made: ast.Call, code: ast.expr, own: Sequence[ast.expr], sources: Sequence[int], in_class: bool = False
) -> tuple[ast.expr, tuple[int, ...]]:
    """The call, made of its parts and the code over them, with the code beside it; alone where that would be noticed.

    `own`: the functions among the parts that are the user's; `sources`: the operands that are gone through. With it
    their places among the values that are handed to WORTH or LAID. `in_class`: it stands in a class, whose namespace
    may be an object of the user's that tells how often it is asked.
    """
    number, callees, functions, operands, _ = made.args
    assert isinstance(callees, ast.Tuple)
    assert isinstance(functions, ast.Tuple)
    assert isinstance(operands, ast.Tuple)
    standing: dict[_Place, ast.expr] = {(FUNCTIONS, n): each for n, each in enumerate(functions.elts)}
    given: dict[_Place, ast.expr] = {(CALLEES, n): each for n, each in enumerate(callees.elts)}
    # Names of functions are asked for where Python does: the first that is not bound is the one it tells of.
    given |= {place: each for place, each in standing.items() if isinstance(each, ast.Name)}
    given |= {(OPERANDS, n): each for n, each in enumerate(operands.elts)}
    once = {place: each for place, each in given.items() if not is_constant(each)}
    again = not in_class and all(isinstance(each, ast.Name) for each in once.values())
    if not all(_is_quiet(each) or (again and isinstance(each, ast.Name)) for each in own):
        return made, ()
    if not again:
        if not may_be_laid(once, code):
            return made, ()
        laid = {place: taken(each) for place, each in once.items()}
        callees.elts = [laid[CALLEES, n] for n in range(len(callees.elts))]
        operands.elts = [laid.get((OPERANDS, n), each) for n, each in enumerate(operands.elts)]
        given |= laid
    test = looked_at(WORTH if again else LAID, copied(number), [copied(each) for each in once.values()])
    whole = ast.IfExp(test, made, standing_for(code, standing | given))
    return whole, tuple(n for n, place in enumerate(once) if place[0] == OPERANDS and place[1] in sources)


def looked_at(name: str, number: ast.expr, given: list[ast.expr]) -> ast.Call:
    """The call that tells whether it is worth trying. `name`: WORTH or LAID; `number`: of its site."""
    return ast.Call(ast.Subscript(ast.Name(name, ast.Load()), number, ast.Load()), given, [])


def _is_quiet(function: ast.expr) -> bool:
    """Whether it is made unnoticed, as often as one likes."""
    return isinstance(function, ast.Lambda) and not (function.args.defaults or any(function.args.kw_defaults))


def taken(place: ast.expr) -> ast.expr:
    """A call that takes what was laid down next."""
    return placed(ast.Call(ast.Name(TAKEN, ast.Load()), [], []), place)


def _part_of(node: ast.AST) -> _Place | None:
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(number))) if name in _PARTS:
            return name, number
        case _:
            return None


def may_be_laid(once: Collection[_Place], code: ast.expr) -> bool:
    """Whether Python evaluates these parts of the code first, in this order, and they are few enough."""
    order = [each for each in _in_order(code) if each is None or each in once]
    return order[: len(once)] == [*once] and len(once) <= MOST_LAID


def _in_order(node: ast.AST) -> Iterator[_Place | None]:
    """The parts in the order in which Python evaluates them; None for what may run code of the user's."""
    part = _part_of(node)
    if part is not None:
        yield part
        return
    match node:
        case ast.Call(func=callee, args=args, keywords=keywords):
            for each in (callee, *args, *(named.value for named in keywords)):
                yield from _in_order(each)
            yield None
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from _in_order(node.generators[0].iter)
            yield None
        case ast.Lambda():
            pass
        case _:
            yield None


def standing_for(code: ast.expr, standing: Mapping[_Place, ast.expr]) -> ast.expr:
    """The code over parts with what stands for each in place of it."""
    return cast(ast.expr, _Standing(standing).visit(copied(code)))


class _Standing(ast.NodeTransformer):
    """What stands for each part, in place of it."""

    def __init__(self, standing: Mapping[_Place, ast.expr]) -> None:
        self.standing = standing

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        part = _part_of(node)
        return self.generic_visit(node) if part is None else copied(self.standing[part])

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Code of another call has parts of its own."""
        return node if node.args.args and node.args.args[0].arg == CALLEES else self.generic_visit(node)


__all__ = ["MOST_LAID", "beside", "looked_at", "may_be_laid", "standing_for", "taken"]
