"""What pipelines in functions have read of the user's is let go of when two cells have begun without them."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from hastega_magic import lazy, pipe
from hastega_magic.session import Options, Session


class Thing:
    def __init__(self) -> None:
        self.rate, self.table = 3, np.arange(10**5)

    def __call__(self, x: int) -> int:
        return x * 3


FUNCTIONS = {
    "a captured array": "range({n}) |> map(lambda x: x * t.table[x]) |> sum",
    "zipped": "range({n}) |> zip(t.table) |> map(lambda a, b: a * b) |> sum",
    "an attribute": "range({n}) |> map(lambda x: x * t.rate) |> sum",
    "a barrier": "range({n}) |> map(lambda x: str(x * t.rate)) |> map(len) |> sum",
    "many elements": "range({n} * 200) |> map(lambda x: x * t.table[x]) |> sum",
    "an object's identity": "range({n}) |> map(lambda x: x * 3 if t else x) |> sum",
    "a callable object": "range({n}) |> map(t) |> sum",
    "a method": "range({n}) |> map(t.__call__) |> sum",
    "ordinary code": "sum(x * t.rate for x in range({n}))",
    "the explicit form": "pipe(range({n})).map(lambda x: x * t.table[x]).sum()",
}


def alive(refs: list[Any]) -> int:
    gc.collect()
    return sum(each() is not None for each in refs)


def two_others(session: Session) -> None:
    """Two cells that have nothing to do with it."""
    for _ in range(2):
        session.run_cell("u = range(10) |> sum")


@pytest.mark.parametrize("body", FUNCTIONS.values(), ids=FUNCTIONS)
def test_of_functions(body: str) -> None:
    session, refs = Session({"pipe": pipe}, Options(baseline=False)), list[Any]()
    for n in (300, 301, 302):
        session.run_cell(f"def f(t): return {body.format(n=n)}")
        thing = Thing()
        refs += [weakref.ref(thing), weakref.ref(thing.table)]
        first, again = session.namespace["f"](thing), [session.namespace["f"](thing) for _ in range(40)]
        assert set(again) == {first}
        del thing
    two_others(session)
    assert alive(refs) == 0
    assert session.namespace["f"](Thing()) == first


STAGES = [
    "map(lambda x: x * t.rate)",
    "map(lambda x: x * t.table[x])",
    "zip(t.table)",
    "map(lambda x: 0 if t else x)",
]


@pytest.mark.parametrize("baseline", [True, False])
@pytest.mark.parametrize("stage", STAGES)
def test_of_cells(stage: str, baseline: bool) -> None:
    session, refs = Session({}, Options(baseline=baseline)), list[Any]()
    for n in (300, 301, 302):
        thing = session.namespace["t"] = Thing()
        refs += [weakref.ref(thing), weakref.ref(thing.table)]
        del thing
        for _ in range(3):
            session.run_cell(f"y = range({n}) |> {stage}")
    del session.namespace["t"]
    two_others(session)
    assert alive(refs) == 0


def test_of_classes() -> None:
    session, refs = Session({}, Options()), list[Any]()
    for n in (300, 301):
        session.namespace["c"] = type("C", (), {"k": 3})
        refs.append(weakref.ref(session.namespace["c"]))
        for _ in range(3):
            session.run_cell(f"y = range({n}) |> map(lambda x: x * c.k)")
    del session.namespace["c"]
    two_others(session)
    assert alive(refs) == 0


def test_of_the_explicit_form_where_no_cells_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy, "_LONG", 0.0)

    def run(thing: Thing, n: int) -> int:
        return pipe(range(n)).map(lambda x: x * thing.rate).sum()

    thing = Thing()
    ref = weakref.ref(thing)
    for _ in range(5):
        assert run(thing, 100) == 3 * sum(range(100))
    del thing
    for _ in range(200):
        assert pipe(range(50)).map(lambda x: x + 1).sum() == 1275
    assert alive([ref]) == 0


def test_what_runs_in_each_cell_stays_ready() -> None:
    session = Session({"t": Thing()}, Options(baseline=False))
    session.run_cell("def f(): return range(300) |> map(lambda x: x * t.rate) |> sum")
    for _ in range(4):
        session.run_cell("u = range(10) |> sum")
        assert session.namespace["f"]() == 3 * sum(range(300))
        (kept,) = session.memory.nested.values()
        assert kept.form is not None
        assert kept.form.prepared is not None


def test_what_has_not_run_for_long_keeps_no_form() -> None:
    """Functions are edited: what they were is not called again, and their compiled loops are large."""
    session = Session({}, Options(baseline=False))
    session.run_cell("def f(xs): return xs |> map(lambda x: x * 3) |> sum")
    assert session.namespace["f"](range(300)) == 3 * sum(range(300))
    (kept,) = session.memory.nested.values()
    for number in range(40):
        assert (kept.form is not None) == (number <= 32)
        session.run_cell("u = range(10) |> sum")
    assert session.namespace["f"](range(300)) == 3 * sum(range(300))
    assert kept.form is not None


def test_code_that_is_compiled_again_for_it_is_not_given_up() -> None:
    session, thing = Session({}, Options(baseline=False, on="simd")), Thing()
    session.run_cell("def f(*t): return [x * t[0].rate for x in range(3000)]")
    (kept,) = session.memory.nested.values()
    for _ in range(20):
        assert session.namespace["f"](thing) == [x * 3 for x in range(3000)]
        assert (kept.reason, kept.form is not None) == ("", True)
        two_others(session)
        assert kept.form is None


def test_numbers_that_change_meanwhile_become_parameters() -> None:
    session, thing = Session({}, Options(baseline=False)), Thing()
    session.run_cell("def f(t, k): return range(3000) |> map(lambda x: x * t.table[x] + k) |> sum")
    (kept,) = session.memory.nested.values()
    for k in range(5, 9):
        assert session.namespace["f"](thing, k) == sum(x * x + k for x in range(3000))
        assert {name for _, _, name in kept.varying} == ({"k"} if k > 5 else set())
        two_others(session)


def test_threads_may_run_pipes_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy, "_LONG", 0.0)
    monkeypatch.setattr(lazy, "_ROUND", 2)
    failed: list[BaseException] = []

    def run(number: int) -> None:
        lines = [
            f"assert pipe(range({n})).map(lambda x: x + {number}).sum() == {sum(range(n)) + number * n}"
            for n in range(9, 49)
        ]
        try:
            for _ in range(5):
                exec("\n".join(lines), {"pipe": pipe})
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == []


ODD = {
    "a list that counts itself": """class Lazy(list):
    def __len__(self):
        raise RuntimeError
k = Lazy([2])
def f(): return range(900) |> map(lambda x: x + k[0]) |> sum""",
    "a class of a class": """class Meta(type):
    def __getattribute__(self, name):
        if name in ("__qualname__", "__module__"):
            raise RuntimeError
        return type.__getattribute__(self, name)
class K(metaclass=Meta):
    k = 2
def f(): return range(900) |> map(lambda x: x + K.k) |> sum""",
    "a class of no module": """class K:
    __module__ = []
    k = 2
def f(): return range(900) |> map(lambda x: x + K.k) |> sum""",
    "an object that says what its class is": """class Odd:
    k = 2
    @property
    def __class__(self):
        raise RuntimeError
o = Odd()
def f(): return range(900) |> map(lambda x: x + o.k) |> sum""",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_no_code_of_the_users_runs_for_it(text: str) -> None:
    session = Session({}, Options(baseline=False))
    session.run_cell(text)
    for _ in range(4):
        assert session.namespace["f"]() == sum(range(900)) + 1800
