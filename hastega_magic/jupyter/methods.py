"""Completion of the methods of a pipe that has no name yet.

(pipe(xs)
   .map(f)
   .fil⇥        filter    element: the elements for which f holds
"""

from __future__ import annotations

from collections.abc import Sequence

from hastega_magic.syntax.reading.text import Token, scan
from hastega_magic.syntax.stages import STAGES

_OTHERS = {
    "apply": "any other callable, called on the value so far",
    "explain": "the report of its last run",
    "run": "the elements as an array",
    "to_array": "the elements, always as an array",
}
_BLANK = frozenset({"space", "newline", "joined", "comment"})


def methods(before: str) -> tuple[str, list[tuple[str, str]]] | None:
    """What stands behind the last dot of a text, and all that may stand there, where it follows a pipe; else None."""
    if "pipe" not in before or "." not in before:
        return None
    tokens = [token for token in scan(before) if token.kind not in _BLANK]
    fragment = tokens.pop().text if tokens and tokens[-1].kind == "word" else ""
    if before[-1:].isspace() and fragment:
        return None
    if not tokens or tokens.pop().text != "." or not _is_pipe(tokens):
        return None
    return fragment, [*((row.name, f"{row.kind}: {row.doc}") for row in STAGES.values()), *_OTHERS.items()]


def _is_pipe(tokens: list[Token]) -> bool:
    """Whether they end with `pipe(...)`, or with calls of its methods that give pipes."""
    while _ends_with(tokens, ")"):
        name = _called(tokens)
        dotted = _ends_with(tokens, ".")
        if name == "pipe":
            return not dotted or [token.text for token in tokens[-2:]] == ["hastega_magic", "."]
        if not dotted or (name != "apply" and (name not in STAGES or STAGES[name].sink)):
            return False
        tokens.pop()
    return False


def _ends_with(tokens: Sequence[Token], text: str) -> bool:
    return bool(tokens) and tokens[-1].text == text


def _called(tokens: list[Token]) -> str:
    """Take a call off the end; the name that is called, "" where there is none."""
    opens = _opening(tokens)
    del tokens[opens:]
    return tokens.pop().text if tokens and tokens[-1].kind == "word" else ""


def _opening(tokens: Sequence[Token]) -> int:
    """Where the bracket that the last token closes was opened."""
    depth = tokens[-1].depth
    places = range(len(tokens) - 1, -1, -1)
    return next((at for at in places if tokens[at].kind == "open" and tokens[at].depth == depth), 0)


__all__ = ["methods"]
