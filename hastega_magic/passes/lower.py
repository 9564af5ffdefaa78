"""Lowering: operators that the target cannot spell become smaller ones, chosen by value ranges.

%3 = mod %2, 7        %2 in [0, 10^6]         %3 = float_to_int fma(-rint(%2 · (1/7)), 7, %2), made
non-negative
select(a, b, False)                           and a, b              (after guards, evaluating b harms nobody)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, const, is_const, make, postorder, rebuild
from hastega_magic.ir.target import Target
from hastega_magic.ops import OPS
from hastega_magic.ops.row import Op
from hastega_magic.passes.builder import GraphBuilder
from hastega_magic.passes.infer import Leaves
from hastega_magic.passes.modular import SMALL, ModularLowering, split_constant
from hastega_magic.passes.residue_float import FloatResidues
from hastega_magic.passes.simplify import simplify_node
from hastega_magic.types import BOOL, INT

_INT32 = Interval(-(1 << 31), (1 << 31) - 1)
_LEAVES = frozenset({"const", "load", "index", "table", "length", "param"})


@dataclass(frozen=True)
class Lowered:
    """The lowered form of the roots, the ranges of all nodes in it, and pairs of a node and one that stands for it."""

    nodes: Mapping[Expr, Expr]
    ranges: Mapping[Expr, Interval]
    images: Sequence[tuple[Expr, Expr]] = ()


def operand_class(node: Expr) -> str:
    """Which spelling of a row applies: by the first operand, or for select the second."""
    kind = (node.args[1] if node.op == "select" else node.args[0]).type
    return "float" if kind.is_float else kind.value


def lower(
    roots: Sequence[Expr],
    leaves: Leaves,
    ranges: Mapping[Expr, Interval],
    target: Target,
    width: int | None = None,
) -> Lowered:
    """Every node below the roots in terms of operators that the target spells; `width`: lanes, if forced."""
    lowering = _Lowering(GraphBuilder(leaves, ranges), target, width)
    for root in roots:
        lowering.lowered(root)
    return Lowered(lowering.new, lowering.builder.ranges, [*lowering.new.items(), *lowering.parts])


class _Lowering:
    def __init__(self, builder: GraphBuilder, target: Target, width: int | None) -> None:
        self.builder = builder
        self.new: dict[Expr, Expr] = {}
        self.parts: list[tuple[Expr, Expr]] = []
        self._target = target
        registers = (width or 8) in (2, 4, 8)  # the instruction has these sizes alone
        self._ifma = registers and target.has("avx512ifma", "avx512vl") and target.vector_bits == 512
        form = ModularLowering if self._ifma else FloatResidues
        self._residues = form(builder, self.lowered, lambda node, part: self.parts.append((node, part)))

    def lowered(self, root: Expr) -> Expr:
        """The lowered form; operands first, without recursion on deep graphs."""
        pending: list[tuple[Expr, bool]] = [(root, False)]
        while pending:
            node, ready = pending.pop()
            if node in self.new:
                continue
            if not ready and not self._by_residues(node):
                reduced = self._reduced_twice(node) if node.op == "mod" else None
                if reduced is not None:
                    self._note(node, self.lowered(reduced))
                    continue
                pending.append((node, True))
                pending.extend((arg, False) for arg in node.args)
            elif node not in self.new:
                self._lower_node(node)
        return self.new[root]

    def _by_residues(self, node: Expr) -> bool:
        """Whether the modular lowering took the node, which then never needs its operands' canonical values."""
        if node.op != "mod" or node.type is not INT:
            return False
        found = self._residues.lower(node)
        if found is not None:
            self._note(node, found)
        return found is not None

    def _reduced_twice(self, node: Expr) -> Expr | None:
        """K · x % p as k · (x % p) % p, where x and k · p are below 2^52 and k · x is not."""
        dividend, divisor = node.args
        modulus = divisor.value
        if not is_const(divisor) or not isinstance(modulus, int) or modulus <= 0 or node.type is not INT:
            return None
        factor, rest = split_constant(dividend)
        small = self.builder.range_of(dividend).at_most(SMALL - 1)
        if rest is None or rest is dividend or small or not self.builder.range_of(rest).at_most(SMALL - 1):
            return None
        if (factor % modulus) * modulus >= SMALL:
            return None
        return make("mod", make("mul", const(factor % modulus), make("mod", rest, divisor)), divisor)

    def _lower_node(self, node: Expr) -> None:
        if node.op in _LEAVES:
            self.new[node] = node
            return
        current = rebuild(node, tuple(self.new[arg] for arg in node.args))
        row = OPS[current.op]
        if current.op == "mul" and current.type is INT:
            current = self._short_product(_shift_for_power(current))
        elif current.op == "select" and current.type is BOOL:
            current = _logic(current)
        elif current.op != "gather" and operand_class(current) not in self._spellings(row):
            assert row.expand is not None, f"{row.name} has neither a spelling nor an expansion"
            self._note(node, self._again(row.expand(self.builder, current.args)))
            return
        self._note(node, current)

    def _short_product(self, node: Expr) -> Expr:
        """A product of 32-bit factors, marked as such by sign extension: one instruction where 64 bits take three."""
        wide = [arg for arg in node.args if not self.builder.range_of(arg).within(_INT32)]
        if node.op != "mul" or wide or self._target.spelling != "llvm" or any(map(is_const, node.args)):
            return node
        bits = const(32)
        return make("mul", *(make("ashr", make("wrapping_shl", arg, bits), bits) for arg in node.args))

    def _spellings(self, row: Op) -> Mapping[str, str]:
        return row.opencl if self._target.spelling == "opencl" else row.llvm

    def _again(self, expansion: Expr) -> Expr:
        """Simplify what a row expanded to, and lower it in turn."""
        simple: dict[Expr, Expr] = {}
        for node in postorder([expansion]):
            if self.new.get(node) is node:
                simple[node] = node
                continue
            rebuilt = rebuild(node, tuple(simple[arg] for arg in node.args))
            simple[node] = simplify_node(rebuilt, self.builder.range_of, {})
        return self.lowered(simple[expansion])

    def _note(self, node: Expr, found: Expr) -> None:
        self.new[node] = found
        self.new.setdefault(found, found)
        if node.type in (INT, BOOL):
            self.builder.ranges.setdefault(found, self.builder.range_of(node))


def _shift_for_power(node: Expr) -> Expr:
    for factor, other in (node.args, node.args[::-1]):
        value = factor.value
        if is_const(factor) and isinstance(value, int) and value > 0 and value & (value - 1) == 0:
            return make("wrapping_shl", other, const(value.bit_length() - 1))
    return node


def _logic(node: Expr) -> Expr:
    condition, yes, no = node.args
    if is_const(no, False):
        return make("and", condition, yes)
    if is_const(yes, True):
        return make("or", condition, no)
    return node
