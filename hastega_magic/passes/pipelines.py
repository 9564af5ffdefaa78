"""All passes and the order they run in. Adding a pass is a file, a `Pass` here in its place, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from hastega_magic.errors import BeyondInt64
from hastega_magic.interval import TOP
from hastega_magic.ir import affine
from hastega_magic.ir.expr import Expr, flatten, map_value
from hastega_magic.ir.fused import Effect, Fused
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.origins import moved
from hastega_magic.ir.pipeline import Pipeline, Table
from hastega_magic.ir.schedule import UNTUNED, Tuned
from hastega_magic.ir.target import Target
from hastega_magic.passes import fuse, overflow, schedule, wrap
from hastega_magic.passes.exact import exact_ranges
from hastega_magic.passes.infer import Leaves, inference
from hastega_magic.passes.infer_loops import Inference
from hastega_magic.passes.sequential import in_order
from hastega_magic.passes.simplify import simplify
from hastega_magic.passes.variants import Variants, variants
from hastega_magic.records import changed, dataclass


@dataclass(frozen=True)
class State:
    """What the passes hand on: the statements, then the loop, its variants, and the kernel of one variant.

    `plain` and `form`: of a loop whose integers leave 64 bits, as in `beyond.Widened`.
    """

    pipelines: tuple[Pipeline, ...]
    tables: tuple[Table, ...]
    leaves: Leaves
    mode: str
    target: Target
    width: int | None = None
    large: bool = False
    near: bool = False
    tuned: Tuned = UNTUNED
    fused: Fused | None = None
    found: Inference | None = None
    plain: Fused | None = None
    form: str = ""
    variants: Variants | None = None
    variant: int = 0
    kernel: Kernel | None = None

    @property
    def loop(self) -> Fused:
        """The fused loop; only after `fuse`."""
        assert self.fused is not None
        return self.fused

    @property
    def inferred(self) -> Inference:
        """What was inferred of it; only after `infer`."""
        assert self.found is not None
        return self.found


@dataclass(frozen=True)
class Pass:
    """A named step. `doc` is one sentence for the learner."""

    name: str
    doc: str
    run: Callable[[State], State]


def _fuse(state: State) -> State:
    if state.mode == "wrap":
        wrap.check(state.pipelines)
    return changed(state, fused=fuse.fuse(state.pipelines, state.tables))


def _infer(state: State) -> State:
    if state.mode == "wrap":
        leaves = wrap.signed(state.leaves)
        new = wrap.wrapped(list(state.loop.roots()), leaves)
        loop = _replaced(state.loop, new)
        outputs = tuple(replace(each, sink=wrap.running(each.sink, leaves)) for each in loop.outputs)
        state = replace(state, leaves=leaves, fused=replace(loop, outputs=outputs))
    found = inference(state.loop.roots(), state.leaves)
    return replace(state, fused=replace(state.loop, ranges=found.ranges), found=found)


def _simplify(state: State) -> State:
    loop, roots = state.loop, list(state.loop.roots())
    found = state.inferred
    ranges = exact_ranges(roots, state.leaves, found) if found.overflowing else found.ranges
    new = simplify(roots, lambda node: ranges.get(node, TOP))
    return _infer(replace(state, fused=_replaced(loop, new)))


def _widen(state: State) -> State:
    """Only where an integer that no int64 holds is to be exact: else it wraps around, or is an error."""
    if state.mode != "exact":
        return state
    loop = state.loop
    made = overflow.widened(loop, state.leaves, state.inferred)
    found = made.loop
    if found is loop:
        return state
    ranges = inference(found.roots(), state.leaves).ranges
    origins = moved(loop.origins, _parts(loop, found), found.roots())
    fused = replace(found, ranges=ranges, origins=origins)
    return replace(state, fused=fused, plain=made.plain, form=made.form)


def _parts(loop: Fused, found: Fused) -> Iterator[tuple[Expr, Expr]]:
    """Nodes that have stayed, and those of outputs and effects with the nodes that stand for them."""
    for node in loop.origins:
        yield node, node
    for old, new in zip(loop.outputs, found.outputs, strict=True):
        if isinstance(old.value, Expr):
            yield from ((old.value, part) for part in flatten(new.value))
        if old.mask is not None and new.mask is not None:
            yield old.mask, new.mask
    for before, after in zip(loop.effects, found.effects, strict=True):
        yield before.node, after.node
        if before.mask is not None and after.mask is not None:
            yield before.mask, after.mask


def _replaced(loop: Fused, new: Mapping[Expr, Expr]) -> Fused:
    """The loop over other nodes."""
    outputs = tuple(
        replace(
            each,
            value=map_value(new.__getitem__, each.value),
            mask=None if each.mask is None else new[each.mask],
        )
        for each in loop.outputs
    )
    effects = tuple(
        Effect(new[each.node], None if each.mask is None else new[each.mask]) for each in loop.effects
    )
    changed = replace(loop, outputs=outputs, effects=effects, spans={})
    return replace(changed, origins=moved(loop.origins, new.items(), changed.roots()))


def _guard(state: State) -> State:
    on_device = state.target.spelling == "opencl"  # which leaves what is running to the host
    loop = state.loop if on_device else _in_rows(state.loop)
    found = variants(loop, state.leaves, state.mode)
    if loop is state.loop:
        found = _with_plain(found, state)
    ordered = state.loop if on_device else in_order(state.loop)
    if (
        loop is not ordered
    ):  # the body in the order of the elements, for results that are not finite, comes last
        last = variants(ordered, state.leaves, state.mode).bodies[-1]
        found = replace(found, bodies=(*found.bodies, last), ordered=True)
    return replace(state, variants=found)


def _with_plain(found: Variants, state: State) -> Variants:
    """Before all others the bodies of the loop as it was written, for sources for which it cannot overflow."""
    if state.plain is None:
        return found
    try:
        plain = variants(state.plain, state.leaves, state.mode).bodies[:-1]
    except BeyondInt64:  # a constant is
        return found
    return replace(found, bodies=(*plain, *found.bodies))


def _in_rows(loop: Fused) -> Fused:
    """The loop with affine scans as such."""
    outputs = tuple(affine.regrouped(each) or each for each in loop.outputs)
    return loop if outputs == loop.outputs else replace(loop, outputs=outputs)


def _schedule(state: State) -> State:
    assert state.variants is not None
    body = state.variants.bodies[state.variant]
    kernel = schedule.make_kernel(
        body, state.leaves, state.target, state.width, state.large, state.tuned, state.near
    )
    return replace(state, kernel=kernel)


FUSE = Pass(
    "fuse", "Stages, and neighbouring statements over the same elements, become the body of one loop.", _fuse
)
INFER = Pass("infer", "Every integer gets the range of values it can have, from the sources on.", _infer)
SIMPLIFY = Pass(
    "simplify",
    "Constants are folded, and rules that hold for every value make expressions cheaper.",
    _simplify,
)
WIDEN = Pass(
    "widen",
    "Integers beyond 64 bits that reductions and filters use up become parts that 64 bits hold.",
    _widen,
)
GUARD = Pass(
    "guard", "What may overflow or raise gets a check, unless the ranges prove that it cannot.", _guard
)
SCHEDULE = Pass(
    "schedule", "The loop is laid onto lanes, and operators the machine lacks become ones it has.", _schedule
)

ANALYSIS: tuple[Pass, ...] = (FUSE, INFER, SIMPLIFY, WIDEN, GUARD)
"""Once per loop."""

CPU: tuple[Pass, ...] = (SCHEDULE,)
"""For each variant that is run."""
