"""The oracle: laziness, order, exactness, reductions."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.ir.expr import const, leaf, make
from hastega_magic.ir.fused import Effect, Fused, Output
from hastega_magic.ir.interpreter import element_values, evaluate, first_beyond, run_fused
from hastega_magic.ir.pipeline import Sink, Source
from hastega_magic.ir.reduction import block_prods, block_sums, tree_prod, tree_sum
from hastega_magic.types import BOOL, FLOAT, FLOAT32, INT

X, F, S = leaf("load", INT, 0), leaf("load", FLOAT, 0), leaf("load", FLOAT32, 0)
EVEN = make("eq", make("mod", X, const(2)), const(0))


def loop(*outputs, effects=(), type_=INT):
    source = Source("x", "list", type_, None)
    made = [Output(name, Sink(kind), value, mask) for name, kind, value, mask in outputs]
    return Fused((source,), (), tuple(made), tuple(effects))


def run(kind, value, mask, column, type_=INT):
    return run_fused(loop(("out", kind, value, mask), type_=type_), [column])["out"]


def logistic(x, p=6700417):
    return make("mod", make("mul", make("mul", const(22), x), make("add", x, const(1))), const(p))


def test_logistic_map():
    assert run("array", logistic(X, 61), None, [1]) == [44]
    steps = X
    for _ in range(10):
        steps = logistic(steps)
    assert run("array", steps, None, [1, 2, 3, 4, 5]) == [5756693, 3714507, 3456095, 6578590, 2830244]
    assert run("array", steps, None, [2**25]) == [1916457]
    small = X
    for _ in range(10):
        small = logistic(small, 61)
    assert run("to_list", small, None, [1, 2, 3]) == [28, 25, 37]


def test_a_branch_not_taken_is_not_evaluated():
    inverse = make("floordiv", const(10), X)
    guarded = make("select", make("eq", X, const(0)), const(0), inverse)
    assert run("array", guarded, None, [0, 5]) == [0, 2]
    values = evaluate([guarded], lambda node: 0)
    assert inverse not in values
    with pytest.raises(ZeroDivisionError):
        run("array", inverse, None, [5, 0])


def test_masked_elements_are_not_evaluated():
    inverse = make("floordiv", const(10), X)
    assert run("sum", inverse, make("ne", X, const(0)), [0, 5, 0, 2]) == 7


def test_effects_come_first_and_only_under_their_mask():
    inverse = make("floordiv", const(1), X)
    fused = loop(("out", "array", const(0), None), effects=[Effect(inverse, EVEN)])
    assert run_fused(fused, [[1, 2, 3]]) == {"out": [0, 0, 0]}
    with pytest.raises(ZeroDivisionError):
        run_fused(fused, [[1, 0]])


def test_any_and_all_stop_where_python_does():
    inverse = make("eq", make("floordiv", const(1), X), const(1))
    assert run("any", inverse, None, [5, 1, 0]) is True
    assert run("all", inverse, None, [1, 5, 0]) is False
    with pytest.raises(ZeroDivisionError):
        run("any", inverse, None, [5, 0, 1])


def test_tables_and_lengths():
    table, length = leaf("table", INT, 0), leaf("length", INT, 0)
    index = make("select", make("lt", X, const(0)), make("add", X, length), X)
    fused = loop(("out", "array", make("gather", table, index), None))
    assert run_fused(fused, [[0, -1, 2]], [[5, 6, 7]]) == {"out": [5, 7, 7]}
    for bad in (3, -4):
        with pytest.raises(IndexError):
            run_fused(fused, [[bad]], [[5, 6, 7]])


def test_tuples_and_element_numbers():
    fused = loop(("out", "array", (leaf("index", INT), (X, EVEN)), EVEN))
    assert run_fused(fused, [[4, 5, 6]]) == {"out": [(0, (4, True)), (2, (6, True))]}


def test_scalars_have_pythons_types():
    assert type(run("array", make("add", S, S), None, [np.float32(0.1)], FLOAT32)[0]) is np.float32
    assert type(run("array", make("truediv", X, const(2)), None, [1])[0]) is float
    assert run("array", make("lt", X, const(3)), None, [1, 5]) == [True, False]
    assert run("array", make("add", leaf("load", BOOL, 0), const(1)), None, [True], BOOL) == [2]


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_integer_reductions_are_pythons(values):
    for kind, python in [("sum", sum), ("prod", math.prod), ("count", len), ("any", any), ("all", all)]:
        assert run(kind, X, None, values) == python(values)
    for kind, python in [
        ("min", min),
        ("max", max),
        ("reduce_min", min),
        ("reduce_add", sum),
        ("reduce_mul", math.prod),
    ]:
        if values:
            assert run(kind, X, None, values) == python(values)
    if values:
        assert run("mean", X, None, values) == sum(values) / len(values)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("min", ValueError),
        ("max", ValueError),
        ("mean", statistics.StatisticsError),
        ("reduce_add", TypeError),
    ],
)
def test_empty_reductions_raise_as_python(kind, error):
    with pytest.raises(error):
        run(kind, X, None, [])
    with pytest.raises(error):
        run(kind, F, make("lt", F, const(0.0)), [1.0], FLOAT)


def test_empty_sums_are_ints():
    assert type(run("sum", F, None, [], FLOAT)) is int
    assert run("prod", F, make("lt", F, const(0.0)), [1.0], FLOAT) == 1


def by_hand(values):
    """The tree of the notes, in plain Python."""

    def fold(items):
        lanes = [-0.0] * 64
        for place, item in enumerate(items):
            lanes[place % 64] += item
        width = 32
        while width:
            lanes = [lanes[lane] + lanes[lane + width] for lane in range(width)]
            width //= 2
        return lanes[0]

    return 0 + fold([fold(values[start : start + 4096]) for start in range(0, len(values), 4096)])


@pytest.mark.parametrize("count", [1, 63, 64, 65, 4095, 4096, 4097, 12345, 4096 * 70])
def test_float_sums_follow_the_tree(count):
    values = np.random.default_rng(count).normal(size=count) * 10.0 ** np.random.default_rng(1).integers(
        -8, 8, count
    )
    assert tree_sum(block_sums(values)) == by_hand(values.tolist())


def test_masked_elements_keep_their_place_in_the_tree():
    values = np.random.default_rng(3).normal(size=9000).tolist()
    positive = make("gt", F, const(0.0))
    expected = by_hand([value if value > 0 else -0.0 for value in values])
    assert run("sum", F, positive, values, FLOAT) == expected
    assert run("mean", F, positive, values, FLOAT) == expected / sum(value > 0 for value in values)


def test_sums_have_no_negative_zero_and_keep_float32():
    assert math.copysign(1, run("sum", F, None, [-0.0, -0.0], FLOAT)) == 1
    values = np.random.default_rng(4).normal(size=5000).astype(np.float32)
    total = run("sum", S, None, list(values), FLOAT32)
    assert type(total) is np.float32
    assert total == tree_sum(block_sums(values))
    assert block_sums(values).dtype == np.float32


def test_products():
    values = np.random.default_rng(5).uniform(0.999, 1.001, 9000)
    assert run("prod", F, None, values.tolist(), FLOAT) == tree_prod(block_prods(values))
    assert tree_prod(block_prods(values)) == pytest.approx(math.prod(values.tolist()), rel=1e-12)
    assert tree_prod(block_prods(np.array([]))) == 1.0
    assert tree_sum(block_sums(np.array([]))) == 0.0


def test_reductions_do_not_warn_of_what_ieee_defines():
    assert math.isnan(tree_sum(block_sums(np.array([math.inf, -math.inf]))))
    assert run("sum", F, None, [1e308, 1e308], FLOAT) == math.inf


def test_first_beyond():
    def beyond(root, value):
        return first_beyond([root], {X: value}.__getitem__)

    square = make("mul", X, X)
    rest = make("mod", make("add", square, const(1)), const(7))
    assert beyond(rest, 2**31) is None
    assert beyond(rest, 2**32) == 2**64
    masked = make("select", make("lt", X, const(100)), square, X)
    assert beyond(masked, 2**32) is None
    assert beyond(X, 2**63) is None  # it is given, not computed
    with pytest.raises(ZeroDivisionError):
        beyond(make("floordiv", square, make("sub", X, X)), 2**32)


def test_deep_graphs():
    node = X
    for _ in range(20_000):
        node = make("select", make("lt", node, const(0)), X, make("add", node, const(1)))
    assert run("array", node, None, [1]) == [20_001]


def test_the_nodes_of_one_element_and_what_it_raises():
    load = leaf("load", INT, 0)
    inverse = make("floordiv", const(6), load)
    kept = make("gt", load, const(-5))
    fused = Fused((), (), (Output("y", Sink("array"), inverse, kept),))
    values, error = element_values(fused, [3])
    assert error is None
    assert values == {load: 3, const(-5): -5, kept: True, const(6): 6, inverse: 2}
    values, error = element_values(fused, [0])
    assert isinstance(error, ZeroDivisionError)
    assert kept in values
    assert inverse not in values
    values, error = element_values(fused, [-9])
    assert error is None
    assert inverse not in values
