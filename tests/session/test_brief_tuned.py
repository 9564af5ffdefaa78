"""Short runs of cells whose loop has a schedule that was found."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hastega_magic.compiler.backends import backend_of
from hastega_magic.compiler.choice import schedule_store
from hastega_magic.compiler.loops import tuning_key
from hastega_magic.ir.schedule import Tuned
from hastega_magic.session import Options, Session

N = 100_000


QUIET = Options(on="parallel", threads=2, baseline=False, quiet=True)
pytestmark = pytest.mark.usefixtures("own_store")


def test_what_is_known_of_other_loops_changes_nothing(short: list[bool]) -> None:
    session = Session({"xs": np.arange(N)}, QUIET)
    schedule_store.keep("of another loop", _finding(lanes=8))
    for _ in range(3):
        session.run_cell("t = xs |> sum")
    assert short == [True, True]
    compiled = next(iter(session.memory.briefs._known.values())).guards.execution.compiled
    schedule_store.keep(compiled.tuning_key, _finding(lanes=4))
    session.run_cell("t = xs |> sum")
    assert short == [True, True]  # it is compiled anew, by the schedule that was found
    session.run_cell("t = xs |> sum")
    assert short == [True, True, True]
    (anew,) = session.memory.briefs._known.values()
    assert anew.guards.execution.compiled.state.tuned.lanes == 4


@pytest.mark.parametrize("others", [{"threads": 1}, {"on": "simd"}])
def test_a_finding_for_these_options_is_used_whoever_made_the_loop(others: dict[str, Any]) -> None:
    session = Session({"xs": np.arange(N)}, QUIET)
    session.run_cell("t = xs |> sum", options=replace(session.options, **others))
    session.run_cell("t = xs |> sum")
    (brief,) = session.memory.briefs._known.values()
    made = brief.guards.execution.compiled
    own = tuning_key(made.structure, False, session.options, backend_of(session.options))
    schedule_store.keep(own, _finding(lanes=4))
    session.run_cell("t = xs |> sum")
    (anew,) = session.memory.briefs._known.values()
    assert anew.guards.execution.compiled.state.tuned.lanes == 4
    assert session.namespace["t"] == N * (N - 1) // 2


def _finding(lanes: int) -> schedule_store.Finding:
    timed = schedule_store.Timed(f"lanes {lanes}", 1.0, (1.0, 1.0))
    return schedule_store.Finding(Tuned(lanes=lanes), timed, timed, N, "2026-11-24")
