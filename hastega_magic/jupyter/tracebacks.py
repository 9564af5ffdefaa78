"""Errors of a cell as the user should see them: frames of the user's own lines alone.

    the shell, the magic, the session → compiler → the user's lambda
    the cell's statement → the user's lambda

IPython asks an exception's `_render_traceback_`, where it has one, for the lines to show.
"""

from __future__ import annotations

import ast
import traceback
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, cast

from IPython.core.getipython import get_ipython

from hastega_magic import frames
from hastega_magic.errors import CellSyntaxError
from hastega_magic.frames import chain, file_of, joined, links
from hastega_magic.syntax.reading.trees import parsed

if TYPE_CHECKING:
    from collections.abc import Callable

    from hastega_magic.jupyter.shell import Shell


class CellError(Exception):
    """A SyntaxError that came out of a cell; front ends call it what Python does.

    It is none: IPython shows the whole stack with each of these that running code raises.
    """

    kind: ClassVar[type[SyntaxError]] = SyntaxError

    def __init__(self, error: SyntaxError, shell: Shell) -> None:
        super().__init__(str(error))
        self.error = error
        self._shell = shell

    def _render_traceback_(self) -> list[str]:
        frames = traceback.extract_tb(without_ours(self.error.__traceback__))
        return self._shell.SyntaxTB.structured_traceback(self.kind, self.error, frames)


_KINDS = tuple(
    type(kind.__name__, (CellError,), {"kind": kind}) for kind in (TabError, IndentationError, SyntaxError)
)


def cell_error(error: SyntaxError, shell: Shell) -> CellError:
    """What stands for the error where front ends show it."""
    return next(each for each in _KINDS if isinstance(error, each.kind))(error, shell)


def show_without_ours(
    error: BaseException, shell: Shell, filename: str = "", line: int | None = None
) -> None:
    """Make the shell show the exception, with its notes and what it came from, without frames of this package.

    `line` of `filename` is where the failing statement stands, if that is known. An exception that renders
    itself is left as it is. What was shown is the exception's traceback from then on: `%debug` goes up and down there.
    """
    walked: TracebackType | None = None
    offset: int | None = None

    def render() -> list[str]:
        nonlocal walked, offset
        for each in chain(error)[1:]:
            each.__traceback__ = without_ours(each.__traceback__, isinstance(each, KeyboardInterrupt))
        if walked is None or error.__traceback__ is not walked:  # `%tb` shows an exception once more
            shown = trimmed = without_ours(error.__traceback__, isinstance(error, KeyboardInterrupt))
            if line is not None and not any(_is_statement(each, filename) for each in links(shown)):
                shown = _below(filename, line, shell.user_ns, shown)
            # Where the shell ran the magic, its own frame is gone; else it is there, and it knows how to skip it.
            magic = _after_the_magic(list(links(error.__traceback__)))
            walked, offset = shown, 0 if magic or shown is not trimmed else None
            error.__traceback__ = walked or error.__traceback__  # a debugger needs a frame to begin with
        return shell.InteractiveTB.structured_traceback(type(error), error, walked, tb_offset=offset)

    known = getattr(error, "_render_traceback_", None)
    if known is None or getattr(known, "__module__", None) == __name__:  # whoever raises it on knows more
        cast("Any", error)._render_traceback_ = render


def show_in_shell(error: BaseException) -> None:
    """The same, in the running shell if the extension is loaded there."""
    shell = cast("Shell | None", get_ipython())
    if shell is not None and "HastegaMagics" in shell.magics_manager.registry:
        show_without_ours(error, shell)


def put_below_the_statement(
    error: BaseException, filename: str, line: int | None, names: dict[str, Any]
) -> None:
    """Leave to the exception the frames of a text that ran inside the package, its statement's above them.

    `line` of `filename` is where the failing statement stands, if that is known; `names` are its variables.
    """
    shown = without_ours(error.__traceback__, isinstance(error, KeyboardInterrupt))
    if line is not None and not any(_is_statement(each, filename) for each in links(shown)):
        shown = _below(filename, line, names, shown)
    error.__traceback__ = shown


class _OfSyntax:
    """How a shell shows a SyntaxError, with the whole stack if running code raised it: without ours."""

    def __init__(self, usual: Callable[..., list[str]]) -> None:
        self.usual = usual

    def __call__(
        self, kind: type, error: BaseException | None, frames: object = None, *more: object, **named: object
    ) -> list[str]:
        if frames and isinstance(error, SyntaxError) and hasattr(error, "_render_traceback_"):
            kind = error.kind if isinstance(error, CellSyntaxError) else kind
            users = [each for each in links(without_ours(error.__traceback__)) if not _is_shell(each)]
            frames = traceback.extract_tb(joined(users))
        return self.usual(kind, error, frames, *more, **named)


def install(shell: Shell) -> None:
    """From now on; IPython does not ask a SyntaxError how it is to be shown."""
    shell.SyntaxTB.structured_traceback = _OfSyntax(shell.SyntaxTB.structured_traceback)


def remove(shell: Shell) -> None:
    """Leave them to IPython again."""
    if isinstance(shell.SyntaxTB.structured_traceback, _OfSyntax):
        del shell.SyntaxTB.structured_traceback


class HidingOurs:
    """The function, its exceptions shown without frames of this package wherever they come to the surface.

    In other processes, to which the functions that call it may be sent, it is the function alone.
    """

    def __init__(self, function: Callable[..., object], shell: Shell) -> None:
        self._function, self._shell = function, shell

    def __call__(self, *args: object) -> object:
        """What it gives; its exceptions are the user's to see."""
        try:
            return self._function(*args)
        except BaseException as error:
            show_without_ours(error, self._shell)
            raise

    def __reduce__(self) -> tuple[object, ...]:
        return _itself, (self._function,)


def _itself(function: Callable[..., object]) -> Callable[..., object]:
    return function


def without_ours(trace: TracebackType | None, interrupted: bool = False) -> TracebackType | None:
    """The traceback without the frames of this package, and without the shell's that called the magic."""
    first = _after_the_magic(list(links(trace)))
    return joined(frames.without_ours(trace, interrupted, first))


def _after_the_magic(links: list[TracebackType]) -> int:
    """The first link that is not there because the shell runs a magic; 0 if it does not."""
    magic = Path(__file__).with_name("magics.py").as_posix()
    return max((at + 1 for at, each in enumerate(links) if file_of(each) == magic), default=0)


def _below(
    filename: str, line: int, names: dict[str, Any], rest: TracebackType | None
) -> TracebackType | None:
    """The traceback under a frame for a line of the cell, as Python would show the statement there."""
    tree = ast.increment_lineno(parsed("0 / 0"), line - 1)
    try:
        exec(compile(tree, filename, "exec"), names)
    except ZeroDivisionError as raised:
        *_, here = links(raised.__traceback__)
        return TracebackType(rest, here.tb_frame, here.tb_lasti, line)
    return rest


def _is_shell(link: TracebackType) -> bool:
    """Whether it is the frame in which IPython runs a cell's code."""
    return link.tb_frame.f_globals.get("__name__") == "IPython.core.interactiveshell"


def _is_statement(link: TracebackType, filename: str) -> bool:
    code = link.tb_frame.f_code
    return code.co_filename == filename and code.co_name == "<module>"
