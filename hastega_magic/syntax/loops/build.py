"""Stages put together: the longest run of them that makes one loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hastega_magic.errors import NOWHERE, BeyondInt64, NotCompilable, Reason
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.pipeline import Pipeline, Sink, Source
from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.numpy_errors import asks
from hastega_magic.syntax.functions.lower import BESIDE_NUMPY, parameters
from hastega_magic.syntax.loops.given import with_parameters
from hastega_magic.syntax.loops.loop import BoundStage, Cut, Loop, Probed, View
from hastega_magic.syntax.loops.numpy_rounding import begins_with_numpys, lead_to_digits
from hastega_magic.syntax.loops.rules import RULES, sink
from hastega_magic.syntax.stages import STAGES, no_stage
from hastega_magic.syntax.values.environment import Environment
from hastega_magic.syntax.values.values import ALL_PYTHONS, ERRORS_OF_NUMPY
from hastega_magic.types import FLOAT32

PLACED = frozenset({"take", "drop", "step", "reverse"})
"""Stages that only say which elements of its sources a loop uses."""


@dataclass(frozen=True)
class Probe:
    """A loop to be run first, as its value decides how the stage `number` joins.

    `early`: it looks for the first element of a kind, and may end there.
    """

    number: int
    pipeline: Pipeline
    owners: tuple[BoundStage, ...]
    view: View
    early: bool


@dataclass(frozen=True)
class Built:
    """One loop, and what is left over.

    pipeline   None where not even the first stage can be compiled
    consumed   how many of the stages are in the loop
    reason     why the next one is not (None: all are, or `cut`, or a sink has ended the loop)
    cut        the next stage needs the elements in memory, and can begin another loop over them
    view       which elements of its sources the loop uses (None: all that there are, however many)
    initial    the starting value of a `reduce`, to be put before the elements' result: () or (value,)
    owners     for each stage of the pipeline the one that it was made of
    probe      what is to be known before the next stage can join
    tail       how many elements behind the view make a last, shorter chunk; at most, where the view is open
    bespoke    the loop is made for these very elements: their number, or what was found in them
    probed     other loops had to be run first
    even       it is, but would be the same over other sources of which each has as many elements as the others
    """

    pipeline: Pipeline | None
    consumed: int
    reason: Reason | None = None
    cut: bool = False
    view: View | None = None
    initial: tuple[object, ...] = ()
    owners: tuple[BoundStage, ...] = ()
    probe: Probe | None = None
    tail: int = 0
    bespoke: bool = False
    probed: bool = False
    even: bool = False
    numpys: bool = False
    """Whether numbers of its stages may be NumPy's in Python's hands, which tell of errors as `numpy.seterr` asks."""

    @property
    def plain(self) -> bool:
        """Whether the loop would be the same over other sources of the same kinds."""
        return self.view is None and not self.bespoke


def build(
    name: str,
    source: Source,
    stages: Sequence[BoundStage],
    env: Environment,
    known: Mapping[int, object] | None = None,
) -> Built:
    """The longest prefix of the stages that is one loop over the source. `name`: the variable, or "".

    `known`: what the probes gave that were run so far, by number of the stage. BeyondInt64 where `--int checked` raises
    for what the first stage is given.
    """
    env.numpy_numbers = False
    whole = View(count=None if source.kind == "result" else source.length, open=source.kind == "stream")
    loop = Loop(env, parameters(source.structure), whole, known or {}, whole)
    joined = _join(name, source, stages, loop)
    of_types = joined.reason is not None and joined.reason.text in ALL_PYTHONS
    if env.numpy_numbers and joined.probe is None and (of_types or lead_to_digits(stages[joined.count :])):
        # An array of the loop's results would not tell that they are NumPy's.
        return Built(None, 0, joined.reason or Reason(BESIDE_NUMPY, stages[joined.count].site.span))
    numpys = getattr(env, "scalars", None) is None and (env.numpy_numbers or _are_narrow(source, loop))
    if numpys and asks():
        return Built(None, 0, Reason(ERRORS_OF_NUMPY, stages[0].site.span))
    windows = any(stage.kind == "window" for stage in loop.stages)
    view = loop.view if windows or loop.taken or loop.view != loop.whole else None
    bespoke = loop.bespoke or (view is not None and any(stage.kind == "enumerate" for stage in loop.stages))
    return Built(
        _pipeline(name, source, loop, stages[: joined.count]),
        joined.count,
        joined.reason,
        joined.cut,
        view,
        loop.initial,
        tuple(loop.owners),
        joined.probe,
        loop.tail,
        bespoke=bespoke or loop.even,
        probed=loop.probed,
        even=loop.even and not bespoke and view is None,
        numpys=numpys,
    )


@dataclass
class _Joined:
    """How many of the stages are in the loop, and what keeps the next one out (as in `Built`)."""

    count: int
    reason: Reason | None = None
    cut: bool = False
    probe: Probe | None = None


def _join(name: str, source: Source, stages: Sequence[BoundStage], loop: Loop) -> _Joined:
    """Add stages to the loop until one cannot join, or a sink ends it."""
    env = loop.env
    for number, bound in enumerate(stages):
        loop.bound, loop.number = bound, number
        before, beside = len(loop.stages), env.numpy_numbers
        try:
            _add(loop, bound)
        except NotCompilable as error:
            if isinstance(error, BeyondInt64) and getattr(env, "checked", False) and not number:
                raise
            span = error.reason.span if error.reason.span != NOWHERE else bound.site.span
            joined = _Joined(number, Reason(error.reason.text, span))
        except Cut:
            joined = _Joined(number, cut=True)
        except Probed as asked:
            joined = _Joined(number, probe=_probe(name, source, loop, asked))
        else:
            if loop.sink is not None:
                return _Joined(number + 1)
            continue
        # What the stage has left behind before it turned out that it cannot join.
        del loop.stages[before:], loop.owners[before:]
        env.numpy_numbers = beside
        return joined
    return _Joined(len(stages))


def _pipeline(name: str, source: Source, loop: Loop, stages: Sequence[BoundStage]) -> Pipeline | None:
    """The loop that these stages have become; None without any."""
    if not stages:
        return None
    last = stages[-1].site.span
    span = stages[0].site.span._replace(end_line=last.end_line, end_col=last.end_col)
    return Pipeline(
        name, source, tuple(loop.stages), loop.sink or Sink("array"), tuple(loop.env.tables), span
    )


def _are_narrow(source: Source, loop: Loop) -> bool:
    """Whether elements of 32 bits, which are NumPy's, are among those of the sources."""
    others = (each for stage in loop.stages for each in stage.sources)
    return any(part.type is FLOAT32 for each in (source, *others) for part in (each, *each.parts))


def _probe(name: str, source: Source, loop: Loop, asked: Probed) -> Probe:
    assert loop.bound is not None
    pipeline = Pipeline(
        name, source, (*loop.stages, *asked.stages), asked.sink, tuple(loop.env.tables), loop.bound.site.span
    )
    owners = (*loop.owners, *[loop.bound] * len(asked.stages))
    return Probe(loop.number, pipeline, owners, loop.view, asked.early)


def _add(loop: Loop, bound: BoundStage) -> None:
    site = bound.site
    if not site.known:
        raise NotCompilable(no_stage(site.name))
    row = STAGES[site.name]
    try:
        given = row.bind(bound.args, bound.kwargs)
    except TypeError as error:
        reraise_signal(error)
        raise NotCompilable(str(error)) from None
    rule = RULES.get(site.name, sink if row.sink else None)
    if rule is None:
        raise NotCompilable(f"`{site.name}` has no compiled form yet")
    given = with_parameters(site, row, given, loop.env)
    loop.env.numpy_numbers = loop.env.numpy_numbers or begins_with_numpys(bound)
    rule(loop, site, given)


__all__ = ["PLACED", "BoundStage", "Built", "Probe", "View", "build"]
