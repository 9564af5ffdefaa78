"""What can be seen to have no compiled form: functions of elements in which something else than numbers stands."""

from __future__ import annotations

import ast

from hastega_magic.syntax.operations.number_functions import METHODS
from hastega_magic.syntax.ordinary.rewriting import NoPipeline

_NOT_NUMBERS = (
    ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Await, ast.Yield, ast.YieldFrom,
    ast.NamedExpr, ast.JoinedStr, ast.List, ast.Dict, ast.Set, ast.Starred,
)  # fmt: skip
_WHY: dict[type[ast.AST], str] = {
    ast.Lambda: "a function is made for each element", ast.NamedExpr: "`:=` assigns a variable for each element",
    ast.JoinedStr: "a string is made for each element", ast.Await: "it awaits", ast.Yield: "it yields",
    ast.YieldFrom: "it yields", ast.Starred: "`*` stands in it", ast.List: "a list is made for each element",
    ast.Dict: "a dict is made for each element", ast.Set: "a set is made for each element",
}  # fmt: skip
_OF_NUMBERS = frozenset({"real", "imag", "conjugate", *METHODS})
_READS_THE_FRAME = frozenset({"locals", "vars", "dir", "eval", "exec", "super", "globals"})


_TEXTS = frozenset({"str", "repr", "bin", "hex", "oct", "chr", "ascii", "format", "input"})
_OF_TEXTS = frozenset({
    "split", "rsplit", "splitlines", "join", "strip", "lstrip", "rstrip", "lower", "upper", "title", "swapcase",
    "casefold", "capitalize", "zfill", "ljust", "rjust", "center", "expandtabs", "partition", "rpartition",
})  # fmt: skip


def check_source(node: ast.expr) -> None:
    """NoPipeline where it can be seen that its elements are texts: to ask takes long where these are few letters."""
    if _gives_texts(node):
        raise NoPipeline("its elements are texts, and only numbers are compiled")


def _gives_texts(node: ast.expr) -> bool:
    match node:
        case ast.JoinedStr() | ast.Constant(value=str()):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _TEXTS
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _OF_TEXTS
        case ast.Subscript(value=value, slice=ast.Slice()):
            return _gives_texts(value)
        case _:
            return False


def check(body: ast.expr, names: frozenset[str]) -> None:
    """NoPipeline where it can be seen that no compiled form exists, so that nothing is tried at run time."""
    calls = [node for node in ast.walk(body) if isinstance(node, ast.Call)]
    consumed = {id(node.args[0]) for node in calls if node.args}
    given = {
        id(each) for node in calls for each in (*node.args, *(keyword.value for keyword in node.keywords))
    }
    for node in ast.walk(body):
        if isinstance(node, (ast.GeneratorExp, ast.ListComp)) and id(node) in consumed:
            continue  # which functions compile
        if isinstance(node, ast.Lambda) and id(node) in given:
            continue  # as `functools.reduce` and `max` do
        if isinstance(node, _NOT_NUMBERS):
            raise NoPipeline(_WHY.get(type(node), "a comprehension stands in it"))
        if isinstance(node, ast.Constant) and not isinstance(node.value, (bool, int, float, complex)):
            raise NoPipeline(f"{node.value!r} takes part, and only numbers are compiled")
        if isinstance(node, ast.Name) and node.id in _READS_THE_FRAME:
            raise NoPipeline(f"`{node.id}` may look at the variables around it")
        of_element = (
            isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names
        )
        if isinstance(node, ast.Attribute) and of_element and node.attr not in _OF_NUMBERS:
            raise NoPipeline(
                f"the attribute `{node.attr}` of an element is read, and only numbers are compiled"
            )
        if isinstance(node, ast.BinOp) and getattr(node.op, "pipe", False):
            raise NoPipeline("a pipeline stands in it")


__all__ = ["check", "check_source"]
