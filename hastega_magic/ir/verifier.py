"""What holds after every pass and the compiler relies on; errors name the node that breaks it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from hastega_magic.errors import HastegaError, NotCompilable
from hastega_magic.interval import INT64, Interval
from hastega_magic.ir.expr import Expr, Value, flatten, postorder, structure
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.kernel import (
    TROUBLE,
    VIOLATED,
    Accumulate,
    Assume,
    Guard,
    Kernel,
    Statement,
    Store,
    in_any_order,
)
from hastega_magic.ir.loop import Iteration, iteration
from hastega_magic.ir.pipeline import ELEMENT_SINKS, FIRST_PARAMETER, Fn, Pipeline, Sink, Source, Stage, Table
from hastega_magic.ir.schedule import VIRTUAL_LANES
from hastega_magic.ops import OPS
from hastega_magic.records import dataclass
from hastega_magic.types import BOOL, INT, Composite, ScalarType

REDUCTIONS = frozenset({
    "sum", "prod", "min", "max", "count", "mean", "any", "all", "argmin", "argmax", "var", "std", "first_index",
    "last_index", *(f"reduce_{name}" for name in ("add", "mul", "min", "max", "and", "or", "xor")),
})  # fmt: skip
ACCUMULATIONS = frozenset({"add", "mul", "min", "max", "and", "or", "xor", "count"})
_PYTHON: Mapping[ScalarType, type] = dict.fromkeys(ScalarType, float) | {BOOL: bool, INT: int}


class VerificationError(HastegaError):
    """A form of the program breaks a rule of its level; the message names the node or statement."""


def verify_pipeline(pipeline: Pipeline) -> None:
    """Functions fit the elements that reach them, and use only their own parameters and known tables."""
    _check_source(pipeline.source)
    element: object = pipeline.source.structure
    for stage in pipeline.stages:
        element = _after_stage(stage, element, pipeline)
    _check_sink(pipeline.sink, scalar=isinstance(element, (ScalarType, Composite)))


def verify_fused(fused: Fused) -> None:
    """Graphs are well formed, masks are BOOL; once inferred, every INT node but constants has a range."""
    for source in fused.sources:
        _check_source(source)
    allowed = _Leaves(fused.sources, fused.tables)
    _check_graph(fused.roots(), allowed)
    for output in fused.outputs:
        _check_mask(output.mask, f"output {output.name or '_'}")
        _check_sink(
            output.sink,
            scalar=isinstance(output.value, Expr)
            or bool(output.weights)
            or isinstance(output.value, Composite),
        )
        count = len(flatten(output.value))
        _require(len(output.weights) in (0, count), "{} parts have {} weights", count, len(output.weights))
    for effect in fused.effects:
        _check_mask(effect.mask, "an effect")
    if fused.ranges:
        _check_ranges(fused.roots(), fused.ranges, complete=True)


def verify_kernel(kernel: Kernel) -> None:
    """As for Fused, and statements and schedule are ones that code can be generated for."""
    schedule = kernel.schedule
    step = schedule.lanes * schedule.in_flight
    _require(schedule.lanes > 0 and schedule.in_flight > 0, "{} computes no elements", schedule)
    _require(VIRTUAL_LANES % max(step, 1) == 0, "{} elements in a turn do not divide {}", step, VIRTUAL_LANES)
    _require(schedule.in_flight % schedule.parts == 0, "{} has parts without a vector", schedule)
    _require(
        schedule.parts == 1 or all(map(in_any_order, kernel.body)),
        "{} has parts, and results need an order",
        schedule,
    )
    _require(schedule.grain > 0 and schedule.prefetch >= 0, "{} has a negative or empty part", schedule)
    for source in kernel.sources:
        _require(source.kind != "result", "source {} is a result, which fusion replaces", source.name)
    _check_graph(kernel.roots(), _Leaves(kernel.sources, kernel.tables))
    for statement in kernel.body:
        _check_statement(statement)
    slots = sorted(store.slot for store in kernel.of(Store))
    _require(slots == list(range(len(slots))), "stores fill the slots {}", slots)
    # Ranges have served their purpose in lowering, whose own nodes need none.
    _check_ranges(kernel.roots(), kernel.ranges, complete=False)


@dataclass(frozen=True)
class _Leaves:
    """What leaves may refer to; `params` of a function's own, or a loop's."""

    sources: Sequence[Source] = ()
    tables: Sequence[Table] = ()
    params: frozenset[Expr] = frozenset()
    index: bool = True


def _require(condition: bool, text: str, *parts: object) -> None:
    """The text, of format fields, is made where the condition does not hold: nodes have long ones."""
    if not condition:
        raise VerificationError(text.format(*parts))


def _same(a: ScalarType, b: ScalarType) -> bool:
    """FLOAT and FLOAT64 are one machine type, between which there is no conversion node."""
    both_wide = a.is_float and b.is_float and ScalarType.FLOAT32 not in (a, b)
    return a is b or both_wide


def _check_source(source: Source) -> None:
    text = f"source {source.name}"
    if source.storage is not None:
        fits = _same(source.storage.scalar, source.type)
        _require(fits, "{}: {} is no {}", text, source.storage.name, source.type)
    elif source.kind == "range":
        _require(source.type is INT, "{}: a range of {}", text, source.type)
    _check_interval(source.interval, text)


def _check_sink(sink: Sink, scalar: bool) -> None:
    _require(sink.kind in ELEMENT_SINKS | REDUCTIONS, "there is no sink {}", sink.kind)
    anything = scalar or sink.kind in ELEMENT_SINKS or sink.kind == "count"
    _require(anything, "{} reduces numbers, not tuples", sink.kind)


def _after_stage(stage: Stage, element: object, pipeline: Pipeline) -> object:
    """The structure of the elements behind the stage."""
    match stage.kind:
        case "map" | "filter":
            if stage.fn is None:
                raise VerificationError(f"{stage.kind} has no function")
            _check_function(stage.fn, element, pipeline.tables, f"{stage.kind} {stage.text}".rstrip())
            result = structure(stage.fn.result)
            if stage.kind == "map":
                return result
            _require(result is BOOL, "filter {}: the predicate is {}, not BOOL", stage.text, result)
            return element
        case "zip":
            for source in stage.sources:
                _check_source(source)
            return (element, *(source.structure for source in stage.sources))
        case "enumerate":
            return INT, element
        case "index":
            return INT
        case "window":
            _require(stage.number > 0, "{}: a window of {}", stage.text, stage.number)
            for source in stage.sources:
                _check_source(source)
            return (element,) * stage.number
        case _:
            raise VerificationError(f"there is no stage {stage.kind}")


def _check_function(fn: Fn, element: object, tables: Sequence[Table], text: str) -> None:
    params = flatten(fn.params)
    for param in params:
        _require(param.op == "param", "{}: {} is no parameter", text, param)
    _require(len(set(params)) == len(params), "{}: a parameter appears twice", text)
    _require(_fits(fn.params, element), "{}: takes {}, gets {}", text, structure(fn.params), element)
    roots = list(flatten(fn.result))
    for condition, node in fn.effects:
        _check_mask(condition, text)
        roots += [node] if condition is None else [condition, node]
    known = [node for node in postorder(roots) if node.op == "param" and isinstance(node.value, int)]
    captured = [node for node in known if cast(int, node.value) >= FIRST_PARAMETER]
    _check_graph(roots, _Leaves((), tables, frozenset([*params, *captured])))


def _fits(value: Value, element: object) -> bool:
    if isinstance(value, Expr):
        return isinstance(element, ScalarType) and _same(value.type, element)
    if not isinstance(element, tuple) or type(element) is not type(value):  # pyright: ignore[reportUnknownArgumentType]
        return False
    parts = cast("tuple[object, ...]", element)
    return len(value) == len(parts) and all(_fits(*pair) for pair in zip(value, parts, strict=True))


def _check_mask(mask: Expr | None, text: str) -> None:
    _require(mask is None or mask.type is BOOL, "{}: the condition {} is not BOOL", text, mask)


def _check_statement(statement: Statement) -> None:
    match statement:
        case Assume(load, interval, status):
            _require(load.op == "load" and load.type is INT, "{} is assumed, but no integer source", load)
            _require(status in (VIOLATED, TROUBLE), "assume {} reports {}", load, status)
            _check_interval(interval, f"assume {load}")
        case Guard(condition, reason):
            _check_mask(condition, f"guard {reason!r}")
        case Accumulate(kind, value, mask, wide, _, high):
            _check_mask(mask, f"accumulate {kind}")
            _require(kind in ACCUMULATIONS, "there is no accumulation {}", kind)
            halves = kind == "add" and value.type is INT
            _require(halves or not wide, "{} of {} is no sum of integers", kind, value)
            _require(
                high is None or kind in ("min", "max"), "{} of {} is not folded in 128 bits", kind, value
            )
            bits = kind not in ("and", "or", "xor") or value.type.is_integral
            _require(bits, "accumulate {}: {} is {}", kind, value, value.type)
        case Store(slot, _, mask):
            _check_mask(mask, f"store {slot}")
            stepped = statement.running in ("scan", "fold")
            _require(
                stepped == (statement.step is not None), "store {}: a step where there is none to be", slot
            )


def _check_graph(roots: Iterable[Expr], leaves: _Leaves) -> None:
    for node in _acyclic(roots):
        if node.op == "turns":
            _check_turns(node, leaves)
        elif node.op == "result":
            _check_result(node)
        elif node.args:
            _check_operator(node)
        else:
            _check_leaf(node, leaves)


def _check_turns(node: Expr, leaves: _Leaves) -> None:
    _require(isinstance(node.value, Iteration), "{} has no body", node)
    body = iteration(node)
    own = (*body.state, *body.outer)
    _require(len(node.args) == len(own), "{}: {} operands for {} leaves", node, len(node.args), len(own))
    _require(len(body.step) == len(body.state), "{}: a turn gives another state", node)
    for leaf, given in zip(own, node.args, strict=True):
        _require(_same(leaf.type, given.type), "{}: {} is {}, not {}", node, given, given.type, leaf.type)
    for leaf, given in zip(body.state, body.step, strict=True):
        _require(_same(leaf.type, given.type), "{}: a turn makes {} {}", node, leaf.type, given.type)
    _require(body.state[0].type is BOOL, "{}: whether there is another turn is no bool", node)
    inside = replace(leaves, sources=(), params=frozenset(own), index=False)
    _check_graph(body.roots(), inside)


def _check_result(node: Expr) -> None:
    (loop,) = node.args
    _require(loop.op == "turns" and isinstance(node.value, int), "{} is a result of no loop", node)
    state = iteration(loop).state
    number = node.value if isinstance(node.value, int) else -1
    _require(0 <= number < len(state), "{} is no part of the loop's state", node)
    _require(node.type is state[number].type, "{} is {}", node, node.type)


def _acyclic(roots: Iterable[Expr]) -> list[Expr]:
    """Every node below the roots, operands first; an error if a node is below itself."""
    order: list[Expr] = []
    finished: set[Expr] = set()
    open_: set[Expr] = set()
    stack = [(root, False) for root in roots]
    while stack:
        node, ready = stack.pop()
        if ready:
            open_.discard(node)
            finished.add(node)
            order.append(node)
        elif node not in finished:
            _require(node not in open_, "{} is an operand of itself", node.op)
            open_.add(node)
            stack.append((node, True))
            stack += [(arg, False) for arg in node.args]
    return order


def _check_operator(node: Expr) -> None:
    row = OPS.get(node.op)
    if row is None:
        raise VerificationError(f"{node}: there is no operator {node.op}")
    _require(len(node.args) == row.arity, "{}: {} takes {} operands", node, node.op, row.arity)
    of_table = [arg.op == "table" for arg in node.args]
    expected = [node.op == "gather", *[False] * (len(node.args) - 1)]
    _require(of_table == expected, "{}: tables are the first operand of gather, and of nothing else", node)
    types = tuple(arg.type for arg in node.args)
    try:
        signature = row.signature(types)
    except NotCompilable as error:
        raise VerificationError(f"{node}: {error}") from error
    for number, (given, taken) in enumerate(zip(types, signature.operands, strict=True)):
        _require(_same(given, taken), "{}: operand {} is {}, not {}", node, number, given, taken)
    _require(_same(node.type, signature.result), "{}: is {}, not {}", node, node.type, signature.result)


def _check_leaf(node: Expr, leaves: _Leaves) -> None:
    slot = node.value if isinstance(node.value, int) else -1
    match node.op:
        case "const":
            _require(type(node.value) is _PYTHON[node.type], "{}: {!r} is no {}", node, node.value, node.type)
        case "param" | "carry" | "outer":
            _require(node in leaves.params, "{} is a parameter of no function or loop here", node)
        case "load":
            _require(0 <= slot < len(leaves.sources), "{} loads from no source", node)
            _require(
                _same(node.type, leaves.sources[slot].type), "{} is {}, its source is not", node, node.type
            )
        case "index":
            _require(node.type is INT and leaves.index, "{} is {}, or in a loop's body", node, node.type)
        case "table":
            _require(0 <= slot < len(leaves.tables), "{} is no table", node)
            fits = _same(node.type, leaves.tables[slot].storage.scalar)
            _require(fits, "{} is {}, its table is not", node, node.type)
        case "length":
            _require(
                node.type is INT and 0 <= slot < len(leaves.tables), "{} is the length of no table", node
            )
        case _:
            raise VerificationError(f"there is no leaf {node.op}")


def _check_ranges(roots: Iterable[Expr], ranges: Mapping[Expr, Interval], complete: bool) -> None:
    for node in _acyclic(roots):
        if node.type is not INT or node.op == "table":
            continue
        if node.op != "const" and complete:
            _require(node in ranges, "{} has no range", node)
        elif node.op == "const" and node in ranges and isinstance(node.value, int):
            beyond = node.value not in INT64  # until it is in parts, its range says what a guard leaves
            _require(beyond or node.value in ranges[node], "{} is not in its range {}", node, ranges[node])
        _check_interval(ranges.get(node), node)


def _check_interval(interval: Interval | None, what: object) -> None:
    if interval is not None and interval.lo is not None and interval.hi is not None:
        _require(interval.lo <= interval.hi, "{}: the range {} is empty", what, interval)
