"""Level 2, Fused: one loop over its sources; Futhark's screma plus a mask (Henriksen et al., PLDI 2017).

Filters have become conjuncts of masks, and results stand side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from hastega_magic.errors import Span
from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, Value, flatten, postorder
from hastega_magic.ir.origins import Origins
from hastega_magic.ir.pipeline import ELEMENT_SINKS, Sink, Source, Table
from hastega_magic.records import cached_property, dataclass
from hastega_magic.types import INT


@dataclass(frozen=True)
class Output:
    """One result of the loop: the element's value, the mask under which it takes part, and its sink.

    `init`: the load of the starting value, where the sink has one. `given`: captured numbers that its function or its
    factor reads, as leaves, and their loads. With `weights` the value is a tuple of parts, and the element is the sum
    of the parts times their weights: of sums, which add up part by part, and of extremes, whose parts are two words of
    64 bits.
    """

    name: str
    sink: Sink
    value: Value
    mask: Expr | None = None
    init: Value | None = None
    given: tuple[tuple[Expr, Expr], ...] = ()
    weights: tuple[int, ...] = ()


def slots_of(output: Output) -> int:
    """How many arrays an output stores into, of elements or what a function makes of them; zero for reductions."""
    fn = output.sink.fn
    made = 0 if fn is None else len(flatten(fn.result))
    return max(len(flatten(output.value)), made) if output.sink.kind in ELEMENT_SINKS else 0


def is_product(output: Output) -> bool:
    """Whether the output is a product of ints, which may need any number of bits."""
    return output.sink.kind in ("prod", "reduce_mul") and not flatten(output.value)[0].type.is_float


@dataclass(frozen=True)
class Effect:
    """A node that must be evaluated, under a condition, for what it may raise."""

    node: Expr
    mask: Expr | None


@dataclass(frozen=True)
class Fused:
    """A loop whose i-th step takes element i of every source.

    `ranges` holds the proved interval of every integer node; `spans` the places in the cell that a node
    comes from; `origins` the nodes of the written form that it computes (ir/origins.py).
    """

    sources: tuple[Source, ...]
    tables: tuple[Table, ...]
    outputs: tuple[Output, ...]
    effects: tuple[Effect, ...] = ()
    ranges: Mapping[Expr, Interval] = field(default_factory=dict[Expr, Interval], compare=False)
    spans: Mapping[Expr, tuple[Span, ...]] = field(
        default_factory=dict[Expr, tuple[Span, ...]], compare=False
    )
    origins: Origins = field(default_factory=dict[Expr, tuple[Expr, ...]], compare=False)

    @cached_property
    def computes_integers(self) -> bool:
        """Whether a node of it computes Python's ints from other values."""
        return any(node.type is INT and node.args for node in postorder(self.roots()))

    def roots(self) -> Iterator[Expr]:
        """Every node that the loop needs the value of."""
        for output in self.outputs:
            if output.mask is not None:
                yield output.mask
            yield from flatten(output.value)
        for effect in self.effects:
            if effect.mask is not None:
                yield effect.mask
            yield effect.node
