"""From a run that one loop computed: what decides whether that loop fits another run (`RunGuards`).

Each captured value of the statement is treated by its kind:

    a number that the loop reads from memory      may be another in each run: a parameter
    an array that a function reads                the same, where the loop reads it as a table
    what a running sink begins with               part of the code, unless somebody sees to it (`free`)
    everything else                               part of the code: must be what it was
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property

from hastega_magic.compiler.backends import Cpu
from hastega_magic.compiler.execute import Execution, without_cell
from hastega_magic.compiler.fastpath.guards import (
    RunGuards,
    given,
    places,
    plainly_called,
    raises_before_zip,
    shape_of,
    sources,
    stage_numbers,
)
from hastega_magic.compiler.fastpath.reading import (
    Constant,
    Stretch,
    Varying,
    Whole,
    Words,
    checks,
    places_of,
    readings,
    readings_of,
    steady_numbers,
    stretches_of,
)
from hastega_magic.compiler.fastpath.slots import Number, Slot, numbers_of, owners_of, slots_of
from hastega_magic.compiler.fastpath.tables import captured_arrays, captured_lists, varied, without_varied
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.statement import Bound, Loop, bare
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.passes.schedule import STREAMED
from hastega_magic.records import changed, dataclass
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.syntax.closures.captured import Captured, captured
from hastega_magic.syntax.closures.contained import Where, is_item
from hastega_magic.syntax.closures.given import beginning_of

Owners = Mapping[tuple[str, int], int]
"""Which operand has the elements of a kind and key."""


def guards_of(
    bound: Bound, outcome: Outcome, *, small: bool = False, mended: bool = False, free: Collection[Where] = ()
) -> RunGuards | None:
    """What decides whether the loop of this outcome fits again; None where it was not one whole loop on the CPU.

    `small`: it is only to be called directly, over few elements, which may be any of its sources'. `mended`: also where
    Python had to help. `free`: arguments that are looked at in each run, and not part of the loop.
    """
    run = _whole_run(bound, outcome, mended)
    known = None if run is None else run.captured(small, free)
    if run is None or known is None:
        return None
    owned = owners_of(run.operands, run.workspace)
    numbers, stages = run.numbers(known), stage_numbers(run.loop)
    if owned is None or numbers is None or stages is None:
        return None
    owners, twins = owned
    reading = run.reading(owners, numbers, small)
    if reading is None:
        return None
    execution, built, arrays = run.execution, run.loop.built, varied(known, run.workspace)
    job = without_cell(execution)
    job = changed(job, tables=without_varied(job.tables, arrays))
    placed = None if reading.whole or not small else run.places(owners)
    return RunGuards(
        captured=known,
        shape=shape_of(bound),
        slots=reading.slots,
        twins=twins,
        numbers=reading.numbers,
        words=reading.words,
        loop=bare(run.loop),
        owners=stages,
        execution=changed(execution, values=[], columns=[], job=job, choice=None),
        simple=reading.whole or bool(reading.stretches),
        large=min(each.length for each in execution.fused.sources) >= STREAMED,
        even=built.even or raises_before_zip(run.loop.pipeline),
        arrays=arrays,
        stretches=reading.stretches,
        places=placed or {},
    )


def _whole_run(bound: Bound, outcome: Outcome, mended: bool) -> _Run | None:
    """The run, if one loop on the CPU computed all of the statement."""
    execution, workspace = outcome.execution, outcome.workspace
    if execution is None or workspace is None or len(outcome.loops) != 1:
        return None
    if (execution.fell_back or execution.warnings) and not mended:
        return None
    (loop,) = outcome.loops
    if len(loop.stages) != len(bound.stages) or not isinstance(execution.backend, Cpu):
        return None
    return _Run(bound, loop, execution, workspace) if plainly_called(bound) else None


def _words_of(each: Slot | Number | AnyArray) -> Words:
    return (
        Whole(each)
        if isinstance(each, Slot)
        else Varying(each)
        if isinstance(each, Number)
        else Constant(each)
    )


@dataclass(frozen=True)
class _Reading:
    """How the loop's sources are had from the statement's operands."""

    slots: tuple[Slot, ...]
    numbers: tuple[Number, ...]
    words: tuple[Words, ...]
    whole: bool = False
    """Whether each source is all of an operand, or a number."""
    stretches: tuple[Stretch, ...] = ()


class _Run:
    """A run of a statement that one loop computed."""

    def __init__(self, bound: Bound, loop: Loop, execution: Execution, workspace: Workspace) -> None:
        self.bound = bound
        self.loop = loop
        self.execution = execution
        self.workspace = workspace
        self.operands = sources(bound)

    @cached_property
    def _read(self) -> frozenset[int]:
        """Keys of the numbers that the loop reads: not ints that no parameter holds, nor those of other loops."""
        return frozenset(each.key for each in self.execution.fused.sources if each.layout == "scalar")

    @cached_property
    def _combined(self) -> frozenset[Where]:
        """What the result is combined with, which stands in the loop, unless somebody sees to it."""
        return frozenset({beginning_of(self.bound.stages[-1].site)} if self.loop.built.initial else ())

    def _parameters(self) -> frozenset[Where]:
        """Where the captured numbers are that may be others in each run."""
        known = (*((id(each), each) for each in self.workspace.parameters), *self.workspace.starts.items())
        return frozenset(
            each.where
            for key, each in known
            # Of items that no loop reads the type decided, which is looked at.
            if self.loop.built.probed or key in self._read or is_item(each.where)
        )

    def captured(self, small: bool, free: Collection[Where]) -> Captured | None:
        """What the functions read from around them; None where it cannot be looked at in each run."""
        return captured(
            given(self.bound),
            (self._parameters() - self._combined) | {*free},
            arrays=captured_arrays(self.workspace),
            numpys=self.loop.built.numpys,
            lists=captured_lists(self.workspace) if small else [],
            places=places(self.bound),
        )

    def numbers(self, known: Captured) -> dict[int, Number] | None:
        """By key of its source each captured number that the loop is given; None where one is not found again."""
        free = {each.where: each for each in known.free}
        every = self.loop.built.probed
        found = {
            key: each
            for key, each in numbers_of(self.workspace, self.execution).items()
            if (every and each.where not in self._combined) or key in self._read
        }
        for number in found.values():
            if number.where not in free:
                return None
            number.free = free[number.where]
        return found

    def reading(self, owners: Owners, numbers: Mapping[int, Number], small: bool) -> _Reading | None:
        """All of its operands, single elements of few ones, or stretches; None where it takes something else."""
        built = self.loop.built
        found = None
        if built.plain or built.even:
            steady = steady_numbers(numbers, self.workspace, self.execution, self.loop)
            found = slots_of(owners, numbers, steady, self.execution)
        if found is not None:
            return _Reading(
                tuple(each for each in found if isinstance(each, Slot)),
                tuple(each for each in found if isinstance(each, Number)),
                tuple(map(_words_of, found)),
                whole=True,
            )
        if small:
            slots = checks(self.operands, owners, self.workspace)
            words = readings(self.operands, owners, numbers, self.workspace, self.execution, self.loop)
            return None if words is None else _Reading(slots, tuple(numbers.values()), words)
        stretches = stretches_of(owners, self.workspace, self.execution, self.loop)
        if not stretches:
            return None
        slots = checks(self.operands, owners, self.workspace)
        return _Reading(slots, (), readings_of(stretches, slots, self.execution), stretches=stretches)

    def places(self, owners: Owners) -> dict[tuple[str, int], tuple[int, int]] | None:
        """By source of a loop over a view: which operand it is a part of, and how far behind the view it lies."""
        return places_of(self.operands, owners, self.workspace, self.loop.built.view)


__all__ = ["guards_of"]
