"""Ordinary code run as a pipeline where the result is the very one of Python, in value and type; else as it stands.

Nothing of it can be noticed but the time: what cannot be compiled is Python's, silently; so are few elements, for which
Python is faster; and where an element raises, Python runs the code again and raises it itself.
"""

from __future__ import annotations

import array
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any, cast

from hastega_magic.compiler import describe
from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.driver import Driver, StrictError
from hastega_magic.compiler.numpy_read import uses_numpy
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.prepared import Again, Display, prepare
from hastega_magic.compiler.repeated import Form, Repeated
from hastega_magic.compiler.statement import Bound
from hastega_magic.compiler.told import remember
from hastega_magic.errors import HastegaError, Reason
from hastega_magic.syntax.build import BoundStage
from hastega_magic.syntax.comprehension import Ordinary
from hastega_magic.syntax.functions import adopt
from hastega_magic.syntax.text import Text
from hastega_magic.trace import Trace

FEW = 256
"""Over fewer elements Python is faster than a call of compiled code."""

_SOURCES = frozenset({range, list, tuple, array.array, bytes, bytearray})
"""What gives Python's own numbers. Elements of NumPy's arrays have types and rules of their own."""

_NOTHING = object()
_TRIES = 3
"""After so many failures in a row, nothing is tried any more."""

_OFTEN = 8
"""After so many compilations nothing is compiled any more, unless most runs need none."""


class _NotExact(Exception):
    """The result would differ from Python's, in value or type."""


@dataclass
class OrdinaryCode(Repeated):
    """The runs of one piece of ordinary code."""

    code: Ordinary | None = None
    places: Text | None = None
    reason: str = ""
    """Why its last run was Python's; "" if it was not."""
    _failed: int = 0
    _compiled: int = 0
    _all: int = 0

    def attempt(
        self,
        callees: tuple[object, ...],
        functions: tuple[object, ...],
        operands: tuple[object, ...],
        python: Callable[..., object],
    ) -> object:
        """The code's value: of the pipeline it is, or what `python(callees, functions, operands)` gives or raises."""
        self.runs += 1
        self._all += 1
        found = self._found(callees, functions, operands)
        return python(callees, functions, operands) if found is _NOTHING else found

    def _found(
        self, callees: tuple[object, ...], functions: tuple[object, ...], operands: tuple[object, ...]
    ) -> object:
        code = self.code
        assert code is not None
        for callee, expected in zip(callees, code.expected, strict=True):
            if callee is not expected:
                return self._left("a name that it calls is not Python's own function here")
        few = False
        for number in code.sources:
            operand: Any = operands[number]
            if type(operand) not in _SOURCES:
                name = type(operand).__name__
                article = "an" if name[0] in "aeiou" else "a"
                return self._left(f"it iterates over {article} {name}, whose elements only Python can give")
            few = few or len(operand) < FEW
        if few:
            return self._left(f"there are fewer than {FEW} elements: Python is faster")
        if self._failed >= _TRIES:
            return _NOTHING
        displays = self._displays(functions, operands)
        source = operands[code.sources[0]]
        began = time.perf_counter()
        for form in self._forms:
            if form.prepared is None:
                continue
            try:
                value = form.prepared.run(source, displays)
            except Again:
                continue
            except Exception:  # Python finds out, and raises it as the code's own
                return self._left("an element raised: Python ran it again, from the first element")
            form.seconds, self.form, self.reason = time.perf_counter() - began, form, ""
            return value if code.after is None else code.after(value)
        if self._compiled >= _OFTEN and 2 * self._compiled > self._all:
            return self._left("what it reads changes from run to run, so that it was compiled too often")
        return self._compile(source, functions, displays)

    def _left(self, reason: str) -> object:
        self.reason = reason
        return _NOTHING

    def _displays(self, functions: Sequence[object], operands: Sequence[object]) -> list[Display]:
        assert self.code is not None
        places = {"function": functions, "operand": operands}
        return [
            (None, tuple(places[kind][number] for kind, number in step.arguments), {})
            for step in self.code.steps
        ]

    def _compile(self, source: object, functions: Sequence[object], displays: Sequence[Display]) -> object:
        assert self.code is not None
        assert self.places is not None
        for number, node in self.code.made.items():
            adopt(cast(FunctionType, functions[number]).__code__, node, self.filename, self.places)
        forget_inputs()
        trace = Trace()
        pairs = zip(self.site.stages, displays, strict=True)
        stages = tuple(BoundStage(site, callee, args, kwargs) for site, (callee, args, kwargs) in pairs)
        bound = Bound(self.site, source, stages)
        self.look(bound)
        driver = Driver(self.options, self.filename, trace, silent=True, varying=self.varying)
        began = time.perf_counter()
        try:
            if uses_numpy(functions):
                raise _NotExact("it uses NumPy, whose scalars have types and rules of their own")
            outcome = driver.run_alone(bound, source)
            if outcome.execution is None:
                raise _NotExact("nothing of it is compiled")
        except (_NotExact, StrictError) as error:
            if self.varying:
                self.varying, self.constant = frozenset(), True
                return self._compile(source, functions, displays)
            self._failed += 1
            return self._left(_sentence(error))
        except HastegaError as error:
            self._failed += 1
            return self._left(str(error))
        except Exception:
            return self._left("an element raised: Python ran it again, from the first element")
        self._failed = 0
        self._compiled += 1
        self.reason = ""
        seconds = time.perf_counter() - began
        ready = prepare(bound, outcome, self.options, self.filename)
        self.keep(Form(remember(outcome, trace), ready, seconds))
        value = outcome.values[0]
        return value if self.code.after is None else self.code.after(value)

    def tell(self, source: str, trace: Trace, quiet: bool = False) -> None:
        """Add what the last run was to the trace of a report."""
        if not self.reason:
            super().tell(source, trace, quiet)
            return
        trace.next_group()
        describe.describe_group([Bound(self.site, None, ())], trace)
        describe.describe_barrier(self.site.text, Reason(self.reason, self.site.span), trace)


def _sentence(error: Exception) -> str:
    """Without the stage: all of the code is Python's."""
    text = str(error)
    return text.partition(" is not compiled: ")[2] or text


def options_for(options: Options) -> Options:
    """The options with which ordinary code is tried: all or nothing, exactly, and once."""
    return replace(options, strict=True, quiet=True, int_mode="exact", fast_math=False, repeat=1)


__all__ = ["FEW", "OrdinaryCode", "options_for"]
