"""What a loop over few elements is given of each of its sources: two words, address and stride or start and step.

A source is one of the statement's own, or a part of one: elements from some place on, each so many, or the real halves
of complex numbers. Or it is one number for all elements: a captured one, a start, what another loop found.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.fastpath.slots import DoesNotFit, Number, Slot, slot_of
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import HALVES, Workspace
from hastega_magic.interval import INT64
from hastega_magic.ir.pipeline import Source, stride_of
from hastega_magic.records import changed, dataclass
from hastega_magic.runtime.addresses import words_of
from hastega_magic.runtime.sources import AnyArray, Column
from hastega_magic.syntax.loops.loop import View
from hastega_magic.types import FLOAT32


@dataclass(slots=True)
class Given:
    """A run: sources and other arguments, which elements (None: the first `length` of all sources), what is known.

    `alive` holds memory that was made for it. `alone`: no other run uses what is kept for one.
    """

    operands: Sequence[Any]
    arguments: Sequence[object]
    length: int
    view: View | None
    known: Mapping[int, object]
    alive: list[object]
    alone: bool = True


class Words(Protocol):
    """A source of the loop."""

    def given(self, run: Given) -> tuple[int, int]:
        """Its two words in this run; DoesNotFit if it is of another kind."""
        ...


@dataclass(frozen=True)
class Whole:
    """One of the statement's sources, from its first element on."""

    slot: Slot

    def given(self, run: Given) -> tuple[int, int]:
        """Its two words in this run; DoesNotFit if it is of another kind."""
        return self.slot.read(run.operands[self.slot.operand], run.length, run.alive)


@dataclass(frozen=True)
class Part:
    """Elements of one of the statement's sources that are so far behind those of the view.

    `half`: of complex numbers the real ones or the others. `stride`: in bytes, where code takes it for granted. `step`:
    from one to the next, of an array's elements.
    """

    slot: Slot
    distance: int
    half: str
    stride: int | None
    step: int = 1

    def given(self, run: Given) -> tuple[int, int]:
        """Its two words in this run; DoesNotFit if it is of another kind."""
        data: Any = run.operands[self.slot.operand]
        view = run.view or View(count=run.length)
        if type(data) is not range and type(data) is not np.ndarray:
            return self.slot.read(view.of(data, self.distance), run.length, run.alive)
        base, apart = words_of(data)
        first, apart = base + (view.start + self.distance) * apart, apart * view.step * self.step
        if isinstance(data, range):
            self._look_at(first, first + (run.length - 1) * apart)
            return first, apart
        if self.stride is not None and ((apart != self.stride and run.length > 1) or not data.flags.aligned):
            raise DoesNotFit
        if self.half == "imag":
            first += data.itemsize // 2
        return first, apart

    def _look_at(self, first: int, last: int) -> None:
        interval = self.slot.interval
        if interval is None or first not in interval or last not in interval:
            raise DoesNotFit


@dataclass(frozen=True)
class Varying:
    """A captured number that keeps changing."""

    number: Number

    def given(self, run: Given) -> tuple[int, int]:
        """Its two words in this run; DoesNotFit if it is of another kind."""
        return self.number.words(run.arguments) if run.alone else self.number.alone(run.arguments, run.alive)


@dataclass(frozen=True)
class Constant:
    """A number that is the same in all runs, and its memory."""

    memory: AnyArray

    def given(self, run: Given) -> tuple[int, int]:
        """Its two words in this run."""
        return self.memory.ctypes.data, 0

    def now(self, source: Source, length: int, workspace: Workspace) -> Source:
        """The description of what it is in each run. `source`: that of the first one."""
        column = Column(
            changed(source, key=id(self), length=length), np.broadcast_to(self.memory[0], (length,))
        )
        workspace.keep(column)
        return column.source


@dataclass(frozen=True)
class Found:
    """A number that another loop finds, for the stage of this number; `room`: the memory that it is put into."""

    stage: int
    room: Any

    def given(self, run: Given) -> tuple[int, int]:
        """Its two words in this run."""
        room = self.room
        if not run.alone:
            room = type(room)()
            run.alive.append(room)
        room.value = run.known[self.stage]
        return ctypes.addressof(room), 0


def readings(
    operands: Sequence[object],
    owners: Mapping[tuple[str, int], int],
    numbers: Mapping[int, Number],
    workspace: Workspace,
    execution: Execution,
    loop: Loop,
) -> tuple[Words, ...] | None:
    """What each source of the loop is; None where that is not clear."""
    parts = _parts(operands, owners, workspace, loop.built.view)
    if parts is None:
        return None
    centers, steady = _centers(loop), steady_numbers(numbers, workspace, execution, loop)
    leaves = execution.compiled.state.leaves.sources
    found: list[Words] = []
    for slot, source in enumerate(execution.fused.sources):
        key = source.kind, source.key
        if source.layout == "scalar":
            if source.key in numbers:
                found.append(Varying(numbers[source.key]))
            elif source.key in centers:
                room = ctypes.c_float() if source.type is FLOAT32 else ctypes.c_double()
                found.append(Found(centers[source.key], room))
            elif source.key in steady:
                found.append(Constant(steady[source.key]))
            else:  # it would stay what it was
                return None
        elif key in parts and (stride_of(source.layout) or source.layout == "strided"):
            operand, distance, half = parts[key]
            known = slot_of(operand, source, leaves[slot] if slot < len(leaves) else None)
            found.append(Part(known, distance, half, _stride(source)))
        else:
            return None
    return tuple(found)


def steady_numbers(
    numbers: Mapping[int, Number], workspace: Workspace, execution: Execution, loop: Loop
) -> dict[int, AnyArray]:
    """By key of their sources the numbers that are the same in all runs, in memory, as what a `reduce` begins with.

    Of a run without elements they are not known.
    """
    others = {*map(id, workspace.parameters), *workspace.starts, *_centers(loop), *numbers}
    return {
        source.key: np.array(workspace.column(source).data[:1])
        for source in execution.fused.sources
        if source.layout == "scalar" and source.key not in others and source.length
    }


def checks(
    operands: Sequence[object], owners: Mapping[tuple[str, int], int], workspace: Workspace
) -> tuple[Slot, ...]:
    """For each of the statement's sources what says whether another one is of its kind, whatever its elements are."""
    sources = [(each, workspace.source(operands[each])) for each in owners.values()]
    return tuple(slot_of(number, source, INT64) for number, source in sources)


Stretch = tuple[int, int, int, int]
"""Elements of a statement's source: which one, and of these start, step and count."""


def stretches_of(
    owners: Mapping[tuple[str, int], int], workspace: Workspace, execution: Execution, loop: Loop
) -> tuple[Stretch, ...]:
    """What the loop takes of arrays of these lengths; () where it takes something else, or what they hold decides."""
    built = loop.built
    if built.view is None or built.probed or built.tail:
        return ()
    parts = {
        (column.source.kind, column.source.key): (owners[key], *places)
        for key, places, column in workspace.parts()
        if key in owners and key[0] == "array"
    }
    found = [parts.get((each.kind, each.key)) for each in execution.fused.sources]
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(found) else ()


def readings_of(
    stretches: Sequence[Stretch], slots: Sequence[Slot], execution: Execution
) -> tuple[Words, ...]:
    """The words of these elements."""
    by_operand = {slot.operand: slot for slot in slots}
    pairs = zip(stretches, execution.fused.sources, strict=True)
    return tuple(
        Part(by_operand[operand], start, "", _stride(source), step)
        for (operand, start, step, _), source in pairs
    )


def places_of(
    operands: Sequence[object],
    owners: Mapping[tuple[str, int], int],
    workspace: Workspace,
    view: View | None,
) -> dict[tuple[str, int], tuple[int, int]] | None:
    """By kind and key of a part: operand, distance from the view (None: of whole ones). None for complex numbers."""
    parts = _parts(operands, owners, workspace, view)
    if parts is None or any(half for _, _, half in parts.values()):
        return None
    return {key: (operand, distance) for key, (operand, distance, _) in parts.items()}


def _stride(source: Source) -> int | None:
    stride = stride_of(source.layout)
    if source.kind != "array" or stride is None:
        return None
    assert source.storage is not None
    return stride * source.storage.size


def _parts(
    operands: Sequence[object],
    owners: Mapping[tuple[str, int], int],
    workspace: Workspace,
    view: View | None,
) -> dict[tuple[str, int], tuple[int, int, str]] | None:
    """By kind and key of a part: operand, distance from the view, half. None if it may be a part of two."""
    found: dict[tuple[str, int], tuple[int, int, str]] = {}
    if view is None:
        columns = [(workspace.column(workspace.source(operands[each])), each, 0) for each in owners.values()]
    else:
        columns = [
            (column, owners[key], start - view.start)
            for key, (start, step, count), column in workspace.parts()
            if key in owners and (step, count) == (view.step, view.count)
        ]
    for column, operand, distance in columns:
        halves = column.source.parts
        named = zip(halves, HALVES, strict=True) if halves else [(column.source, "")]
        for source, half in named:
            place = operand, distance, half
            if found.setdefault((source.kind, source.key), place) != place:
                return None
    return found


def _centers(loop: Loop) -> dict[int, int]:
    """By key of a mean from which elements are so far away the number of the stage that asks for it."""
    found: dict[int, int] = {}
    # Ordinary code, which has no such stages, may have others that nothing was written for: NumPy's rules.
    for stage, owner in zip(loop.pipeline.stages, loop.built.owners, strict=False):
        if stage.kind == "zip" and owner.site.name in ("var", "std"):
            number = next(number for number, each in enumerate(loop.stages) if each is owner)
            found[stage.sources[0].key] = number
    return found


__all__ = [
    "Constant",
    "Given",
    "Stretch",
    "Varying",
    "Whole",
    "Words",
    "checks",
    "places_of",
    "readings",
    "readings_of",
    "steady_numbers",
    "stretches_of",
]
