"""The cells of a namespace, one after the other: what each gave, and what is kept of it until the next."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import field

from hastega_magic.compiler.cell import CellRun, Namespace
from hastega_magic.compiler.comparing.kept import Loops, keep
from hastega_magic.compiler.driver import StrictError
from hastega_magic.compiler.fastpath.brief import Given, Run
from hastega_magic.compiler.memory import Memory
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.showing import USUAL, Nothing, Showing
from hastega_magic.compiler.trampoline import awaited, run_to_end, stepped
from hastega_magic.errors import CellSyntaxError, Span
from hastega_magic.records import cached_property, dataclass
from hastega_magic.report import Report, build_report
from hastega_magic.runtime.signals import with_signals
from hastega_magic.runtime.warned import warned_at
from hastega_magic.syntax.site import RUN, TRY
from hastega_magic.trace import CELL, Event, Trace


@dataclass
class CellResult:
    """What a cell gave: the value of its last expression (None if it has none), and its report."""

    value: object
    make_trace: Callable[[], Trace]
    """Makes the trace, or hands it over."""
    failed_at: Span | None = None
    """Where the pipeline stands in the cell that was running when the cell failed."""

    @cached_property
    def trace(self) -> Trace:
        """What happened."""
        return self.make_trace()

    @cached_property
    def report(self) -> Report:
        """Made from the trace when it is first asked for."""
        return build_report(self.trace)


@dataclass
class Session:
    """Runs cells in a namespace. `last` is the last cell, also if it failed; `showing`: what cells display."""

    namespace: Namespace
    options: Options = field(default_factory=Options)
    last: CellResult | None = None
    loading: float = 0.0
    """Seconds that loading the package took, for the report of the cell that waited for it."""
    memory: Memory = field(default_factory=Memory)
    showing: Showing = USUAL
    _kept: Callable[[], Loops] = Loops

    def run_cell(self, text: str, filename: str | None = None, options: Options | None = None) -> CellResult:
        """Run a cell. Raises what its Python raises; CellSyntaxError for text that cannot be read.

        `filename` is how tracebacks and `linecache` call the text; every text needs one of its own.
        """
        # With what it lets go of.
        return with_signals(lambda: self._run(text, filename, options or self.options))

    def _run(self, text: str, filename: str | None, options: Options) -> CellResult:
        self.memory.begin()
        brief = self.memory.briefs.of(text, filename, self.namespace, options) if self.showing.usual else None
        given: Given | None = None
        if brief is not None:
            self._kept = Loops
            ran = brief.run(self.namespace)
            if isinstance(ran, Run):
                return self._ran(ran)
            given = ran
        name, showing = filename or _name(text), self.showing
        cell = CellRun(self.memory, self.namespace, text, name, options, given=given, showing=showing)
        with self._running(cell) as result, warned_at(self.namespace, cell.place):
            run_to_end(cell.course())
            cell.learn(filename)
        return result

    async def run_cell_async(
        self, text: str, filename: str | None = None, options: Options | None = None
    ) -> CellResult:
        """The same for a cell that awaits something at its top level."""
        return await stepped(self._run_async(text, filename, options or self.options), with_signals)

    async def _run_async(self, text: str, filename: str | None, options: Options) -> CellResult:
        name = filename or _name(text)
        self.memory.begin()
        cell = CellRun(self.memory, self.namespace, text, name, options, awaits=True, showing=self.showing)
        with self._running(cell) as result, warned_at(self.namespace, cell.place):
            await awaited(cell.course())
        return result

    def _ran(self, run: Run) -> CellResult:
        result = self.last = CellResult(run.shown, run.trace)
        self._kept = run.loops
        return result

    @contextmanager
    def _running(self, cell: CellRun) -> Generator[CellResult]:
        trace, raised = cell.trace, ""
        trace.beside("load", self.loading)
        self.loading = 0.0
        value: object = None
        result = CellResult(None, lambda: trace)
        self._kept = Loops
        try:
            yield result
            value = cell.value
        except BaseException as error:
            raised = (error.kind if isinstance(error, CellSyntaxError) else type(error)).__name__
            failing = cell.failing(error)
            unset = isinstance(error, UnboundLocalError)  # which is no misspelt name
            if (isinstance(error, NameError) and not unset) or (
                failing is None and isinstance(error, (AttributeError, TypeError))
            ):
                from hastega_magic.syntax.hints import hint

                site = None if failing is None else failing.site
                hint(error, cell.sites.values(), cell.text, site, cell.filename)
            elif failing is not None:
                from hastega_magic.compiler.python.blame import point

                point(error, failing, cell.text)
            if failing is not None:
                trace.raised(error)
                result.failed_at = failing.site.span
            raise
        finally:
            kept = keep(cell.outcomes, cell.options, cell.filename, raised)
            self.last, self._kept = result, lambda: kept
            with warned_at(self.namespace, cell.place):
                cell.forget()
        if kept:
            trace.events.append(Event("cell", CELL, {"measurable": True}))
        result.value = None if isinstance(value, Nothing) else value

    @property
    def kept(self) -> Loops:
        """The compiled loops of the last cell, to be run again; let go of when the next cell begins."""
        kept = self._kept()
        self._kept = lambda: kept
        return kept

    @property
    def last_report(self) -> Report | None:
        """The report of the last cell; None before the first."""
        return None if self.last is None else self.last.report


def _name(text: str) -> str:
    return f"<hastega {zlib.crc32(text.encode()):08x}>"


__all__ = ["RUN", "TRY", "CellResult", "Options", "Session", "Showing", "StrictError"]
