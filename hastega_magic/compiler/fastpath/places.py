"""The places of a comprehension with several `for` clauses, and the function that says which elements a place names.

for x in xs for y in ys        range(len(xs) * len(ys)), and
                               lambda place: (xs[place // len(ys)], ys[place % len(ys)])
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import field
from types import FunctionType
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.fastpath.clauses import ClauseRange, count_at_once, gone_through
from hastega_magic.compiler.fastpath.objects import NotExact
from hastega_magic.compiler.sources.places import are_rows
from hastega_magic.errors import BeyondInt64, NotCompilable
from hastega_magic.interval import INT64
from hastega_magic.ir.items import Items, items
from hastega_magic.ir.rows import Rows, rows_from
from hastega_magic.records import dataclass
from hastega_magic.runtime.objects.rows import numbers_of
from hastega_magic.runtime.sources import described
from hastega_magic.syntax.ordinary.parts import Nest, Ordinary, too_few
from hastega_magic.syntax.ordinary.rewriting import placed
from hastega_magic.types import STORAGES

_MOST = 1 << 48
"""Places that a loop counts."""


class FewPlaces(NotExact):
    """There are fewer of them than a compiled call is worth."""


@dataclass(frozen=True)
class Places:
    """How many there are, how many of them about name elements, the function of a place, and its tree.

    `last`: how many the innermost clause has. `over_rows`: whether elements are rows, which no stage hands on:
    functions are given places then (`at_place`).
    """

    count: int
    elements: int
    function: FunctionType
    node: ast.Lambda
    last: int
    over_rows: bool


def itself(place: int) -> int:
    """The stage that would name the elements of a place."""
    return place


def at_place(
    function: Callable[..., object], places: Callable[[int], Sequence[object]]
) -> Callable[[int], object]:
    """The function of the elements that a place names as one of the place."""

    def at(place: int) -> object:
        return function(*places(place))

    return at


def at_places(
    functions: Sequence[Any], code: Ordinary, places: Callable[[int], Sequence[object]]
) -> Sequence[Callable[..., object]]:
    """The same of all that are functions of elements; those of `reduce` are of what comes of them."""
    kept = {number for step in code.steps if step.stage == "reduce" for _, number in step.arguments[:1]}
    return [each if number in kept else at_place(each, places) for number, each in enumerate(functions)]


_Form = tuple[tuple[str, ...], ...]
"""Of each clause what its names are made of: "place", "range" or "items"; and the lengths."""


@dataclass
class PlacesOf:
    """The places of one comprehension, run after run.

    What loops read stays the same memory from run to run, so that what was compiled for it fits again.
    """

    nest: Nest
    filename: str
    _kept: dict[tuple[int, int], Items | Rows] = field(default_factory=dict[tuple[int, int], "Items | Rows"])
    _made: dict[_Form, tuple[Callable[..., FunctionType], ast.Lambda]] = field(
        default_factory=dict[_Form, "tuple[Callable[..., FunctionType], ast.Lambda]"]
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def found(
        self, functions: Sequence[Any], operands: Sequence[Any], few: int, usable: Callable[[Any], None]
    ) -> Generator[Places]:
        """The places of a run; NotExact where Python has to do it, as for fewer than `few` elements.

        `usable` raises NotExact for what only Python can go through.
        """
        known = count_at_once(self.nest, functions, operands)
        if known is not None and known < few:
            raise FewPlaces(too_few(few))
        clauses, lengths = gone_through(self.nest, functions, operands, usable)
        count, elements = 1, 1.0
        for each in clauses:
            count *= each.count
            elements *= each.count * each.filled
        if elements < few:
            raise FewPlaces(too_few(few))
        if count > _MOST:
            raise NotExact("there are more elements than a loop counts")
        kept = self._lock.acquire(blocking=False)  # else another thread uses the memory
        held: list[Rows] = []
        try:
            function, node = self._function(clauses, lengths, kept, held)
            rows = any(are_rows(source) for each in clauses for source in each.sources)
            if rows and any(each.within is not None for each in self.nest.clauses):
                raise NotExact("it goes through rows, and a range that depends on elements")
            yield Places(count, int(elements), function, node, clauses[-1].count, rows)
        finally:
            for each in held:
                each.held = None  # which the user may want to be rid of, and forms keep
            if kept:
                self._lock.release()

    def _function(
        self, clauses: Sequence[ClauseRange], lengths: Sequence[int], kept: bool, held: list[Rows]
    ) -> tuple[FunctionType, ast.Lambda]:
        """The function of a place; `held` gets the rows that it names."""
        values: list[object] = []
        form: list[tuple[str, ...]] = []
        for number, clause in enumerate(clauses):
            values += _radix(clauses, number)
            kinds: list[str] = []
            for column, source in enumerate(clause.sources):
                if source is None or (type(source) is range and (source.start, source.step) == (0, 1)):
                    kinds.append("place")
                elif type(source) is range:
                    if source and not (source[0] in INT64 and source[-1] in INT64):
                        raise NotExact("it goes through a range beyond 64 bits")
                    kinds.append("range")
                    values += (source.start, source.step)
                else:
                    kinds.append("items")
                    found = self._items(number, column, source, clause.count, kept)
                    values.append(found)
                    held += [found] if isinstance(found, Rows) else []
            form.append(tuple(kinds))
        values += lengths
        form.append(("length",) * len(lengths))
        key = tuple(form)
        if key not in self._made:
            names = [each.names for each in self.nest.clauses]
            self._made[key] = _maker(key, names, self.nest.place, self.filename)
        make, node = self._made[key]
        return make(*values), node

    def _items(self, number: int, column: int, source: Any, count: int, kept: bool) -> Items | Rows:
        """The elements of a clause as an array of the loop."""
        is_array = isinstance(source, np.ndarray)
        part: Any = source if len(source) == count else source[:count]
        if are_rows(part):
            return self._rows(number, column, part, kept)
        try:
            found = described(part, "a source")
            values = found.array(0, count)
        except (NotCompilable, BeyondInt64) as error:
            raise NotExact(error.reason.text) from None
        if found.source.parts:
            raise NotExact("it goes through complex numbers")
        if values.dtype.name == "uint64" and values.max() not in INT64:
            raise NotExact("it goes through integers beyond 64 bits")
        kind = cast("type[Any]", type(values[0] if is_array else values[0].item()))
        known = self._kept.get((number, column)) if kept else None
        if isinstance(known, Items) and known.refill(values, kind):
            return known
        made = items(values, found.source.type, kind)
        if kept:
            self._kept[number, column] = made
        return made

    def _rows(self, number: int, column: int, rows: Any, kept: bool) -> Rows:
        """The same of elements that are rows of numbers."""
        numbers = numbers_of(rows, bounds=True, least=1)
        if numbers is None or numbers.bounds is None:
            raise NotExact("it goes through rows of what is no number of one type")
        known = self._kept.get((number, column)) if kept else None
        if isinstance(known, Rows) and known.refill(numbers.flat, numbers.bounds, rows):
            return known
        scalar = STORAGES[numbers.flat.dtype.name].scalar
        name = " and ".join(self.nest.clauses[number].names)
        made = rows_from(f"rows of {name}", numbers.flat, numbers.bounds, scalar, rows)
        if kept:
            self._kept[number, column] = made
        return made


def _radix(clauses: Sequence[ClauseRange], number: int) -> list[int]:
    """What a place is divided by, and what it is divided by then for its remainder: the number in a clause."""
    behind = 1
    for each in clauses[number + 1 :]:
        behind *= each.count
    last = number == len(clauses) - 1
    return [*([] if last else [behind]), *([clauses[number].count] if number else [])]


def _maker(
    form: _Form, names: Sequence[Sequence[str]], place: ast.expr, filename: str
) -> tuple[Callable[..., FunctionType], ast.Lambda]:
    """A function that makes the function of a place of what it reads."""
    parameters: list[str] = []

    def read(name: str) -> ast.expr:
        unique = name
        while unique in parameters:
            unique += "'"
        parameters.append(unique)
        return ast.Name(unique, ast.Load())

    found: list[ast.expr] = []
    for number, kinds in enumerate(form[:-1]):
        own = ", ".join(names[number])
        at: ast.expr = ast.Name("place", ast.Load())
        if number < len(form) - 2:
            at = ast.BinOp(at, ast.FloorDiv(), read(f"the places of each {own}"))
        if number:
            at = ast.BinOp(at, ast.Mod(), read(f"the number of {own}"))
        for kind, name in zip(kinds, names[number], strict=True):
            found.append(_element(kind, name, at, read))
    found += [read("a length") for _ in form[-1]]
    function = ast.Lambda(_arguments(["place"]), ast.Tuple(found, ast.Load()))
    maker = ast.FunctionDef("<places>", _arguments(parameters), [ast.Return(function)], [])
    placed(function, place)
    module = ast.fix_missing_locations(ast.Module([maker], []))
    scope: dict[str, Any] = {}
    exec(compile(module, filename, "exec"), scope)
    return scope["<places>"], function


def _element(kind: str, name: str, at: ast.expr, read: Callable[[str], ast.expr]) -> ast.expr:
    """The element of a name at a place of its clause."""
    match kind:
        case "range":
            start, step = read(f"the first {name}"), read(f"the step of {name}")
            return ast.BinOp(start, ast.Add(), ast.BinOp(step, ast.Mult(), at))
        case "items":
            return ast.Subscript(read(f"the values of {name}"), at, ast.Load())
        case _:
            return at


def _arguments(names: Sequence[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


__all__ = ["FewPlaces", "Places", "PlacesOf", "at_place", "itself"]
