"""Errors of a cell as the user should see them: frames of the user's own lines alone.

    magic's machinery → package → the user's lambda        is shown as        the user's lambda

IPython asks an exception's `_render_traceback_`, where it has one, for the lines to show.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from hastega_magic.errors import CellSyntaxError

_PACKAGE = str(Path(__file__).resolve().parent.parent)


class CellError(Exception):
    """The cell's text cannot be read. Front ends name it SyntaxError.

    It is no SyntaxError: IPython shows the whole stack with each of these that comes out of running code.
    """

    def __init__(self, error: CellSyntaxError, shell: InteractiveShell) -> None:
        super().__init__(str(error))
        self.error = error
        self._shell = shell

    def _render_traceback_(self) -> list[str]:
        return cast("Any", self._shell).SyntaxTB.structured_traceback(SyntaxError, self.error, [])


CellError.__name__ = CellError.__qualname__ = "SyntaxError"


def show_without_ours(error: BaseException, shell: InteractiveShell) -> None:
    """Make the shell show the exception, its notes, and those it came from, without frames of this package."""

    def render() -> list[str]:
        # Bound to the instance: the class's own traceback is what others see.
        for each in _chain(error):
            each.__traceback__ = without_ours(each.__traceback__)
        tb = cast("Any", shell).InteractiveTB
        return tb.structured_traceback(type(error), error, error.__traceback__, tb_offset=0)

    if not hasattr(error, "_render_traceback_"):
        cast("Any", error)._render_traceback_ = render


def without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback from the cell's first own frame on, without the frames of this package."""
    frames: list[TracebackType] = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    ours = [_is_ours(each) for each in frames]
    # What stands before the first of ours is the shell, calling the magic.
    first = ours.index(True) if True in ours else 0
    result: TracebackType | None = None
    for each, hidden in reversed(list(zip(frames[first:], ours[first:], strict=True))):
        if not hidden:
            result = TracebackType(result, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return result


def _is_ours(traceback: TracebackType) -> bool:
    return traceback.tb_frame.f_code.co_filename.startswith(_PACKAGE)


def _chain(error: BaseException) -> list[BaseException]:
    """The exception, and what it came from."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None and each not in found:
            found.append(each)
            waiting += [each.__cause__, each.__context__]
    return found
