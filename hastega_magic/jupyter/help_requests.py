"""IPython's `?` behind a stage: what the stage does, where IPython knows Python's function of its name at most.

    xs |> scan?    xs |> scan(f)?    →    get_ipython().run_line_magic('hastega', 'help scan')

The whole statement gives way to its help, as IPython has it, and what stands below keeps its line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hastega_magic.syntax.reading.names import is_shadowed
from hastega_magic.syntax.reading.text import Token, scan
from hastega_magic.syntax.stages import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hastega_magic.jupyter.shell import Shell


class _Asking:
    """What a shell calls with a cell's lines, cell magics written out, to have them as Python."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def __call__(self, lines: list[str]) -> list[str]:
        text = "".join(lines)
        if "?" not in text or "|>" not in text:
            return lines
        python = text.split("\n")
        for first, last, name in _asked(text):
            if not is_shadowed(self._shell.user_ns, name):
                indent = re.match(r"\s*", python[first - 1])
                assert indent is not None
                call = f"{indent[0]}get_ipython().run_line_magic('hastega', 'help {name}')"
                python[first - 1 : last] = [call, *[""] * (last - first)]
        return [f"{line}\n" for line in python[:-1]] + ([python[-1]] if python[-1] else [])


def _asked(text: str) -> Iterator[tuple[int, int, str]]:
    """First and last line of each statement that ends with a stage and `?` or `??`, and the stage's name."""
    first, ended, line, statement = 1, True, list[Token](), list[Token]()
    for token in [*scan(text), Token("newline", "\n", 0, 0, 0)]:
        if token.kind == "newline":
            if line and (name := _name(statement)):
                yield first, line[-1].line, name
            ended, line = ended or token.depth == 0, []
        elif token.kind not in ("space", "joined"):
            if ended and token.kind != "comment":
                # A line that begins with a pipe goes on with the statement above.
                if token.kind != "pipe":
                    first, statement = token.line, []
                ended = False
            line.append(token)
            statement.append(token)


def _name(statement: list[Token]) -> str | None:
    """The stage that a statement asks about at its end, behind its arguments perhaps."""
    marks = [token.text for token in statement[-2:]].count("?")
    if not marks or statement[-1].text != "?":
        return None
    asked = statement[:-marks]
    if asked and asked[-1].kind == "close":
        depth, given = asked[-1].depth, asked
        opened = (
            n for n in range(len(given) - 1, -1, -1) if given[n].kind == "open" and given[n].depth == depth
        )
        asked = given[: next(opened, 0)]
    if len(asked) < 2:
        return None
    pipe, word = asked[-2:]
    return word.text if pipe.kind == "pipe" and word.text in STAGES else None


def install(shell: Shell) -> None:
    """From the next cell on."""
    shell.input_transformer_manager.line_transforms.append(_Asking(shell))


def remove(shell: Shell) -> None:
    """Leave `?` to IPython again."""
    found = shell.input_transformer_manager.line_transforms
    found[:] = [each for each in found if not isinstance(each, _Asking)]


__all__ = ["install", "remove"]
