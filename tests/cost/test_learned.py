import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.cost.learned import LOOPS, Learned, _Size


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


def test_another_thread_may_learn_meanwhile(monkeypatch):
    learned, ratio = Learned(), _Size.ratio
    for power in (10, 20):
        learned.note("loop", "simd", 1 << power, 1e-5, 2e-5)

    def noting(self, phase="run"):
        monkeypatch.setattr(_Size, "ratio", ratio)
        learned.note("loop", "simd", 1 << 15, 1e-5, 2e-5)
        return ratio(self, phase)

    monkeypatch.setattr(_Size, "ratio", noting)
    assert learned.factors_at("loop", "simd", [1 << 12]) == [pytest.approx(2)]
    assert sorted(learned.loops["loop"]["simd"]) == [10, 15, 20]


def test_the_median_of_runs_counts():
    learned = Learned()
    for measured in (1.0, 1.1, 300.0, 0.9, 1.0):
        learned.note("loop", "python", 100, 1.0, measured)
    assert learned.factor("loop", "python", 100) == pytest.approx(1.0)
    for _ in range(5):
        learned.note("loop", "python", 100, 1.0, 3.0)
    assert learned.factor("loop", "python", 100) == pytest.approx(3.0), "what it takes now"


def test_loops_that_never_ran_follow_what_others_of_their_size_took():
    learned = Learned()
    learned.note("loop 0", "parallel", 1000, 1.0, 1.5)
    assert learned.factor("another", "parallel", 1000) == pytest.approx(1.5 ** (2 / 3), rel=0.01), (
        "one loop is in doubt"
    )
    for number in range(400):
        learned.note(f"loop {number}", "parallel", 1000, 1.0, 1.5)
    assert learned.factor("another", "parallel", 1000) == pytest.approx(1.5, rel=0.08)
    assert 1.1 < learned.factor("another", "parallel", 50) < 1.4, "less of what is further off"
    assert learned.factor("another", "parallel", 10**8) == pytest.approx(1.0, rel=0.01)
    assert learned.factor("another", "python", 1000) == 1.0
    assert learned.factor("another", "simd", 1000) == pytest.approx(1.5, rel=0.08), "the same code"
    assert learned.factor("loop 7", "simd", 1000) == pytest.approx(1.5), "and the same loop, on one thread"
    for number in range(400):
        learned.note(f"again {number}", "parallel", 1000, 1.0, 0.9)
    assert learned.factor("another", "parallel", 1000) == pytest.approx(0.9, rel=0.03), "the host has changed"
    for number in range(2000):
        learned.note(f"far {number}", "parallel", 1000, 1.0, 50.0)
    assert 2.0 < learned.factor("another", "parallel", 1000) <= 3.0 + 1e-9
    assert len(learned.loops) == LOOPS


def test_a_loop_counts_once_however_often_it_runs():
    learned = Learned()
    learned.note("steady", "simd", 1000, 1.0, 1.0)
    for measured in (2.0, 2.2, 300.0, 1.9, 2.0, 2.1, 2.0) * 20:
        learned.note("often", "simd", 1000, 1.0, measured)
    assert learned.factor("often", "simd", 1000) == pytest.approx(2.0)
    assert learned.factor("another", "simd", 1000) == pytest.approx(2.0**0.4, rel=0.03), "two, and doubt"
    for _ in range(5):
        learned.note("often", "simd", 1000, 1.0, 1.0)
    assert learned.factor("another", "simd", 1000) == pytest.approx(1.0), "what it said before is gone"


def test_one_thread_and_all_keep_their_order_where_a_loop_never_ran():
    learned = Learned()
    for number in range(20):
        learned.note(f"loop {number}", "simd", 1 << 20, 1.0, 0.7, (1.0, 0.7))
        learned.note(f"loop {number}", "parallel", 1 << 20, 1.0, 1.4, (1.0, 1.4))
    one, several = (learned.factor("another", name, 1 << 20) for name in ("simd", "parallel"))
    assert one == pytest.approx(several)
    assert one == pytest.approx((0.7 * 1.4) ** 0.5, rel=0.01)
    assert learned.factor("another", "simd", 1 << 20, "kernel") < 0.8
    assert learned.factor("another", "parallel", 1 << 20, "kernel") > 1.2
    assert learned.factor("loop 3", "simd", 1 << 20) == pytest.approx(0.7), "what ran has its own"


def test_a_kernel_has_a_factor_of_its_own():
    learned = Learned()
    for number in range(20):
        learned.note(f"loop {number}", "simd", 1 << 20, 1.0, 1.5, (0.4, 0.2))
    assert learned.factor("loop 3", "simd", 1 << 20) == pytest.approx(1.5)
    assert learned.factor("loop 3", "simd", 1 << 20, "kernel") == pytest.approx(0.5)
    assert learned.factor("another", "simd", 1 << 20, "kernel") == pytest.approx(0.5, rel=0.16)
    assert learned.factor("another", "parallel", 1 << 20) == pytest.approx(1.5, rel=0.1)
    learned.note("no kernel", "python", 1000, 1.0, 1.25, (0.0, 1.0))
    assert learned.factor("no kernel", "python", 1000, "kernel") == pytest.approx(1.25), "that of the run"


def test_what_an_earlier_version_stored_is_read_as_far_as_it_goes():
    old = {
        "calibrated": "then",
        "factors": {"simd": 0.3},
        "loops": {"loop": {"simd": [[1024, 2e-5, 0.5, 0.7, 0.6]]}},
    }
    learned = Learned.from_dict(old, "then")
    assert learned.factor("loop", "simd", 1024) == pytest.approx(math.exp(0.6))
    assert learned.factor("another", "simd", 1024) == 1.0
    learned.note("loop", "simd", 1024, 1.0, 1.5)
    assert 1.0 < learned.factor("another", "simd", 1024) < 1.5
    assert learned.to_dict()["loops"]["loop"]["simd"][0][2][-1] == pytest.approx(math.log(1.5))


@pytest.mark.parametrize(
    ("n", "predicted", "measured"),
    [(0, 1.0, 1.0), (10, 0.0, 1.0), (10, 1.0, 0.0), (10, 1.0, -5.0), (10, 1.0, math.inf), (10, 1.0, math.nan),
     (10, 1e-5, 1e7), (10, 1.0, 1e-9)],
)  # fmt: skip
def test_a_clock_that_jumps_teaches_nothing(n, predicted, measured):
    learned = Learned()
    assert not learned.note("loop", "simd", n, predicted, measured)
    assert learned.factor("loop", "simd", n) == 1.0
    assert learned.to_dict() == Learned().to_dict()


@pytest.mark.parametrize("ratio", [1e5, 1e-6])
def test_what_is_far_off_is_believed_once_it_repeats(ratio):
    learned = Learned()
    assert not learned.note("loop", "simd", 1000, 1.0, ratio)
    assert not learned.note("loop", "simd", 1000, 1.0, ratio**1.5), "that far off, but elsewhere"
    assert not learned.note("loop", "simd", 1000, 1.0, ratio)
    assert learned.note("loop", "simd", 1000, 1.0, ratio * 1.2)
    assert learned.factor("loop", "simd", 1000) == pytest.approx(ratio * 1.1, rel=0.1)
    assert Learned.from_dict(learned.to_dict(), "").factor("loop", "simd", 1000) == pytest.approx(
        learned.factor("loop", "simd", 1000)
    )


def test_two_kernels_lose_nothing_and_keep_to_what_they_noted():
    disk = Learned(calibrated="then").to_dict()

    def read():
        return Learned.from_dict(json.loads(json.dumps(disk)), "then")

    def save(mine):
        nonlocal disk
        disk = mine.merged(read()).to_dict()
        mine.noted.clear()

    one = read()
    one.note("loop", "simd", 1 << 10, 1e-3, 2e-3)
    save(one)
    other = read()
    for power in range(11, 20):
        one.note("loop", "simd", 1 << power, 1e-3, 3e-3)
    for _ in range(2):
        one.note("loop", "simd", 1 << 10, 1e-3, 5e-3)
    save(one)
    other.note("another", "python", 1000, 1e-3, 1e-3)
    save(other)
    assert len(read().loops["loop"]["simd"]) == 10
    assert read().factor("loop", "simd", 1 << 10) == pytest.approx(5), (
        "what was read once is not written again"
    )
    other.note("loop", "simd", 1 << 10, 1e-3, 9e-3)
    save(other)
    ratios = read().loops["loop"]["simd"][10].ratios
    assert [round(math.exp(each)) for each in ratios] == [2, 5, 5, 9], "the runs of both"
    assert set(read().loops) == {"loop", "another"}
    assert not Learned.from_dict(disk, "now").loops, "of another calibration"


runs = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from(["simd", "python"]), st.integers(1, 10**9), st.floats(1e-6, 10),
        st.floats(1e-6, 10), st.tuples(st.floats(0, 10), st.floats(0, 10)),
    ),
    max_size=20,
)  # fmt: skip


@given(runs, runs, st.integers(0, 10**9))
def test_stored_and_merged_it_says_the_same(mine, theirs, n):
    one, other = Learned(), Learned()
    for learned, noted in ((one, mine), (other, theirs)):
        for each in noted:
            learned.note(*each)
    again = Learned.from_dict(json.loads(json.dumps(one.to_dict(), allow_nan=False)), "")
    both = one.merged(Learned.from_dict(other.to_dict(), ""))
    for loop in "abc":
        for backend in ("simd", "python"):
            factor = one.factor(loop, backend, n)
            assert 0.9e-7 <= factor <= 1.1e7
            assert again.factor(loop, backend, n) == pytest.approx(factor)
            kernel = one.factor(loop, backend, n, "kernel")
            assert 0.9e-7 <= kernel <= 1.1e7
            assert again.factor(loop, backend, n, "kernel") == pytest.approx(kernel)
            here, there = (each.loops.get(loop, {}).get(backend, {}) for each in (one, other))
            assert set(both.loops.get(loop, {}).get(backend, {})) == set(here) | set(there)
            if here and not there:
                assert both.factor(loop, backend, n) == pytest.approx(factor)
            if there and not here:
                assert both.factor(loop, backend, n) == pytest.approx(other.factor(loop, backend, n))


@pytest.mark.parametrize(
    "data",
    [None, [], 3, {"factors": 3, "loops": []}, {"factors": {"simd": "x"}, "loops": {"a": {"simd": [[1], "x", None]}}},
     {"factors": {"simd": 99.0}, "loops": {"a": {"simd": [[0, 1.0, 1.0], [5, -1.0, 1.0], [5, 1.0, True]]}}},
     {"loops": {"a": {"simd": [[1e308, 1.0, 1.0], [5, 1e308, 1.0], [5, 1.0, 1e308]]}}},
     {"loops": {"a": {"simd": [[5, 1.0, [], []], [5, 1.0, [1.0], [True]], [5, 1.0, ["x"], []], [5, 1.0, [1.0], 3]]}}},
     {"levels": {"simd": [[3, 0, 0.1, 0.1], [3, 1.5, 0.1, 0.1], [3, 4, 0.1, 0.1], [70, 1, 0.1, 0.1], [-1, 1, 0.1, 0.1],
                          [3, 1, 9.0, 0.1], [3, 1, 0.1], [3, 1, "x", 0.1], [3, True, 0.1, 0.1], None], "parallel": 3}},
     {"levels": [1]}],
)  # fmt: skip
def test_what_cannot_be_read_is_dropped(data):
    given = data | {"calibrated": ""} if isinstance(data, dict) else data
    assert Learned.from_dict(given, "") == Learned()
