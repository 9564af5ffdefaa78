"""Scheduling: the loop's statements in order, and how many lanes and vectors in flight the machine gets.

float64 sum on AVX-512        8 lanes × 8 vectors in flight: the 64 accumulators of the fixed reduction tree
a long body                   fewer vectors in flight, so that registers suffice and code stays short
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, const, flatten, make, truth
from hastega_magic.ir.fused import Fused, Output, slots_of
from hastega_magic.ir.kernel import (
    Accumulate,
    Assume,
    Guard,
    Kernel,
    Statement,
    Store,
    are_fields,
    in_any_order,
    nodes_of,
)
from hastega_magic.ir.loop import everything
from hastega_magic.ir.origins import moved
from hastega_magic.ir.pipeline import RUNNING_SINKS
from hastega_magic.ir.schedule import BLOCK, UNTUNED, VIRTUAL_LANES, Schedule, Tuned
from hastega_magic.ir.target import Target
from hastega_magic.passes.conversions import converted
from hastega_magic.passes.guard import Variant
from hastega_magic.passes.infer import Leaves
from hastega_magic.passes.loop_exits import chosen_on_leaving
from hastega_magic.passes.loop_schedule import in_flight as in_flight_of_loops
from hastega_magic.passes.loop_schedule import refilled
from hastega_magic.passes.lower import lower
from hastega_magic.passes.recurrence import stepping
from hastega_magic.types import BOOL, FLOAT32, INT, Complex, Either

_FOLDS = {
    "sum": "add", "mean": "add", "prod": "mul", "min": "min", "max": "max", "any": "or", "all": "and",
    "reduce_add": "add", "reduce_mul": "mul", "reduce_min": "min", "reduce_max": "max", "reduce_and": "and",
    "reduce_or": "or", "reduce_xor": "xor", "argmin": "min", "argmax": "max", "var": "add", "std": "add",
    "first_index": "min", "last_index": "max",
}  # fmt: skip
STREAMED = 1 << 19
"""From so many elements on, results are stored past the caches: they do not fit into them."""

PREFETCH = 4096
"""Bytes ahead: far enough to cover memory latency, and beyond the page at which hardware prefetchers stop."""

_GRAIN, _FEW = 32, 4
"""Blocks claimed at a time: a megabyte of each source on end, which memory likes; few of those that take long."""

_PARTS, _NEAR = 4, 512
"""Parts of a block that dense results past the caches are written in side by side, and bytes ahead in each of them."""

_CLOSE, _CALM = 384, 4
"""Bytes ahead, and vectors in flight at most, of large loops that only read, where that leaves the caches to others."""

_HEAVY = 24
"""Operations of a body beyond which fewer vectors are kept in flight."""

_HEAVY_TURNS = 192
"""The same for bodies with loops: an operation waits for the one before in a turn, so other vectors have to fill in."""

_VAST = 1000
"""Operations beyond which that holds for chains too: the code of hundreds of stages outgrows the instruction cache."""

_CHAINED, _ENDS = ("madd52", "wrapping", "and", "umin", "add", "sub", "mul"), 8
"""Operations of multiply-add chains; and how many of a chain there are at least for each other one at its ends."""

_SPARE = 4
"""Registers at least that are not taken by what is carried from turn to turn."""

_SHORT, _LONG = 12, 200
"""The same for OpenCL, whose compiler takes its time over long texts."""


def make_kernel(
    variant: Variant,
    leaves: Leaves,
    target: Target,
    width: int | None = None,
    large: bool = False,
    tuned: Tuned = UNTUNED,
    near: bool = False,
) -> Kernel:
    """The variant's loop form for the target; `width` forces the number of lanes; `large`: results exceed caches.

    `near`: another loop reads results while the caches hold them, each number of an element by itself.
    """
    fused, width = variant.fused, width or tuned.lanes or None
    in_records = not near and target.spelling == "llvm"
    serves = _outputs_served(variant, in_records)
    lowered = lower(
        [node for each in serves for node in nodes_of(each)],
        leaves,
        variant.ranges,
        target,
        width,
        variant.troubles,
        variant.assumes,
        [guard.condition for guard in variant.guards],
    )
    body, served = _merged(serves, lowered.nodes)
    new = chosen_on_leaving([node for each in body for node in nodes_of(each)])
    body = [stepping(_over(each, new), fused, leaves, target) for each in body]
    dense = [source for source in fused.sources if source.fresh and source.layout in ("dense", "turned")]
    several = len({source.key for source in dense}) > 1
    schedule = tuned.over(_schedule(tuple(body), target, width, large, several))
    schedule = replace(schedule, stream=schedule.stream and not near)
    ranges = {new.get(node, node): interval for node, interval in lowered.ranges.items()}
    last = converted(
        [node for each in body for node in nodes_of(each)], leaves, ranges, target, schedule.lanes
    )
    body = [_over(each, last) for each in body]
    found = Kernel(
        fused.sources, fused.tables, tuple(body), schedule,
        {last.get(node, node): interval for node, interval in ranges.items()}, serves=served,
    )  # fmt: skip
    found = replace(found, schedule=refilled(found, target))
    images = [(node, new.get(image, image)) for node, image in lowered.images]
    images = [(node, last.get(image, image)) for node, image in images]
    return replace(found, origins=moved(fused.origins, images, found.roots()))


def _outputs_served(variant: Variant, in_records: bool) -> dict[Statement, list[int]]:
    """The variant's statements, equal ones once, and the numbers of the outputs that need each.

    `in_records`: whether results may be records.
    """
    serves: dict[Statement, list[int]] = {each: [] for each in (*variant.assumes, *variant.guards)}
    slot = 0
    for number, output in enumerate(variant.fused.outputs):
        for each in _statements(output, slot, variant.ranges, in_records):
            serves.setdefault(each, []).append(number)  # equal but for `wide`, which ranges decide
        slot += slots_of(output)
    return serves


def _merged(
    serves: Mapping[Statement, Sequence[int]], lowered: Mapping[Expr, Expr]
) -> tuple[list[Statement], tuple[tuple[int, ...], ...]]:
    """The statements over lowered nodes, without guards that are equal by now, and the outputs that need each."""
    body: list[Statement] = []
    served: list[tuple[int, ...]] = []
    guards: set[Guard] = set()
    for statement, outputs in serves.items():
        each = _over(statement, lowered)
        if isinstance(each, Guard):
            if each in guards:
                continue
            guards.add(each)
        body.append(each)
        served.append(tuple(outputs))
    return body, tuple(served)


def folds_of(fused: Fused) -> list[list[int]]:
    """For each output the numbers of its accumulations: the value's, if it has one, then the count's, if it has one.

    They are the same in every variant, because only equal statements over unlowered nodes are merged. The loop keeps
    them.
    """
    known: list[list[int]] | None = vars(fused).get("_folds")
    if known is not None:
        return known
    folds: list[Statement] = []
    found: list[list[int]] = []
    for output in fused.outputs:
        made = [each for each in _statements(output, 0, {}) if isinstance(each, Accumulate)]
        for each in made:
            if each not in folds:
                folds.append(each)
        found.append([folds.index(each) for each in made])
    vars(fused)["_folds"] = found
    return found


def _statements(
    output: Output, slot: int, ranges: Mapping[Expr, Interval], in_records: bool = False
) -> list[Statement]:
    """What an output does for each element. `in_records`: whether results may be records."""
    if slots_of(output):
        running = output.sink.kind if output.sink.kind in RUNNING_SINKS else ""
        init = output.init.value if running == "affine" and isinstance(output.init, Expr) else None
        assert init is None or isinstance(init, int)
        parts = flatten(output.value)
        parts += parts[-1:] * (slots_of(output) - len(parts))  # where a step makes more parts than it takes
        types = [node.type for node in parts]
        if in_records and output.sink.kind == "array" and output.mask is None and are_fields(types):
            return [
                Store(slot + number, node, None, part=number, fields=len(parts))
                for number, node in enumerate(parts)
            ]
        return [
            Store(slot + number, node, output.mask, running, init=init) for number, node in enumerate(parts)
        ]
    count = Accumulate("count", const(1), output.mask)
    if output.sink.kind == "count":
        return [count]
    if isinstance(output.value, Either):
        return _of_two_types(output.sink.kind, output.value, output.mask, ranges)
    if isinstance(output.value, Complex):
        return [*(Accumulate("add", part, output.mask) for part in flatten(output.value)), count]
    kind = _FOLDS[output.sink.kind]
    if output.weights and kind != "add":
        high, low = flatten(output.value)
        return [Accumulate(kind, low, output.mask, high=high), count]
    if output.weights:
        sums: list[Statement] = [
            Accumulate("add", part, output.mask, not _block_fits(ranges.get(part)))
            for part in flatten(output.value)
        ]
        return sums if output.sink.kind == "sum" else [*sums, count]
    (value,) = flatten(output.value)
    if output.sink.kind in ("any", "all"):
        return [Accumulate(kind, truth(value), output.mask)]
    if value.type is BOOL and kind in ("add", "mul", "min", "max"):
        value = make("bool_to_int", value)
    wide = kind == "add" and value.type is INT and not _block_fits(ranges.get(value))
    found = Accumulate(kind, value, output.mask, wide)
    # Integer sums and products of nothing are 0 and 1 by themselves; only `reduce` raises then.
    return [found] if value.type is INT and output.sink.kind in ("sum", "prod") else [found, count]


def _of_two_types(
    kind: str, value: Either, mask: Expr | None, ranges: Mapping[Expr, Interval]
) -> list[Statement]:
    """The ints, how many they are, the floats, and how many these are: each kind folded by itself."""
    found: list[Statement] = []
    for node, test in ((value.low, make("not", value.test)), (value.high, value.test)):
        taken = test if mask is None else make("select", mask, test, const(False))
        wide = kind in ("sum", "mean") and node.type is INT and not _block_fits(ranges.get(node))
        found += [Accumulate(_FOLDS[kind], node, taken, wide), Accumulate("count", const(1), taken)]
    return found


def _block_fits(found: Interval | None) -> bool:
    return found is not None and found.at_most(((1 << 63) - 1) // BLOCK)


def _over(statement: Statement, new: Mapping[Expr, Expr]) -> Statement:
    match statement:
        case Assume():
            return statement
        case Guard(condition, reason):
            return Guard(new[condition], reason)
        case Accumulate(_, value, mask, high=high):
            mask, high = (None if node is None else new[node] for node in (mask, high))
            return replace(statement, value=new[value], mask=mask, high=high)
        case Store(_, value, mask):
            return replace(statement, value=new[value], mask=None if mask is None else new[mask])


def _schedule(
    body: tuple[Statement, ...], target: Target, width: int | None, large: bool, several: bool = False
) -> Schedule:
    """`several`: elements come from several places in memory, and lie one behind the other there."""
    used = list(everything(node for each in body for node in nodes_of(each)))
    operations = [node for node in used if node.args]
    lanes = _lanes(used, target, width)
    in_flight = VIRTUAL_LANES // lanes
    if target.spelling == "opencl":
        most = 8 if len(operations) < _SHORT else 2 if len(operations) > _LONG else 4
        return Schedule(lanes, min(in_flight, most), grain=1)
    in_flight = min(in_flight, _most_in_flight(body, used, operations, target, large))
    stores, unordered = any(isinstance(each, Store) for each in body), all(map(in_any_order, body))
    ahead = PREFETCH
    if not stores and target.reads_past_caches:
        # With more vectors in flight a turn is longer than it asks ahead, which several sources do better without.
        ahead = _CLOSE if large and (unordered or not several) else 0
        if large and unordered:
            in_flight = min(in_flight, _CALM)
    if _has_turns(operations):
        return Schedule(
            lanes, in_flight, 1, prefetch=ahead, stream=large
        )  # blocks differ in what their turns take
    grain = _GRAIN if len(operations) <= _HEAVY else _FEW
    if large and stores and unordered:
        return Schedule(lanes, in_flight, grain, prefetch=_NEAR, stream=True, parts=min(_PARTS, in_flight))
    return Schedule(lanes, in_flight, grain, prefetch=ahead, stream=large)


def _lanes(used: Sequence[Expr], target: Target, width: int | None) -> int:
    """The lanes of a vector: those of 32 bits where there is nothing wider."""
    elements = [node.type for node in used if node.op != "const"]
    narrow = FLOAT32 in elements and all(type_ in (FLOAT32, BOOL) for type_ in elements)
    lanes = width or max(1, target.vector_bits // (32 if narrow else 64))
    return target.lanes(min(lanes, VIRTUAL_LANES))


def _most_in_flight(
    body: Sequence[Statement], used: list[Expr], operations: list[Expr], target: Target, large: bool
) -> int:
    """Vectors that are worth having under way at once: fewer, the more operations and carried values there are."""
    wide = target.vector_bits >= 512
    chain = _chains_only(operations, fused=not wide)
    most, heavy = 8 if wide or chain else 4, _HEAVY
    if _has_turns(operations):
        most, heavy = in_flight_of_loops(used, most, target.registers), _HEAVY_TURNS
    # Few elements do not earn back a long compilation.
    limits = [_VAST, (4 if large else 2) * _VAST]
    if not chain:
        limits += [heavy, 2 * heavy, 4 * heavy, 8 * heavy]
    for limit in limits:
        if len(operations) > limit:
            most = max(1, most // 2)
    while most > 1 and most * _carried(body) > target.registers - _SPARE:
        most //= 2
    return most


def _has_turns(operations: Sequence[Expr]) -> bool:
    return any(node.op == "turns" for node in operations)


def _carried(body: Sequence[Statement]) -> int:
    """Vectors that integer folds carry from turn to turn for each in flight; the lanes of others are in memory."""
    folds = (each for each in body if isinstance(each, Accumulate) and not each.value.type.is_float)
    return sum(
        2 if each.wide or each.high is not None else 1 for each in folds if each.kind != "count" or each.mask
    )


def _chains_only(nodes: list[Expr], fused: bool) -> bool:
    """Multiply-add chains keep one value alive at a time, however long they are.

    `fused`: those of floats, too, and a few others may be at their ends. AVX-512 has 52-bit ones in their place.
    """
    kinds = (*_CHAINED, "fma") if fused else _CHAINED
    ends = sum(not node.op.startswith(kinds) for node in nodes)
    return _ENDS * ends <= len(nodes) if fused else not ends
