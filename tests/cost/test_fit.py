import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.cost.fit import class_costs, line, nonnegative, usable

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
    disturbed = class_costs([*rows, (rows[0][0], 30 * rows[0][1])], guess)
    for name, cost in true.items():
        assert math.isclose(disturbed[name], cost, rel_tol=0.3), name


def test_measurements_that_cannot_be_are_left_out():
    assert usable([1.0, 1.1, -5.0, 0.9, float("inf"), 400.0, float("nan")]) == [1.0, 1.1, 0.9]
    with pytest.raises(ValueError, match="measurement"):
        usable([-1.0, float("nan")])
