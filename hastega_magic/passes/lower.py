"""Lowering: operators that the target cannot spell become smaller ones, chosen by value ranges.

%3 = mod %2, 7        %2 in [0, 10^6]         %3 = float_to_int fma(-rint(%2 · (1/7)), 7, %2), made non-negative
select(a, b, False)                           and a, b              (after guards, evaluating b harms nobody)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, conjunction, const, is_const, make, node_of, postorder, rebuild
from hastega_magic.ir.kernel import Assume
from hastega_magic.ir.loop import Iteration, Leaving, changed, everything, iteration, truths
from hastega_magic.ir.target import Target
from hastega_magic.ops import OPS
from hastega_magic.ops.row import Op
from hastega_magic.passes.builder import GraphBuilder
from hastega_magic.passes.gates import failing
from hastega_magic.passes.infer import Leaves
from hastega_magic.passes.modular import SMALL, MultiplyAdd
from hastega_magic.passes.quotients import divided_by, multiplies
from hastega_magic.passes.residue_float import SignedFloats
from hastega_magic.passes.residues import split_constant
from hastega_magic.passes.simplify import simplify_node
from hastega_magic.records import dataclass
from hastega_magic.types import BOOL, INT

_INT32 = Interval(-(1 << 31), (1 << 31) - 1)
_PRODUCTS = frozenset({"mul", "wrapping_mul"})
_LEAVES = frozenset({"const", "load", "index", "table", "length", "param", "carry", "outer"})


@dataclass(frozen=True)
class Lowered:
    """The lowered form of the roots, the ranges of all nodes in it, and pairs of a node and one that stands for it."""

    nodes: Mapping[Expr, Expr]
    ranges: Mapping[Expr, Interval]
    images: Sequence[tuple[Expr, Expr]] = ()


def within(node: Expr, interval: Interval) -> Expr:
    """Whether an int64 value lies in the interval."""
    assert interval.lo is not None
    assert interval.hi is not None
    return make("and", make("ge", node, const(interval.lo)), make("le", node, const(interval.hi)))


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
    troubles: Mapping[str, Leaving] | None = None,
    assumes: Sequence[Assume] = (),
    guards: Sequence[Expr] = (),
    serial: bool = False,
) -> Lowered:
    """Every node below the roots in terms of operators that the target spells; `width`: lanes, if forced.

    `troubles`: for loops, by tag, when a turn needs Python. Elements of which `assumes` do not hold, or that one of the
    conditions `guards` leaves to Python, make no turns, as theirs might never end. `serial`: one element waits for what
    the one before gives.
    """
    # The instructions that have no spelling for other vectors come in these sizes alone.
    wide = (width or 8) in (2, 4, 8) and target.has("avx512f", "avx512vl") and target.vector_bits == 512
    lowering = _Lowering(GraphBuilder(leaves, ranges, wide, serial), target, wide, troubles or {})
    loops = frozenset(node for node in postorder(roots) if node.op == "turns")
    lowering.multiplies = multiplies(target) and not loops and not serial
    if assumes:
        lowering.entered = loops
        lowering.gate = conjunction(within(each.load, each.interval) for each in assumes)
    lowering.failed.update(failing(roots, guards))
    for root in roots:
        lowering.lowered(root)
    return Lowered(lowering.new, lowering.builder.ranges, [*lowering.new.items(), *lowering.parts])


class _Lowering:
    def __init__(
        self, builder: GraphBuilder, target: Target, wide: bool, troubles: Mapping[str, Leaving]
    ) -> None:
        self.builder = builder
        self._troubles = troubles
        self.entered: frozenset[Expr] = frozenset()
        self.gate: Expr | None = None
        self.failed: dict[Expr, Expr] = {}
        self.multiplies = False
        self.new: dict[Expr, Expr] = {}
        self.parts: list[tuple[Expr, Expr]] = []
        self._target = target
        self._ifma = wide and target.has("avx512ifma")
        form = MultiplyAdd if self._ifma else SignedFloats
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
                if node.op == "turns":
                    body = self._body(node)
                    pending.extend((root, False) for root in body.roots())
                    if body.trouble is not None:
                        self.failed.update(failing(list(body.roots()), [body.trouble]))
            elif node not in self.new:
                self._lower_node(node)
        return self.new[root]

    def _by_residues(self, node: Expr) -> bool:
        """Whether the modular lowering took the node, which then never needs its operands' canonical values."""
        if node.op != "mod" or node.type is not INT or self.builder.serial:
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
        if self.builder.serial:
            return None
        factor, rest = split_constant(dividend)
        small = self.builder.range_of(dividend).at_most(SMALL - 1)
        if rest is None or rest is dividend or small or not self.builder.range_of(rest).at_most(SMALL - 1):
            return None
        if (factor % modulus) * modulus >= SMALL:
            return None
        return make("mod", make("mul", const(factor % modulus), make("mod", rest, divisor)), divisor)

    def _body(self, loop: Expr) -> Iteration:
        """The loop's body with what is to be left to Python; what it evaluates for nothing else is dropped."""
        body = iteration(loop)
        left = self._troubles.get(body.tag, Leaving())
        return replace(body, effects=(), trouble=left.trouble, rare=left.rare)

    def _lowered_body(self, loop: Expr) -> Iteration:
        """The body over lowered nodes, without the cases that its own condition rules out."""
        written = self._body(loop)
        body = written.over(self.new)
        known = truths(body)
        new: dict[Expr, Expr] = {}
        for node in everything(body.roots()):
            if node in known:
                new[node] = const(known[node])
            else:
                rebuilt = changed(node, tuple(new[arg] for arg in node.args), new)
                if rebuilt.op == "mul" and rebuilt.type is INT:
                    rebuilt = _shifts_for_bits(rebuilt)
                again = rebuilt is not node and rebuilt.op == "select" and is_const(rebuilt.args[0])
                new[node] = simplify_node(rebuilt, self.builder.range_of, {}) if again else rebuilt
                if node in self.builder.ranges:
                    self.builder.ranges.setdefault(new[node], self.builder.ranges[node])
        for node in everything(written.roots()):
            if (
                found := self.new.get(node)
            ) in new:  # residues leave out what their lowered form does not need
                self.parts.append((node, new[found]))
        return body.over(new)

    def _lower_node(self, node: Expr) -> None:
        if node.op in _LEAVES:
            self.new[node] = node
            return
        if node.op in ("turns", "result"):
            args = tuple(self.new[arg] for arg in node.args)
            value = self._lowered_body(node) if node.op == "turns" else node.value
            if self.gate is not None and node in self.entered:
                args = (make("and", args[0], self.lowered(self.gate)), *args[1:])
            if node in self.failed:
                args = (make("and", args[0], self.lowered(make("not", self.failed[node]))), *args[1:])
            self._note(node, node_of(node.op, args, node.type, value))
            return
        current = rebuild(node, tuple(self.new[arg] for arg in node.args))
        row = OPS[current.op]
        if current.op in _PRODUCTS and current.type is INT:
            current = self._short_product(_shift_for_power(current))
        elif current.op == "select" and current.type is BOOL:
            current = _logic(current)
        elif current.op != "gather" and operand_class(current) not in self._spellings(row):
            assert row.expand is not None, f"{row.name} has neither a spelling nor an expansion"
            self._note(node, self._again(row.expand(self.builder, current.args)))
            return
        self._note(node, divided_by(current) if self.multiplies else current)

    def _short_product(self, node: Expr) -> Expr:
        """A product of 32-bit factors, marked as such by sign extension: one instruction where 64 bits take three."""
        wide = [arg for arg in node.args if not self.builder.range_of(arg).within(_INT32)]
        if (
            node.op not in _PRODUCTS
            or wide
            or self._target.spelling != "llvm"
            or self.builder.serial
            or any(map(is_const, node.args))
        ):
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
    found = _constant_factor(node)
    if found is not None and found[0] & (found[0] - 1) == 0:
        return _shifted(found[1], found[0])
    return node


def _shifts_for_bits(node: Expr) -> Expr:
    """Two shifts where a constant has two bits, or is next to such: vectors multiply 64 bits in three steps."""
    found = _constant_factor(node)
    if found is None:
        return node
    factor, other = found
    low = factor & -factor
    if (factor - low) & (factor - low - 1) == 0:
        return make("wrapping_add", _shifted(other, factor - low), _shifted(other, low))
    if (factor + low) & (factor + low - 1) == 0:
        return make("wrapping_sub", _shifted(other, factor + low), _shifted(other, low))
    return node


def _constant_factor(node: Expr) -> tuple[int, Expr] | None:
    for factor, other in (node.args, node.args[::-1]):
        if is_const(factor) and isinstance(factor.value, int) and factor.value > 0:
            return factor.value, other
    return None


def _shifted(node: Expr, power: int) -> Expr:
    return node if power == 1 else make("wrapping_shl", node, const(power.bit_length() - 1))


def _logic(node: Expr) -> Expr:
    condition, yes, no = node.args
    if is_const(no, False):
        return make("and", condition, yes)
    if is_const(yes, True):
        return make("or", condition, no)
    return node
