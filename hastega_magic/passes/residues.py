"""Modulo by a constant as a lazy residue: what its forms (modular.py, residue_float.py) have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from hastega_magic.ir.expr import Expr, is_const, make, postorder
from hastega_magic.passes.builder import GraphBuilder
from hastega_magic.records import dataclass
from hastega_magic.types import INT


@dataclass(frozen=True)
class Residue:
    """A node for integers that are congruent to those of the node it stands for, of magnitude at most `most`."""

    node: Expr
    most: int


class Residues(ABC):
    """Lowers `mod` by a constant; `lowered` gives the plain lowering of any node."""

    moduli_below: ClassVar[int]
    """The method is for moduli from 3 on and below this one."""

    def __init__(
        self, builder: GraphBuilder, lowered: Callable[[Expr], Expr], note: Callable[[Expr, Expr], None]
    ) -> None:
        """Keep what is known of ranges, how other nodes are lowered, and who is told which node stands for which."""
        self._builder = builder
        self._lowered = lowered
        self._note = note
        self._lazy: dict[Expr, Residue | None] = {}
        self._met: set[Expr] = set()

    def lower(self, node: Expr) -> Expr | None:
        """The canonical remainder of a `mod` node; None where the method does not apply."""
        for each in postorder([node], self._met):  # innermost first: chains may be longer than Python's stack
            self._met.add(each)
            self._reduce(each)
        residue = self._reduce(node)
        return None if residue is None else self._canonical(residue.node, _modulus(node))

    def _reduce(self, node: Expr) -> Residue | None:
        """Node = dividend % p as a residue."""
        if not 2 < (modulus := _modulus(node)) < self.moduli_below:
            return None
        if node not in self._lazy:
            self._lazy[node] = found = self._divided(node.args[0], modulus)
            if found is not None:
                self._note(node, found.node)
        return self._lazy[node]

    @abstractmethod
    def _divided(self, dividend: Expr, modulus: int) -> Residue | None:
        """The residue of dividend % p."""

    @abstractmethod
    def _canonical(self, residue: Expr, modulus: int) -> Expr:
        """The remainder that Python gives, of a residue."""


def _modulus(node: Expr) -> int:
    """The constant that the node is a remainder by; 0 for other nodes."""
    if node.op != "mod" or node.type is not INT or not is_const(node.args[1]):
        return 0
    value = node.args[1].value
    return value if isinstance(value, int) else 0


def is_regrouped(rest: Expr, dividend: Expr) -> bool:
    """Whether the rest of a product is one that was not written: x · (x + 1) of k · x · (x + 1)."""
    return rest.op == "mul" and rest is not dividend and rest not in dividend.args


def scalings(node: Expr) -> list[Expr]:
    """The products with a constant that `split_constant` takes apart."""
    if node.op != "mul":
        return []
    own = [node] if any(map(is_const, node.args)) else []
    return own + [each for part in node.args for each in scalings(part)]


def split_constant(node: Expr) -> tuple[int, Expr | None]:
    """Node = constant · rest, looking through products."""
    if node.op == "const" and isinstance(node.value, int):
        return node.value, None
    if node.op != "mul":
        return 1, node
    factor, rest = 1, None
    for part in node.args:
        own, remaining = split_constant(part)
        factor *= own
        if remaining is not None:
            rest = remaining if rest is None else make("mul", rest, remaining)
    return factor, rest
