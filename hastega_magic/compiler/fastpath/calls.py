"""What the code of a decorated function calls, and what its pipelines did in its last call."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, cast
from weakref import ref

from hastega_magic.compiler.fastpath.boxed import boxed
from hastega_magic.compiler.fastpath.for_statements import ForStatement
from hastega_magic.compiler.fastpath.guards import Display
from hastega_magic.compiler.fastpath.handoff import Taking
from hastega_magic.compiler.fastpath.looks import Known, Looks
from hastega_magic.compiler.fastpath.ordinary import OrdinaryCode
from hastega_magic.compiler.fastpath.repeated import Repeated
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.reporting import describe
from hastega_magic.compiler.statement import Bound
from hastega_magic.errors import Reason
from hastega_magic.frames import leaves
from hastega_magic.report import Report, build_report
from hastega_magic.runtime.objects.look_words import RUNS
from hastega_magic.syntax.site import METHODS, Site
from hastega_magic.trace import Trace

BEGIN = "__hastega_begin__"
HOOKS = {**METHODS, BEGIN: "begin"}
"""Names that are called in the changed text, and the methods of `Hooks` that they stand for."""

ORDINARY = "ordinary code keeps Python's integers, which have no limit"


class Calls:
    """What a decorated function's pipelines did in its last call."""

    def __init__(self, source: str, options: Options, why: str = "") -> None:
        """`source`: the text that the spans of its pipelines count in; `why`: why it has none, if it has none."""
        self.source = source
        self.options = options
        self.why = why
        self.pipelines: dict[int, Repeated] = {}
        self.refused: tuple[tuple[Site, str], ...] = ()
        """Ordinary code that is no pipeline, and why."""
        self.called = False

    def anew(self) -> Calls:
        """Of the same text, before the first call."""
        made = Calls(self.source, self.options, self.why)
        made.refused = self.refused
        made.pipelines = {number: copy(each) for number, each in self.pipelines.items()}
        return made

    def report(self) -> Report:
        """The report of the last call."""
        trace = Trace()
        trace.add("cell", source=self.source, options=self.options.to_dict())
        if self.why:
            trace.add("warning", text=self.why)
        elif not self.called and not any(
            each.runs or each.few_runs[RUNS] for each in self.pipelines.values()
        ):
            trace.add("warning", text="The function has not been called yet.")
        for each in self.pipelines.values():
            each.counted()
            if each.runs:
                each.tell(self.source, trace)
                if self.options.int_mode != "exact" and isinstance(each, OrdinaryCode):
                    trace.add("why", text=f"int_mode is for `|>` alone: {ORDINARY}.")
        for site, reason in self.refused:
            trace.next_group()
            describe.describe_group([Bound(site, None, ())], trace)
            describe.describe_barrier(site.text, Reason(reason, site.span), trace)
            if self.called:
                describe.describe_uncompiled("python", None, self.options, trace)
        return build_report(trace)


class Hooks(Taking):
    """What a decorated function's code calls. The function holds its `Calls`, the code does not.

    CPython looks for no garbage in code: what is kept of a call leads back to the function where this is a method of a
    class that its objects lead to, or of a module, and neither would ever be let go of.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = ref(calls)
        self._next = calls.anew()
        self.worth, self.laid = Looks(self._known), Looks(self._known, laying=True)
        self.began = set[int]()
        """`for` statements of which Python's time is taken."""

    def __reduce__(self) -> tuple[object, ...]:
        return Hooks, (self._now(),)

    def _now(self) -> Calls:
        calls = self._calls()
        if calls is None:  # the function is gone, and a generator of it, or a function inside, goes on
            calls = self._next
            self._calls = ref(calls)
        return calls

    def begin(self) -> None:
        """The function is called."""
        # Here alone, without further calls: a function of few elements takes no longer than these.
        calls: Any = self._calls() or self._now()
        calls.called = True
        for each in calls.pipelines.values():
            each.runs = each.few_runs[RUNS] = 0

    def run(self, number: int, source: object, *displays: Display) -> object:
        """A pipeline written with `|>`."""
        try:
            return self._now().pipelines[number].run(source, displays)
        except BaseException as error:
            leaves(error)
            raise

    def attempt(self, number: int, callees: Any, functions: Any, operands: Any, python: Any) -> object:
        """A pipeline written as ordinary code."""
        try:
            return self._ordinary(number).attempt(callees, functions, operands, python)
        except BaseException as error:
            leaves(error)
            raise

    def _known(self, number: int) -> Known:
        """What decides whether ordinary code is tried; if it is not, Python runs it where it stands."""
        found = self._ordinary(number)
        assert found.code is not None
        return found.code, found.few_runs, lambda *given: self._ordinary(number).worth(given)

    def looped(self, number: int, callees: Any, functions: Any, operands: Any, again: Any) -> bool:
        """Whether a loop has done what a `for` statement does; what it hands on is laid down."""
        try:
            code = cast(ForStatement, self._ordinary(number))
            return code.looped(callees, functions, operands, again, self.began)
        except BaseException as error:
            leaves(error)
            raise

    def sought(
        self, number: int, callees: Any, functions: Any, operands: Any, python: Any
    ) -> Iterable[object]:
        """What a `for` statement that searches goes through."""
        code: Any = self._ordinary(number)
        try:
            return code.sought(callees, functions, operands, python)
        except BaseException as error:
            leaves(error)
            raise

    def ended(self, number: int) -> None:
        """Python has gone through the `for` statement."""
        cast(ForStatement, self._ordinary(number)).ended(self.began)

    def _ordinary(self, number: int) -> OrdinaryCode:
        calls: Any = self._calls() or self._now()
        return calls.pipelines[number]

    boxed = staticmethod(boxed)


__all__ = ["BEGIN", "HOOKS", "ORDINARY", "Calls", "Hooks"]
