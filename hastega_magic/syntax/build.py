"""Stages put together: the longest run of them that makes one loop."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from hastega_magic.errors import NOWHERE, NotCompilable, Reason
from hastega_magic.ir.expr import Expr, Value, leaf, make, structure
from hastega_magic.ir.pipeline import Pipeline, Sink, Source, Stage
from hastega_magic.syntax.cell import StageSite
from hastega_magic.syntax.functions import name_of
from hastega_magic.syntax.graph import Environment
from hastega_magic.syntax.lower import lower, parameters
from hastega_magic.syntax.stages import STAGES, suggest
from hastega_magic.types import INT


@dataclass(frozen=True)
class BoundStage:
    """A stage with the values of its arguments; `callee` is None for stages of the table."""

    site: StageSite
    callee: object | None
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True)
class Built:
    """One loop, and what is left over.

    pipeline   None where not even the first stage can be compiled
    consumed   how many of the stages are in the loop
    reason     why the next one is not (None: all are, or `cut`, or a sink has ended the loop)
    cut        the next stage needs the elements in memory, and can begin another loop over them
    skip       how many elements of the source are passed over,
    limit      and how many are used after them at most (None: all)
    initial    the starting value of a `reduce`, to be put before the elements' result: () or (value,)
    """

    pipeline: Pipeline | None
    consumed: int
    reason: Reason | None = None
    cut: bool = False
    skip: int = 0
    limit: int | None = None
    initial: tuple[object, ...] = ()


class _Cut(Exception):
    """The stage has a compiled form, though only as the first of another loop."""


@dataclass
class _Loop:
    """What has been built so far. `element`: what the next stage gets, as parameters."""

    env: Environment
    element: Value
    stages: list[Stage] = field(default_factory=list[Stage])
    sink: Sink | None = None
    filtered: bool = False
    fallible: bool = False
    skip: int = 0
    limit: int | None = None
    initial: tuple[object, ...] = ()

    def add(self, stage: Stage, element: object) -> None:
        """Another stage, after which elements have this structure."""
        self.stages.append(stage)
        self.element = parameters(element)

    def needs_position(self) -> None:
        """Where an element stands among the others is known only while none has been left out."""
        if self.filtered:
            raise _Cut


_Rule = Callable[[_Loop, StageSite, Mapping[str, Any]], None]


def build(name: str, source: Source, stages: Sequence[BoundStage], env: Environment) -> Built:
    """The longest prefix of the stages that is one loop over the source. `name`: the variable, or ""."""
    loop = _Loop(env, parameters(source.type))
    consumed, reason, cut = 0, None, False
    for bound in stages:
        try:
            _add(loop, bound)
        except NotCompilable as error:
            span = error.reason.span if error.reason.span != NOWHERE else bound.site.span
            reason = Reason(error.reason.text, span)
            break
        except _Cut:
            cut = True
            break
        consumed += 1
        if loop.sink is not None:
            break
    sink = loop.sink or Sink("array")
    span = stages[0].site.span if stages else NOWHERE
    if consumed:
        last = stages[consumed - 1].site.span
        span = span._replace(end_line=last.end_line, end_col=last.end_col)
    pipeline = Pipeline(name, source, tuple(loop.stages), sink, tuple(env.tables), span) if consumed else None
    return Built(pipeline, consumed, reason, cut, loop.skip, loop.limit, loop.initial)


def _add(loop: _Loop, bound: BoundStage) -> None:
    site = bound.site
    if not site.known:
        hint = suggest(site.name)
        near = f" (did you mean {hint}?)" if hint else ""
        raise NotCompilable(f"`{site.name}` is no stage: Python calls it on the value so far{near}")
    row = STAGES[site.name]
    try:
        given = row.bind(bound.args, bound.kwargs)
    except TypeError as error:
        raise NotCompilable(str(error)) from None
    rule = _RULES.get(site.name, _sink if row.sink else None)
    if rule is None:
        raise NotCompilable(f"`{site.name}` has no compiled form yet")
    rule(loop, site, given)


def _map(loop: _Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    fn = lower(given["f"], loop.element, loop.env)
    loop.fallible = loop.fallible or bool(fn.effects)
    loop.add(Stage("map", site.text, site.span, fn), structure(fn.result))


def _filter(loop: _Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    function = bool if given["f"] is None else given["f"]
    fn = lower(function, loop.element, loop.env, predicate=True)
    loop.fallible = loop.fallible or bool(fn.effects)
    loop.filtered = True
    loop.stages.append(Stage("filter", site.text, site.span, fn))


def _zip(loop: _Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    loop.needs_position()
    if loop.skip:
        raise _Cut  # the others begin at their own start
    sources = tuple(loop.env.source(other) for other in (given["other"], *given["rest"]))
    types = (structure(loop.element), *(source.type for source in sources))
    loop.add(Stage("zip", site.text, site.span, None, sources), types)


def _enumerate(loop: _Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    loop.needs_position()
    start = _integer("enumerate", given.get("start", 0))
    loop.add(Stage("enumerate", site.text, site.span, number=start), (INT, structure(loop.element)))


def _take(loop: _Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    count = _count("take", given["n"])
    loop.needs_position()
    loop.limit = count if loop.limit is None else min(loop.limit, count)


def _drop(loop: _Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    count = _count("drop", given["n"])
    loop.needs_position()
    if loop.fallible and count:
        raise _Cut  # Python evaluates the dropped elements too, and may raise there
    loop.skip += count
    loop.limit = None if loop.limit is None else max(0, loop.limit - count)
    # The loop counts from the first element it uses; an enumerate that came before, from the source's first.
    loop.stages = [
        replace(stage, number=stage.number + count) if stage.kind == "enumerate" else stage
        for stage in loop.stages
    ]


def _integer(name: str, value: object) -> int:
    try:
        return operator.index(cast(Any, value))
    except TypeError:
        raise NotCompilable(f"`{name}` is given {value!r}, which is no integer") from None


def _count(name: str, value: object) -> int:
    count = _integer(name, value)
    if count < 0:
        raise NotCompilable(f"`{name}` is given a negative number")
    return count


def _tap(loop: _Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    raise NotCompilable("`tap` looks at the elements: observation prevents optimisation")


def _sink(loop: _Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """Every sink without arguments."""
    for name in given.keys() - {"rest"}:
        raise NotCompilable(f"`{site.name}` with `{name}` is left to Python")
    if isinstance(loop.element, tuple) and site.name not in ("count", "to_list"):
        raise NotCompilable(f"`{site.name}` of tuples is left to Python")
    loop.sink = Sink(site.name, site.text, site.span)


def _reduce(loop: _Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    function = given["f"]
    ordered = f"`{name_of(function)}` depends on the order of the elements, as far as can be seen"
    if loop.element is not leaf("param", INT, 0):
        raise NotCompilable(f"reduce runs in parallel over ints alone: {ordered}")
    if "init" in given and type(given["init"]) is not int:
        raise NotCompilable("reduce runs in parallel from an int alone")
    pair = (leaf("param", INT, 0), leaf("param", INT, 1))
    fn = lower(function, pair, loop.env, pair)
    kind = _ASSOCIATIVE.get(fn.result) if isinstance(fn.result, Expr) and not fn.effects else None
    if kind is None:
        raise NotCompilable(ordered)
    loop.sink = Sink(f"reduce_{kind}", site.text, site.span)
    loop.initial = (given["init"],) if "init" in given else ()


def _associative() -> dict[Expr, str]:
    """Graphs over two ints of operators that do not depend on order."""
    x, y = leaf("param", INT, 0), leaf("param", INT, 1)
    graphs: dict[Expr, str] = {}
    for p, q in ((x, y), (y, x)):
        graphs |= {make(op, p, q): op for op in ("add", "mul", "and", "or", "xor", "min", "max")}
        for less, greater in (("lt", "gt"), ("le", "ge")):
            for smaller in (
                make("select", make(less, p, q), p, q),
                make("select", make(greater, p, q), q, p),
            ):
                graphs[smaller] = "min"
            for larger in (make("select", make(greater, p, q), p, q), make("select", make(less, p, q), q, p)):
                graphs[larger] = "max"
    return graphs


_ASSOCIATIVE = _associative()

_RULES: dict[str, _Rule] = {
    "map": _map,
    "filter": _filter,
    "zip": _zip,
    "enumerate": _enumerate,
    "take": _take,
    "drop": _drop,
    "tap": _tap,
    "reduce": _reduce,
}
"""How a stage joins a loop; sinks without arguments need no rule of their own."""
