"""One element at a time through the user's own functions: the oracle for the elements that kernels hand back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import takewhile
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.python.naming import BEYOND, named, origin, placed, short, shown, which
from hastega_magic.compiler.python.nodes import filled, of_params, roots, scalars, wide_constants
from hastega_magic.compiler.python.of_places import Place, at_place
from hastega_magic.compiler.python.stagewise import (
    Element,
    Kept,
    Moved,
    Stagewise,
    at,
    item,
    kept_of,
    moved_on,
)
from hastega_magic.compiler.python.steps import NUMPYS, Step, Surroundings, is_beyond, is_numpys, steps_of
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import NotCompilable
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.expr import Expr, Value, flatten
from hastega_magic.ir.interpreter import evaluate
from hastega_magic.ir.pipeline import Source, Stage
from hastega_magic.ops.machine import wrap64
from hastega_magic.passes.infer import Leaves
from hastega_magic.passes.wrap import wrapped
from hastega_magic.records import dataclass
from hastega_magic.runtime.python_numbers import python_number
from hastega_magic.types import INT


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
        self._around = Surroundings(self.workspace)
        self._steps = steps_of(self.loop, self.workspace, self._around)
        checked = self.mode == "checked"
        self._together = Stagewise(self.loop, self.workspace, self._steps, self._around, checked)
        source = self.loop.pipeline.source
        self._wraps: dict[int, Mapping[Expr, Expr]] = {}
        self._producer = None
        if source.kind == "result":
            before = list(takewhile(lambda each: each is not self.loop, self.group))
            producer = next(each for each in reversed(before) if each.name == source.name)
            self._producer = Elements(producer, self.workspace, self.mode, self.group)
        # The first stage stands for the tuples that the source has.
        owners = self.loop.built.owners
        self._by_field = bool(owners) and owners[0].site.span == self.loop.bound.site.source_span
        self._origin = origin(self.loop.pipeline, self.loop.bound.site.stages)
        self._places: dict[tuple[str, int], tuple[int, int]] = {}

    def at(self, index: int) -> Element:
        """Element number `index` of the loop; what its functions raise propagates, with a note that names it."""
        return self._before(len(self._steps), index, 0, {})

    def through(self, first: int, last: int, *, looks: bool = True) -> Kept:
        """Elements number `first` to `last` - 1 of the loop, each as `at` gives it.

        `looks`: some may need integers beyond 64 bits, which is to be found out.
        """
        found = None
        at_once = self._together.possible and not self._together.numbers_beyond(last)
        if self._producer is None and at_once and self.mode != "wrap":
            found = self._at_once(first, last, looks)
        return kept_of(map(self.at, range(first, last))) if found is None else found

    def _at_once(self, first: int, last: int, looks: bool) -> Kept | None:
        """They, stage after stage; None where they are to be evaluated one after the other."""
        checked = self.mode == "checked"
        looks = looks and (checked or not self.overflowed)
        try:
            block = self._together.block(first, last, looks)
        except Exception as error:  # of which element, and with which words, is found out behind this
            reraise_signal(error)
            block = None
        if block is None:
            raising = self._together.raising(first, last)
            if raising is None or (checked and self._at_once(first, raising, looks) is None):
                return None
            self.at(raising)
            return None
        if block.beyond is not None:
            self.at(block.beyond)
        return block.kept

    def _before(self, end: int, index: int, ahead: int, moved: Moved) -> Element:
        """The element before step `end`: `ahead` elements on within a window, over sources that are moved on so far."""
        start, kept = self._start(index, moved)
        element = Element(kept, start)
        known = [self.loop.pipeline.source]
        for number, step in enumerate(self._steps[:end]):
            stage = step.stage
            if not element.kept:
                break
            match stage.kind:
                case "zip":
                    others = [self._item(at(source, moved), index) for source in stage.sources]
                    element = Element(True, (element.value, *others))
                    if number == 0 and self._by_field:
                        start = element.value
                case "enumerate":
                    place = stage.number + stage.stride * (index + ahead)
                    if is_beyond(place):
                        place = self._numbered(stage, place, self._number(index, moved), start)
                    element = Element(True, (place, element.value))
                case "index":
                    element = Element(True, index)
                case "window":
                    element = self._window(number, known, element, index, ahead, moved)
                case _:
                    found = self._call(number, element.value, self._number(index, moved), start)
                    if stage.kind != "filter":
                        element = Element(True, found)
                    elif not found:
                        element = Element(False, None)
            known += stage.sources
        return element

    def _window(
        self, number: int, known: Sequence[Source], first: Element, index: int, ahead: int, moved: Moved
    ) -> Element:
        """The neighbours: what the steps before give over the sources moved on."""
        stage, parts = self._steps[number].stage, [first.value]
        for distance in range(1, stage.number):
            further = moved_on(stage, distance, known, moved)
            parts.append(self._before(number, index, ahead + distance, further).value)
        return Element(True, tuple(parts))

    def _item(self, source: Source, index: int) -> Any:
        found = item(self.workspace.column(source), index)
        return _around(found) if self.mode == "wrap" else found

    def _start(self, index: int, moved: Moved) -> tuple[Any, bool]:
        """The element as the first stage gets it, and whether there is one."""
        if self._producer is None:
            return self._item(at(self.loop.pipeline.source, moved), index), True
        found = self._producer.at(index)
        return found.value, found.kept

    def _number(self, index: int, moved: Moved) -> int:
        """The number in its source of an element, whose number among those that the loop has is `index`."""
        source = at(self.loop.pipeline.source, moved)
        place = source.kind, source.key
        if place not in self._places:
            self._places[place] = self.workspace.places_of(source)
        first, step = self._places[place]
        return self.workspace.first + self.workspace.stride * (first + step * index)

    def _call(self, number: int, value: Any, index: int, start: Any) -> Any:
        step = self._steps[number]
        stage, own = step.stage, step.own
        try:
            with np.errstate(all="ignore"):
                found = step.called(value)
        except StopIteration:  # of which Python's own iteration makes an end, or another error
            raise NotCompilable(
                "a function raises StopIteration, which ends what Python goes through"
            ) from None
        except Exception as error:
            numpys = is_numpys(error)
            values = self._values(stage, value, effects=True) if numpys or step.reading else None
            assert stage.fn is not None
            if values is None or not (numpys or _beyond(values, wide_constants(stage.fn))):
                where = self._where(stage, index, start, cast(object, value))
                if numpys and isinstance(error, AttributeError):
                    self._raise(stage, value, where)
                error.add_note(where)
                raise
            found = filled(stage.fn.result, values)
        own = own or isinstance(found, NUMPYS)  # of a captured number
        if self.overflowed and self.mode == "exact" and not own:
            return python_number(found)  # nothing is left to be told
        result, wrong = self._by_graph(step, value, found)
        if wrong is None:
            # Functions that are the kernel's own have its bits here too, whichever elements share the block.
            return result if own else python_number(found)
        if self.mode == "wrap":
            try:
                return self._wrapped(stage, value)
            except Exception as error:  # 1 // x, where x wrapped around to 0
                error.add_note(self._where(stage, index, start, cast(object, value)))
                raise
        value = cast(object, value)
        given = "" if _alike(value, start) else f", given to it as {shown(value)}"
        self._overflows(stage, index, start, given, wrong)
        return result if own else python_number(found)

    def _by_graph(self, step: Step, value: Any, found: Any) -> tuple[Any, int | None]:
        """What the stage's graph makes of the element, and an integer beyond 64 bits that it needs, if it needs one.

        `found`: Python's value, which stands where the graph is not evaluated.
        """
        if step.turning and not step.own:
            # Turn after turn, the interpreter takes hundreds of times as long as Python, whose value is exact.
            result = python_number(found)
            wrong = None if self.mode == "exact" else step.beyond(value)
            return result, next(filter(is_beyond, scalars(result)), None) if wrong is None else wrong
        fn, values = step.stage.fn, self._values(step.stage, value)
        if values is None:
            return python_number(found), None
        assert fn is not None
        wrong = _beyond(values, wide_constants(fn))
        if step.turning and wrong is None and self.mode != "exact":
            wrong = step.beyond(value)
        return filled(fn.result, values), wrong

    def _numbered(self, stage: Stage, place: int, index: int, start: Any) -> int:
        """The number that `enumerate` gives an element, where no int64 holds it."""
        if self.mode == "wrap":
            return wrap64(place)
        self._overflows(stage, index, start, "", place)
        return place

    def _overflows(self, stage: Stage, index: int, start: Any, given: str, wrong: int) -> None:
        """Say so of the first element that needs such an integer; OverflowError with `--int checked`."""
        where = named(stage.text, stage.span, self.loop.bound.site.stages)
        sentence = f"{BEYOND}{where}: {self._element(index, start)}{given}, needs {short(wrong)}"
        if self.mode == "checked":
            raise OverflowError(sentence)
        if not self.overflowed:
            self.warnings.append(f"{sentence}; such blocks were computed by Python, exactly")
        self.overflowed = True

    def _values(self, stage: Stage, value: Any, effects: bool = False) -> dict[Expr, Any] | None:
        """The stage's nodes, integers exactly; None where Python gives a value and the graph does not (2 ** -1).

        `effects`: with those that the result does not need, which may raise.
        """
        try:
            return self._evaluated(stage, value, effects)
        except Exception as error:  # Python, which has given a value, is right
            reraise_signal(error)
            return None

    def _raise(self, stage: Stage, value: Any, where: str) -> None:
        """Raise what the graph raises for an element, for which Python's function lacks what ints have."""
        try:
            self._evaluated(stage, value, effects=True)
        except Exception as error:
            reraise_signal(error)
            error.add_note(where)
            raise error from None

    def _evaluated(self, stage: Stage, value: Any, effects: bool) -> dict[Expr, Any]:
        assert stage.fn is not None
        leaf = self._leaves(stage.fn.params, value)
        for path, node in stage.fn.effects if effects else ():
            if path is None or evaluate([path], leaf)[path]:
                evaluate([node], leaf)
        return evaluate(roots(stage.fn), leaf)

    def _wrapped(self, stage: Stage, value: Any) -> Any:
        """The stage's result in two's complement."""
        assert stage.fn is not None
        new = self._wraps.get(id(stage))
        if new is None:
            new = self._wraps[id(stage)] = wrapped(
                roots(stage.fn), Leaves((), (None,) * len(self._around.tables))
            )
        values = evaluate([new[node] for node in roots(stage.fn)], self._leaves(stage.fn.params, value))
        found = {old: values[node] for old, node in new.items() if node in values}
        # A float that becomes an int may do so beyond 64 bits without an operation of ints.
        made = {node: wrap64(each) if type(each) is int else each for node, each in found.items()}
        return filled(stage.fn.result, made)

    def _leaves(self, params: Value, value: Any) -> Any:
        known: dict[Expr, Any] = dict(zip(flatten(params), of_params(params, value), strict=True))

        def leaf(node: Expr) -> object:
            return known[node] if node in known else self._around(node)

        return leaf

    def _element(self, index: int, start: Any) -> str:
        place = self._place(start)
        if place is not None:
            index, start = place.number, place.start
        return which(f"element {index} of {self._origin}", start)

    def _place(self, start: Any) -> Place | None:
        """What is at an element that is a place."""
        places = (at_place(step.function, start) for step in self._steps)
        return next((each for each in places if each is not None), None)

    def _where(self, stage: Stage, index: int, start: Any, value: Any) -> str:
        """A note: the element as its source has it, and as the stage got it where stages before made another of it."""
        element = self._element(index, start)
        place = self._place(start)
        if place is not None:
            over = any(step.stage is stage and at_place(step.function, start) for step in self._steps)
            start, value = place.start, place.given if over else value
        value = cast(object, value)
        given = "" if _alike(value, start) else f", which was given {shown(value)}"
        return f"hastega: {element}, in {placed(stage.text, stage.span, self.loop.bound.site.stages)}{given}"


def _alike(value: object, start: object) -> bool:
    """Whether a stage was given what the source has, to a reader."""
    return value is start or (type(value) is type(start) and shown(value) == shown(start))


def _beyond(values: dict[Expr, Any], wide: Sequence[Expr]) -> int | None:
    """The first integer that no int64 holds, of those computed and of `wide` constants."""
    integers = (found for node, found in values.items() if node.type is INT and (node.args or node in wide))
    return next((found for found in integers if is_beyond(found)), None)


def of_check(error: Exception) -> bool:
    """Whether it is what `--int checked` raises, and no function of the user's."""
    return type(error) is OverflowError and str(error).startswith(BEYOND)


def _around(value: Any) -> Any:
    """An element's integers in two's complement, as 64 bits hold them."""
    if isinstance(value, tuple):
        return tuple(map(_around, cast("tuple[Any, ...]", value)))
    return wrap64(value) if type(value) is int else value


__all__ = ["Element", "Elements", "Kept", "of_check"]
