"""Python's parser, where several threads ask for it at once, copies of trees, and changes of them.

CPython 3.11 counts how deep it is in a tree for all threads together
(https://github.com/python/cpython/issues/106905): where a finaliser gives way to another thread that parses,
both trees are fine and one of the two calls raises SystemError.
"""

import ast
import threading
from typing import TypeVar, cast

from hastega_magic.forking import free_when_forking

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
SCOPES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
"""Expressions with variables of their own."""

# A finaliser may parse, also in the midst of a parse of its own thread.
_turn = free_when_forking(threading.RLock())
_TRIES = 50

N = TypeVar("N", bound=ast.AST)
T = TypeVar("T")
_WORDS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


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
    """The tree once more, to be changed; of any depth, where `copy.deepcopy` ends at some two hundred.

    What is but a word (`ast.Load`, `ast.Add`) is shared, as it is among all trees that Python parses: IPython's
    tracebacks hang whole files on it (`executing` notes the parent of each node there), which `deepcopy` would copy.
    """
    made = _once_more(tree)
    todo: list[ast.AST] = [made]
    while todo:
        node = todo.pop()
        own = node.__dict__
        for name in node._fields:
            value = own.get(name)
            if isinstance(value, list):
                parts = own[name] = [_once_more(each) for each in cast("list[object]", value)]
                todo += (each for each in parts if isinstance(each, ast.AST))
            elif isinstance(value, ast.AST):
                own[name] = again = _once_more(value)
                todo.append(again)
    return made


def _once_more(node: T) -> T:
    """A copy of a node over the same parts; `copy.copy` takes several times as long."""
    if not isinstance(node, ast.AST) or isinstance(node, _WORDS):
        return node
    kind = type(node)
    made = kind.__new__(kind)
    made.__dict__.update(node.__dict__)
    return made


_PARTLESS = (ast.Name, ast.Constant, *_WORDS)


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
