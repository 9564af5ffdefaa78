"""The last, shorter chunk: told of as the others are, wrapped around as they are, and its size asked for once."""

import warnings

import numpy as np
import pytest

from hastega_magic.session import Options, Session

LARGE = 2**62


def _ran(session, cell):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = session.run_cell(cell).value
    return value, [str(each.message) for each in caught]


def _session(on, **options):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    return Session({"np": np}, Options(on=on, baseline=False, **{"quiet": True, **options}))


@pytest.mark.parametrize("on", ["simd", "opencl"])
@pytest.mark.parametrize("form", ["map(sum)", "map(sum) |> to_list", "map(lambda t: t[0] * t[1])"])
def test_an_integer_beyond_64_bits_is_told_of(on, form):
    session = _session(on, quiet=False)
    value, told = _ran(session, f"[1, 2, 3, 4, 5, 6, {LARGE}, {LARGE}] |> chunk(3) |> {form}")
    assert int(value[-1]) in (2 * LARGE, LARGE * LARGE)
    assert len(told) == 1
    assert "element 6 of" in told[0]
    assert "needs" in told[0]
    assert session.last_report.to_dict()["pipelines"][0]["int"]["fell_back"]


@pytest.mark.parametrize("on", ["simd", "auto"])
def test_in_each_turn_of_a_loop(on):
    session = _session(on)
    session.namespace["rows"] = [np.array([1, 2, 3, last, last]) for last in (4, 5, 6, LARGE, LARGE, 7)]
    _, told = _ran(session, "found = []\nfor row in rows:\n    found.append(row |> chunk(3) |> map(sum))")
    assert [int(each[1]) for each in session.namespace["found"]] == [8, 10, 12, 2 * LARGE, 2 * LARGE, 14]
    assert told
    assert all("element 3 of row" in each for each in told)


def test_handed_on_in_pieces():
    session = _session("parallel")
    session.namespace["xs"] = np.append(np.zeros(2_100_000, np.int64), [LARGE, LARGE])
    value, told = _ran(session, "xs |> chunk(3) |> map(sum) |> filter(lambda x: x) |> reverse |> take(1)")
    assert value.tolist() == [2 * LARGE]
    assert len(told) == 1


@pytest.mark.parametrize("on", ["simd", "numpy"])
@pytest.mark.parametrize("rest", [[LARGE, LARGE], [3]])
@pytest.mark.parametrize("form", ["map(sum)", "map(sum) |> to_list", "map(sum) |> filter(lambda x: x < 0)"])
def test_wrapped_around(on, rest, form):
    value, told = _ran(_session(on, int_mode="wrap"), f"{[1, LARGE, LARGE, *rest]} |> chunk(3) |> {form}")
    kept = [1 - 2**63, -(2**63) if len(rest) > 1 else 3]
    assert list(value) == [each for each in kept if each < 0 or "filter" not in form]
    assert isinstance(value, list) is ("to_list" in form)
    assert not told


class Counting:
    """A number of elements, which counts how often it is asked for."""

    def __init__(self, number):
        self.number, self.asked = number, 0

    def __index__(self):
        self.asked += 1
        return self.number


@pytest.mark.parametrize("on", ["python", "numpy", "simd", "auto"])
@pytest.mark.parametrize(
    ("stages", "number"),
    [
        ("chunk(k) |> map(sum)", 3),
        ("chunk(k)", 100),
        ("window(k) |> map(str)", 2),
        ("map(lambda x: 1 // (x - 200)) |> drop(k)", 3),
        ("map(lambda x: x * 2**80) |> take(k)", 3),
    ],
)
def test_a_number_of_elements_is_asked_for_once(on, stages, number):
    session = _session(on)
    count = session.namespace["k"] = Counting(number)
    _ran(session, f"range(200) |> {stages}")
    assert count.asked == 1
