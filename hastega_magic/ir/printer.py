"""The three levels as text: one line per node, numbered in the order of evaluation.

fused
  source x: range int [1, 33554432]
  %0: int [1, 33554432] = load x
  %1: int [22, 738197504] = mul 22, %0                      ; line 3
  total = sum %1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache

from hastega_magic.errors import Span
from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, Value, constant_text, flatten, postorder
from hastega_magic.ir.fused import Effect, Fused, Output
from hastega_magic.ir.kernel import VIOLATED, Accumulate, Assume, Guard, Kernel, Statement, Store, nodes_of
from hastega_magic.ir.loop import EVERY, iteration, operands
from hastega_magic.ir.origins import UNNAMED
from hastega_magic.ir.pipeline import Fn, Pipeline, Source, Stage, Table
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass
from hastega_magic.types import BOOL, Either

Line = tuple[str, Expr | None]
"""A line, and the node that it defines."""

NOTE_COLUMN = 64
"""Where a line's note begins, behind what it is indented by."""


def print_pipeline(pipeline: Pipeline) -> str:
    """The source, each stage with its function's graph, and the sink."""
    lines = [f"pipeline {pipeline.name}".rstrip(), f"  {_source(pipeline.source)}"]
    parameters = tuple(_parameters(pipeline).items())
    lines += [f"  {_table(table)}" for table in pipeline.tables]
    for stage in pipeline.stages:
        lines.append(_noted(f"  {_stage(stage)}", (stage.span,)))
        if stage.fn is not None:
            lines += [f"    {line}" for line in _function(stage.fn, pipeline.tables, parameters)]
    lines.append(_noted(f"  {pipeline.sink.kind}", (pipeline.sink.span,)))
    return "\n".join(lines) + "\n"


def print_fused(fused: Fused) -> str:
    """Sources, nodes in postorder, effects and outputs."""
    return _joined(fused_lines(fused))


def print_kernel(kernel: Kernel) -> str:
    """The schedule, then the body: each node where the first statement that uses it needs it."""
    return _joined(kernel_lines(kernel))


def print_lines(form: Fused | Kernel) -> list[Line]:
    """The printed form's lines, in order, each with the node that it defines (None: none)."""
    return kernel_lines(form) if isinstance(form, Kernel) else fused_lines(form)


def print_expr(root: Expr) -> str:
    """A graph on its own; the last line is the root."""
    names = _Names((), ())
    lines = [text for text, _ in names.definitions([root], {}, {})]
    return "\n".join(lines) if lines else names.use(root)


def fused_lines(fused: Fused) -> list[Line]:
    """`print_fused` by lines."""
    names = _Names(fused.sources, fused.tables)
    lines: list[Line] = [("fused", None), *heads(fused.sources, fused.tables)]
    lines += _indented(names.definitions(fused.roots(), fused.ranges, fused.spans))
    lines += [(f"  {_effect(effect, names)}", None) for effect in fused.effects]
    lines += [(f"  {_output(output, names)}", None) for output in fused.outputs]
    return lines


def kernel_lines(kernel: Kernel) -> list[Line]:
    """`print_kernel` by lines."""
    names = _Names(kernel.sources, kernel.tables)
    schedule = kernel.schedule
    head = f"kernel: {schedule.lanes} lanes × {schedule.in_flight} in flight"
    most = "up to " if schedule.grain > 1 else ""
    head += f", blocks of {BLOCK}, {most}{schedule.grain} claimed at a time"
    head += f", {schedule.parts} parts of a block side by side" if schedule.parts > 1 else ""
    head += ", streaming stores" if schedule.stream else ""
    head += f", prefetch {schedule.prefetch}" if schedule.prefetch else ""
    head += ", lanes refilled" if schedule.refill else ""
    lines: list[Line] = [(head, None), *heads(kernel.sources, kernel.tables), ("  loop", None)]
    for statement in kernel.body:
        needed = names.definitions(nodes_of(statement), kernel.ranges, kernel.spans)
        lines += _indented(needed, "    ")
        lines.append((f"    {_statement(statement, names)}", None))
    return lines


@dataclass
class Places:
    """The lines, from 1, of a printed kernel: what debug locations count in."""

    nodes: dict[Expr, int] = field(default_factory=dict[Expr, int])
    statements: dict[Statement, int] = field(default_factory=dict[Statement, int])

    @property
    def elements(self) -> int:
        """What says which elements there are belongs to the first that is loaded, or to the first statement."""
        leaves = (line for node, line in self.nodes.items() if node.op in ("load", "index"))
        return next(leaves, next(iter(self.statements.values()), 0))


def kernel_places(kernel: Kernel) -> Places:
    """Where `kernel_lines` has each node and each statement."""
    places = Places()
    line = 2 + len(kernel.sources) + len(kernel.tables)
    for statement in kernel.body:
        line = _place(nodes_of(statement), places.nodes, line) + 1
        places.statements[statement] = line
    return places


def _place(roots: Iterable[Expr], places: dict[Expr, int], line: int) -> int:
    """Number the lines of the nodes below the roots, after `line`; the last one."""
    for node in postorder(roots, places):
        if node.op in UNNAMED:
            continue
        line += 1
        places[node] = line
        if node.op == "turns":
            body = iteration(node)
            inner: dict[Expr, int] = {}
            line = (
                _place(body.roots(), inner, line) + 1 + (body.trouble is not None) + (body.rare is not None)
            )
            for each, place in inner.items():
                places.setdefault(each, place)
    return line


class _Names:
    """Numbers nodes as they are defined."""

    def __init__(
        self,
        sources: Sequence[Source],
        tables: Sequence[Table],
        parameters: Mapping[Expr, str] | None = None,
    ) -> None:
        self._sources = sources
        self.tables = tables
        self.parameters = parameters or {}
        self._numbers: dict[Expr, int] = {}
        self._leaves: dict[Expr, str] = {}
        self._depth = 0

    def definitions(
        self,
        roots: Iterable[Expr],
        ranges: Mapping[Expr, Interval],
        spans: Mapping[Expr, tuple[Span, ...]],
    ) -> Iterator[Line]:
        """A line for every node below the roots that has none yet."""
        for node in postorder(roots, self._numbers):
            if node.op in UNNAMED:
                continue
            if node.op == "turns":
                yield from self._turns(node, ranges, spans)
                continue
            body = self._body(node)
            self._numbers[node] = number = len(self._numbers)
            known = f" {ranges[node]}" if node in ranges and node.type is not BOOL else ""
            yield _noted(f"%{number}: {node.type.value}{known} = {body}", spans.get(node, ())), node

    def _turns(
        self, node: Expr, ranges: Mapping[Expr, Interval], spans: Mapping[Expr, tuple[Span, ...]]
    ) -> Iterator[Line]:
        """A loop: its state, the nodes of a turn, and what the state is then."""
        body = iteration(node)
        starts, outside = operands(node)
        depth = self._depth
        shown = [f"{'stu'[depth % 3]}{k}" for k in range(len(body.state))]
        self._numbers[node] = number = len(self._numbers)
        head = ", ".join(f"{name} = {self.use(arg)}" for name, arg in zip(shown, starts, strict=True))
        yield _noted(f"%{number}: turns while {shown[0]} ({head})", spans.get(node, ())), node
        self._leaves |= dict(zip(body.state, shown, strict=True))
        self._leaves |= {leaf: self.use(arg) for leaf, arg in zip(body.outer, outside, strict=True)}
        for each in postorder(body.roots()):
            self._numbers.pop(each, None)  # a body that stands in two loops has its lines in both
        self._depth += 1
        yield from _indented(self.definitions(body.roots(), ranges, spans))
        self._depth -= 1
        if body.trouble is not None:
            yield f"  guard {self.use(body.trouble)}: a turn needs Python", None
        if body.rare is not None:
            yield f"  guard {self.use(body.rare)}, every {EVERY} turns: they need Python", None
        steps = ", ".join(f"{name} = {self.use(step)}" for name, step in zip(shown, body.step, strict=True))
        yield f"  next {steps}", None

    def _body(self, node: Expr) -> str:
        if node.op == "result":
            return f"result {node.value} of {self.use(node.args[0])}"
        if node.args:
            return f"{node.op} {', '.join(map(self.use, node.args))}"
        if node.op == "load":
            return f"load {named(self._sources, node.value, 'source')}"
        if node in self.parameters:
            return f"{node.op} {self.parameters[node]}"
        return node.op if node.value is None else f"{node.op} {node.value}"

    def use(self, value: Value) -> str:
        """How other lines mention the value."""
        if isinstance(value, Either):
            return f"({self.use(value.high)} if {self.use(value.test)} else {self.use(value.low)})"
        if not isinstance(value, Expr):
            return f"({', '.join(map(self.use, value))}{',' if len(value) == 1 else ''})"
        match value.op:
            case "const":
                return constant_text(value.value)
            case "table":
                return f"@{named(self.tables, value.value, 'table')}"
            case "length":
                return f"len @{named(self.tables, value.value, 'table')}"
            case "carry" | "outer":
                return self._leaves[value]
            case _:
                return f"%{self._numbers[value]}"


def named(things: Sequence[Source] | Sequence[Table], slot: object, kind: str) -> str:
    """The user's name where it says which one is meant, or the number."""
    if not isinstance(slot, int) or not 0 <= slot < len(things):
        return f"{kind}{slot}"
    name = things[slot].name
    shared = sum(thing.name == name for thing in things) > 1
    return f"{kind}{slot}" if shared or not name else name


def _parameters(pipeline: Pipeline) -> dict[Expr, str]:
    """The user's names of captured numbers: those that stand for them have numbers that say nothing to a reader."""
    numbers = [source for _, source in pipeline.parameters]
    return {node: named(numbers, slot, "captured") for slot, (node, _) in enumerate(pipeline.parameters)}


def _joined(lines: Iterable[Line]) -> str:
    return "\n".join(text for text, _ in lines) + "\n"


def _indented(lines: Iterable[Line], by: str = "  ") -> Iterator[Line]:
    return ((by + text, node) for text, node in lines)


def _noted(text: str, spans: Sequence[Span]) -> str:
    """The text with the cell's line numbers behind it."""
    told = note(spans)
    return f"{text:<{NOTE_COLUMN}}{told}" if told else text


def note(spans: Sequence[Span]) -> str:
    """The cell's line numbers; "" where there are none."""
    numbers = sorted({span.line for span in spans if span.line > 0}) if spans else ()
    return f"; line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}" if numbers else ""


def heads(sources: Sequence[Source], tables: Sequence[Table]) -> Iterator[Line]:
    """What is told of each source and table, before a loop."""
    for number, source in enumerate(sources):
        yield f"  {_source(source, named(sources, number, 'source'))}", None
    for number, table in enumerate(tables):
        yield f"  {_table(table, named(tables, number, 'table'))}", None


def _source(source: Source, name: str | None = None) -> str:
    memory = "" if source.storage is None else f" {source.storage.name}"
    layout = "" if source.layout == "dense" else f" {source.layout}"
    known = "" if source.interval is None else f" {source.interval}"
    shown = source.name if name is None else name
    return f"source {shown}: {source.kind}{memory}{layout} {source.type_name}{known}"


def _table(table: Table, name: str | None = None) -> str:
    return f"table {table.name if name is None else name}: {table.storage.name} {table.storage.scalar.value}"


def _stage(stage: Stage) -> str:
    match stage.kind:
        case "zip":
            return f"zip {', '.join(_source(source).removeprefix('source ') for source in stage.sources)}"
        case "enumerate":
            by = "" if stage.stride == 1 else f" by {stage.stride}"
            return f"enumerate from {stage.number}{by}"
        case "window":
            apart = "" if stage.stride == 1 else f", {stage.stride} apart"
            return f"window of {stage.number}{apart}"
        case _:
            return f"{stage.kind} {stage.fn.text if stage.fn is not None else ''}".rstrip()


@lru_cache(256)
def _function(fn: Fn, tables: tuple[Table, ...], parameters: tuple[tuple[Expr, str], ...]) -> tuple[str, ...]:
    own = _Names((), tables, dict(parameters))  # numbers start anew in each function
    effects = [node for pair in fn.effects for node in pair if node is not None]
    nodes = own.definitions([*flatten(fn.params), *effects, *flatten(fn.result)], {}, {})
    lines = [text for text, _ in nodes]
    for condition, node in fn.effects:
        lines.append(f"evaluate {own.use(node)} {_where(condition, own)}".rstrip())
    return (*lines, f"return {own.use(fn.result)}")


def _where(mask: Expr | None, names: _Names) -> str:
    return "" if mask is None else f"where {names.use(mask)}"


def _effect(effect: Effect, names: _Names) -> str:
    return f"evaluate {names.use(effect.node)} {_where(effect.mask, names)}".rstrip()


def _output(output: Output, names: _Names) -> str:
    value = names.use(output.value)
    if output.weights:
        pairs = zip(output.weights, flatten(output.value), strict=True)
        value = " + ".join(_times(weight, names.use(part)) for weight, part in pairs)
    text = f"{output.name or '_'} = {output.sink.kind} {value} {_where(output.mask, names)}"
    return _noted(text.rstrip(), (output.sink.span,))


def _times(weight: int, part: str) -> str:
    if weight == 1:
        return part
    power = abs(weight) >= 1 << 32 and abs(weight) & (abs(weight) - 1) == 0
    return f"{f'{chr(45) * (weight < 0)}2^{abs(weight).bit_length() - 1}' if power else weight} · {part}"


def _statement(statement: Statement, names: _Names) -> str:
    match statement:
        case Assume(load, interval, status):
            otherwise = "the next variant" if status == VIOLATED else "Python"
            return f"assume {names.use(load)} in {interval}, otherwise {otherwise}"
        case Guard(condition, reason):
            return f"guard {names.use(condition)}: {reason}"
        case Accumulate(kind, value, mask, wide, _, high):
            upper = "" if high is None else f"2^64 · {names.use(high)} + "
            text = f"accumulate {kind} {upper}{names.use(value)}{' in two words' if wide else ''}"
        case Store(slot, value, mask, running):
            text = f"{running or 'store'} {slot}, {names.use(value)}"
            if statement.fields > 1:
                text += f", number {statement.part + 1} of {statement.fields} side by side"
            if statement.factor is not None:
                by = statement.factor.value
                text += f", added to {by.value if by.op == 'const' else by!r} times the last"
    return f"{text} {_where(mask, names)}".rstrip()
