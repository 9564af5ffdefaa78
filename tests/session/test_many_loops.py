"""Cells of very many loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hastega_magic.compiler import loops
from hastega_magic.session import Options, Session


def test_a_cell_of_hundreds_of_loops_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    analysed: list[Any] = []
    analyse = loops._analyse  # pyright: ignore[reportPrivateUsage]

    def counted(*given: Any) -> Any:
        analysed.append(given)
        return analyse(*given)

    monkeypatch.setattr(loops, "_analyse", counted)
    text = "\n".join(f"y{k} = xs |> map(lambda x: x * {k + 2} + {k}) |> max\ny{k} + 1" for k in range(300))
    # NumPy's calls go by what the compiler finds out, and nothing waits for machine code.
    session = Session({"xs": np.arange(100)}, Options(on="numpy", baseline=False, quiet=True))
    session.run_cell(text)
    assert len(analysed) >= 300
    analysed.clear()
    session.run_cell(text)
    assert not analysed
