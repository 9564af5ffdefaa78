"""Diagnostics: where in the user's text something is, and what to say about it."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import ClassVar, NamedTuple

from hastega_magic.records import dataclass

PACKAGE = Path(__file__).resolve().parent.as_posix() + "/"
"""The folder of this package's own files, by which a traceback's frames are told from the user's."""


class Span(NamedTuple):
    """A stretch of the cell's text: 1-based lines, 0-based columns in characters, end exclusive."""

    line: int
    col: int
    end_line: int
    end_col: int

    def within(self, other: Span) -> bool:
        """Whether the other stretch holds all of this one."""
        return other[:2] <= self[:2] and self[2:] <= other[2:]

    def to_list(self) -> list[int]:
        """The four numbers, as the report's JSON holds them."""
        return [self.line, self.col, self.end_line, self.end_col]


NOWHERE = Span(0, 0, 0, 0)


class HastegaError(Exception):
    """The base of what this package raises of its own accord."""


class UsageError(HastegaError):
    """An option or a command that does not exist or cannot hold the given value; one line."""

    option: str = ""
    """The option, by its keyword, if the line begins with that: the magics put their own name for it there."""

    def _render_traceback_(self) -> list[str]:
        return [f"UsageError: {self}"]


class StrictError(HastegaError):
    """`--strict` was asked for, and a stage cannot be compiled."""

    def _render_traceback_(self) -> list[str]:
        return [f"StrictError: {self}", *getattr(self, "__notes__", ())]


def lines_of(text: str) -> list[str]:
    """The lines of a text as Python counts them, without their ends: what else Unicode ends lines with is in them."""
    return StringIO(text, newline=None).read().split("\n")


class CellSyntaxError(HastegaError, SyntaxError):
    """The cell's text cannot be read; shown as location, line, caret and one sentence."""

    kind: ClassVar[type[SyntaxError]] = SyntaxError
    """What Python calls it."""

    def __init__(self, message: str, source: str, span: Span, filename: str = "<cell>") -> None:
        """Keep the message, and the line of `source` that `span` points into."""
        lines = lines_of(source)
        text = lines[span.line - 1] if 0 < span.line <= len(lines) else ""
        end_col = span.end_col if span.end_line == span.line else len(text)
        super().__init__(
            message, (filename, span.line, span.col + 1, text, span.line, max(end_col, span.col + 1) + 1)
        )
        self.span = span

    def _render_traceback_(self) -> list[str]:
        text = self.text or ""
        width = max(1, (self.end_offset or 0) - (self.offset or 1))
        caret = " " * ((self.offset or 1) - 1) + "^" * width
        return [
            f"  Cell line {self.lineno}",
            f"    {text}",
            f"    {caret}",
            f"{self.kind.__name__}: {self.msg}",
        ]


class CellIndentationError(CellSyntaxError, IndentationError):
    """A line of the cell begins at a place where none can."""

    kind = IndentationError


class CellTabError(CellIndentationError, TabError):
    """Tabs and spaces at the beginning of lines leave it open which lie under which."""

    kind = TabError


@dataclass(frozen=True)
class Reason:
    """Why something is not compiled: one sentence, and where."""

    text: str
    span: Span = NOWHERE


class NotCompilable(HastegaError):
    """A function or stage has no compiled form; the caller makes it a barrier with this reason."""

    def __init__(self, text: str, span: Span = NOWHERE) -> None:
        """`text` is one sentence without a final stop."""
        super().__init__(text)
        self.reason = Reason(text, span)


class MixedTypes(NotCompilable):
    """A value would have one type for some elements and another for others."""


class BeyondInt64(NotCompilable):
    """A source or a constant holds an integer that no int64 is equal to."""


class WideConstant(BeyondInt64):
    """It is a constant, which elements may need or not."""


class IntegerOverflowWarning(RuntimeWarning):
    """Integers left 64 bits; the result is exact all the same, computed by Python."""
