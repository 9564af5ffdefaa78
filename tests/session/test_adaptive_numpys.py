"""Numbers of NumPy's that keep changing are parameters, as Python's are: `for rate in np.linspace(0, 1, 9)`."""

import warnings

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler import loops
from hastega_magic.session import Options, Session

QUIET = Options(baseline=False, quiet=True, on="simd")
TYPES = [np.float64, np.int64, np.int8, np.uint64, np.longlong]
NUMBERS = [3, 5, 2, 0, 7, 1, 9, 4]
XS = [2, -3, 5, 0, 8]


def plain(number):
    """What one of NumPy's numbers counts as."""
    return float(number) if isinstance(number, np.floating) else int(number)


@pytest.mark.parametrize("source", [list, np.array, lambda xs: np.array(xs, float)])
@pytest.mark.parametrize("type_", TYPES)
def test_each_turn_costs_no_compilation(type_, source):
    loops.clear_cache()
    space = {"xs": source(XS), "found": []}
    session = Session(space, QUIET)
    session.run_cell("def scaled(xs, k): return xs |> map(lambda x: x * k - k) |> sum")
    loop = "for k in ks:\n    found.append((xs |> map(lambda x: x * k + 1) |> to_list, scaled(xs, k)))"
    counts = []
    for part in (NUMBERS[:3], NUMBERS[3:], NUMBERS):
        space["ks"], space["found"][:] = [type_(k) for k in part], []
        session.run_cell(loop)
        own = [
            float(x) if space["xs"] is not XS and np.asarray(space["xs"]).dtype == float else x for x in XS
        ]
        expected = [([x * k + 1 for x in own], sum(x * k - k for x in own)) for k in map(plain, space["ks"])]
        assert repr(space["found"]) == repr(expected)
        counts.append(len(loops.cached_loops()))
    assert counts[0] == counts[1] == counts[2]


@pytest.mark.parametrize("type_", TYPES)
def test_one_that_changes_its_type(type_):
    space = {"xs": XS}
    session = Session(space, QUIET)
    for number in (type_(3), 3, type_(5), 5.0, np.float32(2), type_(2), np.int64(2**62), type_(7), 2**70):
        space["k"] = number
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = session.run_cell("xs |> map(lambda x: x * k) |> sum").value
        known = number if isinstance(number, int | float | np.float32) else int(number)
        assert found == sum(x * (float(known) if isinstance(number, np.float64) else known) for x in XS)


@pytest.mark.parametrize("type_", TYPES)
def test_ordinary_code_keeps_their_types(type_):
    xs = [abs(x) for x in XS] * 99
    scaled = hastega(lambda k: [x * k for x in xs])
    for number in map(type_, NUMBERS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert repr(scaled(number)) == repr([x * number for x in xs])


def test_an_equal_one_is_the_same():
    """Each element of an array is another object."""
    space = {"xs": XS}
    session = Session(space, QUIET)
    counts = []
    for _ in range(4):
        space["k"] = np.int64(3)
        session.run_cell("xs |> map(lambda x: x * k) |> sum")
        assert session.last_report is not None
        (pipeline,) = session.last_report.to_dict()["pipelines"]
        counts.append(len(loops.cached_loops()))
        assert not any("kept changing" in why for why in pipeline["why"])
    assert len(set(counts)) == 1
