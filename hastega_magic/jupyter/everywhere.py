r"""`%hastega on`: cells that hold `|>` run as if they began with `%%hastega`; all others stay IPython's.

    total = xs |> sum    →    get_ipython().run_cell_magic("hastega", "--everywhere", "total = xs |> sum\n")

The text is handed over whole, so that its lines are counted as the editor counts them. IPython's own syntax (`%time`,
`!ls`) has become calls by then.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import re
import tokenize
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.getipython import get_ipython

from hastega_magic.errors import CellSyntaxError
from hastega_magic.jupyter.tracebacks import CellError
from hastega_magic.syntax.reading.pipe import normalise, parse
from hastega_magic.syntax.reading.text import scan

if TYPE_CHECKING:
    from hastega_magic.jupyter.shell import Shell

PLAIN = "--everywhere"
"""What stands in the magic's line in transformed cells. Nobody writes it: a magic of its own would be in `%lsmagic`."""

AWAITED = "--everywhere --await"
"""The same where the cell awaits something: the magic then gives a coroutine."""


class Everywhere:
    """The switch of one shell. `line`: options as `%%hastega` takes them."""

    def __init__(self, shell: Shell) -> None:
        """Off at first."""
        self.line = ""
        self._shell = shell
        self._usual: Callable[[str], Any] = shell.input_transformer_manager.check_complete

    @property
    def is_on(self) -> bool:
        """Whether cells are looked at."""
        return any(each is self for each in self._shell.input_transformers_post)

    def on(self, line: str) -> None:
        """From the next cell on, run those with `|>`, with these options."""
        self.line = line
        if not self.is_on:
            self._shell.input_transformers_post.append(self)
            self._shell.input_transformers_cleanup.append(aligned)
            self._shell.input_transformer_manager.check_complete = self.check_complete

    def off(self) -> None:
        """Leave cells alone again."""
        found = self._shell.input_transformers_post
        found[:] = [each for each in found if each is not self]
        before = self._shell.input_transformers_cleanup
        before[:] = [each for each in before if each is not aligned]
        if self._shell.input_transformer_manager.check_complete == self.check_complete:
            self._shell.input_transformer_manager.check_complete = self._usual

    def check_complete(self, text: str) -> Any:
        """Whether a console is to run the text or to wait for more; to IPython a pipe is an error."""
        joined = re.sub(r"\n\s*\|>", " |>", text)  # a line that begins with a pipe continues the one before
        return self._usual(_as_bars(joined))

    def __call__(self, lines: list[str]) -> list[str]:
        """The lines of a cell, for IPython to run."""
        text = "".join(lines)
        if "|>" not in text or not holds_pipe(text):
            return lines
        if awaits(text, misplaced=True):
            return [f"await get_ipython().run_cell_magic('hastega', {AWAITED!r}, {text!r})\n"]
        return [f"get_ipython().run_cell_magic('hastega', {PLAIN!r}, {text!r})\n"]


def aligned(lines: list[str]) -> list[str]:
    """The lines of a cell, those that begin with a pipe indented so that IPython can take the text apart.

    It does so before anybody else sees the cell, and has no use for a line that ends blocks halfway.
    """
    if (lines and lines[0].startswith("%%")) or not any(each.lstrip().startswith("|>") for each in lines):
        return lines
    found = list(lines)
    for _ in lines:
        indents, tokens = [""], tokenize.generate_tokens(iter(found).__next__)
        try:
            for token in tokens:
                if token.type == tokenize.INDENT:
                    indents.append(token.string)
                elif token.type == tokenize.DEDENT:
                    indents.pop()
        except IndentationError as error:
            place = (error.lineno or 0) - 1
            if not 0 <= place < len(found) or not found[place].lstrip().startswith("|>"):
                break
            while place < len(found) and found[place].lstrip().startswith("|>"):  # and those behind it
                found[place] = indents[-1] + found[place].lstrip()
                place += 1
        except (tokenize.TokenError, SyntaxError):
            break
        else:
            break
    return found


_WHERE = "hastega: `|>` works in cells that begin with %%hastega; after `%hastega on`, in all that follow"
_NOT_INSIDE = "hastega: `|>` does not work inside an f-string: give the value a name first"
_FIRST = "hastega: `%%{}` has to be the first line of its cell: comments and other code stand below it"
_NO_BLANKS = "hastega: `%%{}` has to begin its line: no blanks stand before it"
_MEANT = re.compile(r"Cell magic `%%(\w*)[^`\w]*` not found\.")
"""What IPython says of a name that it does not know, where it does not think of another one."""


def hint(result: Any) -> None:
    """After a cell that IPython cannot read for its `|>` or `%%hastega`: say where they work.

    For IPython's event `post_run_cell`.
    """
    error, text = result.error_before_exec or result.error_in_exec, getattr(result.info, "raw_cell", "")
    if isinstance(error, UsageError) and (unknown := _MEANT.match(str(error))):
        name = unknown[1] or (text.lstrip("% ").split() or [""])[0]
        near = difflib.get_close_matches(name.lower(), _OURS, 1)
        if near:
            print(f"hastega: did you mean `%%{near[0]}`?")  # noqa: T201  behind the error
        return
    unseen = isinstance(error, UsageError) and "`%%hastega" in str(error)
    if not unseen and not isinstance(error, (SyntaxError, CellError)):
        return
    if misplaced := _misplaced(text):
        print(misplaced)  # noqa: T201
    elif not isinstance(error, SyntaxError) or isinstance(error, CellSyntaxError):
        return
    elif holds_pipe(text):
        shell = get_ipython()
        if not any(isinstance(each, Everywhere) for each in getattr(shell, "input_transformers_post", ())):
            print(_WHERE)  # noqa: T201
    elif "|>" in text and "f-string" in error.msg:
        print(_NOT_INSIDE)  # noqa: T201


def _misplaced(text: str) -> str:
    """What is to be said where IPython does not see a cell magic of ours, as it stands further down; else ""."""
    strings = [token for token in scan(text) if token.kind == "string"]
    inside = {token.line + n for token in strings for n in range(1, token.text.count("\n") + 1)}
    above = False
    for number, line in enumerate(text.split("\n"), 1):
        found = _CELL_MAGIC.match(line) if number not in inside else None
        if found and found[2] in _OURS:
            return _FIRST.format(found[2]) if above else _NO_BLANKS.format(found[2]) if found[1] else ""
        above = above or bool(line.strip() and not line.startswith("%%"))
    return ""


_CELL_MAGIC = re.compile(r"(\s*)%%(\w+)")
_OURS = "hastega", "hastega_kernel"
"""The cell magics."""

_MISPLACED = (
    "'await' outside",
    "'async with' outside",
    "'async for' outside",
    "asynchronous comprehension outside",
)
"""How Python's words begin for what only coroutines may do."""


def awaits(text: str, misplaced: bool = False) -> bool:
    """Whether the cell awaits something outside functions; with `misplaced` also in functions that cannot.

    Python, which then compiles it as a cell that awaits, marks that one and no other.
    """
    if "await" not in text and "async" not in text:
        return False
    try:
        tree = parse(normalise(text))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(tree, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return misplaced and error.msg.startswith(_MISPLACED)
    except (ValueError, RecursionError):
        return False  # what is wrong will be told when the cell runs
    return bool(code.co_flags & inspect.CO_COROUTINE)


def _as_bars(text: str) -> str:
    """The text with `| ` for each `|>`, which Python can read, if not understand."""
    lines = text.split("\n")
    for token in scan(text):
        if token.kind == "pipe":
            line = lines[token.line - 1]
            lines[token.line - 1] = f"{line[: token.col]}| {line[token.col + 2 :]}"
    return "\n".join(lines)


def holds_pipe(text: str) -> bool:
    """Whether `|>` stands in the text as an operator: outside strings and comments."""
    return any(token.kind == "pipe" for token in scan(text))


__all__ = ["AWAITED", "PLAIN", "Everywhere", "aligned", "awaits", "hint", "holds_pipe"]
