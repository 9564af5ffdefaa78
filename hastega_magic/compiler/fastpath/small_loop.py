"""A loop over few elements, called directly: the words of its sources, which elements it uses, what it makes of them.

Loops that others have to go before, as `var`, which needs the mean, are several of these, one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.fastpath.arg_extremes import Sought, searched
from hastega_magic.compiler.fastpath.direct_result import DirectResult, Gather
from hastega_magic.compiler.fastpath.gathering import gathering
from hastega_magic.compiler.fastpath.guards import Display, sources
from hastega_magic.compiler.fastpath.reading import Given, Words, readings
from hastega_magic.compiler.fastpath.slots import DoesNotFit, Number, owners_of
from hastega_magic.compiler.fastpath.tables import Varied, without_varied
from hastega_magic.compiler.fastpath.views import ViewRule, view_rule
from hastega_magic.compiler.fastpath.wide_products import Beyond, product_beyond
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.run import run_loops
from hastega_magic.compiler.statement import Bound, Loop, bare, build_loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.ir import abi
from hastega_magic.records import changed, dataclass
from hastega_magic.runtime.cpu import Program
from hastega_magic.runtime.cpu.direct import MOST, DirectCall
from hastega_magic.syntax.closures.captured import Free
from hastega_magic.trace import Trace

NOTHING: Mapping[int, object] = {}


class Troubled(DoesNotFit):
    """The loop fits these elements, but one of them raises an exception, or needs more than 64 bits."""


class ResultUnknown(DoesNotFit):
    """The loop fits these elements, but cannot give the value: its memory is in use, or what it left is not enough."""


@dataclass(frozen=True)
class SmallLoop:
    """The loop. `view_rule`: where it does not use the first elements of all sources."""

    words: tuple[Words, ...]
    direct: DirectCall
    gather: Gather
    view_rule: ViewRule | None = None
    tailed: bool = False
    """Whether a shorter chunk is left at the end."""
    arrays: tuple[Varied, ...] = ()
    """Captured ones that may be others in each run."""
    beyond: Beyond | None = None
    """Finds its product where that leaves 128 bits."""

    def run(
        self,
        operands: Sequence[Any],
        arguments: Sequence[object],
        length: int,
        displays: Sequence[Display],
        known: Mapping[int, object] = NOTHING,
    ) -> object:
        """The value of at most `MOST` elements; DoesNotFit where the loop is not for them; what an element raises.

        `known`: what the loops found that went before.
        """
        view, tail = None, 0
        if self.view_rule is not None:
            view, tail = self.view_rule.at(operands, known, arguments)
            length = view.count or 0
            if length > MOST or bool(tail) != self.tailed:
                raise DoesNotFit
        direct = self.direct
        if not direct.lock.acquire(blocking=False):
            raise ResultUnknown
        try:
            run = Given(operands, arguments, length, view, known, [])
            words: list[int] = []
            for each in self.words:
                words += each.given(run)
            read = [each.enter(direct, arguments) for each in self.arrays]
            arrays = direct.run(words, length)
            del read  # it had to stay so long
            if arrays is not None:
                try:
                    return self.gather(DirectResult(direct, arrays, operands, displays, view, tail))
                except DoesNotFit:
                    raise ResultUnknown from None
        finally:
            direct.lock.release()
        found = None if self.beyond is None else self.beyond(operands[0], length, view)
        if found is None:
            raise Troubled
        return found


def small_loop(
    execution: Execution,
    loop: Loop,
    options: Options,
    words: tuple[Words, ...],
    where: ViewRule | None,
    arrays: tuple[Varied, ...] = (),
    lock: Lock | None = None,
    sought: Sought | None = None,
) -> SmallLoop | None:
    """The loop that ran, made ready; None where its result is of another kind, or it may take any time.

    `arrays`: captured ones that may be others in each run. `lock`: of all loops that are given captured numbers in the
    same memory. `sought`: another one that is run in its place.
    """
    execution, gather = sought or (execution, gathering(execution, options, loop))
    compiled = execution.compiled
    body = compiled.bodies.get(compiled.first)
    if gather is None or body is None or not isinstance(body.program, Program):
        return None
    # A loop of an element's own may take any time, and has to be interrupted: not on this thread.
    if abi.layout(body.kernel).lasting:
        return None
    direct = DirectCall(body.kernel, body.program, without_varied(execution.job.tables, arrays), lock)
    beyond = product_beyond(execution, options, loop)
    return SmallLoop(words, direct, gather, where, bool(loop.built.tail), arrays, beyond)


@dataclass(frozen=True)
class Before:
    """A loop that runs first, to find what the stage of this number needs, as a mean or where `take_while` ends."""

    stage: int
    small: SmallLoop


def before(
    bound: Bound,
    workspace: Workspace,
    options: Options,
    numbers: Mapping[int, Number],
    arrays: tuple[Varied, ...],
    lock: Lock,
    free: Sequence[Free],
) -> list[tuple[Before, object]] | None:
    """The loops that went before the statement's own, run again, and what they found; None where one is not to be.

    `numbers`: captured ones that keep changing, by key of their source; `arrays`: captured ones that may be others.
    `free`: what else may be others in each run.
    """
    known: dict[int, object] = {}
    found: list[tuple[Before, object]] = []
    operands = sources(bound)
    owned = owners_of(operands, workspace)
    while owned is not None:
        loop, _, probe = build_loop(bound, bound.source, bound.stages, workspace, None, known)
        if probe is None:
            return found
        if loop is None or (probe.view.count or 0) > MOST:
            break
        execution = run_loops([loop], workspace, options, Trace())
        view = changed(loop, built=changed(loop.built, view=probe.view))
        words = readings(operands, owned[0], numbers, workspace, execution, view)
        where = view_rule(bound, known, probe.number, free)
        sought = searched(loop, execution.fused, workspace, options)
        ready = (
            None
            if words is None
            else small_loop(execution, bare(loop), options, words, where, arrays, lock, sought)
        )
        if ready is None or execution.fell_back:
            break
        known[probe.number] = execution.values[0]
        found.append((Before(probe.number, ready), execution.values[0]))
    return None


__all__ = ["NOTHING", "Before", "ResultUnknown", "SmallLoop", "Troubled", "before", "small_loop"]
