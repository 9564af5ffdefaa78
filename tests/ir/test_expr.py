"""The scalar graph: interning, conversions, and graphs deeper than Python's stack."""

import math

import numpy as np
import pytest

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import (
    conjunction,
    const,
    convert,
    leaf,
    make,
    postorder,
    rewrite,
    substitute,
    truth,
)
from hastega_magic.types import BOOL, FLOAT, FLOAT32, FLOAT64, INT

X, F, S = leaf("load", INT, 0), leaf("load", FLOAT, 1), leaf("load", FLOAT32, 2)


def test_equal_nodes_are_one_node():
    assert make("add", X, const(1)) is make("add", X, const(1))
    assert const(1) is not const(1.0)
    assert const(True) is not const(1)
    assert const(0.0) is not const(-0.0)
    assert const(math.nan) is const(math.nan)
    assert const(0.1, FLOAT32) is not const(0.1)


def test_operands_are_converted_as_python_does():
    assert make("add", X, F).args[0].op == "int_to_float"
    assert make("truediv", X, const(2)).args[0].op == "exact_float"
    assert make("lt", X, F).args[0].op == "exact_float"
    assert make("add", leaf("load", BOOL, 3), const(1)).args[0].op == "bool_to_int"
    assert make("mul", S, F).type is FLOAT32
    assert make("mul", S, const(0.1)).args[1].value == float(np.float32(0.1))
    assert make("mul", S, leaf("load", FLOAT64, 4)).type is FLOAT64


def test_conditions_are_truth_values():
    assert convert(X, BOOL) is make("ne", X, const(0))
    assert truth(F).op == "truth"
    assert make("not", X).args[0].op == "ne"


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: make("shl", F, const(1)), "integers"),
        (lambda: make("and", F, X), "integers"),
        (lambda: make("wrapping_add", F, X), "integer is needed"),
        (lambda: make("lt", F, const(2**53 + 1)), "not a float64 value"),
        (lambda: make("add", F, const(10**400)), "too large"),
        (lambda: const("a"), "not a number"),
        (lambda: make("select", leaf("load", BOOL, 3), X, F), "int for some elements"),
    ],
)
def test_what_has_no_compiled_form_says_so(build, words):
    with pytest.raises(NotCompilable, match=words):
        build()


def test_deep_graphs():
    node = X
    for _ in range(20_000):
        node = make("add", make("mul", node, node), X)
    assert len(list(postorder([node]))) == 40_001
    assert len(node.digest) == 16
    assert len(repr(node)) < 1000
    assert rewrite([node], lambda each: each)[node] is node


def test_digests_tell_structures_apart():
    a, b = make("sub", X, const(1)), make("sub", const(1), X)
    assert a.digest != b.digest
    assert a.digest == make("sub", X, const(1)).digest


def test_substitution_reaches_every_leaf():
    twice = make("add", X, X)
    assert substitute((twice, (X,)), {X: const(3)}) == (make("add", const(3), const(3)), (const(3),))


def test_conjunctions():
    a, b = make("lt", X, const(1)), make("lt", X, const(2))
    assert conjunction([None, None]) is None
    assert conjunction([None, a, None]) is a
    assert conjunction([a, b]) is make("and", a, b)
