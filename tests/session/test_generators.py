"""Generator expressions as sources: compiled with the stages behind them, as Python would compute them."""

import itertools
import sys
import warnings

import numpy as np
import pytest
from battery import some

from hastega_magic.compiler.sources import generators
from hastega_magic.session import Options, Session

SOURCES = {
    "xs": range(-7, 40),
    "ints": [3, -1, 2**62, 0, 7] * 5,
    "huge": [1, 2**64, 3] * 4,
    "floats": [0.5, -0.0, 1e300, 2.5] * 5,
    "bools": [True, False, True],
    "mixed": [1, 2.5, True, 3],
    "texts": ["a", "b", "cd"],
    "pairs": [(1, 2.5), (3, 0.5), (-2, 1.0)] * 4,
    "ragged": [(1, 2), (3, 4, 5)],
    "array": np.arange(12),
    "few": (),
}
SPACE = {
    **SOURCES, "np": np, "k": 3, "f": lambda v: v * v - 1, "half": np.float64(0.5), "table": np.arange(9) * 2,
    "rows": [4, 5], "thin": np.float32(0.1),
}  # fmt: skip
EXPRESSIONS = [
    "x * x for x in xs",
    "x for x in xs",
    "x for x in ints if x > 0",
    "x * k + 1 for x in xs if x % 2 if x % 3",
    "f(x) for x in xs",
    "x * 0.5 for x in floats",
    "x + x for x in bools",
    "x * 2 for x in huge",
    "x * x for x in ints",
    "x * 2 for x in mixed",
    "x + x for x in texts",
    "a * b for a, b in pairs",
    "a for (a,) in [(1,), (2,)]",
    "a + b for a, b in ragged",
    "p[0] for p in pairs",
    "(x, -x) for x in xs",
    "x * 2 for x in array",
    "x * half for x in xs",
    "table[x % 9] for x in xs",
    "rows[x] for x in xs",
    "10 // (x - 5) for x in xs",
    "x * y for x in xs for y in rows",
    "(last := x) for x in xs",
    "sum(y * x for y in rows) for x in xs",
    "x if x % 2 else x / 2 for x in xs",
    "(lambda v: v + x)(1) for x in xs",
    "x for x in few",
    "unknown + x for x in xs",
    "x * x for x in iter(xs)",
    "x for x in iter(ints) if x",
    "x for x in map(abs, xs)",
    "x for x in {1: 2, 3: 4}",
]
STAGES = [
    "sum", "map(lambda v: v * 2)", "to_list", "filter(lambda v: v != 3) |> max", "take(3) |> to_list",
    "cumsum |> to_list", "map(lambda v: v * thin) |> cumsum |> sum",
]  # fmt: skip


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(generators, "_LEAST", 1)


def ran(cell, on, **options):
    space = dict(SPACE)
    try:
        with warnings.catch_warnings(action="ignore"):
            Session(space, Options(on=on, baseline=False, quiet=True, **options)).run_cell(cell)
    except Exception as error:
        return type(error), str(error), space.get("last")
    value = space["t"]
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    return type(value), repr(listed), space.get("last")


@pytest.mark.parametrize(("expression", "stages"), some(itertools.product(EXPRESSIONS, STAGES), every=2))
def test_it_is_what_python_gives(small, expression, stages):
    cell = f"t = ({expression}) |> {stages}"
    assert ran(cell, "auto") == ran(cell, "python")


@pytest.mark.parametrize("given", [{"int_mode": "wrap"}, {"int_mode": "checked"}, {"fast_math": True}])
def test_the_expressions_own_numbers_are_pythons(small, given):
    session = Session({"n": 9}, Options(on="simd", baseline=False, **given))
    session.run_cell("t = (x * 2 for x in range(n)) |> sum")
    (pipeline,) = session.last_report.pipelines
    assert not any("a part of the loop" in each for each in pipeline.why)


def test_it_is_one_loop():
    space = {"n": 1 << 19, "k": 3}
    session = Session(space, Options(on="simd", baseline=False))
    session.run_cell("t = (x * k for x in range(n) if x % 3) |> map(lambda v: v + 1) |> sum")
    (pipeline,) = session.last_report.pipelines
    assert (pipeline.loops, list(pipeline.barriers)) == (1, [])
    assert any("a part of the loop" in each for each in pipeline.why)
    assert space["t"] == sum(x * 3 + 1 for x in range(1 << 19) if x % 3)


def test_an_iterator_over_a_range_that_has_begun(small):
    def names():
        numbers = iter(range(3, 500, 7))
        next(numbers)
        return {"numbers": numbers, "more": iter(range(1000))}

    ours, pythons = names(), names()
    cell = "t = (x * 2 for x in numbers if x % 3) |> map(lambda v: v + 1) |> sum\n"
    cell += "u = zip(more, [5] * 300) |> map(lambda a, b: a * b) |> sum"
    session = Session(ours, Options(on="simd", baseline=False))
    session.run_cell(cell)
    Session(pythons, Options(on="python", baseline=False)).run_cell(cell)
    assert (ours["t"], ours["u"]) == (pythons["t"], pythons["u"])
    assert [*ours["numbers"]] == []
    assert next(ours["more"]) == next(pythons["more"]) == 301
    assert [pipeline.loops for pipeline in session.last_report.pipelines] == [1, 1]


def test_iterators_are_left_as_python_leaves_them(small):
    space = {"given": iter([1, 2, 3, 4]), "held": None}
    next(space["given"])
    session = Session(space, Options(on="simd", baseline=False, quiet=True))
    session.run_cell("t = (x * 2 for x in given) |> sum")
    assert space["t"] == 18
    assert list(space["given"]) == []
    session.run_cell("held = (x * 2 for x in range(5))\nu = held |> sum\nrest = list(held)")
    assert (space["u"], space["rest"]) == (20, [])


def test_what_it_reads_may_change(small):
    space = {"found": []}
    Session(space, Options(on="simd", baseline=False, quiet=True)).run_cell(
        "for k in range(4):\n    found.append((x * k for x in range(9)) |> sum)"
    )
    assert space["found"] == [0, 36, 72, 108]


@pytest.mark.parametrize("pipe", ["(x * 2 for x in a) |> sum", "zip(a, b) |> map(lambda v, w: v * w) |> sum"])
@pytest.mark.parametrize("on", ["simd", "python"])
def test_what_has_ended_stays_so(small, pipe, on):
    first, second = [1, 2, 3], [4, 5, 6, 7]
    space = {"a": iter(second), "b": iter(first)}
    Session(space, Options(on=on, baseline=False, quiet=True)).run_cell(f"t = {pipe}")
    first.append(8)
    second.extend([8, 9])
    assert list(space["b"]) == ([] if "zip" in pipe else [1, 2, 3, 8])
    assert list(space["a"]) == ([8, 9] if "zip" in pipe else [])


EFFECTS = """
def noted(v):
    seen.append(v)
    return v
"""


@pytest.mark.parametrize(
    "source", ["(x - x for x in huge) |> map(noted)", "zip(huge, xs) |> map(lambda v, w: noted(w))"]
)
def test_python_stages_run_once_over_integers_beyond_64_bits(small, source):
    seen = {}
    for on in ("simd", "python"):
        space = {**SPACE, "seen": []}
        session = Session(space, Options(on=on, baseline=False, quiet=True))
        session.run_cell(EFFECTS)
        session.run_cell(f"t = {source} |> sum(0.5)")
        seen[on] = space["seen"], space["t"]
    assert seen["simd"] == seen["python"]


PRIVATE = """
class Holder:
    def total(self):
        return (x * __rate for x in range(5)) |> sum
"""


def test_private_names_are_those_of_the_class(small):
    space = {"__rate": 2, "_Holder__rate": 3}
    Session(space, Options(on="simd", baseline=False, quiet=True)).run_cell(PRIVATE)
    assert space["Holder"]().total() == 30


IN_FUNCTIONS = """
class Holder:
    __rate = 3
    def total(self, n):
        return (x * self.__rate for x in range(n)) |> sum
    def shifted(self, n, by):
        return (x + by for x in range(n) if x > by) |> max
"""


def test_in_functions(small):
    space = {}
    Session(space, Options(on="simd", baseline=False, quiet=True)).run_cell(IN_FUNCTIONS)
    for n in (4, 9, 9):
        assert space["Holder"]().total(n) == 3 * sum(range(n))
        assert space["Holder"]().shifted(n, 2) == n + 1


def test_objects_that_it_holds_are_let_go(small):
    marked = [1, 2, 3]
    before = sys.getrefcount(marked)
    for _ in range(3):
        Session({"marked": marked}, Options(on="simd", baseline=False, quiet=True)).run_cell(
            "t = (x * 2 for x in marked) |> sum"
        )
    assert sys.getrefcount(marked) <= before + 2
