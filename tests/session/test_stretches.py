"""Loops over parts of their sources, as of windows, whose cell runs again: from where they are compiled."""

import itertools

import numpy as np
import pytest

from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.session import Options, Session

QUIET = Options(on="parallel", threads=2, baseline=False, quiet=True)
MANY, COUNT = 30_011, 100_003
"""Elements of cells, and of functions, which call loops over fewer ones directly."""

CELLS = {
    "window": "v = xs |> window(5) |> map(lambda a, b, c, d, e: (a + b + c + d + e) / 5)",
    "sum": "v = xs |> window(3) |> map(lambda a, b, c: a * b - c) |> filter(_ > 0) |> sum",
    "chunk": "v = xs |> take(30_000) |> chunk(4) |> map(lambda a, b, c, d: a * d - b * c)",
    "step": "v = xs |> drop(5) |> step(3) |> map(_ * 2)",
    "reverse": "v = xs |> reverse |> map(_ * 2) |> take(1000)",
    "zip": "v = xs |> zip(ys) |> drop(7) |> map(lambda x, y: x - y)",
    "cumsum": "v = xs |> take(20_000) |> cumsum",
    "enumerate": "v = xs |> drop(3) |> enumerate |> map(lambda i, x: i - x)",
}


def arrays(seed, kind=np.int64, count=MANY):
    random = np.random.default_rng(seed)
    return {name: random.integers(-1000, 1000, count).astype(kind) for name in ("xs", "ys")}


def value(session, cell, given):
    session.namespace.update(given)
    session.run_cell(cell)
    return session.namespace["v"]


def same(one, other):
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()
    else:
        assert one == other


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.int16])
@pytest.mark.parametrize("name", CELLS)
def test_other_data_of_the_same_kind(name, kind, built):
    session = Session({}, QUIET)
    for seed in range(4):
        given = arrays(seed, kind)
        found = value(session, CELLS[name], given)
        assert built == ["v"]
        same(found, value(Session({}, QUIET), CELLS[name], given))
        built.pop()


def test_other_lengths_layouts_and_kinds_are_looked_at():
    session, cell = Session({}, QUIET), CELLS["window"]
    base = arrays(1)["xs"]
    doubled = np.repeat(base, 2)
    others = [
        base,
        base[:-1],
        doubled[::2],
        base[::-1],
        base.astype(np.int32),
        base.tolist(),
        base,
        range(MANY),
    ]
    for xs in others:
        same(value(session, cell, {"xs": xs}), value(Session({}, QUIET), cell, {"xs": xs}))


def test_what_an_element_raises_names_it_each_time():
    session, cell = Session({}, QUIET), "v = xs |> window(2) |> map(lambda a, b: a // b)"
    xs = np.arange(1, MANY)
    value(session, cell, {"xs": xs})
    for place in (7, 20_000):
        broken = xs.copy()
        broken[place] = 0
        with pytest.raises(ZeroDivisionError) as caught:
            value(session, cell, {"xs": broken})
        assert any(f"element {place - 1} of " in note for note in caught.value.__notes__)
    same(value(session, cell, {"xs": xs}), xs[:-1] // xs[1:])


def test_integers_beyond_64_bits_are_exact():
    session, cell = Session({}, QUIET), "v = xs |> window(2) |> map(lambda a, b: a * b)"
    xs = np.arange(1, MANY)
    value(session, cell, {"xs": xs})
    large = xs.copy()
    large[100:102] = 2**62
    with pytest.warns(IntegerOverflowWarning, match="no int64 holds"):
        found = value(session, cell, {"xs": large})
    numbers = large.tolist()
    assert found.tolist() == [a * b for a, b in itertools.pairwise(numbers)]


def test_the_report_is_that_of_every_run():
    session = Session(arrays(1), Options(on="parallel", threads=2, baseline=False))
    first, second = (session.run_cell(CELLS["window"]).report.to_dict()["pipelines"][0] for _ in range(2))
    kept = ("name", "stages", "loops", "elements", "code", "links", "graph", "int", "vector")
    assert {name: first[name] for name in kept} == {name: second[name] for name in kept}


@pytest.mark.parametrize("name", ["window", "sum", "chunk", "reverse", "zip"])
def test_functions_are_called_again_as_they_are(name, built):
    session = Session({}, QUIET)
    session.run_cell(f"def f(xs, ys):\n    {CELLS[name]}\n    return v")
    f = session.namespace["f"]
    given = [arrays(seed, count=COUNT) for seed in range(4)]
    found = [f(**given[0])]
    first = len(built)
    found += [f(**each) for each in given[1:]]
    assert len(built) == first
    shorter = arrays(9, count=COUNT - 4)
    for each, values in zip([*found, f(**shorter)], [*given, shorter], strict=True):
        same(each, value(Session({}, QUIET), CELLS[name], values))


@pytest.mark.parametrize("layout", [slice(None), slice(None, None, -1), slice(None, None, 3)])
@pytest.mark.parametrize(
    "stages",
    ["reverse", "step(2) |> sum", "chunk(3) |> map(lambda a, b, c: a * c - b)", "zip(ys) |> step(2) |> map(_ - _)",
     "drop(5) |> reverse |> step(2) |> map(_ * 2)", "reverse |> drop(1) |> max", "reverse |> argmin"],
)  # fmt: skip
def test_elements_with_steps_are_called_again_as_they_are(stages, layout, built):
    session, cell = Session({}, QUIET), f"v = xs |> {stages}".replace("_ - _", "lambda x, y: x - y")
    session.run_cell(f"def f(xs, ys):\n    {cell}\n    return v")
    f, count = session.namespace["f"], 600_012
    given = [{k: v[layout] for k, v in arrays(seed, count=count).items()} for seed in range(3)]
    found = [f(**given[0])]
    first = len(built)
    found += [f(**each) for each in given[1:]]
    assert stages.endswith(("max", "argmin")) or len(built) == first
    dense = {k: v.copy() for k, v in given[0].items()}  # as far away from each other as none before
    for each, values in zip([*found, f(**dense)], [*given, dense], strict=True):
        same(each, value(Session({}, Options(on="numpy", baseline=False, quiet=True)), cell, values))
