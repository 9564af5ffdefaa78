"""Places in a text: characters and UTF-8 bytes, and where strings, comments and brackets are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hastega_magic.errors import NOWHERE, Span

Place = tuple[int, int]
"""A 1-based line and a 0-based column in characters."""

_TOKEN = re.compile(
    r"""
    (?P<comment> \#[^\n]* )
  | (?P<string> (?i:[rbfut]|[bft]r|r[bft])? (?: '''(?:\\.|[^\\])*?(?:'''|\Z)
        | \"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z)
        | '(?:\\.|[^\\'\n])*(?:'|(?=\n)|\Z)
        | "(?:\\.|[^\\"\n])*(?:"|(?=\n)|\Z) ) )
  | (?P<joined> \\\n )
  | (?P<newline> \n )
  | (?P<pipe> \|>(?![>=]) )
  | (?P<open> [(\[{] )
  | (?P<close> [)\]}] )
  | (?P<space> [^\S\n]+ )
  | (?P<word> \w+ )
  | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A piece of the text. `depth`: how many brackets are open around it (an opening one counts itself)."""

    kind: str
    text: str
    line: int
    col: int
    depth: int


def scan(text: str) -> Iterator[Token]:
    """All pieces of the text, whatever is wrong with it; an unclosed string ends with its line or text."""
    line, start, depth = 1, 0, 0
    for match in _TOKEN.finditer(text):
        kind, piece = match.lastgroup or "other", match.group()
        depth += kind == "open"
        yield Token(kind, piece, line, match.start() - start, depth)
        depth -= kind == "close" and depth > 0
        if "\n" in piece:
            line += piece.count("\n")
            start = match.start() + piece.rindex("\n") + 1


class Text:
    """A text by lines, which turns the byte columns of syntax trees into Spans of characters."""

    def __init__(self, text: str) -> None:
        """Keep the text."""
        self.text = text

    @cached_property
    def lines(self) -> list[str]:
        """Its lines, without their ends."""
        return self.text.split("\n")

    def characters(self, line: int, byte: int) -> int:
        """The column in characters of a column in UTF-8 bytes."""
        if not 0 < line <= len(self.lines):
            return byte
        text = self.lines[line - 1]
        return byte if text.isascii() else len(text.encode()[:byte].decode(errors="ignore"))

    def bytes(self, line: int, col: int) -> int:
        """The column in UTF-8 bytes of a column in characters."""
        return len(self.lines[line - 1][:col].encode())

    def span(self, node: ast.AST) -> Span:
        """Where the node stands."""
        if not isinstance(node, (ast.expr, ast.stmt, ast.arg, ast.keyword, ast.pattern)):
            return NOWHERE
        line, end = node.lineno, node.end_lineno or node.lineno
        last = self.characters(end, node.end_col_offset or 0)
        return Span(line, self.characters(line, node.col_offset), end, last)

    def cut(self, span: Span) -> str:
        """The text of the span."""
        if span.line == span.end_line:
            return self.lines[span.line - 1][span.col : span.end_col]
        first, last = self.lines[span.line - 1][span.col :], self.lines[span.end_line - 1][: span.end_col]
        return "\n".join([first, *self.lines[span.line : span.end_line - 1], last])

    def segment(self, node: ast.AST) -> str:
        """The node's own text."""
        return self.cut(self.span(node))
