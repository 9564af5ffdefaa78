"""Text for streams that cannot take every character: reports hold marks, `µ` and `×`, and not all terminals do."""

from __future__ import annotations

import codecs
import sys
from io import TextIOWrapper

_MARKS = "hastega_marks"
_PLAIN = {
    "✓": "+", "✗": "!", "·": "|", "×": "x", "÷": "/", "µ": "u", "≈": "~", "–": "-", "─": "-", "…": "...", "→": "->",
    "“": '"', "”": '"', "\N{NO-BREAK SPACE}": " ", "\N{THIN SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " ",
}  # fmt: skip


def writable(text: str) -> str:
    """The text with plain marks where standard output, which belongs to somebody else, has no such characters."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, _MARKS).decode(encoding)


def make_output_forgiving() -> None:
    """Let standard output, in a program of our own, write plain marks in place of raising UnicodeEncodeError."""
    out: object = sys.stdout
    if isinstance(out, TextIOWrapper):
        out.reconfigure(errors=_MARKS)


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(each, "?") for each in error.object[error.start : error.end]), error.end


codecs.register_error(_MARKS, _plain)

__all__ = ["make_output_forgiving", "writable"]
