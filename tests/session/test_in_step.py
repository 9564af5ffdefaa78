"""Python's stages and those around them: value, exception, and the order of what is seen, as builtins have them."""

import functools
import itertools
import math
import warnings

import numpy as np
import pytest

from hastega_magic.compiler.python.lockstep import Behind, _Keeper
from hastega_magic.session import Options, Session

MODULES = {"np": np, "math": math, "itertools": itertools, "functools": functools}

DEFINITIONS = """
def note(x):
    log.append(repr(x))
    return x

def raised(x):
    global best
    log.append(best)
    if x > best:
        best = x
    return x

def counted(x):
    ks.append(x)
    return x
"""

PLAIN = [
    # A pipeline, and the same of builtins over `xs`, which is range(-3, 5).
    ("map(lambda x: (repr(x), x // x)) |> sum", "sum((repr(x), x // x) for x in xs)"),
    ("map(lambda x: note(str(x))) |> sum", "sum(note(str(x)) for x in xs)"),
    ("map(lambda x: note((x, 1))) |> mean", "sum(note((x, 1)) for x in xs) / 8"),
    ("map(lambda x: note('a')) |> prod", "math.prod(note('a') for x in xs)"),
    ("map(lambda x: note(x) or None) |> max", "max(note(x) or None for x in xs)"),
    ("map(lambda x: note(x) or 'a') |> min(key=lambda x: -x)",
     "min((note(x) or 'a' for x in xs), key=lambda x: -x)"),
    ("map(lambda x: note(1j)) |> max", "max(note(1j) for x in xs)"),
    ("map(note) |> map(lambda x: (x, x)) |> sum", "sum((x, x) for x in map(note, xs))"),
    ("map(lambda x: note(x) if x < 2 else next(iter(()))) |> map(str) |> to_list",
     "list(map(str, map(lambda x: note(x) if x < 2 else next(iter(())), xs)))"),
    ("filter(lambda x: note(x) < 2 or next(iter(()))) |> map(str) |> to_list",
     "list(map(str, filter(lambda x: note(x) < 2 or next(iter(())), xs)))"),
    ("map(lambda x: (note(x), x)) |> map(divmod) |> to_list", "[divmod(note(x), x) for x in xs]"),
    ("map(lambda x: note((x, 'a'))) |> map(len) |> to_list", "[len(note((x, 'a'))) for x in xs]"),
    ("map(lambda x: note((x, 'a'))) |> map(print) |> to_list", "[print(note((x, 'a'))) for x in xs]"),
    ("map(note) |> sum('a')", "sum(map(note, xs), 'a')"),
    ("map(note) |> sum(start=None)", "sum(map(note, xs), start=None)"),
    ("map(lambda x: note(x) > 0) |> any", "any(note(x) > 0 for x in xs)"),
    ("map(lambda x: note(x) < 0) |> all", "all(note(x) < 0 for x in xs)"),
    ("map(note) |> filter(lambda x: x > 0) |> first", "next(x for x in map(note, xs) if x > 0)"),
    ("map(note) |> take(2) |> to_list", "list(itertools.islice(map(note, xs), 2))"),
    ("map(note) |> take_while(lambda x: x < 0) |> to_list",
     "list(itertools.takewhile(lambda x: x < 0, map(note, xs)))"),
    ("map(note) |> map(lambda x: 6 // x) |> to_list", "[6 // x for x in map(note, xs)]"),
    ("map(lambda x: note(math.inf)) |> map(int) |> sum", "sum(int(note(math.inf)) for x in xs)"),
    ("map(lambda x: note(10 ** 400)) |> map(lambda x: x * 1.0) |> sum",
     "sum(note(10 ** 400) * 1.0 for x in xs)"),
    ("map(note) |> map(lambda x: 10 ** 18 + x) |> map(lambda x: x ** 30 * 1.0) |> to_list",
     "[(10 ** 18 + x) ** 30 * 1.0 for x in map(note, xs)]"),
    ("map(note) |> map(lambda x: x * 2) |> filter(lambda x: x > 2) |> to_list",
     "[x * 2 for x in map(note, xs) if x * 2 > 2]"),
    ("map(lambda x: note([x, 2.5, True][x % 3])) |> map(lambda x: -x) |> to_list",
     "[-note([x, 2.5, True][x % 3]) for x in xs]"),
    ("map(lambda x: note((x, x * 0.5))) |> map(lambda a, b: a + b) |> to_list",
     "[sum(note((x, x * 0.5))) for x in xs]"),
    ("map(lambda x: note(np.bool_(x))) |> map(lambda b: b >> 2.5) |> to_list",
     "[note(np.bool_(x)) >> 2.5 for x in xs]"),
    ("map(note) |> dot(map(note, range(8)))", "sum(a * b for a, b in zip(map(note, xs), map(note, range(8))))"),
    ("map(note) |> reduce(lambda a, x: a - x) ", "functools.reduce(lambda a, x: a - x, map(note, xs))"),
    ("map(lambda x: note(str(x))) |> reduce(lambda a, x: a - x)",
     "functools.reduce(lambda a, x: a - x, map(note, map(str, xs)))"),
    ("map(lambda x: x * best) |> map(raised) |> map(lambda x: x + best) |> to_list",
     "[x + best for x in map(raised, (x * best for x in xs))]"),
    ("filter(lambda x: x > best) |> map(raised) |> to_list", "[raised(x) for x in xs if x > best]"),
    ("map(counted) |> map(lambda x: x * len(ks)) |> sum", "sum(x * len(ks) for x in map(counted, xs))"),
    ("map(lambda x: x + len(ks)) |> map(counted) |> to_list", "[counted(x + len(ks)) for x in xs]"),
]  # fmt: skip


def told(cell, on):
    """The value with its types or what is raised, and what was seen meanwhile."""
    space = {**MODULES, "log": [], "ks": [], "best": -2, "xs": range(-3, 5)}
    session = Session(space, Options(on=on, baseline=False, quiet=True))
    session.run_cell(DEFINITIONS)
    try:
        session.run_cell(f"t = {cell}")
    except Exception as error:
        return type(error), str(error), space["log"]
    return repr(space["t"]), space["log"], space["best"]


@pytest.mark.parametrize(("stages", "builtins"), PLAIN, ids=[stages for stages, _ in PLAIN])
def test_it_is_as_of_builtins(stages, builtins):
    space = {**MODULES, "log": [], "ks": [], "best": -2, "xs": range(-3, 5)}
    exec(DEFINITIONS, space)
    try:
        value = eval(builtins, space)
        expected = repr(value), space["log"], space["best"]
    except Exception as error:
        expected = type(error), str(error), space["log"]
    for on in ("parallel", "numpy", "python"):
        assert told(f"xs |> {stages}", on) == expected


@pytest.mark.parametrize("on", ["parallel", "numpy", "python"])
@pytest.mark.parametrize("stages", ["map(lambda x: x * 1)", "drop(1)", "filter(lambda x: x > 0)", "step(1)"])
def test_what_changes_the_source_is_seen_by_the_stages_before(stages, on):
    session = Session({}, Options(on=on, baseline=False, quiet=True))
    session.run_cell("def raised(x):\n    if x == 2:\n        xs[4] = 100\n    return x")
    for _ in range(3):
        session.namespace["xs"] = [0, 1, 2, 3, 4, 5]
        session.run_cell(f"t = xs |> {stages} |> map(raised) |> map(lambda x: x * 2) |> to_list")
        assert session.namespace["t"][-3:] == [6, 200, 10]


@pytest.mark.parametrize(
    "text",
    [
        "range(3) |> map(lambda x: note(np.bool_(x))) |> bincount",
        "np.array([1.5, 0.5]) |> map(np.isnan) |> bincount",
        "range(2) |> map(lambda x: np.array([True, False])[x]) |> bincount",
        "np.array([True, False]) |> bincount",
        "np.array([3, 1], 'u8') |> bincount(minlength=6)",
        "np.array([3, -1], 'i1') |> bincount",
        "np.array([1.0, 2.0]) |> bincount",
        "[True, 3, 1] |> bincount",
        "np.array([1.5, 0.5]) |> map(np.isnan) |> map(lambda b: b >> 2.5) |> to_list",
        "np.array([1.5, 0.5]) |> map(lambda x: np.greater(x, 1)) |> map(lambda b: 2.5 << b) |> sum",
        "np.array([1.5, 0.5]) |> map(np.isnan) |> map(lambda b: b << b) |> map(lambda x: x * 100) |> to_list",
        "[0.5, -0.0, 5e-324, 1e308, math.inf, math.nan] |> where(lambda x: x > 1, True)",
        "[0.5, 1.5] |> where(lambda x: x > 1, False) |> sum",
        "[0.5, 1.5] |> where(lambda x: x > 1, 3) |> to_list",
        "np.array([0.5, 1.5], 'f4') |> where(lambda x: x > 1, True) |> to_list",
        "np.array([0, 2**63], 'u8') |> where(lambda x: x > 1, True) |> to_list",
        "np.array([0, 3], 'i1') |> where(lambda x: x > 1, True) |> to_list",
        "[0.5, 1.5, -1.5] |> clip(False, True) |> to_list",
        "[2**64, -1] |> map(math.sqrt) |> map(note) |> sum",
        "np.arange(9000) |> map(lambda x: x * 1j) |> prod",
        "np.array([1e200 + 1j, 1e200, 0, 1j]) |> prod",
    ],
)
@pytest.mark.parametrize("on", ["parallel", "opencl"])
@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
def test_it_is_as_with_python(text, on):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    assert told(text, on) == told(text, "python")


@pytest.mark.parametrize(
    "stages",
    ["map(lambda x: f(x)) |> map(lambda x: x // k) |> to_list", "map(f) |> map(str) |> to_list"],
)
def test_later_runs_go_in_step_as_well(stages):
    """What the functions give changes from run to run, and with it who could tell."""
    found = {}
    for on in ("parallel", "python"):
        space = {"log": [], "found": []}
        Session(space, Options(on=on, baseline=False, quiet=True)).run_cell(
            "def f(x):\n    log.append(x)\n    return [x, x + 0.5, 'a', None, (x, x)][k % 5]\n"
            "for k in [5, 5, 6, 5, 2, 5, 0, 3, 4, 10]:\n"
            f"    try:\n        found.append(range(4) |> {stages})\n"
            "    except Exception as error:\n        found.append((str(error), getattr(error, '__notes__', [])[:0]))\n"
        )
        found[on] = repr(space["found"]), space["log"]
    assert found["parallel"] == found["python"]


def test_later_runs_know_what_a_stage_has_assigned():
    found = {}
    for on in ("parallel", "python"):
        space = {"found": [], "k": 2}
        Session(space, Options(on=on, baseline=False, quiet=True)).run_cell(
            "def f(x):\n    global k\n    k += x > 5\n    return x\n"
            "for i in range(6):\n    found.append(range(3) |> map(lambda x: x * k) |> map(f) |> map(str) |> to_list)\n"
        )
        found[on] = space["found"], space["k"]
    assert found["parallel"] == found["python"]


def test_what_nobody_can_tell_is_a_loop():
    session = Session({"log": []}, Options(on="parallel", baseline=False))
    session.run_cell(DEFINITIONS)
    session.run_cell(
        "k = 3\nt = range(300) |> map(note) |> map(lambda x: x * k / 2) |> window(2) |> map(sum) |> max"
    )
    (pipeline,) = session.last_report.pipelines
    assert pipeline.loops >= 1
    assert [barrier.stage for barrier in pipeline.barriers] == ["map(note)"]


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ("map(lambda i: noted(image[i])) |> sum", 100_000),
        ("map(lambda i: noted(image[i])) |> map(lambda v: v * 4) |> to_list", [100_000] * 4),
        (
            "map(lambda i: noted([image[i], 'a'][i % 2])) |> map(lambda v: v * 2) |> to_list",
            [50_000, "aa"] * 2,
        ),
        (
            "map(lambda i: noted([image[i], 'a'][i % 2])) |> filter(lambda v: v != 0) |> map(_ * 2) |> to_list",
            [50_000, "aa"] * 2,
        ),
        (
            "map(lambda i: noted('a' if i < 1 else (image[i], (image[i],)))) |> map(lambda v: v * 2) |> last",
            (25_000, (25_000,)) * 2,
        ),
        (
            "filter(noted) |> map(lambda i: ['a', image[i]][i > 1]) |> map(lambda v: v * 2) |> to_list",
            ["aa", 50_000, 50_000],
        ),
    ],
)
def test_integers_of_captured_arrays_do_not_wrap_around_behind_pythons_stages(stages, expected):
    space = {"image": np.full(4, 25_000, "i2"), "noted": lambda x: [print(end=""), x][1], "found": []}
    Session(space, Options(on="parallel", baseline=False, quiet=True)).run_cell(
        f"for turn in range(3):\n    found.append(range(4) |> {stages})"
    )
    assert space["found"] == [expected] * 3


@pytest.mark.parametrize("other", ["x", "x / 2", "x > 9", "'a'", "2**63 + x", "2**70", "(x, x)", "None"])
@pytest.mark.parametrize("where", [2047, 2048, 2049, 5000])
@pytest.mark.parametrize(
    "behind", ["map(lambda v: v * k) |> sum", "filter(lambda v: v > k)", "max", "map(str) |> count"]
)
def test_many_elements_of_one_type_and_then_another(other, where, behind):
    found = {}
    for on in ("parallel", "python"):
        space = {"np": np, "k": 3, "log": [], "other": eval(f"lambda x: {other}", {"np": np})}
        cell = f"t = range(6000) |> map(lambda x: log.append(x) or (other(x) if x == {where} else x)) |> {behind}"
        try:
            with warnings.catch_warnings(action="ignore"):
                Session(space, Options(on=on, baseline=False, quiet=True)).run_cell(cell)
            value = space["t"]
            found[on] = repr(value.tolist() if isinstance(value, np.ndarray) else value), len(space["log"])
        except Exception as error:
            found[on] = type(error), str(error), len(space["log"])
    assert found["parallel"] == found["python"]


@pytest.mark.parametrize("where", [2047, 2048, 2049, 5000])
def test_many_elements_and_then_a_variable_is_assigned(where):
    found = {}
    for on in ("parallel", "python"):
        space = {"k": 3}
        Session(space, Options(on=on, baseline=False, quiet=True)).run_cell(
            f"def f(x):\n    global k\n    if x == {where}:\n        k = -1\n    return x\n"
            "t = range(6000) |> map(f) |> map(lambda v: v * k) |> to_list"
        )
        found[on] = space["t"], space["k"]
    assert found["parallel"] == found["python"]


def test_an_error_behind_many_elements_names_its_element():
    space = {"log": []}
    with pytest.raises(ZeroDivisionError) as caught:
        Session(space, Options(on="parallel", baseline=False, quiet=True)).run_cell(
            "t = range(6000) |> map(lambda x: log.append(x) or x) |> map(lambda v: 1 // (v - 5000)) |> sum"
        )
    assert any("element 5000, which is 5000" in each for each in caught.value.__notes__)
    assert len(space["log"]) == 5001


@pytest.mark.parametrize(
    ("stages", "expected"),
    [("map(lambda v: v * k) |> sum", lambda xs: sum(x * 3 for x in xs)), ("max", max), ("count", len)],
)
def test_numbers_of_types_in_turns_are_not_judged_each(stages, expected, monkeypatch):
    asked, ask = [], Behind.quiet
    monkeypatch.setattr(Behind, "quiet", lambda self, *given: asked.append(given) or ask(self, *given))
    xs = [[x, x / 2, x % 3 == 0][x % 3] for x in range(5000)]
    space = {"k": 3, "log": [], "xs": xs}
    cell = f"t = xs |> map(lambda x: log.append(x) or x) |> {stages}"
    Session(space, Options(on="parallel", baseline=False, quiet=True)).run_cell(cell)
    assert repr(space["t"]) == repr(expected(xs))
    assert len(asked) <= 12


@pytest.mark.parametrize("where", [2047, 2048, 2049, 5000])
def test_each_element_is_judged_once(where):
    """Numbers and tuples may be compared each among themselves: `max` refuses the first tuple before another comes."""
    found = {}
    for on in ("parallel", "python"):
        space = {"log": []}
        element = f"(x, x) if x == {where} else x / 2 if x % 2 else x"
        cell = f"t = range(6000) |> map(lambda x: log.append(x) or ({element})) |> max"
        with pytest.raises(TypeError) as caught:
            Session(space, Options(on=on, baseline=False, quiet=True)).run_cell(cell)
        found[on] = str(caught.value), len(space["log"])
    assert found["parallel"] == found["python"]


@pytest.mark.parametrize("first", [1, 100, 3000])
def test_a_mixture_of_numbers_is_not_kept(first, monkeypatch):
    """No loop goes over one: from its second type on the stages behind are Python's, in the same pass."""
    most, keep = [], _Keeper.keep

    def seen(self, elements):
        odd = keep(self, elements)
        most.append(len(self.kept) + (0 if self.drawn is None else len(self.drawn)))
        return odd

    monkeypatch.setattr(_Keeper, "keep", seen)
    xs = [*range(first), *[0.5, 1] * 5000]
    space = {"log": [], "xs": xs}
    cell = "t = xs |> map(lambda x: log.append(x) or x) |> map(lambda x: x * 3) |> to_list"
    Session(space, Options(on="parallel", baseline=False, quiet=True)).run_cell(cell)
    assert repr(space["t"]) == repr([x * 3 for x in xs])
    assert max(most) <= first
