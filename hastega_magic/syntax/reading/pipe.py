"""The operator `|>`: read with Python's own parser, at the precedence of `|`.

Every `|>` becomes `| `, which is as wide, so that no line and no column moves; the operators at those places
are then marked as pipes. A line that begins with `|>` is joined to the code before it by backslashes, which
take the place of blanks and comments alone.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeGuard

from hastega_magic.errors import CellIndentationError, CellSyntaxError, CellTabError, Span
from hastega_magic.syntax.reading.text import Place, Text, Token, scan
from hastega_magic.syntax.reading.trees import parsed


def is_pipe(node: ast.AST | None) -> TypeGuard[ast.BinOp]:
    """Whether the node is `left |> right`; to Python itself it is `left | right`."""
    return isinstance(node, ast.BinOp) and getattr(node.op, "pipe", False)


def spine(node: ast.BinOp) -> list[ast.BinOp]:
    """The pipes of a pipeline, the innermost first: its `left` is the source, and every `right` a stage."""
    found = [node]
    while is_pipe(left := found[-1].left):
        found.append(left)
    return found[::-1]


def _pipe() -> ast.BitOr:
    # An attribute, not a class of its own: ast.unparse knows operators by the names of their classes.
    operator = ast.BitOr()
    setattr(operator, "pipe", True)  # noqa: B010 (nodes take any attribute, and their stubs do not say so)
    return operator


def normalise(text: str) -> str:
    """The text with line feeds alone, and with a cell magic in its first line blanked."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    first, end, rest = text.partition("\n")
    return " " * len(first) + end + rest if first.lstrip().startswith("%%") else text


def parse(text: str, filename: str = "<cell>") -> ast.Module:
    """The tree of a text with `|>`, each of which is a BinOp for which `is_pipe` holds.

    Lines and columns are those of `text`. CellSyntaxError, with the user's own line, where it cannot be read.
    """
    text = normalise(text)
    tokens = _tokens(text)
    pipes = {(token.line, token.col) for token in tokens if token.kind == "pipe"}
    _check_neighbours(tokens, text, filename)
    while True:
        tree = _parse_python(_as_python(text, tokens, pipes), text, filename, pipes)
        astray = pipes - _mark(tree, text, pipes)
        if not astray:
            return tree
        pipes -= astray  # they stand inside something that only Python knows to be a string


@lru_cache(maxsize=4)
def _tokens(text: str) -> tuple[Token, ...]:
    """The pieces of a text, which is read again where the functions in it are looked for."""
    return tuple(scan(text))


def ends_with_semicolon(text: str) -> bool:
    """Whether the last thing in the text, comments apart, is a semicolon."""
    code = (token.text for token in reversed(_tokens(normalise(text))) if token.kind not in _BLANK)
    return next(code, "") == ";"


_BLANK = frozenset({"comment", "newline", "space", "joined"})


def _as_python(text: str, tokens: Iterable[Token], pipes: set[Place]) -> str:
    """The text with `| ` for `|>`, and with lines that begin with it joined to the code before them."""
    lines = [list(line) for line in text.split("\n")]
    end: Place | None = None  # where the code before the present token ends, outside brackets
    for token in tokens:
        if token.kind in _BLANK:
            continue
        if (token.line, token.col) in pipes:
            lines[token.line - 1][token.col + 1] = " "
            if end is not None and token.depth == 0 and end[0] < token.line:
                _join(lines, end, token.line)
        last_line = token.line + token.text.count("\n")
        last_col = (0 if "\n" in token.text else token.col) + len(token.text.rpartition("\n")[2])
        end = last_line, last_col
    return "\n".join("".join(line) for line in lines)


def _join(lines: list[list[str]], end: Place, line: int) -> None:
    first, col = end
    for number in range(first, line):
        kept = lines[number - 1][: col if number == first else 0]
        lines[number - 1] = [*kept, " ", "\\"] if kept else ["\\"]


_KINDS: Mapping[type[SyntaxError], type[CellSyntaxError]] = {
    each.kind: each for each in (CellIndentationError, CellTabError)
}


def _parse_python(python: str, text: str, filename: str, pipes: set[Place]) -> ast.Module:
    try:
        return parsed(python, filename)
    except SyntaxError as error:
        if error.lineno is None and "\0" in text:
            before = text.partition("\0")[0]
            line, col = before.count("\n") + 1, len(before) - before.rfind("\n") - 1
            raise CellSyntaxError(error.msg, text, Span(line, col, line, col + 1), filename) from None
        line, col = error.lineno or 1, max((error.offset or 1) - 1, 0)
        end_line, end_col = error.end_lineno or line, (error.end_offset or 0) - 1
        ends_after = (end_line, end_col) > (line, col)
        span = Span(line, col, end_line, end_col) if ends_after else Span(line, col, line, col + 1)
        message, span = _explain(error.msg, Text(text), span, pipes)
        raise _KINDS.get(type(error), CellSyntaxError)(message, text, span, filename) from None
    except (ValueError, RecursionError, MemoryError) as error:
        reason = "the cell is nested too deeply" if not isinstance(error, ValueError) else str(error)
        raise CellSyntaxError(reason, text, Span(1, 0, 1, 1), filename) from None


def _explain(message: str, text: Text, span: Span, pipes: set[Place]) -> tuple[str, Span]:
    """Python's message, or a better one where ours is the syntax that it could not know."""
    lines = text.lines
    line = lines[span.line - 1] if span.line <= len(lines) else ""
    shell = re.match(r"\s*(?:\w[\w, ]*=\s*)?([%!])", line)
    if shell and span.col >= shell.start(1):
        place = Span(span.line, shell.start(1), span.line, len(line))
        if line.lstrip().startswith("%%"):
            return "IPython's commands for a cell (%%...) stand above `%%hastega`, not below", place
        said = f"IPython's commands ({shell[1]}...) do not work in a %%hastega cell: "
        return f"{said}they do in any other, and after `%hastega on` beside `|>`", place
    asks = re.fullmatch(r"(?:.*\|>)?\s*(\?{1,2}\s*[\w.*]+|[\w.*]+\s*\?{1,2})\s*;?\s*", line)
    if not asks and line[span.col : span.col + 1] == "?":
        # Behind a stage's arguments, which may begin further up.
        behind = line.rpartition("|>")[2].rjust(len(line))
        asks = re.fullmatch(r".*?((?:[\w.]+\(.*)?\)\s*\?{1,2})\s*;?\s*", behind)
    if asks:
        place = Span(span.line, asks.start(1), span.line, asks.end(1))
        return "IPython's help (`name?`) does not work in a %%hastega cell: ask in another cell", place
    if "f-string" in message:
        # The field may have begun on a line before.
        inside = (at.end() - 2 for at in re.finditer(r"(?:\{[^{}]*?|^[^{}'\"#]*?)\|>", line))
        for col in inside:
            if (span.line, col) in pipes:
                continue
            place = Span(span.line, col, span.line, col + 2)
            return "`|>` does not work inside an f-string: give the value a name first", place
        # Where it is, Python 3.11 counts from the expression's own beginning.
        begins = re.search(r"\b(?:f|rf|fr)(?=['\"])", line, re.IGNORECASE)
        if begins and (span.line, span.col) in pipes:
            return message, Span(span.line, begins.start(), span.line, begins.end() + 1)
    from hastega_magic.syntax.reading.foreign import as_elsewhere, forgotten

    if (found := as_elsewhere(line, span.col)) is not None:
        return found[0], Span(span.line, found[1], span.line, found[2])
    if (span.line, span.col) in pipes:
        return "invalid syntax: `|>` stands between a value and a stage", span._replace(end_col=span.col + 2)
    end = max(span.end_col, span.col + 1) if span.end_line == span.line else len(line)
    if message.startswith("invalid syntax") and (found := forgotten(line, span.col, end)) is not None:
        return found[0], Span(span.line, found[1], span.line, found[2])
    return message, span


_NOTHING_AFTER = "nothing stands after `|>`: write the stage on the same line, as in `xs |> sum`"
_NOTHING_BEFORE = "nothing stands before `|>`: write a source first, as in `xs |> map(f)`"


def _check_neighbours(tokens: Sequence[Token], text: str, filename: str) -> None:
    """CellSyntaxError for a `|>` that has nothing on one of its sides."""
    before: Token | None = None
    pending: Token | None = None
    for token in tokens:
        if token.kind == "newline" and pending is not None and token.depth == 0:
            raise CellSyntaxError(_NOTHING_AFTER, text, _span(pending), filename)
        if token.kind in _BLANK:
            continue
        if pending is not None:
            if token.kind in ("close", "pipe") or token.text in (",", ";"):
                raise CellSyntaxError(_NOTHING_AFTER, text, _span(pending), filename)
            if token.text == "lambda":
                message = "a function after `|>` stands in a stage or in parentheses: `|> map(lambda ...)`"
                raise CellSyntaxError(message, text, _span(token), filename)
        starts = before is None or before.kind == "open" or before.text in (",", ";", "=")
        if token.kind == "pipe" and starts:
            raise CellSyntaxError(_NOTHING_BEFORE, text, _span(token), filename)
        pending = token if token.kind == "pipe" else None
        before = token
    if pending is not None:
        raise CellSyntaxError(_NOTHING_AFTER, text, _span(pending), filename)


def _span(token: Token) -> Span:
    return Span(token.line, token.col, token.line, token.col + len(token.text))


def _mark(tree: ast.Module, text: str, pipes: set[Place]) -> set[Place]:
    """Mark the operators at these places as pipes; returns the places that had one."""
    if not pipes:
        return set()
    places = Text(text)
    at_line: dict[int, list[tuple[int, Place]]] = {}
    for line, col in pipes:
        at_line.setdefault(line, []).append((places.bytes(line, col), (line, col)))
    order = sorted((line, byte) for line, there in at_line.items() for byte, _ in there)
    found: set[Place] = set()
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.expr, ast.stmt)):
            # What no pipe stands in is most of a cell. Decorators stand before the place of their function.
            first = bisect_left(order, (node.lineno, node.col_offset))
            within = first < len(order) and order[first] < (node.end_lineno or 0, node.end_col_offset or 0)
            if not within and not getattr(node, "decorator_list", ()):
                continue
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            place = _between(node, at_line)
            if place is not None:
                node.op = _pipe()
                found.add(place)
        pending += ast.iter_child_nodes(node)
    return found


def _between(node: ast.BinOp, at_line: dict[int, list[tuple[int, Place]]]) -> Place | None:
    """The place of a pipe that lies between the operands."""
    start = node.left.end_lineno or 0, node.left.end_col_offset or 0
    end = node.right.lineno, node.right.col_offset
    for line in range(start[0], end[0] + 1):
        for col, place in at_line.get(line, ()):
            if start <= (line, col) < end:
                return place
    return None
