"""Pipelines of loops and functions whose elements raise, or leave 64 bits, in many turns: as in the first of them."""

from __future__ import annotations

import gc
import itertools
import math
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
from battery import some

from hastega_magic.compiler.fastpath.prepared import Prepared
from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.lazy import pipe
from hastega_magic.session import Options, Session

QUIET = Options(baseline=False, quiet=True)
SOURCES = {
    "list": lambda xs: xs, "tuple": tuple, "array": np.array, "range": lambda xs: range(xs[0], xs[0] + len(xs)),
    "small": lambda xs: np.array(xs, np.int32), "floats": lambda xs: [float(x) for x in xs],
}  # fmt: skip
RAISING = ("map(lambda x: 100 // (x - 7))", "filter(lambda x: x > 2) |> map(lambda x: 1 / (x - 7)) |> to_list",
           "map(lambda x: 5 % (x - 7)) |> sum", "map(lambda x: 3 // (x - 7)) |> max")  # fmt: skip
BEYOND = ("map(lambda x: x * x * x)", "map(lambda x: x * x * x) |> to_list", "map(lambda x: x ** 5) |> max",
          "map(lambda x: x * x * x) |> sum", "map(lambda x: x * 10**12) |> filter(_ > 5) |> to_list")  # fmt: skip


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of runs of forms over few elements that needed Python whether they saw to it."""
    seen: list[bool] = []
    launch = Prepared._launched

    def noted(self: Prepared, *given: Any, here: bool = False) -> Any:
        seen.append(here)
        return launch(self, *given, here=here)

    monkeypatch.setattr(Prepared, "_launched", noted)
    return seen


def outcomes(body: str, turns: list[Any], where: str, on: str) -> list[Any]:
    """Of each turn its value, or what it raised, with notes; and its warnings."""
    found: list[Any] = []

    def note(value: Any) -> None:
        error = value if isinstance(value, BaseException) else None
        if error is not None:
            value = type(error), str(error), getattr(error, "__notes__", None), error.__context__
        found.append((value, [(each.category, str(each.message), each.lineno) for each in caught]))
        del caught[:]

    call = f"({body})"
    head = ""
    if where == "function":
        head, call = f"def f(xs):\n    return {body}\n\n\n", "f(xs)"
    loop = f"for xs in turns:\n    try:\n        note({call})\n    except (ArithmeticError, ValueError) as error:\n"
    text = f"{head}{loop}        note(error)"
    session = Session(
        {"turns": turns, "note": note, "math": math}, Options(on=on, baseline=False, quiet=True)
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session.run_cell(text)
    return found


def plain(value: Any) -> Any:
    return (str(value.dtype), value.tolist()) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(
    ("kind", "where", "on"),
    some(itertools.product(SOURCES, ["loop", "function"], ["auto", "parallel", "simd"]), every=2),
)
def test_all_turns_are_as_the_first_one(
    monkeypatch: pytest.MonkeyPatch, launched: list[bool], where: str, kind: str, on: str, same: Any
) -> None:
    monkeypatch.delenv("HASTEGA_AUTO")
    make = SOURCES[kind]
    ways = {
        RAISING: [list(range(1, 21)), list(range(8, 28)), list(range(5, 25))],
        BEYOND: [list(range(10**7, 10**7 + 20)), list(range(20)), list(range(-(10**8), 5 - 10**8))],
    }
    for stages, lists in ways.items():
        if stages is BEYOND and kind == "floats":
            continue
        for stage in stages:
            for order in ([0, 0, 0, 1, 0, 1, 2, 0], [1, 1, 0, 0, 2, 1, 0]):
                turns = [make(lists[each]) for each in order]
                found = outcomes(f"xs |> {stage}", turns, where, on)
                for number, place in enumerate(order):
                    first = outcomes(f"xs |> {stage}", [turns[number]], where, on)
                    (value, warned), (expected, told) = found[number], first[0]
                    assert same(plain(value), plain(expected)), (stage, order, number)
                    assert warned == told, (stage, order, number, place)
    assert True in launched


@pytest.mark.parametrize(
    ("body", "make"),
    [
        ("xs |> map(lambda a, b: a // (b - 7)) |> sum", lambda k: [(1, 2), (k, 7), (3, k)]),
        ("xs |> map(lambda a, b: a // (b - 7)) |> to_list", lambda k: ((1, 2), (k, 7), (3, k))),
        ("xs.items() |> map(lambda a, b: a // (b - 7)) |> max", lambda k: {1: 2, k: 7, -1: k}),
        ("xs |> enumerate |> map(lambda i, x: i // (x - 7))", lambda k: [1, k, 7]),
        ("xs |> map(lambda x: 10 // (x - 7)) |> scan(lambda a, x: a + x)", lambda k: [1, k, 7]),
    ],
)
def test_where_all_turns_raise_but_the_first_one_each_is_short(
    launched: list[bool], body: str, make: Any, same: Any
) -> None:
    turns = [make(number) for number in range(10, 18)]
    found = outcomes(body, turns, "loop", "simd")
    assert len(launched) == len(turns) - 1
    for number, turn in enumerate(turns):
        ((value, warned),) = outcomes(body, [turn], "loop", "simd")
        assert value[0] is ZeroDivisionError
        assert value[2]
        assert same(found[number][0], value)
        assert found[number][1] == warned


def test_nothing_is_made_ready_for_turns_that_cannot_use_it(launched: list[bool]) -> None:
    """Complex numbers are two sources, of which no view is described anew."""
    found = outcomes(
        "xs |> take(2) |> map(lambda x: 1 / (x - 7j)) |> sum", [[7j, 8j, 9j]] * 3, "loop", "simd"
    )
    assert [value[0] for value, _ in found] == [ZeroDivisionError] * 3
    assert not launched


PAIRS = [[(x, x + 1) for x in range(start, start + 9)] for start in (20, 5, 10**14)]
IN_PARTS = {
    "map(lambda a, b: a // (b - 7))": PAIRS,
    "map(lambda a, b: a * b) |> map(lambda x: 10**9 // (x - 56)) |> sum": PAIRS,
    "map(lambda a, b: a // (b - 7)) |> step(2) |> list": PAIRS,
    "cumsum |> map(lambda x: math.log(x)) |> max": [[4, 3], [-1, 3], [2, 2]],
    "scan(lambda a, x: a * 3 + x, 1) |> scan(lambda a, x: a // (x - 6), 1) |> sorted": [[9] * 20, [3] * 3, [1]],
    "map(lambda x: x + 0.5) |> min": [[], [1, 2], []],
}  # fmt: skip


@pytest.mark.parametrize("body", IN_PARTS)
@pytest.mark.parametrize("make", [list, iter, set])
def test_stages_and_fields_are_named_as_the_first_time(body: str, make: Any, same: Any) -> None:
    lists = IN_PARTS[body]
    order = [0, 1, 2, 1, 0, 1, 1]
    found = outcomes(f"xs |> {body}", [make(lists[each]) for each in order], "loop", "auto")
    for number, place in enumerate(order):
        ((value, warned),) = outcomes(f"xs |> {body}", [make(lists[place])], "loop", "auto")
        assert same(plain(found[number][0]), plain(value)), number
        assert found[number][1] == warned, number


@pytest.mark.parametrize("make", [list, tuple])
def test_an_array_that_python_leaves_empty_has_the_type_that_it_has_the_first_time(make: Any) -> None:
    text = """
for xs in turns:
    ys = xs |> take_while(lambda a, b: b != 2**63) |> map(lambda a, b: b) |> take_while(lambda x: seen(x) > 3)
    found.append(ys)
"""
    turns = [make([(2**63 - 2, 2**63 - 1), (2**63 - 1, 2**63)]), make([(-5, -4)]), make([(2, 3)])]
    names: dict[str, Any] = {"turns": turns, "found": [], "seen": lambda x: eval("x")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegerOverflowWarning)
        Session(names, QUIET).run_cell(text)
    assert [len(each) for each in names["found"]] == [1, 0, 0]
    assert {each.dtype for each in names["found"]} == {np.dtype(np.int64)}


def test_a_cell_tells_once_of_turns_that_raise() -> None:
    text = """
for start in starts:
    try:
        y = range(start, start + 20) |> map(lambda x: 100 // x) |> sum
    except ZeroDivisionError:
        raised += 1
"""
    session = Session({"starts": [0] * 30, "raised": 0}, Options(baseline=False))
    session.run_cell(text)
    assert session.namespace["raised"] == 30
    assert session.last_report is not None
    (only,) = session.last_report.to_dict()["pipelines"]
    assert "raised in each of its first 30 runs" in str(only)
    session.namespace |= {"starts": [0, 0, 0, 1, 0, 1], "raised": 0}
    session.run_cell(text)
    assert session.namespace["raised"] == 4
    assert session.namespace["y"] == sum(100 // x for x in range(1, 21))
    first, second = session.last_report.to_dict()["pipelines"]
    assert "raised in each of its first 3 runs" in str(first)
    assert "ran 3 times in the cell" in str(second)
    assert second["code"]["llvm"]


@pytest.mark.parametrize("body", [
    "list(enumerate(xs)) |> map(lambda i, x: 100 // x)", "xs |> take_while(lambda x: 100 // x) |> sum",
    "xs |> map(lambda x: eval('100 // x')) |> sum", "xs |> map(lambda x: inner(x) + 100 // x) |> sum",
])  # fmt: skip
def test_whatever_raises_in_many_turns_has_one_entry(body: str) -> None:
    session = Session({"xs": [3, 2, 1, 0], "raised": 0}, Options(baseline=False))
    session.run_cell(f"""
def inner(x):
    eval("x")
    return [x, x] |> map(_ + 1) |> sum
for turn in range(20):
    try:
        y = {body}
    except ZeroDivisionError:
        raised += 1
y = xs |> sum
""")
    assert session.namespace["raised"] == 20
    assert session.last_report is not None
    told = session.last_report.to_dict()["pipelines"]
    assert len(told) == 2 + ("inner" in body)
    assert "raised in each of its first 20 runs" in str(told[0])
    assert "raised" not in str(told[-1])


def test_pipes() -> None:
    def inverse(xs: Any) -> Any:
        return pipe(xs).map(lambda x: 100 // x).sum()

    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            inverse(np.arange(20))
    assert inverse(np.arange(1, 21)) == sum(100 // x for x in range(1, 21))
    with pytest.raises(ZeroDivisionError) as raised:
        inverse(np.arange(-3, 9))
    assert "element 3" in raised.value.__notes__[0]


def test_functions_run_as_often_as_ever(launched: list[bool]) -> None:
    """What a stage that Python runs does, it does once: only loops are gone through again."""
    session = Session({"seen": []}, QUIET)
    session.run_cell("""
def shown(x):
    seen.append(x)
    return x
for turn in range(6):
    try:
        y = range(3) |> map(lambda x: 6 // (x - 1 + turn % 3)) |> map(shown) |> sum
    except ZeroDivisionError:
        seen.append("raised")
""")
    session.namespace["seen"], seen = [], session.namespace["seen"]
    for turn in range(6):
        try:
            for x in range(3):
                session.namespace["seen"].append(6 // (x - 1 + turn % 3))
        except ZeroDivisionError:
            session.namespace["seen"].append("raised")
    assert session.namespace["seen"] == seen


def test_data_of_runs_that_raised_is_let_go_of() -> None:
    session = Session({}, QUIET)
    session.run_cell("""
import numpy as np
table = np.zeros(5, np.int64)
def f():
    xs = np.arange(5)
    return xs |> map(lambda x: 1 // x + table[x]) |> sum
""")
    alive = weakref.ref(session.namespace["table"])
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            session.run_cell("f()")
    session.run_cell("del table, f")
    for _ in range(3):
        session.run_cell("pass")
    gc.collect()
    assert alive() is None


def test_a_sum_that_python_computed_first_goes_on_with_the_variant_that_was_learned(
    monkeypatch: pytest.MonkeyPatch, launched: list[bool]
) -> None:
    monkeypatch.setenv("HASTEGA_AUTO", "python")
    session = Session({"xs": [10**7 + k for k in range(20)], "found": []}, QUIET)
    session.run_cell("for turn in range(50):\n    found.append((xs |> map(lambda x: x * x * x) |> sum))")
    assert session.namespace["found"] == [sum(x**3 for x in session.namespace["xs"])] * 50
    assert len(launched) <= 1


def test_warnings_are_heard_once_a_turn() -> None:
    session = Session({"xs": np.arange(10**7, 10**7 + 20)}, QUIET)
    for turns in (1, 7):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            session.run_cell(f"for turn in range({turns}):\n    y = xs |> map(lambda x: x * x * x)")
        assert [each.category for each in caught] == [IntegerOverflowWarning] * turns
        assert {each.lineno for each in caught} == {2}
        assert session.namespace["y"].tolist() == [x**3 for x in range(10**7, 10**7 + 20)]
