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
        _require(len(output.weights) in (0, count), f"{count} parts have {len(output.weights)} weights")
    for effect in fused.effects:
        _check_mask(effect.mask, "an effect")
    if fused.ranges:
        _check_ranges(fused.roots(), fused.ranges, complete=True)


def verify_kernel(kernel: Kernel) -> None:
    """As for Fused, and statements and schedule are ones that code can be generated for."""
    schedule = kernel.schedule
    step = schedule.lanes * schedule.in_flight
    _require(schedule.lanes > 0 and schedule.in_flight > 0, f"{schedule} computes no elements")
    _require(VIRTUAL_LANES % max(step, 1) == 0, f"{step} elements in a turn do not divide {VIRTUAL_LANES}")
    _require(schedule.in_flight % schedule.parts == 0, f"{schedule} has parts without a vector")
    _require(
        schedule.parts == 1 or all(map(in_any_order, kernel.body)),
        f"{schedule} has parts, and results need an order",
    )
    _require(schedule.grain > 0 and schedule.prefetch >= 0, f"{schedule} has a negative or empty part")
    for source in kernel.sources:
        _require(source.kind != "result", f"source {source.name} is a result, which fusion replaces")
    _check_graph(kernel.roots(), _Leaves(kernel.sources, kernel.tables))
    for statement in kernel.body:
        _check_statement(statement)
    slots = sorted(store.slot for store in kernel.of(Store))
    _require(slots == list(range(len(slots))), f"stores fill the slots {slots}")
    # Ranges have served their purpose in lowering, whose own nodes need none.
    _check_ranges(kernel.roots(), kernel.ranges, complete=False)


@dataclass(frozen=True)
class _Leaves:
    """What leaves may refer to; `params` of a function's own, or a loop's."""

    sources: Sequence[Source] = ()
    tables: Sequence[Table] = ()
    params: frozenset[Expr] = frozenset()
    index: bool = True


def _require(condition: bool, text: str) -> None:
    if not condition:
        raise VerificationError(text)


def _same(a: ScalarType, b: ScalarType) -> bool:
    """FLOAT and FLOAT64 are one machine type, between which there is no conversion node."""
    both_wide = a.is_float and b.is_float and ScalarType.FLOAT32 not in (a, b)
    return a is b or both_wide


def _check_source(source: Source) -> None:
    text = f"source {source.name}"
    if source.storage is not None:
        fits = _same(source.storage.scalar, source.type)
        _require(fits, f"{text}: {source.storage.name} is no {source.type}")
    elif source.kind == "range":
        _require(source.type is INT, f"{text}: a range of {source.type}")
    _check_interval(source.interval, text)


def _check_sink(sink: Sink, scalar: bool) -> None:
    _require(sink.kind in ELEMENT_SINKS | REDUCTIONS, f"there is no sink {sink.kind}")
    anything = scalar or sink.kind in ELEMENT_SINKS or sink.kind == "count"
    _require(anything, f"{sink.kind} reduces numbers, not tuples")


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
            _require(result is BOOL, f"filter {stage.text}: the predicate is {result}, not BOOL")
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
            _require(stage.number > 0, f"{stage.text}: a window of {stage.number}")
            for source in stage.sources:
                _check_source(source)
            return (element,) * stage.number
        case _:
            raise VerificationError(f"there is no stage {stage.kind}")


def _check_function(fn: Fn, element: object, tables: Sequence[Table], text: str) -> None:
    params = flatten(fn.params)
    for param in params:
        _require(param.op == "param", f"{text}: {param} is no parameter")
    _require(len(set(params)) == len(params), f"{text}: a parameter appears twice")
    _require(_fits(fn.params, element), f"{text}: takes {structure(fn.params)}, gets {element}")
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
    _require(mask is None or mask.type is BOOL, f"{text}: the condition {mask} is not BOOL")


def _check_statement(statement: Statement) -> None:
    match statement:
        case Assume(load, interval, status):
            _require(load.op == "load" and load.type is INT, f"{load} is assumed, but no integer source")
            _require(status in (VIOLATED, TROUBLE), f"assume {load} reports {status}")
            _check_interval(interval, f"assume {load}")
        case Guard(condition, reason):
            _check_mask(condition, f"guard {reason!r}")
        case Accumulate(kind, value, mask, wide, _, high):
            _check_mask(mask, f"accumulate {kind}")
            _require(kind in ACCUMULATIONS, f"there is no accumulation {kind}")
            halves = kind == "add" and value.type is INT
            _require(halves or not wide, f"{kind} of {value} is no sum of integers")
            _require(high is None or kind in ("min", "max"), f"{kind} of {value} is not folded in 128 bits")
            bits = kind not in ("and", "or", "xor") or value.type.is_integral
            _require(bits, f"accumulate {kind}: {value} is {value.type}")
        case Store(slot, _, mask):
            _check_mask(mask, f"store {slot}")
            stepped = statement.running in ("scan", "fold")
            _require(
                stepped == (statement.step is not None), f"store {slot}: a step where there is none to be"
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
    _require(isinstance(node.value, Iteration), f"{node} has no body")
    body = iteration(node)
    own = (*body.state, *body.outer)
    _require(len(node.args) == len(own), f"{node}: {len(node.args)} operands for {len(own)} leaves")
    _require(len(body.step) == len(body.state), f"{node}: a turn gives another state")
    for leaf, given in zip(own, node.args, strict=True):
        _require(_same(leaf.type, given.type), f"{node}: {given} is {given.type}, not {leaf.type}")
    for leaf, given in zip(body.state, body.step, strict=True):
        _require(_same(leaf.type, given.type), f"{node}: a turn makes {leaf.type} {given.type}")
    _require(body.state[0].type is BOOL, f"{node}: whether there is another turn is no bool")
    inside = replace(leaves, sources=(), params=frozenset(own), index=False)
    _check_graph(body.roots(), inside)


def _check_result(node: Expr) -> None:
    (loop,) = node.args
    _require(loop.op == "turns" and isinstance(node.value, int), f"{node} is a result of no loop")
    state = iteration(loop).state
    number = node.value if isinstance(node.value, int) else -1
    _require(0 <= number < len(state), f"{node} is no part of the loop's state")
    _require(node.type is state[number].type, f"{node} is {node.type}")


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
            _require(node not in open_, f"{node.op} is an operand of itself")
            open_.add(node)
            stack.append((node, True))
            stack += [(arg, False) for arg in node.args]
    return order


def _check_operator(node: Expr) -> None:
    row = OPS.get(node.op)
    if row is None:
        raise VerificationError(f"{node}: there is no operator {node.op}")
    _require(len(node.args) == row.arity, f"{node}: {node.op} takes {row.arity} operands")
    of_table = [arg.op == "table" for arg in node.args]
    expected = [node.op == "gather", *[False] * (len(node.args) - 1)]
    _require(of_table == expected, f"{node}: tables are the first operand of gather, and of nothing else")
    types = tuple(arg.type for arg in node.args)
    try:
        signature = row.signature(types)
    except NotCompilable as error:
        raise VerificationError(f"{node}: {error}") from error
    for number, (given, taken) in enumerate(zip(types, signature.operands, strict=True)):
        _require(_same(given, taken), f"{node}: operand {number} is {given}, not {taken}")
    _require(_same(node.type, signature.result), f"{node}: is {node.type}, not {signature.result}")


def _check_leaf(node: Expr, leaves: _Leaves) -> None:
    slot = node.value if isinstance(node.value, int) else -1
    match node.op:
        case "const":
            _require(type(node.value) is _PYTHON[node.type], f"{node}: {node.value!r} is no {node.type}")
        case "param" | "carry" | "outer":
            _require(node in leaves.params, f"{node} is a parameter of no function or loop here")
        case "load":
            _require(0 <= slot < len(leaves.sources), f"{node} loads from no source")
            _require(_same(node.type, leaves.sources[slot].type), f"{node} is {node.type}, its source is not")
        case "index":
            _require(node.type is INT and leaves.index, f"{node} is {node.type}, or in a loop's body")
        case "table":
            _require(0 <= slot < len(leaves.tables), f"{node} is no table")
            fits = _same(node.type, leaves.tables[slot].storage.scalar)
            _require(fits, f"{node} is {node.type}, its table is not")
        case "length":
            _require(node.type is INT and 0 <= slot < len(leaves.tables), f"{node} is the length of no table")
        case _:
            raise VerificationError(f"there is no leaf {node.op}")


def _check_ranges(roots: Iterable[Expr], ranges: Mapping[Expr, Interval], complete: bool) -> None:
    for node in _acyclic(roots):
        if node.type is not INT or node.op == "table":
            continue
        if node.op != "const" and complete:
            _require(node in ranges, f"{node} has no range")
        elif node.op == "const" and node in ranges and isinstance(node.value, int):
            beyond = node.value not in INT64  # until it is in parts, its range says what a guard leaves
            _require(beyond or node.value in ranges[node], f"{node} is not in its range {ranges[node]}")
        _check_interval(ranges.get(node), str(node))


def _check_interval(interval: Interval | None, text: str) -> None:
    if interval is not None and interval.lo is not None and interval.hi is not None:
        _require(interval.lo <= interval.hi, f"{text}: the range {interval} is empty")
