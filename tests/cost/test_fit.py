import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.cost.fit import class_costs, line, nonnegative, team, usable
from hastega_magic.cost.overlap import overlapped

amounts = st.floats(1e-10, 1e-6)


@given(amounts, st.floats(0, 1e-3), st.lists(st.integers(1, 10**8), min_size=2, max_size=6, unique=True))
def test_a_line_without_noise_is_found_again(a, b, sizes):
    found = line([(n, a * n + b) for n in sizes])
    for n in sizes:
        assert math.isclose(found.at(n), a * n + b, rel_tol=1e-6)
    assert found.a >= 0
    assert found.b >= 0
    assert found.r2 > 0.999 or max(sizes) * a < 1e-6 * (b + a)


def test_a_line_is_never_negative_and_says_how_good_it_is():
    falling = line([(1, 5.0), (10, 3.0), (100, 1.0)])
    assert falling.a == 0
    assert falling.r2 < 0.1
    through_nothing = line([(10, 5.0), (100, 100.0)])
    assert through_nothing.b == 0
    with pytest.raises(ValueError, match="two"):
        line([(1, 1.0)])


matrices = st.integers(1, 8).flatmap(
    lambda k: st.lists(st.lists(st.floats(0, 10), min_size=k, max_size=k), min_size=1, max_size=12)
)


@given(matrices, st.randoms(use_true_random=False))
def test_no_other_nonnegative_answer_is_better(rows, random):
    matrix = np.array(rows)
    wanted = np.array([random.uniform(-5, 20) for _ in rows])
    x = nonnegative(matrix, wanted)
    assert (x >= 0).all()
    gradient = matrix.T @ (wanted - matrix @ x)
    slack = 1e-6 * (1 + np.abs(matrix).max() ** 2) * (1 + np.abs(wanted).max())
    assert (gradient <= slack).all(), "more of some class would help"
    assert (np.abs(gradient[x > 1e-9]) <= slack).all(), "other amounts of the classes in use would"


def test_classes_are_found_from_rows_that_tell_them_apart():
    true = {"simple": 2e-10, "divide": 5e-9, "gather": 1e-9}
    guess = {"simple": 1e-10, "divide": 1e-9, "gather": 3e-9, "never": 4e-10}
    random = np.random.default_rng(3)
    rows = []
    for _ in range(20):
        counts = {name: float(random.integers(0, 6)) for name in true} | {"simple": 3.0}
        rows.append((counts, sum(true[name] * count for name, count in counts.items())))
    found = class_costs(rows, guess)
    for name, cost in true.items():
        assert math.isclose(found[name], cost, rel_tol=0.15), name
    assert found["never"] > 0, "what no row holds keeps its proportion"
    for times in (30, 0.03):
        disturbed = class_costs([*rows, (rows[0][0], times * rows[0][1])], guess)
        for name, cost in true.items():
            assert math.isclose(disturbed[name], cost, rel_tol=0.3), (name, times)


def test_a_unit_of_its_own_is_found_though_it_hides_and_is_hidden():
    true = {"simple": 2e-10, "float": 3e-10, "divide": 5e-9}
    random = np.random.default_rng(4)
    rows = []
    for number in range(24):
        counts = {
            "simple": float(random.integers(1, 12)),
            "float": float(random.integers(0, 12)),
            "divide": number % 2,
        }
        rest = true["simple"] * counts["simple"] + true["float"] * counts["float"]
        rows.append((counts, overlapped(rest, true["divide"] * counts["divide"])))
    found = class_costs(rows, {"simple": 3e-10, "float": 3e-10, "divide": 2e-9}, unit=frozenset({"divide"}))
    for name, cost in true.items():
        assert math.isclose(found[name], cost, rel_tol=0.1), name


@given(
    st.floats(1e-5, 1e-3), st.floats(1, 16), st.floats(0, 2e-3), st.floats(1e-4, 1e-2), st.floats(0.97, 1.03)
)
def test_what_a_team_takes_is_found_again(start, speed, ramp, knee, noise):
    def taken(work):
        return start + work / speed + ramp * work / (work + knee)

    works = (1e-5, 3e-4, 1e-3, 4e-3, 1.6e-2, 1.2e-1)
    noises = (1, noise, 1, 1 / noise, 1, 1)
    points = [(work, taken(work) * each) for work, each in zip(works, noises, strict=True)]
    a, b, c, d = team(points, 16)
    assert 1 <= b <= 16.001
    for work in (2e-3, 8e-3, 5e-2):
        assert math.isclose(a + work / b + c * work / (work + d), taken(work), rel_tol=0.12)


def test_measurements_that_cannot_be_are_left_out():
    assert usable([1.0, 1.1, -5.0, 0.9, float("inf"), 400.0, float("nan")]) == [1.0, 1.1, 0.9]
    with pytest.raises(ValueError, match="measurement"):
        usable([-1.0, float("nan")])
