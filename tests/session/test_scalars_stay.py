"""NumPy's scalars in lists, object arrays and what hides elements: they stay NumPy's up to the end of a pipeline."""

import numpy as np
import pytest

from hastega_magic.session import Options, Session


def run(text, on="parallel", **space):
    return Session(space, Options(baseline=False, on=on)).run_cell(text)


def _elements(*elements):
    found = np.empty(len(elements), object)
    found[:] = elements
    return found


HIGH = np.int64(2**62)
WITH_SCALARS = (
    [HIGH, 1], [1, HIGH], (2.5, np.float64(1)), _elements(1, HIGH), [(HIGH, 1)], [(1, HIGH), (1, HIGH)],
    {1: 0, HIGH: 1},
    np.ma.array([1, 2**62], mask=[True, False]), np.ma.array([(1, 2)], "i4,i4", mask=[(True, False)]),
)  # fmt: skip


@pytest.mark.parametrize(
    "stages",
    ["reverse |> to_list", "map(lambda x: x) |> map(lambda x: x * 4) |> to_list", "filter(_ * 4 != 1)"],
)
@pytest.mark.parametrize("xs", WITH_SCALARS, ids=lambda xs: type(xs).__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scalars_of_numpy_stay_what_they_are_wherever_they_stand(xs, stages):
    ours, python = (run(f"xs |> {stages}", on, xs=xs).value for on in ("parallel", "python"))
    assert repr(ours) == repr(python)


@pytest.mark.parametrize(
    "stages",
    ["map(lambda a, b: b) |> reverse |> map(_ * 4) |> to_list", "map(lambda a, b: a * b) |> sum", "to_list"],
)
@pytest.mark.parametrize("xs", [[1, HIGH], _elements(1, HIGH), (HIGH, 1)], ids=str)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_so_do_those_that_stand_beside_the_source(xs, stages):
    for first in ("range(2)", "range(2) |> map(_ + 1)"):
        ours, python = (run(f"{first} |> zip(xs) |> {stages}", on, xs=xs) for on in ("parallel", "python"))
        assert repr(ours.value) == repr(python.value)


@pytest.mark.parametrize("mask", [None, "none", len, np.array([None])], ids=str)
def test_other_classes_call_other_things_a_mask(mask):
    xs = np.arange(5).view(type("Own", (np.ndarray,), {"mask": mask}))
    for on in ("parallel", "python"):
        assert run("xs |> map(_ + 1) |> to_list", on, xs=xs).value == [1, 2, 3, 4, 5]
        assert run("xs |> map(str) |> reverse |> to_list", on, xs=xs).value == ["4", "3", "2", "1", "0"]


def test_they_do_beside_a_source_whose_stages_ran_over_pythons_numbers_before():
    names = {"ys": [True, 1] * 10}
    Session(names, Options(baseline=False, quiet=True)).run_cell(
        "def run():\n    return range(20) |> zip(ys) |> map(lambda x, y: y) |> to_list\n"
    )
    for ys in ([True, 1] * 10, [np.int64(3)] * 20, [1, np.int64(3)] * 10, [True, 1] * 10, [np.int64(3)] * 20):
        names["ys"] = ys
        assert [*map(type, names["run"]())] == [*map(type, ys)]
