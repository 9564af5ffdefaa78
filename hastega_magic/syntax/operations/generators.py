"""Calls that use up an iterable: `sum(x * x for x in range(n))` is the loop that it stands for.

max(f(i) for i in range(n) if p(i))        best = None
                                           for i in range(n):
                                               if p(i):
                                                   item = f(i)
                                                   if best is None or item > best:
                                                       best = item
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Value, const
from hastega_magic.ir.rows import Rows
from hastega_magic.records import dataclass
from hastega_magic.syntax.operations.lists import ITERABLES
from hastega_magic.syntax.operations.stretches import is_cut
from hastega_magic.syntax.operations.sums import COMPENSATED, added, product, totalled
from hastega_magic.syntax.reading.trees import parsed
from hastega_magic.syntax.values.dimensions import Part
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.neighbours import Neighbours
from hastega_magic.syntax.values.values import (
    Known,
    Partly,
    Poison,
    Range,
    Rule,
    Symbolic,
    is_none,
    required,
)

if TYPE_CHECKING:
    from hastega_magic.syntax.functions.expressions import Frame


@dataclass(frozen=True)
class Consumer:
    """A function of an iterable: statements before its loop, for an item, and behind the loop."""

    before: str
    each: str
    behind: str
    rules: Mapping[str, Callable[[Graph, Sequence[Symbolic]], Symbolic]]
    option: str = ""
    decides: bool = False


def _present(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """The smallest or largest, which there is unless there are no items: then Python raises."""
    (value,) = args
    if is_none(value):
        raise NotCompilable("there are no items: Python raises ValueError")
    if isinstance(value, Partly):
        found: Value = required(value.value, value.present)
        graph.keep(found)
        return found
    return value


def _extreme(sign: str) -> Consumer:
    return Consumer(
        "TOTAL = None",
        f"if TOTAL is None or ITEM {sign} TOTAL:\n    TOTAL = ITEM",
        "return PRESENT(TOTAL) if NO_DEFAULT else DEFAULT if TOTAL is None else TOTAL",
        {"PRESENT": _present},
        "default",
    )


SUM = Consumer("TOTAL = DEFAULT", "TOTAL += ITEM", "return TOTAL", {}, "start")
_COMPENSATED_SUM = Consumer(
    "TOTAL, LOST = DEFAULT, 0.0", "TOTAL, LOST = ADD(TOTAL, LOST, ITEM)", "return TOTALLED(TOTAL, LOST)",
    {"ADD": added, "TOTALLED": totalled}, "start",
)  # fmt: skip

CONSUMERS: Mapping[int, Consumer] = {
    id(builtins.sum): _COMPENSATED_SUM if COMPENSATED else SUM,
    id(math.prod): Consumer(
        "TOTAL = DEFAULT", "TOTAL = TIMES(TOTAL, ITEM)", "return TOTAL", {"TIMES": product}, "start"
    ),
    id(builtins.any): Consumer("", "if ITEM:\n    return True", "return False", {}, decides=True),
    id(builtins.all): Consumer("", "if not ITEM:\n    return False", "return True", {}, decides=True),
    id(builtins.min): _extreme("<"),
    id(builtins.max): _extreme(">"),
}  # fmt: skip


def uses_up(function: object) -> bool:
    """Whether it is one of these functions."""
    return id(function) in CONSUMERS


def consumed(frame: Frame, function: object, call: ast.Call) -> Symbolic | None:
    """What the call gives if its argument is a generator, a list made for it, or something to loop over.

    None where it is none of these, which other rules compile.
    """
    consumer = CONSUMERS.get(id(function))
    if consumer is None or not call.args or isinstance(call.args[0], ast.Starred):
        return None
    if any(keyword.arg == "key" for keyword in call.keywords):
        return None
    source, keeping = call.args[0], None
    if isinstance(source, ast.GeneratorExp) or (isinstance(source, ast.ListComp) and not consumer.decides):
        clauses, element = source.generators, source.elt
    elif len(call.args) <= 1 + (consumer.option == "start") and _goes_through(frame, source):
        element = ast.Name(own("ITEM"), ast.Load())
        clauses = [ast.comprehension(ast.Name(own("ITEM"), ast.Store()), source, [], 0)]
        if function is builtins.sum and _is_part_of_array(frame, source):
            consumer = SUM  # CPython keeps what is lost of its own floats alone
    elif isinstance(source, ast.Call) and len(source.args) == 2 and _is_filter(frame, source):
        element = ast.Name(own("ITEM"), ast.Load())
        kept = ast.Call(ast.Name(own("KEPT"), ast.Load()), [element], [])
        clauses = [ast.comprehension(ast.Name(own("ITEM"), ast.Store()), source.args[1], [kept], 0)]
        keeping = frame.evaluate(source.args[0])
    else:
        return None
    if any(isinstance(node, ast.NamedExpr) for node in ast.walk(source)):
        raise NotCompilable("an assignment inside a generator is not compiled")
    given = _option(consumer, call)
    names = _names(consumer, None if given is None else frame.evaluate(given))
    if keeping is not None:
        names[own("KEPT")] = Known(bool, "bool") if is_none(keeping) else keeping
    for clause in clauses[1:]:
        names |= {name: Poison(f"`{name}` is read before it is assigned") for name in _bound(clause.target)}
    return evaluated(frame, call, _loop(consumer, clauses, element, call), names)


def gone_through(
    frame: Frame, consumer: Consumer, part: ast.expr, call: ast.Call, start: Symbolic
) -> Symbolic:
    """What a function of the items of a part gives, for which the call stands."""
    item = ast.Name(own("ITEM"), ast.Load())
    clauses = [ast.comprehension(ast.Name(own("ITEM"), ast.Store()), part, [], 0)]
    return evaluated(frame, call, _loop(consumer, clauses, item, call), _names(consumer, start))


def _is_filter(frame: Frame, node: ast.Call) -> bool:
    function = frame.peek(node)
    return isinstance(function, Known) and function.value is builtins.filter


def _is_part_of_array(frame: Frame, node: ast.expr) -> bool:
    owner = frame.peek(node.value) if isinstance(node, ast.Subscript) and is_cut(frame, node) else None
    return isinstance(owner, Known) and type(owner.value) is np.ndarray


def _goes_through(frame: Frame, node: ast.expr) -> bool:
    """Whether it is a range, an array, or an iterator over such."""
    if isinstance(node, ast.Call):
        function = frame.peek(node)
        return isinstance(function, Known) and any(function.value is each for each in ITERABLES)
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        owner = frame.peek(node.value) if isinstance(node.value, ast.Name) else None
        if isinstance(owner, Known) and isinstance(owner.value, Rows):
            return True
        if not _goes_through(frame, node.value):
            return False
        value = frame.peek(node)
        return isinstance(value, Known) and isinstance(value.value, Part)
    if isinstance(node, ast.Subscript):
        if is_cut(frame, node):
            return True
        if not _goes_through(frame, node.value):
            return False
        value = frame.peek(node.value)
        return isinstance(value, Known) and isinstance(value.value, Neighbours)
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    value = frame.peek(node)
    held = value.value if isinstance(value, Known) else None
    return type(held) is list or isinstance(held, (Range, builtins.range, np.ndarray, Neighbours, Part))


def _option(consumer: Consumer, call: ast.Call) -> ast.expr | None:
    """The start, or the default."""
    if len(call.args) == 2 and consumer.option == "start" and not call.keywords:
        return call.args[1]
    if len(call.args) > 1 or any(keyword.arg != consumer.option for keyword in call.keywords):
        raise NotCompilable("a call over a generator with such arguments is not compiled")
    return call.keywords[0].value if call.keywords else None


def _names(consumer: Consumer, given: Symbolic | None) -> dict[str, Symbolic]:
    """What the loop's own statements read."""
    names: dict[str, Symbolic] = {own(name): Known(Rule(rule), name) for name, rule in consumer.rules.items()}
    names[own("NO_DEFAULT")] = const(given is None)
    start = 1 if "TIMES" in consumer.rules else 0
    names[own("DEFAULT")] = const(start) if given is None else given
    return names


def _loop(
    consumer: Consumer, clauses: Sequence[ast.comprehension], element: ast.expr, call: ast.Call
) -> list[ast.stmt]:
    """The statements, at the place of the call."""
    before, each, behind = (
        template(text, call) for text in (consumer.before, consumer.each, consumer.behind)
    )
    body: list[ast.stmt] = each
    if not (isinstance(element, ast.Name) and element.id == own("ITEM")):
        body = [ast.Assign([ast.Name(own("ITEM"), ast.Store())], element), *each]
    for clause in reversed(clauses):
        if clause.is_async:
            raise NotCompilable("an asynchronous generator is not compiled")
        for test in reversed(clause.ifs):
            body = [ast.If(test, body, [])]
        body = [ast.For(clause.target, clause.iter, body, [])]
    for statement in (*before, *body, *behind):
        _place(statement, call)
    return [*before, *body, *behind]


def template(text: str, call: ast.Call) -> list[ast.stmt]:
    """Statements at the place of the call; words in capitals are names of its own."""
    statements = parsed(text).body
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id.isupper():
                node.id = own(node.id)
            if isinstance(node, (ast.expr, ast.stmt)):
                ast.copy_location(node, call)
    return statements


def _place(node: ast.AST, call: ast.Call) -> None:
    """Nodes without a place get the call's; those that the user wrote keep theirs."""
    pending = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, (ast.expr, ast.stmt)) and not hasattr(each, "lineno"):
            ast.copy_location(each, call)
            pending += ast.iter_child_nodes(each)


def own(name: str) -> str:
    """A name that no user's is, as it has a space."""
    return f"the {name.lower()}"


def _bound(target: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]


def evaluated(frame: Frame, call: ast.Call, body: Sequence[ast.stmt], names: dict[str, Symbolic]) -> Symbolic:
    """What statements return that stand for the call."""
    from hastega_magic.syntax.functions.flow import Flow  # which evaluates expressions with this module

    inner = frame.within(names)
    name = frame.syntax.places.segment(call.func)
    return Flow(inner, name, False, frame.graph.path).run(body)
