"""Tuples, lists and dicts that are others in each turn of a loop: values, and how often something is compiled."""

import math

import numpy as np
import pytest
from outcomes import compiled

from hastega_magic import hastega, pipe
from hastega_magic.compiler import loops
from hastega_magic.compiler.choice import costs
from hastega_magic.compiler.fastpath import recompilation
from hastega_magic.compiler.fastpath.repeated import Repeated
from hastega_magic.compiler.run import FOR_ITSELF
from hastega_magic.session import Options, Session
from hastega_magic.syntax.closures import contained

pytestmark = pytest.mark.usefixtures("nothing_compiled")

TURNS = 40
XS = {
    "list": [1, 2, 3],
    "array": np.arange(20) % 3 + 1,
    "range": range(1, 4),
    "long": np.arange(5000) % 3 + 1,
}


UNPACKED = """
def f(x):
    a, b = t
    return x * a + b
"""
WALKED = """
def f(x):
    r = 0
    for v in t:
        r += v * x
    return r
"""

CHANGING = {
    "item": ("t = (i, i + 1)", "lambda x: x * t[0]"),
    "last": ("t = (0.5, i + 1)", "lambda x: x * t[-1]"),
    "unpacked": ("t = (i, i + 1)", UNPACKED),
    "unpacked list": ("t = [i, -i]", UNPACKED),
    "floats": ("t = (i * 0.5, i + 1.0)", "lambda x: x * t[0] + t[1]"),
    "some item": ("t = (i, i + 1, 7, 2)", "lambda x: t[x]"),
    "list": ("t = [i, i + 1, i + 2]", "lambda x: x * t[0]"),
    "list, some item": ("t = [i, i + 1, i + 2, i]", "lambda x: t[x]"),
    "mixed list": ("t = [i, i / 4, 2, 5.0]", "lambda x: t[0] + x * t[1]"),
    "sum": ("t = [i, i + 1, i + 2]", "lambda x: x * sum(t)"),
    "sum of tuple": ("t = (i, i + 1, i + 2)", "lambda x: x * sum(t)"),
    "least": ("t = [i, 20 - i, i * i]", "lambda x: x + min(t) + max(t) + len(t)"),
    "walked": ("t = [i, i + 1]", WALKED),
    "in": ("t = (i, i + 1)", "lambda x: x in t"),
    "in list": ("t = [i, i + 1]", "lambda x: x + 3 in t"),
    "equal": ("t = (i, 1)", "lambda x: (x, 1) == t"),
    "dict": ("t = {1: i, 2: i + 1, 3: i * 2}", "lambda x: t[x]"),
    "dict's get": ("t = {1: i}", "lambda x: t.get(x, 5)"),
    "dict's values": ("t = {1: i, 2: 3}", "lambda x: x + sum(t.values()) + len(t) + (x in t)"),
    "tuples in a dict": ("t = {1: (i, 2), 2: (3, i), 3: (i, i)}", "lambda x: t[x][0] - t[x][1]"),
    "lists in a list": ("t = [[i, 1], [2, i]]", "lambda x: x * t[0][0] + t[1][1] + sum(t[0])"),
    "changed in its place": ("t = t if i else [0] * 5\n    t[i % 5] += i", "lambda x: x * sum(t)"),
    "dict changed in its place": (
        "t = t if i else {1: 0, 2: 0, 3: 0}\n    t[i % 3 + 1] += i",
        "lambda x: t[x]",
    ),
    "one is a constant": ("t = (i, 2)", "lambda x: t[0] * x ** t[1]"),
    "beyond 64 bits": ("t = (2**62 + i, i)", "lambda x: x * t[0] + t[1]"),
    "negative": ("t = (5 - i, i)", "lambda x: x * t[0] // (t[1] + 1)"),
    "zeros": ("t = (-0.0 if i % 2 else 0.0, i)", "lambda x: math.copysign(1.0, t[0]) * t[1]"),
    "nan": ("t = (math.nan if i % 2 else 1.5, i)", "lambda x: x if t[0] == t[0] else t[1]"),
}


def cell(assigned, function, sink="sum"):
    named = function if function.startswith("lambda") else "f"
    made = "" if named != "f" else function
    return f"{made}\nys = []\nfor i in range({TURNS}):\n    {assigned}\n    ys.append(XS |> map({named}) |> {sink})\n"


def by_python(code, xs):
    names = {"xs": [int(x) for x in xs], "math": math}
    exec(code.replace("XS |> map(", "sum(map(").replace(") |> sum)", ", xs)))"), names)
    return names["ys"]


@pytest.mark.parametrize("xs", XS)
@pytest.mark.parametrize("form", CHANGING)
def test_values_and_compilations(form, xs):
    code = cell(*CHANGING[form])
    session = Session({"XS": XS[xs], "math": math}, Options(baseline=False))
    session.run_cell(code)
    found, expected = session.namespace["ys"], by_python(code, XS[xs])
    assert [type(each) for each in found] == [type(each) for each in expected]
    assert found == pytest.approx(expected, rel=1e-12)
    assert all(math.copysign(1, a) == math.copysign(1, b) for a, b in zip(found, expected, strict=True))
    assert compiled() < 8


def test_most_turns_begin_with_the_loop_that_is_ready(monkeypatch):
    usual, first = [], Repeated._first
    monkeypatch.setattr(Repeated, "_first", lambda *given: usual.append(1) or first(*given))
    for form, (assigned, function) in CHANGING.items():
        if form in ("beyond 64 bits", "changed in its place", "dict changed in its place"):
            continue  # small ints at first, of which code takes for granted how small
        usual.clear()
        Session({"XS": XS["list"], "math": math}, Options(baseline=False)).run_cell(cell(assigned, function))
        assert len(usual) < 6, form


@pytest.mark.parametrize(
    "assigned",
    [
        "t = (i, i % 2 == 0)",  # a bool is no 0 and no 1
        "t = (i, 1 if i % 2 else True)",
        "t = (i, 1 if i % 3 else 1.0)",
        "t = (i, np.float64(i) if i % 2 else i)",
        "t = (2**70 + i, i)",
        "t = (i, *range(i % 4), 2)",
        "t = (i, i) if i % 2 else [i, i]",
        "t = {0: i, 1: 2} if i % 2 else {1: 2, 0: i}",
        "t = {0: i, 1: 2} if i % 2 else {False: i, 1.0: 2}",
        "t = (i, 'text') if i % 5 == 4 else (i, 3)",
        "t = (i, None) if i % 5 == 4 else (i, 3)",
        "t = (i,) if i % 5 == 4 else (i, 3)",
        "t = [i, 5, i] if i % 2 else [i, 5]",
    ],
)
def test_types_and_lengths_that_change(assigned):
    function = "lambda x: x * t[1] + len(t)"
    named = {"XS": [1, 2, 3], "np": np, "math": math}
    code = f"""
ys = []
for i in range({TURNS}):
    {assigned}
    try:
        ys.append(XS |> map({function}) |> to_list)
    except Exception as error:
        ys.append((type(error), str(error)))
"""
    session = Session(dict(named), Options(baseline=False))
    session.run_cell(code)
    exec(code.replace("XS |> map(", "list(map(").replace(") |> to_list)", ", XS)))"), named)
    shown = [[(type(each), each) for each in ys] for ys in (session.namespace["ys"], named["ys"])]
    assert shown[0] == shown[1]


def test_two_variables_of_one_container():
    """They hold one list in the first turns, and two in the others."""
    code = """
ys = []
for i in range(12):
    a = (i, 1)
    b = a if i < 5 else (i + 100, 1)
    ys.append([1, 2, 3] |> map(lambda x: x * a[0] + b[0]) |> sum)
"""
    session = Session({}, Options(baseline=False))
    session.run_cell(code)
    assert session.namespace["ys"] == [6 * i + 3 * (i if i < 5 else i + 100) for i in range(12)]


@pytest.mark.parametrize("same", ["a is b", "a is not b"])
def test_which_object_it_is(same):
    code = f"""
ys = []
for i in range(6):
    a = (1, 2)
    b = a if i % 2 else tuple([1, 2])
    ys.append([1, 2, 3] |> map(lambda x: x if {same} else -x) |> sum)
"""
    session = Session({}, Options(baseline=False))
    session.run_cell(code)
    expected = [6 if i % 2 else -6 for i in range(6)]
    assert session.namespace["ys"] == (expected if same == "a is b" else [-each for each in expected])


@pytest.mark.parametrize("value", ["{0: i, 1: 2}", "[i, 2]", "(i, 2)", "{0: {1: i}}"])
@pytest.mark.parametrize("same", ["a is b", "a is a", "a is not b", "a is (lambda c: c)(b)"])
def test_which_object_one_with_parameters_is(same, value):
    body = f"    a = {value}\n    b = a if i % 2 else {value}\n    "
    ours, pythons = {"ys": []}, {"ys": []}
    stages = f"[1, 2, 3] |> map(lambda x: x + a[0] if {same} and a else -x) |> to_list"
    if "{0: {" in value:
        stages = stages.replace("a[0]", "a[0][1]")
    code = stages.replace("[1, 2, 3] |> map(", "list(map(").replace(") |> to_list", ", [1, 2, 3]))")
    Session(ours, Options(baseline=False)).run_cell(f"for i in range(9):\n{body}ys.append({stages})")
    exec(f"for i in range(9):\n{body}ys.append({code})", pythons)
    assert ours["ys"] == pythons["ys"]


def test_captured_lists_are_not_changed_by_functions():
    code = """
def f(x):
    t.append(x)
    return len(t)
ys = []
for i in range(6):
    t = [i, i + 1]
    ys.append([1, 2, 3] |> map(f) |> to_list)
"""
    session = Session({}, Options(baseline=False))
    session.run_cell(code)
    assert session.namespace["ys"] == [[3, 4, 5]] * 6
    assert session.namespace["t"] == [5, 6, 1, 2, 3]


def test_closures_and_decorated_functions():
    @hastega
    def moved(xs, w):
        return [x * w[0] + w[1] for x in xs]

    xs = list(range(400))
    before = None
    for i in range(30):
        assert moved(xs, (i, i + 1)) == [x * i + i + 1 for x in xs]
        assert moved(xs, [i, i + 0.5]) == [x * i + i + 0.5 for x in xs]
        before = compiled() if i == 8 else before
    assert compiled() == before


def test_what_the_report_says():
    session = Session({"XS": [1, 2, 3]}, Options(baseline=False))
    code = cell("t = (i, i + 1)", "lambda x: x * t[0] + t[1]")
    for _ in range(2):
        session.run_cell(code)
        [pipeline] = session.last.report.pipelines
        assert any("`t` kept changing" in each for each in pipeline.why)


@pytest.mark.parametrize(
    ("function", "made", "count"),
    [
        ("lambda x: x * t[0] + t[1]", lambda i: (i, i + 2), 3),
        ("lambda x: x * sum(t)", lambda i: [i, 3], 3),
        ("lambda x: x * t[1] + len(t)", lambda i: {1: i, 2: 5}, 3),
        ("lambda x: x * t[0][1] ** t[1]", lambda i: ((5, i), 2), 3),
        ("lambda x: t[x % 2]", lambda i: (i, i + 2), 1),  # which are looked up in a table
        ("lambda x: x * t[0]", lambda i: [i, i + 2], 1),
    ],
)
def test_a_cell_that_runs_again_with_another_one(function, made, count):
    names = {"XS": [1, 2, 3]}
    session = Session(names, Options(baseline=False))
    for i in range(3, 9):
        t = names["t"] = made(i)
        session.run_cell(f"y = XS |> map({function}) |> sum")
        assert names["y"] == sum(map(eval(function, {"t": t}), names["XS"]))
    assert len(loops.cached_loops()) == count


def test_items_that_the_loop_has_to_know_keep_no_number_from_being_a_parameter():
    names, counts = {"XS": [1, 2, 3], "k": 1}, []
    session = Session(names, Options(baseline=False))
    for i in range(12):
        names["k" if i > 5 else "t"] = i if i > 5 else (3, i)
        session.run_cell("y = XS |> map(lambda x: x ** t[1] * k) |> sum")
        assert names["y"] == sum(x ** names["t"][1] * names["k"] for x in names["XS"])
        counts.append(len(loops.cached_loops()))
    assert counts[7:] == [counts[7]] * 5


CONSTANTS = {
    "keys": ("t = {i: 5}", "lambda x: t.get(x, 7)"),
    "sets": ("t = {i, i + 1}", "lambda x: x in t"),
    "exponents": ("t = (i, 2)", "lambda x: (x % 3) ** t[0]"),
    "lengths": ("t = {k: i for k in range(i)}", "lambda x: x + sum(t.values())"),
}


@pytest.fixture
def chosen(monkeypatch):
    """Back ends are chosen by what is predicted, as outside of the tests; however long it takes on a busy machine."""
    monkeypatch.setenv(costs.AUTO, "")
    monkeypatch.setattr(recompilation, "_LOST", 10**6)


@pytest.mark.parametrize("form", CONSTANTS)
@pytest.mark.usefixtures("chosen")
def test_few_elements_are_python_s_where_each_turn_would_compile(form):
    code = cell(*CONSTANTS[form])
    session = Session({"XS": [1, 2, 3]}, Options(baseline=False))
    session.run_cell(code)
    found, expected = session.namespace["ys"], by_python(code, XS["list"])
    assert [(type(each), each) for each in found] == [(type(each), each) for each in expected]
    assert compiled() < 8


@pytest.mark.parametrize(
    ("function", "sink"),
    [
        ("lambda x: x * 0.1 + (x in t)", "sum"),  # whose last bits hang on the order
        ("lambda x: math.sin(x) + (x in t)", "to_list"),
        ("lambda x: x // (x - 1000) + (x in t)", "to_list"),
        ("lambda x: x * 2**40 * x + (x in t)", "sum"),
    ],
)
@pytest.mark.usefixtures("chosen")
def test_loops_of_which_python_may_give_others_are_compiled_all_the_same(function, sink):
    xs = np.arange(1, 200)
    code = cell("t = {i, i + 1}", function, sink)
    values = []
    for on in ("auto", "simd"):
        session = Session({"XS": xs, "math": math}, Options(on=on, baseline=False))
        session.run_cell(code)
        values.append([(type(each), each) for each in session.namespace["ys"]])
    assert values[0] == values[1]
    assert compiled() >= TURNS


@pytest.mark.usefixtures("chosen")
def test_few_turns_that_raise_where_each_would_compile():
    """What Python raises has the notes that a loop's has."""
    code = cell("t = {i, i + 1}", "lambda x: 1 // (x - 1 + 100 * (x in t)) if i > 30 else x in t", "to_list")
    for _ in range(2):
        session = Session({"XS": [1, 2, 3]}, Options(baseline=False))
        with pytest.raises(ZeroDivisionError) as caught:
            session.run_cell(code)
        assert any("element 0" in note for note in caught.value.__notes__)


@pytest.mark.usefixtures("chosen")
def test_explained_where_nothing_was_compiled():
    """What is shown is compiled for that."""
    for i in range(10):
        known = {i, i + 1}
        piped = pipe([1, 2, 3]).map(lambda x: x in known)  # noqa: B023  it runs in this turn
        assert piped.sum() == sum(x in known for x in [1, 2, 3])
    [pipeline] = piped.explain().pipelines
    assert pipeline.backend == "python"
    assert FOR_ITSELF in pipeline.why


def test_lists_beyond_64_bits_that_are_read_as_arrays():
    """Python computes them, as it does where nothing has changed before: without a warning of a constant."""
    code = """
ys = []
for i in range(8):
    t = [i, 2**70 if i > 4 else 3, 4]
    ys.append([1, 2, 3] |> map(lambda x: t[x % 3] + len(t) + (x in t)) |> sum)
"""
    session = Session({}, Options(baseline=False))
    session.run_cell(code)
    t = [[i, 2**70 if i > 4 else 3, 4] for i in range(8)]
    assert session.namespace["ys"] == [sum(u[x % 3] + 3 + (x in u) for x in [1, 2, 3]) for u in t]


@pytest.mark.parametrize("deep", [1, 2, 3])
def test_large_ones_are_known_by_their_first_items(deep, monkeypatch):
    """A matrix, a list of matrices, and a list that is in itself are looked at in each turn."""
    seen: list[object] = []
    usual = contained.pairs
    monkeypatch.setattr(contained, "pairs", lambda value: seen.append(value) or usual(value))
    value: list[object] = [1.0] * 60
    for _ in range(deep):
        value = [value] * 60
    assert not contained.is_small(value)
    itself: list[object] = []
    itself.extend([itself] * 60)
    assert not contained.is_small(itself)
    assert len(seen) < 20
