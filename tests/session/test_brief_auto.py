"""Short runs of quiet cells where `--on auto` chooses: what it would choose, as long as that stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from machines import GPU, machine

from hastega_magic.compiler.backends import backend_of
from hastega_magic.compiler.choice import costs, schedule_store
from hastega_magic.compiler.choice.auto import Costs, host_anyway
from hastega_magic.compiler.fastpath.brief import Briefs
from hastega_magic.compiler.loops import clear_cache, tuning_key
from hastega_magic.cost.learned import Learned
from hastega_magic.cost.machine import Machine
from hastega_magic.cost.predict import Case
from hastega_magic.ir.schedule import Tuned
from hastega_magic.session import Options, Session

QUIET = Options(threads=2, baseline=False, quiet=True)
N = 100_000
TEXT = "t = xs |> map(_ * 3) |> filter(_ % 2 == 0) |> sum"

HOST = machine(threads=2, python=1e-3)
"""On which threads are worth it from some blocks on."""
LAZY = machine(threads=2, python=1e-3, start=1.0)
"""On which they never are."""


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Callable[[Machine], None]:
    """Let the process believe that it runs on a machine, of which nothing is learned yet."""
    monkeypatch.delenv(costs.AUTO)
    monkeypatch.setattr("hastega_magic.compiler.choice.learning.default_threads", lambda: 2)

    def use(found: Machine) -> None:
        monkeypatch.setattr(costs._KNOWN, "machine", found)
        monkeypatch.setattr(costs._KNOWN, "learned", Learned(calibrated=found.calibrated))

    return use


@pytest.fixture
def untaught(on: Callable[[Machine], None]) -> Any:
    """The same, where runs teach nothing."""

    def use(found: Machine) -> None:
        on(found)
        costs._KNOWN.learns = False

    yield use
    costs._KNOWN.learns = True


def expected(n: int) -> int:
    return sum(3 * x for x in range(n) if 3 * x % 2 == 0)


def test_they_begin_when_enough_runs_have_taught_and_every_eighth_teaches(on: Any, short: list[bool]) -> None:
    on(LAZY)
    session = Session({"xs": np.arange(N)}, QUIET)
    for _ in range(40):
        session.run_cell(TEXT)
        assert session.namespace.pop("t") == expected(N)
    first = short.index(True)
    assert first >= 4, "the first run compiles, and then as many teach as count"
    assert short[first:] == ([True] * 7 + [False]) * ((len(short) - first) // 8) + [True] * (
        (len(short) - first) % 8
    )


@pytest.mark.parametrize("there", [HOST, LAZY])
@pytest.mark.parametrize("n", [100, 5000, 30_000, N, 1_000_000])
def test_their_report_is_that_of_every_run(untaught: Any, short: list[bool], there: Machine, n: int) -> None:
    def plain(report: dict[str, Any]) -> dict[str, Any]:
        for one in (report["cell"], *report["pipelines"]):
            one["phases"] = {phase["name"]: phase["bytes"] for phase in one["phases"]}
        return report

    untaught(there)
    clear_cache()
    for text in (TEXT, "xs |> map(_ + 1)"):
        session = Session({"xs": np.arange(n)}, QUIET)
        session.run_cell(text)
        session.memory.briefs = Briefs()
        usual, kept = session.run_cell(text).report.to_dict(), [each.options for each in session.kept]
        del short[:]
        brief = session.run_cell(text).report.to_dict()
        assert short == [True]
        assert plain(brief) == plain(usual)
        assert [each.options for each in session.kept] == kept


def test_another_choice_is_followed(untaught: Any, short: list[bool]) -> None:
    untaught(LAZY)
    session = Session({"xs": np.arange(1_000_000)}, QUIET)
    ran: list[tuple[str, int]] = []
    for there in (LAZY, LAZY, HOST, HOST, LAZY, machine(threads=2, python=1e-15), LAZY):
        untaught(there)
        session.run_cell(TEXT)
        assert session.namespace.pop("t") == expected(1_000_000)
        assert session.last_report is not None
        found = session.last_report.to_dict()["pipelines"][0]
        ran.append((found["backend"], found["threads"]))
    alone, all_of_them, python = ("simd", 1), ("parallel", 2), ("python", 1)
    assert ran == [alone, alone, all_of_them, all_of_them, alone, python, alone]
    assert short == [True, True, True, True, False, True]


@pytest.mark.usefixtures("own_store")
def test_what_was_found_for_other_loops_does_not_stand_in_the_way(untaught: Any, short: list[bool]) -> None:
    """Whichever back end is chosen, from run to run; what was found for this loop on it is used."""
    timed = schedule_store.Timed("lanes 4", 1.0, (1.0, 1.0))
    finding = schedule_store.Finding(Tuned(lanes=4), timed, timed, N, "2026-11-27")
    schedule_store.keep("of another loop", finding)
    session = Session({"xs": np.arange(1_000_000)}, QUIET)
    for there in (LAZY, HOST, LAZY, HOST, HOST, LAZY):
        untaught(there)
        session.run_cell(TEXT)
        assert session.namespace.pop("t") == expected(1_000_000)
    assert short == [True] * 5
    (brief,) = session.memory.briefs._known.values()
    made, backend = brief.guards.execution.compiled, backend_of(replace(QUIET, on="parallel"))
    schedule_store.keep(tuning_key(made.structure, made.state.large, QUIET, backend), finding)
    for there, enough in ((LAZY, True), (HOST, False), (HOST, True)):
        untaught(there)
        del short[:]
        session.run_cell(TEXT)
        assert session.namespace.pop("t") == expected(1_000_000)
        assert session.last_report is not None
        tuned = session.last_report.to_dict()["pipelines"][0].get("tuning") or {}
        assert (short, there is HOST) == ([enough], bool(tuned)), tuned


def test_what_auto_stands_for_is_followed(
    untaught: Any, short: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    untaught(LAZY)
    session = Session({"xs": np.arange(N)}, QUIET)
    session.run_cell(TEXT)
    for pinned in ("simd", "parallel", "python", ""):
        monkeypatch.setenv(costs.AUTO, pinned)
        session.run_cell(TEXT)
        assert session.namespace.pop("t") == expected(N)
        assert session.last_report is not None
        assert session.last_report.to_dict()["pipelines"][0]["backend"] == (pinned or "simd")
    assert short == [True, True, False, True]


def test_a_device_that_may_win_has_to_be_looked_at(untaught: Any, short: list[bool]) -> None:
    quick = replace(GPU, pageable=(0.0, 0.0), inward=0.0, launch=1e-9, kernel=1e-9, latency=(0.0, 0.0))
    untaught(machine(quick, threads=2, python=1e-3))
    session = Session({"xs": np.arange(1_000_000)}, QUIET)
    session.run_cell(TEXT)
    session.run_cell(TEXT)
    assert short == [True], "it was looked for, and is not there"
    (brief,) = session.memory.briefs._known.values()
    assert brief.standing is not None
    (models,) = (each for each in brief.standing.compiled.pictures.values() if isinstance(each, Costs))
    models.devices.clear()
    assert host_anyway(models, Case(1_000_000)) == ""
    session.run_cell(TEXT)
    session.run_cell(TEXT)
    assert short == [True, False, True]
    assert session.namespace["t"] == expected(1_000_000)
