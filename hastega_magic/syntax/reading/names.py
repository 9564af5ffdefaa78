"""Which names a piece of code reads and binds, and what can be evaluated early without anybody noticing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import FunctionType
from typing import cast

from hastega_magic.syntax.reading.depth import with_deeper_stack
from hastega_magic.syntax.reading.pipe import is_pipe, spine
from hastega_magic.syntax.reading.trees import Comprehension, Function
from hastega_magic.syntax.stages import STAGES


@lru_cache(1024)  # a cell that runs again has the same nodes
def reads(node: ast.AST) -> frozenset[str]:
    """Free names that the code reads, at once or when a function in it is called.

    Parameters, comprehension variables and locals of functions are not free. Stage names in their place
    after `|>` are not names. Names that are assigned before they are read count: the set may be too large.
    """
    return with_deeper_stack(lambda: _names_free(node))


def binds(node: ast.AST) -> frozenset[str]:
    """Names that executing the code may bind, rebind or delete in the scope it stands in."""
    return with_deeper_stack(lambda: _bound_by([node]))


@lru_cache(1024)
def own_names(function: Function) -> frozenset[str]:
    """The variables of a function: its parameters, and what it assigns."""
    parameters = frozenset(parameters_of(function))
    if isinstance(function, ast.Lambda):
        return parameters | _bound_by([function.body])
    return parameters | (_bound_by(function.body) - _declared(function.body))


def parameters_of(function: Function) -> list[str]:
    """The names of all parameters."""
    args = function.args
    plain = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return [arg.arg for arg in [*plain, *filter(None, (args.vararg, args.kwarg))]]


def is_pure_source(expr: ast.expr) -> bool:
    """Whether evaluating the expression earlier cannot be observed, as long as its names keep their values.

    True for names, constants, displays of these, subscripts of names, and `range` over arithmetic on these.
    """
    match expr:
        case ast.Name() | ast.Constant():
            return True
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return all(is_pure_source(item) for item in items)
        case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]):
            return all(_is_pure_number(arg) for arg in args)
        case ast.Subscript(value=ast.Name(), slice=index):
            return _is_pure_number(index)
        case ast.UnaryOp(operand=ast.Constant()):
            return True
        case _:
            return False


def _is_pure_number(expr: ast.expr) -> bool:
    match expr:
        case ast.BinOp(left=left, right=right):
            return not is_pipe(expr) and _is_pure_number(left) and _is_pure_number(right)
        case ast.UnaryOp(operand=operand):
            return _is_pure_number(operand)
        case ast.Slice(lower=lower, upper=upper, step=step):
            return all(part is None or _is_pure_number(part) for part in (lower, upper, step))
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name()], keywords=[]):
            return True
        case _:
            return isinstance(expr, (ast.Name, ast.Constant))


def _names_free(node: ast.AST) -> frozenset[str]:
    found: set[str] = set()
    _free(node, frozenset(), found)
    return frozenset(found)


# Each adds to a set: for every node of a cell, generators within generators take three times as long.
def _free(node: ast.AST, local: frozenset[str], found: set[str]) -> None:
    match node:
        case ast.Name(id=name):
            if isinstance(node.ctx, ast.Load) and name not in local:
                found.add(name)
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            if name not in local:
                found.add(name)
            _free(value, local, found)
        case ast.Lambda(args=args, body=body):
            _defaults(args, local, found)
            _free(body, local | own_names(node), found)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _all_free([*node.decorator_list, *filter(None, [node.returns])], local, found)
            _defaults(node.args, local, found)
            _all_free(node.body, local | own_names(node), found)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            _free_in_comprehension(node, local, found)
        case ast.BinOp() if is_pipe(node):
            steps = spine(node)  # in a loop: a pipeline of many stages is as deep a tree
            _free(steps[0].left, local, found)
            for step in steps:
                _free_in_stage(step.right, local, found)
        case _:
            _all_free(_children(node), local, found)


def _all_free(nodes: Iterable[ast.AST], local: frozenset[str], found: set[str]) -> None:
    for node in nodes:
        _free(node, local, found)


def _children(node: ast.AST) -> list[ast.AST]:
    """`ast.iter_child_nodes`, but for what holds no names."""
    found: list[ast.AST] = []
    for name in node._fields:
        value: object = getattr(node, name, None)
        if isinstance(value, ast.AST):
            if not isinstance(value, _NAMELESS):
                found.append(value)
        elif isinstance(value, list):
            found += [each for each in cast("list[object]", value) if isinstance(each, ast.AST)]
    return found


_NAMELESS = (ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.boolop)


def _defaults(args: ast.arguments, local: frozenset[str], found: set[str]) -> None:
    if args.defaults or args.kw_defaults:
        _all_free([*args.defaults, *filter(None, args.kw_defaults)], local, found)


def _free_in_stage(stage: ast.expr, local: frozenset[str], found: set[str]) -> None:
    match stage:
        case ast.Name(id=name) if name in STAGES:
            return
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in STAGES:
            _all_free([*args, *keywords], local, found)
        case _:
            _free(stage, local, found)


def _free_in_comprehension(node: Comprehension, local: frozenset[str], found: set[str]) -> None:
    for i, generator in enumerate(node.generators):
        _free(generator.iter, local, found)
        local = local.union(_bound_by([generator.target]))
        _all_free(generator.ifs, local, found)
        if i == len(node.generators) - 1:
            made = [each for each in _children(node) if not isinstance(each, ast.comprehension)]
            _all_free(made, local, found)


def _bound(node: ast.AST, found: set[str]) -> None:
    match node:
        case ast.Name(id=name):
            if not isinstance(node.ctx, ast.Load):
                found.add(name)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            found.add(name)
            _all_bound(node.decorator_list, found)
        case ast.Lambda():
            return
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            # Only `:=` leaves a comprehension.
            found.update(n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
        case ast.alias(name=name, asname=asname):
            found.add(asname or name.partition(".")[0])
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            found.add(name)
            _all_bound(_children(node), found)
        case ast.MatchMapping(rest=str(name)):
            found.add(name)
            _all_bound(_children(node), found)
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            found.update(names)
        case ast.BinOp() if is_pipe(node):
            steps = spine(node)
            _all_bound([steps[0].left, *[step.right for step in steps]], found)
        case _:
            _all_bound(_children(node), found)


def _all_bound(nodes: Iterable[ast.AST], found: set[str]) -> None:
    for node in nodes:
        _bound(node, found)


def _bound_by(nodes: Iterable[ast.AST]) -> frozenset[str]:
    found: set[str] = set()
    _all_bound(nodes, found)
    return frozenset(found)


def _declared(body: Iterable[ast.AST]) -> frozenset[str]:
    """Names declared global or nonlocal in a function's body."""
    nodes = (node for statement in body for node in ast.walk(statement))
    found = (node.names for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)))
    return frozenset(name for names in found for name in names)


@lru_cache(256)
def owners_read(expression: ast.Expression) -> frozenset[str] | None:
    """Names whose attributes are read when the arguments of a pipeline's stages are evaluated.

    None where that may run other code of the user, or reads attributes of something else. Evaluating the arguments
    earlier cannot be observed if all these names are modules.
    """
    assert isinstance(expression.body, ast.Call)
    found: set[str] = set()
    pending: list[ast.AST] = [*expression.body.args[2:]]
    while pending:
        match pending.pop():
            case ast.Lambda(args=args):
                pending += [*args.defaults, *filter(None, args.kw_defaults)]
            case ast.Attribute(value=ast.Name(id=name)):
                found.add(name)
            case ast.Call() as call if is_pure_source(call) or _is_pure_number(call):
                pass
            case ast.Attribute() | ast.Call() | ast.NamedExpr() | ast.Await():
                return None
            case ast.Subscript() as part if not is_pure_source(part):
                return None
            case node:
                pending += ast.iter_child_nodes(node)
    return frozenset(found)


def shadowed(namespace: Mapping[str, object]) -> frozenset[str]:
    """Stage names that the user has defined functions of; `sum = 0` and imported ones leave a stage what it is."""
    return frozenset(name for name in STAGES.keys() & namespace.keys() if is_shadowed(namespace, name))


def is_shadowed(namespace: Mapping[str, object], name: str) -> bool:
    """Whether the user has defined a function of this name."""
    value = namespace.get(name)
    return isinstance(value, FunctionType) and value.__globals__ is namespace
