"""The loop as NumPy calls, against the interpreter."""

import math
import statistics
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.ir.expr import const, leaf, make
from hastega_magic.ir.fused import Fused, Output
from hastega_magic.ir.interpreter import run_fused
from hastega_magic.ir.pipeline import Sink, Source, Table
from hastega_magic.runtime.numpy import NoNumpyForm, run_fused_numpy
from hastega_magic.runtime.python import elements
from hastega_magic.types import FLOAT, FLOAT32, INT, STORAGES

X, F, S = leaf("load", INT, 0), leaf("load", FLOAT, 1), leaf("load", FLOAT32, 2)
INDEX = leaf("index", INT)
SOURCES = (
    Source("x", "array", INT, None, STORAGES["int64"]),
    Source("f", "array", FLOAT, None, STORAGES["float64"]),
    Source("s", "array", FLOAT32, None, STORAGES["float32"]),
)
EVEN = make("eq", make("mod", X, const(2)), const(0))
BOTH = make(
    "select", make("ne", X, const(0)), make("gt", make("floordiv", const(100), X), const(3)), const(False)
)


def loop(*outputs):
    made = [
        Output(f"out{number}", Sink(kind), value, mask) for number, (kind, value, mask) in enumerate(outputs)
    ]
    return Fused(SOURCES, (Table("t", STORAGES["int64"]),), tuple(made))


VALUES = [
    (make("add", make("mul", X, const(3)), const(1)), EVEN),
    (make("floordiv", const(100), X), BOTH),
    (make("min", X, make("max", const(3), INDEX)), None),
    (make("truediv", X, const(2)), EVEN),
    (make("select", EVEN, F, make("neg", F)), None),
    (make("mul", S, const(0.1)), make("gt", S, const(0.0))),
    (make("int", F), None),
    (EVEN, BOTH),
    (const(7), EVEN),
    (make("shl", make("abs", X), const(2)), None),
    (make("gather", leaf("table", INT, 0), make("mod", X, const(3))), BOTH),
    (X, make("select", BOTH, EVEN, const(False))),
    (X, make("lt", const(1), const(2))),
]


@given(
    rows=st.lists(
        st.tuples(st.integers(-1000, 1000), st.floats(-1000, 1000), st.floats(-1000, 1000, width=32)),
        max_size=30,
    )
)
@pytest.mark.parametrize(("value", "mask"), VALUES)
def test_the_same_as_the_interpreter(value, mask, rows, same):
    columns = [
        np.array([row[place] for row in rows], dtype) for place, dtype in enumerate(("i8", "f8", "f4"))
    ]
    table = np.array([5, -6, 7])
    kinds = ["array", "to_list", "count", "any", "all", *(["sum", "min", "max", "mean"] if rows else [])]
    for kind in kinds:
        fused = loop((kind, value, mask))
        lists = [list(elements(column)) for column in columns]
        try:
            expected = run_fused(fused, lists, [table.tolist()])["out0"]
        except (ValueError, statistics.StatisticsError):
            continue
        found = run_fused_numpy(fused, columns, [table])[0]
        if kind == "array":
            assert isinstance(found, np.ndarray)
            found = list(elements(found))
        if kind in ("sum", "mean") and value.type.is_float:
            assert found == pytest.approx(expected, rel=1e-5, abs=1e-3)
        else:
            assert same(found, expected)


def test_tuples_are_structured():
    fused = loop(("array", (X, (F, EVEN)), EVEN), ("to_list", (INDEX, S), None))
    found = run_fused_numpy(fused, [np.arange(3), np.arange(3.0), np.ones(3, "f4")])
    assert found[0].tolist() == [(0, (0.0, True)), (2, (2.0, True))]
    assert found[1] == [(0, 1.0), (1, 1.0), (2, 1.0)]


def test_results_are_the_callers_own():
    column = np.arange(5)
    found = run_fused_numpy(
        loop(("array", X, None), ("array", X, None), ("array", EVEN, None), ("array", EVEN, None)),
        [column] * 3,
    )
    arrays = [column, *found]
    assert not any(np.shares_memory(a, b) for place, a in enumerate(arrays) for b in arrays[:place])


def test_a_reduction_and_the_elements_side_by_side():
    square = make("mul", X, X)
    fused = loop(
        ("array", square, None), ("sum", square, EVEN), ("reduce_xor", square, None), ("prod", EVEN, None)
    )
    found = run_fused_numpy(fused, [np.arange(6), np.zeros(6), np.zeros(6, "f4")])
    assert found[0].tolist() == [0, 1, 4, 9, 16, 25]
    assert (found[1], found[2], found[3]) == (20, 0 ^ 1 ^ 4 ^ 9 ^ 16 ^ 25, 0)


def test_int64_wraps_as_numpy_does():
    found = run_fused_numpy(loop(("array", make("mul", X, X), None)), [np.array([2**33])] * 3)
    assert found[0].tolist() == [0]


def test_small_and_swapped_storage():
    fused = loop(("array", make("mul", X, X), None), ("sum", F, None))
    found = run_fused_numpy(fused, [np.array([200, 100], ">u2")[::-1], np.array([True, True]), np.zeros(2)])
    assert found[0].tolist() == [10000, 40000]
    assert found[0].dtype == np.int64
    assert found[1] == 2.0


@pytest.mark.parametrize("value", [make("mul_hi", X, X), make("leading_zeros", X), const(2**70)])
def test_what_numpy_has_no_call_for(value):
    with pytest.raises(NoNumpyForm):
        run_fused_numpy(loop(("array", value, None)), [np.arange(3)] * 3)


def test_empty_reductions():
    none = [np.array([], dtype) for dtype in ("i8", "f8", "f4")]
    found = run_fused_numpy(
        loop(("sum", F, None), ("prod", F, None), ("count", X, None), ("array", EVEN, None)), none
    )
    assert (found[0], found[1], found[2], found[3].dtype) == (0, 1, 0, np.dtype(bool))
    for kind, error in (("min", ValueError), ("mean", statistics.StatisticsError)):
        with pytest.raises(error):
            run_fused_numpy(loop((kind, X, None)), none)


def test_temporaries_are_freed_when_last_used():
    value = X
    for number in range(1, 30):
        value = make("add", make("mul", value, const(3)), const(number))
    count = 200_000
    columns = [np.arange(count)] * 3
    tracemalloc.start()
    run_fused_numpy(loop(("sum", value, None)), columns)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 8 * count


def test_float_warnings_are_ignored():
    found = run_fused_numpy(loop(("array", make("fdiv", F, const(0.0)), None)), [np.arange(2)] * 3)
    assert math.isnan(found[0][0])
    assert found[0][1] == math.inf
