"""Later turns of a loop raise and wrap around as the first one does, whatever stages were given before."""

from __future__ import annotations

from typing import Any

import pytest

from hastega_magic.session import Options, Session

FLOATS = [1.5, 0.5, 3.5, 2.5] * 10
INTS = [1, 2, 3] * 9


def turns(stages: str, source: list[Any], given: list[Any], mode: str) -> list[Any]:
    session = Session({"xs": source, "given": given}, Options(int_mode=mode, baseline=False, quiet=True))
    cell = f"found = []\nfor k in given:\n    found.append(xs |> {stages})\nfound"
    return session.run_cell(cell).value


@pytest.mark.parametrize(
    "stages", ["reduce(max, k)", "map(lambda x: x * 2) |> reduce(max, init=k)", "scan(max, k) |> take(2)"]
)
@pytest.mark.parametrize("beyond", [2**63, 2**70, -(2**63) - 1])
def test_steps_begin_beyond_64_bits_where_python_ran_them_before(stages: str, beyond: int) -> None:
    with pytest.raises(OverflowError, match=f"begins with {beyond}, which no int64 holds"):
        turns(stages, FLOATS, [1, 2, beyond], "checked")


@pytest.mark.parametrize("before", [True, 2.5])
@pytest.mark.parametrize(("stages", "wrapped"), [("sum(k)", 54), ("prod(start=k)", 0)])
def test_a_sum_wraps_around_where_python_added_up_before(before: float, stages: str, wrapped: int) -> None:
    assert turns(stages, INTS, [before, 2**70], "wrap")[1] == wrapped
