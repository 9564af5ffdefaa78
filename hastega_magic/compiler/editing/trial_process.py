"""The process in which an edited kernel is tried: should it store into the wild, it dies here and not in the notebook.

It is started by trial.py, reads a pickled Trial from stdin, and says what it does, one JSON object a line:

    begin     the step that comes next, and for how many elements: should the process die, it was in this one
    refused   a rule that the text breaks (the fields of a Refusal)
    failed    why it cannot be compiled, or what it did that cannot be used; log: the compiler's words
    broke     what was raised here, in a sentence: the process ends by that
    times     {"original": [seconds, ...], "edited": [seconds, ...]} of whole runs, one after the other
    result    the fields of ResultSlabs: what the edited kernel left, in the file
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import IO, Any

from hastega_magic.compiler.backends import Backend, Job, backend_of
from hastega_magic.compiler.editing.kernel_rules import check_llvm
from hastega_magic.compiler.editing.kernel_rules_opencl import check_opencl
from hastega_magic.compiler.editing.trial_data import Text, Trial, elements_in, mapped, write_result
from hastega_magic.compiler.options import Options
from hastega_magic.ir.kernel import TROUBLE, Kernel
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass
from hastega_magic.runtime import buffers
from hastega_magic.runtime.loop_result import LoopResult
from hastega_magic.runtime.sources import Column
from hastega_magic.runtime.tables import TableColumn
from hastega_magic.trace import Trace

Say = Callable[..., None]

_ROUNDS = 25
"""Each kernel is timed so often at most."""


def main() -> None:
    """Do what stdin asks for."""
    # Drivers print: the answer keeps a stream of its own, and stdout becomes stderr.
    stream = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash here is no news

    def say(**event: object) -> None:
        stream.write(json.dumps(event) + "\n")

    try:
        trial: Trial = pickle.load(sys.stdin.buffer)  # noqa: S301  from the process that started this one
        threading.Thread(target=_die_with_parent, daemon=True).start()
        _try(trial, say)
    except Exception as error:
        say(broke=_sentence(error))
    stream.flush()
    # Drivers crash at exit, where it no longer matters; CPython does so while another thread waits for stdin.
    os._exit(0)


def _sentence(error: Exception) -> str:
    """What was raised, in one line: `MemoryError`, `ValueError: mmap length is greater than file size`."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")


def _die_with_parent() -> None:
    """Nobody will stop an endless kernel when the notebook's process has gone."""
    while sys.stdin.buffer.read(1):
        pass
    os._exit(1)


@dataclass(frozen=True)
class _Loaded:
    kernel: Kernel
    program: Any


def _try(trial: Trial, say: Say) -> None:
    say(begin="checking")
    original = trial.variants[trial.first].text
    check = check_llvm if trial.language == "llvm" else check_opencl
    refusal = check(trial.edited, original)
    if refusal is not None:
        say(refused=asdict(refusal))
        return
    say(begin="compiling")
    backend = backend_of(trial.options)
    try:
        bodies = [_Loaded(each.kernel, _load(backend, each, trial.options)) for each in trial.variants]
        text = Text(trial.variants[trial.first].kernel, trial.edited)
        edited = [*bodies]
        edited[trial.first] = _Loaded(text.kernel, _load(backend, text, trial.options))
    except Exception as error:  # what the compiler says is the answer
        say(failed=" ".join(str(error).split()), log=str(getattr(error, "log", "")))
        return
    with os.fdopen(trial.data, "rb") as data, os.fdopen(trial.results, "wb") as results:
        buffers.guard()
        _run(trial, backend, bodies, edited, (data, results), say)


def _load(backend: Backend, text: Text, options: Options) -> Any:
    return backend.load(text.kernel, text.text, options.fast_math)


def _run(
    trial: Trial,
    backend: Backend,
    bodies: Sequence[_Loaded],
    edited: Sequence[_Loaded],
    files: tuple[IO[bytes], IO[bytes]],
    say: Say,
) -> None:
    data, results = files
    columns = [
        Column(source, place if isinstance(place, range) else elements_in(mapped(place, data), source.layout))
        for source, place in trial.columns
    ]
    tables = [TableColumn(table, scalar, mapped(slab, data)) for table, scalar, slab in trial.tables]

    def run(variants: Sequence[_Loaded], length: int) -> LoopResult:
        cut = [replace(each, data=each.data[:length]) for each in columns]
        job = Job(lambda number: variants[number], len(variants), cut, tables, length, trial.first)
        return backend.run(job, trial.options, Trace())

    for length in sorted({trial.prefix, trial.length}):
        say(begin="running", elements=length)
        result = run(edited, length)
        wrong = _wrong(result)
        if wrong:
            say(failed=wrong, log="")
            return
        if length == trial.length:
            say(result=asdict(write_result(result, results)))
            results.flush()
        del result
    say(begin="timing", elements=trial.length)
    buffers.guard(False)  # fresh pages would cost both kernels more than they take
    times: dict[str, list[float]] = {"original": [], "edited": []}
    for variants in (bodies, edited):
        run(variants, trial.length)  # the first run finds its pages cold
    ends = time.perf_counter() + trial.seconds
    while len(times["edited"]) < 1 or (len(times["edited"]) < _ROUNDS and time.perf_counter() < ends):
        for name, variants in (("original", bodies), ("edited", edited)):
            times[name].append(run(variants, trial.length).kernel_seconds)
    say(times=times)


def _wrong(result: LoopResult) -> str:
    """What a kernel reported that cannot be; "" if all can."""
    if int(result.status.max(initial=0)) > TROUBLE:
        return f"a block has the status {int(result.status.max())}; there are 0, 1 and 2"
    packed = result.kept[:, : 1 + max((group for group in result.groups if group is not None), default=-1)]
    if packed.size and not 0 <= int(packed.min()) <= int(packed.max()) <= BLOCK:
        return f"a block says that it kept {int(packed.max())} of its {BLOCK} elements"
    return ""


__all__ = ["main"]
