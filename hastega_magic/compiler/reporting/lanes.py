"""The lane view: the first vector of a loop on the cell's own elements, one value of the fused body after the other.

    lane      0     1     2     3
    %1 = load xs            3     8     5     6
    %2 = mod %1, 2          1     0     1     0
    %3 = eq %2, 0       False  True False  True
    total = sum %1          –     8     –     6

Values are the IR interpreter's, so they are Python's. A lane takes part in a step where Python would evaluate it:
a filter, the branch that is not taken, and the end of the source leave lanes out. Of a loop within the body the first
turns are shown, one below the other, with how many turns each lane makes; of loops inside it the first.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, cast

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.reporting.listings import last_form
from hastega_magic.ir.expr import INVARIANT, Expr, Value, flatten
from hastega_magic.ir.fused import Fused, Output
from hastega_magic.ir.interpreter import element_seen
from hastega_magic.ir.seen import Seen, Unfinished
from hastega_magic.ir.template import Filling
from hastega_magic.records import changed, dataclass
from hastega_magic.report.model import LaneStep
from hastega_magic.types import Complex, Either

if TYPE_CHECKING:
    from hastega_magic.compiler.loops import CompiledLoop

_MOST_LANES = 16
_WORK_ITEMS = 8
"""Of a device that decides itself how many go together."""

_MOST_STEPS = 64
_TURNS = 3
"""Turns of a loop that are shown."""

_MOST_VALUES = 60_000
"""Values that are computed in turns, of all lanes: some tenths of a second."""

MORE = "…"
"""Stands for a value behind a loop that makes too many turns."""

_WIDTH = 12
"""Characters of a value."""

Element = tuple[object, ...]


@dataclass
class _Recorded:
    """A captured array that remembers what was looked up in it."""

    data: Any
    seen: dict[int | None, object] = field(default_factory=dict[int | None, object])

    def __getitem__(self, index: int) -> object:
        found = self.data[index]
        self.seen[index] = found
        return found

    def __len__(self) -> int:
        self.seen[None] = len(self.data)
        return len(self.data)

    def unchanged(self, data: Any) -> bool:
        """Whether another array gives the same where this one was asked."""
        return all(
            len(data) == value if index is None else index < len(data) and data[index] == value
            for index, value in self.seen.items()
        )


@dataclass(frozen=True)
class _Row:
    """A step without its text: a line of the fused IR, from 1, and in which turns of loops it is."""

    line: int
    turn: str
    values: tuple[str, ...]
    active: tuple[bool, ...]


@dataclass(frozen=True)
class _Made:
    """The rows of some elements, what they were made of, and all steps that there are."""

    lanes: int
    elements: Sequence[Element]
    kinds: Sequence[str]
    tables: Sequence[_Recorded]
    rows: Sequence[_Row]
    total: int


@dataclass(frozen=True)
class _Known:
    """A lane view that was made before: the rows, how the cell called things, and the view."""

    made: _Made
    heads: object
    view: dict[str, object]


def lane_view(execution: Execution, above: int = 0) -> dict[str, object]:
    """The field `lanes` of the report; so many lines stand above the loop's in the listing of the fused IR."""
    found = _lane_view(execution)
    if not above:
        return found
    steps = cast("Sequence[LaneStep]", found["steps"])
    return {**found, "steps": tuple([changed(step, line=step.line + above) for step in steps])}


def _lane_view(execution: Execution) -> dict[str, object]:
    """The same as before where the loop, its first elements, and the names of the cell are."""
    compiled, now = execution.compiled, execution.fused
    last = compiled.pictures.get("lanes")
    known = last if isinstance(last, _Known) else None
    made = _rows(execution, None if known is None else known.made)
    heads = (now.sources, now.tables, [each.name for each in now.outputs])
    if known is not None and known.made is made and known.heads == heads:
        return known.view
    texts = [text.strip() for text, _ in last_form(compiled).plain(Filling(now))]
    old = () if known is None or known.made is not made else cast("Sequence[LaneStep]", known.view["steps"])
    before = {(each.line, each.text): each for each in old}  # which are the same but for names
    steps: list[LaneStep] = []
    for row in made.rows:
        text = texts[row.line - 1] + row.turn
        steps.append(before.get((row.line, text)) or LaneStep(row.line, text, row.values, row.active))
    view: dict[str, object] = {"lanes": made.lanes, "steps": tuple(steps), "total": made.total}
    compiled.pictures["lanes"] = _Known(made, heads, view)
    return view


def _rows(execution: Execution, known: _Made | None) -> _Made:
    """What the first elements come to; `known`, where they are what they were."""
    lanes = _count(execution)
    columns = [column.data[: min(lanes, execution.length)] for column in execution.columns]
    elements = list(zip(*map(_listed, columns), strict=True))
    # 1, 1.0 and True are equal, but not the same element.
    kinds = [type(value).__name__ for element in elements for value in element]
    tables = [table.data for table in execution.job.tables]
    if (
        known is not None
        and (known.lanes, known.elements, known.kinds) == (lanes, elements, kinds)
        and all(old.unchanged(new) for old, new in zip(known.tables, tables, strict=True))
    ):
        return known
    recorded = [_Recorded(table) for table in tables]
    rows, total = _view(execution.compiled, elements, recorded, lanes)
    for table in recorded:
        table.data = None  # the compiled loop outlives the user's array
    return _Made(lanes, elements, kinds, recorded, rows, total)


def _count(execution: Execution) -> int:
    """Elements that go together."""
    if execution.backend.language == "opencl":
        return _WORK_ITEMS
    body = execution.compiled.bodies[execution.compiled.first]
    return min(_MOST_LANES, body.kernel.schedule.lanes)


def _listed(data: Any) -> list[object]:
    return cast("list[object]", data.tolist() if hasattr(data, "tolist") else list(data))


@dataclass(frozen=True)
class _Lane:
    """What an element came to: what was evaluated, and the name of what was raised ("": nothing)."""

    seen: Seen
    raised: str = ""


_Lanes = Sequence[_Lane | None]
"""None for a lane that does not make the turn."""

_Listed = Sequence[tuple[int, str, Expr | None]]
"""Lines of the fused IR, with their numbers."""


def _view(
    compiled: CompiledLoop, elements: Sequence[Element], tables: Sequence[_Recorded], lanes: int
) -> tuple[Sequence[_Row], int]:
    """The rows to be shown, and how many there are."""
    form = compiled.fused
    ran = [_lane(form, element, tables, number, lanes) for number, element in enumerate(elements)]
    lines = last_form(compiled).plain(Filling(form))
    listed = [(number, text, node) for number, (text, node) in enumerate(lines, 1)]
    ends: list[_Row] = []
    first = len(lines) - len(form.outputs)
    for place, output in enumerate(form.outputs, 1):
        taken = [_taken(lane, output) if _takes(lane, output.mask) else None for lane in ran]
        ends.append(_row(first + place, taken, lanes))
    ends = ends[:_MOST_STEPS]
    room = _MOST_STEPS - len(ends)
    found = (list(_steps(listed, ran, lanes, turns)) for turns in range(_TURNS, 0, -1))
    steps = next((each for each in found if len(each) <= room), list(_steps(listed, ran, lanes, 1)))
    return (*steps[:room], *ends), len(steps) + len(form.outputs)


def _steps(listed: _Listed, ran: _Lanes, lanes: int, turns: int, turn: str = "") -> Iterator[_Row]:
    """A row for each value, those of loops' first turns behind each other. `turn`: which one these lines are of."""
    at = 0
    while at < len(listed):
        number, text, node = listed[at]
        at += 1
        if node is None:
            continue
        if node.op != "turns":
            yield _row(number, [None if lane is None else _of(lane, node) for lane in ran], lanes, turn)
            continue
        made = [None if lane is None else _turns_made(lane, node) for lane in ran]
        yield _row(number, made, lanes, turn)
        depth = _depth(text)
        body = [*itertools.takewhile(lambda line, depth=depth: _depth(line[1]) > depth, listed[at:])]
        at += len(body)
        for which in range(turns):
            inside = [None if lane is None else _turn_of(lane, node, which) for lane in ran]
            if any(lane is not None for lane in inside):
                yield from _steps(body, inside, lanes, 1, f"{turn}  (turn {which + 1})")


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _turns_made(lane: _Lane, loop: Expr) -> str | None:
    if loop not in lane.seen.values and loop not in lane.seen.counts:
        return lane.raised or None
    count = lane.seen.counts.get(loop, 0)
    more = "" if loop in lane.seen.values else " or more"
    return f"{count} turn{'' if count == 1 else 's'}{more}"


def _turn_of(lane: _Lane, loop: Expr, which: int) -> _Lane | None:
    turns = lane.seen.turns.get(loop, ())
    if which >= len(turns):
        return None
    last = which == len(turns) - 1 and loop not in lane.seen.values
    return _Lane(turns[which], lane.raised if last else "")


def _lane(form: Fused, element: Element, tables: Sequence[_Recorded], number: int, lanes: int) -> _Lane:
    known = cast("Sequence[Sequence[object]]", tables)
    seen, error = element_seen(form, element, known, number, _MOST_VALUES // lanes, _TURNS)
    if isinstance(error, Unfinished):
        return _Lane(seen, MORE)
    return _Lane(seen, type(error).__name__ if error is not None else "")


def _takes(lane: _Lane, mask: Expr | None) -> bool:
    return mask is None or bool(lane.seen.values.get(mask, bool(lane.raised)))


def _of(lane: _Lane, value: Value) -> str | None:
    """A value's text; None where it was not evaluated."""
    if isinstance(value, Expr):
        if value in lane.seen.values:
            return short(lane.seen.values[value])
        if value.op in INVARIANT:
            return short(value.value)
        return lane.raised or None
    if isinstance(value, Either) and value.test in lane.seen.values:
        return _of(lane, value.high if lane.seen.values[value.test] else value.low)
    parts = [_of(lane, part) for part in value]
    if isinstance(value, Complex) and parts[0] is not None and parts[1] is not None:
        return lane.raised or f"{parts[0]}{'' if parts[1].startswith('-') else '+'}{parts[1]}j"
    return None if None in parts else f"({', '.join(filter(None, parts))})"


def _taken(lane: _Lane, output: Output) -> str | None:
    """What an output takes of the element; a value in parts as the number that it is."""
    if not output.weights:
        return _of(lane, output.value)
    parts = [lane.seen.values.get(part, part.value) for part in flatten(output.value)]
    if not all(isinstance(part, int) for part in parts):
        return lane.raised or None
    return short(sum(map(operator.mul, output.weights, cast("list[int]", parts))))


def _row(line: int, values: Sequence[str | None], lanes: int, turn: str = "") -> _Row:
    padded = [*values, *[None] * (lanes - len(values))]
    active = tuple([each is not None for each in padded])
    return _Row(line, turn, tuple([each or "" for each in padded]), active)


def short(value: object) -> str:
    """A scalar in about a dozen characters: 6700416, 9.87e+14, 0.333333, True."""
    if isinstance(value, int):  # bool too
        text = str(value) if value.bit_length() < 64 else ""
        return text if 0 < len(text) <= _WIDTH else _exponent(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)[:_WIDTH]


def _exponent(value: int) -> str:
    """An int too long to be read, of any size: 1.23e+45."""
    if value.bit_length() < 1000:
        return f"{value:.4g}"
    digits = (value.bit_length() * 1233) >> 12
    return f"{'-' if value < 0 else ''}about 1e+{digits}"
