import copy
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import GPU, machine

from hastega_magic.cost import defaults
from hastega_magic.cost.machine import Curve, Fit, Machine

WHOLE = replace(
    machine(GPU, replace(GPU, number=1)), fits=(Fit("list of int64", "element", 1e-9, 2e-6, 0.99),)
)


@pytest.mark.parametrize("found", [WHOLE, defaults.machine(WHOLE.identity), machine(threads=1)])
def test_a_machine_is_the_same_after_it_was_stored(found):
    assert Machine.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def places(data, path=()):
    yield path
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*path, key))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from places(value, (*path, number))


DATA = json.loads(json.dumps(WHOLE.to_dict()))
PLACES = [path for path in places(DATA) if path]
junk = st.one_of(
    st.none(), st.booleans(), st.just(-1.0), st.just(float("inf")), st.just(float("nan")), st.text(max_size=3),
    st.just([]), st.just({}), st.just(3),
)  # fmt: skip


@given(st.sampled_from(PLACES), junk)
def test_other_data_is_a_value_error_or_another_machine(path, value):
    changed = copy.deepcopy(DATA)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    try:
        found = Machine.from_dict(changed)
    except ValueError:
        return
    # What is read can be stored again: no number of it is negative or infinite.
    assert Machine.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == found


@pytest.mark.parametrize("data", [None, [], "x", {}, {"schema": 0}, {"schema": 1, "more": 1}])
def test_foreign_data_is_a_value_error(data):
    with pytest.raises(ValueError, match=r"no|not"):
        Machine.from_dict(data)


curves = st.lists(
    st.tuples(st.floats(1, 1e9), st.floats(1e-12, 1e-8)), min_size=1, max_size=6, unique_by=lambda p: p[0]
)


@given(curves, curves, st.floats(0.1, 1e11), st.floats(0, 1))
def test_a_curve_stays_between_its_points(points, others, size, share):
    curve, other = Curve(tuple(sorted(points))), Curve(tuple(sorted(others)))
    low, high = min(each for _, each in points), max(each for _, each in points)
    assert low * 0.999 <= curve.at(size) <= high * 1.001
    for at, each in points:
        assert curve.at(at) == pytest.approx(each)
        between = curve.towards(other, share).at(at)
        assert min(each, other.at(at)) * 0.999 <= between <= max(each, other.at(at)) * 1.001
