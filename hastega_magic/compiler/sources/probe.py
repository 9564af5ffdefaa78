"""Loops that are run before another one can be built: where `take_while` ends, which element is the one, a mean.

What looks for the first element of a kind runs over longer and longer stretches, and stops where it is found.
"""

from __future__ import annotations

from collections.abc import Iterator

from hastega_magic.compiler.options import Options
from hastega_magic.compiler.python.by_numpy import checked_by_python, value_or_checked
from hastega_magic.compiler.run import run_loops
from hastega_magic.compiler.sources.part import stretch
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import WideConstant
from hastega_magic.frames import reraise_signal
from hastega_magic.runtime.stream import NotProduced
from hastega_magic.syntax.loops.build import Probe
from hastega_magic.trace import Trace

_FIRST = 1 << 16
"""Elements of the first stretch; each further one is so much longer that the last one has nearly all."""
_LONGER = 16


def found(loop: Loop, probe: Probe, workspace: Workspace, options: Options, trace: Trace) -> object:
    """What the probe's loop gives; raises what running a loop raises."""
    if not probe.view.open:
        value = _found(loop, probe, workspace, options, trace)
    else:
        try:
            value = _found(loop, probe, workspace, options, trace)
        except Exception as error:  # of an element, or of none: over all elements Python would be asked
            reraise_signal(error)
            raise NotProduced from None
    trace.add("why", text=_told(loop, probe, value))
    return value


def _found(loop: Loop, probe: Probe, workspace: Workspace, options: Options, trace: Trace) -> object:
    value: object = None
    if not probe.early:
        value = _value(loop, workspace, options, trace)
    else:
        for start, stop in _stretches(probe.view.count or 0):
            (part,), cut = stretch([loop], workspace, start, stop)
            number = _value(part, cut, options, trace)
            if isinstance(number, int):
                value = start + number
                break
    return value


def _value(loop: Loop, workspace: Workspace, options: Options, trace: Trace) -> object:
    if options.on == "numpy":
        with trace.phase("kernel"):
            return value_or_checked(loop, workspace, options, trace, probe=True)
    try:
        return run_loops([loop], workspace, options, trace).values[0]
    except WideConstant:
        if options.int_mode != "checked":
            raise
    return checked_by_python(loop, workspace, options, probe=True)


def _stretches(length: int) -> Iterator[tuple[int, int]]:
    start, size = 0, _FIRST
    while start < length or not start:
        yield start, min(start + size, length)
        start, size = start + size, size * _LONGER


def _told(loop: Loop, probe: Probe, value: object) -> str:
    stage = loop.stages[probe.number].site.name
    match stage:
        case "take_while" | "drop_while":
            held = (
                "its function holds for all elements"
                if value is None
                else f"element {value} is the first to fail"
            )
            return f"A loop of its own went before, for `{stage}`: {held}."
        case "first" | "last":
            which = (
                "there is no element"
                if value is None
                else f"it is element {value} of those before the filters"
            )
            return f"A loop of its own went before, for `{stage}`: {which}."
        case "min" | "max":
            return f"A loop of its own went before, for `{stage}`: the first element of that key is number {value}."
        case _:
            return f"A loop of its own went before, for `{stage}`: the mean."
