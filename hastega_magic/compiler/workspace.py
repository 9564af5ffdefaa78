"""What the statements of one fused group share: columns and captured arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hastega_magic.interval import INT64, Interval
from hastega_magic.ir.expr import Expr, leaf
from hastega_magic.ir.items import Items
from hastega_magic.ir.pipeline import FIRST_PARAMETER, Source, Table
from hastega_magic.records import dataclass
from hastega_magic.runtime.sources import Column, described, halves, number, taken
from hastega_magic.runtime.tables import TableColumn, described_table
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.closures.numbers import PARAMETERS, counted, same_number
from hastega_magic.types import BOOL, FLOAT, FLOAT32, FLOAT64, INT, RESULT_STORAGE, Complex, ScalarType

if TYPE_CHECKING:
    from hastega_magic.compiler.execute import Execution

HALVES = "real", "imag"
"""Of complex numbers, as attributes."""
_TYPES: Mapping[type, ScalarType] = {int: INT, float: FLOAT, np.float64: FLOAT64, np.float32: FLOAT32}


@dataclass(frozen=True)
class Parameter:
    """A captured number that is a parameter of the loop."""

    where: Where
    node: Expr
    value: int | float | np.float32
    beside: Sequence[int] = ()
    """Ints of the container that it is an item of: as large is each, or may be soon."""
    part: str = ""
    """Of complex numbers the attribute that it is, "real" or "imag"."""

    @property
    def name(self) -> str:
        """The variable's."""
        return self.where[2]

    @property
    def interval(self) -> Interval | None:
        """What compiled code may take for granted of it: so many bytes hold it; None for floats."""
        if not isinstance(self.value, int):
            return None
        least, most = min((self.value, *self.beside)), max((self.value, *self.beside))
        bits = min(63, -(-max(most.bit_length(), (~least).bit_length(), 1) // 8) * 8)
        return Interval(-(1 << bits) if least < 0 else 0, (1 << bits) - 1)

    def column(self, length: int, type_: ScalarType | None = None) -> Column:
        """The number, held once, as one of another type if that is given."""
        storage = RESULT_STORAGE[type_ or self.node.type]
        data = np.broadcast_to(np.array([self.value], storage.name), length)
        key = id(self)
        return Column(
            Source(self.name, "array", self.node.type, self.interval, storage, "scalar", key, length), data
        )


def _both_nan(a: Any, b: Any) -> bool:
    """Whether neither is a number, so that nobody can tell which is which."""
    return a != a and b != b


_Part = tuple[tuple[str, int], tuple[int, int, int]]


@dataclass
class Joining:
    """An attempt to add a statement to those of a workspace, which is undone unless `keep` is called."""

    kept: bool = False

    def keep(self) -> None:
        """It does."""
        self.kept = True


@dataclass
class Workspace:
    """The `Environment` that lowering works in, and the memory behind what it describes."""

    filename: str
    wanted: frozenset[str] = frozenset()
    """Variables whose arrays a later loop reads: a device may keep them."""
    first: int = 0
    """Number of the first element among those of the user's source, where only a stretch of it is run over."""
    stride: int = 1
    """And from one element to the next, how many these are apart there."""
    varying: frozenset[Where] = frozenset()
    """Captured numbers that are to be parameters of the loop, not constants."""
    scalars: frozenset[int] | None = None
    """Identities of the NumPy arrays whose elements are NumPy's scalars, not Python's numbers (None: nobody asks)."""
    checked: bool = False
    """Whether steps with constants beyond 64 bits are to be a loop's: Python looks for integers that need these."""
    numpy_numbers: bool = False
    """Whether elements of the loop that is being built may be NumPy's numbers by now, in Python's hands."""
    unasked: bool = False
    """Whether the stages behind the loop that runs may not ask for all elements."""
    sparing: float = 0.0
    """Seconds that compiling a loop takes for a pipeline that many of its runs compile anew; 0 for others."""
    lists: Counter[int] = field(default_factory=Counter[int])
    """By identity of a captured list how often functions read it otherwise than by items, as code that holds these."""
    raised: Execution | None = None
    """The run of a loop over it of which an element raised."""
    parameters: list[Parameter] = field(default_factory=list[Parameter])
    starts: dict[int, Parameter] = field(default_factory=dict[int, Parameter])
    """Those that running values begin with, by the keys of sources that have them as numbers of the values' types."""
    table_columns: list[TableColumn] = field(default_factory=list[TableColumn])
    columns: dict[tuple[str, int], Column] = field(default_factory=dict[tuple[str, int], Column])
    _parts: dict[_Part, Column] = field(default_factory=dict["_Part", Column])
    _captured: list[object] = field(default_factory=list[object])
    _converted: dict[int, tuple[object, Source]] = field(default_factory=dict[int, tuple[object, Source]])
    """Lists of complex numbers, which are arrays from where they are described on, by identity."""

    @contextmanager
    def tried(self) -> Generator[Joining]:
        """What is described meanwhile are parameters and tables of the loops here only if it is said to be kept."""
        parameters, tables = len(self.parameters), len(self._captured)
        varying, tried = self.varying, Joining()
        try:
            yield tried
        finally:
            if not tried.kept:
                self.varying = varying
                del self.parameters[parameters:], self.table_columns[tables:], self._captured[tables:]

    @property
    def captured(self) -> Sequence[object]:
        """The objects that `table_columns` are of."""
        return self._captured

    @property
    def tables(self) -> Sequence[Table]:
        """Captured arrays by slot."""
        return [column.table for column in self.table_columns]

    def table(self, name: str, value: object) -> tuple[int, ScalarType]:
        """Slot and element type of a captured array; the same object has one slot."""
        for slot, known in enumerate(self._captured):
            if known is value:
                return slot, self.table_columns[slot].scalar
        column = described_table(value, name, wide=self.checked)
        self._captured.append(value)
        self.table_columns.append(column)
        return len(self.table_columns) - 1, column.scalar

    def kind_of(self, source: Source) -> type:
        """What Python's own iteration over a source gives: int, float, bool, or a class of NumPy's scalars."""
        assert self.scalars is not None
        if source.kind != "range" and source.key in self.scalars and source.storage is not None:
            return np.dtype(source.storage.name).type
        return {INT: int, BOOL: bool}.get(source.type, float)

    def kinds_of_tables(self) -> list[type]:
        """The same of the captured arrays, by slot."""
        pairs = zip(self._captured, self.table_columns, strict=True)
        return [
            value.kind
            if isinstance(value, Items)
            else np.dtype(column.table.storage.name).type
            if isinstance(value, np.ndarray)
            else {INT: int, BOOL: bool}.get(column.scalar, float)
            for value, column in pairs
        ]

    def source(self, value: object, name: str = "") -> Source:
        """The description of an object to iterate over."""
        if type(value) in (list, tuple):  # of which all elements would be looked at again
            known = self.columns.get(("list", id(value)))
            if known is not None and known.data is value:
                return known.source
            converted = self._converted.get(id(value))
            if converted is not None:
                return converted[1]
            source = self._known(described(value, name or type(value).__name__))
            if source.kind == "array":
                self._converted[id(value)] = value, source
            return source
        return self._known(described(value, name or type(value).__name__))

    def taken(self, value: Sequence[object], source: Source) -> Source:
        """The description of a long list, whose elements are looked at when they are converted."""
        return self._known(taken(value, source))

    def parameter(self, where: Where, value: object, beside: Sequence[int] = ()) -> Expr | Complex | None:
        """What stands for a captured number that keeps changing; None for one that does not, and for other objects.

        Functions of one code may have several numbers under one name. `beside`: as in `Parameter`.
        """
        if where not in self.varying or type(value) not in PARAMETERS:
            return None
        if type(value) is complex:
            return Complex(
                [self._parameter(where, getattr(value, part), FLOAT, part=part) for part in HALVES]
            )
        type_, value = _TYPES.get(cast("type[Any]", type(value)), INT), counted(value)
        if isinstance(value, int) and value not in INT64:
            return None
        return self._parameter(where, cast(Any, value), type_, beside)

    def _parameter(
        self, where: Where, value: Any, type_: ScalarType, beside: Sequence[int] = (), part: str = ""
    ) -> Expr:
        for known in self.parameters:
            same = known.where == where and known.part == part
            if (
                same
                and known.node.type is type_
                and (same_number(known.value, value) or _both_nan(known.value, value))
            ):
                return known.node
        node = leaf("param", type_, FIRST_PARAMETER + len(self.parameters))
        self.parameters.append(Parameter(where, node, value, beside, part))
        return node

    def parameter_sources(self, length: int) -> tuple[tuple[Expr, Source], ...]:
        """The parameters so far as sources that have their numbers for all elements."""
        return tuple((each.node, self._known(each.column(length))) for each in self.parameters)

    def number(self, name: str, value: object, type_: ScalarType | Complex, length: int) -> Source:
        """The description of a number, as a source that has it for all elements."""
        return self._known(number(name, value, type_, length))

    def start(self, name: str, parts: Sequence[Expr], type_: ScalarType | Complex, length: int) -> Source:
        """The same of a number, or a complex one's two, of which each is a constant or a parameter."""
        given = {each.node: each for each in self.parameters}
        values: list[Any] = [given[node].value if node in given else node.value for node in parts]
        found = self.number(name, complex(*values) if len(parts) > 1 else values[0], type_, length)
        for source, node in zip(found.parts or (found,), parts, strict=False):
            if node in given:
                self.starts[source.key] = given[node]
        return found

    def part(self, source: Source, start: int, step: int, count: int) -> Source:
        """The description of elements start, start + step, ... of a source, `count` of them; the same is made once."""
        key = (source.kind, source.key), (start, step, count)
        if key not in self._parts:
            self._parts[key] = self.column(source).view(start, step, count)
        return self._known(self._parts[key])

    def places_of(self, source: Source) -> tuple[int, int]:
        """The number of its first element in the source that it is a part of, and the step from one to the next."""
        whole = {
            (column.source.kind, column.source.key): (key, start, step)
            for key, (start, step, _), column in self.parts()
        }
        first, stride, key = 0, 1, (source.kind, source.key)
        while key in whole:
            key, start, step = whole.pop(key)
            first, stride = start + step * first, step * stride
        return first, stride

    def parts(self) -> Iterator[tuple[tuple[str, int], tuple[int, int, int], Column]]:
        """Of all parts so far the source's kind and key; start, step, count; the elements."""
        return ((*key, column) for key, column in self._parts.items())

    def _known(self, column: Column) -> Source:
        known = self.columns.setdefault((column.source.kind, column.source.key), column)
        self.keep(known)
        return known.source

    def keep(self, column: Column) -> None:
        """Hold the elements of a source, and those of its parts."""
        for each in (column, *halves(column)):
            self.columns[each.source.kind, each.source.key] = each

    def column(self, source: Source) -> Column:
        """The elements of a source."""
        return self.columns[source.kind, source.key]
