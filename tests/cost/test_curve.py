import math

import pytest
from hypothesis import given
from machines import GPU, machine
from test_predict import features, made, models

from hastega_magic.cost.curve import SIZES, at, crossings, sampled
from hastega_magic.cost.predict import Case


@given(made)
def test_curves_go_through_the_predictions_and_cross_where_they_do(found):
    listed = models(found, machine(GPU))
    curves = sampled(listed, Case(1))
    by_name = {model.backend: model for model in listed}
    assert set(curves) == set(by_name)
    for name, points in curves.items():
        assert [n for n, _ in points] == list(SIZES)
        for n in (1, 1000, 10**6):
            assert at(points, n) == pytest.approx(by_name[name].seconds(Case(n)), rel=2e-3)
    for faster, than, n in crossings(curves):
        assert at(curves[faster], n * 1.001) <= at(curves[than], n * 1.001) * 1.003
        assert at(curves[faster], n / 1.001) >= at(curves[than], n / 1.001) * 0.997
        assert 1 <= n <= 1e9


def test_python_is_overtaken_once():
    listed = [model for model in models(features(), machine()) if model.backend in ("python", "simd")]
    (only,) = crossings(sampled(listed, Case(1)))
    assert only[:2] == ("simd", "python")
    model = {each.backend: each for each in listed}
    n = round(only[2])
    assert math.isclose(model["simd"].seconds(Case(n)), model["python"].seconds(Case(n)), rel_tol=0.1)


def test_beyond_the_last_point_time_grows_with_the_elements():
    points = ((10.0, 1e-5), (1000.0, 1e-3))
    assert at(points, 1) == 1e-5
    assert at(points, 100) == pytest.approx(1e-4)
    assert at(points, 1e5) == pytest.approx(0.1)


def points(*seconds):
    return tuple((10.0**place, each) for place, each in enumerate(seconds))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((1, 2, 4), (2, 2, 2), [("b", "a", 10.0)]),
        ((3, 2, 1), (2, 2, 2), [("a", "b", 10.0)]),
        ((1, 1, 4), (1, 1, 2), [("b", "a", 10.0)]),
        ((1, 1, 2, 9), (1, 1, 3, 4), [("b", "a", 215.4)]),
        ((1, 2, 1), (2, 2, 2), []),
        ((1, 1, 1), (1, 1, 1), []),
    ],
    ids=["met at a point", "the other way", "parted", "parted and met", "touched", "one line"],
)
def test_lines_that_meet_touch_and_part(one, other, expected):
    assert crossings({"a": points(*one), "b": points(*other)}) == expected
