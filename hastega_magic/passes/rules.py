"""Rewrite rules as data: a name, the kinds of values it holds for, a pattern and a replacement.

Patterns are Python expressions: names that begin with c stand for constants, other names for any node. A rule never
makes code slower, and holds for every value of its kinds, NaN and signed zeros included. `x + 0 → x` is absent for
floats (-0.0 + 0 is 0.0).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import field
from typing import Any

from hastega_magic.ir.expr import Expr, const, make
from hastega_magic.records import dataclass
from hastega_magic.types import BOOL, FLOAT, FLOAT32, FLOAT64, INT, ScalarType

INTS = frozenset({INT})
FLOATS = frozenset({FLOAT, FLOAT64, FLOAT32})
BOOLS = frozenset({BOOL})


@dataclass(frozen=True)
class Rule:
    """`when` is asked with the constants' values. `drops`: an operand vanishes, so it must not raise."""

    name: str
    kinds: frozenset[ScalarType]
    pattern: str
    replacement: str
    when: Callable[..., bool] | None = None
    drops: bool = False
    tree: ast.expr = field(init=False, compare=False)
    result: ast.expr = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Parse both sides once."""
        object.__setattr__(self, "tree", ast.parse(self.pattern, mode="eval").body)
        object.__setattr__(self, "result", ast.parse(self.replacement, mode="eval").body)

    @property
    def head(self) -> str:
        """The operator at the pattern's root."""
        return operator_name(self.tree)


def _power_of_two(c: int) -> bool:
    return c > 0 and c & (c - 1) == 0


CONSTANT_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "low_bits": lambda c: c - 1,
    "log2": lambda c: c.bit_length() - 1,
    "reciprocal": lambda c: 1.0 / c,
}


def _exact_reciprocal(c: float) -> bool:
    """Whether 1 / c is exact, as a float32 too."""
    return 1e-38 < abs(c) < 1e38 and (abs(c).hex().startswith("0x1.0000000000000p"))


RULES = (
    Rule("add-zero", INTS, "x + 0", "x"),
    Rule("sub-zero", INTS, "x - 0", "x"),
    Rule("sub-self", INTS, "x - x", "0", drops=True),
    Rule("mul-one", INTS, "x * 1", "x"),
    Rule("mul-zero", INTS, "x * 0", "0", drops=True),
    Rule("mul-minus-one", INTS, "x * -1", "-x"),
    Rule("neg-neg", INTS | FLOATS, "-(-x)", "x"),
    Rule("invert-invert", INTS, "~(~x)", "x"),
    Rule("and-zero", INTS, "x & 0", "0", drops=True),
    Rule("and-self", INTS | BOOLS, "x & x", "x"),
    Rule("or-zero", INTS, "x | 0", "x"),
    Rule("or-self", INTS | BOOLS, "x | x", "x"),
    Rule("xor-zero", INTS, "x ^ 0", "x"),
    Rule("shl-zero", INTS, "x << 0", "x"),
    Rule("shr-zero", INTS, "x >> 0", "x"),
    Rule("div-one", INTS, "x // 1", "x"),
    Rule("mod-one", INTS, "x % 1", "0", drops=True),
    Rule("mod-power-of-two", INTS, "x % c", "x & low_bits(c)", when=_power_of_two),
    Rule("div-power-of-two", INTS, "x // c", "x >> log2(c)", when=_power_of_two),
    Rule("float-mul-one", FLOATS, "x * 1.0", "x"),
    Rule("float-div-one", FLOATS, "x / 1.0", "x"),
    Rule("float-sub-zero", FLOATS, "x - 0.0", "x"),
    Rule("float-div-power-of-two", FLOATS, "x / c", "x * reciprocal(c)", when=_exact_reciprocal),
    Rule("not-not", BOOLS, "not (not x)", "x"),
    Rule("and-true", BOOLS, "x & True", "x"),
    Rule("and-false", BOOLS, "x & False", "False", drops=True),
    Rule("or-false", BOOLS, "x | False", "x"),
    Rule("or-true", BOOLS, "x | True", "True", drops=True),
    Rule("select-true", INTS | FLOATS | BOOLS, "x if True else y", "x"),
    Rule("select-false", INTS | FLOATS | BOOLS, "x if False else y", "y"),
    Rule("select-same", INTS | FLOATS | BOOLS, "x if y else x", "x", drops=True),
    Rule("select-not", INTS | FLOATS | BOOLS, "x if not y else z", "z if y else x"),
    Rule("select-itself", BOOLS, "True if x else False", "x"),
    Rule("select-negated", BOOLS, "False if x else True", "not x"),
)

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "shr",
    ast.USub: "neg", ast.Invert: "invert", ast.Not: "not",
}  # fmt: skip


def operator_name(tree: ast.expr) -> str:
    """The operator of a pattern's root node; "" for names and constants."""
    match tree:
        case ast.BinOp(op=op) | ast.UnaryOp(op=op):
            return _OPERATORS[type(op)]
        case ast.IfExp():
            return "select"
        case _:
            return ""


def operands(tree: ast.expr) -> list[ast.expr]:
    """The operands of a pattern's node in the order of the graph."""
    match tree:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return [test, body, orelse]
        case _:
            return []


def match(tree: ast.expr, node: Expr, found: dict[str, Expr]) -> bool:
    """Whether the node has the pattern's form; fills `found` with what the names stand for."""
    literal = _literal(tree)
    if literal is not None:
        return node.op == "const" and type(node.value) is type(literal) and repr(node.value) == repr(literal)
    if isinstance(tree, ast.Name):
        if tree.id.startswith("c") and node.op != "const":
            return False
        return found.setdefault(tree.id, node) is node
    parts = operands(tree)
    return node.op == operator_name(tree) and all(
        match(part, arg, found) for part, arg in zip(parts, node.args, strict=True)
    )


def instantiate(tree: ast.expr, found: dict[str, Expr], like: Expr) -> Expr:
    """The replacement with its names filled in; literals take the type of `like`."""
    literal = _literal(tree)
    if literal is not None:
        return const(literal, like.type)
    match tree:
        case ast.Name(id=name):
            return found[name]
        case ast.Call(func=ast.Name(id=function), args=[ast.Name(id=name)]):
            return const(CONSTANT_FUNCTIONS[function](found[name].value), found[name].type)
        case _:
            return make(operator_name(tree), *(instantiate(part, found, like) for part in operands(tree)))


def _literal(tree: ast.expr) -> bool | int | float | None:
    match tree:
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case _:
            return None
