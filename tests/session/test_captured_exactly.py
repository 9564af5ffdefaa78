"""NumPy's integers that functions read count as Python's also where Python goes through all elements."""

import functools
import itertools
import traceback
import warnings

import numpy as np
import pytest

from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.session import Options, Session

TABLE = [3, 1, 4, 1, 5, 9, 2, 6]
XS = list(range(1, 80))
LARGE = [TABLE[x % 8] * 2**61 for x in XS]


def run(text, on="simd", **options):
    names = {"xs": XS, "table": np.array(TABLE), "one": np.int64(1), "np": np}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy's, of what wraps around
        warnings.simplefilter("ignore", IntegerOverflowWarning)
        return Session(names, Options(baseline=False, quiet=True, on=on, **options)).run_cell(text).value


def running(function, values, start):
    return list(itertools.accumulate(values, function, initial=start))[1:]


CASES = {
    "cumsum |> to_list": list(itertools.accumulate(LARGE)),
    "cumsum |> max": sum(LARGE),
    "scan(lambda a, x: a * 2 - x, 1) |> to_list": running(lambda a, x: a * 2 - x, LARGE, 1),
    "scan(lambda a, x: (a + table[1] * x) % 1000003, 0) |> last": running(
        lambda a, x: (a + x) % 1000003, LARGE, 0
    )[-1],
    "scan(lambda a, x: (a + x) * one, 0) |> last": sum(LARGE),
    "reduce(lambda a, b: a - b * 2)": functools.reduce(lambda a, b: a - b * 2, LARGE),
    "reduce(lambda s, x: (s[0] + 1, s[1] + x), (0, 0))": (len(XS), sum(LARGE)),
    "sum": sum(LARGE),
    "max": max(LARGE),
    "argmax": LARGE.index(max(LARGE)),
    "to_list": LARGE,
    "filter(_ > 0) |> count": len(XS),
    "map(_ // 2**60) |> to_list": [x // 2**60 for x in LARGE],
    "map(np.abs) |> cumsum |> last": sum(LARGE),
    "chunk(60) |> map(sum) |> to_list": [sum(LARGE[:60]), sum(LARGE[60:])],
    "chunk(4) |> map(max) |> to_list": [max(LARGE[at : at + 4]) for at in range(0, len(XS), 4)],
}


def types(value):
    return [types(each) for each in value] if isinstance(value, (list, tuple)) else type(value)


@pytest.mark.parametrize("on", ["simd", "auto", "numpy"])
@pytest.mark.parametrize("stages", CASES)
def test_python_goes_through_all_elements_exactly(stages, on):
    found = run(f"xs |> map(table[_ % 8] * 2**61) |> {stages}", on)
    assert found == CASES[stages]
    assert types(found) == types(CASES[stages])


@pytest.mark.parametrize("function", ["partial(at, 8)", "lambda x: grid[x % 8 // 4, x % 4] * 2**61"])
def test_of_all_callables(function):
    table = np.array(TABLE)
    names = {"xs": XS, "grid": table.reshape(2, 4), "table": table}
    text = f"""from functools import partial
def at(n, x):
    return table[x % n] * 2**61
xs |> map({function}) |> cumsum |> last"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Session(names, Options(baseline=False, quiet=True, on="simd")).run_cell(text).value
    assert found == sum(LARGE)
    assert type(found) is int


def test_pairs_go_to_functions_of_two_arguments():
    assert run("xs |> zip(xs) |> map(lambda a, b: table[a % 8] * 2**61 + b * 0) |> cumsum |> last") == sum(
        LARGE
    )
    # Python refuses an integer of NumPy's beside one that no int64 holds; here it is one of Python's.
    assert run("xs |> map(lambda x: table[x % 8] + 2**70) |> cumsum |> last") == sum(
        TABLE[x % 8] + 2**70 for x in XS
    )


def test_the_last_chunk_is_of_the_array_that_is_there_now():
    session = Session(
        {"xs": XS, "table": np.array(TABLE)}, Options(baseline=False, quiet=True, on="parallel")
    )
    text = "y = xs |> map(table[_ % 8]) |> chunk(4) |> map(sum) |> to_list\ny"
    for more in range(5):
        session.namespace["table"] = np.array(TABLE) + more
        elements = [TABLE[x % 8] + more for x in XS]
        assert session.run_cell(text).value == [sum(elements[at : at + 4]) for at in range(0, len(XS), 4)]


def test_what_is_checked_raises_where_numpy_would_wrap_around():
    with pytest.raises(
        OverflowError, match=r"no int64 holds in `map\(table\[_ % 8\] \* 2\*\*61\)`: element 1 of xs"
    ):
        run("xs |> map(table[_ % 8] * 2**61) |> cumsum", int_mode="checked")


def test_errors_stay_those_of_the_function():
    with pytest.raises(ZeroDivisionError) as caught:
        run("xs |> map(lambda x: table[x % 8] * 2**61 + 1 // (x - 9)) |> cumsum")
    assert "element 8, which is 9," in caught.value.__notes__[0]
    assert "lambda" in traceback.extract_tb(caught.value.__traceback__)[-1].name
