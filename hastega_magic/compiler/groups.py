"""Neighbouring statements that become one loop: which ones join a group, and the values of all of its statements.

    ys = xs |> map(f)
    total = ys |> sum           an element of `ys` is added up where it is computed

A group is run when the next statement does not join it, or its values are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hastega_magic.compiler import adaptive
from hastega_magic.compiler.execute import Separately
from hastega_magic.compiler.outcome import Group, Outcome
from hastega_magic.compiler.reporting import describe
from hastega_magic.compiler.reporting.graphs import Pictures
from hastega_magic.compiler.reporting.stacked import LoopTexts
from hastega_magic.compiler.run import run_loops
from hastega_magic.compiler.sources.short_circuit import in_stretches
from hastega_magic.compiler.statement import Bound, Loop, build_loop
from hastega_magic.compiler.streaming.stream_results import counts_many, is_of_another_form
from hastega_magic.compiler.trampoline import carried
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import BeyondInt64, NotCompilable, WideConstant
from hastega_magic.frames import reraise_signal
from hastega_magic.passes.fuse import can_fuse
from hastega_magic.runtime.columnar import NullsError

if TYPE_CHECKING:
    from hastega_magic.compiler.driver import Driver
    from hastega_magic.compiler.fastpath.group_cache import Matched


FUSED = 32
"""Statements of a group at most: what LLVM takes grows with the square of what a loop computes side by side."""


def group_with(
    driver: Driver,
    group: Group | None,
    bound: Bound,
    source: object,
    producer: str | None,
    matched: Matched | None = None,
) -> Group | None:
    """The group with the statement in it (a new group for None); None if it does not fit.

    `producer` names the statement of the group whose result is the source; `matched`: its loop, where it is known.
    """
    driver.current, options = bound, driver.options
    alone = producer is None and (in_stretches(bound, source) or counts_many(bound.stages, source))
    first = bound.stages[0].site  # a tap is given the source as it is, elements or none
    alone = alone or not first.known or first.name == "tap"
    if alone or not options.fuse or options.on in ("python", "numpy"):
        return None
    before = [] if group is None else group.loops
    if matched is not None:
        if not _joins(driver, before, matched.loop):
            return None
        expected = matched.expected
        return Group(matched.workspace, [*before, matched.loop], expected.compiled, expected)
    workspace = group.workspace if group is not None else Workspace(driver.filename)
    with workspace.tried() as tried:
        workspace.varying |= bound.varying
        earlier = None
        if producer is not None:
            assert group is not None
            earlier = next(loop for loop in reversed(group.loops) if loop.bound.target == producer)
        try:
            with driver.trace.phase("parse"):
                loop, _, probe = build_loop(bound, source, bound.stages, workspace, earlier)
        except (BeyondInt64, NullsError):  # to be told when its turn comes
            return None
        if loop is None or probe is not None or len(loop.stages) < len(bound.stages):
            if bound.varying and group is None:
                constant = replace(bound, varying=frozenset(), needed=bound.varying)
                return group_with(driver, None, constant, source, None)
            return None
        if not _joins(driver, before, loop):
            return None
        tried.keep()
        return Group(workspace, [*before, loop])


def _joins(driver: Driver, before: Sequence[Loop], loop: Loop) -> bool:
    """Whether a statement's loop is one for a group, and for the one with these."""
    told = loop.pipeline.sink.kind == "to_list" or loop.bound.target not in driver.wanted
    if len(before) == FUSED or (told and is_of_another_form(loop)):
        return False
    return not before or can_fuse([each.pipeline for each in before], loop.pipeline)


def run_group(driver: Driver, group: Group) -> Iterator[Outcome]:
    """Values of the group's statements: in one outcome, or one after the other where an element needs Python."""
    number, bounds = driver.trace.next_group(), [loop.bound for loop in group.loops]
    describe.describe_group(bounds, driver.trace)
    driver.current = bounds[0]
    execution, beyond = None, ""
    group.workspace.wanted = driver.wanted
    try:
        how = driver.options, driver.trace, driver.options.tune, group.compiled
        with carried():
            execution = run_loops(group.loops, group.workspace, *how)
    except Exception as error:  # of one, as `min` of no elements: those before it have their effect
        reraise_signal(error)
        if len(group.loops) == 1 and not isinstance(error, (Separately, BeyondInt64, NotCompilable)):
            driver.tell_of(error, group.workspace.raised, group.loops[0])
            raise
        elements = driver.options.int_mode == "checked" and isinstance(error, WideConstant)
        alone = len(group.loops) == 1 and isinstance(error, BeyondInt64) and not elements
        beyond = str(error) if alone else ""
    if execution is None:
        driver.trace.events = [event for event in driver.trace.events if event.group != number]
        yield from _one_by_one(driver, group, beyond)
        return
    shown = not driver.options.quiet
    texts = [LoopTexts.of(execution, group.loops, driver.options, driver.trace)] if shown else []
    driver.tell(execution, texts, 1)
    adaptive.tell(bounds, [group.workspace], driver.options, driver.trace)
    pictures = Pictures(shown)
    pictures.group(group.loops, execution)
    pictures.finish("", None, driver.trace)
    driver.warn(execution, bounds[0])
    yield Outcome(bounds, execution.values, group.loops, execution, number, group.workspace)


def _one_by_one(driver: Driver, group: Group, beyond: str) -> Iterator[Outcome]:
    """`beyond`: what no int64 holds of the only one, which would come to the same alone."""
    values: dict[str, object] = {}
    for loop in group.loops:
        bound, source = loop.bound, loop.pipeline.source
        given = values[source.name] if source.kind == "result" else bound.source
        left = driver.left.exact(loop, group.workspace) if beyond else ()
        with carried():
            outcome = driver.run_alone(bound, given, beyond, left)
        values[bound.name] = outcome.values[0]
        yield outcome


__all__ = ["FUSED", "group_with", "run_group"]
