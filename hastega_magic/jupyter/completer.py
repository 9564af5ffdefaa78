"""Completion after Tab: stages after `|>` or as methods of a pipe, their arguments, options, commands of `%hastega`.

xs |> fil⇥    filter    the elements for which f holds
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    context_matcher,  # pyright: ignore[reportUnknownVariableType]
)
from IPython.core.getipython import get_ipython

from hastega_magic.compiler.options import BACKENDS, INT_MODES, SECTIONS
from hastega_magic.errors import UsageError
from hastega_magic.jupyter.arguments import cell_options
from hastega_magic.jupyter.commands import COMMANDS
from hastega_magic.jupyter.keywords import keywords
from hastega_magic.jupyter.methods import methods
from hastega_magic.records import dataclass
from hastega_magic.syntax.reading.literals import DTYPES
from hastega_magic.syntax.reading.text import scan
from hastega_magic.syntax.stages import STAGES, Stage

if TYPE_CHECKING:
    from hastega_magic.compiler.comparing.kept import Kept
    from hastega_magic.jupyter.shell import Shell

_ARGUMENT = re.compile(r"\|>\s*(\w+)\s*\((?:[^()]|\([^()]*\))*?(?<![\w.])([^\W\d]\w*)?$")
_TYPE = re.compile(r"""(\|>|\.)\s*astype\s*\(\s*(?:dtype\s*=\s*)?(?:"([^"']*)|'([^"']*))$""")
_NEAR = re.compile(r"\|>\s*(\w+)\s*(?:\((?:[^()|]|\([^()]*\))*)?$")
_CELL_MAGIC = re.compile(r"\s*%%hastega(?=\s)")
_KERNEL_MAGIC = re.compile(r"\s*%%hastega_kernel(?=\s)")
_LINE_MAGIC = re.compile(r"\s*%hastega(?=\s)")
_WORD = re.compile(r"[^\s,=]*$")

_VALUES: Mapping[str, tuple[str, ...]] = {
    "--on": BACKENDS,
    "--compare": BACKENDS,
    "--int": INT_MODES,
    "--show": SECTIONS,
    "--width": ("1", "2", "4", "8", "16"),
    "--threads": ("1", "2", "4", "8", "16"),
    "--repeat": ("3", "5", "9"),
    "--device-memory": ("64", "256", "1024"),
}
_OF_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "report": ("--save",),
    "cache": ("clear",),
    "doctor": ("--on",),
}
_LANGUAGES = ("llvm", "opencl")


@dataclass(frozen=True)
class Found:
    """What may stand for the fragment before the cursor: texts, each with a sentence. `alone`: and nothing else."""

    fragment: str
    texts: tuple[tuple[str, str], ...]
    alone: bool = False


def complete(
    text: str,
    line: int,
    column: int,
    functions: Iterable[str] = (),
    names: Iterable[str] = (),
    results: Callable[[], Iterable[str]] = tuple,
) -> Found | None:
    """Completions at a place of a cell (line and column from 0); None where there are none of ours.

    `functions`: names of what may stand behind `|>` beside the stages; `names`: of all variables;
    `results`: of the last cell's, whose kernels can be edited.
    """
    before = text.split("\n")[line][:column]
    if line == 0 and (magic := _CELL_MAGIC.match(before)):
        return _options(before[magic.end() :])
    if line == 0 and (magic := _KERNEL_MAGIC.match(before)):
        return _kernels(before[magic.end() :], results)
    if magic := _LINE_MAGIC.match(before):
        return _commands(before[magic.end() :], results)
    so_far = "\n".join([*text.split("\n")[:line], before])
    begun = _begun_stage(so_far)
    if begun is not None:
        stages = [(row.name, f"{row.kind}: {row.doc}") for row in STAGES.values()]
        others = [(name, "function") for name in functions if name not in STAGES]
        return _among(begun, [*stages, *others], alone=True)
    dtype = _TYPE.search(before)
    if dtype and _is_stage(text, line, dtype):
        return _among(dtype[2] or dtype[3] or "", ((name, "dtype") for name in DTYPES), alone=True)
    argument = _ARGUMENT.search(so_far)
    if argument and argument[1] in STAGES and _is_code(text, *_place(so_far, argument.start())):
        row = STAGES[argument[1]]
        own = [(f"{name}=", row.usage) for name in (*row.parameters, *row.keywords)]
        if argument[2] or not own or so_far.rstrip()[-1] not in "(,":
            return _among(argument[2] or "", own)
        # Where nothing is typed yet, all of Python's names would bury these few.
        return _among("", [*own, *((name, "variable") for name in names)], alone=True)
    option = keywords(so_far)
    if option is not None:
        return _among(*option)
    found = methods(so_far)
    return None if found is None else _among(*found, alone=True)


def _begun_stage(text: str) -> str | None:
    """What of a stage's name stands at the end of the text, behind a `|>`, of a line above perhaps; None elsewhere."""
    tokens = [each for each in scan(text) if each.kind not in ("space", "joined")]
    if tokens and tokens[-1].kind == "comment":
        return None
    begun = (
        tokens.pop().text if tokens and tokens[-1].kind == "word" and text.endswith(tokens[-1].text) else ""
    )
    before = [each for each in tokens if each.kind not in ("newline", "comment")]
    return begun if before and before[-1].kind == "pipe" else None


def _place(text: str, at: int) -> tuple[int, int]:
    """Line and column, both from 0, of a character."""
    return text.count("\n", 0, at), at - (text.rfind("\n", 0, at) + 1)


def _is_code(text: str, line: int, column: int) -> bool:
    """Whether a `|>` is an operator, not a part of a string or a comment."""
    return any(token.kind == "pipe" and (token.line - 1, token.col) == (line, column) for token in scan(text))


def _is_stage(text: str, line: int, found: re.Match[str]) -> bool:
    """Whether what is found on a line begins with a `|>` that is an operator, or with the dot behind a pipe."""
    if found[1] == "|>":
        return _is_code(text, line, found.start())
    return methods("\n".join([*text.split("\n")[:line], found.string[: found.end(1)]])) is not None


def _among(fragment: str, texts: Iterable[tuple[str, str]], alone: bool = False) -> Found | None:
    found = tuple((text, told) for text, told in texts if text.startswith(fragment))
    return Found(fragment, found, alone) if found else None


def _options(before: str, others: Iterable[tuple[str, str]] = ()) -> Found | None:
    """Options, those of the cell and others, or the values of the one before the cursor."""
    word = _WORD.search(before)
    assert word is not None
    given = before[: word.start()].split()
    name = next((each.partition("=")[0] for each in reversed(given) if each.startswith("-")), "")
    ended = given[-1:] == [name] or before[: word.start()].endswith((",", "="))
    if name in ("--on", "--compare") and ended and word[0].startswith("opencl:"):
        return _devices(word[0])
    if name in _VALUES and ended:
        return _among(word[0], ((value, "") for value in _VALUES[name]), alone=True)
    return _among(word[0], [*others, *_known_options()], alone=True)


def _devices(fragment: str) -> Found:
    """Those that the fragment is the beginning of, or all: Python's names have no business there."""
    from hastega_magic.jupyter.devices import devices

    there = devices()
    begun = [each for each in there if each[0].startswith(fragment.lower())]
    return Found(fragment, tuple(begun or there), alone=True)


def _known_options() -> list[tuple[str, str]]:
    return [(name, option.help or "") for name, option in cell_options().items()]


def _kernels(before: str, results: Callable[[], Iterable[str]]) -> Found | None:
    """A language, then the name of a result."""
    word = _WORD.search(before)
    assert word is not None
    given = len(before[: word.start()].split())
    offered = _LANGUAGES if given == 0 else results() if given == 1 else ()
    return _among(word[0], ((each, "") for each in offered), alone=True)


def _commands(before: str, results: Callable[[], Iterable[str]]) -> Found | None:
    name, space, rest = before.lstrip().partition(" ")
    if not space:
        listed = ((each, (command.run.__doc__ or "").rstrip(".")) for each, command in COMMANDS.items())
        return _among(name, listed, alone=True)
    if name == "on":
        return _options(" " + rest, [("--report", "show reports")])
    if name == "edit":
        return _kernels(rest, results)
    word = _WORD.search(rest)
    assert word is not None
    if name == "doctor" and re.search(r"--on[\s=]+(\S+,)*$", rest[: word.start()]):
        if word[0].startswith("opencl:"):
            return _devices(word[0])
        tried = (backend for backend in BACKENDS if backend not in ("auto", "all"))
        return _among(word[0], ((backend, "") for backend in tried), alone=True)
    if rest[: word.start()].split()[-1:] == ["--save"] or rest[: word.start()].endswith("--save="):
        return None  # IPython knows the files
    if name == "help":
        stages = [(row.name, f"{row.kind}: {row.doc}") for row in STAGES.values()]
        commands = [(each, command.does) for each, command in COMMANDS.items()]
        return _among(word[0], [*stages, *commands, *_known_options()], alone=True)
    return _among(word[0], ((each, "") for each in _OF_COMMANDS.get(name, ())), alone=True)


def _variables() -> dict[str, object]:
    """The user's own, by name."""
    shell: Any = get_ipython()
    names: Mapping[str, object] = {} if shell is None else shell.user_ns
    known: Mapping[str, object] = {} if shell is None else shell.user_ns_hidden
    return {name: names[name] for name in sorted(names) if name[0] != "_" and name not in known}


def _results() -> list[str]:
    """Names of the last cell's results that loops computed, the latest first."""
    shell: Any = get_ipython()
    magics = None if shell is None else shell.magics_manager.registry.get("HastegaMagics")
    try:
        kept: Sequence[Kept] = () if magics is None else magics.kept()
    except UsageError:  # no cell has run
        return []
    return list(dict.fromkeys(name for each in reversed(kept) for name in each.names))


def stage_at(text: str, place: int) -> Stage | None:
    """The stage that a place of a cell (characters from 0) is in the name or the arguments of."""
    before = text[:place]
    word = re.match(r"\w*", text[place:])
    assert word is not None
    found = _NEAR.search(before + word[0])
    if found is None or found[1] not in STAGES:
        return None
    return STAGES[found[1]] if _is_code(text, *_place(before, found.start())) else None


@context_matcher(identifier="hastega")  # pyright: ignore[reportUntypedFunctionDecorator]
def matcher(context: CompletionContext) -> Any:
    """What IPython's completer calls."""
    variables = _variables()
    functions = [name for name, value in variables.items() if callable(value)]
    found = complete(
        context.full_text, context.cursor_line, context.cursor_position, functions, list(variables), _results
    )
    if found is None:
        return {"completions": []}
    texts, alone = list(found.texts), found.alone
    if not alone and found.fragment and any(text.endswith("=") for text, _ in texts):
        # IPython puts others' names before ours, and those of arguments before all in a call of Python's.
        known = {text for text, _ in texts}
        names = [
            name for name in (*variables, "lambda", "not", *dir(builtins)) if name.startswith(found.fragment)
        ]
        texts += [(name, "name") for name in dict.fromkeys(names) if name not in known]
        alone = True
    return {
        "completions": [SimpleCompletion(text, type=told or "option") for text, told in texts],
        "matched_fragment": found.fragment,
        "ordered": True,
        "suppress": alone,
    }


def install(shell: Shell) -> None:
    """Let the shell's completer ask here."""
    matchers: list[Callable[..., Any]] | None = _matchers(shell)
    if matchers is not None and matcher not in matchers:
        matchers.append(matcher)


def remove(shell: Shell) -> None:
    """Take that back."""
    matchers = _matchers(shell)
    if matchers is not None:
        matchers[:] = [each for each in matchers if each is not matcher]


def _matchers(shell: Shell) -> list[Callable[..., Any]] | None:
    return getattr(getattr(shell, "Completer", None), "custom_matchers", None)


__all__ = ["Found", "complete", "install", "matcher", "remove", "stage_at"]
