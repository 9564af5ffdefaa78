"""Tracebacks of what leaves the package: frames of the user's own lines alone.

    the script → `sum` of a pipe → compiler → the user's lambda
    the script → the user's lambda

An exception that the package itself may be at fault for keeps them all: one that no `raise` of ours raised, nor a
function of Python's that a stage means. A frame is not entered again where its exception is raised on by `raise` alone,
so that those of `leaves` and its callers are gone, too.

Ordinary code that Python runs stands in a lambda that was made around it. What its hidden frame points to is marked in
the frame of the user's above, which knows that call alone: the user's code has the lambda's places, too.
"""

from __future__ import annotations

import inspect
import itertools
import linecache
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from opcode import opmap
from types import CodeType, FrameType, TracebackType
from typing import ParamSpec, TypeGuard, TypeVar, cast

from hastega_magic.errors import PACKAGE, HastegaError

P = ParamSpec("P")
T = TypeVar("T")

_MACHINERY = frozenset(
    {
        "ast",
        "collections",
        "concurrent.futures._base",
        "concurrent.futures.thread",
        "contextlib",
        "copy",
        "dataclasses",
        "functools",
        "numpy._core._ufunc_config",
        "threading",
        "typing",
    }
)

_COMPILERS = frozenset({"llvmlite", "pyopencl"})
"""Libraries that only this package calls, and that call nothing of the user's."""

_NAME = __name__.partition(".")[0]
_MADE = f"__{_NAME.partition('_')[0]}_"
"""How the names that stand in changed code begin."""

CALLEES = f"{_MADE}callees__"
"""The first parameter of lambdas that are made around ordinary code."""

_IN_PYTHON = f"{_NAME}.runtime.python"
"""The module in which Python's own functions, as `sum`, are called for the user's stages."""

_NOTE = "hastega: "

SHOWN: list[Callable[[BaseException], None]] = []
"""What front ends do with an exception that leaves the package through a function of the user's or a `pipe`."""


def leaves(error: BaseException) -> None:
    """Take our frames out of the exception, which is about to be raised on, and let the front ends show it."""
    for each in chain(error):
        # What is below the first frame of the user's went through here before, if it is ours.
        last = None
        for link, hidden in _marked(each.__traceback__, isinstance(each, KeyboardInterrupt)):
            if not hidden:
                each.__traceback__ = link
                break
            last = link
        else:
            if _is_told(each) or (last is not None and _is_no_fault(each, last)):
                each.__traceback__ = None if last is None else _on_another_line(last)
    for prepare in SHOWN:
        prepare(error)


def leaving(function: Callable[P, T]) -> Callable[P, T]:
    """The function, whose exceptions leave the package."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            leaves(error)
            raise

    return call


def taken_back(error: BaseException) -> None:
    """Leave an exception that goes no further than the caller as it was before: whoever raised it may keep it.

    Notes of ours go, and the links of our frames, with those of what they called.
    """
    notes: list[str] = getattr(error, "__notes__", [])
    while notes and notes[-1].startswith(_NOTE):
        notes.pop()
    if not notes and hasattr(error, "__notes__"):
        del error.__notes__
    parts = [*links(error.__traceback__)]
    ours = [number for number, each in enumerate(parts) if is_ours(each)]
    if ours:  # what is behind them is of an earlier time
        last = parts[ours[-1]].tb_frame
        left = itertools.dropwhile(lambda each: _is_below(each.tb_frame, last), parts[ours[-1] + 1 :])
        error.__traceback__ = next(left, None)


def reraise_signal(error: BaseException) -> None:
    """Raise on what a signal's handler raised in our hands, as one that limits time does: no element did.

    Who catches an exception to let Python find out would lose it: it comes once.
    """
    for each in chain(error):
        ours = False
        for link in links(each.__traceback__):
            if ours and _signal_of(link.tb_frame) is not None:
                raise each
            ours = ours or is_ours(link)


def signal_behind(error: BaseException | None) -> int | None:
    """The signal whose handler raised the exception, if one did."""
    numbers = () if error is None else (_signal_of(each.tb_frame) for each in links(error.__traceback__))
    return next((each for each in numbers if each is not None), None)


def _signal_of(frame: FrameType) -> int | None:
    """The number that the frame's function was given, with the frame that it interrupts: it is a handler then."""
    code, below = frame.f_code, frame.f_back
    flags, count = code.co_flags, code.co_argcount
    if below is None or not flags & inspect.CO_OPTIMIZED or not (count > 1 or flags & inspect.CO_VARARGS):
        return None
    local = frame.f_locals
    given = [local.get(name) for name in code.co_varnames[:count]]
    if flags & inspect.CO_VARARGS:
        others: object = local.get(code.co_varnames[count + code.co_kwonlyargcount])
        if isinstance(others, tuple):  # its name may stand for anything by now
            given += others
    found = (int(each) for each, at in itertools.pairwise(given) if at is below and isinstance(each, int))
    return next(found, None)


@contextmanager
def suppressed() -> Generator[None]:
    """Go on behind the block where it raises an exception, but for those of a signal's handler."""
    try:
        yield
    except Exception as error:
        reraise_signal(error)


def _is_below(frame: FrameType | None, caller: FrameType) -> bool:
    while frame is not None and frame is not caller:
        frame = frame.f_back
    return frame is not None


def _is_told(error: BaseException) -> bool:
    """Whether it is no fault of the package, though nothing of the user's raised it: a sentence of ours tells of it."""
    if isinstance(error, KeyboardInterrupt) or hasattr(type(error), "_render_traceback_"):
        return True
    return any(note.startswith(_NOTE) for note in getattr(error, "__notes__", ()))


def _is_no_fault(error: BaseException, last: TracebackType) -> bool:
    """Whether the exception, of whose links the last is ours, too, was raised on purpose, or in the user's stead."""
    if _is_made(last.tb_frame.f_code) or last.tb_frame.f_globals.get("__name__") == _IN_PYTHON:
        return True
    # Of its own accord the package raises HastegaErrors that render themselves; others are caught before.
    raised = last.tb_frame.f_code.co_code[last.tb_lasti] == opmap["RAISE_VARARGS"]
    return raised and not isinstance(error, (AssertionError, HastegaError))


def _on_another_line(last: TracebackType) -> TracebackType | None:
    """A link of the user's function that runs, where what failed in it is further down than what Python adds a link of.

    Python itself has no frame for a comprehension since 3.12.
    """
    made, frame = last.tb_frame.f_code, last.tb_frame.f_back
    while frame is not None and (_of_package(frame) or _is_made(frame.f_code)):
        frame = frame.f_back
    place = None if frame is None or not _is_around(made) else _place_of(made, frame.f_code)
    if frame is None or place is None or last.tb_lineno == frame.f_lineno:
        return None
    return TracebackType(None, frame, place + last.tb_lasti, last.tb_lineno)


def without_ours(
    trace: TracebackType | None, interrupted: bool = False, first: int = 0
) -> Sequence[TracebackType]:
    """The links of the traceback, from number `first` on, without the frames of this package.

    `interrupted`: what this package imports, and what that imports and runs, is no fault, and left out, too; so is what
    the back ends' libraries do for it.
    """
    found: list[TracebackType] = []
    code, base = None, 0
    for each, hidden in itertools.islice(_marked(trace, interrupted), first, None):
        inner = each.tb_frame.f_code
        if not hidden:
            found.append(each)
            code, base = inner, 0
        elif code is not None and (place := _place_of(inner, code)) is not None:
            code, base = inner, base + place
            found[-1] = TracebackType(None, found[-1].tb_frame, base + each.tb_lasti, each.tb_lineno)
    return found


def with_places(code: CodeType) -> CodeType:
    """The code of the user's, behind whose instructions stand some that do nothing at the places of those made in it.

    A frame that points to one of them marks what failed in the user's text, not the whole that was changed.
    """
    if not any(map(_is_around, code.co_consts)):
        return code
    instructions, table = bytearray(code.co_code), bytearray(code.co_linetable)
    line = _last_line(code)
    for made in filter(_is_around, code.co_consts):
        table += _at_line(made.co_firstlineno - line) + made.co_linetable
        instructions += bytes((opmap["NOP"], 0)) * (1 + len(made.co_code) // 2)
        line = _last_line(made)
    return code.replace(co_code=bytes(instructions), co_linetable=bytes(table))


def _place_of(made: CodeType, code: CodeType) -> int | None:
    """Where the instructions of `made` have their places behind those of the code."""
    place = len(code.co_code)
    for each in reversed([*filter(_is_around, code.co_consts)]):
        place -= len(each.co_code)
        if each is made:
            return place
        place -= 2
    return None


def _is_around(value: object) -> TypeGuard[CodeType]:
    """Whether it is the code of a lambda that was made around ordinary code."""
    return isinstance(value, CodeType) and value.co_varnames[:1] == (CALLEES,)


def _last_line(code: CodeType) -> int:
    """The line that the next entry of the table of places is counted from."""
    lines = [line for line, *_ in code.co_positions() if line is not None]
    return lines[-1] if lines else code.co_firstlineno


def _at_line(distance: int) -> bytes:
    """An entry of the table of places for one instruction, so many lines on (CPython's `locations.md`)."""
    left = distance << 1 if distance >= 0 else -distance << 1 | 1
    entry = bytearray((0x80 | 13 << 3,))
    while left > 63:
        entry.append(0x40 | left & 63)
        left >>= 6
    entry.append(left)
    return bytes(entry)


def _marked(trace: TracebackType | None, interrupted: bool) -> Iterator[tuple[TracebackType, bool]]:
    """The links, each with whether it is not to be shown."""
    elsewhere = below = False
    for each in links(trace):
        elsewhere = elsewhere or (interrupted and below and (_imports(each) or _compiles(each)))
        below = elsewhere or is_ours(each) or (below and _is_waiting(each))
        yield each, below or _is_made(each.tb_frame.f_code)


def joined(parts: Sequence[TracebackType]) -> TracebackType | None:
    """A traceback of these alone."""
    result: TracebackType | None = None
    for each in reversed(parts):
        result = TracebackType(result, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return result


def links(trace: TracebackType | None) -> Iterator[TracebackType]:
    """The parts of a traceback, from the outermost frame on."""
    while trace is not None:
        yield trace
        trace = trace.tb_next


def file_of(link: TracebackType) -> str:
    """The file that the frame's code stands in, with slashes."""
    return _with_slashes(link.tb_frame)


def _with_slashes(frame: FrameType) -> str:
    return frame.f_code.co_filename.replace("\\", "/")


def _is_waiting(link: TracebackType) -> bool:
    """Whether the frame is of the machinery of Python's library, or of NumPy's error state, called by ours."""
    return link.tb_frame.f_globals.get("__name__") in _MACHINERY


def _imports(link: TracebackType) -> bool:
    """Whether the frame is of a module that is imported, or of the import itself, where that was not at its end."""
    names = link.tb_frame.f_globals
    module = names.get("__spec__") is not None and names.get("__name__") != "__main__"
    return (module and link.tb_frame.f_code.co_name == "<module>") or file_of(link).startswith(
        "<frozen importlib"
    )


def _compiles(link: TracebackType) -> bool:
    """Whether the frame is of a back end's library."""
    return str(link.tb_frame.f_globals.get("__name__")).partition(".")[0] in _COMPILERS


def is_ours(link: TracebackType) -> bool:
    """Whether the frame is of this package."""
    return _of_package(link.tb_frame)


def _of_package(frame: FrameType) -> bool:
    # Methods that `records.py` writes stand in no file; their module has a name.
    module = frame.f_globals.get("__name__")
    return _with_slashes(frame).startswith(PACKAGE) or str(module).startswith(f"{_NAME}.")


def _is_made(code: CodeType) -> bool:
    """Whether it is a lambda that nobody has written: of an argument with `_`, or around ordinary code."""
    if code.co_name != "<lambda>":
        return False
    if code.co_varnames and code.co_varnames[0].startswith(_MADE):
        return True
    line = linecache.getline(code.co_filename, code.co_firstlineno)
    return line != "" and "lambda" not in line


def chain(error: BaseException) -> list[BaseException]:
    """The exception and what it came from, less what only this package raises and catches."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is None or each in found:
            continue
        found.append(each)
        while type(each.__context__).__module__.startswith(f"{_NAME}."):
            ours = cast("BaseException", each.__context__)
            each.__context__ = ours.__cause__ if ours.__suppress_context__ else ours.__context__
        waiting += [each.__cause__, each.__context__]
    return found


__all__ = [
    "CALLEES",
    "SHOWN",
    "chain",
    "file_of",
    "is_ours",
    "joined",
    "leaves",
    "leaving",
    "links",
    "reraise_signal",
    "signal_behind",
    "suppressed",
    "taken_back",
    "with_places",
    "without_ours",
]
