"""`argmin` and `argmax` of computed elements, `min` and `max` by a key, in turns: the loop is ready after some runs."""

import itertools
import math

import numpy as np
import pytest
from battery import some

from hastega_magic.compiler.fastpath.arg_extremes import OFTEN
from hastega_magic.compiler.fastpath.prepared import Prepared
from hastega_magic.compiler.fastpath.repeated import Repeated
from hastega_magic.session import Options, Session

RANDOM = np.random.default_rng(3)
SOURCES = {
    "list": RANDOM.integers(-50, 50, 700).tolist(),
    "ints": RANDOM.integers(-50, 50, 9001),
    "bytes": RANDOM.integers(0, 250, 900).astype(np.uint8),
    "large": RANDOM.integers(0, 2**64 - 1, 900, np.uint64),
    "floats": RANDOM.normal(size=9001),
    "narrow": RANDOM.normal(size=900).astype(np.float32),
    "range": range(40, -300, -3),
    "flags": [False, True, False, True],
    "one": [5],
    "zeros": [0.0, -0.0, 0.0],
    "nans": [1.0, math.nan, 3.0, -2.0, math.nan, 3.0],
    "first nan": [math.nan, 1.0, 5.0],
    "nothing but nan": np.array([math.nan, math.nan]),
}
STAGES = [
    "max(key=_ % 10)", "min(key=_ % 10)", "min(key=abs)", "max(key=_ > 0)", "max(default=3, key=-_)",
    "map(_ % 10) |> argmax", "map(-_) |> argmin", "map(_ > 0) |> argmax", "map(_ * 0.5) |> argmax",
    "filter(_ > 0) |> max(key=_ % 7)", "filter(_ > 0) |> map(_ % 7) |> argmin", "drop(1) |> map(_ % 7) |> argmax",
    "zip(xs) |> map(lambda x, y: x - y) |> argmin", "take(3) |> max(key=_ % 2)",
    "enumerate |> max(key=lambda i, x: x)",
]  # fmt: skip
OPTIONS = {on: Options(on=on, threads=2, baseline=False, quiet=True) for on in ("simd", "parallel")}
TURNS = OFTEN + 40
"""Enough for a stub."""


def outcomes(stages, names, on="parallel", turns=TURNS, before="pass"):
    """What each turn gives, or the type and text of what it raises. `before`: a statement of each turn."""
    space = {**names, "found": [], "turns": turns}
    text = f"""
for turn in range(turns):
    {before}
    try:
        each = xs |> {stages}
    except Exception as error:
        each = type(error), str(error)
    found.append(each)
"""
    options = Options(on="python", baseline=False, quiet=True) if on == "python" else OPTIONS[on]
    Session(space, options).run_cell(text)
    return [(type(each), repr(each)) for each in space["found"]]


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize(("stages", "source"), some(itertools.product(STAGES, SOURCES), 2))
def test_turns_give_what_python_gives(stages, source):
    names = {"xs": SOURCES[source]}
    expected = outcomes(stages, names, "python", 1)
    assert outcomes(stages, names) == expected * TURNS


@pytest.mark.parametrize(
    "stages", ["max(key=_ % 10)", "map(_ % 10) |> argmin", "take(9) |> map(-_) |> argmax"]
)
def test_of_nothing_python_raises(stages):
    """Also where turns before had elements."""
    names = {"many": [[3, 12, 5] if turn % 5 else [] for turn in range(TURNS)]}
    before = "xs = many[turn]"
    found = outcomes(stages, names, before=before)
    assert found == outcomes(stages, names, "python", before=before)
    assert "ValueError" in found[0][1]


@pytest.mark.parametrize("source", ["list", "ints", "floats", "range"])
@pytest.mark.parametrize(
    "stages", ["max(key=_ % 10)", "min(key=_ * turn % 7)", "take(99) |> map(_ % 10) |> argmax"]
)
def test_a_key_is_not_looked_at_anew(stages, source, monkeypatch):
    firsts, first = [], Repeated._first
    monkeypatch.setattr(Repeated, "_first", lambda self, *given: firsts.append(self) or first(self, *given))
    outcomes(stages, {"xs": SOURCES[source]})
    assert len(firsts) <= 2


@pytest.mark.parametrize("source", ["list", "ints", "floats", "range", "flags"])
@pytest.mark.parametrize(
    "stages", ["map(_ % 10) |> argmax", "map(_ * turn) |> argmin", "zip(xs) |> map(max) |> argmin"]
)
def test_computed_elements_are_found_by_one_call(stages, source, monkeypatch):
    launched, usual = [], Prepared._launched
    monkeypatch.setattr(
        Prepared, "_launched", lambda self, *given, **how: launched.append(self) or usual(self, *given, **how)
    )
    outcomes(stages, {"xs": SOURCES[source]})
    assert len(launched) <= OFTEN


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("value", [2**62, 2**70, 0])
def test_elements_beyond_64_bits_and_those_that_raise(value):
    names, before = {"xs": list(range(1, 41)), "value": value}, "xs[5] = value if turn % 7 == 6 else turn + 1"
    for stages in (
        "map(lambda x: x * 4) |> argmax",
        "max(key=lambda x: x * -4)",
        "map(lambda x: 100 // x) |> argmin",
        "min(key=lambda x: 100 // x)",
    ):
        assert outcomes(stages, names, before=before) == outcomes(stages, names, "python", before=before)


def test_lengths_that_change():
    text = """
for turn in range(200):
    xs = list(range(turn % 23, 90)) + [turn] * (turn % 9 * 1000)
    found.append([(xs |> map(lambda x: x * x % 41) |> argmax), (xs |> min(key=lambda x: x * x % 41))])
"""
    space, other = {"found": []}, {"found": []}
    Session(space, OPTIONS["parallel"]).run_cell(text)
    Session(other, Options(on="python", baseline=False, quiet=True)).run_cell(text)
    assert space["found"] == other["found"]
