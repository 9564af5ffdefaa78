"""Iterators as sources: drawn in bounded chunks where nobody can tell, one element after the other where they can.

    (f(x) for x in xs) |> map(_ * 3) |> sum      chunks of 65 536, one loop over each, the sums added up
    lines |> map(parse) |> take(3)               Python: `take` draws three elements and no more

Nobody can tell where all elements are drawn anyhow, and the functions are compiled ones that cannot raise. A chunk
holds numbers of one type; with the first element of another type Python takes over, to the end.
"""

from __future__ import annotations

import array
import ctypes
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.python.lockstep import kind_of_element
from hastega_magic.compiler.python.watching import Watch
from hastega_magic.compiler.run import run_loops
from hastega_magic.compiler.scan_values import doubtful
from hastega_magic.compiler.statement import Bound, Loop, build_loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import BeyondInt64, NotCompilable
from hastega_magic.records import dataclass
from hastega_magic.runtime import python
from hastega_magic.runtime.buffer_protocol import BUFFERS
from hastega_magic.runtime.buffers import extended, of_its_own
from hastega_magic.runtime.columnar import is_columnar
from hastega_magic.runtime.objects.boxes import listed
from hastega_magic.runtime.objects.iterating import Drawer, Variable, can_watch, drawer
from hastega_magic.runtime.python_calls import iterated
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.runtime.special_methods import has
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.loops.reorderable import quiet
from hastega_magic.syntax.stages import ONE_BY_ONE
from hastega_magic.trace import Trace

CHUNK = 1 << 16
"""Elements that are drawn before a loop runs over them."""
_LATER = 4
"""Chunks of that size at a time where native code draws them."""

_ENDS = frozenset({"sum", "prod", "min", "max", "count", "to_list"})
"""Sinks that ask for all elements, and whose value over all follows from those over stretches."""

_NOTHING: Any = object()
CHANGES = "it may change what their functions read"


@dataclass
class Drawing:
    """An iterator drawn for the stages. `loop` and `execution` are those of the first chunk.

    `left` gives all elements that no chunk has held yet: what Python goes on with.
    """

    bound: Bound
    stages: Sequence[BoundStage]
    options: Options
    filename: str
    trace: Trace
    left: Iterator[object]
    chunk: list[object] | AnyArray = field(default_factory=list[object])
    """The elements to be computed next, of one type."""
    elements: int = 0
    """In chunks so far."""
    chunks: int = 0
    loop: Loop | None = None
    execution: Execution | None = None
    warned: Execution | None = None
    """The first one with warnings."""
    _run: Iterator[object] = field(default_factory=lambda: iter(()))
    _others: Iterator[object] = field(default_factory=lambda: iter(()))
    _watch: Watch = field(default_factory=lambda: Watch((), frozenset()))
    """What the stages' functions read, which the iterator may change."""
    _changed: str = ""
    """Says so where it has changed that: `left` begins with the values of before then."""
    _drawer: Drawer | None = None
    """What draws the chunks behind the first one: `_others` is all that is left then."""
    _watched: Sequence[Variable] = ()

    def why_not(self) -> str:
        """Why Python has to draw one element after the other; "" if chunks can be drawn.

        Draws one element where the stages need all.
        """
        *before, last = self.stages
        ends = last.site.name in _ENDS and not last.args and not last.kwargs
        known = all(stage.callee is None for stage in self.stages)
        if not known or not all(stage.site.name in ONE_BY_ONE for stage in before):
            return "these stages may not need all of them"
        if not ends and last.site.name not in ONE_BY_ONE:
            return "these stages may not need all of them"
        if self.options.on == "numpy":
            return "NumPy computes with whole arrays"
        source = self.left
        with self._drawn():
            first = list(itertools.islice(source, 1))
        self.left = itertools.chain(first, source) if first else iter(())  # which is not asked again
        if not first:
            return "there are none"
        self._watch = Watch.of(self.stages)
        if self._watch.reached_from(source):
            return CHANGES
        try:
            loop, reason, probe = build_loop(self.bound, first, self.stages, Workspace(self.filename))
        except BeyondInt64 as error:
            return str(error)
        if loop is None or probe is not None or len(loop.stages) < len(self.stages):
            return reason.text if reason is not None else "the stages do not make one loop"
        element = loop.pipeline.source.structure
        if not quiet(self.stages, element, Workspace(self.filename)):
            return "one of them may raise, and Python draws none beyond it"
        large = quiet(self.stages, element, Workspace(self.filename), math.inf)
        return self._draw(type if large else kind_of_element)

    def _draw(self, kind: Callable[[object], object]) -> str:
        """Draw the first chunk; the reason for which nothing is gained by it."""
        # By type and in C, but where ints of more than 64 bits may raise: with the first of another, drawing stops.
        source = self.left
        _, self._run, self._others = first_run(source, kind, self._watch)
        self._next()
        if self._changed:
            return self._changed
        if self.small:
            return "they are of several types" if self._another() is not _NOTHING else ""
        self._watched = self._watch.places
        self._drawer = drawer(self.element_type) if all(map(can_watch, self._watched)) else None
        if self._drawer is not None:  # nothing is drawn ahead, so that it goes on at the next one
            self._run, self._others = iter(()), source
        return ""

    @property
    def small(self) -> bool:
        """Whether there is no other chunk."""
        return len(self.chunk) < CHUNK

    @property
    def element_type(self) -> type[object]:
        """That of the chunk's elements."""
        first: object = self.chunk[0]
        return type(first)

    def _drawn(self) -> AbstractContextManager[None]:
        """Meanwhile the iterator gives elements, whose code is Python's."""
        return self.trace.phase("convert_in", by_python=True)

    def _next(self) -> None:
        if self._drawer is None:
            with self._drawn():
                self.chunk = list(itertools.islice(self._run, CHUNK))
        else:
            with self._drawn():
                self.chunk, others = self._drawer.draw(self._others, _LATER * CHUNK, self._watched)
            if len(self.chunk) < _LATER * CHUNK:
                self._others = itertools.chain(others, self._others) if others else iter(())
        forget_inputs()  # a generator may have changed any array
        following = itertools.chain(self._run, self._others)
        if len(self.chunk) and self._watch.changed():
            self._changed = CHANGES
            self.left = self._watch.replayed(self._objects(), following)
        else:
            self.left = itertools.chain(self._objects(), following)

    def _objects(self) -> Iterator[object]:
        """The chunk's elements, made when they are asked for."""
        chunk = self.chunk
        return (
            iter(chunk) if isinstance(chunk, list) else itertools.chain.from_iterable(map(listed, (chunk,)))
        )

    def _another(self) -> object:
        """The first element of another type, if there is one; nothing more is drawn for it."""
        with self._drawn():
            first = next(self._others, _NOTHING)
        if first is not _NOTHING:
            self._others = itertools.chain([first], self._others)
            self.left = itertools.chain(self._objects(), self._run, self._others)
        return first

    def run(self) -> tuple[object, str]:
        """The stages' value over all elements, and why Python computed the last of them, if it did.

        What the iterator raises propagates.
        """
        sink = self.stages[-1].site.name if self.stages[-1].site.name in _ENDS else ""
        found: list[Any] = []
        why = ""
        while len(self.chunk) and not why:
            try:
                value = self._computed(sink)
            except NotCompilable as error:
                why = str(error)
            else:
                if value is not _NOTHING:
                    self._add(found, value, sink)
                self._next()
                why = self._changed
        if not why and self._another() is not _NOTHING:
            why = "elements of other types followed"
        if why:
            self._by_python(found, sink)
        return _all_of(found, sink), why

    def _computed(self, sink: str) -> object:
        """The value over the chunk; nothing for the smallest of none. NotCompilable where Python has to go on."""
        workspace = Workspace(self.filename, first=self.elements)
        with self.trace.phase("parse"):
            loop, reason, _ = build_loop(self.bound, self.chunk, self.stages, workspace)
        if loop is None:
            raise NotCompilable(reason.text if reason is not None else "it has no compiled form")
        self.elements += len(self.chunk)
        self.chunks += 1
        try:
            execution = run_loops([loop], workspace, self.options, self.trace)
        except ValueError:
            if sink not in ("min", "max"):
                raise
            return _NOTHING  # the filters left none
        if self.execution is None:
            self.loop, self.execution = loop, execution
        if self.warned is None and execution.warnings:
            self.warned = execution
        return execution.values[0]

    def _add(self, found: list[Any], value: Any, sink: str) -> None:
        """Put a chunk's value behind those before."""
        if not sink:
            if not found or not extended(found[-1], value):
                found.append(of_its_own(value))
        elif sink == "to_list":
            if not found:
                found.append([])
            found[0] += value
        elif not found or sink == "count":
            found.append(value)
        elif sink in ("min", "max") and value != value:
            # NaN is neither smaller nor larger than what comes before the chunk: only its own elements tell.
            self._go_on(found, sink)
        elif sink == "prod" and type(value) is float and doubtful(found[0] * value):
            self._go_on(found, sink)  # the chunk alone may overflow, or vanish, where the product does not
        else:
            found[:] = [python.apply(sink, [*found, value])]

    def _go_on(self, found: list[Any], sink: str) -> None:
        """Put the chunk's elements behind what is found, one after the other."""
        found[:] = [python.apply(sink, itertools.chain(found, self._mapped(self._objects())))]

    def report_note(self, why: str) -> str:
        """What a report says of it. `why`: why Python computed the rest."""
        text = f"The source is an iterator: {self.elements} elements were drawn in {self.chunks} chunks"
        return f"{text}; Python computed the rest: {why}." if why else f"{text}, each computed by the loop."

    def _by_python(self, found: list[Any], sink: str) -> None:
        """The rest, one element after the other."""
        mapped = self._mapped(self.left)
        with self.trace.phase("kernel", by_python=True):
            if sink == "to_list":
                found[:] = found or [[]]
                found[0].extend(mapped)
            elif not sink:
                found.append(list(mapped))
            elif sink == "count":
                found.append(python.apply(sink, mapped))
            else:
                found[:] = [python.apply(sink, itertools.chain(found, mapped))]

    def _mapped(self, elements: Iterator[object]) -> Iterator[object]:
        for stage in self.stages:
            if stage.site.name in ONE_BY_ONE:
                elements = python.apply(stage.site.name, elements, stage.args, stage.kwargs)
        return elements


def _all_of(found: Sequence[Any], sink: str) -> object:
    if sink == "count":
        return sum(found)
    if sink == "to_list":
        return found[0] if found else []
    if sink:
        return found[0] if found else python.apply(sink, [])  # which says that there is none
    if len(found) == 1 and isinstance(found[0], np.ndarray) and len(cast(AnyArray, found[0])):
        return cast(object, found[0])
    if any(len(each) for each in found) and len({getattr(each, "dtype", None) for each in found}) == 1:
        return np.concatenate(found)
    return python.as_result(list(itertools.chain.from_iterable(map(python.elements, found))))


def first_run(
    source: Iterator[object], kind: Callable[[object], object], watch: Watch
) -> tuple[object, Iterator[object], Iterator[object]]:
    """The kind of the first element, those of that kind that come with unchanged variables, and all behind them.

    Drawing from the second ends before the third begins; there has to be an element.
    """
    odd = list[object]()
    watched = watch.unchanged(source, odd) if watch.variables else source
    runs = itertools.groupby(watched, kind)
    first, run = next(runs)
    others = itertools.chain.from_iterable(each for _, each in runs)
    return first, run, itertools.chain(others, _behind(odd, source))


def _behind(odd: list[object], source: Iterator[object]) -> Iterator[object]:
    """What is left behind elements with unchanged variables (`Watch.unchanged`): nothing, if these were all."""
    if odd:
        yield odd.pop()
        yield from source


_HEAP_TYPE = 1 << 9
"""Bit of `__flags__` in classes that a `class` statement made: C's `Py_TPFLAGS_HEAPTYPE`."""


def is_of_python(value: object) -> bool:
    """Whether an object's type is one of Python's own.

    A class that was made where no `__name__` is has no module, or says that it is of the builtins.
    """
    kind = type(value)
    module: object = getattr(kind, "__module__", "")
    return module == "collections" or (module == "builtins" and not kind.__flags__ & _HEAP_TYPE)


def goes_its_own_way(value: Any) -> bool:
    """Whether it is an object of a class that may give its elements as it likes, and show it: none of Python's own."""
    if is_of_python(value) or isinstance(value, (Iterator, *BUFFERS)):
        return False
    given = cast(object, value)
    gives = has(given, "__iter__", "__getitem__")
    return gives and not has(given, "__array__") and not is_columnar(given)


def iterable(value: object) -> object:
    """The value itself if it can be looked at more than once, else a list of its elements."""
    again = (range, list, tuple, bytes, bytearray, memoryview, array.array)
    if type(value) in again or isinstance(value, (np.ndarray, ctypes.Array)) or has(value, "__array__"):
        return cast(object, value)
    return value if is_columnar(value) else list(iterated(value))


__all__ = ["CHUNK", "Drawing", "first_run", "goes_its_own_way", "is_of_python", "iterable"]
