"""The stages of a loop as Python goes through them: what each calls, and what its graph reads beside the element."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.python.calling import function_of
from hastega_magic.compiler.python.nodes import has_turns, is_approximate, tables_read
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import HastegaError
from hastega_magic.interval import INT64
from hastega_magic.ir.expr import Expr
from hastega_magic.ir.pipeline import Fn, Stage
from hastega_magic.ops.convert import NUMPY_INTEGERS
from hastega_magic.records import cached_property, dataclass
from hastega_magic.runtime.python_calls import spreads
from hastega_magic.runtime.python_numbers import python_number
from hastega_magic.syntax.closures.numpy_read import numpy_read, reads_numbers
from hastega_magic.syntax.values.neighbours import Over

NUMPYS: Any = (*NUMPY_INTEGERS, np.bool)
"""What a function gives that read a captured number of NumPy's, which counts as Python's."""


@dataclass
class Step:
    """A stage, and what it calls.

    `own`: its graph has the value, not Python's function: bits that need not be Python's, or (`reading`) NumPy's
    numbers, captured or of such arrays, which count as Python's, where the function has some that wrap, or raise.
    `turning`: it has a loop of its own, of which Python's value is taken where it is not `own`.
    """

    stage: Stage
    function: Any
    own: bool
    reading: bool
    turning: bool
    around: Surroundings
    _spread: dict[int, bool] = field(default_factory=dict[int, bool])

    @cached_property
    def beyond(self) -> Callable[[Any], int | None]:
        """Finds for an element the first integer that no int64 holds, those of its loop's turns among them."""
        from hastega_magic.compiler.python.instrumented import instrumented

        assert self.stage.fn is not None
        return instrumented(self.stage.fn, self.around)

    def called(self, value: Any) -> Any:
        """What the function gives; over tuples it may take their parts."""
        parts = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else ()
        return self.function(*parts) if self._spreads(len(parts)) else self.function(value)

    def over(self, values: Sequence[Any]) -> Iterator[Any]:
        """What it gives for each of these, in their order."""
        types = set(map(type, values))
        if tuple not in types:
            return map(self.function, values)
        sizes = set(map(len, values)) if len(types) == 1 else ()
        if len(sizes) != 1:
            return map(self.called, values)
        return (itertools.starmap if self._spreads(*sizes) else map)(self.function, values)

    def _spreads(self, size: int) -> bool:
        """Whether it takes the parts of a tuple of so many."""
        found = self._spread.get(size)
        if found is None:
            found = self._spread[size] = spreads(self.function, size)
        return found


class Surroundings:
    """What graphs of a loop read beside the element: captured numbers that are given to it, and captured arrays."""

    def __init__(self, workspace: Workspace) -> None:
        self.tables = [column.data for column in workspace.table_columns]
        self._known: dict[Expr, Any] = {each.node: each.value for each in workspace.parameters}

    def __call__(self, node: Expr) -> object:
        """The value of a leaf that is no number of the element."""
        if node in self._known:
            return self._known[node]
        assert isinstance(node.value, int)
        if node.op == "length":
            return len(self.tables[node.value])
        if node.op == "table":
            return _Table(self.tables[node.value])
        raise HastegaError(f"unexpected leaf {node!r}")


class _Table:
    """A captured array whose elements are Python scalars."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __getitem__(self, index: int) -> object:
        return python_number(self._data[index])

    def __len__(self) -> int:
        return len(self._data)


def steps_of(loop: Loop, workspace: Workspace, around: Surroundings) -> list[Step]:
    """The stages as built, with the functions as given."""
    numpys = numpys_tables(workspace)
    found: list[Step] = []
    for stage, owner in zip(loop.pipeline.stages, loop.built.owners, strict=True):
        function = function_of(stage, owner, loop.pipeline.sink.kind)
        reading = reads_numpys(function, stage.fn, numpys)
        own = reading or is_approximate(stage.fn)
        found.append(Step(stage, function, own, reading, has_turns(stage.fn), around))
    return found


def numpys_tables(workspace: Workspace) -> set[object]:
    """The numbers of the captured arrays that are NumPy's."""
    return {number for number, each in enumerate(workspace.table_columns) if each.numpys}


def reads_numpys(function: object, fn: Fn | None, tables: AbstractSet[object]) -> bool:
    """Whether a function, whose graph is `fn`, comes by numbers of NumPy's: captured, or of these arrays."""
    if isinstance(function, Over):  # a window is given to it as Python's numbers
        return bool(numpy_read([function.function]))
    return bool(tables & tables_read(fn)) or reads_numbers(function)


def is_numpys(error: Exception) -> bool:
    """Whether it is of NumPy's integers alone: beside one that their type does not hold, or for want of a method.

    Python's own integers have other words for the first, and have the method (`k.bit_length()`).
    """
    if isinstance(error, AttributeError):
        return isinstance(error.obj, NUMPY_INTEGERS) and hasattr(int, error.name or "")
    return isinstance(error, OverflowError) and any(
        words in str(error) for words in ("to convert to C long", "out of bounds for")
    )


def is_beyond(value: object) -> bool:
    """Whether it is an integer that no int64 holds."""
    return isinstance(value, int) and value not in INT64


__all__ = [
    "NUMPYS",
    "Step",
    "Surroundings",
    "is_beyond",
    "is_numpys",
    "numpys_tables",
    "reads_numpys",
    "steps_of",
]
