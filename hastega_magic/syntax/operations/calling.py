"""Calls and attributes inside functions, as they are written: what is called, and what with."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, cast

from hastega_magic.errors import NotCompilable
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.expr import Expr, const
from hastega_magic.syntax.closures import attributes
from hastega_magic.syntax.closures.captured_objects import attribute_at
from hastega_magic.syntax.operations import applying, complex_numbers, lists, mappings, texts
from hastega_magic.syntax.operations.array_methods import method_of_part
from hastega_magic.syntax.operations.calls import call, check
from hastega_magic.syntax.operations.generators import consumed, uses_up
from hastega_magic.syntax.operations.number_functions import METHODS
from hastega_magic.syntax.operations.stretches import cut, is_cut
from hastega_magic.syntax.values.dimensions import ATTRIBUTES, attribute_of_array, whole
from hastega_magic.syntax.values.graph import NUMPY_NUMBER
from hastega_magic.syntax.values.values import Known, Nested, Record, Symbolic, known, known_item, number
from hastega_magic.types import Complex

if TYPE_CHECKING:
    from hastega_magic.syntax.functions.expressions import Frame


def attribute_of(frame: Frame, value: Symbolic, attribute: str, node: ast.expr) -> Symbolic:
    """What `value.attribute` is."""
    if isinstance(value, Known) and isinstance(value.value, ModuleType):
        name, module = f"{value.name}.{attribute}", value.value
        held = attributes.of_module(module, attribute)
        if held is attributes.ABSENT:  # another value, perhaps, each time that it is asked for
            raise NotCompilable(
                f"`{name}` is nothing that the module holds: it does not exist, or is computed"
            )
        return frame.graph.captured(("global", id(module.__dict__), attribute), held, name)
    if attribute in ("real", "imag") and isinstance(value, (Expr, Complex)):
        return complex_numbers.attribute(frame.graph, value, attribute)
    if attribute in ATTRIBUTES and isinstance(value, Known):
        found = attribute_of_array(frame.graph, value, attribute)
        if found is not None:
            return found
    found = _plain(frame, value, attribute)
    if found is not None:
        return found
    text = frame.syntax.places.segment(node)
    raise NotCompilable(
        f"the attribute `{text}` is read: of modules, arrays, and objects that hold numbers they are compiled"
    )


def _plain(frame: Frame, value: Symbolic, name: str) -> Symbolic | None:
    """An attribute of a captured object, or of a named tuple; None where it is none that can be known."""
    if not isinstance(value, Known):
        return None
    if isinstance(value.value, Record):
        return applying.field(value.value, name)
    found = attributes.plain(value.value, name)
    if found is attributes.ABSENT or type(found) is attributes.Method:
        return None
    if value.where is not None:
        return frame.graph.captured(attribute_at(value.where, name), found, f"{value.name}.{name}")
    frame.graph.ufuncs = frame.graph.ufuncs or issubclass(type(found), NUMPY_NUMBER)
    return (known_item if isinstance(value.value, tuple) else known)(found, f"{value.name}.{name}")


def called(frame: Frame, node: ast.Call) -> Symbolic:
    """What a call gives."""
    if isinstance(node.func, ast.Attribute):
        if (found := method_of_part(frame, node)) is not None:
            return found
        owner = frame.evaluate(node.func.value)
        if not (isinstance(owner, Known) and isinstance(owner.value, ModuleType)):
            return _method(frame, owner, node.func, node)
    function = frame.evaluate(node.func)
    if isinstance(function, Known) and function.value is functools.reduce:
        return applying.reduced(frame, node)
    if isinstance(function, Known) and function.value is builtins.ord and len(node.args) == 1:
        return _ord(node.args[0])
    is_len = isinstance(function, Known) and function.value is builtins.len and len(node.args) == 1
    if is_len and is_cut(frame, node.args[0]):
        return cut(frame, cast(ast.Subscript, node.args[0])).length(frame.graph)
    if isinstance(function, Known) and (read := _read_text(function, node)) is not None:
        return read
    if isinstance(function, Known) and (found := consumed(frame, function.value, node)) is not None:
        return found
    check(function)
    before = frame.graph.lists
    args, kwargs = _arguments(frame, function, node)
    if is_len and isinstance(node.args[0], ast.Name) and frame.graph.lists > before and whole(args[0]):
        # How many rows there are has to be the same anyway.
        frame.graph.read_by_item(cast(Known, args[0]).value)
    return call(frame.graph, function, args, kwargs)


def _ord(node: ast.expr) -> Symbolic:
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)) and len(node.value) == 1:
        return const(ord(node.value))
    raise NotCompilable("`ord` of something that is no literal is not compiled")


def _read_text(function: Known, node: ast.Call) -> Symbolic | None:
    """The number that a literal text is read as, as in `float("inf")`; None where none is read."""
    read = cast(Any, function.value)
    values = [each.value for each in node.args if isinstance(each, ast.Constant)]
    if not any(read is each for each in (float, int, complex)) or node.keywords:
        return None
    if not values or len(values) < len(node.args) or not isinstance(values[0], str):
        return None
    try:
        return known(read(*values), function.name)
    except (ValueError, TypeError) as error:
        reraise_signal(error)
        raise NotCompilable(f"`{function.name}` of this text raises: {error}") from None


def _arguments(
    frame: Frame, function: Symbolic, node: ast.Call
) -> tuple[Sequence[Symbolic], dict[str, Symbolic]]:
    keyed = any(keyword.arg == "key" for keyword in node.keywords)
    read = isinstance(function, Known) and isinstance(
        function.value, (FunctionType, Nested, functools.partial)
    )
    if read and any(map(texts.is_written, node.args)) and not any(map(_is_starred, node.args)):
        args = tuple(texts.argument(frame, arg) for arg in node.args)
    else:
        args = lists.spliced(
            frame, [_as_tuple(function, arg, keyed, len(node.args) == 1) for arg in node.args]
        )
    if any(keyword.arg is None for keyword in node.keywords):
        raise NotCompilable("`**` in a call is not compiled yet")
    evaluate = texts.argument if read else _evaluate
    kwargs = {keyword.arg or "": evaluate(frame, keyword.value) for keyword in node.keywords}
    for value in (*args, *kwargs.values()):
        frame.graph.keep(value)
    return args, kwargs


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def _evaluate(frame: Frame, node: ast.expr) -> Symbolic:
    return frame.evaluate(node)


def _method(frame: Frame, owner: Symbolic, callee: ast.Attribute, node: ast.Call) -> Symbolic:
    """What calling a method gives."""
    graph, plain = frame.graph, not node.args and not node.keywords
    if isinstance(owner, (Expr, Complex)) and callee.attr == "conjugate" and plain:
        return complex_numbers.conjugate(graph, owner)
    method = METHODS.get(callee.attr) if isinstance(owner, Expr) else None
    if method is not None and plain:
        graph.only_python(f"`{callee.attr}`")
        graph.keep(owner)
        return method(graph, number(owner))
    if (
        callee.attr in mappings.METHODS
        and not node.keywords
        and (items := mappings.mapping(owner)) is not None
    ):
        args, _ = _arguments(frame, owner, node)
        return mappings.method(graph, items, callee.attr, args)
    held = lists.listed(owner)
    if held is not None and lists.is_method(held, callee.attr, len(node.args)) and not node.keywords:
        args, _ = _arguments(frame, owner, node)
        return lists.method(graph, held, callee.attr, args)
    if (
        isinstance(owner, Known)
        and (found := attributes.plain(owner.value, callee.attr)) is not attributes.ABSENT
    ):
        is_method = isinstance(found, attributes.Method)
        function = known(found.function if is_method else found, f"{owner.name}.{callee.attr}")
        check(function)
        args, kwargs = _arguments(frame, function, node)
        return call(graph, function, [owner, *args] if is_method else args, kwargs)
    name = frame.syntax.places.segment(callee)
    raise NotCompilable(f"the method `{name}` is called: observation prevents optimisation")


def _as_tuple(function: Symbolic, node: ast.expr, keyed: bool, alone: bool) -> ast.expr:
    """A list that is written out where it is used up at once is as good as a tuple, a generator as a list."""
    takers = (list, tuple, sorted, *((min, max) if keyed else ()))
    if isinstance(function, Known) and any(function.value is each for each in takers):
        if isinstance(node, ast.GeneratorExp):
            return ast.copy_location(ast.ListComp(node.elt, node.generators), node)
        if isinstance(node, ast.Call) and alone:
            return ast.copy_location(ast.Tuple([ast.Starred(node, ast.Load())], ast.Load()), node)
    if not isinstance(node, ast.List) or not isinstance(function, Known):
        return node
    if uses_up(function.value) or function.value is sorted:
        return ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)
    return node
