"""Simplification: constants folded, comparisons decided by ranges, and the rules of rules.py, until nothing changes.

(x + 0) * 8 % 4 == 9         x: int [0, 10]
False                        because x · 8 & 3 lies in [0, 3]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hastega_magic.errors import NotCompilable
from hastega_magic.interval import Interval, less
from hastega_magic.ir.expr import Expr, const, is_const, postorder, python_of, rebuild
from hastega_magic.ir.loop import changed, everything, iteration
from hastega_magic.ops import OPS
from hastega_magic.passes.rules import RULES, Rule, instantiate, match
from hastega_magic.types import BOOL, INT

_BY_HEAD: dict[str, list[Rule]] = {}
for _rule in RULES:
    _BY_HEAD.setdefault(_rule.head, []).append(_rule)


def simplify(roots: Sequence[Expr], range_of: Callable[[Expr], Interval]) -> dict[Expr, Expr]:
    """Maps every node below the roots to its simplified form."""
    new: dict[Expr, Expr] = {}
    raising: dict[Expr, bool] = {}
    for node in everything(roots):
        args = tuple(new[arg] for arg in node.args)
        new[node] = simplify_node(changed(node, args, new), range_of, raising)
    return new


def simplify_node(node: Expr, range_of: Callable[[Expr], Interval], raising: dict[Expr, bool]) -> Expr:
    """One node over operands that are simplified already."""
    for _ in range(64):
        if node.op not in OPS:  # what a loop gives
            return node
        better = _fold(node) or _decide(node, range_of, raising) or _apply_rules(node, raising)
        if better is None or better is node:
            return node
        node = better
    return node


def may_raise(node: Expr, memo: dict[Expr, bool]) -> bool:
    """Whether evaluating the node can raise in Python."""
    if node in memo:
        return memo[node]
    for each in postorder([node], memo):
        if each not in memo:
            own = each.op == "gather" or (each.op in OPS and OPS[each.op].trouble is not None)
            own = own and not _harmless(each)
            own = own or (each.op == "turns" and any(may_raise(n, memo) for n in iteration(each).roots()))
            memo[each] = own or any(memo[arg] for arg in each.args)
    return memo[node]


def _harmless(node: Expr) -> bool:
    """Whether a constant right operand rules out what the operator may raise."""
    right = node.args[-1]
    if not is_const(right) or right.type is not INT or not isinstance(right.value, int):
        return False
    return (
        right.value >= 0 if node.op in ("shl", "shr") else node.op in ("mod", "floordiv") and right.value != 0
    )


def _fold(node: Expr) -> Expr | None:
    if not node.args or any(arg.op != "const" for arg in node.args):
        return None
    value = python_of(node)
    if value is None:
        return None  # it raises when, and only when, the element is evaluated
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 4096:
        return None
    try:
        return const(value, node.type)
    except (NotCompilable, OverflowError):
        return None


def _decide(node: Expr, range_of: Callable[[Expr], Interval], raising: dict[Expr, bool]) -> Expr | None:
    """A comparison of integers whose ranges leave only one answer."""
    if node.op not in ("eq", "ne", "lt", "le", "gt", "ge") or any(arg.type is not INT for arg in node.args):
        return None
    left, right = (range_of(arg) for arg in node.args)
    if not (left.bounded and right.bounded):
        return None
    answer = _answer(node.op, left, right)
    if answer is None or any(may_raise(arg, raising) for arg in node.args):
        return None
    return const(answer, BOOL)


def _answer(op: str, left: Interval, right: Interval) -> bool | None:
    """What the comparison gives for any two numbers of the ranges; None where that depends on them."""
    match op:
        case "eq" | "ne":
            apart = less(left, right) or less(right, left)
            return op == "ne" if apart else None
        case "lt" | "ge":
            found = less(left, right)
        case _:
            found = less(right, left)
    return found if found is None or op in ("lt", "gt") else not found


def _apply_rules(node: Expr, raising: dict[Expr, bool]) -> Expr | None:
    traits = OPS[node.op].traits if node.op in OPS else frozenset[str]()
    orders = [node.args]
    if "commutative" in traits and len(node.args) == 2 and node.args[0] is not node.args[1]:
        orders.append((node.args[1], node.args[0]))
    for rule in _BY_HEAD.get(node.op, ()):
        if node.type not in rule.kinds:
            continue
        for args in orders:
            found: dict[str, Expr] = {}
            if not match(rule.tree, rebuild(node, args), found):
                continue
            constants = [value.value for name, value in found.items() if name.startswith("c")]
            if rule.when is not None and not rule.when(*constants):
                continue
            if rule.drops and any(may_raise(kept, raising) for kept in found.values()):
                continue
            return instantiate(rule.result, found, node)
    return None
