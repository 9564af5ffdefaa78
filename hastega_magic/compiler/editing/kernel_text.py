"""The text of an edited kernel as rules look at it: lines without what comments and strings hold."""

from __future__ import annotations

import re

from hastega_magic.records import dataclass

_LLVM = re.compile(r'"[^"]*"|;[^\n]*')
_PLACE = re.compile(r",? !dbg !\d+")
_METADATA = re.compile(
    r'^!(?:llvm\.dbg\.cu|llvm\.module\.flags|\d+) = (?:!\{!\d+\}|(?:distinct )?!DI.*|.*!"Debug Info.*)$',
    re.MULTILINE,
)
_C = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


@dataclass(frozen=True)
class KernelText:
    """`text` as written; `bare` the same, character by character, with blanks for comments and strings."""

    text: str
    bare: str

    @classmethod
    def of(cls, language: str, text: str) -> KernelText:
        """The text of a kernel in "llvm" or "opencl"."""
        return cls(text, (_LLVM if language == "llvm" else _C).sub(_blank, text))

    def line_of(self, pattern: str) -> int:
        """The line, from 1, where a regular expression first matches outside comments and strings; 0: nowhere."""
        found = re.search(pattern, self.bare, re.MULTILINE)
        return 0 if found is None else 1 + self.bare.count("\n", 0, found.start())

    def line(self, number: int) -> str:
        """A line as written."""
        lines = self.text.splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else ""


def without_places(text: str) -> str:
    """LLVM IR as a report shows it, without debug locations; every line stays where it is."""
    if "!dbg" not in text:
        return text
    return _METADATA.sub("", _PLACE.sub("", text))


def word(name: str) -> str:
    """A pattern for a word of LLVM IR that is no name of a value, function or label."""
    return rf'(?<![\w.%@!$#"-]){name}(?![\w.:"-])'


def _blank(found: re.Match[str]) -> str:
    # Quoted names must still be seen: a quotation mark stays.
    inside = re.sub(r"[^\n]", " ", found[0])
    return '"' + inside[1:-1] + '"' if found[0].startswith('"') and len(inside) > 1 else inside


__all__ = ["KernelText", "without_places", "word"]
