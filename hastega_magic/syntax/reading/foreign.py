"""Stages and functions written as other languages write them, of which Python says only that they are no syntax."""

from __future__ import annotations

import ast
import keyword
import re

from hastega_magic.syntax.reading.names import reads
from hastega_magic.syntax.reading.text import scan
from hastega_magic.syntax.stages import STAGES

_STAGE = r"\|>\s*(?P<stage>\w+)"
_NAMES = r"(?!lambda\b|fn\b)\w+(?:\s*,\s*\w+)*"

_FUNCTIONS = tuple(
    re.compile(_STAGE + r"\(\s*" + head)
    for head in (
        rf"(?:(?:fn|lambda)\b\s*)?\(?\s*(?P<names>{_NAMES})\s*\)?\s*(?:->|=>)",  # x -> x, (a, b) => a, fn x -> x end
        rf"(?P<names>{_NAMES})\s*:(?!=)",  # x: x + 1
        rf"func(?:tion)?\s*\(\s*(?P<names>{_NAMES})\s*\)\s*(?:=>)?",  # function(x) x + 1
        r"\\\s*(?P<names>\w+(?:\s+\w+)*)\s*->",  # \x -> x + 1
        rf"\|\s*(?P<names>{_NAMES})\s*\|",  # |x| x + 1
        r"&(?P<names>)",  # &(&1 + 1)
    )
)
_BEHIND = "|".join(sorted({*keyword.kwlist} - {"lambda", "await", "None", "True", "False"}))
"""What begins no argument: `sum else 0` lacks an `if`, not parentheses."""

_BARE = re.compile(_STAGE + rf"[ \t]+(?!(?:{_BEHIND})\b)(?=[\w'\"])")
_PIPE = re.compile(r"(?P<pipe>\|\||\|\s+>|\|>>|%>%)\s*(?P<stage>\w+)")
_DOT = re.compile(r"\|>\s*(?P<dot>\.)\s*(?P<stage>\w+)")


def as_elsewhere(line: str, col: int) -> tuple[str, int, int] | None:
    """What is written here in place of what Python could not read in a line, and the columns of it; None: unknown.

    `col`: where Python's parser gave up.
    """
    for found in (each for form in _FUNCTIONS for each in form.finditer(line)):
        name, start = found["stage"], found.end("stage") + 1
        if name in STAGES and STAGES[name].functions and start <= col <= found.end() + 2:
            usual = "lambda total, x: ..." if name in ("reduce", "scan") else "lambda x: ..."
            form = _rewritten(found, line) or usual
            return f"a function is written otherwise in Python: `{name}({form})`", start, found.end()
    for found in _BARE.finditer(line):
        if found["stage"] in STAGES and found.start("stage") <= col <= found.end():
            said = f"a stage's arguments stand in parentheses: `{found['stage']}(...)`"
            return said, found.start("stage"), found.end("stage")
    for found in _PIPE.finditer(line):
        if found["stage"] in STAGES and found.start() <= col <= found.end():
            return f"a pipeline is written with `|>`: `|> {found['stage']}`", found.start(), found.end("pipe")
    for found in _DOT.finditer(line):
        if found.start("dot") <= col <= found.end():
            said = f"a stage is written without a dot: `|> {found['stage']}`"
            return said, found.start("dot"), found.end("stage")
    return None


def _rewritten(found: re.Match[str], line: str) -> str | None:
    """The stage's arguments as Python writes them; None where they do not end in the line, or are none even so."""
    rest = line[found.end() :]
    outer = [token for token in scan(rest) if token.depth == 0 or token.kind == "comment"]
    stop = next((token.col for token in outer if token.kind in ("close", "comment")), len(rest))
    comma = next((token.col for token in outer if token.text == "," and token.col < stop), stop)
    body = re.sub(r"\s+end$", "", rest[:comma].strip())
    block = re.fullmatch(r"\{([^{}:,]*)\}", body)
    names = re.findall(r"\w+", found["names"])
    body = block[1].strip() if names and block else body  # elsewhere its value; here a set
    function = f"lambda {', '.join(names)}: {body}" if names else re.sub(r"&1\b", "_", body)
    others = rest[comma:stop].rstrip()
    try:
        tree = ast.parse(function, mode="eval")
        ast.parse(f"f(0{others})", mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not names:  # in Elixir it stands in parentheses
        function = ast.unparse(tree)
    written = function + others
    means = len({*names}) == len(names) if names else "_" in reads(tree)
    return written if means and len(written) <= _SHORT else None


_SHORT = 60
"""A form that is longer is not shown: who has written it knows the rest."""


__all__ = ["as_elsewhere"]
