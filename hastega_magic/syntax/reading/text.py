"""Places in a text: characters and UTF-8 bytes, and where strings, comments and brackets are."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple, cast

from hastega_magic.errors import NOWHERE, Span
from hastega_magic.records import cached_property

Place = tuple[int, int]
"""A 1-based line and a 0-based column in characters."""

_TOKEN = re.compile(
    r"""
    (?P<space> [^\S\n]+ )
  | (?P<newline> \n )
  | (?P<open> [(\[{] )
  | (?P<close> [)\]}] )
  | (?P<comment> \#[^\n]* )
  | (?P<string> (?i:[rbfut]|[bft]r|r[bft])? (?: '''(?:\\.|[^\\])*?(?:'''|\Z)
        | \"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z)
        | '(?:\\.|[^\\'\n])*(?:'|(?=\n)|\Z)
        | "(?:\\.|[^\\"\n])*(?:"|(?=\n)|\Z) ) )
  | (?P<joined> \\\n )
  | (?P<pipe> \|>(?![>=]) )
  | (?P<word> \w+ )
  | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
"""The commonest first: of those before strings, none begins as one does."""


class Token(NamedTuple):
    """A piece of the text. `depth`: how many brackets are open around it (an opening one counts itself)."""

    kind: str
    text: str
    line: int
    col: int
    depth: int


def scan(text: str) -> list[Token]:
    """All pieces of the text, whatever is wrong with it; an unclosed string ends with its line or text."""
    found: list[Token] = []
    # A cell has hundreds: each is made as `Token._make` does it, without a call of Python's.
    add, made = found.append, cast(Any, tuple).__new__
    line, start, depth = 1, 0, 0
    at = 0
    while (match := _TOKEN.match(text, at)) is not None:
        kind, piece, end = match.lastgroup or "other", match[0], match.end()
        if kind == "string":
            end = _end_of_string(text, match)
            piece = text[at:end]
        depth += kind == "open"
        add(made(Token, (kind, piece, line, at - start, depth)))
        depth -= kind == "close" and depth > 0
        if "\n" in piece:
            line += piece.count("\n")
            start = at + piece.rindex("\n") + 1
        at = end
    return found


_OPENED = re.compile(r"(?i:([a-z]*))('{3}|\"{3}|'|\")")
_NAMED = re.compile(r"\\N\{[^{}\n]*\}")


def _end_of_string(text: str, match: re.Match[str]) -> int:
    """Where a string ends that begins with the match: from Python 3.12 on, its own quotes may stand in its fields."""
    opened = _OPENED.match(text, match.start())
    if opened is None or not {"f", "t"} & set(opened[1].lower()) or "{" not in match.group():
        return match.end()
    end = _end_of_literal(text, opened.end(), opened[2], "r" in opened[1].lower())
    return match.end() if end is None else end


def _end_of_literal(text: str, at: int, quote: str, raw: bool, spec: bool = False) -> int | None:
    """Behind the quote that ends a string with fields; of a field's format, behind its brace. None if there is none."""
    while at < len(text):
        if text.startswith(quote, at):
            return None if spec else at + len(quote)
        two = text[at : at + 2]
        if two[0] == "\n" and len(quote) == 1:
            return None
        if two[0] == "}" and spec:
            return at + 1
        if two[0] == "\\":
            name = None if raw else _NAMED.match(text, at)
            at = name.end() if name is not None else at + (1 if two[1:] in ("{", "}") else 2)
        elif two == "{{" and not spec:
            at += 2
        elif two[0] == "{":
            end = _end_of_field(text, at + 1, quote, raw)
            if end is None:
                return None
            at = end
        else:
            at += 1
    return None


def _end_of_field(text: str, at: int, quote: str, raw: bool) -> int | None:
    """Behind the brace that ends a field of a string; None if there is none."""
    depth = 0
    while (match := _TOKEN.match(text, at)) is not None:
        kind, piece = match.lastgroup, match.group()
        if not depth and piece in ("}", ":"):
            return match.end() if piece == "}" else _end_of_literal(text, match.end(), quote, raw, spec=True)
        depth += (kind == "open") - (kind == "close")
        at = _end_of_string(text, match) if kind == "string" else match.end()
    return None


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
