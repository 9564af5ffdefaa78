"""`@hastega`: a function whose pipelines are compiled, written with `|>` or as ordinary code.

The function's text is read, its pipelines are replaced by calls, and its code is compiled again, over the same globals
and the same closure. The result is a function as any other: a method, a generator, a coroutine, if it was one.
"""

from __future__ import annotations

import ast
import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any, TypeVar, cast, overload

from hastega_magic.compiler.backends import require
from hastega_magic.compiler.fastpath.calls import BEGIN, HOOKS, ORDINARY, Calls, Hooks
from hastega_magic.compiler.fastpath.ordinary import OrdinaryCode
from hastega_magic.compiler.fastpath.ordinary_code import options_for, ordinary_code
from hastega_magic.compiler.fastpath.repeated import Repeated
from hastega_magic.compiler.options import Options, options_of
from hastega_magic.errors import CellSyntaxError, NotCompilable, UsageError
from hastega_magic.frames import leaving
from hastega_magic.report import Report
from hastega_magic.syntax.cell import FUTURES
from hastega_magic.syntax.closures.bytecode import codes
from hastega_magic.syntax.ordinary.naming import as_written
from hastega_magic.syntax.ordinary.variables import note_variables
from hastega_magic.syntax.reading.functions import definition_of, described
from hastega_magic.syntax.reading.names import shadowed
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.reading.trees import Function
from hastega_magic.syntax.rewriter import Rewriter
from hastega_magic.syntax.site import Site, new_site_id

_CALLS = "__hastega_calls__"
"""A constant of the changed text, for which its code has the `Hooks`: a name for them would stand in `locals()`."""

F = TypeVar("F", bound=Callable[..., Any])


@overload
def hastega(function: F, /, **options: Any) -> F: ...
@overload
def hastega(**options: Any) -> Callable[[F], F]: ...
def hastega(function: Any = None, /, **options: Any) -> Any:
    """Compile the pipelines in a function: `hastega_magic.hastega` says how."""
    chosen = options_of("hastega()", options, baseline=False, quiet=True)
    if function is None:
        return functools.partial(_decorated, options=chosen)
    if not options and _as_written(function) is not function:
        return function  # so that `hastega(f).explain()` is of its calls
    return _decorated(function, chosen)


@leaving
def _decorated(function: Any, options: Options) -> Any:
    require(options)
    if isinstance(function, (staticmethod, classmethod)):
        inner: Any = cast("staticmethod[..., Any]", function).__func__
        return type(cast(Any, function))(_decorated(inner, options))
    function = _as_written(function)
    if not isinstance(function, FunctionType):
        below = ": put it below the decorator that made that" if hasattr(function, "__wrapped__") else ""
        raise TypeError(f"hastega() takes a function written in Python, not {described(function)}{below}")
    calls: Calls
    try:
        made, calls = _compiled_again(function, options)
    except (NotCompilable, CellSyntaxError, RecursionError) as error:
        made, calls = (
            _copied(function, function.__code__, function.__closure__),
            Calls("", options, _why(error)),
        )
    if options.int_mode != "exact" and all(
        isinstance(each, OrdinaryCode) for each in calls.pipelines.values()
    ):
        raise UsageError(
            f'hastega(int_mode="{options.int_mode}"): {ORDINARY}, and the function has no pipeline written with `|>`; '
            f'the explicit form has the option: pipe(xs, int_mode="{options.int_mode}")'
        )
    cast(Any, made).explain = _explaining(calls, made.__qualname__)
    vars(made)[_MADE] = made.__code__, function
    return made


def _explaining(calls: Calls, name: str) -> Callable[[], Report]:
    """The function `explain` of what was decorated: Python names it so where it is called with too much."""

    def explain() -> Report:
        """The report of the last call."""
        return calls.report()

    explain.__qualname__ = f"{name}.explain"
    return explain


_MADE = "__hastega_made__"
"""An attribute of compiled functions: their code, and the function as it was. Wrappers that copy it have other code."""


def _as_written(function: Any) -> Any:
    """The function that was decorated before, with any options."""
    code, written = getattr(function, "__dict__", {}).get(_MADE, (None, None))
    return written if code is not None and getattr(function, "__code__", None) is code else function


def _why(error: Exception) -> str:
    return f"The function runs as it is: {str(error) or 'its text nests too deeply'}."


def _compiled_again(function: FunctionType, options: Options) -> tuple[FunctionType, Calls]:
    """The function with its pipelines replaced by calls, and what these calls do."""
    code = function.__code__
    definition = definition_of(function)
    node, places = definition.node, definition.places
    rewriter = Rewriter(places, code.co_filename, shadowed(function.__globals__))
    span = places.span(node)
    if isinstance(node, ast.Lambda):
        node.body = cast(ast.expr, rewriter.visit(node.body))
    else:
        note_variables(node)
        node.body = [cast(ast.stmt, rewriter.visit(statement)) for statement in node.body]
    if not rewriter.sites and not rewriter.ordinary and not rewriter.refused:
        raise NotCompilable("it holds no pipeline, and no comprehension or loop that could be one")
    calls = Calls(_text_of(places, span.line, span.end_line), options)
    calls.refused = tuple(
        (Site(new_site_id(), places.cut(each), each, "", (), None, ast.Constant(None)), reason)
        for each, reason in rewriter.refused.items()
    )
    for number, site in rewriter.sites.items():
        calls.pipelines[number] = Repeated(site, options, code.co_filename)
    for number, each in rewriter.ordinary.items():
        calls.pipelines[number] = ordinary_code(each, options_for(options), code.co_filename, places)
    calls.pipelines = dict(sorted(calls.pipelines.items(), key=lambda pair: pair[1].site.span))
    if not isinstance(node, ast.Lambda):
        _begin(node)
    new = _code_of(cast(Function, _Hooked().visit(node)), function, definition.imports)
    new = as_written(_completed(new, Hooks(calls), new.co_qualname, code.co_qualname))
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    return _copied(function, new, tuple(cells[name] for name in new.co_freevars)), calls


class _Hooked(ast.NodeTransformer):
    """Methods of the constant that stands for the `Hooks`, in place of names."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        method = HOOKS.get(node.id)
        if method is None:
            return node
        made = ast.copy_location(ast.Attribute(ast.Constant(_CALLS), method, ast.Load()), node)
        # A call of a method is said to stand where the method's name ends.
        made.end_lineno, made.end_col_offset = made.lineno, made.col_offset
        return made


def _begin(node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Let the function say that it is called."""
    begin = ast.Expr(ast.Call(ast.Name(BEGIN, ast.Load()), [], []))
    ast.fix_missing_locations(ast.copy_location(begin, node.body[0]))
    first = 1 if ast.get_docstring(node, clean=False) is not None else 0
    node.body = [*node.body[:first], begin, *node.body[first:]]


def _text_of(places: Text, first: int, last: int) -> str:
    """The function's lines, with as many empty ones before them as there are others in the text."""
    return "\n".join([*[""] * (first - 1), *places.lines[first - 1 : last]])


def _code_of(node: Function, function: FunctionType, imports: Sequence[str]) -> CodeType:
    """The code of the changed function, in the scopes that the function was written in."""
    old = function.__code__
    _leave_out(node)
    inner: ast.stmt = node if not isinstance(node, ast.Lambda) else ast.Expr(node)
    owner = _owner(function)
    if owner is not None:  # for `__class__`, and for names that begin with two underscores
        inner = ast.ClassDef(owner, [], [], [inner], [])
    free = [name for name in old.co_freevars if name != "__class__"]
    parameters = ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, [])
    # What stands in the factory is a local of it; for the function it is global, unless it has a cell of that name.
    named = owner or ("" if isinstance(node, ast.Lambda) else node.name)
    outside: list[ast.stmt] = [ast.Global([named])] if named and named not in free else []
    factory = ast.FunctionDef("__hastega_factory__", parameters, [*outside, inner], [])
    # They are not run: Python compiles calls of what belongs to imported names in a way of their own.
    imported: list[ast.stmt] = [ast.Import([ast.alias(name)]) for name in imports]
    module = ast.fix_missing_locations(ast.Module([*imported, ast.copy_location(factory, node)], []))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # which Python gave when it compiled the file
        compiled = compile(module, old.co_filename, "exec", old.co_flags & FUTURES, dont_inherit=True)
    for code in codes(compiled):
        at_its_place = code.co_name == old.co_name and code.co_firstlineno == old.co_firstlineno
        if at_its_place and code.co_flags & inspect.CO_OPTIMIZED:  # no body of a class
            return code
    raise NotCompilable("its code is not found again")


def _leave_out(node: Function) -> None:
    """Empty what ran when the function was made: it holds code of its own, perhaps of the same name and line."""
    arguments = node.args
    arguments.defaults = [_nothing(each) for each in arguments.defaults]
    arguments.kw_defaults = [None if each is None else _nothing(each) for each in arguments.kw_defaults]
    if not isinstance(node, ast.Lambda):  # by the first decorator's line the code is found again
        node.decorator_list = [_nothing(each) for each in node.decorator_list]


def _nothing(place: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(None), place)


def _completed(code: CodeType, hooks: Hooks, found: str, written: str) -> CodeType:
    """The code and all in it with the `Hooks`, and with qualified names that begin as they were written."""
    name = written + code.co_qualname.removeprefix(found)
    in_class = not code.co_flags & inspect.CO_OPTIMIZED  # whose body has its qualified name as a constant
    constants: list[object] = []
    for each in code.co_consts:
        if isinstance(each, CodeType):
            constants.append(_completed(each, hooks, found, written))
        elif isinstance(each, str) and each == _CALLS:
            constants.append(hooks)
        else:
            constants.append(
                name if in_class and isinstance(each, str) and each == code.co_qualname else each
            )
    return code.replace(co_qualname=name, co_consts=tuple(constants))


def _owner(function: FunctionType) -> str | None:
    """The class that a method was written in."""
    *outer, _ = function.__qualname__.split(".")
    return outer[-1] if outer and outer[-1] != "<locals>" else None


def _copied(function: FunctionType, code: CodeType, closure: tuple[CellType, ...] | None) -> FunctionType:
    """The function with other code."""
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure or None)
    made.__kwdefaults__ = function.__kwdefaults__
    return cast(FunctionType, functools.update_wrapper(made, function))


__all__ = ["Calls", "hastega"]
