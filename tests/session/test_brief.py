"""Quiet cells of one statement that run again: shortly, and with all that the usual way gives, tells and keeps."""

from __future__ import annotations

import gc
import sys
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hastega_magic.compiler.comparing.measure import measure
from hastega_magic.compiler.fastpath.brief import Brief, Briefs
from hastega_magic.compiler.loops import clear_cache
from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.session import Options, Session

QUIET = Options(on="parallel", threads=2, baseline=False, quiet=True)
N = 100_000


@pytest.fixture
def session() -> Session:
    return Session({"xs": np.arange(N)}, QUIET)


def value(session: Session, text: str, times: int = 3) -> Any:
    for _ in range(times):
        session.run_cell(text)
    return session.namespace["t"]


CELLS = {
    "t = xs |> sum": int(np.arange(N).sum()),
    "t = xs |> map(_ / 2) |> sum": float(np.arange(N).sum() / 2),
    "t = xs |> filter(_ % 3 == 1) |> count": len(range(1, N, 3)),
    "t = xs |> map(_ < 10) |> all": False,
    "t = xs |> map(_ == 10) |> any": True,
    "t = range(5, 90_000) |> filter(_ % 2 == 0) |> sum": sum(range(6, 90_000, 2)),
    "t = xs |> zip(xs) |> map(lambda a, b: a - b) |> sum": 0,
}


@pytest.mark.parametrize("text", CELLS)
def test_values(session: Session, short: list[bool], text: str) -> None:
    found = value(session, text, 4)
    assert found == CELLS[text]
    assert type(found) is type(CELLS[text])
    assert short == [True] * len(short)
    assert len(short) >= 2


@pytest.mark.parametrize("n", [1, 100, 5000, N])
def test_arrays(short: list[bool], n: int) -> None:
    session = Session({"xs": np.arange(n)}, QUIET)
    first = value(session, "t = xs |> map(_ * 3) |> filter(_ % 2 == 0)")
    second = value(session, "t = xs |> map(_ * 3) |> filter(_ % 2 == 0)", 1)
    assert first is not second
    assert first.tolist() == second.tolist() == [3 * x for x in range(0, n, 2)]
    assert all(short)
    assert short


def test_elements_are_read_anew(session: Session, short: list[bool]) -> None:
    before = value(session, "t = xs |> sum")
    session.namespace["xs"] += 1
    assert value(session, "t = xs |> sum", 1) == before + N
    session.namespace["xs"] = np.arange(7)
    assert value(session, "t = xs |> sum", 1) == 21
    assert all(short)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="NumPy refuses that to arrays which variables hold")
def test_arrays_can_be_resized_in_place(session: Session, short: list[bool]) -> None:
    value(session, "t = xs |> sum")
    session.run_cell("xs.resize(xs.size + 10)\nxs[-10:] = 1")
    assert value(session, "t = xs |> sum", 1) == N * (N - 1) // 2 + 10
    assert all(short)
    assert len(short) >= 2


def test_other_kinds_of_sources(session: Session, short: list[bool]) -> None:
    value(session, "t = xs |> sum")
    for xs in ([1, 2, 3], np.arange(3.0), np.arange(6)[::2], np.arange(3, dtype=">i8"), (0, 1)):
        session.namespace["xs"] = xs
        found = value(session, "t = xs |> sum", 1)
        assert found == sum(np.asarray(xs).tolist())
        assert type(found) is (float if getattr(xs, "dtype", None) == np.float64 else int)
    session.namespace["xs"] = 5
    with pytest.raises(TypeError):
        session.run_cell("t = xs |> sum")
    assert not all(short)


@pytest.mark.parametrize("on", ["simd", "parallel"])
def test_its_report_is_that_of_every_run(short: list[bool], on: str) -> None:
    def plain(report: dict[str, Any]) -> dict[str, Any]:
        for one in (report["cell"], *report["pipelines"]):
            assert all(phase["seconds"] >= 0 for phase in one["phases"])
            one["phases"] = {phase["name"]: phase["bytes"] for phase in one["phases"]}
        return report

    clear_cache()
    for text in ("t = xs |> map(_ + 1)", "xs |> filter(_ > 5) |> sum"):
        options = Options(on=on, threads=2, baseline=False, quiet=True)
        session = Session({"xs": np.arange(N)}, options)
        session.run_cell(text)
        session.memory.briefs = Briefs()
        usual = session.run_cell(text).report.to_dict()
        del short[:]
        brief = session.run_cell(text).report.to_dict()
        assert short == [True]
        assert plain(brief) == plain(usual)


def test_the_value_of_the_cell(session: Session, short: list[bool]) -> None:
    for text, shown in (("xs |> sum", True), ("xs |> sum;", False), ("t = xs |> sum", False)):
        for _ in range(3):
            assert session.run_cell(text).value == (N * (N - 1) // 2 if shown else None)
    assert all(short)
    assert len(short) >= 3


def test_what_is_evaluated_is_evaluated_once(session: Session, short: list[bool]) -> None:
    seen: list[int] = []

    def load() -> Any:
        seen.append(1)
        return session.namespace["now"]

    session.namespace |= {"load": load, "now": np.arange(50)}
    for now in (np.arange(50), np.arange(60), [1, 2], np.arange(4.0), "abc"):
        session.namespace["now"] = now
        before = len(seen)
        try:
            session.run_cell("t = load() |> map(_ * 2) |> sum")
        except TypeError:
            assert now == "abc"
        assert len(seen) == before + 1
    assert True in short
    assert False in short


def test_names_that_the_source_binds(session: Session, short: list[bool]) -> None:
    for k in (5, 4, 3):
        session.namespace["k"] = k
        session.run_cell("t = range(n := 1000 * k) |> sum")
        assert session.namespace["n"] == 1000 * k
        assert session.namespace["t"] == sum(range(1000 * k))
    assert all(short)
    assert not any(name.startswith("__hastega") for name in session.namespace)


def test_errors_are_told_as_ever(session: Session, short: list[bool]) -> None:
    text = "t = xs |> map(1000 // _) |> sum"
    session.namespace["xs"] = np.arange(1, N)
    expected = value(session, text)
    session.namespace["xs"] = np.arange(N)
    for _ in range(5):
        with pytest.raises(ZeroDivisionError) as raised:
            session.run_cell(text)
        assert "element 0" in "".join(raised.value.__notes__)
        assert session.last.failed_at is not None
        assert session.namespace["t"] == expected
    del session.namespace["xs"]
    with pytest.raises(NameError, match="xs"):
        session.run_cell(text)
    assert session.last is not None
    assert session.last.value is None
    assert short


def test_an_unknown_name_is_hinted_at(session: Session, short: list[bool]) -> None:
    value(session, "t = xs |> map(_ * 2) |> sum")
    session.namespace["xz"] = session.namespace.pop("xs")
    with pytest.raises(NameError):
        session.run_cell("t = xs |> map(_ * 2) |> sum")
    assert short[-1] is False
    assert session.namespace["t"] == N * (N - 1)


def test_overflow_is_exact_and_warned_of_each_time(session: Session, short: list[bool]) -> None:
    value(session, "t = xs |> map(_ * 3)")
    session.namespace["xs"] = np.full(N, 2**62)
    for _ in range(5):
        with pytest.warns(IntegerOverflowWarning):
            session.run_cell("t = xs |> map(_ * 3)")
        assert session.namespace["t"][0] == 3 * 2**62
    assert False in short


def test_numbers_that_functions_read(session: Session, short: list[bool]) -> None:
    for k in (2, 2, 2, 3, 3, 3, 4, 2.5, 2):
        session.namespace["k"] = k
        found = value(session, "t = xs |> map(lambda x: x * k) |> sum", 1)
        assert found == k * (N * (N - 1) // 2)
        assert type(found) is type(k)
    assert short


def test_functions_that_are_defined_anew(session: Session, short: list[bool]) -> None:
    for step in (1, 1, 1, 5, 5):
        session.run_cell(f"def moved(x): return x + {step}")
        assert value(session, "t = xs |> map(moved) |> sum", 2) == N * (N - 1) // 2 + step * N
    assert True in short


def test_a_stage_of_the_users_own(session: Session, short: list[bool]) -> None:
    usual = value(session, "t = xs |> sum")
    session.run_cell("def sum(xs): return 'mine'")
    assert value(session, "t = xs |> sum", 2) == "mine"
    del session.namespace["sum"]
    assert value(session, "t = xs |> sum", 2) == usual
    session.namespace["sum"] = 0
    assert value(session, "t = xs |> sum", 2) == usual
    assert short


def test_other_options_are_followed(session: Session, short: list[bool]) -> None:
    session.namespace["xs"] = np.full(N, 2**62)
    text = "t = xs |> map(_ + _) |> sum"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegerOverflowWarning)
        exact = value(session, text)
    assert exact == N * 2**63
    for _ in range(2):
        with pytest.raises(OverflowError):
            session.run_cell(
                text, options=Options(on="parallel", baseline=False, quiet=True, int_mode="checked")
            )
    assert session.run_cell(text, options=Options(on="python", baseline=False, quiet=True)) is session.last
    assert session.namespace["t"] == exact


def test_cells_that_are_looked_at_are_not_short(session: Session, short: list[bool]) -> None:
    for options in (Options(on="parallel", baseline=False), Options(on="parallel", quiet=True)):
        for _ in range(3):
            session.run_cell("t = xs |> sum", options=options)
    for text in ("s = 0\nt = xs |> sum", "t = xs |> sum\nu = xs |> max", "t = [x |> sum for x in [xs]]"):
        for _ in range(3):
            session.run_cell(text)
    assert not short


def test_what_is_kept_can_be_run_again(session: Session, short: list[bool]) -> None:
    value(session, "t = xs |> map(_ * 2) |> sum", 4)
    assert short[-1]
    assert [kept.names for kept in session.kept] == [("t",)]
    assert measure(session.kept, on="simd", within=0.01).equal
    session.run_cell("pass")
    assert not session.kept


@pytest.mark.parametrize("looked", [False, True])
def test_arrays_are_let_go_of(short: list[bool], looked: bool) -> None:
    xs = np.arange(N)
    alive = weakref.ref(xs)
    session = Session({"xs": xs}, QUIET)
    del xs
    value(session, "t = xs |> map(_ + 1)", 4)
    assert short[-1]
    if looked:
        assert session.last_report is not None
        assert session.kept
    del session.namespace["xs"]
    session.namespace["alive"] = alive
    session.run_cell("import gc\ngc.collect()\ngone = alive() is None")
    assert session.namespace["gone"]
    result = weakref.ref(session.namespace["t"])
    del session.namespace["t"]
    gc.collect()
    assert result() is None


def test_an_error_lets_go_of_what_it_came_from(session: Session, short: list[bool]) -> None:
    session.run_cell("def load():\n    ys = xs\n    return ys[at:ys.size // step]")
    session.namespace |= {"at": 0, "step": 1}
    value(session, "t = load() |> sum", 4)
    assert short[-1]
    gc.collect()
    gc.disable()
    try:
        session.namespace["xs"], session.namespace["step"] = np.arange(N), 0
        with pytest.raises(ZeroDivisionError):
            session.run_cell("t = load() |> sum")
        alive = weakref.ref(session.namespace.pop("xs"))
        session.run_cell("pass")
        assert alive() is None
    finally:
        gc.enable()


def lines_of(code: Any) -> Iterator[Any]:
    """Trace functions that interrupt at the first line, the second, and so on."""
    for line in range(100):
        seen = 0

        def trace(frame: Any, event: str, argument: Any, line: int = line) -> Any:
            nonlocal seen
            if frame.f_code is not code:
                return None
            seen += event == "line"
            if seen == line + 1:
                seen += 1
                raise KeyboardInterrupt
            return trace

        yield trace


def test_an_interrupt_at_any_line_leaves_nothing_behind(session: Session) -> None:
    text = "t = xs |> sum"
    expected = value(session, text)
    interrupted = 0
    for trace in lines_of(Brief.run.__code__):
        session.namespace["t"] = None
        sys.settrace(trace)
        try:
            session.run_cell(text)
            done = True
        except KeyboardInterrupt:
            done = False
        finally:
            sys.settrace(None)
        if done:
            break
        interrupted += 1
        assert session.namespace["t"] in (None, expected)
        assert value(session, text, 1) == expected
        assert not any(name.startswith("__hastega") for name in session.namespace)
    assert interrupted > 15


def test_a_name_of_ours_that_the_user_has(session: Session, short: list[bool]) -> None:
    session.namespace["__hastega_bind__"] = "mine"
    value(session, "t = xs |> sum", 4)
    assert session.namespace["__hastega_bind__"] == "mine"
    assert short[-1]


def test_a_cell_that_never_fits_is_left_alone(session: Session, short: list[bool]) -> None:
    value(session, "t = xs |> sum")
    for _ in range(6):
        session.namespace["xs"] = [1, 2, 3]
        assert value(session, "t = xs |> sum", 1) == 6
    assert short.count(False) == 3
