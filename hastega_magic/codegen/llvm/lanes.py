"""What lanes hold where a loop's lanes are refilled, and how elements get there that are no neighbours."""

from __future__ import annotations

from dataclasses import field

from hastega_magic.codegen.llvm.body import Address, Body, memory_type
from hastega_magic.codegen.llvm.frame import Frame
from hastega_magic.codegen.llvm.text import element_type, mangled
from hastega_magic.codegen.llvm.turns import Plan
from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.ir.kernel import nodes_of
from hastega_magic.ir.loop import iteration, needed, operands, settled, uniform
from hastega_magic.records import dataclass
from hastega_magic.types import Storage

Key = str | int | Expr
"""Of what lanes hold: "live"; "element", its number (beyond the end: none); "began", how often it had been asked by
then whether lanes are idle; a part of the state; a leaf for what comes from outside; a node needed after the loop."""
Lanes = dict[Key, list[str]]
"""What lanes hold, by vector in flight."""


@dataclass
class Picking(Body):
    """A body for elements that are no neighbours: `elements` are their numbers, those under `masks` from `first` on."""

    together = False
    elements: list[str] = field(default_factory=list[str])
    first: list[str] = field(default_factory=list[str])

    def element_numbers(self, number: int) -> str:
        """Positions of the elements in a vector."""
        return self.elements[number]

    def dense(self, address: Address, storage: Storage, number: int, asks: bool = True) -> str:
        """The next elements of an array, each in the next lane under the mask."""
        element = memory_type(storage)
        w, vector = self.writer, self.vector(element)
        place = w.let(f"getelementptr {element}, ptr {address.base}, i64 {self.first[number]}")
        return w.let(
            f"call {vector} @llvm.masked.expandload.{mangled(element, self.lanes)}(ptr {place}, "
            f"{self.vector('i1')} {self.mask_of(number)}, {vector} zeroinitializer)"
        )

    def of_range(self, address: Address, number: int) -> str:
        """Elements of a range."""
        assert address.stride is not None
        w, i64 = self.writer, self.vector("i64")
        steps = w.let(f"mul {i64} {self.elements[number]}, {self.splatted('i64', address.stride)}")
        return w.let(f"add {i64} {steps}, {self.splatted('i64', address.base)}")


class Parts:
    """Which nodes of the kernel are computed when, and what lanes hold between.

    steady   one value for all elements of a block
    outer    leaves of the loop's body with the nodes that they stand for, unless these are steady
    beside   nodes that do not depend on the loop and are needed after it
    """

    def __init__(self, frame: Frame) -> None:
        """The parts of the frame's kernel."""
        kernel = frame.kernel
        nodes = list(postorder(kernel.roots()))
        (self.node,) = (node for node in nodes if node.op == "turns")
        self.loop = iteration(self.node)
        self.starts, self.outside = operands(self.node)
        used = frame.used.get(self.node, frozenset[int]())
        self.kept = sorted(needed(self.loop, used) - {0})
        same = uniform(self.loop, self.starts, range(len(self.starts)))
        self.plan = Plan(self.loop, used, same, settled(self.node))
        self.operations = sum(bool(node.args) for node in nodes)
        steady: dict[Expr, None] = {}
        self.behind = {self.node}
        for node in nodes:
            if any(arg in self.behind for arg in node.args):
                self.behind.add(node)
            elif node.op == "load":
                assert isinstance(node.value, int)
                if kernel.sources[node.value].layout == "scalar":
                    steady[node] = None
            elif node.op not in ("index", "gather") and all(arg in steady for arg in node.args):
                steady[node] = None
        self.steady = list(steady)
        self.outer = {
            leaf: node for leaf, node in zip(self.loop.outer, self.outside, strict=True) if node not in steady
        }
        read = [arg for node in nodes if node in self.behind and node is not self.node for arg in node.args]
        made = [store.value for store in frame.layout.stores]
        for fold in frame.layout.folds:
            made += nodes_of(fold)
        read += made
        self.beside = [node for node in dict.fromkeys(read) if node not in self.behind and node not in steady]
        guards = [guard.condition for guard in frame.guards]
        self.before = [
            *(self.starts[number] for number in (0, *self.kept)),
            *self.outer.values(),
            *self.beside,
            *(condition for condition in guards if condition not in self.behind),
            *(each.load for each in frame.assumes),
        ]
        self.after = [*(condition for condition in guards if condition in self.behind), *made]

    def held(self) -> dict[Key, str]:
        """What lanes hold, with its type."""
        return {
            "live": "i1",
            "element": "i64",
            "began": "i64",
            **{number: element_type(self.loop.state[number].type) for number in self.kept},
            **{leaf: element_type(leaf.type) for leaf in self.outer},
            **{node: element_type(node.type) for node in self.beside},
        }
