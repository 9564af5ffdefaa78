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


OTHERWISE = """S = StopIteration
class Subclass(StopIteration):
    pass
def alias(x):
    if x == 400:
        raise S
    return x * 2
def subclass(x):
    if x == 400:
        raise Subclass("over")
    return x * 2
"""


@pytest.mark.parametrize(("function", "on"), [("alias", "parallel"), ("subclass", "opencl")])
@pytest.mark.parametrize(
    "pipelines",
    [
        "t = xs |> map(f) |> sum",
        "t = xs |> filter(f) |> to_list\nu = xs |> map(lambda x: x + 1) |> sum",
        "t = xs |> zip(xs) |> map(lambda x, y: f(x) + y) |> max",
        "t = xs |> map(lambda x: x // (x - 401) + f(x)) |> to_list",
        "t = xs |> take_while(lambda x: f(x) < 3000) |> count",
        "t = xs |> reduce(lambda s, x: s + f(x), 0)",
        "t = xs |> window(3) |> map(lambda a, b, c: f(b)) |> sum",
    ],
)
def test_whatever_it_is_called(pipelines, function, on):
    cell = OTHERWISE + pipelines.replace("f(", f"{function}(").replace("(f)", f"({function})")
    found, expected = (run(cell, {"xs": range(5000)}, on=each) for each in (on, "python"))
    assert repr(found.error) == repr(expected.error)
    for name in "tu":
        assert found.namespace.get(name) == expected.namespace.get(name)


def raising(x):
    if x == 400:
        raise Ends
    return x * 2


Ends = StopIteration


@pytest.mark.parametrize(
    "function",
    [
        lambda xs: [raising(x) for x in xs],
        lambda xs: sum(raising(x) for x in xs),
        lambda xs: list(map(raising, xs)),
        lambda xs: max(map(raising, xs)),
        lambda xs: list(filter(raising, xs)),
    ],
)
def test_ordinary_code_that_calls_it_otherwise(function):
    compiled = hastega(function)
    for length in (300, 600, 5000, 5000):
        assert outcome(compiled, list(range(length))) == outcome(function, list(range(length)))
