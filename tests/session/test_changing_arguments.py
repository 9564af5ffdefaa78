"""Numbers that stages are given are parameters where they keep changing: `for lo in bounds: xs |> clip(lo, 255)`."""

import functools
import itertools
import math
import operator

import numpy as np
import pytest
from battery import some
from outcomes import compiled

from hastega_magic.compiler.fastpath.repeated import Repeated
from hastega_magic.session import Options, Session

pytestmark = pytest.mark.usefixtures("nothing_compiled")

QUIET = Options(baseline=False, quiet=True, on="simd")
XS = [5, 2, 9, 1, 7, 12]


def scaled(k, x):
    return x * k + 1


def less(x, k):
    return x - k


NAMES = {"scaled": scaled, "less": less, "partial": functools.partial, "operator": operator}

STAGES = {
    "clip": ("clip(i, 50) |> to_list", "lo of clip"),
    "clip by name": ("clip(lo=None, hi=i) |> sum", "hi of clip"),
    "where": ("where(lambda x: x > 7, i) |> to_list", "other of where"),
    "enumerate": ("enumerate(i) |> map(lambda n, x: n * x) |> to_list", "start of enumerate"),
    "partial": ("map(partial(scaled, i)) |> to_list", "k of scaled"),
    "partial by name": ("map(partial(less, k=i)) |> to_list", "k of less"),
    "partial of a lambda": ("map(partial(lambda a, x: (x, a + b), i)) |> to_list", "a of lambda"),
    "partial of a builtin": ("filter(partial(operator.lt, i)) |> to_list", "argument 1 of partial"),
    "default": ("map(lambda x, k=i: x * k) |> to_list", "k"),
    "default in a tuple": ("map(lambda x, k=(i, 2): x * k[0] + k[1]) |> to_list", "k"),
    "default by name alone": ("map(lambda x, *, k=i: x * k) |> to_list", "k"),
    "default by name in a tuple": ("map(lambda x, b=3, *, k=(i, 2): x * k[0] + k[1] * b) |> to_list", "k"),
    "partial of a default by name": (
        "map(partial(less, k=i)) |> map(lambda x, *, k=5: x * k) |> to_list",
        "k of less",
    ),
    "sum": ("reduce(lambda a, x: a + x, i)", "init of reduce"),
    "sum from": ("sum(i)", "start of sum"),
    "sum from by name": ("filter(lambda x: x > 4) |> sum(start=i)", "start of sum"),
    "product from": ("map(lambda x: x > 2) |> prod(start=i)", "start of prod"),
    "largest": ("filter(lambda x: x > 4) |> reduce(lambda a, x: max(a, x), init=i)", "init of reduce"),
    "product of none": ("filter(lambda x: x > 40) |> reduce(lambda a, x: a * x, i)", "init of reduce"),
    "fold": ("reduce(lambda a, x: a * 2 - x, i)", "init of reduce"),
    "scan": ("scan(lambda a, x: x if x > a else a, i) |> to_list", "init of scan"),
    "scan of tuples": ("scan(lambda a, x: (a[0] + x, a[1] + 1), (i, 0)) |> to_list", "init of scan"),
    "scan of floats": (
        "scan(lambda a, x: a * 0.5 if a * 0.5 > x else x * 1.0, i) |> to_list",
        "init of scan",
    ),
    "complex": ("map(lambda x: x * c + (c * c).real) |> to_list", "c"),
    "complex in a partial": ("map(partial(less, k=c)) |> to_list", "k of less"),
}
SUMS = {
    "sum from a float": ("sum(i * 0.25)", ""),
    "sum of floats": ("map(lambda x: x * 0.5) |> sum(i)", ""),
    "sum of floats from a float": (
        "filter(lambda x: x > 4) |> map(lambda x: x * 0.5) |> sum(start=i * 0.25)",
        "",
    ),
    "sum of no floats": ("map(lambda x: x * 0.5) |> filter(lambda x: x > 40) |> sum(i)", ""),
    "sum of zeros": ("map(lambda x: x * -0.0) |> sum(i * 0.25)", ""),
}
"""In which the number is no parameter of the loop, but added at the end."""
LOOP = "for i, c in turns: found.append((xs |> {}))"
CALLED = "def f(i, c): return xs |> {}\nfor each in turns: found.append(f(*each))"


def run(text, turns, on="simd", **more):
    names = NAMES | {"xs": XS, "b": 4, "turns": turns, "found": []} | more
    Session(names, Options(baseline=False, quiet=True, on=on)).run_cell(text)
    return names["found"]


@pytest.mark.parametrize("written", [LOOP, CALLED])
@pytest.mark.parametrize("stage", STAGES | SUMS)
def test_changes_compile_nothing(stage, written, monkeypatch):
    text, turns = written.format((STAGES | SUMS)[stage][0]), [(n, complex(n, -n)) for n in range(2, 40)]
    expected = run(text, turns, "python")
    begun = run(text, turns[:3])
    before, first = compiled(), []
    usual = Repeated._first
    monkeypatch.setattr(
        Repeated, "_first", lambda self, *args: first.append(1) or usual(self, *args)
    )  # a turn that does not begin where the loop is compiled
    found = run(text, turns)
    assert repr(begun) == repr(expected[:3])
    assert repr(found) == repr(expected)
    assert compiled() == before
    assert len(first) <= 2


@pytest.mark.parametrize("stage", STAGES)
def test_reports_say_which(stage):
    text, name = STAGES[stage]
    names = NAMES | {"xs": XS, "b": 4, "found": [], "turns": [(n, complex(n, -n)) for n in range(2, 6)]}
    session = Session(names, Options(baseline=False, on="simd"))
    session.run_cell(LOOP.format(text))
    [pipeline] = session.last.report.pipelines
    assert any(f"`{name}`" in why and "kept changing" in why for why in pipeline.why), pipeline.why


ODD = [
    3, 300, -2, 2**40, 2**62, 2**63, 2**70, 0, True, 0.5, -0.0, 0.0, math.nan, math.inf, 1e300, 4, 2.5,
    np.float64(2.5), np.float32(1.5), 5, False, -(2**63), 7,
]  # fmt: skip
COMPLEX = [
    1j,
    2 + 3j,
    complex(0.0, -0.0),
    complex(math.nan, 1),
    complex(-0.0, 2.0),
    complex(math.inf, 1),
    3.5,
    2,
    1j,
]


SOURCES = {"list": list, "ints": np.array, "floats": np.float64, "range": lambda xs: range(1, 8)}


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize(("stage", "source"), some(itertools.product(STAGES | SUMS, SOURCES), every=3))
def test_values_and_types_are_those_of_python(stage, source):
    if "complex" in stage:
        turns = [(0, c) for c in COMPLEX]
    else:
        turns = [
            (number, 0)
            for number in ODD
            if stage != "enumerate" or not isinstance(number, float | np.floating)
        ]
    text = "for i, c in turns:\n    try: found.append((xs |> {}))\n    except Exception as e: found.append(e)"
    text = text.format((STAGES | SUMS)[stage][0])
    xs = SOURCES[source](XS)
    if (
        isinstance(xs, np.ndarray) and xs.dtype.kind == "f"
    ):  # whose elements count as NumPy's, and make float64 of float32
        turns = [each for each in turns if not isinstance(each[0], np.float32)]
    expected, found = run(text, turns, "python", xs=xs), run(text, turns, xs=xs)
    assert list(map(described, found)) == list(map(described, expected))


def described(value):
    """Types and bits, NumPy's floats as those that they count as."""
    if isinstance(value, list | tuple):
        return type(value), list(map(described, value))
    if isinstance(value, np.ndarray):
        return np.ndarray, list(map(described, value.tolist()))
    value = float(value) if isinstance(value, np.float64) else value
    return type(value), repr(value)


@pytest.mark.parametrize("source", ["list(range(70_000))", "list(range(1, 400))", "np.arange(1, 400)"])
@pytest.mark.parametrize(
    "stages",
    [
        "prod(start=i)",
        "map(lambda x: x % 2 + 1) |> prod(start=i)",
        "filter(lambda x: x % 100 == 7) |> reduce(lambda a, x: a * x, i)",
        "sum(i)",
        "map(lambda x: x * i) |> sum(start=i)",
        "reduce(max, i)",
    ],
)
def test_what_loops_over_many_begin_with_is_looked_at_once(stages, source, monkeypatch):
    """Also where they have to go the way of every loop: of products beyond 128 bits, and of long lists."""
    found, text = [], f"xs = {source}\nfor i in range(3, 12): found.append((xs |> {stages}))"
    firsts, first = [], Repeated._first
    monkeypatch.setattr(Repeated, "_first", lambda self, *given: firsts.append(self) or first(self, *given))
    Session({"found": found, "np": np}, QUIET).run_cell(text)
    assert not firsts
    expected = []
    Session({"found": expected, "np": np}, Options(baseline=False, quiet=True, on="python")).run_cell(text)
    assert [*map(type, found)] == [*map(type, expected)]
    assert found == expected


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
def test_numbers_from_so_large_a_start_are_exact():
    turns = [(n, 0) for n in (1, 2, 2**63 - 3, 2**62, 2**62 + 1, -(2**63), 2**64, 5)]
    text = LOOP.format("enumerate(i) |> map(lambda n, x: n * 2 + x) |> to_list")
    assert run(text, turns) == [[(i + n) * 2 + x for n, x in enumerate(XS)] for i, _ in turns]


def test_one_code_with_several_numbers():
    turns = [(n, n + 3) for n in range(1, 9)]
    for text in (
        "map(partial(scaled, i)) |> map(partial(scaled, c)) |> to_list",
        "where(partial(operator.lt, i), partial(scaled, c)) |> map(partial(scaled, i)) |> to_list",
        "clip(i, c) |> clip(c, i) |> to_list",
    ):
        assert run(LOOP.format(text), turns) == run(LOOP.format(text), turns, "python")
    made = "def made(k):\n    def g(x, k=k): return x * k\n    return g\n"
    body = "f, g = made(i), made(c)\n    found.append((xs |> map(f) |> map(lambda x: g(x)) |> map(made(3)) |> sum))"
    text = f"{made}for i, c in turns:\n    {body}"
    assert run(text, turns) == [sum(XS) * 3 * i * c for i, c in turns]


@pytest.mark.parametrize(
    "stage", ["reduce(f, *a, **k)", "scan(f, *a, **k) |> to_list", "reduce(g, *a, **k)", "reduce(h, *a, **k)"]
)
@pytest.mark.parametrize("first", range(5))
def test_arguments_in_other_places(stage, first):
    turns = [((n,), {}) for n in (1, 2, 3)]
    turns += [((), {}), ((), {"init": 4}), ((1, 2), {}), ((), {"init": 5}), ((), {}), ((6,), {"init": 1})]
    text = (
        "f, g, h = lambda a, x: a + x, lambda a, x: a * 2 - x, lambda a, x: int(f'{a}') + x\nfor a, k in turns:\n"
        f"    try: found.append((xs |> {stage}))\n    except Exception as e: found.append(e)"
    )
    turns = turns[first:] + turns[:first]
    assert list(map(described, run(text, turns))) == list(map(described, run(text, turns, "python")))


def test_defaults_by_name_that_are_exchanged():
    """They stand in a dict that may change."""
    names = {"xs": XS, "found": []}
    text = (
        "def f(x, *, k=1, b=2): return x * k + b\n"
        "for new in turns:\n    f.__kwdefaults__ = new\n    found.append((xs |> map(f) |> to_list))"
    )
    turns = [
        {"k": 2, "b": 3},
        {"k": 2, "b": 4},
        {"b": 4, "k": 2},
        {"k": 0.5, "b": 4},
        {"b": True, "k": 2},
        {"k": 3, "b": 1},
    ]
    Session({**names, "turns": turns}, QUIET).run_cell(text)
    expected = [[x * new["k"] + new["b"] for x in XS] for new in turns]
    assert repr(names["found"]) == repr(expected)
    names["found"].clear()
    turns = [{"k": 2, "b": 1}, {"k": 2}]
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'b'"):
        Session({**names, "turns": turns}, QUIET).run_cell(text)
    assert names["found"] == [[x * 2 + 1 for x in XS]]


@pytest.mark.parametrize(
    ("function", "attribute", "turns"),
    [
        ("lambda x, k=1, w=2: x + k - w", "__kwdefaults__", [None, {"w": 5}, {"w": 7, "z": 1}, None]),
        ("lambda x, *, w=2: x * w", "__kwdefaults__", [{"w": 3}, {"w": 4, "x": 1}, {"w": 4}]),
        ("lambda x: x * 2", "__defaults__", [None, (1, 2), (3,)]),
        ("lambda x, k=1: x * k", "__defaults__", [(2,), (7, 8, 9), (9,)]),
    ],
)
def test_defaults_of_other_parameters_are_not_taken(function, attribute, turns):
    """What stands among the defaults by name is none of a parameter that may be given by its place."""
    text = (
        f"f = {function}\nfor new in turns:\n    f.{attribute} = new\n"
        "    found.append((xs |> map(f) |> to_list))\n    wanted.append([f(x) for x in list(xs)])"
    )
    found, wanted = [], []
    Session({"xs": XS, "turns": turns, "found": found, "wanted": wanted}, QUIET).run_cell(text)
    assert repr(found) == repr(wanted)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_defaults_by_name_hold_is_looked_at():
    """NumPy's numbers in a list, and `round` under another name."""
    for text in (
        "xs |> map(lambda x, *, k=[np.int8(100)]: x * k[0] if str(x) else 0) |> map(lambda x: x * 2) |> to_list",
        "[2.675, 1.005] |> map(np.float64) |> map(lambda x, *, r=round: r(x, len(str(0.5)) - 1)) |> to_list",
    ):
        by_python, by_loop = (
            Session({"xs": XS, "np": np}, Options(baseline=False, quiet=True, on=on)).run_cell(text).value
            for on in ("python", "simd")
        )
        assert list(map(described, by_loop)) == list(map(described, by_python))


def test_a_number_behind_an_array_among_the_defaults():
    """Arrays are not asked whether they are equal to something."""
    text = "map(lambda x, t=table, k=i: t[x] * k) |> to_list"
    turns, table = [(n, 0) for n in range(2, 9)], np.arange(20)
    assert run(LOOP.format(text), turns, table=table) == [[x * i for x in XS] for i, _ in turns]


def test_what_code_has_to_know_is_a_constant():
    turns = [(n, 0) for n in range(2, 9)]
    for text in (
        "map(partial(pow, 2)) |> sum",
        "map(partial(lambda k, x: x ** k, i)) |> sum",
        "map(lambda x, k=i: x << k) |> sum",
    ):
        assert run(LOOP.format(text), turns) == run(LOOP.format(text), turns, "python")


def test_a_cell_that_runs_again():
    names = NAMES | {"xs": np.arange(20)}
    session = Session(names, Options(baseline=False))
    counts = []
    for k in (3, 4, 5, 6, 7):
        names["k"] = k
        report = session.run_cell("y = xs |> clip(k, k + 9) |> map(partial(scaled, k)) |> to_list").report
        assert names["y"] == [min(max(x, k), k + 9) * k + 1 for x in range(20)]
        counts.append(compiled())
    assert counts[1] == counts[-1] == 2 * counts[0]
    assert any(
        "`lo of clip`, `hi of clip` and `k of scaled` kept changing" in each
        for each in report.pipelines[0].why
    )


def test_literals_are_not_told_of():
    session = Session({"xs": np.arange(20)}, Options(baseline=False))
    report = session.run_cell("y = xs |> clip(3, 9) |> sum").report
    assert not any("clip" in each for each in report.pipelines[0].why)


@pytest.mark.parametrize("begun", [[math.nan], [-math.nan, 2.0], [2.0, math.nan], [complex(math.nan, 1)]])
@pytest.mark.parametrize(
    "text",
    [
        "map(lambda x, k=i: x * k) |> var",
        "map(lambda x: x * i) |> var",
        "drop_while(lambda x: i < x) |> to_list",
        "drop_while(partial(operator.lt, i)) |> first",
        "take_while(lambda x, k=i: not x < k) |> sum",
        "scan(lambda a, x: a + x, i) |> drop_while(lambda x: x < 20) |> to_list",
    ],
)
def test_what_is_no_number_is_a_parameter_once(text, begun):
    turns = [*begun, 9.0, 2.5, 2 + 3j, "a", 0, 3, math.nan, 4.0]
    body = (
        f"for i in turns:\n    try: found.append((xs |> {text}))\n    except Exception as e: found.append(e)"
    )
    expected, found = (run(body, turns, on) for on in ("python", "simd"))
    assert [type(each) for each in found] == [type(each) for each in expected]
    for each, other in zip(found, expected, strict=True):
        if isinstance(other, float) and "var" in text:
            assert each == pytest.approx(other, nan_ok=True)
        else:
            assert repr(each) == repr(other)


SIZES = (
    "take(t) |> to_list",
    "drop(t) |> sum",
    "step(t) |> to_list",
    "map(lambda x: x * 2) |> take(t) |> reverse |> to_list",
    "drop(t) |> take(3) |> max",
    "take(t) |> var",
    "drop(t) |> window(2) |> map(sum) |> to_list",
    "drop(t) |> zip(ys) |> map(lambda a, b: a - b) |> to_list",
    "zip(ys) |> drop(t) |> map(lambda a, b: a - b) |> sum",
    "take_while(lambda x: x < 30) |> take(t) |> last",
    "drop_while(lambda x: x < 4) |> step(t) |> reduce(lambda a, x: a + x, int(t))",
)
MORE = (
    "step(t) |> window(2) |> map(sum) |> to_list",
    "enumerate |> drop(t) |> to_list",
    "enumerate(t) |> step(t) |> to_list",
    "map(lambda x: 60 // (x - 3)) |> drop(t) |> to_list",
    "window(t) |> map(max) |> to_list",
    "take(t) |> enumerate |> reverse |> to_list",
)


TWENTY = {
    "list": [*range(20, 0, -1)],
    "ints": np.arange(20, 0, -1),
    "range": range(1, 21),
}


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize(("text", "source"), some(itertools.product([*SIZES, *MORE], TWENTY), every=2))
def test_numbers_of_elements(text, source):
    body = (
        f"for t in turns:\n    try: found.append((xs |> {text}))\n    except Exception as e: found.append(e)"
    )
    turns, xs = [3, 4, 5, 2, 1, 0, 7, 30, 2**70, True, -1, 2.5, np.int64(4), 6, 3, 8], TWENTY[source]
    expected, found = (run(body, turns, on, xs=xs, ys=[4, 1, 3] * 5) for on in ("python", "simd"))
    assert list(map(described, found)) == list(map(described, expected))


@pytest.mark.parametrize("text", SIZES[:6])
def test_other_numbers_of_elements_begin_where_the_loop_is_compiled(text, monkeypatch):
    turns, xs, body = range(2, 16), np.arange(20), f"for t in turns: found.append((xs |> {text}))"
    expected = run(body, turns, "python", xs=xs)
    first, usual = [], Repeated._first
    monkeypatch.setattr(Repeated, "_first", lambda self, *args: first.append(1) or usual(self, *args))
    assert run(body, turns, xs=xs) == expected
    assert not first  # the first turn is the cell's own
