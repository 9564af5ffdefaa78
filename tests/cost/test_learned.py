import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.cost.learned import LOOPS, Learned


def test_one_size_corrects_the_level_and_two_the_slope():
    learned = Learned()
    learned.note("loop", "simd", 1024, 1e-5, 2e-5)
    assert learned.factor("loop", "simd", 1024) == pytest.approx(2)
    assert learned.factor("loop", "simd", 10**8) == pytest.approx(2)
    assert learned.fitted("loop", "simd") is None
    learned.note("loop", "simd", 1 << 20, 1e-3, 8e-3)
    assert learned.factor("loop", "simd", 1 << 20) == pytest.approx(8)
    assert learned.factor("loop", "simd", 1 << 15) == pytest.approx(4), "half way between them"
    assert learned.factor("loop", "simd", 10) == pytest.approx(2)
    fitted = learned.fitted("loop", "simd")
    assert fitted.at(1024) == pytest.approx(2e-5, rel=0.01)
    assert fitted.at(1 << 20) == pytest.approx(8e-3, rel=0.01)


def test_the_median_of_runs_counts():
    learned = Learned()
    for measured in (1.0, 1.1, 300.0, 0.9, 1.0):
        learned.note("loop", "python", 100, 1.0, measured)
    assert learned.factor("loop", "python", 100) == pytest.approx(1.0)
    for _ in range(5):
        learned.note("loop", "python", 100, 1.0, 3.0)
    assert learned.factor("loop", "python", 100) == pytest.approx(3.0), "what it takes now"


def test_loops_that_never_ran_follow_their_back_end_slowly():
    learned = Learned()
    for number in range(400):
        learned.note(f"loop {number}", "parallel", 1000, 1.0, 1.5)
    assert learned.factor("another", "parallel", 50) == pytest.approx(1.5, rel=0.02)
    assert learned.factor("another", "python", 50) == 1.0
    assert learned.factor("loop 7", "simd", 1000) == pytest.approx(1.5), "the same code, on one thread"
    for number in range(2000):
        learned.note(f"far {number}", "parallel", 1000, 1.0, 50.0)
    assert learned.factor("another", "parallel", 50) <= 2.0 + 1e-9
    assert len(learned.loops) == LOOPS


@pytest.mark.parametrize(
    ("n", "predicted", "measured"),
    [(0, 1.0, 1.0), (10, 0.0, 1.0), (10, 1.0, 0.0), (10, 1.0, -5.0), (10, 1.0, math.inf), (10, 1.0, math.nan),
     (10, 1.0, 1e9), (10, 1.0, 1e-9)],
)  # fmt: skip
def test_a_clock_that_jumps_teaches_nothing(n, predicted, measured):
    learned = Learned()
    learned.note("loop", "simd", n, predicted, measured)
    assert learned == Learned()


runs = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from(["simd", "python"]), st.integers(1, 10**9), st.floats(1e-6, 10),
        st.floats(1e-6, 10),
    ),
    max_size=20,
)  # fmt: skip


@given(runs, runs, st.integers(0, 10**9))
def test_stored_and_merged_it_says_the_same(mine, theirs, n):
    one, other = Learned(), Learned()
    for learned, noted in ((one, mine), (other, theirs)):
        for each in noted:
            learned.note(*each)
    again = Learned.from_dict(json.loads(json.dumps(one.to_dict(), allow_nan=False)))
    both = one.merged(other)
    for loop in "abc":
        for backend in ("simd", "python"):
            factor = one.factor(loop, backend, n)
            assert 0.9e-4 <= factor <= 1.1e4
            assert again.factor(loop, backend, n) == pytest.approx(factor)
            if backend in one.loops.get(loop, {}):
                assert both.factor(loop, backend, n) == pytest.approx(factor)
            elif backend in other.loops.get(loop, {}):
                assert both.factor(loop, backend, n) == pytest.approx(other.factor(loop, backend, n))


@pytest.mark.parametrize(
    "data",
    [None, [], 3, {"factors": 3, "loops": []}, {"factors": {"simd": "x"}, "loops": {"a": {"simd": [[1], "x", None]}}},
     {"factors": {"simd": 99.0}, "loops": {"a": {"simd": [[0, 1.0, 1.0], [5, -1.0, 1.0], [5, 1.0, True]]}}}],
)  # fmt: skip
def test_what_cannot_be_read_is_dropped(data):
    assert Learned.from_dict(data) == Learned()
