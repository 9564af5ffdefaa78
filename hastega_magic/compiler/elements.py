"""One element at a time through the user's own functions: the oracle for the elements that kernels hand back."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import HastegaError
from hastega_magic.interval import INT64
from hastega_magic.ir.expr import Expr, Value, flatten
from hastega_magic.ir.interpreter import evaluate
from hastega_magic.ir.pipeline import Fn, Stage
from hastega_magic.passes.infer import Leaves
from hastega_magic.passes.wrap import wrapped
from hastega_magic.runtime.python import spreads
from hastega_magic.runtime.sources import Column
from hastega_magic.syntax.build import BoundStage
from hastega_magic.types import INT

_NUMPY_SCALAR: Any = np.generic


@dataclass(frozen=True)
class Element:
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
        given = [
            stage for stage in self.loop.stages if stage.site.name in ("map", "filter", "zip", "enumerate")
        ]
        self._steps: list[tuple[Stage, BoundStage]] = list(
            zip(self.loop.pipeline.stages, given, strict=False)
        )
        source = self.loop.pipeline.source
        self._producer = None
        if source.kind == "result":
            producer = next(loop for loop in self.group if loop.name == source.name)
            self._producer = Elements(producer, self.workspace, self.mode, self.group)
        self._tables = [column.data for column in self.workspace.table_columns]

    def at(self, index: int) -> Element:
        """Element number `index` of the loop; what its functions raise propagates, with a note that names it."""
        start, kept = self._start(index)
        element = Element(kept, start)
        for stage, given in self._steps:
            if not element.kept:
                break
            element = self._after(stage, given, element.value, index, start)
        return element

    def _after(self, stage: Stage, given: BoundStage, value: Any, index: int, start: Any) -> Element:
        """The element after one stage."""
        match stage.kind:
            case "zip":
                others = [item(self.workspace.column(source), index) for source in stage.sources]
                return Element(True, (value, *others))
            case "enumerate":
                return Element(True, (stage.number + index, value))
            case _:
                found = self._call(stage, given, value, index, start)
                if stage.kind != "filter":
                    return Element(True, found)
                return Element(True, value) if found else Element(False, None)

    def _start(self, index: int) -> tuple[Any, bool]:
        """The element as the first stage gets it, and whether there is one."""
        if self._producer is None:
            return item(self.workspace.column(self.loop.pipeline.source), index), True
        found = self._producer.at(index)
        return found.value, found.kept

    def _call(self, stage: Stage, given: BoundStage, value: Any, index: int, start: Any) -> Any:
        function: Any = given.args[0] if given.args else next(iter(given.kwargs.values()))
        function = operator.truth if function is None else function
        try:
            with np.errstate(all="ignore"):
                parts = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else ()
                found = function(*parts) if spreads(function, len(parts)) else function(value)
        except Exception as error:
            error.add_note(self._where(stage, index, start))
            raise
        exact = self._exact(stage, value)
        if exact is None:
            return _python(found)
        wrong, result = exact
        if self.mode == "wrap":
            return self._wrapped(stage, value)
        sentence = (
            f"an integer that no int64 holds in `{stage.text}`: element {index} of {self.loop.pipeline.source.name} "
            f"({start!r}) needs {_short(wrong)}"
        )
        if self.mode == "checked":
            raise OverflowError(sentence)
        if not self.overflowed:
            self.warnings.append(f"{sentence}; such blocks were computed by Python, exactly")
        self.overflowed = True
        return result

    def _exact(self, stage: Stage, value: Any) -> tuple[int, Any] | None:
        """The first integer of the stage that no int64 holds, and the stage's exact result; None if all fit."""
        assert stage.fn is not None
        try:
            values = evaluate(_roots(stage.fn), self._leaves(stage.fn.params, value))
        except Exception:  # where Python gives a value and the graph does not (2 ** -1), Python is right
            return None
        wrong = next(
            (
                v
                for node, v in values.items()
                if node.args and node.type is INT and isinstance(v, int) and v not in INT64
            ),
            None,
        )
        return None if wrong is None else (wrong, _filled(stage.fn.result, values))

    def _wrapped(self, stage: Stage, value: Any) -> Any:
        """The stage's result in two's complement."""
        assert stage.fn is not None
        new = wrapped(_roots(stage.fn), Leaves((), (None,) * len(self._tables)))
        values = evaluate([new[node] for node in _roots(stage.fn)], self._leaves(stage.fn.params, value))
        return _filled(stage.fn.result, {old: values[node] for old, node in new.items() if node in values})

    def _leaves(self, params: Value, value: Any) -> Any:
        known = dict(zip(flatten(params), _scalars(value), strict=True))

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

    def _where(self, stage: Stage, index: int, start: Any) -> str:
        place = f" (cell line {stage.span.line})" if stage.span.line else ""
        return f"hastega: element {index} of {self.loop.pipeline.source.name}, {start!r}, in `{stage.text}`{place}"


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


def _python(value: Any) -> Any:
    # float32 has no Python type of its own; every other NumPy scalar has.
    return value.item() if isinstance(value, _NUMPY_SCALAR) and type(value) is not np.float32 else value


def _roots(fn: Fn) -> Sequence[Expr]:
    return flatten(fn.result)


def _scalars(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, tuple):
        return (value,)
    return tuple(part for each in cast("tuple[Any, ...]", value) for part in _scalars(each))


def _filled(value: Value, values: dict[Expr, Any]) -> Any:
    return values[value] if isinstance(value, Expr) else tuple(_filled(part, values) for part in value)


def _short(value: int) -> str:
    text = str(value) if value.bit_length() < 400 else ""
    return text if text and len(text) <= 40 else f"a number of {value.bit_length()} bits"
