"""Methods of objects given to stages: `map(model.predict)` is compiled as `map(lambda x: model.predict(x))` is."""

import functools
import math

import numpy as np
import pytest

from hastega_magic.compiler import loops
from hastega_magic.session import Options, Session
from tests.compiler.battery import assert_like_python, one_loop, run

DEFINED = """
class Line:
    shift = 4
    def __init__(self, k): self.k = k
    def at(self, x): return x * self.k + self.shift
    def scaled(self, x, *, by=2): return self.at(x) * by
    def cross(self, a, b): return a * self.k - b
    def above(self, x): return x > self.k
    def fold(self, total, x): return total + x * self.k
    def looked_up(self, x): return self.table[x % 3]
    def rounded(self, x): return round(x, 1)
    def counted(self, x):
        self.k += 1
        return x + self.k
    @classmethod
    def moved(cls, x): return x + cls.shift
    @staticmethod
    def plain(x): return x + 1
class Slots:
    __slots__ = ("k",)
    def at(self, x): return x - self.k
class Computed:
    @property
    def k(self): return 3
    def at(self, x): return x * self.k
line, slots = Line(3), Slots()
line.table, slots.k, computed = [5, 6, 7], 0.5, Computed()
"""
SOURCES = {
    "list": [3, -1, 4, 1, -5, 9, 2],
    "bytes": np.arange(7, dtype=np.uint8),
    "floats": [0.5, -2.5, -0.0, math.nan],
    "narrow": np.array([0.5, 1.5], np.float32),
    "empty": [],
}
CELLS = [
    "map(line.at) |> to_list",
    "map(line.scaled) |> sum",
    "zip(range(9)) |> map(line.cross) |> to_list",
    "filter(line.above) |> to_list",
    "reduce(line.fold, 0)",
    "scan(line.fold, 0)",
    "where(line.above, line.at) |> to_list",
    "map(line.moved) |> map(Line.moved) |> map(line.plain) |> to_list",
    "map(slots.at) |> to_list",
    "map(partial(line.cross, 2)) |> to_list",
    "map(at) |> map(lambda x: at(x) + 1) |> to_list",
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("cell", CELLS)
def test_methods_are_compiled(cell, source):
    names = {"xs": SOURCES[source], "partial": functools.partial}
    found = assert_like_python(f"{DEFINED}at = line.at\nxs |> {cell}", names)
    if source == "list":
        one_loop(found)


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("map(computed.at)", "the attribute `self.k` is read"),
        ("map(line.counted)", "an attribute is assigned"),
        ("map(numbers.append)", "observation prevents optimisation"),
    ],
)
def test_others_are_pythons(cell, why):
    found = assert_like_python(f"{DEFINED}numbers = []\nxs |> {cell} |> to_list", {"xs": [3, 1, 2]})
    [barrier] = found.report["pipelines"][0]["barriers"]
    assert why in barrier["reason"]


def test_items_of_lists_and_digits():
    assert_like_python(f"{DEFINED}xs |> map(line.looked_up) |> to_list", {"xs": SOURCES["list"]})
    assert_like_python(
        f"{DEFINED}line.table = [np.int8(100)] * 3\nxs |> map(line.looked_up) |> map(_ * 2) |> sum",
        {"xs": [1, 2]},
    )
    assert_like_python(f"{DEFINED}[2.675, 1.005] |> map(np.float64) |> map(line.rounded) |> to_list")


def test_ordinary_code_knows_numpys_functions_in_methods():
    """Over 5000 elements a comprehension is a loop, but not where NumPy's numbers have their own rules."""
    text = (
        "class Root:\n    def of(self, x): return np.int64(x) ** 2\nroot = Root()\n"
        "found = list(map(root.of, xs))\nset(map(type, found))"
    )
    assert run(text, {"xs": list(range(5000))}).value == {np.int64}
    text = f"{DEFINED}sum(map(line.at, xs))"
    assert run(text, {"xs": list(range(5000))}).value == sum(x * 3 + 4 for x in range(5000))


TURNS = {
    "another object": "Line(k).at",
    "another number": "(setattr(line, 'k', k), line.at)[1]",
    "one of the class": "(setattr(Line, 'shift', k), line.at)[1]",
    "of a class": "(setattr(Line, 'shift', k), Line.moved)[1]",
    "in a slot": "(setattr(slots, 'k', k), slots.at)[1]",
}


@pytest.mark.parametrize("given", TURNS)
def test_numbers_of_objects_are_parameters(given):
    text = f"{DEFINED}found = []\nfor k in turns: found.append((xs |> map({TURNS[given]}) |> to_list))\nfound"
    odd = [2, 3, 40, -5, 2**40, 2**62, 2**70, True, 0.5, -0.0, math.inf, 7, np.float64(2.5), 6]
    loops.clear_cache()
    for turns in (list(range(2, 40)), odd):
        names = {"xs": SOURCES["list"], "turns": turns}
        expected = run(text, names, on="python")
        found = run(text, names, on="simd", quiet=True)
        assert found.error is expected.error is None
        assert list(map(described, found.value)) == list(map(described, expected.value))
        if turns is not odd:
            assert sum(len(loop.bodies) for loop in loops.cached_loops()) <= 3


def described(values):
    """Types and digits, numpy.float64 as the float that it counts as."""
    plain = [float(each) if isinstance(each, float) else each for each in values]
    return [(type(each), repr(each)) for each in plain]


def test_two_objects_of_one_class():
    stages = "map(Line(k).at) |> map(Line(k + 1).at) |> map(lambda x, h=Line(2).at: h(x)) |> sum"
    text = f"{DEFINED}[(xs |> {stages}) for k in range(9)]"
    expected = [sum(((x * k + 4) * (k + 1) + 4) * 2 + 4 for x in range(5)) for k in range(9)]
    assert run(text, {"xs": [0, 1, 2, 3, 4]}, on="simd").value == expected


def test_a_method_that_is_exchanged():
    session = Session({"xs": [1, 2, 3]}, Options(baseline=False, quiet=True, on="simd"))
    session.run_cell(DEFINED)
    text = (
        "found = []\nfor f in (lambda self, x: x + self.k, lambda self, x: x - self.k) * 3:\n"
        "    Line.at = f\n    found.append((xs |> map(line.at) |> sum))\nfound"
    )
    assert session.run_cell(text).value == [15, -3] * 3


STEPS = """
def raised(x):
    line.k += 1
    return x
def of_class(x):
    Line.shift += 1
    return x
"""


@pytest.mark.parametrize("source", ["list", "many"])
@pytest.mark.parametrize(
    "stages",
    [
        "map(line.counted) |> map(line.at)",
        "map(line.at) |> map(line.counted) |> map(line.scaled)",
        "map(raised) |> map(line.at)",
        "map(raised) |> reduce(line.fold, 0)",
        "map(of_class) |> map(line.at) |> map(Line.moved)",
        "map(line.at) |> tap(lambda xs: setattr(line, 'k', 9)) |> map(line.at)",
        "map(raised) |> max(key=line.at)",
        "map(lambda x: [line.table.append(x), x][1]) |> map(line.looked_up)",
    ],
)
def test_objects_that_pythons_stages_change(stages, source):
    """Elements pass one by one through all stages."""
    xs = SOURCES["list"] if source == "list" else list(range(3000))
    assert_like_python(f"{DEFINED}{STEPS}found = xs |> {stages}\n(found, line.k, Line.shift)", {"xs": xs})
