"""Statements that ran often have their checks written out: that changes no result, whatever changes between runs."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from hastega_magic.benchmarks import calls
from hastega_magic.compiler.fastpath import prepared, stub
from hastega_magic.compiler.fastpath.stub import USUAL
from hastega_magic.frames import without_ours
from hastega_magic.session import Options, Session

pytestmark = pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")

OPTIONS = Options(on="parallel", threads=2, baseline=False, quiet=True)
FLOATS = [0.5, -1.25, 3.0, 1e300, 7.0]
INTS = [5, -7, 2**40, 0, 3]
SOURCES = {
    "floats": FLOATS,
    "other floats": [2.0] * 9,
    "ints": INTS,
    "tuple": tuple(FLOATS),
    "tuple of ints": tuple(INTS),
    "mixed": [1, 2.5, 3],
    "bools": [True, False, True],
    "one": [4.0],
    "none": [],
    "many": [0.25 * each for each in range(3000)],
    "beyond 64 bits": [1, 2**70, -3],
    "array": np.array(FLOATS),
    "ints of an array": np.array(INTS),
    "reversed": np.array(FLOATS)[::-1],
    "range": range(3, 40, 2),
    "other range": range(-5, 900),
    "nan": [1.0, float("nan"), 2.0],
}
STATEMENTS = {
    "sum": "xs |> map(lambda x: x * k + 1) |> sum",
    "of both": "xs |> zip(ys) |> map(lambda x, y: x * k - y) |> sum",
    "of itself": "xs |> zip(xs) |> map(lambda x, y: x * y + k) |> sum",
    "list": "xs |> filter(lambda x: x > k) |> map(lambda x: x + x) |> to_list",
    "extreme": "xs |> map(lambda x: x - k) |> max",
    "called": "xs |> map(lambda x: scaled(x) + scaled(k)) |> sum",
    "dot": "xs |> dot(xs)",
    "any": "xs |> map(lambda x: x > k) |> any",
    "in a table": "xs |> map(lambda x: table[1] + x * k) |> sum",
}
OTHERS = [stages for stages in calls.STAGES if "f'{x}'" not in stages]
NUMBERS = [2, 3.5, True, np.float32(0.25), np.int64(4), 2**66, 2, -3, 0.0, -0.0]
AROUND = "scaled = lambda v: v * factor\n"


@pytest.fixture
def written(monkeypatch):
    """The stubs that are made, at the second run of a form, and how often each told a value."""
    told: list[int] = []
    make = prepared.stub

    def watched(*given):
        found = make(*given)
        if found is None:
            return None
        number = len(told)
        told.append(0)

        def run(source, displays):
            value = found(source, displays)
            told[number] += value is not USUAL
            return value

        return run

    monkeypatch.setattr(prepared, "stub", watched)
    monkeypatch.setattr(prepared, "HOT", 1)
    return told


def both(body, names, monkeypatch):
    """What every turn gives, and its type, or the name of what it raises: with stubs, and without."""
    cell = (
        AROUND
        + "for turn in turns:\n    turn(globals())\n    try:\n        now = "
        + body
        + (
            "\n    except Exception as error:\n        now = type(error)\n    told.append((type(now), repr(now)))\n"
        )
    )
    found = []
    for hot in (1, 10**9):
        monkeypatch.setattr(prepared, "HOT", hot)
        session = Session({**names, "told": []}, OPTIONS)
        session.run_cell(cell)
        found.append(session.namespace["told"])
    return found


def sets(**names):
    return lambda scope: scope.update(names)


NAMES = {"ys": [1.5, 2.5, 3.5, 4.5], "k": 2.0, "factor": 3, "table": np.array([1.0, 2.0, 3.0])}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_sources_of_other_kinds(statement, written, monkeypatch):
    turns = [sets(xs=FLOATS)] * 4
    for source in SOURCES.values():
        turns += [sets(xs=source)] * 3 + [sets(xs=FLOATS)]
    found, expected = both(STATEMENTS[statement], {**NAMES, "turns": turns}, monkeypatch)
    assert found == expected
    assert any(written)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_numbers_that_change(statement, written, monkeypatch):
    turns = [sets(xs=FLOATS, k=k + 0.5) for k in range(5)]
    turns += [sets(xs=FLOATS, k=k) for each in NUMBERS for k in (each, each, 0.5)]
    turns += [sets(factor=5)] * 2 + [sets(scaled=lambda v: v - 1)] * 2 + [sets(scaled=abs)] * 2
    turns += [sets(table=np.array([1.0, 9.0, 3.0]))] * 2 + [sets(table=[1, 2])] * 2
    found, expected = both(STATEMENTS[statement], {**NAMES, "turns": turns}, monkeypatch)
    assert found == expected
    assert any(written)


@pytest.mark.parametrize("stages", OTHERS)
def test_stages(stages, written, monkeypatch):
    names = calls.inputs(20)
    xs = names["xs"]
    sources = (
        xs,
        xs + 1,
        xs.tolist(),
        xs[:-1].tolist(),
        [None, *xs.tolist()],
        xs[:5],
        xs[::-1],
        xs[::2],
        xs[3:].copy(),
    )
    turns = [sets(xs=source, k=k) for source in sources for k in (2.0, 2.0, 3.0)]
    found, expected = both(f"xs |> {stages}", {**names, "turns": turns}, monkeypatch)
    assert found == expected
    assert any(written) or "sorted" in stages or "tap" in stages


def test_an_element_that_raises(written, monkeypatch):
    turns = [sets(xs=[1, 2, 3])] * 4 + [sets(xs=[4, 0, 2])] * 2 + [sets(xs=[1, 2, 4])] * 2
    found, expected = both("xs |> map(lambda x: 100 // x) |> sum", {**NAMES, "turns": turns}, monkeypatch)
    assert found == expected
    assert written[0] >= 3
    assert [each for _, each in found] == ["183"] * 4 + ["<class 'ZeroDivisionError'>"] * 2 + ["175"] * 2


def test_lists_that_another_thread_makes_shorter(written):
    xs = [float(each) for each in range(1000)]
    names = {"xs": xs, "sums": [], "over": threading.Event()}

    def change():
        while not names["over"].is_set():
            del xs[10:]
            xs.extend(range(10, 1000))
            xs[10:] = [float(each) for each in range(10, 1000)]

    other = threading.Thread(target=change)
    other.start()
    try:
        Session(names, OPTIONS).run_cell(
            "for _ in range(3000):\n    sums.append(xs |> map(lambda x: x * 0.5) |> sum)\n"
        )
    finally:
        names["over"].set()
        other.join()
    assert min(names["sums"]) >= 22.5
    assert max(names["sums"]) <= 249750.0


def test_one_stub_in_several_threads(written):
    session = Session({"xs": FLOATS, "k": 0.5}, OPTIONS)
    session.run_cell(
        "def total(k):\n    return xs |> map(lambda x: x * k) |> sum\n[total(k + 0.5) for k in range(9)]\n"
    )
    total = session.namespace["total"]
    expected = {k: total(k) for k in (0.25, 3.5, 11.0)}
    wrong: list[float] = []

    def call(k):
        wrong.extend(k for _ in range(500) if total(k) != expected[k])

    threads = [threading.Thread(target=call, args=(k,)) for k in expected]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert any(written)
    assert not wrong


def test_a_cell_that_runs_again_has_the_same_text():
    session = Session({"xs": FLOATS, "ys": [1.0, 2.0, 3.0]}, OPTIONS)
    cell = (
        "k = 0.0\nfor _ in range(50):\n    k = k + (xs |> zip(ys) |> map(lambda x, y: x * k - y) |> sum) % 1"
    )
    session.run_cell(cell)
    session.run_cell(cell)
    value, before = session.namespace["k"], stub._compiled.cache_info()
    session.run_cell(cell)
    after = stub._compiled.cache_info()
    assert session.namespace["k"] == value
    assert (after.misses, after.hits) == (before.misses, before.hits + 1)


def test_an_interrupt_shows_no_frame_of_a_stub(monkeypatch):
    make = prepared.stub

    def interrupted(*_):
        raise KeyboardInterrupt

    def breaking(*given):
        found = make(*given)
        found.__globals__["DirectResult"] = interrupted
        return found

    monkeypatch.setattr(prepared, "stub", breaking)
    monkeypatch.setattr(prepared, "HOT", 1)
    session = Session({"xs": FLOATS}, OPTIONS)
    with pytest.raises(KeyboardInterrupt) as raised:
        session.run_cell("while True:\n    xs |> map(lambda x: x + 1) |> sum", "<the cell>")
    assert any(each.frame.code.name == "stub" for each in raised.traceback)
    shown = without_ours(raised.value.__traceback__, True, first=1)
    assert [each.tb_frame.f_code.co_name for each in shown] == ["<module>", "interrupted"]
