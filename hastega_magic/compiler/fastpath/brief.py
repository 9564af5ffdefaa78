"""A cell that is one pipeline statement, run again where its report is shown to nobody: straight to its compiled loop.

Its source and arguments are evaluated as ever, and what decides whether the loop fits is looked at (`guards.py`). What
the report tells, and what is kept of the cell, is put together when somebody asks. Where the loop does not fit, or
`--on auto` has to choose anew (`standing_choice.py`), it goes the usual way, with what was evaluated.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from hastega_magic.compiler.backends import Backend, forget_inputs
from hastega_magic.compiler.choice.standing_choice import StandingChoice
from hastega_magic.compiler.comparing.kept import Loops, is_whole, keep
from hastega_magic.compiler.execute import Execution, threads_of
from hastega_magic.compiler.fastpath.guards import Display, DoesNotFit, RunGuards
from hastega_magic.compiler.fastpath.hooks import Displayed
from hastega_magic.compiler.loops import still_cached
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.reporting import describe
from hastega_magic.compiler.statement import Bound, bound_of
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.lru import LruCache
from hastega_magic.records import changed, dataclass
from hastega_magic.runtime.columnar import NullsError
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.reading.names import is_shadowed
from hastega_magic.syntax.rewriter import PipelineStatement
from hastega_magic.syntax.site import Site
from hastega_magic.trace import Trace

if TYPE_CHECKING:
    from hastega_magic.compiler.fastpath.threaded import ThreadedLoop

_CELLS = 64
"""Cells that are remembered."""

_MISSES = 3
"""After so many runs in a row that went the usual way, a cell always does."""


@dataclass
class Given:
    """A statement's source and arguments, evaluated, and the exception that evaluating or running it raised, if any."""

    source: object = None
    displays: tuple[Display, ...] = ()
    unbound: BaseException | None = None
    """Raised while the source and the arguments were evaluated."""
    broken: BaseException | None = None
    """Raised while the statement ran."""

    def bound(self, site: Site) -> Bound:
        """The statement; raises what evaluating it raised."""
        if self.unbound is not None:
            self.fail()
        return bound_of(site, self.source, self.displays)

    def fail(self) -> None:
        """Raise what was raised, if anything was."""
        error = self.broken if self.unbound is None else self.unbound
        self.unbound = self.broken = None
        if error is not None:
            try:
                raise error
            finally:
                del error  # its traceback leads to this frame and to who holds this: data would stay for long


class Run(NamedTuple):
    """A run that needed nothing else.

    `shown`: the value of the cell, if it has one; `trace`: tells of the run, and holds no data; `loops`: what is kept.
    """

    shown: object
    trace: Callable[[], Trace]
    loops: Callable[[], Loops]


@dataclass
class Brief:
    """A cell: its text and what decides about its meaning, its one statement, and the loop that computed it.

    `named`: the file name that it was given, if it was; `filename`: the one it has. `stages`: their names. `code`:
    evaluates source and stages, and calls nothing of ours. `standing`: what `--on auto` chooses.
    """

    text: str
    named: str | None
    filename: str
    options: Options
    stages: frozenset[str]
    item: PipelineStatement
    code: CodeType
    guards: RunGuards
    threaded: ThreadedLoop
    standing: StandingChoice | None
    misses: int = 0

    @classmethod
    def of(
        cls,
        text: str,
        named: str | None,
        filename: str,
        options: Options,
        item: PipelineStatement,
        code: CodeType,
        guards: RunGuards,
    ) -> Brief | None:
        """The cell, made ready; None where its result is put together otherwise."""
        from hastega_magic.compiler.fastpath.gathering import gathering

        if gathering(guards.execution, options, guards.loop) is None:
            return None
        from hastega_magic.compiler.fastpath.threaded import threaded_loop

        ran = threaded_loop(guards.execution, guards.slots, guards.loop, options)
        stages = frozenset(stage.name for stage in item.site.stages)
        if ran is None:
            return None
        auto = options.on == "auto"
        standing = StandingChoice(guards.execution.compiled, guards.loop, options) if auto else None
        return cls(text, named, filename, options, stages, item, code, guards, ran, standing)

    def is_for(self, named: str | None, namespace: dict[str, Any], options: Options) -> bool:
        """Whether the cell means the same there."""
        if self.named != named or (self.options is not options and self.options != options):
            return False
        for stage in self.stages:  # noqa: SIM110  this way is faster
            if stage in namespace and is_shadowed(namespace, stage):
                return False
        return True

    def run(self, namespace: dict[str, Any]) -> Run | Given:
        """Evaluate the source and the arguments, run the loop if it fits, and assign its result; raises nothing."""
        self.threaded.rouse()
        try:
            given: Displayed = eval(self.code, namespace)
            source, displays = given
        except BaseException as error:
            return Given(unbound=error)
        self.misses += 1
        began = time.perf_counter()
        try:
            operands, arguments, length = self.guards.fitting(source, displays)
            backend, threads = self.guards.execution.backend, 0
            if self.standing is not None:
                backend = self.standing.backend(length)
                if backend is None:
                    self.misses = 0  # it fits
                    return Given(source, displays)
                threads = backend.threads
            fitted = time.perf_counter()
            ran = self.threaded.run(self.guards.words, operands, arguments, displays, length, threads)
        except (DoesNotFit, NullsError):
            return Given(source, displays)
        except BaseException as error:
            return Given(source, displays, broken=error)
        if ran is None:
            return Given(source, displays)
        value, result = ran
        into, kernel = result.convert_seconds, result.kernel_seconds
        out = time.perf_counter() - fitted - into - kernel
        seconds = (fitted - began, into, kernel, out)
        written = 0
        for slot, array in enumerate(result.arrays):
            written += array.itemsize * result.packed_length(slot)
        item = self.item
        if item.target is not None:
            namespace[item.target] = value
        forget_inputs()
        self.misses = 0
        return Run(
            value if item.shown else None,
            partial(self._trace, backend, seconds, length, written),
            partial(self._loops, backend, source, displays, operands, arguments, length),
        )

    def _ran(self, backend: Backend, length: int) -> Execution:
        """The run of a back end as the usual way leaves it."""
        ran = self.guards.execution
        on = ran.on if self.standing is None else backend.name
        threads = threads_of(backend, ran.job, -(-length // BLOCK))
        return changed(ran, backend=backend, on=on, length=length, threads=threads, cached=True)

    def _trace(self, backend: Backend, phases: tuple[float, ...], length: int, written: int) -> Trace:
        """What is told of a run, as of every other.

        `phases`: seconds until the loop was found to fit, until native code began, in it, and since. `written`: bytes
        of an array that it gave.
        """
        trace, ran, site = Trace(), self.guards.execution, self.item.site
        stages = tuple(BoundStage(each, None, (), {}) for each in site.stages)
        measurable = is_whole(self.guards.loop)
        trace.add("cell", source=self.text, options=self.options.to_dict(), measurable=measurable)
        read = sum(each.fresh for each in ran.fused.sources)
        for name, seconds in zip(("parse", "convert_in", "kernel", "convert_out"), phases, strict=True):
            if name == "convert_in":
                trace.next_group()
                describe.describe_group([Bound(site, None, stages, self.item.target)], trace)
            size = written + read * length if name == "kernel" else 0
            trace.add("phase", name=name, seconds=seconds, bytes=size)
        describe.describe_run(self._ran(backend, length), self.options, 1, trace)
        return trace

    def _loops(
        self,
        backend: Backend,
        source: object,
        displays: tuple[Display, ...],
        operands: Sequence[object],
        arguments: Sequence[object],
        length: int,
    ) -> Loops:
        """What is kept of a run for who wants to see it again."""
        workspace = Workspace(self.filename)
        bound = changed(bound_of(self.item.site, source, displays), target=self.item.target)
        loop, fused = self.guards.over(operands, arguments, bound, workspace)
        now = changed(self._ran(backend, length), fused=fused)
        return keep([Outcome([bound], [None], [loop], now, 0, workspace)], self.options, self.filename)


def evaluating(expression: ast.Expression) -> ast.Expression:
    """What evaluates a statement's source and stages as the usual call of a hook does, without the call."""
    call = cast(ast.Call, expression.body)
    _, source, *stages = call.args
    displays = ast.copy_location(ast.Tuple(stages, ast.Load()), call)
    pair = ast.Tuple([source, displays], ast.Load())
    return ast.Expression(ast.copy_location(pair, call))


def with_functions_of(usual: CodeType, code: CodeType) -> CodeType:
    """The code with the other's functions, of the same text: compiled loops know functions by their code."""
    functions = iter([each for each in usual.co_consts if isinstance(each, CodeType)])
    consts = tuple(next(functions) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_consts=consts)


@dataclass
class Briefs:
    """The cells of a session, by their text."""

    _known: LruCache[str, Brief] = field(default_factory=lambda: LruCache[str, Brief](_CELLS))

    def of(self, text: str, named: str | None, namespace: dict[str, Any], options: Options) -> Brief | None:
        """The cell, where it may be run so."""
        known = self._known.get(text)
        if known is None or known.misses >= _MISSES or not known.is_for(named, namespace, options):
            return None
        return known if still_cached(known.guards.execution.compiled) else None

    def wants(self, text: str, named: str | None, namespace: dict[str, Any], options: Options) -> bool:
        """Whether a cell may be one to be run so, and is not known."""
        looked_at = options.baseline or options.compare or options.show or options.widgets
        more = options.tune or options.repeat > 1 or not options.fuse
        if not options.quiet or looked_at or more or options.on not in ("auto", "parallel", "simd"):
            return False
        known = self._known.get(text)
        if known is None or not known.is_for(named, namespace, options):
            return True
        outdated = known.standing is not None and known.standing.outdated
        return known.misses < _MISSES and (outdated or not still_cached(known.guards.execution.compiled))

    def keep(self, brief: Brief) -> None:
        """Know it from now on."""
        self._known.put(brief.text, brief)


__all__ = ["Brief", "Briefs", "Given", "Run", "evaluating", "with_functions_of"]
