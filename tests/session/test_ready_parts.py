"""Pipelines of which Python runs some stages, in the body of a loop: later runs give what the first one would."""

from array import array
from collections import deque

import numpy as np
import pytest

from hastega_magic.compiler.driver import Driver
from hastega_magic.session import Options, Session

KINDS = {
    "ints": [3, 1, 4, 1, 5, 9, 2, 6],
    "more ints": [2, 7, 1, 8, 2, 8],
    "floats": [2.5, -1.0, 4.25],
    "mixed": [1, 2.5, 3],
    "words": ["be", "alpha", "gamma"],
    "none": [],
    "array": np.arange(10),
    "floats of numpy": np.linspace(0, 1, 7),
    "range": range(3, 12, 2),
    "tuple": (5, 6, 7, 8),
    "set": {4, 2, 8},
    "dict": {3: "c", 1: "a"},
    "large": [2**70, 1, 2],
    "pairs": [(1, 2), (3, 4), (5, 6)],
    "many": list(range(5000)),
}

STAGES = [
    "filter(lambda x: x > k) |> sorted",
    "sorted |> take(3)",
    "map(lambda x: x * k) |> np.sort |> sum",
    "map(lambda x: x * k) |> tap(seen.append) |> max",
    "map(lambda x: f'{x}') |> to_list",
    "list |> len",
    "map(str) |> map(str.upper) |> to_list",
    "map(lambda x: note(x)) |> filter(lambda x: x > k) |> count",
    "map(lambda x: note(x)) |> take_while(lambda x: x < 5) |> to_list",
    "filter(lambda x: note(x) != 3) |> map(lambda x: note(x)) |> to_list",
    "reduce(lambda a, x: a * 0.5 + x)",
    "set |> sorted |> map(lambda x: x * 2) |> to_list",
    "map(lambda x: (x, x * k)) |> dict",
    "enumerate |> list |> map(lambda i, x: i * x) |> sum",
    "reversed |> list |> map(lambda x: x - k) |> to_list",
    "map(lambda x: x + 1) |> grown |> map(lambda x: x * k) |> to_list",
    "zip(other) |> map(lambda x, y: (y, x)) |> sorted |> map(lambda y, x: y * k) |> to_list",
]

CELL = """
def note(x):
    seen.append(x)
    return x

def grown(values):
    global k
    k += 1
    return [*values, 7]

def run(xs):
    try:
        return (xs |> {stages})
    except Exception as error:
        return type(error), str(error), getattr(error, "__notes__", [])

found = []
for number, name in enumerate(names):
    k = 2 + number % 2
    for repeat in range(2):
        found.append((name, run(kinds[name]), list(seen)))
        seen.clear()
"""


def told(value):
    """A value that can be compared, types and all."""
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), [told(each) for each in value.tolist()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [told(each) for each in value]
    if isinstance(value, dict):
        return "dict", [told(pair) for pair in value.items()]
    return type(value).__name__, repr(value)


def ran(stages, names, **options):
    space = {"np": np, "kinds": KINDS, "names": names, "seen": [], "other": [5, 4, 3, 2, 1], "k": 2}
    session = Session(space, Options(**{"baseline": False, "quiet": True, "on": "parallel", **options}))
    session.run_cell(CELL.format(stages=stages))
    return [(name, told(value), told(seen)) for name, value, seen in space["found"]]


def alone(stages, names, **options):
    """The same, each run the first one of a session."""
    found = []
    for number, name in enumerate(names):
        space = {"np": np, "kinds": KINDS, "names": [name], "seen": [], "other": [5, 4, 3, 2, 1]}
        session = Session(space, Options(**{"baseline": False, "quiet": True, "on": "parallel", **options}))
        text = CELL.format(stages=stages).replace("2 + number % 2", str(2 + number % 2))
        (first,) = [text.replace("range(2)", "range(1)")]
        session.run_cell(first)
        start = space["k"]
        (value,) = [(told(each), told(seen)) for _, each, seen in space["found"]]
        space |= {"found": [], "seen": []}
        again = text.replace("range(2)", "range(1)").replace(f"k = {2 + number % 2}\n", f"k = {start}\n")
        session.run_cell(again)
        ((_, later, seen),) = space["found"]
        found += [(name, *value), (name, told(later), told(seen))]
    return found


ORDERS = [
    list(KINDS),
    ["ints", "more ints", "words", "ints", "none", "ints", "pairs", "array", "many", "ints"],
    ["words", "ints", "words", "words"],
]


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("order", range(len(ORDERS)))
@pytest.mark.parametrize("stages", STAGES)
def test_every_run_gives_what_a_first_one_gives(stages, order):
    assert ran(stages, ORDERS[order]) == alone(stages, ORDERS[order])


@pytest.fixture
def ways(monkeypatch):
    """How often a statement went the way of every statement."""
    counted = []
    run_alone, go_from = Driver.run_alone, Driver.go_from
    monkeypatch.setattr(Driver, "run_alone", lambda *args: counted.append("whole") or run_alone(*args))
    monkeypatch.setattr(Driver, "go_from", lambda *args: counted.append("rest") or go_from(*args))
    return counted


LOOP = "seen = []\nfor k in ks:\n    found.append(xs |> {stages})"


@pytest.mark.parametrize(
    "stages",
    [
        "filter(lambda x: x > 2) |> sorted",
        "map(lambda x: x * 2) |> tap(seen.append) |> sum",
        "map(lambda x: seen.append(x)) |> to_list",
        "map(lambda x: f'{x}{k}') |> to_list",
        "set |> len",
        "sorted(reverse=k > 1) |> take(2)",
    ],
)
def test_it_goes_the_way_of_every_statement_once(ways, stages):
    space = {"xs": [3, 1, 4, 1, 5], "ks": [1, 2, 3, 4], "found": []}
    Session(space, Options(baseline=False, quiet=True, on="parallel")).run_cell(LOOP.format(stages=stages))
    assert ways == ["whole"]


def test_numbers_that_keep_changing_are_given_to_its_loops(ways):
    space = {"xs": [3, 1, 4, 1, 5], "ks": [1, 2, 3, 4, 5, 6], "found": []}
    session = Session(space, Options(baseline=False, on="parallel"))
    session.run_cell(LOOP.format(stages="map(lambda x: x * k) |> sorted |> map(lambda x: x + k) |> sum"))
    assert ways == ["whole"]
    assert space["found"] == [sum(x * k + k for x in space["xs"]) for k in space["ks"]]
    whys = [each.data["text"] for each in session.last.trace.events if each.kind == "why"]
    assert any("`k` kept changing" in each for each in whys)


def test_what_follows_another_kind_of_value_goes_on_from_there(ways):
    """Python's stage gives words now: what ran before it does not run again."""
    space = {"xs": [3, 1, 2], "ks": [0, 0, 1, 0], "found": [], "calls": []}
    text = """
def step(values):
    calls.append(k)
    return ["a", "b"] if k else [*values, 1]

for k in ks:
    found.append(xs |> map(lambda x: x + 1) |> step |> map(lambda x: x * 2) |> to_list)
"""
    Session(space, Options(baseline=False, quiet=True, on="parallel")).run_cell(text)
    assert space["found"] == [[8, 4, 6, 2], [8, 4, 6, 2], ["aa", "bb"], [8, 4, 6, 2]]
    assert space["calls"] == [0, 0, 1, 0]
    assert ways == ["whole", "rest"]


ITERATORS = """
def drawn(values):
    for each in values:
        drew.append(each)
        yield each
    if values and values[-1] == 13:
        raise KeyError(13)

for values in sources:
    drew.clear()
    try:
        value = (drawn(values) |> {stages})
    except Exception as error:
        value = type(error), str(error)
    found.append((value, list(drew)))
"""


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize(
    "stages",
    [
        "map(lambda x: x * 2) |> sum",
        "filter(lambda x: x != 3) |> map(lambda x: x + x) |> to_list",
        "take(2) |> to_list",
    ],
)
def test_iterators_are_drawn_as_far_as_python_draws_them(stages):
    sources = [
        [1, 2, 3], [4, 5], [], [6, 7, 8], ["a", "b"], [1, 2.5, 3], [1, 2, 13], [1, "a", 13], [1.5, 2.5],
        list(range(70_000)), [9, 8, 2**70], [3, 2, 1],
    ]  # fmt: skip
    found = {}
    for on in ("parallel", "python"):
        space = {"sources": sources, "found": [], "drew": []}
        Session(space, Options(on=on, baseline=False, quiet=True)).run_cell(ITERATORS.format(stages=stages))
        found[on] = [(told(value), drew) for value, drew in space["found"]]
    assert found["parallel"] == found["python"]


def test_few_elements_of_an_iterator_are_drawn_at_once(ways):
    space = {"sources": [[1, 2, 3], [4, 5], [6, 7, 8]], "found": [], "drew": []}
    text = ITERATORS.format(stages="map(lambda x: x * 2) |> sum")
    Session(space, Options(on="parallel", baseline=False, quiet=True)).run_cell(text)
    assert [value for value, _ in space["found"]] == [12, 18, 42]
    assert ways == ["whole"]


GENERATOR = """
def gen():
    for each in [3, 1, 2]:
        seen.append(each)
        yield each

def noisy(x):
    seen.append(x)
    return x

def plain(x):
    return x * 2

def loud(x):
    seen.append("g")
    return x * 2

def swap(values):
    global g
    g = loud if k else plain
    return values

for k in ks:
    seen.clear()
    g = loud if k == 1 else plain
    try:
        value = ({pipeline})
    except Exception as error:
        value = type(error), str(error), getattr(error, "__notes__", [])
    found.append((value, list(seen)))
"""


@pytest.mark.parametrize(
    ("pipeline", "ks"),
    [
        ("gen() |> map(lambda x: x // k) |> to_list", [2, 0, 3, 2.0, 0.0, None, "a", 4]),
        ("gen() |> map(lambda x: g(x)) |> to_list", [0, 0, 1, 0, 1]),
        ("[3, 1, 2] |> map(noisy) |> map(lambda x: x // k) |> to_list", [2, 3, 4, None, 0, 5]),
        ("[3, 0, 2] |> map(noisy) |> map(lambda x: k // x) |> to_list", [2, 3, 4]),
        ("[3, 1] |> swap |> map(noisy) |> map(lambda x: g(x)) |> to_list", [0, 2, 0, 2]),
        ("[1.0, 2.0] |> map(lambda x: x * 2) |> (lambda v: np.array(np.sum(v))) |> np.sqrt", [0, 1, 2]),
        ("np.array(16.0 + k) |> np.sqrt |> np.sqrt", [0, 1, 2]),
    ],
)
def test_what_later_runs_show_is_what_a_first_one_shows(pipeline, ks):
    def shown(ks, on):
        space = {"np": np, "ks": ks, "found": [], "seen": [], "g": None}
        Session(space, Options(on=on, baseline=False, quiet=True)).run_cell(
            GENERATOR.format(pipeline=pipeline)
        )
        return [(told(value), seen) for value, seen in space["found"]]

    found = shown(ks, "parallel")
    assert found == [first for k in ks for first in shown([k], "parallel")]
    assert [seen for _, seen in found] == [seen for _, seen in shown(ks, "python")]


class Rows:
    """An object that shows how often it is gone through."""

    def __init__(self, rows):
        self.rows, self.times = rows, 0

    def __iter__(self):
        self.times += 1
        return iter(self.rows)


@pytest.mark.parametrize("stages", ["map(lambda x: x * 2) |> to_list", "map(lambda x: note(x)) |> to_list"])
def test_objects_are_gone_through_as_often_as_in_a_first_run(stages):
    text = """
def note(x):
    seen.append(x)
    return x

for rows in given:
    found.append(rows |> {stages})
"""
    made = {}
    for on in ("parallel", "python"):
        given = [Rows([1, 2]), Rows([3, 4, 5]), Rows(["a"]), Rows([1.5]), Rows([6]), Rows([2.5, 3])]
        space = {"given": given, "found": [], "seen": []}
        session = Session(space, Options(on=on, baseline=False, quiet=True))
        session.run_cell(text.format(stages=stages))
        made[on] = [told(each) for each in space["found"]], space["seen"], [each.times for each in given]
    assert made["parallel"] == made["python"]


@pytest.mark.parametrize(
    "maker",
    [
        "dict.fromkeys(values)",
        "set(values)",
        "deque(values)",
        "array('q', values)",
        "bytes(values)",
    ],
)
def test_what_is_no_sequence_is_ready_too(ways, maker):
    text = f"for values in [[1, 2, 3], [4, 5], [7, 8]]:\n    found.append({maker} |> map(lambda x: x * 2) |> sum)"
    space = {"found": [], "deque": deque, "array": array}
    Session(space, Options(on="parallel", baseline=False, quiet=True)).run_cell(text)
    assert space["found"] == [12, 18, 30]
    assert ways == ["whole"]


def test_a_function_that_is_another_now_decides_again_what_runs_at_once():
    """With a side effect it runs element by element with the stage that may stop; without, on its own."""
    text = """
def noting(x):
    seen.append(x)
    return x

def plain(x):
    return x

for f in (plain, plain, noting, plain, noting):
    seen.clear()
    xs |> map(lambda x: str(x)) |> map(f) |> take_while(lambda x: x < "3") |> to_list
    found.append(list(seen))
"""
    space = {"xs": [1, 2, 3, 4, 5], "seen": [], "found": []}
    Session(space, Options(baseline=False, quiet=True, on="parallel")).run_cell(text)
    assert space["found"] == [[], [], ["1", "2", "3"], [], ["1", "2", "3"]]
