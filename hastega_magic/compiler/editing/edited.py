"""Kernels that the user has edited: the text to begin with, and a trial of what became of it.

    text_of(kept, "llvm")  →  the user changes it  →  run_edited(kept, "llvm", text)  →  equal? how fast?

The text is checked against rules (kernel_rules.py), compiled and run in a process of its own over a copy of
the sources, first over a few elements, then over all, then in turns with the original. The notebook's process never
runs it: no rule can prove that the addresses which a kernel computes are its own.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import IO, Any, cast

import numpy as np

from hastega_magic.compiler.backends import Backend, backend_of
from hastega_magic.compiler.comparing.kept import Kept
from hastega_magic.compiler.editing.kernel_text import KernelText, without_places
from hastega_magic.compiler.editing.trial import Tried, attempt, scratch_file
from hastega_magic.compiler.editing.trial_data import Text, Trial, frame_of, write_columns, write_tables
from hastega_magic.compiler.execute import Execution, Separately, finish
from hastega_magic.compiler.loops import CompiledLoop, compile_loop
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.run import run_loops
from hastega_magic.compiler.sources.part import part
from hastega_magic.errors import HastegaError, NotCompilable, UsageError
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.kernel import TROUBLE
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass
from hastega_magic.runtime.opencl.build_log import KERNEL
from hastega_magic.runtime.sources import Column
from hastega_magic.trace import Trace

LANGUAGES = ("llvm", "opencl")

PREFIX = 16 * BLOCK + 17
"""Elements of the first run: some blocks, and a last one that is not whole. Two threads share them."""

COPIED = 2 << 30
"""Bytes of sources that are copied at most; of larger ones only so many elements are tried."""

_SECONDS = 1.0
"""How long the two kernels are timed."""

_LEAST = 10.0
"""Seconds that a run may take in any case, before a kernel counts as endless."""


class KernelError(HastegaError):
    """An edited kernel that cannot be run.

    `line`: of its text, from 1 (0: not known); `column` from 0 (-1: not known).
    """

    def __init__(self, message: str, text: str = "", line: int = 0, column: int = -1, log: str = "") -> None:
        """`text`: the kernel's; `log`: what the compiler said."""
        super().__init__(message)
        lines = text.splitlines()
        self.line = line
        self.column = column
        self.source = lines[line - 1] if 0 < line <= len(lines) else ""
        self.log = log

    def _render_traceback_(self) -> list[str]:
        shown: list[str] = []
        if self.source:
            # The cell's first line is the magic.
            shown += [f"  Cell line {self.line + 1}", f"    {self.source}"]
            if self.column >= 0:
                shown.append("    " + " " * self.column + "^")
        log = self.log.splitlines()
        # Some compilers show the line as well, with a caret below it.
        words = [line for line in log if line.strip(" ^~") not in ("", self.source.strip())]
        if len(words) == 1 and str(self).endswith(words[0].rpartition(": ")[2]):
            log = []  # the same once more
        return [*shown, f"KernelError: {self}", *(f"    {line}" for line in log)]


@dataclass(frozen=True)
class EditedRun:
    """An edited kernel beside the original.

    values       what it gave, by the names of the results
    elements     over so many; `of`: of so many that the sources have
    difference   "" where all results are equal, else the first difference in words
    seconds, original_seconds  medians of runs in turns; `spread`, `original_spread`: the fastest and the slowest
    by_python    blocks that the kernel left to Python
    """

    language: str
    backend: str
    values: dict[str, object]
    elements: int
    of: int
    difference: str
    seconds: float
    spread: tuple[float, float]
    original_seconds: float
    original_spread: tuple[float, float]
    runs: int
    by_python: int

    @property
    def equal(self) -> bool:
        """Whether the results are equal to the original's."""
        return not self.difference


@dataclass(frozen=True)
class _Original:
    """The loop of a cell for the back end of a language."""

    options: Options
    backend: Backend
    compiled: CompiledLoop
    fused: Fused

    @property
    def text(self) -> str:
        """The text of the variant that runs first, without debug locations."""
        return self.variant(self.compiled.first).text

    def variant(self, number: int) -> Text:
        """The frame and the text of a variant."""
        kernel = self.compiled.body(number, Trace()).kernel
        return Text(
            frame_of(kernel), self.backend.generate(replace(kernel, located=False), self.options.fast_math)
        )


def text_of(kept: Kept, language: str) -> str:
    """The kernel of a loop in "llvm" or "opencl", for somebody to edit; UsageError if it has none there."""
    return _original(kept, language).text


def _original(kept: Kept, language: str) -> _Original:
    if language not in LANGUAGES:
        raise UsageError(f"there are kernels in {' and '.join(LANGUAGES)}, not in {language!r}")
    options = replace(kept.options, repeat=1, quiet=True, compare=(), baseline=False, show=())
    backend = backend_of(options)
    if backend.language != language:
        options = replace(options, on="opencl" if language == "opencl" else "parallel")
        backend = backend_of(options)
    pipelines = [loop.pipeline for loop in kept.loops]
    try:
        compiled, fused, _ = compile_loop(pipelines, kept.workspace.table_columns, options, Trace(), backend)
        found = _Original(options, backend, compiled, fused)
        found.variant(compiled.first)
    except NotCompilable as error:
        raise UsageError(f"this loop has no kernel in {language}: {error}") from None
    return found


def run_edited(kept: Kept, language: str, text: str) -> EditedRun:
    """Try an edited kernel beside the original.

    KernelError where it breaks a rule, cannot be compiled, dies, does not end, or reports what cannot be; whatever
    an element raises that it leaves to Python.
    """
    original = _original(kept, language)
    text = without_places(text) if language == "llvm" else text
    columns = [kept.workspace.column(source) for source in original.fused.sources]
    whole = min(len(column.data) for column in columns)
    length = _length(columns, whole)
    loops, workspace = part(kept.loops, kept.workspace, length)
    began = time.perf_counter()
    try:
        execution = run_loops(loops, workspace, original.options, Trace())
    except Separately:
        sentence = (
            "an element needs Python there, one statement after the other: this loop's kernel does not apply"
        )
        raise KernelError(sentence) from None
    known = time.perf_counter() - began
    with scratch_file() as data:
        tried = attempt(
            lambda here, there: _trial(
                original, language, text, (columns, length, kept), data, (here, there)
            ),
            data,
            max(_LEAST, 100 * known),
        )
    result = tried.result
    if result is None or not tried.times:
        raise error_of(tried, text)
    edited = Execution(
        original.compiled, execution.fused, [], execution.columns, length, 1, True, original.backend, execution.job
    )  # fmt: skip
    try:
        finish(edited, result, loops, workspace, original.options, Trace())
    except Separately:
        raise KernelError(
            "the edited kernel leaves elements to Python, which the original does not"
        ) from None
    mine, theirs = tried.times["edited"], tried.times["original"]
    return EditedRun(
        language, original.backend.name, dict(zip(kept.names, edited.values, strict=True)), length, whole,
        _difference(kept.names, execution.values, edited.values), statistics.median(mine), (min(mine), max(mine)),
        statistics.median(theirs), (min(theirs), max(theirs)), len(mine), int((result.status == TROUBLE).sum()),
    )  # fmt: skip


def _length(columns: Sequence[Column], length: int) -> int:
    each = sum(8 if column.source.storage is None else column.source.storage.size for column in columns)
    stored = [column for column in columns if not isinstance(column.data, range)]
    return min(length, max(BLOCK, COPIED // max(1, each))) if stored else length


def _trial(
    original: _Original,
    language: str,
    text: str,
    sources: tuple[Sequence[Column], int, Kept],
    data: IO[bytes],
    files: tuple[int, int],
) -> Trial:
    columns, length, kept = sources
    try:
        written = write_columns(columns, length, data)
        tables = write_tables(kept.workspace.table_columns, data)
    except OSError as error:
        raise KernelError(f"there is no room for a copy of the sources: {error.strerror}") from None
    data.flush()
    variants = tuple(original.variant(number) for number in range(len(original.compiled.variants.bodies)))
    return Trial(
        language, original.options, variants, original.compiled.first, text, written, tables, length,
        min(PREFIX, length), _SECONDS, *files,
    )  # fmt: skip


def error_of(tried: Tried, text: str) -> KernelError:
    """What is told of a trial that gave no result. `text`: the edited one."""
    if tried.refused is not None:
        found = tried.refused
        reason = f". {found['reason']}" if found["reason"] else ""
        return KernelError(f"{found['text']}{reason}", text, found["line"], found["column"])
    if tried.failed and tried.step == "running":
        return KernelError(f"the edited kernel ran, but {tried.failed}")
    if tried.failed:
        line, column, said = _place(tried.log, text)
        message = f"{tried.failed}: {said}" if said else f"it cannot be compiled: {tried.failed}"
        return KernelError(message, text, line, column, _short(_in_cell(tried.log)))
    where = {
        "running": f"while it ran over the first {tried.elements} elements",
        "timing": "while it was timed",
    }
    what = where.get(tried.step, f"while {tried.step}")
    how = "failed" if tried.broke else tried.ended or "ended without a result"
    why = tried.broke or _last_words(tried.errors)
    return KernelError(
        f"the process that tried the edited kernel {how} {what}{f' ({why})' if why else ''}; "
        "this notebook is as it was",
        log=_short(tried.errors),
    )


_WORDS = re.compile(r"^(?:LLVM ERROR: |Fatal Python error: |\w*(?:Error|Exception): ).*$", re.MULTILINE)
"""What LLVM or CPython writes before it ends the process."""


def _last_words(errors: str) -> str:
    """Why a process ended, by what it wrote to stderr; "" where it did not say."""
    found = _WORDS.findall(errors)
    return found[-1].strip() if found else ""


_IN_LOG = (re.compile(r":(\d+):(\d+): (?:fatal )?error: (.*)"), re.compile(r"error: \S+:(\d+):(\d+): (.*)"))
"""How drivers name a place: clang's way, and PoCL's."""

_NOWHERE = re.compile(r"[Uu]nresolved extern function '(\w+)'")
"""NVIDIA's linker: a function that is declared nowhere, without its place."""


def _place(log: str, text: str) -> tuple[int, int, str]:
    """Line, column and message of the first error in a compiler's log; 0, -1 and "" where it names no place."""
    for form in _IN_LOG:
        found = form.search(log)
        if found is not None and 0 < int(found[1]) <= text.count("\n") + 1:
            return int(found[1]), int(found[2]) - 1, found[3].strip()
    if missing := _NOWHERE.search(log):
        line = KernelText.of("opencl", text).line_of(rf"\b{missing[1]}\b")
        return line, -1, f"there is no function `{missing[1]}`"
    return 0, -1, ""


def _in_cell(log: str) -> str:
    """The log with the lines of an OpenCL kernel counted as in the cell, whose first one is the magic."""
    return re.sub(rf"{KERNEL}:(\d+):(\d+)", lambda at: f"cell line {int(at[1]) + 1}, column {at[2]}", log)


def _short(log: str) -> str:
    lines = [line for line in log.splitlines() if line.strip()]
    return "\n".join([*lines[:12], *([f"... and {len(lines) - 12} more lines"] if len(lines) > 12 else [])])


def _difference(names: Sequence[str], ours: Sequence[object], theirs: Sequence[object]) -> str:
    """The first difference between results, in words; "" where there is none."""
    for name, own, other in zip(names, ours, theirs, strict=True):
        found = _differs(own, other)
        if found:
            return f"`{name}`: {found}"
    return ""


def _differs(own: object, other: object) -> str:
    if isinstance(own, (np.ndarray, list)) and isinstance(other, (np.ndarray, list)):
        mine, theirs = np.asarray(cast("Any", own)), np.asarray(cast("Any", other))
        shorter = min(len(mine), len(theirs))
        at = _first(mine[:shorter], theirs[:shorter])
        if at is not None:
            return f"element {at} is {theirs[at]}, the original's is {mine[at]}"
        if len(mine) != len(theirs):
            return f"{len(theirs)} elements, the original has {len(mine)}"
        return ""
    same = _first(np.array([own]), np.array([other])) is None
    return "" if same else f"{other}, the original's is {own}"


def _first(mine: Any, theirs: Any) -> int | None:
    """Where two arrays first differ: NaN is NaN, and -0.0 is not 0.0."""
    parts = [(mine[name], theirs[name]) for name in mine.dtype.names or ()]
    if mine.dtype.kind == theirs.dtype.kind == "c":
        parts = [(mine.real, theirs.real), (mine.imag, theirs.imag)]
    if parts:
        places = [_first(*each) for each in parts]
        return min((place for place in places if place is not None), default=None)
    differs = mine != theirs
    if mine.dtype.kind == "f" and theirs.dtype.kind == "f":
        differs |= np.signbit(mine) != np.signbit(theirs)
        differs &= ~(np.isnan(mine) & np.isnan(theirs))
    found = np.flatnonzero(differs)
    return int(found[0]) if len(found) else None


__all__ = ["LANGUAGES", "EditedRun", "KernelError", "error_of", "run_edited", "text_of"]
