"""Python's parser, where several threads ask for it at once, copies of trees, and changes of them.

CPython 3.11 counts how deep it is in a tree for all threads together
(https://github.com/python/cpython/issues/106905): where a finaliser gives way to another thread that parses,
both trees are fine and one of the two calls raises SystemError.
"""

import ast
import threading
from copy import copy
from typing import TypeVar, cast

from hastega_magic.forking import free_when_forking

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

# A finaliser may parse, also in the midst of a parse of its own thread.
_turn = free_when_forking(threading.RLock())
_TRIES = 50

N = TypeVar("N", bound=ast.AST)


def parsed(python: str, filename: str = "<unknown>") -> ast.Module:
    """`ast.parse`, which raises what that does, but no SystemError because another thread parses too."""
    with _turn:
        for _ in range(_TRIES - 1):
            try:
                return ast.parse(python, filename)
            except SystemError:  # code that is not ours parsed meanwhile, and cannot be asked to wait
                continue
        return ast.parse(python, filename)


def copied(tree: N) -> N:
    """The tree once more, to be changed; of any depth, where `copy.deepcopy` ends at some two hundred."""
    made = copy(tree)
    todo: list[ast.AST] = [made]
    while todo:
        node = todo.pop()
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                todo.append(copy(value))
                setattr(node, name, todo[-1])
            elif isinstance(value, list):
                found = cast("list[object]", value)
                again = [copy(each) if isinstance(each, ast.AST) else each for each in found]
                todo += (each for each in again if isinstance(each, ast.AST))
                setattr(node, name, again)
    return made


_PARTLESS = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


class Transformer(ast.NodeTransformer):
    """A NodeTransformer that makes one node of each, and does not look at those without parts: most of a cell.

    It has no methods for these.
    """

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Go through the parts of a node."""
        for name in node._fields:
            part: object = getattr(node, name, None)
            if isinstance(part, list):
                parts = cast("list[object]", part)
                parts[:] = [
                    self.visit(each)
                    if isinstance(each, ast.AST) and not isinstance(each, _PARTLESS)
                    else each
                    for each in parts
                ]
            elif isinstance(part, ast.AST) and not isinstance(part, _PARTLESS):
                setattr(node, name, self.visit(part))
        return node
