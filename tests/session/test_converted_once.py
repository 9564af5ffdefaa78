"""Sources that are converted are so once a run."""

from __future__ import annotations

import pytest

from hastega_magic.runtime import sources
from hastega_magic.session import Options, Session


@pytest.mark.parametrize(
    "cell", ["t = zs |> sum", "t = zs |> map(lambda z: z * 2) |> to_list", "t = [z * 2 for z in zs]"]
)
def test_a_list_of_complex_numbers_is_converted_once(cell, monkeypatch):
    described, often = sources.of_list, []
    monkeypatch.setattr(sources, "of_list", lambda *given: often.append(given) or described(*given))
    zs = [complex(each, 1) for each in range(3000)]
    space = {"zs": zs}
    session = Session(space, Options(on="parallel", baseline=False, quiet=True))
    for expected in ([each * 2 for each in zs], [9j, *(each * 2 for each in zs[1:])]):
        often.clear()
        session.run_cell(cell)
        assert space["t"] in (expected, sum(zs))
        assert len(often) == 1
        zs[0] = 4.5j
