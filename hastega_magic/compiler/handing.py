"""Loops of one statement that hand their elements on piece by piece, so that nobody has all of them.

    range(n) |> cumsum |> max               running sums, a million at a time
    xs |> filter(p) |> take(10) |> sum      ends with the piece in which the tenth is
    xs |> filter(p) |> enumerate |> map(f) |> sum

The last loop runs as ever, over a stream that the others fill (runtime/stream.py). Where an element needs Python, or
anything else comes up, nothing has happened, and the loops run one after the other, over all elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hastega_magic.compiler.backends import backend_of
from hastega_magic.compiler.choice.choosing import choose
from hastega_magic.compiler.execute import Execution, compiled_on, execute, job_of
from hastega_magic.compiler.options import Options, placed
from hastega_magic.compiler.reach import number_of
from hastega_magic.compiler.run import settled
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import HastegaError
from hastega_magic.ir import abi
from hastega_magic.report import units
from hastega_magic.runtime import python
from hastega_magic.runtime.produced import NotProduced, Produced, Spent
from hastega_magic.runtime.stream import PIECE, Passed, Stream
from hastega_magic.syntax.build import BoundStage
from hastega_magic.types import RESULT_STORAGE

if TYPE_CHECKING:
    from hastega_magic.compiler.driver import Driver
    from hastega_magic.compiler.under_way import UnderWay

LONG = 4 * PIECE
"""Elements from which on it is worth it."""

_BACKENDS = frozenset({"auto", "simd", "parallel"})
_STORED = frozenset({"array", "cumsum", "scan"})
"""Sinks that give elements for another loop."""


@dataclass
class _Link:
    """A loop that fills a stream, and its run as it is told."""

    loop: Loop
    workspace: Workspace
    execution: Execution
    producer: Produced
    stream: Stream


@dataclass
class _Chain:
    """The loops so far: those that fill streams, and the last one with its run, once there is one."""

    driver: Driver
    run: UnderWay
    options: Options
    links: list[_Link] = field(default_factory=list[_Link])
    last: tuple[Loop, Workspace, Execution] | None = None

    def value(self, loop: Loop, workspace: Workspace, rest: Sequence[BoundStage]) -> object:
        """The statement's, from a loop over what there is so far, and the stages behind it."""
        skip, limit, rest = _cut(rest)
        link = self._link(loop, workspace, skip, limit)
        self.links.append(link)
        if not rest:
            if limit is None or limit > PIECE:
                raise NotProduced
            link.stream.draw()  # what is left out may raise, too
            return link.stream[:limit].copy()
        if len(rest) == 1 and rest[0].callee is None and rest[0].site.name in ("first", "last"):
            return _end(link.stream, rest[0])
        later, _, behind = self.driver.longest(self.run.bound, link.stream, rest, self.run.bound.varying)
        if later is None:
            raise NotProduced
        if len(later.stages) < len(rest):
            return self.value(later, behind, rest[len(later.stages) :])
        backend = backend_of(self.options)
        ready = compiled_on(backend, [later], behind, self.options, self.driver.trace)
        execution = execute(ready, backend)
        self.last = later, behind, execution
        return execution.values[0]

    def _link(self, loop: Loop, workspace: Workspace, skip: int, limit: int | None) -> _Link:
        """The loop, whose results stay in the caches: they are read soon."""
        if not _gives_elements(loop):
            raise NotProduced
        trace = self.driver.trace
        ready = compiled_on(backend_of(self.options), [loop], workspace, self.options, trace, near=True)
        job = job_of(ready)
        kernel, choice = job.variant(job.first).kernel, None
        plan = abi.layout(kernel)
        if len(plan.stores) != 1 or plan.folds or job.length < _least(limit):
            raise NotProduced
        if self.options.on == "auto":
            choice = choose(ready.compiled, kernel, [loop], job.columns, job.length, self.options)
            if choice.on not in _BACKENDS:
                raise NotProduced
            self.options = placed(self.options, choice.on)
        backend = backend_of(self.options)
        threads = min(backend.threads, job.tuned.threads or backend.threads)
        producer = Produced(
            job.variant, job.variants, job.first, job.learn, ready.compiled.variants.ordered, job.columns,
            job.tables, job.length, threads,
        )  # fmt: skip
        stream = Stream(producer, RESULT_STORAGE[plan.stores[0].type].name, job.length, skip, limit)
        execution = Execution(
            ready.compiled, ready.fused, [], list(job.columns), job.length, threads, ready.cached, backend, job,
            on=self.options.on, choice=choice,
        )  # fmt: skip
        return _Link(loop, workspace, execution, producer, stream)

    def tell(self) -> None:
        """What ran, link by link."""
        seconds = 0.0
        for link in self.links:
            producer, stream, spent = link.producer, link.stream, self._spent(link.producer)
            own = spent.kernel + spent.convert
            seconds += own
            passed = Passed(stream.dtype, producer.given, stream.pieces)
            told = replace(link.execution, values=[passed], seconds=own, length=producer.reached)
            trace = self.driver.trace
            trace.add("phase", name="convert_in", seconds=spent.convert, bytes=spent.moved_in)
            trace.add("phase", name="kernel", seconds=spent.kernel, bytes=spent.bytes)
            self.driver.ran(self.run, link.loop, link.workspace, told)
            size = units.size(min(PIECE, producer.given) * stream.dtype.itemsize)
            trace.add(
                "why",
                text=f"Loop {len(self.run.loops)} hands its elements on in {units.plural(stream.pieces, 'piece')}: of "
                f"{units.size(passed.nbytes)} in all, about {size} are there at once.",
            )
        if self.last is not None:
            loop, workspace, execution = self.last
            execution.seconds = max(0.0, execution.seconds - seconds)
            self.driver.ran(self.run, loop, workspace, execution)

    def _spent(self, producer: Produced) -> Spent:
        """By all its runs, or by the middle one of those that were asked for."""
        runs = [each for each in producer.spent if each.bytes]
        if self.options.repeat > 1 and runs:
            return sorted(runs, key=lambda each: each.kernel)[len(runs) // 2]
        return Spent(
            sum(each.kernel for each in runs), sum(each.convert for each in runs), sum(each.bytes for each in runs),
            sum(each.moved_in for each in runs),
        )  # fmt: skip


def _least(limit: int | None) -> int:
    """From how many elements on loops hand on; where some elements are enough, it is soon worth it."""
    return LONG if limit is None else PIECE


def handed_on(driver: Driver, run: UnderWay, loop: Loop, workspace: Workspace) -> bool:
    """Whether the loop and all stages behind it were run, piece by piece."""
    options, rest = settled(driver.options), run.rest[len(loop.stages) :]
    plain = not (options.tune or run.bound.ordinary or loop.scalars is not None)
    if not (rest and plain and options.on in _BACKENDS):
        return False
    chain, said = _Chain(driver, run, options), len(driver.trace.events)
    try:
        if loop.pipeline.source.length < _least(_cut(rest)[1]):
            return False
        value = chain.value(loop, workspace, rest)
    except (NotProduced, HastegaError):
        del driver.trace.events[said:]
        return False
    chain.tell()
    run.goes_on(value, [])
    run.handed = True
    return True


def _gives_elements(loop: Loop) -> bool:
    """Whether what it stores is one number for each element, and the value before any further stage."""
    last = loop.stages[-1]
    typed = last.callee is None and last.site.name == "astype"
    return loop.pipeline.sink.kind in _STORED and not loop.built.tail and not typed


def _end(stream: Stream, stage: BoundStage) -> object:
    """The first or last element; NotProduced without any, or where the stage has arguments."""
    if stage.args or stage.kwargs:
        raise NotProduced
    found, at = stream[: int(stage.site.name == "first")], 0
    if stage.site.name == "last":
        while (stop := stream.draw()) > at:
            found, at = stream[stop - 1 : stop].copy(), stop
    if not len(found):
        raise NotProduced
    return python.apply(stage.site.name, found)


def _cut(stages: Sequence[BoundStage]) -> tuple[int, int | None, Sequence[BoundStage]]:
    """How many of the first elements are left out, how many follow, and the stages behind those that say so.

    NotProduced where elements are asked for, and none is left.
    """
    skip, limit = 0, None
    for place, stage in enumerate(stages):
        number = number_of(stage) if stage.callee is None and stage.site.name in ("take", "drop") else None
        if number is None:
            return skip, limit, stages[place:]
        if stage.site.name == "take":
            limit = number if limit is None else min(limit, number)
        elif limit is None:
            skip += number
        elif number < limit or not limit:
            skip, limit = skip + number, max(0, limit - number)
        else:
            raise NotProduced
    return skip, limit, ()


__all__ = ["handed_on"]
