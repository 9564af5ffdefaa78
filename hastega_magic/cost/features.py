"""What a loop is made of: operations by class, bytes, and where its elements come from; per element of its source.

    range |> map(3 * _ + 1) |> sum        simple 1, multiply 1, fold 1, index 1; 0 bytes in, 0 bytes out
    xs |> filter(_ > 2)                   load 1, simple 1, pack 1; 8 bytes in, up to 8 bytes out, packed

Machine operations are counted on the lowered kernel, each over a whole vector of `lanes` elements; Python's on the
functions as they were written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from hastega_magic.cost.chain import chain
from hastega_magic.cost.overlap import DIVIDER
from hastega_magic.ir.device import bus_storages
from hastega_magic.ir.expr import Expr, Value, flatten, postorder
from hastega_magic.ir.kernel import Accumulate, Assume, Guard, Kernel, Store
from hastega_magic.ir.loop import iteration
from hastega_magic.ir.pipeline import Pipeline, Source
from hastega_magic.records import dataclass
from hastega_magic.types import FLOAT32, RESULT_STORAGE

CLASSES = (
    "simple", "float", "multiply", "madd", "divide", "root", "convert", "gather", "load", "strided", "index", "fold",
    "fold_float", "store", "pack", "running", "turn", "loop",
)  # fmt: skip
"""Classes of a machine's operations. "loop" is what a turn of the loop over the elements costs, "turn" one of a loop
inside."""

PYTHON_CLASSES = (
    "element", "boxed", "call", "integer", "real", "small_real", "function", "collect", "total", "list", "pair",
)  # fmt: skip
"""Classes of Python's work: an element of a range or list, one of an array, a function called for it, operations of
ints, of floats and of NumPy's float32, functions of `math`; results put into an array, summed up, put into a list, and
tuples."""

TURNS = 16.0
"""Turns that an element makes of a loop inside, where nothing is known."""

_MOST_TURNS = 4096.0
KEPT = 0.5
"""The part of the elements that a filter leaves, where nothing is known."""

_OPERATORS = frozenset(
    [
        "add",
        "sub",
        "mul",
        "neg",
        "pos",
        "truediv",
        "int_truediv",
        "pow",
        "sqr",
        "half_power",
        "floordiv",
        "mod",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "and",
        "or",
        "xor",
        "invert",
        "shl",
        "shr",
        "not",
        "select",
        "gather",
    ]
)
"""What CPython has an instruction for; all else is a call."""

_IMPLIED = frozenset({"bool_to_int", "int_to_float", "exact_float", "to_float32", "to_float64", "truth"})
"""What CPython does not do as a step of its own."""

_MULTIPLIED = 0.35
"""A division that multiplications replace, as a part of one."""

_NARROW = 0.6
"""A division or root of float32, as a part of one of float64: the divider takes fewer steps."""

_FREE = frozenset(
    {"float_bits", "bits_float", "pos", "result", "const", "table", "length", "param", "carry", "outer"}
)
_BY_OP = {
    "truediv": "divide", "int_truediv": "divide", "fdiv": "divide", "divided_by": "divide",
    "truncated_div": "divide", "truncated_mod": "divide",
    "sqrt": "root", "fsqrt": "root", "half_power": "root", "gather": "gather", "madd52lo": "madd",
    "madd52hi": "madd", "int_to_float": "convert", "exact_float": "convert", "to_float32": "convert",
    "to_float64": "convert", "float_to_int": "convert", "whole_to_int": "convert", "uint_to_float": "convert",
    "float_to_uint": "convert", "floor": "convert", "ceil": "convert", "trunc": "convert", "rint": "convert",
    "turns": "turn",
}  # fmt: skip


@dataclass(frozen=True)
class Features:
    """A kernel, per element.

    operations  vector operations of each class for `lanes` elements at once
    inward      bytes read of arrays
    outward     bytes written of results with all elements; `packed`: of those that filters may shorten, at most
    lists       element types of the sources that are lists (NumPy's names)
    bus_in, bus_out  bytes that a device is sent and sends back
    passes      how often a result is gone through again after the loop (running values of a device)
    inner       whether elements make turns of loops of their own, whose number is a guess
    float32     whether it computes with float32
    unlisted    results that become lists
    chain       vector operations of each class that take as long as what an element waits for the one before
    """

    operations: Mapping[str, float]
    lanes: int
    inward: float
    outward: float
    packed: float
    lists: tuple[str, ...] = ()
    bus_in: float = 0.0
    bus_out: float = 0.0
    passes: int = 1
    inner: bool = False
    float32: bool = False
    unlisted: int = 0
    chain: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def per_element(self) -> float:
        """Operations of an element that compute: not loads, stores and loop control."""
        moving = ("load", "strided", "index", "store", "pack", "loop")
        return sum(count for name, count in self.operations.items() if name not in moving)

    @property
    def bytes(self) -> float:
        """Bytes that an element moves between memory and registers."""
        return self.inward + self.outward + self.packed


@dataclass(frozen=True)
class PythonFeatures:
    """What CPython does for an element of the source, by class."""

    operations: Mapping[str, float] = field(default_factory=dict[str, float])


def features_of(kernel: Kernel, unlisted: int = 0) -> Features:
    """The features of a lowered kernel, of whose results `unlisted` become lists."""
    counts: defaultdict[str, float] = defaultdict(float)
    _count(kernel.roots(), kernel, 1.0, counts, set())
    waits: defaultdict[str, float] = defaultdict(float)
    outward = packed = 0.0
    for statement in kernel.body:
        match statement:
            case Accumulate(kind=kind, value=value):
                counts["fold_float" if value.type.is_float and kind != "count" else "fold"] += 1
            case Store() if statement.running:
                counts["running"] += 1
                packed += RESULT_STORAGE[statement.type].size
                if statement.step is not None and statement.part == 0:
                    for name, count in chain(statement.step, _waiting, _turns).items():
                        waits[name] += count
            case Store(mask=None):
                counts["store"] += 1
                outward += RESULT_STORAGE[statement.type].size
            case Store():
                counts["pack"] += 1
                packed += RESULT_STORAGE[statement.type].size
            case Guard() | Assume():
                counts["simple"] += 1
    counts["loop"] += 1 / kernel.schedule.in_flight
    dense = [each for each in kernel.sources if each.layout != "scalar" and each.storage is not None]
    # A window's list is read once.
    listed = [each for each in dense if each.kind == "list" and not each.beside]
    inward = sum(each.fresh for each in kernel.sources)
    narrow = bus_storages(kernel, True)
    return Features(
        dict(counts), kernel.schedule.lanes, float(inward), outward, packed,
        tuple(each.storage.name for each in listed if each.storage is not None),
        float(inward), float(sum(each.size for each in narrow)),
        passes=1 + sum(bool(store.running) for store in kernel.of(Store)), inner="turn" in counts,
        float32=any(node.type is FLOAT32 for node in kernel.roots()), unlisted=unlisted,
        chain=dict(waits),
    )  # fmt: skip


def _count(
    roots: Iterable[Expr], kernel: Kernel, times: float, counts: defaultdict[str, float], seen: set[Expr]
) -> None:
    """Add the nodes below the roots, each once; those of a loop inside as often as it makes turns."""
    for node in postorder(roots):
        if node in seen:
            continue
        seen.add(node)
        if node.op == "load":
            assert isinstance(node.value, int)
            name, vectors = _load(kernel.sources[node.value])
            counts[name] += times * vectors
        elif node.op == "index":
            counts["index"] += times
        elif node.op == "turns":
            turns = _turns(node)
            counts["turn"] += times * turns
            _count(iteration(node).roots(), kernel, times * turns, counts, seen)
        elif node.op not in _FREE:
            name = class_of(node)
            if node.op == "divided_by":
                counts[name] += times * _MULTIPLIED
            else:
                counts[name] += times * _NARROW if name in DIVIDER and node.type is FLOAT32 else times


def class_of(node: Expr) -> str:
    """The class of an operation of a lowered kernel."""
    if node.op in _BY_OP:
        return _BY_OP[node.op]
    operand = node.args[1] if node.op == "select" else node.args[0] if node.args else node
    if operand.type.is_float:
        return "float"
    return "multiply" if node.op in ("mul", "wrapping_mul") else "simple"


def _waiting(node: Expr) -> str:
    return "" if node.op in _FREE else class_of(node)


def _load(source: Source) -> tuple[str, int]:
    if source.kind == "range" or source.layout == "scalar":
        return "index", 1
    return ("load", source.vectors) if source.vectors else ("strided", 1)


def _turns(node: Expr) -> float:
    """As many turns as a counter of the loop has values, else a guess."""
    body = iteration(node)
    for number, (carry, step) in enumerate(zip(body.state, body.step, strict=True)):
        bound = body.bounds[number] if number < len(body.bounds) else None
        counter = step.op in ("add", "wrapping_add") and carry in step.args
        if counter and bound is not None and bound.lo is not None and bound.hi is not None:
            width = float(bound.hi - bound.lo)
            if 1 <= width <= _MOST_TURNS:
                return width
    return TURNS


# ---------------------------------------------------------------------------------------------- CPython


def python_features(pipelines: Sequence[Pipeline]) -> PythonFeatures:
    """What CPython does for an element of these pipelines, each run alone over its source."""
    counts: defaultdict[str, float] = defaultdict(float)
    for pipeline in pipelines:
        left = 1.0
        _source(pipeline.source, counts, left)
        for stage in pipeline.stages:
            match stage.kind:
                case "map" | "filter":
                    assert stage.fn is not None
                    _function(stage.fn.result, counts, left)
                    left *= KEPT if stage.kind == "filter" else 1.0
                case "zip":
                    counts["pair"] += left
                    for source in stage.sources:
                        _source(source, counts, left)
                case "window":
                    counts["pair"] += left * stage.number / 2
                case _:
                    counts["pair"] += left
        kind = pipeline.sink.kind
        if kind in ("array", "cumsum", "scan"):
            counts["collect"] += left
        elif kind == "to_list":
            counts["list"] += left
        else:
            counts["total"] += left
        if pipeline.sink.fn is not None:
            _function(pipeline.sink.fn.result, counts, left)
    return PythonFeatures(dict(counts))


def _source(source: Source, counts: defaultdict[str, float], left: float) -> None:
    if source.kind == "array":
        counts["boxed"] += left
    counts["element"] += left


def _function(result: Value, counts: defaultdict[str, float], left: float) -> None:
    """A function called for each element that is left."""
    counts["call"] += left
    _python(flatten(result), left, counts, set())


def _python(roots: Iterable[Expr], times: float, counts: defaultdict[str, float], seen: set[Expr]) -> None:
    for node in postorder(roots):
        if node in seen or not node.args:
            continue
        seen.add(node)
        if node.op == "turns":
            turns = times * _turns(node)
            counts["integer"] += turns
            _python(iteration(node).roots(), turns, counts, seen)
        elif node.op not in _FREE and node.op not in _IMPLIED:
            counts[_python_class(node)] += times


def _python_class(node: Expr) -> str:
    types = [each.type for each in (node, *node.args)]
    if FLOAT32 in types:
        return "small_real"
    if node.op not in _OPERATORS:
        return "function"
    return "real" if any(each.is_float for each in types) else "integer"


__all__ = [
    "CLASSES", "KEPT", "PYTHON_CLASSES", "TURNS", "Features", "PythonFeatures", "class_of", "features_of",
    "python_features",
]  # fmt: skip
