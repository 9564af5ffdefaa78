"""Groups of statements that run again: each is looked at, none is built, and what has changed since is seen."""

from __future__ import annotations

import gc
import random
import weakref
from typing import Any

import numpy as np
import pytest
from battery import EFFORT

from hastega_magic.compiler import loops
from hastega_magic.session import Options, Session
from tests.session.test_earlier import BIG, QUIET, run

SHOWN = Options(on="parallel", threads=2, baseline=False)
CELL = """
ys = xs |> map(lambda x: x * 3)
t = ys |> filter(_ % 2 == 0) |> sum
"""


def expected(xs: Any) -> tuple[list[int], int]:
    ys = [x * 3 for x in xs]
    return ys, sum(y for y in ys if y % 2 == 0)


@pytest.mark.parametrize("source", [range(1, 1001), np.arange(10), np.arange(5000), np.arange(BIG)], ids=len)
def test_a_group_again_begins_where_it_is_compiled(source: Any, built: list[str]) -> None:
    session = Session({"xs": source})
    for _ in range(4):
        t = run(session, CELL)
        assert (session.namespace["ys"].tolist(), t) == expected(map(int, source))
    assert built == ["ys", "t"]


def test_the_reports_are_alike(built: list[str]) -> None:
    loops.clear_cache()
    session = Session({"xs": np.arange(5000)})
    first, again = (session.run_cell(CELL, options=SHOWN).report.to_dict() for _ in range(2))
    (one,), (two,) = first["pipelines"], again["pipelines"]
    assert built == ["ys", "t"]
    assert two["cached"]
    assert not one["cached"]
    for name in ("code", "graph", "links", "name", "stages", "results", "elements", "loops", "int", "vector"):
        assert two[name] == one[name], name
    assert not {"codegen", "compile", "infer", "fuse"} & {phase["name"] for phase in two["phases"]}


OTHERS = [
    np.arange(30.0), np.arange(30, dtype=np.int32), np.arange(60)[::2], list(range(30)), range(30), range(99, 999),
    np.arange(30).astype(">i8"), np.array([], np.int64), [2**70, 1], np.arange(BIG), np.arange(7), (1, 2.5), [],
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize(
    "other", OTHERS, ids=lambda x: f"{type(x).__name__} {getattr(x, 'dtype', '')} {len(x)}"
)
def test_other_sources_are_looked_at(other: Any) -> None:
    session = Session({})
    for source in (np.arange(30), other, np.arange(20), other, other):
        session.namespace["xs"] = source
        t = run(session, CELL)
        items = source.tolist() if isinstance(source, np.ndarray) else source
        assert ([*session.namespace["ys"]], t) == expected(items)
        assert type(t) is type(expected(items)[1])


def test_what_functions_read_is_looked_at(built: list[str]) -> None:
    session = Session({"xs": np.arange(100), "k": 2, "m": 3})
    text = "ys = xs |> map(lambda x: x * k)\nt = ys |> map(lambda y: y + m) |> sum"
    names = session.namespace
    for change in ({}, {}, {"k": 3}, {"m": 5}, {}, {"k": 2.5}, {"m": 3}, {"k": 3, "m": 2**62}):
        names.update(change)
        if names["m"] < 2**62:
            assert run(session, text) == sum(x * names["k"] + names["m"] for x in range(100))
    assert built[:2] == ["ys", "t"]


def test_two_statements_over_one_source(built: list[str]) -> None:
    a, b, c = np.arange(50), np.arange(50) + 7, np.arange(20)
    session = Session({})
    for xs, zs in ((a, a), (a, a), (b, b), (a, b), (a, b), (b, a), (a, a), (a, c), (c, c), (c, a)):
        session.namespace.update(xs=xs, zs=zs)
        assert run(session, "s = xs |> sum\nt = zs |> max") == int(zs.max())
        assert session.namespace["s"] == int(xs.sum())
    assert built[:2] == ["s", "t"]


def test_zips_beside_a_result(built: list[str]) -> None:
    session = Session({})
    text = "ys = xs |> map(_ + 1)\nt = ys |> zip(zs) |> map(lambda y, z: y * z) |> sum"
    a, b = np.arange(64), np.arange(64) - 9
    for xs, zs in ((a, b), (a, b), (b, a), (a, a), (a, a[:9]), (a[:9], b), (a[:9], b[:9]), (a, b)):
        session.namespace.update(xs=xs, zs=zs)
        assert run(session, text) == sum((int(x) + 1) * int(z) for x, z in zip(xs, zs, strict=False))
    assert built[:2] == ["ys", "t"]


def test_a_statement_that_others_come_before_or_behind() -> None:
    session = Session({"xs": np.arange(1000), "more": False})
    text = "s = xs |> sum\nif more: xs = xs + 1\nt = xs |> max\nu = t + 1\nv = xs |> min"
    for turn in range(6):
        session.namespace["more"] = turn % 2 == 1
        run(session, text)
        xs = session.namespace["xs"]
        assert session.namespace["t"] == int(xs.max())
        assert session.namespace["v"] == int(xs.min())


def test_a_statement_behind_that_begins_to_fail(built: list[str]) -> None:
    session = Session({"xs": np.arange(100), "d": 1})
    text = "ys = xs |> map(_ * 2)\nt = ys |> map(lambda y: 7 // (y + d)) |> sum"
    for d in (1, 1, 0, 1, -4, 1):
        session.namespace.update(d=d, ys=None, t=None)
        if d == 1:
            assert run(session, text) == sum(7 // (2 * x + 1) for x in range(100))
            continue
        with pytest.raises(ZeroDivisionError):
            run(session, text)
        assert session.namespace["t"] is None
        assert session.namespace["ys"].tolist() == [2 * x for x in range(100)]


def test_a_name_that_the_group_assigns_and_reads() -> None:
    session = Session({"xs": np.arange(10), "t": 0})
    t = 0
    for _ in range(5):
        run(session, "ys = xs |> map(lambda x: x + t)\nt = ys |> max")
        t += 9
        assert session.namespace["t"] == t


def test_the_same_result_under_another_name() -> None:
    session = Session({"xs": np.arange(10), "zs": np.arange(10) * 100})
    for _ in range(3):
        run(session, "ys = xs |> map(_ + 1)\nt = ys |> sum")
        run(session, "ys = zs |> map(_ + 1)\nt = ys |> sum")
        assert session.namespace["t"] == 4510
        assert run(session, "ys = xs |> map(_ + 1)\nt = zs |> sum") == 4500
        assert run(session, "ys = xs |> map(_ + 1)\nt = ys |> sum") == 55


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
def test_an_element_beyond_64_bits_comes_and_goes() -> None:
    session = Session({})
    for top in (3, 3, 2**62, 3, 2**62, 2**61):
        session.namespace["xs"] = xs = np.array([1, top, 2])
        run(session, "ys = xs |> map(_ * 4)\nt = ys |> sum")
        assert [*session.namespace["ys"]] == [4 * int(x) for x in xs]
        assert session.namespace["t"] == sum(4 * int(x) for x in xs)


def test_other_options_are_another_run() -> None:
    session = Session({"xs": np.array([2**62, 2**62])})
    wrap = Options(on="parallel", int_mode="wrap", baseline=False)
    for options in (QUIET, QUIET, wrap, wrap, QUIET, SHOWN, SHOWN):
        exact = options is not wrap
        assert run(session, "m = xs |> max\nt = xs |> sum", options) == (2**63 if exact else -(2**63))


def test_a_loop_that_was_forgotten_is_compiled_again(built: list[str]) -> None:
    session = Session({"xs": np.arange(50)})
    for _ in range(2):
        assert run(session, CELL) == expected(range(50))[1]
        loops.clear_cache()
    assert len(built) == 4


def test_nothing_of_the_user_is_kept() -> None:
    arrays = [np.arange(BIG), np.arange(BIG)]
    alive = [weakref.ref(each) for each in arrays]
    session = Session(dict(zip("ab", arrays, strict=True)))
    del arrays
    for _ in range(3):
        run(
            session,
            "c = a |> zip(b) |> map(lambda x, y: x - y)\nt = c |> zip(a) |> map(lambda x, y: x + y) |> sum",
        )
    del session.namespace["a"], session.namespace["b"], session.namespace["c"]
    run(session, "pass")
    gc.collect()
    assert [each() for each in alive] == [None, None]


STATEMENTS = [
    "p = xs |> map(lambda x: x * k)", "q = xs |> filter(_ > k)", "r = p |> sum", "p = p |> map(_ - m)",
    "q = zs |> zip(xs) |> map(lambda a, b: a - b)", "r = xs |> take(k) |> sum",
    "r = p |> zip(zs) |> map(lambda a, b: a * b) |> max",
    "q = p |> cumsum", "r = zs |> reverse |> first", "k = xs |> count", "r = q |> count",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(40 if EFFORT > 1 else 16))
def test_random_cells_that_run_again(seed: int) -> None:
    chance = random.Random(seed)
    text = "\n".join(["p = q = xs", *(chance.choice(STATEMENTS) for _ in range(chance.randint(2, 6)))])
    ours, python = Session({}), Session({})
    arrays = [np.arange(40), np.arange(40) * 7 - 90, np.arange(13), np.arange(40) / 4]
    for _ in range(6):
        given = {"k": chance.choice([2, 2, 3]), "m": chance.choice([1, 1, 5]), "r": None}
        given |= {name: chance.choice([arrays[0], *arrays]) for name in ("xs", "zs")}
        found: list[object] = []
        for session, options in ((ours, QUIET), (python, Options(on="python", quiet=True, baseline=False))):
            session.namespace.update(given)
            try:
                session.run_cell(text, options=options)
                names = {name: np.asarray(session.namespace[name]).tolist() for name in "pqrk"}
            except Exception as error:
                names = {"error": type(error).__name__}
            found.append(names)
        assert found[0] == found[1], text
