"""Loops of one statement that hand their elements on piece by piece, so that nobody has all of them.

    range(n) |> cumsum |> max               running sums, a million at a time
    xs |> filter(p) |> take(10) |> sum      ends with the piece in which the tenth is
    xs |> filter(p) |> window(2) |> map(f) |> sum

The last loop runs as ever, over a stream that the others fill (runtime/stream.py). Where an element needs Python, or
anything else comes up, nothing has happened, and the loops run one after the other, over all elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

from hastega_magic.compiler.backends import backend_of
from hastega_magic.compiler.choice.auto import choose
from hastega_magic.compiler.execute import Execution, compiled_on, execute, job_of
from hastega_magic.compiler.loops import CompiledLoop
from hastega_magic.compiler.options import Options, placed
from hastega_magic.compiler.python.last_chunk import beyond, tail
from hastega_magic.compiler.python.nested import nested
from hastega_magic.compiler.python.recover import is_mixed
from hastega_magic.compiler.run import settled
from hastega_magic.compiler.sources.places import over_fields
from hastega_magic.compiler.statement import Loop, element_structure
from hastega_magic.compiler.streaming.cutting import cut_of, is_named, steps_over
from hastega_magic.compiler.streaming.stream_results import (
    end,
    ends,
    in_type_of,
    is_of_another_form,
    is_typed,
    takes_all,
)
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import HastegaError
from hastega_magic.frames import reraise_signal
from hastega_magic.ir import abi
from hastega_magic.ir.expr import Expr, Value, flatten, structure
from hastega_magic.records import dataclass
from hastega_magic.report import units
from hastega_magic.report.escape import quoted
from hastega_magic.runtime.buffers import AnyArray
from hastega_magic.runtime.produced import Produced, Spent
from hastega_magic.runtime.stream import PIECE, Cut, NotProduced, Passed, Stream
from hastega_magic.runtime.strided import rows
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.stages import ONE_BY_ONE
from hastega_magic.types import BOOL, INT, RESULT_STORAGE, Complex, Composite

if TYPE_CHECKING:
    from hastega_magic.compiler.driver import Driver
    from hastega_magic.compiler.statement_run import StatementRun

LONG = 4 * PIECE
"""Elements from which on it is worth it."""

_BACKENDS = frozenset({"auto", "simd", "parallel"})
_STORED = frozenset({"array", "cumsum", "scan"})
"""Sinks that give elements for another loop."""
_REVERSE = frozenset({"reverse"})
_ANY_ORDER = frozenset({"sum", "prod", "min", "max", "count"})
"""Sinks that tell the same of integers in any order."""
_FURTHER = frozenset({"zip", "drop", "step", "window"})
"""Stages behind which Python may go through more elements than a loop does: one more, or those that are left out."""


@dataclass
class _Link:
    """A loop that fills a stream, and its run as it is told."""

    loop: Loop
    workspace: Workspace
    execution: Execution
    producer: Produced
    stream: Stream
    further: bool
    """Whether Python may go through more elements than the loop behind."""
    all: bool
    """Whether Python goes through elements behind the stream's last one."""
    whole: bool
    """Whether the stream has as many elements as it may have."""

    @property
    def raises(self) -> bool:
        """Whether an element may raise."""
        stages, sink = self.loop.pipeline.stages, self.loop.pipeline.sink
        return any(each.fn is not None and each.fn.effects for each in (*stages, sink))

    @property
    def early(self) -> bool:
        """Whether it has ended before an element that Python goes through."""
        if self.all and self.producer.reached < self.producer.length:
            return True
        return (self.further or self.all) and not self.stream.ended


@dataclass
class _Chain:
    """The loops so far: those that fill streams, and the last one with its run, once there is one."""

    driver: Driver
    run: StatementRun
    options: Options
    turned: bool = False
    """The first loop begins at its end."""
    formed: bool = False
    """The result is of another form than what loops store, and takes room of its own."""
    links: list[_Link] = field(default_factory=list[_Link])
    last: tuple[Loop, Workspace, Execution] | None = None

    def value(self, loop: Loop, workspace: Workspace, rest: Sequence[BoundStage]) -> object:
        """The statement's; NotProduced where Python may have raised of an element that no loop has come to."""
        try:
            value = self._value(loop, workspace, rest)
        except Exception as error:
            reraise_signal(error)
            if self._early():
                raise NotProduced from None
            raise
        if self._early():
            raise NotProduced
        return value

    def _early(self) -> bool:
        raising = [number for number, link in enumerate(self.links) if link.raises]
        return bool(raising) and any(link.early for link in self.links[raising[0] :])

    def _value(self, loop: Loop, workspace: Workspace, rest: Sequence[BoundStage]) -> object:
        """From a loop over what there is so far, and the stages behind it."""
        stages = rest
        cut, rest = cut_of(stages)
        typed = not stages and is_typed(loop)
        link = self._link(loop, workspace, cut, typed)
        link.further = any(is_named(stage, _FURTHER) for stage in rest)
        link.all = (self.turned and not self.links) or steps_over(stages[: len(stages) - len(rest)])
        self.links.append(link)
        if not rest:
            few = typed or (cut.limit is not None and cut.limit <= PIECE)
            if not few and 2 * len(link.stream) > link.execution.length and len(link.stream.dtypes) == 1:
                raise NotProduced  # most of them are asked for
            return link.stream.gathered()
        if len(rest) == 1 and _reverses(rest[0]):
            return link.stream.gathered_backwards()
        if ends(rest):
            return end(link.stream, rest[0], self.driver.trace, whole=link.whole)
        if not link.stream.fields:
            raise NotProduced  # no loop reads tuples of tuples
        driver = replace(self.driver, options=self.options)
        stages = rest[:-1] if takes_all(rest[-1]) else rest
        bound, more = self.run.bound, 0
        source = rows(link.stream)[0] if link.stream.fields == (2,) else link.stream
        fields = over_fields(bound, source, stages)
        if fields is not None:
            (bound, source), more = fields, 1
            stages = bound.stages
        later, _, behind = driver.longest(bound, source, stages, bound.varying)
        if later is None or len(later.stages) <= more:
            raise NotProduced
        formed = later.pipeline.sink.kind == "array" and is_of_another_form(later)
        if formed or len(later.stages) < len(rest) + more:
            return self._value(later, behind, rest[len(later.stages) - more :])
        backend = backend_of(self.options)
        ready = compiled_on(backend, [later], behind, self.options, self.driver.trace)
        execution = execute(ready, backend)
        self.last = later, behind, execution
        return execution.values[0]

    def _link(self, loop: Loop, workspace: Workspace, cut: Cut, typed: bool) -> _Link:
        """The loop, whose results stay in the caches: they are read soon. `typed`: as its last stage says."""
        if not (typed or _gives_elements(loop)):
            raise NotProduced
        trace = self.driver.trace
        ready = compiled_on(backend_of(self.options), [loop], workspace, self.options, trace, near=True)
        job = job_of(ready)
        kernel, choice = job.variant(job.first).kernel, None
        plan = abi.layout(kernel)
        output = ready.fused.outputs[0]
        element = output.value if output.sink.fn is None else output.sink.fn.result
        few = not self.links and job.length < _least(cut) and not self.formed
        if few or plan.folds or is_mixed(element) or len(plan.stores) != len(flatten(element)):
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
            partial(_behind, loop, workspace, ready.compiled, self.options) if loop.built.tail else None,
        )  # fmt: skip
        most = job.length + bool(loop.built.tail)
        stored = [RESULT_STORAGE[store.type].name for store in plan.stores]
        form = partial(_formed, element, loop if typed else None)
        stream = Stream(producer, stored, most, cut, form, _fields_of(element))
        execution = Execution(
            ready.compiled, ready.fused, [], list(job.columns), job.length, threads, ready.cached, backend, job,
            on=self.options.on, choice=choice,
        )  # fmt: skip
        whole = not self.links and all(store.mask is None for store in plan.stores)
        return _Link(loop, workspace, execution, producer, stream, False, False, whole)

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
            size = units.size(min(stream.piece, producer.given) * stream.dtype.itemsize)
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


def _least(cut: Cut) -> int:
    """From how many elements on loops hand on; where some elements are enough, it is soon worth it."""
    return LONG if cut.limit is None else PIECE


def handed_on(driver: Driver, run: StatementRun, loop: Loop, workspace: Workspace) -> bool:
    """Whether the loop and all stages behind it were run, piece by piece."""
    options, rest = settled(driver.options), run.rest[len(loop.stages) :]
    plain = not (options.tune or run.bound.ordinary or loop.scalars is not None)
    formed = not rest and options.repeat == 1 and is_of_another_form(loop)
    if not (plain and options.on in _BACKENDS and (rest or formed or takes_all(loop.stages[-1]))):
        return False
    chain, said = _Chain(driver, run, options, formed=formed), len(driver.trace.events)
    try:
        if not formed and loop.pipeline.source.length < _least(cut_of(rest)[0]):
            return False
        if not rest and takes_all(loop.stages[-1]):
            loop, workspace, rest = _without_the_last(driver, run, loop)
        if _either_way(loop, rest):
            reverse, *rest = rest
            driver.trace.add(
                "why", text=f"{quoted(rest[0].site.text)} is the same without `{reverse.site.text}`."
            )
        elif len(rest) > 1 and _reverses(rest[0]):
            loop, workspace = _turned(driver, run, loop, rest[0])
            rest, chain.turned = rest[1:], True
        value = chain.value(loop, workspace, rest)
    except (NotProduced, HastegaError):
        del driver.trace.events[said:]
        return False
    chain.tell()
    run.goes_on(value, [])
    run.handed = True
    return True


def _without_the_last(
    driver: Driver, run: StatementRun, loop: Loop
) -> tuple[Loop, Workspace, Sequence[BoundStage]]:
    """The loop that gives the elements of which its last stage makes something, and this stage."""
    shorter, _, workspace = driver.longest(run.bound, loop.source, loop.stages[:-1], run.bound.varying)
    if shorter is None or len(shorter.stages) < len(loop.stages) - 1:
        raise NotProduced
    return shorter, workspace, loop.stages[-1:]


def _turned(driver: Driver, run: StatementRun, loop: Loop, reverse: BoundStage) -> tuple[Loop, Workspace]:
    """The loop from its last element to the first; NotProduced where elements need those before them."""
    stages, place = list(loop.stages), len(loop.stages)
    while place and is_named(stages[place - 1], ONE_BY_ONE):
        place -= 1
    stages.insert(place, reverse)
    turned, _, workspace = driver.longest(run.bound, loop.source, stages, run.bound.varying)
    if turned is None or len(turned.stages) < len(stages):
        raise NotProduced
    before = quoted(stages[place + 1].site.text if place + 1 < len(stages) else "all")
    driver.trace.add("why", text=f"`{reverse.site.text}` goes before {before}: the loop begins at the end.")
    return turned, workspace


def _reverses(stage: BoundStage) -> bool:
    return is_named(stage, _REVERSE) and not (stage.args or stage.kwargs)


def _either_way(loop: Loop, stages: Sequence[BoundStage]) -> bool:
    """Whether the stages are a `reverse` and a sink that tells the same of the elements in any order."""
    if len(stages) != 2 or not (_reverses(stages[0]) and is_named(stages[1], _ANY_ORDER)):
        return False
    fn, given = loop.pipeline.sink.fn, stages[1]
    element = element_structure(loop.pipeline) if fn is None else structure(fn.result)
    return element in (INT, BOOL) and not (given.args or given.kwargs)


def _gives_elements(loop: Loop) -> bool:
    """Whether what it stores is one number for each element, and the value before any further stage."""
    return loop.pipeline.sink.kind in _STORED and not is_typed(loop)


def _formed(element: Value, typed: Loop | None, numbers: Sequence[AnyArray]) -> AnyArray:
    """Elements of their numbers, of the type that the last stage of a loop says."""
    found = nested(element, iter(numbers))
    return found if typed is None else in_type_of(typed, found)


def _fields_of(element: Value) -> Sequence[int]:
    """Of how many numbers each field is made; none where another loop cannot read the element."""
    single = isinstance(element, (Expr, Composite))
    fields = (element,) if single else element
    if not single and (len(element) == 1 or not all(isinstance(each, (Expr, Complex)) for each in fields)):
        return ()
    return [len(flatten(each)) for each in fields]


def _behind(loop: Loop, workspace: Workspace, compiled: CompiledLoop, options: Options) -> AnyArray:
    """What the loop gives for its last, shorter chunk; NotProduced where Python raises, or warns."""
    try:
        found = tail(loop, workspace, options.int_mode)
        told = options.int_mode == "exact" and beyond(loop, workspace, compiled.variants.bodies)
    except Exception as error:
        reraise_signal(error)
        raise NotProduced from None
    if told:
        raise NotProduced
    return found


__all__ = ["handed_on"]
