"""Short runs of cells whose loop has a schedule that was found."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hastega_magic.compiler.backends import backend_of
from hastega_magic.compiler.choice import costs, known
from hastega_magic.compiler.loops import clear_cache, tuning_key
from hastega_magic.ir.schedule import Tuned
from hastega_magic.session import Options, Session

N = 100_000


@pytest.fixture
def own_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path))
        costs.forget()
        known.forget()
        clear_cache()
        yield
    costs.forget()
    known.forget()
    clear_cache()


@pytest.mark.usefixtures("own_store")
@pytest.mark.parametrize("others", [{"threads": 1}, {"on": "simd"}])
def test_a_finding_for_these_options_is_used_whoever_made_the_loop(others: dict[str, Any]) -> None:
    session = Session({"xs": np.arange(N)}, Options(on="parallel", threads=2, baseline=False, quiet=True))
    session.run_cell("t = xs |> sum", options=replace(session.options, **others))
    session.run_cell("t = xs |> sum")
    (brief,) = session.memory.briefs._known.values()
    made = brief.alike.execution.compiled
    own = tuning_key(made.structure, False, session.options, backend_of(session.options))
    timed = known.Timed("lanes 4", 1.0, (1.0, 1.0))
    known.keep(own, known.Finding(Tuned(lanes=4), timed, timed, N, "2026-11-24"))
    session.run_cell("t = xs |> sum")
    (anew,) = session.memory.briefs._known.values()
    assert anew.alike.execution.compiled.state.tuned.lanes == 4
    assert session.namespace["t"] == N * (N - 1) // 2
