"""Residues in float64: the lowered graph, interpreted, against Python's `%`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.interval import Interval
from hastega_magic.ir.expr import const, leaf, make, postorder
from hastega_magic.ir.interpreter import evaluate
from hastega_magic.passes.builder import GraphBuilder
from hastega_magic.passes.infer import Leaves, inference
from hastega_magic.passes.residue_float import SignedFloats
from hastega_magic.types import INT

X = leaf("load", INT, 0)


def lowering(root, low, high):
    leaves = Leaves((Interval(low, high),))
    builder = GraphBuilder(leaves, inference([root], leaves).ranges)
    return SignedFloats(builder, lambda node: node, lambda node, found: None).lower(root)


def value(node, x):
    return evaluate([node], lambda _: x)[node]


def chain(x, p, k, steps):
    for _ in range(steps):
        x = make("mod", make("mul", make("mul", const(k), x), make("add", x, const(1))), const(p))
    return x


@given(
    p=st.integers(3, 1 << 27),
    k=st.integers(-40, 40),
    steps=st.integers(1, 4),
    bound=st.sampled_from([1, 100, 1 << 20, (1 << 26) - 1]),
    data=st.data(),
)
def test_chains_of_residues(p, k, steps, bound, data):
    root = chain(X, p, k, steps)
    found = lowering(root, -bound, bound)
    if found is None:
        return
    corners = [x for x in (-bound, -1, 0, 1, p - 1, p, bound) if -bound <= x <= bound]
    for x in [*corners, *data.draw(st.lists(st.integers(-bound, bound), max_size=20))]:
        assert value(found, x) == value(root, x), (x, p, k, steps)


@given(p=st.integers(3, 1 << 50), data=st.data())
def test_multiples_and_their_neighbours(p, data):
    root = make("mod", X, const(p))
    found = lowering(root, -(1 << 52), 1 << 52)
    if found is None:
        return
    for q in data.draw(st.lists(st.integers(-(1 << 52) // p, (1 << 52) // p), max_size=20)):
        for x in (q * p - 1, q * p, q * p + 1, q * p + p // 2, q * p + (p + 1) // 2):
            if abs(x) <= 1 << 52:
                assert value(found, x) == x % p, (x, p)


def test_the_logistic_map_takes_five_operations_a_step():
    steps = [len(list(postorder([lowering(chain(X, 6_700_417, 22, n), 0, 1 << 25)]))) for n in (3, 4)]
    assert steps[1] - steps[0] == 5


@pytest.mark.parametrize(
    ("root", "low", "high"),
    [
        (make("mod", make("mul", X, X), const(7)), 0, 1 << 40),  # x * x may leave int64: --int wrap wraps it
        (make("mod", X, const(7)), 0, 1 << 60),  # no float64
        (make("mod", X, const(-7)), 0, 100),
        (make("mod", X, const(2)), 0, 100),
        (make("mod", X, X), 1, 100),
    ],
)
def test_what_it_leaves_alone(root, low, high):
    assert lowering(root, low, high) is None


def test_a_long_chain_does_not_exhaust_the_stack():
    root = chain(X, 97, 3, 1200)
    found = lowering(root, 0, 96)
    assert found is not None
    assert value(found, 5) == value(root, 5)
