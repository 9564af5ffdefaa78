"""One run of one cell: its statements in Python's order, those that are pipelines grouped and compiled."""

from __future__ import annotations

import ast
import time
from collections.abc import Awaitable, Generator
from functools import lru_cache, partial
from types import CodeType
from typing import TYPE_CHECKING, Any, cast

from hastega_magic.compiler.backends import forget_inputs, require, seconds_to_begin
from hastega_magic.compiler.comparing.compare import compare
from hastega_magic.compiler.depth import deeply
from hastega_magic.compiler.driver import Driver
from hastega_magic.compiler.fastpath.brief import Brief, Given, evaluating, with_functions_of
from hastega_magic.compiler.fastpath.cell_turns import CellTurns
from hastega_magic.compiler.fastpath.hooks import Displayed, Running
from hastega_magic.compiler.groups import group_with, run_group
from hastega_magic.compiler.hoisting import arguments_are_free, source_is_free
from hastega_magic.compiler.memory import Memory
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Group, Outcome
from hastega_magic.compiler.showing import USUAL, Nothing, Showing
from hastega_magic.compiler.statement import Bound, bound_of, sized
from hastega_magic.compiler.trampoline import Course, carried, evaluated
from hastega_magic.records import changed
from hastega_magic.syntax.cell import CellPlan, plan
from hastega_magic.syntax.closures.reachable import may_read
from hastega_magic.syntax.ordinary.naming import as_written
from hastega_magic.syntax.reading.names import reads, shadowed
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.reading.texts import make_known
from hastega_magic.syntax.rewriter import PipelineStatement, Plain
from hastega_magic.syntax.site import Site
from hastega_magic.trace import Trace

if TYPE_CHECKING:
    from hastega_magic.compiler.fastpath.group_cache import Matched
    from hastega_magic.compiler.fastpath.ordinary import OrdinaryCode

Namespace = dict[str, Any]


_Codes = dict[object, CodeType]


@lru_cache(64)
def _planned(text: str, filename: str, shadowed: frozenset[str], shows: str) -> tuple[CellPlan, _Codes]:
    """The plan of a cell, and the code made of it so far; running the same cell again starts from them."""
    found = plan(text, filename, shadowed, shows)
    for item in found.items:  # what is read is remembered, and may nest too deeply where it is asked for
        if isinstance(item, PipelineStatement) and item.site.bind_expression is not None:
            reads(item.site.bind_expression)
    return found, {}


class CellRun:
    """One run of one cell."""

    def __init__(
        self,
        memory: Memory,
        namespace: Namespace,
        text: str,
        filename: str,
        options: Options,
        *,
        awaits: bool = False,
        given: Given | None = None,
        showing: Showing = USUAL,
    ) -> None:
        """`given`: what the source and arguments of its first statement are, where they were evaluated already."""
        self.namespace = namespace
        self.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if awaits else 0
        self.awaits = awaits
        self.given, self.showing = given, showing
        self.memory = memory
        self.nested, self.adaptive, self.statements = memory.nested, memory.adaptive, memory.statements
        self.remembered = memory.remembered.of(text)
        self.options = options
        self.trace = Trace()
        self.text, self.filename = text, filename
        self.driver = Driver(options, filename, self.trace, compares=True)
        self.outcomes: list[Outcome] = []
        self.group: Group | None = None
        self.value: object = Nothing()
        self._leaving: Site | None = None
        self.codes: _Codes = {}
        self.sites: dict[int, Site] = {}
        self.turns = CellTurns(self.driver, self.adaptive, options, filename)
        self.ordinary: dict[int, OrdinaryCode] = {}
        self.trace.add("cell", source=text, options=options.to_dict())

    def course(self) -> Course:
        """Go through the statements; raises what they raise."""
        begun = seconds_to_begin()
        require(self.options)
        make_known(self.filename, self.text)
        with self.trace.phase("parse"):
            cell, self.codes = deeply(self._plan, self.text, self.filename)
        self.sites = cell.sites
        self.memory.futures |= cell.futures
        self.flags |= self.memory.futures
        for number, site in cell.sites.items():
            if site.bind_expression is None:
                from hastega_magic.compiler.fastpath.repeated import Repeated

                registry = self.memory.holding
                self.nested[number] = Repeated(site, self.options, self.filename, registry=registry)
        started = time.perf_counter()
        self._expect_ordinary(cell)

        hooks, running = self.memory.hooks, Running(cell.sites, self.turns, self.ordinary)
        ended: BaseException | None = None
        try:
            hooks.begin(self.namespace, running)
            yield from self._items(cell)
        except BaseException as error:
            ended = error
            raise
        finally:
            running.over = True
            hooks.end(self.namespace, running)
            self.turns.tell(self.trace, ended)
            ended = None  # it holds this frame
            self._tell_ordinary()
            self.trace.beside("device", seconds_to_begin() - begun)
        compare(self.outcomes, self.options, time.perf_counter() - started, self.trace, self.remembered)

    def _items(self, cell: CellPlan) -> Course:
        # No part of what looks after it: CPython 3.13.0 leaves a `finally` out where Ctrl-C comes as a loop goes on.
        for place, item in enumerate(cell.items):
            self.driver.wanted = cell.read_from(place)
            if isinstance(item, PipelineStatement):
                yield from self._pipeline(item)
            else:
                self._flush()
                yield from self._plain(item)
            if item.shown and item is not cell.items[-1]:
                self._flush()
                self._show()
        self.driver.wanted = frozenset()
        self._flush()

    def _plan(self) -> tuple[CellPlan, _Codes]:
        return _planned(self.text, self.filename, shadowed(self.namespace), self.showing.which)

    def learn(self, named: str | None) -> None:
        """Make the cell ready to be run again shortly, if it is one statement that one loop computed.

        `named`: the file name that it was given, if it was.
        """
        briefs = self.memory.briefs
        if len(self.outcomes) != 1 or self.awaits or not self.showing.usual:
            return
        if not briefs.wants(self.text, named, self.namespace, self.options):
            return
        cell, _ = self._plan()
        (item, *others), site = cell.items, self.outcomes[0].bounds[0].site
        guards = self.statements.guards(site)
        if guards is None or not guards.words or others or len(cell.sites) > 1 or cell.ordinary:
            return
        if isinstance(item, PipelineStatement) and item.site is site:
            expression = cast(ast.Expression, site.bind_expression)
            usual = self._compiled(expression, "eval", (item.node, True))
            code = self._compiled(evaluating(expression), "eval", (item.node, "brief"))
            code = with_functions_of(usual, code)
            brief = Brief.of(self.text, named, self.filename, self.options, item, code, guards)
            if brief is not None:
                briefs.keep(brief)

    def failing(self, error: BaseException) -> Bound | None:
        """The pipeline that the exception comes from, which ends the cell; None if it comes from ordinary code."""
        return self.turns.failing(error) or self.driver.current

    def place(self) -> tuple[str, int] | None:
        """File and line of the pipeline that runs, or is let go of; None if ordinary code runs."""
        site = self._leaving if self.driver.current is None else self.driver.current.site
        return None if site is None else (self.filename, site.span.line)

    def forget(self) -> None:
        """Let go of all values: functions that the cell defined may keep it alive for long.

        Sources that warn of their end, as files do, name their pipeline.
        """
        forget_inputs()
        self.turns.forget()
        self.group, self.value, self.driver.current = None, None, None
        self.outcomes.reverse()
        while self.outcomes:
            self._leaving = self.outcomes[-1].bounds[0].site
            for loop in self.outcomes.pop().loops:
                if loop.bound.rows is not None:
                    loop.bound.rows.held = None
        self._leaving = None

    # Statements

    def _plain(self, item: Plain) -> Course:
        forget_inputs()
        self.driver.current = None
        if item.shown and isinstance(item.node, ast.Expr):
            code = self._compiled(ast.Expression(item.node.value), "eval", item.node)
            self.value = yield from evaluated(code, self.namespace)
        else:
            whole = ast.Interactive([item.node]) if item.shown else ast.Module([item.node], [])
            code = self._compiled(whole, "single" if item.shown else "exec", item.node)
            yield from evaluated(code, self.namespace)

    @carried()
    def _show(self) -> None:
        """Display the value of an expression before the last one."""
        value, self.value = self.value, Nothing()
        if not isinstance(value, Nothing):
            self.showing.show(value)

    def _compile(self, node: ast.Module | ast.Interactive | ast.Expression, mode: str) -> CodeType:
        return compile(node, self.filename, mode, self.flags, True)

    def _compiled(
        self, node: ast.Module | ast.Interactive | ast.Expression, mode: str, key: object
    ) -> CodeType:
        """Code of a part of the cell, kept with the cell's plan under a key."""
        key = key, self.flags
        if key not in self.codes:
            code = deeply(partial(self._compile, node, mode), self.text, self.filename)
            self.codes[key] = as_written(code) if self.ordinary else code
        return self.codes[key]

    def _pipeline(self, item: PipelineStatement) -> Course:
        producer = self._producer(item)
        if self.group is not None and (producer is None or not self._independent(item)):
            source = item.site.source
            pending = not self._independent(item) or reads(source) & self.group.names()
            if pending or not source_is_free(source, self.namespace):
                self._flush()
                producer = None
        try:
            bound = yield from self._bind(item, producer)
        except BaseException:
            self._flush()  # the statements before have taken effect
            self.driver.current = None  # and did not raise this
            raise
        self._go_on(item, bound, producer)

    @carried()
    def _go_on(self, item: PipelineStatement, bound: Bound, producer: str | None) -> None:
        """Into the open group with a statement, or into one of its own; or run it alone."""
        if self.group is not None and self._reads_pending(bound):
            self._flush()
            bound, producer = self._with_value(bound, producer), None
        if self.options.on != "python":
            bound = sized(bound)
        extended = self._as_before(bound, producer)
        if not isinstance(extended, Group):
            matched, bound = extended, self.adaptive.look(bound) if extended is None else extended.bound
            try:
                extended = group_with(self.driver, self.group, bound, bound.source, producer, matched)
            except Exception:
                self._flush()
                self.driver.current = bound
                raise
        if extended is None and self.group is not None:
            self._flush()
            bound = self._with_value(bound, producer)
            extended = group_with(self.driver, None, bound, bound.source, None)
        self.last = item
        if extended is None:
            self._take(self.driver.run_alone(bound, bound.source))
        else:
            self.group = extended

    def _as_before(self, bound: Bound, producer: str | None) -> Group | Matched | None:
        """What is known of a statement that nothing has changed about since it ran last."""
        self.driver.current = bound
        with self.trace.phase("parse"):
            return self.statements.known(bound, self.group, producer, self.options, self.filename)

    def _producer(self, item: PipelineStatement) -> str | None:
        name = item.site.source_name
        return name if self.group is not None and name is not None and name in self.group.names() else None

    def _independent(self, item: PipelineStatement) -> bool:
        """Whether evaluating the stages' arguments reads no variable that the group is yet to assign.

        Nor runs code that may: functions, and attributes that are computed, see what the statements before have done.
        """
        assert self.group is not None
        assert item.site.bind_expression is not None
        if not arguments_are_free(item.site.bind_expression, self.namespace):
            return False
        call = item.site.bind_expression.body
        assert isinstance(call, ast.Call)
        names = {name for stage in call.args[2:] for name in reads(stage)}
        return not names & self.group.names()

    def _reads_pending(self, bound: Bound) -> bool:
        """The same, for functions defined elsewhere."""
        assert self.group is not None
        return may_read((each for stage in bound.stages for each in stage.given), self.group.names())

    def _with_value(self, bound: Bound, producer: str | None) -> Bound:
        """The statement with its source, which was pending when it was bound, in hand."""
        return bound if producer is None else changed(bound, source=self.namespace[producer])

    def _bind(
        self, item: PipelineStatement, producer: str | None
    ) -> Generator[Awaitable[object], object, Bound]:
        """Evaluate the source and the arguments, where they stand."""
        given, self.given = self.given, None
        if given is not None:
            bound = changed(given.bound(item.site), target=item.target)
            self.driver.current = bound
            with carried():
                given.fail()
            return bound
        assert item.site.bind_expression is not None
        expression, self.driver.current = item.site.bind_expression, None
        names = self.namespace
        if not (source_is_free(item.site.source, names) and arguments_are_free(expression, names)):
            forget_inputs()
        if producer is not None:
            call = expression.body
            assert isinstance(call, ast.Call)
            nothing = ast.copy_location(ast.Constant(None), call.args[1])
            without = ast.Call(call.func, [call.args[0], nothing, *call.args[2:]], call.keywords)
            expression = ast.Expression(ast.copy_location(without, call))
        code = self._compiled(expression, "eval", (item.node, producer is None))
        source, displays = cast("Displayed", (yield from evaluated(code, self.namespace)))
        return changed(bound_of(item.site, source, displays), target=item.target)

    @carried()
    def _flush(self) -> None:
        """Run the open group, and assign its results in order."""
        group, self.group = self.group, None
        if group is not None:
            for outcome in run_group(self.driver, group):
                self._take(outcome)

    def _take(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self.adaptive.learn(outcome)
        self.statements.learn(outcome, self.options)
        for bound, value in zip(outcome.bounds, outcome.values, strict=True):
            if bound.target is not None:
                self.namespace[bound.target] = value
            if self.last.shown and bound.site is self.last.site:
                self.value = value

    def _expect_ordinary(self, cell: CellPlan) -> None:
        """Comprehensions and their like: silently Python's where they cannot be compiled, whatever --strict says."""
        places = Text(cell.text)
        for number, code in cell.ordinary.items():
            from hastega_magic.compiler.fastpath.ordinary_code import options_for, ordinary_code

            options = options_for(self.options)
            known = self.memory.ordinary.get((number, options))
            if known is None:
                made = ordinary_code(code, options, self.filename, places, self.memory.holding)
                known = self.memory.ordinary.put((number, options), made)
            self.ordinary[number] = known
            if number in cell.lasting:
                self.nested[number] = known

    def _tell_ordinary(self) -> None:
        """Ordinary code that was compiled, for the report; of what was Python's there is nothing to say."""
        for code in self.ordinary.values():
            code.counted()
            if code.runs and not code.reason:
                code.tell(self.text, self.trace, quiet=self.options.quiet)
            code.runs = 0


__all__ = ["CellRun", "Namespace"]
