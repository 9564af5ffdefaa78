"""Ordinary code run as a pipeline where the result is the very one of Python, in value and type; else as it stands.

Nothing of it can be noticed but the time: what cannot be compiled is Python's, silently; so are few elements, for which
Python is faster; and where an element raises, Python runs the code again and raises it itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from types import FunctionType
from typing import Any, ClassVar, cast

import numpy as np

from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.choice.auto import sooner_again
from hastega_magic.compiler.driver import Driver, StrictError
from hastega_magic.compiler.fastpath.drifting import are_same_bits, unfit
from hastega_magic.compiler.fastpath.few_lately import FewLately
from hastega_magic.compiler.fastpath.fielded import prepared
from hastega_magic.compiler.fastpath.given_objects import NAN, HoldsNan, exact, may_give_them
from hastega_magic.compiler.fastpath.guards import Display, DoesNotFit
from hastega_magic.compiler.fastpath.objects import NotExact, are_objects, holds_nan, holds_nan_keys, objects
from hastega_magic.compiler.fastpath.operands import (
    Iterated,
    as_before,
    completed,
    iterated,
    look_at,
    look_at_errors,
    not_tried,
)
from hastega_magic.compiler.fastpath.pauses import Pauses
from hastega_magic.compiler.fastpath.places import PlacesOf, at_places, itself
from hastega_magic.compiler.fastpath.profitability import SOONER, STAYS, Profitability, at_most
from hastega_magic.compiler.fastpath.refusals import RAISED, may_see, numpys_among, refused, sentence
from hastega_magic.compiler.fastpath.repeated import Form, Repeated
from hastega_magic.compiler.fastpath.row_by_row import cut_evenly
from hastega_magic.compiler.fastpath.row_wise import by_python_at_most
from hastega_magic.compiler.fastpath.trailing import values_behind
from hastega_magic.compiler.fastpath.unbound import run_by_python
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.reporting import describe
from hastega_magic.compiler.reporting.deferred import remember
from hastega_magic.compiler.sources import short_circuit
from hastega_magic.compiler.statement import Bound
from hastega_magic.errors import HastegaError, NotCompilable, Reason
from hastega_magic.frames import reraise_signal, taken_back
from hastega_magic.records import dataclass
from hastega_magic.runtime.objects.look_words import RUNS
from hastega_magic.runtime.signals import with_signals
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.ordinary.parts import IS_FEW, Ordinary, too_few
from hastega_magic.syntax.reading.functions import adopt
from hastega_magic.syntax.reading.text import Text
from hastega_magic.trace import Trace

NOTHING = object()
_OFTEN = 8
"""After so many compilations nothing is compiled any more until the runs are as many as their square."""

_MANY = 1 << 17
"""Over so many elements a loop that is known may be put together anew for each run."""


@dataclass
class OrdinaryCode(Repeated):
    """The runs of one piece of ordinary code."""

    code: Ordinary | None = None
    places: Text | None = None
    reason: str = ""
    """Why its last run was Python's; "" if it was not."""
    _compiled: int = 0
    _all: int = 0
    _pauses: Pauses = field(default_factory=Pauses)
    _nest: PlacesOf | None = None
    _few: FewLately = field(default_factory=FewLately)
    _profitability: Profitability = field(default_factory=Profitability)
    as_code_gives: ClassVar[Callable[[Any, Any], Any]] = staticmethod(objects)
    """What a loop's value is in Python's code; NotExact where that cannot be told."""
    gives_objects: ClassVar[Callable[[Any], bool]] = staticmethod(are_objects)

    def __reduce__(self) -> tuple[object, ...]:
        made = type(self), (self.site, self.options, self.filename)
        return *made, {"code": self.code, "places": self.places}

    def worth(self, given: tuple[object, ...]) -> bool:
        """Whether to try it over what it is given: the least that it may cost where there is nothing to gain.

        If not, it counts as a run of Python's.
        """
        code = self.code
        assert code is not None
        self.counted()
        plain = code.nest is None and not code.depth
        for number in code.asked:
            value = given[number]
            if plain:
                why = not_tried(value)
            elif code.nest is None:
                why = not_tried(value, code.depth, code.few)
            else:
                why = self._few.again(value, code.few)
            if why:
                return self._not_worth(why)
        before = plain and code.asked and self.reason in (SOONER, STAYS)
        if before and self._profitability.is_as_before([given[number] for number in code.asked]):
            return self._not_worth(self.reason)
        return True

    def counted(self) -> None:
        """Count the runs that looks have found to be over few elements."""
        if runs := self.few_runs[RUNS]:
            self.few_runs[RUNS] = 0
            self._not_worth(IS_FEW)
            self.runs += runs - 1

    def _not_worth(self, why: str) -> bool:
        self.runs += 1
        self.idle = 0
        self._all += 1
        self.reason = why
        return False

    def attempt(
        self,
        callees: tuple[object, ...],
        functions: tuple[object, ...],
        operands: tuple[object, ...],
        python: Callable[..., object],
    ) -> object:
        """The code's value: of the pipeline it is, or what `python(callees, functions, operands)` gives or raises."""
        found, length, by_python = self._tried(callees, functions, operands)
        if found is not NOTHING:
            return found
        assert self.code is not None
        began = time.perf_counter()
        unlooked = self.code.cut and self.reason in (SOONER, STAYS, too_few(self.code.few))
        value = run_by_python(python, callees, functions, operands, *([False] if unlooked else []))
        if by_python:
            self._profitability.took(time.perf_counter() - began, length, True, value)
        return value

    def _tried(
        self, callees: tuple[object, ...], functions: tuple[object, ...], operands: tuple[object, ...]
    ) -> tuple[object, int, bool]:
        """The value, or nothing; of how many elements; and whether it is Python's as that is sooner."""
        self.runs += 1
        self.idle = 0
        self._all += 1
        began = time.perf_counter()
        found = self._found(callees, functions, operands)
        length, by_python = self._profitability.asked()
        assert self.code is not None
        if found is NOTHING:
            return found, length, by_python
        made = found if self.code.after is None else self.code.after(found)
        # Which NaN are one key is a matter of identity, and the loop's are new objects.
        odd = holds_nan_keys(made) if self.code.keys is None else holds_nan(self.code.keys(made))
        if odd:
            self.reason = NAN
            return NOTHING, length, False
        breaks = self.code.hands_on is not None and self.code.hands_on.breaks
        early = breaks or found is short_circuit.DECIDED.get(self.site.stages[-1].name, NOTHING)
        self._profitability.took(time.perf_counter() - began, length, False, early=early)
        return made, length, False

    def _found(
        self, callees: tuple[object, ...], functions: tuple[object, ...], operands: tuple[object, ...]
    ) -> object:
        """The value; nothing where Python is to find it."""
        code = self.code
        assert code is not None
        for number in code.sources if code.nest is None else ():
            if why := not_tried(operands[number], code.depth, code.few):
                return self._left(why)
        if why := refused(code, self.options, self._pauses, callees, functions):
            return self._left(why)
        before = self.reason in (SOONER, STAYS)
        why = as_before(self._profitability, code, functions, operands) if before else ""
        if why := why or ("" if self._forms else self._pauses.for_failures()):
            return self._left(why)
        return self._or_nothing(lambda: self._of_loops(code, functions, operands))

    def _of_loops(self, code: Ordinary, functions: Sequence[object], operands: tuple[object, ...]) -> object:
        operands += values_behind(code, functions)
        rows = operands[0] if code.depth else None
        if code.nest is None:
            operands, given = iterated(operands, code)
            found = self._value(functions, operands, given)
        else:
            found = self._over_places(functions, operands)
        return found if found is NOTHING else completed(code, operands, found, rows)

    def _or_nothing(self, find: Callable[[], object]) -> object:
        """What is found; nothing where only Python can find it, or anything is raised."""
        try:
            found = find()
        except HoldsNan:
            self._pauses.found_nan()
            return self._left(NAN)
        except NotExact as error:
            return self._left(str(error))
        except NotCompilable as error:
            return self._left(error.reason.text)
        except Exception as error:  # Python finds out, and raises it as the code's own
            reraise_signal(error)
            taken_back(error)
            self._pauses.raised()
            return self._left(RAISED)
        if self.reason != RAISED:
            self._pauses.found_none()
        return found

    def _over_places(self, functions: Sequence[object], operands: Sequence[object]) -> object:
        """The value over the places of several clauses."""
        assert self.code is not None
        assert self.code.nest is not None
        if self._nest is None:
            self._nest = PlacesOf(self.code.nest, self.filename)
        arrays, few = list[bool](), self.code.few_places

        def look(source: object) -> None:
            look_at(source)
            arrays.append(type(source) is np.ndarray)

        with self._few.told(operands[0]), self._nest.found(functions, operands, few, look) as places:
            look_at_errors(arrays)
            whole = range(places.count)
            given = Iterated(tuple(arrays), frozenset(), places.count, whole, places)
            decided = short_circuit.DECIDED.get(self.site.stages[-1].name)
            if decided is None or places.count <= short_circuit.STRETCH:
                found = self._value(functions, operands, given)
                return cut_evenly(found, places.last) if self.code.cut and found is not NOTHING else found
            found = not decided
            for _, part in short_circuit.stretches(whole):  # Python may end early
                found = self._value(functions, operands, replace(given, source=part))
                if found is NOTHING or found is decided:
                    break
            return found

    def _value(self, functions: Sequence[object], operands: Sequence[object], given: Iterated) -> object:
        if why := self._profitability.by_python(given.length):
            return self._left(why)
        displays = self._displays(functions, operands, given)
        source = given.source
        for form in self._forms:
            found = self._again(form, source, displays, given)
            if found is not NOTHING:
                self.form, self.reason = form, ""
                return found
        if self._forms and (why := self._pauses.for_failures()):
            return self._left(why)
        if self._compiled >= _OFTEN and self._compiled**2 > self._all:
            return self._left("what it reads changes from run to run, so that it was compiled too often")
        return self._compile(source, functions, displays, given)

    def _again(self, form: Form, source: object, displays: Sequence[Display], given: Iterated) -> object:
        """The value by a loop that is kept; nothing if it does not fit."""
        if form.prepared is None or form.arrays != given.arrays:
            return NOTHING
        if form.scalars is not None and form.scalars.most is not None and given.length > form.scalars.most:
            return NOTHING
        began = time.perf_counter()
        try:
            value = form.prepared.run(source, self._of_scalars(displays) if form.scalars else displays)
        except DoesNotFit:
            return NOTHING
        found = self.as_code_gives(value, form.scalars)
        form.seconds, form.again = time.perf_counter() - began, True
        return found

    def _left(self, reason: str) -> object:
        self.reason = reason
        return NOTHING

    def _displays(
        self, functions: Sequence[object], operands: Sequence[object], given: Iterated
    ) -> list[Display]:
        assert self.code is not None
        nest: Sequence[object] = () if given.places is None else (given.places.function,)
        if given.places is not None and given.places.over_rows:
            functions, nest = at_places(functions, self.code, given.places.function), (itself,)
        places: dict[str, Sequence[object]] = {"function": functions, "operand": operands, "nest": nest}
        arguments = ((places[kind][number] for kind, number in step.arguments) for step in self.code.steps)
        return [(None, tuple(each), {}) for each in arguments]

    def _of_scalars(self, displays: Sequence[Display]) -> Sequence[Display]:
        """Without a last `to_list`: NumPy's scalars are made of the array. NotExact where only NumPy can make them."""
        look_at_errors((True,))
        return displays[: len(self.site.stages) - (self.site.stages[-1].name == "to_list")]

    def _compile(
        self,
        source: object,
        functions: Sequence[object],
        displays: Sequence[Display],
        given: Iterated,
    ) -> object:
        assert self.code is not None
        assert self.places is not None
        for number, node in self.code.made.items():
            adopt(cast(FunctionType, functions[number]).__code__, node, self.filename, self.places)
        if given.places is not None:
            adopt(given.places.function.__code__, given.places.node, self.filename, self.places)
        forget_inputs()
        trace = Trace()
        began = time.perf_counter()
        try:
            bound, outcome = self._by_loops(source, displays, given, trace)
            known = outcome.loops[0].scalars if outcome.loops else None
            value = self.as_code_gives(outcome.values[0], known)
        except (NotExact, StrictError) as error:
            if self.varying:
                self.without()
                return self._compile(source, functions, displays, given)
            return self._left(self._pauses.failed(sentence(error)))
        except HastegaError as error:
            return self._left(self._pauses.failed(str(error)))
        except Exception as error:
            reraise_signal(error)
            taken_back(error)
            if self._forms:  # runs with those end the others' count, and compiling again is what costs
                self._pauses.failed(RAISED)
            else:
                self._pauses.raised()
            return self._left(RAISED)
        assert outcome.execution is not None
        if why := self._unfit(outcome):
            return self._left(self._pauses.failed(why))
        self._pauses.compiled()
        self.taken(outcome)
        self._compiled += not (outcome.execution.cached and given.length >= _MANY)
        self.reason = ""
        seconds = time.perf_counter() - began
        gives = self.gives_objects(value) and may_give_them(outcome.execution.fused, all(given.arrays))
        ready = prepared(bound, outcome, self.options, self.filename, gives)
        nested, same = self.code.nest is not None, are_same_bits(outcome)
        most = by_python_at_most(ready, given.length)
        if outcome.execution.choice is not None:
            most = min(most, at_most(outcome))
        self._profitability.expect(outcome.execution.choice, given.length, same, most, nested)
        if sooner_again(outcome.execution.choice):  # which has no choice to make of its own again
            self.options = replace(self.options, on="parallel")
        self.keep(Form(remember(outcome, trace), ready, seconds, known, given.arrays))
        if self._profitability.stays(given.length):
            return self._left(STAYS)
        return exact(value) if gives else value

    def _unfit(self, outcome: Outcome) -> str:
        return unfit(self.code, outcome) if self.code else ""

    def _by_loops(
        self, source: object, displays: Sequence[Display], given: Iterated, trace: Trace
    ) -> tuple[Bound, Outcome]:
        """The statement and its outcome; NotExact, or what the driver raises, where loops do not give Python's."""
        assert self.code is not None
        reads = numpys_among(self.site.stages, displays)
        scalars = given.of_numpy if given.of_numpy or reads == "arrays" else None
        if reads == "others":
            raise NotExact("it uses NumPy, whose scalars and functions have rules of their own")
        used = displays if scalars is None else self._of_scalars(displays)
        if why := may_see(self.code, displays) if used else "nothing is computed":
            raise NotExact(why)
        pairs = zip(self.site.stages, used, strict=False)
        stages = tuple(BoundStage(site, callee, args, kwargs) for site, (callee, args, kwargs) in pairs)
        site = replace(self.site, stages=self.site.stages[: len(used)])
        bound = Bound(site, source, stages, ordinary=True, apart=self.code.apart)
        self.look(bound)
        bound = replace(bound, varying=self.varying)
        driver = Driver(self.options, self.filename, trace, silent=True, scalars=scalars, tentative=True)
        outcome = with_signals(lambda: driver.run_alone(bound, source))
        if outcome.execution is None or (scalars is not None and len(outcome.loops) != 1):
            raise NotExact("nothing of it is compiled")
        return bound, outcome

    def let_go(self, everything: bool = False) -> int:
        """As of any pipeline; what is compiled again for that is no sign of code that changes in each run."""
        gone = super().let_go(everything)
        self._compiled = max(0, self._compiled - gone)
        return gone

    def tell(self, source: str, trace: Trace, quiet: bool = False) -> None:
        """Add what the last run was to the trace of a report."""
        if not self.reason:
            super().tell(source, trace, quiet)
            return
        trace.next_group()
        describe.describe_group([Bound(self.site, None, ())], trace)
        describe.describe_barrier(self.site.text, Reason(self.reason, self.site.span), trace)
        describe.describe_uncompiled("python", None, self.options, trace)


__all__ = ["NOTHING", "OrdinaryCode"]
