"""Every rewrite rule holds for every value of its kinds; so does simplification as a whole."""

from __future__ import annotations

import ast
import math

import battery
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.interval import TOP
from hastega_magic.ir.expr import const, leaf, postorder
from hastega_magic.ir.interpreter import evaluate
from hastega_magic.passes.rules import RULES, instantiate, operands
from hastega_magic.passes.simplify import simplify
from hastega_magic.types import BOOL, FLOAT, FLOAT32, FLOAT64, INT

VALUES = {
    INT: battery.python_ints, BOOL: st.booleans(), FLOAT: battery.floats, FLOAT64: battery.floats,
    FLOAT32: st.floats(width=32).map(np.float32),
}  # fmt: skip
CONSTANTS = {
    INT: st.one_of(st.integers(0, 62).map(lambda n: 1 << n), battery.ints),
    BOOL: st.booleans(),
    FLOAT: st.one_of(st.integers(-900, 900).map(lambda n: 2.0**n), battery.floats),
    FLOAT64: st.one_of(st.integers(-900, 900).map(lambda n: 2.0**n), battery.floats),
    FLOAT32: st.one_of(st.integers(-120, 120).map(lambda n: np.float32(2.0**n)), VALUES[FLOAT32]),
}
CASES = [(rule, kind) for rule in RULES for kind in sorted(rule.kinds, key=lambda kind: kind.value)]


def variables(rule) -> list[str]:
    names = {node.id for tree in (rule.tree,) for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return sorted(names)


def conditions(tree: ast.expr, kind, found: dict) -> dict:
    """The kind of each name: what a conditional expression tests is a bool."""
    if isinstance(tree, ast.Name):
        found.setdefault(tree.id, kind)
    for place, part in enumerate(operands(tree)):
        tested = isinstance(tree, ast.IfExp) and place == 0
        conditions(
            part,
            BOOL if tested or (isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not)) else kind,
            found,
        )
    return found


@pytest.mark.parametrize(("rule", "kind"), CASES, ids=[f"{rule.name}-{kind.value}" for rule, kind in CASES])
def test_a_rule_holds(rule, kind):
    kinds = conditions(rule.tree, kind, {})

    @battery.examples(60)
    @given(st.data())
    def holds(data):
        found, values = {}, {}
        for slot, name in enumerate(variables(rule)):
            if name.startswith("c"):
                found[name] = const(data.draw(CONSTANTS[kinds[name]]), kinds[name])
            else:
                found[name] = leaf("param", kinds[name], slot)
                values[found[name]] = data.draw(VALUES[kinds[name]])
        constants = [node.value for node in found.values() if node.op == "const"]
        if rule.when is not None and not rule.when(*constants):
            return
        before = instantiate(rule.tree, found, leaf("param", kind, 9))
        after = instantiate(rule.result, found, before)
        assert after.type is before.type
        left, right = (evaluate([node], values.__getitem__)[node] for node in (before, after))
        assert battery.same(left, right), (values, constants, left, right)

    holds()


def graphs(kind):
    """Graphs over two variables, of operators that rules look at."""
    from hastega_magic.ir.expr import make

    x, y = leaf("param", kind, 0), leaf("param", kind, 1)
    literals = (0, 1, -1, 2, 8) if kind is INT else (0.0, -0.0, 1.0, 2.0, -1.0)
    names = ("add", "sub", "mul", "mod", "floordiv") + (("and", "or", "xor") if kind is INT else ("truediv",))

    def grow(term):
        return st.one_of(
            st.builds(make, st.sampled_from(names), term, term),
            st.builds(make, st.sampled_from(("neg", "abs")), term),
            st.builds(
                lambda c, a, b, z: make("select", make(c, a, b), z, a),
                st.sampled_from(("lt", "eq", "ge")),
                term,
                term,
                term,
            ),
        )

    return st.recursive(
        st.one_of(st.just(x), st.just(y), st.sampled_from(literals).map(lambda v: const(v, kind))),
        grow,
        max_leaves=8,
    )


@pytest.mark.parametrize("kind", [INT, FLOAT])
def test_simplification_keeps_value_and_exception(kind):
    @battery.examples(250)
    @given(graphs(kind), st.one_of(VALUES[kind], st.just(type(const(1, kind).value)(0))), VALUES[kind])
    def keeps(root, x, y):
        values = {leaf("param", kind, 0): x, leaf("param", kind, 1): y}
        after = simplify([root], lambda node: TOP)[root]
        assert battery.same(outcome(root, values), outcome(after, values))

    def outcome(node, values):
        try:
            return evaluate([node], values.__getitem__)[node]
        except ArithmeticError as error:
            return type(error).__name__

    keeps()


def test_what_floats_forbid_is_not_there():
    x = leaf("param", FLOAT, 0)
    for value, name in ((0.0, "add"), (-0.0, "sub"), (0.0, "mul")):
        from hastega_magic.ir.expr import make

        node = make(name, x, const(value))
        assert simplify([node], lambda each: TOP)[node] is node
    assert math.copysign(1, -0.0 + 0.0) == 1


def test_simplified_graphs_are_no_larger():
    @battery.examples(100)
    @given(graphs(INT))
    def smaller(root):
        after = simplify([root], lambda node: TOP)[root]
        assert len(list(postorder([after]))) <= len(list(postorder([root]))) + 1

    smaller()
