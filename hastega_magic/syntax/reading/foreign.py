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

_BARE = re.compile(_STAGE + rf"(?:[ \t]+(?!(?:{_BEHIND})\b)(?=[\w'\"])|[ \t]*(?={{))")
_PIPE = re.compile(r"(?P<pipe>\|\||\|\s+>|\|>>|%>%|>\||->>?)\s*(?P<stage>\w+)")
_DOT = re.compile(r"\|>\s*(?P<dot>\.)\s*(?P<stage>\w+)")

_LAMBDA = r"\blambda\b[^:()]*"

_INSIDE = tuple(
    (re.compile(form), said)
    for form, said in (
        (r"&&", "`&&` is written `and` in Python"),
        (r"\|\|", "`||` is written `or` in Python"),
        (r"(?<![\w)\]])(?P<at>!)(?!=)", "`!` is written `not` in Python"),
        (r"\?(?=.*:)", "`a ? b : c` is written `b if a else c` in Python"),
        (
            r"\w\s*(?P<at>\+\+|--)(?=\s*(?:[,)\]};]|$))",
            "Python has no `++` and no `--`: write `+ 1` or `- 1`",
        ),
        (_LAMBDA + r":\s*(?P<at>return)\b", "a lambda gives its value without `return`"),
        (_LAMBDA + r":\s*(?P<at>if)\b", "inside a lambda stands `a if condition else b`"),
        (
            _LAMBDA + r"\w(?P<at>\s+)(?=[\w'\"({[])",
            "a colon stands behind the names of a lambda: `lambda x: ...`",
        ),
        (r"[(,]\s*(?P<at>def)\b", "`def` stands on lines of its own, and the function's name here: `map(f)`"),
        (
            r"^\s*(?P<at>let|var|val|const|auto)\s+\w+\s*(?==)",
            "a name gets its value without a word before: `x = ...`",
        ),
        (r"^\s*\w+\s*(?P<at>:=)", "a name gets its value by `=`: `x = ...`"),
        (r"(?P<at>\|>=)", "a pipeline gives a new value, and a name takes it by `=`: `x = x |> ...`"),
        (
            r"(?P<at>(?<![\w.])\d+\s*(?:\.\.[.=<]?|:)\s*\w+)(?=[\s)\]]*\|>)",
            "the numbers from `a` to `b` are written `range(a, b + 1)`",
        ),
    )
)
"""What stands in functions and statements of other languages, and what does here."""

_BY_SIGN = re.compile(_STAGE + r"\(\s*(?P<sign>\+|-|\*|//?|%|&|\||\^)\s*[,)]")
_SIGNS = {("reduce", "+"): "sum", ("reduce", "*"): "prod", ("scan", "+"): "cumsum"}
"""Stages that say the same by name."""


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
        if found["stage"] in STAGES and found.start() <= col <= found.end() and not _is_arrow(found, line):
            return f"a pipeline is written with `|>`: `|> {found['stage']}`", found.start(), found.end("pipe")
    for found in _DOT.finditer(line):
        if found.start("dot") <= col <= found.end():
            said = f"a stage is written without a dot: `|> {found['stage']}`"
            return said, found.start("dot"), found.end("stage")
    for found in _BY_SIGN.finditer(line):
        name, sign = found["stage"], found["sign"]
        if name in ("reduce", "scan") and found.start("sign") <= col <= found.end():
            named = f"`{_SIGNS[name, sign]}`, or " if (name, sign) in _SIGNS else ""
            said = f"an operator alone is no function: write {named}`{name}(lambda total, x: total {sign} x)`"
            return said, found.start("sign"), found.end("sign")
    return _inside(line, col)


def _is_arrow(found: re.Match[str], line: str) -> bool:
    """Whether it is a function's, as in `f = x -> sum(x)`: what stands before it is read behind."""
    before = re.search(r"(\w+)\W*$", line[: found.start()])
    read = before is not None and re.search(rf"\b{before[1]}\b", line[found.end() :]) is not None
    return found["pipe"].startswith("->") and read


def _inside(line: str, col: int) -> tuple[str, int, int] | None:
    """The same of a word or an operator, where the parser gave up at it or right behind."""
    for form, said in _INSIDE:
        for found in form.finditer(line):
            start, end = found.span("at" if "at" in form.groupindex else 0)
            if start <= col <= len(line) - len(line[end:].lstrip()):
                return said, start, end
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


_HALF = re.compile(r"(?<!\|)(?P<at>\|)\s*(?:#.*)?$")
_NEXT = re.compile(r"(?<=[\w)\]])\s+(?P<at>[^\W\d]\w*)")


def forgotten(line: str, col: int, end: int) -> tuple[str, int, int] | None:
    """What is to be said of a stage without its pipe, or of half a pipe, where Python stopped; and where it stands.

    `end`: where what it marked ends.
    """
    half = _HALF.search(line)
    if half and col >= half.start() and "|>" in line:
        said = "nothing stands after `|`, and a pipe is `|>` with a stage behind it on the same line"
        return said, half.start("at"), half.end("at")
    found = next(
        (each for each in _NEXT.finditer(line) if col <= each.start("at") < end and each["at"] in STAGES),
        None,
    )
    if found is None or "|>" not in line:
        return None
    return f"did you forget `|>` before `{found['at']}`?", found.start("at"), found.end("at")


__all__ = ["as_elsewhere", "forgotten"]
