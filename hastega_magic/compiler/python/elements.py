"""One element at a time through the user's own functions: the oracle for the elements that kernels hand back."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple, cast

import numpy as np

from hastega_magic.compiler.python.calling import function_of
from hastega_magic.compiler.python.naming import BEYOND, named, placed, short, shown
from hastega_magic.compiler.python.nodes import (
    filled,
    has_turns,
    is_approximate,
    of_params,
    roots,
    scalars,
    tables_read,
)
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import HastegaError
from hastega_magic.interval import INT64
from hastega_magic.ir.expr import Expr, Value, flatten
from hastega_magic.ir.interpreter import evaluate
from hastega_magic.ir.pipeline import Source, Stage
from hastega_magic.ops.machine import wrap64
from hastega_magic.passes.infer import Leaves
from hastega_magic.passes.wrap import wrapped
from hastega_magic.records import dataclass
from hastega_magic.runtime.python_calls import elements, spreads
from hastega_magic.runtime.sources import Column
from hastega_magic.syntax.joining.build import BoundStage
from hastega_magic.types import INT

_NUMPY_SCALAR: Any = np.generic
_NUMPYS: Any = (np.integer, np.bool)


class Element(NamedTuple):
    """What became of an element: whether the filters kept it, and its value after the last stage."""

    kept: bool
    value: Any


@dataclass
class Elements:
    """Evaluates elements of a loop. `mode`: "checked" raises OverflowError where an integer leaves 64 bits.

    `group` holds the loops fused with it, one of which may produce its source.
    """

    loop: Loop
    workspace: Workspace
    mode: str
    group: Sequence[Loop] = ()
    overflowed: bool = False
    warnings: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        """Pair the stages as built with the functions as given."""
        self._steps: list[tuple[Stage, BoundStage]] = list(
            zip(self.loop.pipeline.stages, self.loop.built.owners, strict=True)
        )
        self._functions = [function_of(*step, self.loop.pipeline.sink.kind) for step in self._steps]
        source = self.loop.pipeline.source
        self._spread: dict[tuple[int, int], bool] = {}
        self._wraps: dict[int, Mapping[Expr, Expr]] = {}
        self._producer = None
        if source.kind == "result":
            producer = next(loop for loop in self.group if loop.name == source.name)
            self._producer = Elements(producer, self.workspace, self.mode, self.group)
        # The first stage stands for the tuples that the source has.
        self._by_field = bool(self._steps) and self._steps[0][1].site.span == self.loop.bound.site.source_span
        self._tables = [column.data for column in self.workspace.table_columns]
        self._approximate = {id(stage) for stage, _ in self._steps if is_approximate(stage.fn)}
        numpys = {number for number, each in enumerate(self.workspace.table_columns) if each.numpys}
        self._reading = {id(stage) for stage, _ in self._steps if numpys & tables_read(stage.fn)}
        self._turning = {id(stage) for stage, _ in self._steps if has_turns(stage.fn)}
        self._turning -= self._approximate | self._reading

    def at(self, index: int) -> Element:
        """Element number `index` of the loop; what its functions raise propagates, with a note that names it."""
        return self._before(len(self._steps), index, 0, {})

    def through(self, first: int, last: int) -> list[Element]:
        """Elements number `first` to `last` - 1 of the loop, each as `at` gives it."""
        found, plain = list[Element](), self._is_plain
        if self._approximate and self.mode == "exact" and (raising := self._raising(first, last)) is not None:
            self.at(raising)
        for index in range(first, last):
            if plain and self.overflowed:
                rest = self._plainly(index, last)
                if rest is not None:
                    return found + rest
                plain = False  # one raises: of which, and where, is told below
            found.append(self.at(index))
        return found

    @functools.cached_property
    def _is_plain(self) -> bool:
        """Whether an element is what its functions alone make of it, with Python's own bits and beyond 64 bits."""
        own = self._producer is None and not self._by_field and not self._approximate and not self._reading
        return own and self._has_functions_alone and self.mode == "exact"

    def _raising(self, first: int, last: int) -> int | None:
        """The first of them for which a function raises; None where none does, or that is not known.

        Functions of which the interpreter computes the bits take it a thousand times as long as Python.
        """
        if self._producer is not None or self._by_field or not self._has_functions_alone:
            return None
        data = self.workspace.column(self.loop.pipeline.source).data
        for index in range(first, last):
            value: Any = _python(data[index])
            try:
                with np.errstate(all="ignore"):
                    for number, ((stage, _), function) in enumerate(
                        zip(self._steps, self._functions, strict=True)
                    ):
                        made = self._called(number, function, value)
                        if stage.kind != "filter":
                            value = made
                        elif not made:
                            break
            except Exception:
                return index
        return None

    @property
    def _has_functions_alone(self) -> bool:
        return {stage.kind for stage, _ in self._steps} <= {"map", "filter"}

    def _plainly(self, first: int, last: int) -> list[Element] | None:
        """What is left of them by the functions alone, as nothing is left to be told; None where one of them raises.

        Each function goes over all of them, and nobody sees in which order they are called.
        """
        data = self.workspace.column(self.loop.pipeline.source).data
        places: Sequence[int] = range(last - first)
        if isinstance(data, (np.ndarray, range)):
            values = list(elements(data[first:last]))
        else:
            values = _pythons([data[index] for index in range(first, last)])
        try:
            with np.errstate(all="ignore"):
                for number, ((stage, _), function) in enumerate(
                    zip(self._steps, self._functions, strict=True)
                ):
                    call = function
                    if tuple in set(map(type, values)):
                        call = functools.partial(self._called, number, function)
                    made = list(map(call, values))
                    if any(issubclass(each, _NUMPYS) for each in set(map(type, made))):
                        return None
                    if stage.kind != "filter":
                        values = _pythons(made)
                        continue
                    pairs = zip(places, values, strict=True)
                    kept = list(itertools.compress(pairs, made))
                    places, values = [place for place, _ in kept], [value for _, value in kept]
        except Exception:
            return None
        if len(places) == last - first:
            return list(map(Element, itertools.repeat(True), values))
        found = [Element(False, None)] * (last - first)
        for place, value in zip(places, values, strict=True):
            found[place] = Element(True, value)
        return found

    def _before(self, end: int, index: int, ahead: int, moved: _Moved) -> Element:
        """The element before step `end`: `ahead` elements on within a window, over sources that are moved on so far."""
        start, kept = self._start(index, moved)
        element = Element(kept, start)
        known = [self.loop.pipeline.source]
        for number, (stage, _) in enumerate(self._steps[:end]):
            if not element.kept:
                break
            match stage.kind:
                case "zip":
                    others = [
                        item(self.workspace.column(_at(source, moved)), index) for source in stage.sources
                    ]
                    element = Element(True, (element.value, *others))
                    if number == 0 and self._by_field:
                        start = element.value
                case "enumerate":
                    element = Element(True, (stage.number + stage.stride * (index + ahead), element.value))
                case "index":
                    element = Element(True, index)
                case "window":
                    element = self._window(number, known, element, index, ahead, moved)
                case _:
                    found = self._call(number, element.value, index + self.workspace.first, start)
                    if stage.kind != "filter":
                        element = Element(True, found)
                    elif not found:
                        element = Element(False, None)
            known += stage.sources
        return element

    def _window(
        self, number: int, known: Sequence[Source], first: Element, index: int, ahead: int, moved: _Moved
    ) -> Element:
        """The neighbours: what the steps before give over the sources moved on."""
        stage, parts = self._steps[number][0], [first.value]
        for distance in range(1, stage.number):
            there = stage.sources[(distance - 1) * len(known) : distance * len(known)]
            further = {(old.kind, old.key): _at(new, moved) for old, new in zip(known, there, strict=True)}
            parts.append(self._before(number, index, ahead + distance, {**moved, **further}).value)
        return Element(True, tuple(parts))

    def _start(self, index: int, moved: _Moved) -> tuple[Any, bool]:
        """The element as the first stage gets it, and whether there is one."""
        if self._producer is None:
            return item(self.workspace.column(_at(self.loop.pipeline.source, moved)), index), True
        found = self._producer.at(index)
        return found.value, found.kept

    def _call(self, number: int, value: Any, index: int, start: Any) -> Any:
        stage, function = self._steps[number][0], self._functions[number]
        # Elements of a captured array count as Python's numbers; the function has NumPy's, which wrap, or raise.
        own = id(stage) in self._approximate | self._reading
        try:
            with np.errstate(all="ignore"):
                found = self._called(number, function, value)
        except Exception as error:
            numpys = _is_numpys(error) if isinstance(error, OverflowError) else id(stage) in self._reading
            values = self._values(stage, value, effects=True) if numpys else None
            if values is None or _beyond(values) is None:
                error.add_note(self._where(stage, index, start, cast(object, value)))
                raise
            assert stage.fn is not None
            found = filled(stage.fn.result, values)
        own = own or isinstance(found, _NUMPYS)  # of a captured number
        if self.overflowed and self.mode == "exact" and not own:
            return _python(found)  # nothing is left to be told
        if id(stage) in self._turning and self.mode == "exact":
            # Turn after turn, the interpreter takes hundreds of times as long as Python, whose value is exact.
            result = _python(found)
            wrong = next((each for each in scalars(result) if _is_beyond(each)), None)
        else:
            values = self._values(stage, value)
            if values is None:
                return _python(found)
            assert stage.fn is not None
            result, wrong = filled(stage.fn.result, values), _beyond(values)
        if wrong is None:
            # Functions that are the kernel's own have its bits here too, whichever elements share the block.
            return result if own else _python(found)
        if self.mode == "wrap":
            try:
                return self._wrapped(stage, value)
            except Exception as error:  # 1 // x, where x wrapped around to 0
                error.add_note(self._where(stage, index, start, cast(object, value)))
                raise
        value = cast(object, value)
        given = "" if _alike(value, start) else f", given to it as {shown(value)},"
        sentence = (
            f"{BEYOND}{named(stage.text, stage.span, self.loop.bound.site.stages)}: element {index} of "
            f"{self.loop.pipeline.source.name} ({shown(start)}){given} needs {short(wrong)}"
        )
        if self.mode == "checked":
            raise OverflowError(sentence)
        if not self.overflowed:
            self.warnings.append(f"{sentence}; such blocks were computed by Python, exactly")
        self.overflowed = True
        return result if own else _python(found)

    def _called(self, number: int, function: Any, value: Any) -> Any:
        parts = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else ()
        spread = self._spread.get((number, len(parts)))
        if spread is None:
            spread = self._spread[number, len(parts)] = spreads(function, len(parts))
        return function(*parts) if spread else function(value)

    def _values(self, stage: Stage, value: Any, effects: bool = False) -> dict[Expr, Any] | None:
        """The stage's nodes, integers exactly; None where Python gives a value and the graph does not (2 ** -1).

        `effects`: with those that the result does not need, which may raise.
        """
        assert stage.fn is not None
        try:
            leaf = self._leaves(stage.fn.params, value)
            for path, node in stage.fn.effects if effects else ():
                if path is None or evaluate([path], leaf)[path]:
                    evaluate([node], leaf)
            return evaluate(roots(stage.fn), leaf)
        except Exception:  # Python, which has given a value, is right
            return None

    def _wrapped(self, stage: Stage, value: Any) -> Any:
        """The stage's result in two's complement."""
        assert stage.fn is not None
        new = self._wraps.get(id(stage))
        if new is None:
            new = self._wraps[id(stage)] = wrapped(roots(stage.fn), Leaves((), (None,) * len(self._tables)))
        values = evaluate([new[node] for node in roots(stage.fn)], self._leaves(stage.fn.params, value))
        found = {old: values[node] for old, node in new.items() if node in values}
        # A float that becomes an int may do so beyond 64 bits without an operation of ints.
        made = {node: wrap64(each) if type(each) is int else each for node, each in found.items()}
        return filled(stage.fn.result, made)

    def _leaves(self, params: Value, value: Any) -> Any:
        known: dict[Expr, Any] = dict(zip(flatten(params), of_params(params, value), strict=True))
        known |= {each.node: each.value for each in self.workspace.parameters}

        def leaf(node: Expr) -> object:
            if node in known:
                return known[node]
            assert isinstance(node.value, int)
            if node.op == "length":
                return len(self._tables[node.value])
            if node.op == "table":
                return _Table(self._tables[node.value])
            raise HastegaError(f"unexpected leaf {node!r}")

        return leaf

    def _where(self, stage: Stage, index: int, start: Any, value: Any) -> str:
        """A note: the element as its source has it, and as the stage got it where stages before made another of it."""
        element = f"element {index} of {self.loop.pipeline.source.name}, {shown(start)}"
        value = cast(object, value)
        given = "" if _alike(value, start) else f", which was given {shown(value)}"
        return f"hastega: {element}, in {placed(stage.text, stage.span, self.loop.bound.site.stages)}{given}"


_Moved = Mapping[tuple[str, int], Source]
"""Sources within a window: by kind and key of a source the one that stands for it some elements on."""


def _at(source: Source, moved: _Moved) -> Source:
    return moved.get((source.kind, source.key), source)


def _alike(value: object, start: object) -> bool:
    """Whether a stage was given what the source has, to a reader."""
    return value is start or (type(value) is type(start) and shown(value) == shown(start))


class _Table:
    """A captured array whose elements are Python scalars."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __getitem__(self, index: int) -> object:
        return _python(self._data[index])

    def __len__(self) -> int:
        return len(self._data)


def item(column: Column, index: int) -> object:
    """An element as functions see it."""
    return _python(column.data[index])


def _pythons(values: list[Any]) -> list[Any]:
    """With Python's numbers for NumPy's."""
    numpys = any(issubclass(each, _NUMPY_SCALAR) for each in set(map(type, values)))
    return list(map(_python, values)) if numpys else values


def _python(value: Any) -> Any:
    # float32 has no Python type of its own; every other NumPy scalar has.
    return (
        value.item()
        if isinstance(value, _NUMPY_SCALAR) and type(value) not in (np.float32, np.complex64)
        else value
    )


def _beyond(values: dict[Expr, Any]) -> int | None:
    """The first computed integer that no int64 holds."""
    integers = (found for node, found in values.items() if node.args and node.type is INT)
    return next((found for found in integers if _is_beyond(found)), None)


def _is_numpys(error: OverflowError) -> bool:
    """Whether it is of NumPy's integers, beside one that their type does not hold; Python's own say something else."""
    return any(words in str(error) for words in ("to convert to C long", "out of bounds for"))


def _is_beyond(value: object) -> bool:
    return isinstance(value, int) and value not in INT64


def of_check(error: Exception) -> bool:
    """Whether it is what `--int checked` raises, and no function of the user's."""
    return type(error) is OverflowError and str(error).startswith(BEYOND)
