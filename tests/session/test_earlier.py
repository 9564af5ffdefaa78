"""Cells that run again: what changed since is seen, and what did not is not looked at again."""

from __future__ import annotations

import gc
import types
import weakref
from typing import Any

import numpy as np
import pytest

from hastega_magic.compiler import loops
from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.session import Options, Session

QUIET = Options(on="parallel", threads=2, baseline=False, quiet=True)
BIG = 1 << 20


def run(session: Session, text: str, options: Options = QUIET) -> Any:
    session.run_cell(text, options=options)
    return session.namespace.get("t")


@pytest.mark.parametrize("size", [10, 5000, BIG])
def test_the_same_cell_again_begins_where_it_is_compiled(size: int, built: list[str]) -> None:
    xs = np.arange(size)
    session = Session({"xs": xs})
    text = "t = xs |> map(lambda x: x * 3) |> filter(_ % 2 == 0) |> sum"
    for add in range(3):
        assert run(session, text) == sum(3 * x for x in xs.tolist() if x % 2 == 0)
        xs += 1 + add  # the elements are read anew
    assert built == ["t"]


def test_its_report_tells_of_this_run(built: list[str]) -> None:
    session = Session({"xs": np.arange(5000)})
    shown = Options(on="parallel", baseline=False)
    first = session.run_cell("t = xs |> map(_ + 1)", options=shown).report.to_dict()
    session.namespace["xs"] = np.arange(7000)
    again = session.run_cell("t = xs |> map(_ + 1)", options=shown).report.to_dict()
    one, two = first["pipelines"][0], again["pipelines"][0]
    assert built == ["t"]
    assert two["code"]["llvm"] == one["code"]["llvm"]
    assert len(session.namespace["t"]) == 7000
    names = {phase["name"] for phase in two["phases"]}
    assert {"kernel", "convert_out"} <= names
    assert not {"codegen", "compile", "infer"} & names


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize(
    "other",
    [
        np.arange(30).astype(np.float64),
        np.arange(30).astype(np.int32),
        np.arange(30)[::2],
        list(range(30)),
        range(30),
        np.arange(30).astype(">i8"),
        [1.5, 2],
        np.array([], np.int64),
        [2**70, 1],
        np.arange(BIG),
    ],
    ids=lambda each: f"{type(each).__name__} {getattr(each, 'dtype', '')} {len(each)}",
)
def test_other_sources_are_looked_at(other: Any) -> None:
    session = Session({"xs": np.arange(30)})
    text = "t = xs |> map(_ * 2) |> to_list"
    for source in (np.arange(30), other, np.arange(20), other):
        session.namespace["xs"] = source
        found = run(session, text)
        expected = [x * 2 for x in (source.tolist() if isinstance(source, np.ndarray) else source)]
        assert found == expected
        assert list(map(type, found)) == list(map(type, expected))


def test_a_range_that_leaves_what_was_proved() -> None:
    session = Session({})
    for n in (10, 1000, 10**10 + 3, 10):
        session.namespace["xs"] = range(n - 3, n)
        assert run(session, "t = xs |> map(_ ** 2) |> sum") == sum(x * x for x in range(n - 3, n))


@pytest.mark.parametrize(
    "stages",
    [
        "take(7)",
        "map(_ + 1) |> take(5)",
        "zip(xs) |> take(4) |> map(lambda x, y: x + y)",
        "drop(2)",
        "step(3)",
        "reverse",
        "window(3) |> map(sum)",
        "chunk(3) |> map(sum)",
        "take_while(_ < 5)",
    ],
)
def test_sources_of_other_lengths(stages: str) -> None:
    session = Session({})
    run(session, f"def f(xs):\n    return xs |> {stages} |> to_list")
    for length in (1, 2, 3, 6, 100, 4, 50):
        session.namespace["xs"] = xs = np.arange(length)
        found = run(session, f"t = xs |> {stages} |> to_list"), session.namespace["f"](xs)
        python = Session({"xs": xs})
        assert found == (run(python, f"t = xs |> {stages} |> to_list", Options(on="python")),) * 2


def test_what_functions_read_is_looked_at(built: list[str]) -> None:
    session = Session({"xs": np.arange(100), "k": 2})
    text = "t = xs |> map(lambda x: f(x) + k) |> sum"
    run(session, "def f(x):\n    return x * c\n\nc = 5\n")
    for change in ({}, {"k": 3}, {}, {"c": 7}, {"k": 2.5}, {"f": abs}, {"k": 3}):
        session.namespace.update(change)
        names = session.namespace
        assert run(session, text) == sum(names["f"](x) + names["k"] for x in range(100))
    del session.namespace["k"]
    with pytest.raises(NameError):
        run(session, text)


CALLED = """
import functools
def f(x, k=2, *, more=0): return x * k + more
def g(x, k=2, *, more=0): return x + k - more
p = functools.partial(f, k=3)
"""


@pytest.mark.parametrize("call", ["lambda x: f(x)", "lambda x: p(x)", "f", "p"])
@pytest.mark.parametrize("place", ["cell", "loop"])
def test_a_function_that_is_reloaded_in_place(call: str, place: str) -> None:
    session = Session({"xs": np.arange(100)})
    names = session.namespace
    run(session, CALLED)
    f, g, p = (names[name] for name in "fgp")
    steps = [
        lambda: None,
        lambda: setattr(f, "__defaults__", (5,)),
        lambda: setattr(f, "__kwdefaults__", {"more": 1}),
        lambda: f.__kwdefaults__.update(more=4),
        lambda: setattr(f, "__code__", g.__code__),
        lambda: p.keywords.update(k=9),
        lambda: None,
    ]
    names["found"] = []
    names["steps"], names["expected"] = steps, lambda: sum(eval(call, names)(x) for x in range(100))
    turn = f"found.append(((xs |> map({call}) |> sum), expected()))"
    if place == "loop":
        run(session, f"for step in steps:\n    step()\n    {turn}")
    else:
        for step in steps:
            step()
            run(session, f"t = xs |> map({call}) |> sum")
            names["found"].append((names["t"], names["expected"]()))
    assert len(names["found"]) == len(steps)
    assert all(found == expected for found, expected in names["found"])


def test_sources_that_are_one_object(built: list[str]) -> None:
    a, b = np.arange(50), np.arange(50) + 7
    session = Session({"xs": a, "ys": a})
    text = "t = xs |> zip(ys) |> map(lambda x, y: x * y) |> sum"
    for ys in (a, a, b, b, a):
        session.namespace["ys"] = ys
        assert run(session, text) == int((a * ys).sum())


def test_statements_behind_it_are_still_fused() -> None:
    session = Session({"xs": np.arange(1000)})
    shown = Options(on="parallel", baseline=False)
    for _ in range(2):
        run(session, "t = xs |> map(_ + 1)", shown)
    text = "t = xs |> map(_ + 1)\nu = xs |> sum\n"
    for _ in range(3):
        run(session, text, shown)
        assert session.last_report is not None
        assert len(session.last_report.pipelines) == 1
        assert session.namespace["u"] == 499500


def test_a_statement_over_a_result_of_its_cell() -> None:
    session = Session({"xs": np.array([1, 2**62, 3])})
    for _ in range(3):
        with pytest.warns(IntegerOverflowWarning):
            run(session, "y = xs |> map(_ ** 9 % 1000 + _ ** 3)\nt = y |> max")
        assert session.namespace["t"] == max(x**9 % 1000 + x**3 for x in (1, 2**62, 3))


def test_an_element_that_raises(built: list[str]) -> None:
    xs = np.arange(1, 100)
    session = Session({"xs": xs})
    text = "t = xs |> map(lambda x: 100 // x) |> sum"
    for _ in range(2):
        assert run(session, text) == sum(100 // x for x in range(1, 100))
    xs[40] = 0
    with pytest.raises(ZeroDivisionError) as caught:
        run(session, text)
    assert any("40" in note for note in caught.value.__notes__)
    assert any("^" in note for note in caught.value.__notes__)
    xs[40] = 1
    run(session, text)
    assert built == ["t"]


def test_other_options_are_another_run() -> None:
    session = Session({"xs": np.array([2**62, 2**62])})
    text = "t = xs |> sum"
    for options in (QUIET, QUIET, Options(on="parallel", int_mode="wrap", baseline=False), QUIET):
        assert run(session, text, options) == (2**63 if options is QUIET else -(2**63))


def test_options_that_stay_others_are_learned(built: list[str]) -> None:
    session = Session({"xs": np.arange(100)})
    for on in ("parallel", "parallel", "simd", "simd", "simd"):
        assert run(session, "t = xs |> sum", Options(on=on, baseline=False, quiet=True)) == 4950
    assert built == ["t", "t"]


def test_nothing_of_the_user_is_kept() -> None:
    arrays = [np.arange(BIG), np.arange(BIG)]
    alive = [weakref.ref(each) for each in arrays]
    session = Session(dict(zip("ab", arrays, strict=True)))
    del arrays
    for _ in range(3):
        run(session, "t = a |> zip(b) |> map(lambda x, y: x - y) |> sum")
    del session.namespace["a"], session.namespace["b"]
    run(session, "pass")
    gc.collect()
    assert [each() for each in alive] == [None, None]


@pytest.mark.parametrize("read", ["table[i]", "i if True else table[i]", "(lambda t=table: i)()", "i + m.k"])
def test_captured_arrays_are_not_kept(read: str) -> None:
    table, m = np.arange(100), types.ModuleType("m")
    m.k, m.table = 0, table
    alive = weakref.ref(table)
    session = Session({"xs": np.arange(50), "table": table, "m": m})
    del table
    for _ in range(3):
        assert run(session, f"t = xs |> map(lambda i: ({read}) * 2) |> sum") == 2450
    del session.namespace["table"], m.table
    run(session, "pass")
    gc.collect()
    assert alive() is None


def test_a_loop_that_was_forgotten_is_compiled_again(built: list[str]) -> None:
    session = Session({"xs": np.arange(50)})
    run(session, "t = xs |> sum")
    loops.clear_cache()
    assert run(session, "t = xs |> sum") == 1225
    assert len(loops.cached_loops()) == 1
    assert built == ["t", "t"]


def test_a_source_that_keeps_changing_its_kind_is_given_up(built: list[str]) -> None:
    session = Session({})
    shown = Options(on="parallel", threads=2, baseline=False)
    for turn in range(12):
        session.namespace["xs"] = np.arange(10) if turn % 2 else np.arange(10.0)
        found = run(session, "t = xs |> sum", shown)
        assert found == 45
        assert type(found) is (int if turn % 2 else float)
    assert len(built) == 12
