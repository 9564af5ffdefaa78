"""Numbers that a callable made of an array's: NumPy's, which count as Python's to the stages behind it."""

import numpy as np
import pytest

from hastega_magic import pipe
from hastega_magic.session import Options, Session

CELLS = {
    "[3, 1] |> map(_ + 2**62) |> set |> sum": 9223372036854775812,
    "[2**62] * 4 |> map(_ + 1) |> sorted |> sum": 18446744073709551620,
    "[3, 1, 2] |> map(_ * 2**40) |> sorted |> map(lambda x: x * x) |> to_list": [2**80, 2**82, 9 * 2**80],
    "[3, 1, 2] |> map(_ * 2**40) |> reversed |> map(lambda x: x * x) |> to_list": [2**82, 2**80, 9 * 2**80],
    "[3, 1] |> map(_ + 2**62) |> (lambda v: [v[0], v[1]]) |> sum": 9223372036854775812,
    "[3, 1] |> map(_ + 2**62) |> (lambda v: [(v[0], v[1])]) |> map(lambda a, b: a * b) |> sum": (2**62 + 3)
    * (2**62 + 1),
    "[200, 100] |> astype('u1') |> sorted |> map(lambda x: x + x) |> to_list": [200, 400],
    "[3.0, 1.0] |> map(_ / 2) |> tuple |> map(lambda x: x * 2) |> to_list": [3.0, 1.0],
}


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("on", ["parallel", "numpy", "python"])
@pytest.mark.parametrize("cell", CELLS)
def test_they_do_not_wrap(cell, on):
    session = Session({"np": np}, Options(on=on, baseline=False))
    for _ in range(3):
        found = session.run_cell(cell).value
        assert found == CELLS[cell]
        assert type(found) is type(CELLS[cell])
        if isinstance(found, list):
            assert {type(each) for each in found} == {type(each) for each in CELLS[cell]}


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
def test_so_in_functions_and_in_the_explicit_form():
    session = Session({}, Options(on="parallel", baseline=False))
    session.run_cell(
        "def f(xs):\n    return xs |> map(_ * 2**40) |> sorted |> map(lambda x: x * x) |> to_list"
    )
    for xs in ([3, 1, 2], [3, 1, 2], [5, 4]):
        assert session.namespace["f"](xs) == [(x * 2**40) ** 2 for x in sorted(xs)]
    assert pipe([3, 1]).map(lambda x: x * 2**40).apply(sorted).map(lambda x: x * x).to_list() == [
        2**80,
        9 * 2**80,
    ]


def test_a_callable_at_the_end_gives_what_it_gives():
    found = Session({}, Options(baseline=False)).run_cell("[3, 1] |> map(_ + 1) |> sorted").value
    assert found == [2, 4]
    assert {type(each) for each in found} == {np.int64}
