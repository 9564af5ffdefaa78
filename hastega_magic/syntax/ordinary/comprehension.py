"""Comprehensions of one clause or several: what they iterate over, and their functions, as stages of a pipeline."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Sequence

from hastega_magic.syntax.ordinary.parts import FEW_PLACES, FEWEST_PLACES, Parts
from hastega_magic.syntax.ordinary.refused import check
from hastega_magic.syntax.ordinary.rewriting import (
    NoPipeline,
    Shape,
    call,
    function_of,
    names_of,
    target_shape,
)
from hastega_magic.syntax.reading.trees import Comprehension

SEEN = "hastega_seen"
"""An attribute of comprehensions that have been made a part of a pipeline: there is nothing more to be made of them."""

_MANY = 6
"""Operations that take Python as long as what it does for an element anyway."""


def comprehension(node: Comprehension, parts: Parts, reduced: bool = False) -> ast.expr:
    """The comprehension over its parts. `reduced`: one value is made of all elements."""
    element = _pair(node) if isinstance(node, ast.DictComp) else node.elt
    rows = len(node.generators) > 1 and _goes_row_by_row(node.generators, element)
    if len(node.generators) > 1 and not rows:
        return _nested(node, element, parts, reduced)
    generator = node.generators[-1]
    if generator.is_async:
        raise NoPipeline("it awaits its elements")
    shape = target_shape(generator.target)
    names = names_of(shape)
    for body in (*generator.ifs, element):
        check(body, frozenset(names))
    plain = _same(element, generator.target)
    if plain and not generator.ifs and not reduced:
        raise NoPipeline("it hands its elements on as they are, in which Python is as fast")
    _check_constant(element, generator.ifs, reduced)
    parts.depth, parts.apart = len(node.generators) - 1, _takes_apart(shape, generator, element)
    outer = node.generators[0]
    first = source_of(outer.iter, target_shape(outer.target) if rows else shape, parts)
    for condition in generator.ifs:
        number, _ = parts.function(function_of(shape, condition), made=True)
        parts.step("filter", condition, ("function", number))
    if not plain:
        number, _ = parts.function(function_of(shape, element), made=True)
        parts.step("map", element, ("function", number))
    made = copy.copy(node)
    setattr(made, SEEN, True)
    outermost, *inner = node.generators
    made.generators = [ast.comprehension(outermost.target, first, outermost.ifs, 0), *inner]
    return made


def _takes_apart(shape: Shape, clause: ast.comprehension, element: ast.expr) -> bool:
    """Whether nothing is done with an element but that it is taken apart, by its target or by constant places."""
    if is_iterator(clause.iter):
        return False
    return not isinstance(shape, str) or all(_reads_places(body, shape) for body in (*clause.ifs, element))


def _reads_places(node: ast.AST, name: str) -> bool:
    """Whether the name stands in `name[0]`, `name[-1]` and their like alone."""
    match node:
        case ast.Subscript(value=ast.Name(id=found), slice=ast.Constant(value=int()), ctx=ast.Load()):
            return True
        case ast.Subscript(
            value=ast.Name(id=found), slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant())
        ):
            return True
        case ast.Name(id=found):
            return found != name
        case _:
            return all(_reads_places(each, name) for each in ast.iter_child_nodes(node))


def _goes_row_by_row(clauses: Sequence[ast.comprehension], element: ast.expr) -> bool:
    """Whether it goes through the numbers of rows, one row after the other: `for row in rows for x in row`."""
    *outer, last = clauses
    rows = _side_by_side(clauses)
    if not rows:
        for each, behind in itertools.pairwise(clauses):
            match each.target, behind.iter:
                case ast.Name(id=name), ast.Name(id=gone_through) if name == gone_through and not each.ifs:
                    rows.append(name)
                case _:
                    return False
        if is_iterator(outer[0].iter):
            return False
    others = [*names_of(target_shape(last.target)), *rows]
    if any(each.is_async for each in outer) or len(set(others)) < len(others) or "zip" in others:
        return False
    read = (each for body in (*last.ifs, element) for each in ast.walk(body))
    return not any(isinstance(each, ast.Name) and each.id in rows for each in read)


def _side_by_side(clauses: Sequence[ast.comprehension]) -> list[str]:
    """The rows of `for p, q in zip(a, b) for x, y in zip(p, q)`; none where it is otherwise."""
    match clauses:
        case [
            ast.comprehension(
                target=ast.Tuple(elts=rows),
                iter=ast.Call(func=ast.Name(id="zip"), args=outer, keywords=[]),
                ifs=[],
            ),
            ast.comprehension(
                target=ast.Tuple(elts=items), iter=ast.Call(func=ast.Name(id="zip"), args=inner, keywords=[])
            ),
        ] if len(rows) == len(items) == len(outer) == len(inner) > 1:
            names = [each.id for each in rows if isinstance(each, ast.Name)]
            through = [each.id for each in inner if isinstance(each, ast.Name)]
            return names if len(names) == len(rows) and names == through else []
        case _:
            return []


def _is_pairwise(callee: ast.expr) -> bool:
    match callee:
        case ast.Name(id="pairwise") | ast.Attribute(value=ast.Name(id="itertools"), attr="pairwise"):
            return True
        case _:
            return False


def is_iterator(node: ast.expr) -> bool:
    """Whether it makes an iterator over other things."""
    match node:
        case ast.Call(func=ast.Name(id="zip" | "enumerate" | "reversed")):
            return True
        case ast.Call(func=callee) if _is_pairwise(callee):
            return True
        case _:
            return False


def _nested(node: Comprehension, element: ast.expr, parts: Parts, reduced: bool) -> ast.expr:
    """The same of several clauses."""
    bodies = [*(condition for each in node.generators for condition in each.ifs), element]
    names = frozenset(name for each in node.generators for name in names_of(target_shape(each.target)))
    for body in bodies:
        check(body, names)
    if len(bodies) == 1 and not reduced and isinstance(element, ast.Name) and element.id in names:
        raise NoPipeline("it hands its elements on as they are, in which Python is as fast")
    _check_constant(element, bodies[:-1], reduced)
    from hastega_magic.syntax.ordinary.nest import nested

    parts.few_places = few_places(bodies)
    generators, shape = nested(node.generators, parts)
    number, _ = parts.function(function_of(tuple(shape), element), made=True)
    parts.step("map", element, ("function", number))
    made = copy.copy(node)
    setattr(made, SEEN, True)
    made.generators = generators
    return made


def _check_constant(element: ast.expr, conditions: Sequence[ast.expr], reduced: bool) -> None:
    if isinstance(element, ast.Constant) and not conditions and not reduced:
        raise NoPipeline("its elements are one constant, in which Python is as fast")


def few_places(bodies: Sequence[ast.AST]) -> int:
    """How few places are not worth a loop, by what is done with an element."""
    inside = [each for body in bodies for each in ast.walk(body)]
    if any(isinstance(each, (ast.GeneratorExp, ast.ListComp)) for each in inside):
        return FEWEST_PLACES
    operations = sum(isinstance(each, (ast.BinOp, ast.Compare, ast.Call, ast.Subscript)) for each in inside)
    return max(FEWEST_PLACES, FEW_PLACES // (1 + operations // _MANY))


def _pair(node: ast.DictComp) -> ast.expr:
    """Key and value, which Python evaluates in this order."""
    if getattr(node, "value", None) is None:  # `{**each for each in xs}`, since Python 3.15
        raise NoPipeline("it unpacks its elements")
    pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node.key)
    pair.end_lineno, pair.end_col_offset = node.value.end_lineno, node.value.end_col_offset
    return pair


def _same(element: ast.expr, target: ast.expr) -> bool:
    """Whether the comprehension gives its elements as they are."""
    return isinstance(element, ast.Name) and isinstance(target, ast.Name) and element.id == target.id


def source_of(node: ast.expr, shape: Shape, parts: Parts) -> ast.expr:
    """What is iterated over: `zip` and `enumerate` are stages, everything else is Python's to evaluate."""
    match node:
        case ast.Call(func=ast.Name(id="zip"), args=[*args], keywords=keywords) if len(args) > 1:
            parts.strict = _is_strict(keywords)
            if any(isinstance(arg, ast.Starred) for arg in args) or not _takes(shape, len(args)):
                raise NoPipeline
            if isinstance(shape, tuple) and any(isinstance(part, tuple) for part in shape):
                raise NoPipeline
            code = parts.callee(node.func, zip)
            return call(code, side_by_side(args, node, parts), node, keywords)
        case ast.Call(func=ast.Name(id="enumerate"), args=[elements, *start], keywords=[]) if len(start) < 2:
            if isinstance(elements, ast.Starred) or not _takes(shape, 2):
                raise NoPipeline
            inside = shape[1] if isinstance(shape, tuple) else "_"
            code = parts.callee(node.func, enumerate)
            before = len(parts.callees)
            inner = source_of(elements, inside, parts)
            made = len(parts.callees) > before  # an iterator
            given, arguments = [inner], list[tuple[str, int]]()
            if start:
                number, begin = parts.behind(start[0]) if made else parts.operand(start[0], source=False)
                given.append(begin)
                arguments.append(("operand", number))
            parts.step("enumerate", node.func, *arguments, text="")
            return call(code, given, node)
        case ast.Call(func=callee, args=[elements], keywords=[]) if _is_pairwise(callee):
            if isinstance(elements, ast.Starred) or isinstance(shape, str) or not _takes(shape, 2):
                raise NoPipeline("neighbours are taken apart otherwise than by two names")
            code = parts.callee(callee, itertools.pairwise)
            inner = parts.operand(elements)[1]
            number, _ = parts.operand(ast.copy_location(ast.Constant(2), node), source=False)
            parts.step("window", callee, ("operand", number), text="")
            parts.windows = True
            return call(code, [inner], node)
        case ast.Call(func=ast.Name(id="reversed"), args=[elements], keywords=[]) if isinstance(shape, str):
            if isinstance(elements, ast.Starred):
                raise NoPipeline
            code = parts.callee(node.func, reversed)
            number, inner = parts.operand(elements)
            parts.backwards.add(number)
            return call(code, [inner], node)
        case _:
            if isinstance(shape, tuple) and (
                len(shape) < 2 or any(isinstance(part, tuple) for part in shape)
            ):
                raise NoPipeline("its elements are taken apart otherwise than tuples of numbers can be")
            return parts.operand(node)[1]


def _is_strict(keywords: Sequence[ast.keyword]) -> bool:
    """Whether a `zip` is; NoPipeline where that is found out as it runs."""
    match keywords:
        case []:
            return False
        case [ast.keyword(arg="strict", value=ast.Constant(value=bool() as strict))]:
            return strict
        case _:
            raise NoPipeline("`strict` of its `zip` is no constant")


def _takes(shape: Shape, width: int) -> bool:
    return isinstance(shape, str) or len(shape) == width


def side_by_side(elements: Sequence[ast.expr], node: ast.expr, parts: Parts) -> list[ast.expr]:
    """Sources, zipped if there are several."""
    numbers: list[int] = []
    inner: list[ast.expr] = []
    for element in elements:
        number, code = parts.operand(element)
        numbers.append(number)
        inner.append(code)
    if len(numbers) > 1:
        text = ", ".join(parts.text.segment(element) for element in elements[1:])
        parts.step("zip", node, *(("operand", number) for number in numbers[1:]), text=text)
    return inner


__all__ = ["SEEN", "comprehension", "is_iterator", "side_by_side", "source_of"]
