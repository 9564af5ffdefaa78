"""Text of unknown origin made safe to show: it cannot become markup, nor hide or reorder its surroundings."""

from __future__ import annotations

import html
import re
from functools import cache, lru_cache

# C0 and C1 controls, bidirectional controls, invisible marks, lone surrogates. Newline and tab are text.
# The zero-width joiners stay: emoji and some scripts are built with them.
_HIDDEN_ONES = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_HIDDEN = re.compile(f"[{_HIDDEN_ONES}]")
_NOT_PLAIN = re.compile(f"[&<>\"'\r{_HIDDEN_ONES}]")
_JAMO = re.compile("[\u1100-\u115f]")
_LATER = "\u2e80"
"""The first of the other wide characters."""


@cache
def _wide() -> re.Pattern[str]:
    """Made when a text needs it: it takes 5 ms."""
    return re.compile(
        "[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\U0001f000-\U0001faff]"
    )


def visible(text: str) -> str:
    r"""The text with each control or direction-changing character written out, as ⟨U+202E⟩."""
    return _HIDDEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text.replace("\r\n", "\n"))


@lru_cache(4096)
def markup(text: str) -> str:
    """The text for an HTML or SVG text node or a quoted attribute."""
    return html.escape(visible(text), quote=True) if _NOT_PLAIN.search(text) else text


NO_BREAK = "\u00a0"

# No-break spaces, of which the narrow ones stand between the digits of numbers, are to stay.
_BLANKS = re.compile("[^\\S\u00a0\u202f]+")


@lru_cache(4096)
def one_line(text: str) -> str:
    """The text with all white space, newlines too, as single spaces, but for what keeps digits together."""
    shown = visible(text)
    return " ".join(shown.split()) if shown.isascii() else _BLANKS.sub(" ", shown).strip()


# It begins with the blank, which is what the search looks for.
_QUANTITY = re.compile(r" (?:(?<=[≈✗÷] )(?=\d)|(?<=\d )(?=(?:[nµm]?s|min|h|[kMGTP]?B(?:/s)?|[×%])(?!\w)))")


def together(text: str) -> str:
    """The sentence with no-break spaces between numbers and what belongs to them: `≈ 47 000`, `14.8 ms`, `4.0 ×`."""
    return _QUANTITY.sub(NO_BREAK, text)


@lru_cache(4096)
def sentence(text: str) -> str:
    """A sentence for an HTML text node, whose lines do not end between a number and its unit."""
    return markup(together(text))


def columns(text: str) -> int:
    """How many terminal columns the text takes; East Asian characters and emoji take two."""
    if text.isascii():
        return len(text)
    return _counted(text) if len(text) <= _SHORT else _count(text)


def _count(text: str) -> int:
    wide = _JAMO if max(text) < _LATER else _wide()
    return len(text) + len(wide.findall(text))


_SHORT = 256
"""Characters of a text that is kept with its columns: pieces of long ones would fill the memory."""

_counted = lru_cache(4096)(_count)


@lru_cache(4096)
def shorten(text: str, limit: int) -> str:
    """One line of at most `limit` columns, cut with an ellipsis where longer."""
    line = one_line(text)
    if columns(line) <= limit:
        return line
    line = line[:limit]
    while line and columns(line) > limit - 1:
        line = line[:-1]
    return line + "…"


_QUOTED = 120
"""Columns of code in a sentence: a stage may be as long as a cell."""


def quoted(code: str) -> str:
    """Code of the user's in a sentence: between backticks, on one line, cut where it is long."""
    code = " ".join(code.split()) if "\n" in code else code
    return f"`{shorten(code, _QUOTED)}`" if len(code) > _QUOTED else f"`{code}`"
