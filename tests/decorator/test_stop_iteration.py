"""StopIteration ends what Python goes through, which is not a block of the loop."""

import pytest
from battery import run

from hastega_magic.decorator import hastega


def g(x):
    if x == 400:
        raise StopIteration
    return x * 2


def listed(xs):
    return [g(x) for x in xs]


def total(xs):
    return sum(g(x) for x in xs)


def mapped(xs):
    return list(map(g, xs))


def found(xs):
    return any(g(x) < 0 for x in xs)


def outcome(function, xs):
    try:
        return function(xs)
    except (StopIteration, RuntimeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", [listed, total, mapped, found])
def test_ordinary_code_that_raises_it(function):
    compiled = hastega(function)
    for length in (300, 600, 5000, 5000):
        assert outcome(compiled, list(range(length))) == outcome(function, list(range(length)))


@pytest.mark.parametrize("sink", ["sum", "max", "to_list", "count"])
def test_pipelines_whose_functions_raise_it(sink):
    cell = f"""def g(x):
    if x == 400:
        raise StopIteration
    return x * 2
range(5000) |> map(g) |> {sink}"""
    assert run(cell, on="parallel").value == run(cell, on="python").value
