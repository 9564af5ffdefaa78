"""IPython's `?` behind a stage: what the stage does, where IPython knows Python's function of its name at most.

    xs |> scan?    xs |> scan(f)?    pipe(xs).scan?    →    get_ipython().run_line_magic('hastega', 'help scan')

The whole statement gives way to its help, as IPython has it, and what stands below keeps its line.
"""

from __future__ import annotations

import re
from types import ModuleType
from typing import TYPE_CHECKING

import hastega_magic
from hastega_magic.syntax.reading.names import is_shadowed
from hastega_magic.syntax.reading.text import Token, scan
from hastega_magic.syntax.stages import STAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hastega_magic.jupyter.shell import Shell


class _Asking:
    """What a shell calls with a cell's lines, cell magics written out, to have them as Python."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def __call__(self, lines: list[str]) -> list[str]:
        text = "".join(lines)
        if "?" not in text or not ("|>" in text or ")" in text):
            return lines
        python = text.split("\n")
        for first, last, name, begin in _asked(text):
            names = self._shell.user_ns
            if _is_pipe(names, begin) if begin else not is_shadowed(names, name):
                indent = re.match(r"\s*", python[first - 1])
                assert indent is not None
                call = f"{indent[0]}get_ipython().run_line_magic('hastega', 'help {name}')"
                python[first - 1 : last] = [call, *[""] * (last - first)]
        return [f"{line}\n" for line in python[:-1]] + ([python[-1]] if python[-1] else [])


def _asked(text: str) -> Iterator[tuple[int, int, str, Sequence[str]]]:
    """First and last line of each statement that ends with a stage and `?` or `??`, and the stage's name.

    And, of a method, the dotted name of what is called first.
    """
    first, ended, line, statement = 1, True, list[Token](), list[Token]()
    for token in [*scan(text), Token("newline", "\n", 0, 0, 0)]:
        if token.kind == "newline":
            if line and (found := _name(statement)):
                yield first, line[-1].line, *found
            ended, line = ended or token.depth == 0, []
        elif token.kind not in ("space", "joined"):
            if ended and token.kind != "comment":
                # A line that begins with a pipe goes on with the statement above.
                if token.kind != "pipe":
                    first, statement = token.line, []
                ended = False
            line.append(token)
            statement.append(token)


def _name(statement: list[Token]) -> tuple[str, Sequence[str]] | None:
    """The stage that a statement asks about at its end; of a method, what is called first."""
    marks = [token.text for token in statement[-2:]].count("?")
    if not marks or statement[-1].text != "?":
        return None
    asked = statement[:-marks]
    if asked and asked[-1].kind == "close":
        asked = _before_call(asked)
    if len(asked) < 2 or asked[-1].text not in STAGES:
        return None
    if asked[-2].kind == "pipe":
        return asked[-1].text, ()
    begin = _begin(asked)
    return (asked[-1].text, begin) if begin else None


def _before_call(tokens: list[Token]) -> list[Token]:
    """What stands before the brackets that end here."""
    opened = range(len(tokens) - 1, -1, -1)
    depth = tokens[-1].depth
    return tokens[: next((n for n in opened if tokens[n].kind == "open" and tokens[n].depth == depth), 0)]


def _begin(tokens: list[Token]) -> list[str]:
    """The dotted name of what a chain of calls, `name(...).map(...).scan`, calls first; nothing where there is none."""
    names, called = list[str](), False
    while len(tokens) > 2 and tokens[-2].text == ".":
        tokens = tokens[:-2]
        if tokens[-1].kind == "close":
            tokens, names, called = _before_call(tokens), [], True
        if not tokens or tokens[-1].kind != "word":
            return []
        names.insert(0, tokens[-1].text)
    return names if called else []


def _is_pipe(namespace: Mapping[str, object], names: Sequence[str]) -> bool:
    """Whether the dotted name is that of the explicit form, or begins with a pipe."""
    from hastega_magic.lazy import Pipe

    value = namespace.get(names[0])
    for name in names[1:]:
        value = getattr(value, name, None) if isinstance(value, ModuleType) else value
    return value is hastega_magic.pipe or isinstance(value, Pipe)


def install(shell: Shell) -> None:
    """From the next cell on."""
    shell.input_transformer_manager.line_transforms.append(_Asking(shell))


def remove(shell: Shell) -> None:
    """Leave `?` to IPython again."""
    found = shell.input_transformer_manager.line_transforms
    found[:] = [each for each in found if not isinstance(each, _Asking)]


__all__ = ["install", "remove"]
