"""From a Python function object back to its syntax tree, and how a stage calls a function."""

from __future__ import annotations

import ast
import dis
import inspect
import os
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from types import CodeType, FunctionType

import numpy as np

from hastega_magic.errors import CellSyntaxError, NotCompilable, Span
from hastega_magic.frames import reraise_signal
from hastega_magic.lru import LruCache
from hastega_magic.records import dataclass
from hastega_magic.syntax.reading.pipe import normalise, parse
from hastega_magic.syntax.reading.placeholder import expand
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.reading.texts import texts_of
from hastega_magic.syntax.reading.trees import Function, copied
from hastega_magic.syntax.site import is_ours


@dataclass(frozen=True, eq=False)
class FunctionSyntax:
    """A function as it was written: its tree, its text, and the whole text, `places`, that it stands in."""

    node: ast.Lambda | ast.FunctionDef
    filename: str
    text: str
    span: Span
    places: Text


@dataclass(frozen=True, eq=False)
class Definition:
    """A function's tree, to be changed by who asked for it, and the text that it stands in.

    `imports`: names that the text imports outside of functions and classes, which Python has other instructions for.
    """

    node: Function
    places: Text
    imports: tuple[str, ...]


_found: LruCache[int, tuple[CodeType, FunctionSyntax]] = LruCache(512)


def ast_of(function: object) -> FunctionSyntax:
    """The tree of a Python function; NotCompilable, with a sentence, if it has none that can be compiled."""
    name = name_of(function)
    if not isinstance(function, FunctionType):
        kind = "a method" if inspect.ismethod(function) else described(function)
        raise NotCompilable(f"`{name}` is {kind}, not a function written in Python")
    code = function.__code__
    known = _found.get(id(code))  # code objects compare equal across cells, so identity is the key
    if known is None:
        _check_kind(code, name)
        known = _found.put(id(code), (code, _search(code, name)))
    return known[1]


def adopt(code: CodeType, node: ast.Lambda | ast.FunctionDef, filename: str, places: Text) -> None:
    """Let code that was made of this tree be found, though no function is written at its place."""
    found = FunctionSyntax(node, filename, places.segment(node), places.span(node), places)
    _found.put(id(code), (code, found))


def definition_of(function: FunctionType) -> Definition:
    """How a function was written; NotCompilable where that is not found.

    Stages' placeholders are written out, and `|>` is marked, as in `syntax/reading/pipe.py`.
    """
    code, name = function.__code__, name_of(function)
    for text in _texts(code, name):
        try:
            read = _functions_in(text, whole=True)
        except CellSyntaxError:
            continue
        node = _innermost(read.functions.get(code.co_firstlineno, []), code)
        if node is not None and _is_of(code, read.places.text):
            return Definition(copied(node), read.places, read.imports or ())
    raise NotCompilable(f"the text of `{name}` has changed since it was defined")


def _imported(tree: ast.AST) -> tuple[str, ...]:
    """Names that a text imports outside of functions and classes."""
    names: dict[str, None] = {}
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            given = (each.asname or each.name.partition(".")[0] for each in node.names)
            names |= dict.fromkeys(name for name in given if name != "*")
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            todo += ast.iter_child_nodes(node)
    return tuple(names)


def _first_line(node: Function) -> int:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


_HEAP = 1 << 9
"""The flag of classes that are no part of the interpreter."""


def name_of(function: object) -> str:
    """What to call a function in a sentence."""
    kind = type(function)
    # Objects of the user's classes may do as they like when they are asked.
    asked = (vars(each) for each in kind.__mro__ if each.__flags__ & _HEAP)
    answers = any("__getattr__" in each or "__getattribute__" in each for each in asked)
    own = None if answers else getattr(function, "__name__", None)
    name = str(own or kind.__name__)
    return "lambda" if name == "<lambda>" else "for" if is_ours(name) else name


_CALLED = {"Neighbours": "sequence of numbers", "Rows": "list of rows"}
"""Classes that stand for something of the user's, and what that is."""


def described(value: object) -> str:
    """The type of a value with its article: "a list", "an ndarray"."""
    if value is None:
        return "None"
    name = type(value).__name__.removesuffix("_or_method").replace("_", " ").strip()
    name = _CALLED.get(name, name)
    return f"{'an' if name[0].lower() in 'aeio' else 'a'} {name}"


def spreads(function: object, width: int) -> bool:
    """Whether a stage over tuples of this width calls `function(*element)` rather than `function(element)`.

    It does where the function needs more than one argument and can take as many as the tuple has.
    """
    if isinstance(function, np.ufunc):
        return 1 < width == function.nin  # a tuple of one number is an array to NumPy
    if not callable(function):
        return False
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:  # some builtins do not say; min and max take both forms alike
        reraise_signal(error)
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [parameter for parameter in parameters if parameter.kind in kinds]
    required = sum(parameter.default is inspect.Parameter.empty for parameter in positional)
    return 1 < required <= width <= len(positional)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _check_kind(code: CodeType, name: str) -> None:
    flags = code.co_flags
    if flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise NotCompilable(f"`{name}` is asynchronous")
    if flags & inspect.CO_GENERATOR:
        raise NotCompilable(f"`{name}` is a generator")
    if flags & inspect.CO_VARKEYWORDS:
        raise NotCompilable(f"`{name}` takes any number of named arguments (**kwargs)")


def _search(code: CodeType, name: str) -> FunctionSyntax:
    for text in _texts(code, name):
        try:
            read = _functions_in(text)
        except CellSyntaxError:
            continue
        node, places = _innermost(read.functions.get(code.co_firstlineno, []), code), read.places
        if node is not None and not isinstance(node, ast.AsyncFunctionDef) and _is_of(code, text):
            return FunctionSyntax(node, code.co_filename, places.segment(node), places.span(node), places)
    raise NotCompilable(f"the text of `{name}` has changed since it was defined")


def _texts(code: CodeType, name: str) -> Iterator[str]:
    known = False
    for text in texts_of(code.co_filename):
        known = True
        yield text
    if not known:
        raise NotCompilable(f"the text of `{name}` is not known to Python")


def _is_of(code: CodeType, text: str) -> bool:
    """Whether the code is what the text of its file gives: somebody may have edited that since Python read it."""
    written = os.path.isfile(code.co_filename)  # noqa: PTH113  pathlib takes three times as long
    if not written or any(map(_is_changed, _codes(code))):
        return True
    found = _compiled(text)
    here = (each for each in found.get(code.co_firstlineno, ()) if each.co_linetable == code.co_linetable)
    return not found or code in here


def _is_changed(code: CodeType) -> bool:
    """Whether a tool has put something into the code: pytest into what asserts, `@hastega` its calls."""
    ours = any(type(each).__module__.startswith(_PACKAGE) for each in code.co_consts)
    return ours or any(name.startswith("@py") for name in code.co_varnames)


_PACKAGE = __name__.partition(".")[0]


@lru_cache(maxsize=32)
def _compiled(text: str) -> dict[int, list[CodeType]]:
    """What Python makes of a text, by first lines; nothing of one that it cannot read."""
    found: dict[int, list[CodeType]] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = compile(text, "<text>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return found
    for code in _codes(module):
        found.setdefault(code.co_firstlineno, []).append(code)
    return found


@dataclass(frozen=True, eq=False)
class _Read:
    """The functions of a text by the line that their code objects name, in a tree that nobody is to change.

    `imports`: as in `Definition`; None where only the functions are known, and of these not the asynchronous ones.
    """

    places: Text
    functions: dict[int, list[Function]]
    imports: tuple[str, ...] | None = None


_read: LruCache[str, _Read] = LruCache(32)


def know(places: Text, functions: Iterable[ast.Lambda | ast.FunctionDef]) -> None:
    """Let the functions of a text be found in a tree that was read from it, which nobody is to change any more."""
    _read.put(places.text, _Read(places, _by_line(functions)))


def _by_line(functions: Iterable[Function]) -> dict[int, list[Function]]:
    by_line: dict[int, list[Function]] = {}
    for node in functions:
        by_line.setdefault(_first_line(node), []).append(node)
    for nodes in by_line.values():
        nodes.sort(key=_body)
    return by_line


def _functions_in(text: str, whole: bool = False) -> _Read:
    """The functions of a text; `whole`: with all else that `_Read` may know of it."""
    text = normalise(text)
    known = _read.get(text)
    if known is not None and (known.imports is not None or not whole):
        return known
    places = Text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were given when the text was run
        tree = expand(parse(text), places, "<cell>")
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    functions = (each for each in ast.walk(tree) if isinstance(each, kinds))
    return _read.put(text, _Read(places, _by_line(functions), _imported(tree)))


def _innermost(nodes: Sequence[Function], code: CodeType) -> Function | None:
    """The function that the code object is of, given those of a line in the order of the text."""
    places = _places(code)
    if not places:  # Python was told to keep no columns: nothing tells functions of one line apart
        alike = [node for node in nodes if _fits(node, code)]
        if len(alike) > 1:
            # In Python 3.12 a lambda of a constant has no columns either; those that give the same are as good.
            given = [
                repr(each.argval) for each in dis.get_instructions(code) if each.opname == "RETURN_CONST"
            ]
            alike = [node for node in alike if [_constant(node)] == given][:1]
        return alike[0] if len(alike) == 1 else None
    first, last = min(places)[0], max([end for _, end in places])
    for number in range(bisect_right(nodes, first, key=lambda node: _body(node)[0]) - 1, -1, -1):
        # Backwards: of a lambda inside another one, the inner one first.
        if last <= _body(nodes[number])[1] and _fits(nodes[number], code):
            return nodes[number]
    return None


def _fits(node: Function, code: CodeType) -> bool:
    """Whether the code object can have come from the node: same name and parameters."""
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    count = code.co_argcount + code.co_kwonlyargcount
    return name == code.co_name and tuple(arg.arg for arg in parameters) == code.co_varnames[:count]


def _constant(node: Function) -> str | None:
    """The constant that a lambda gives, as it is written; None of other functions."""
    return repr(node.body.value) if isinstance(node.body, ast.Constant) else None


def _body(node: Function) -> tuple[tuple[int, int], tuple[int, int]]:
    first, last = (node.body, node.body) if isinstance(node, ast.Lambda) else (node.body[0], node.body[-1])
    decorators = [] if isinstance(first, ast.expr) else getattr(first, "decorator_list", [])
    line, col = min([(first.lineno, first.col_offset), *((d.lineno, d.col_offset - 1) for d in decorators)])
    return (line, col), (last.end_lineno or 0, last.end_col_offset or 0)


def _places(code: CodeType) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Start and end, in bytes, of what each instruction comes from; those of the frame itself have none."""
    return [
        ((line, col), (end_line, end_col))
        for line, end_line, col, end_col in set(code.co_positions())
        if line is not None and end_line is not None and col is not None and end_col is not None
        if (col, end_col) != (0, 0)
    ]
