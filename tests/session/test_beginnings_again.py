"""What running values begin with, when the same cell runs again over other elements."""

from __future__ import annotations

import numpy as np
import pytest

from hastega_magic.compiler import groups
from hastega_magic.session import Session

TEXTS = [
    "a |> scan(lambda s, x: s * x, 1)",
    "a |> scan(lambda s, x: max(s, x), 0) |> to_list",
    "a |> scan(lambda s, x: (s[0] * x, s[1] + 1), (1, 0)) |> to_list",
    "a |> map(lambda x: x + 1) |> scan(lambda s, x: s * 0.5 + x, 0.0)",
    "b = a |> filter(lambda x: x > 1) |> scan(lambda s, x: s * 0.5 + x, 0.0)\nc = a |> sum\nb, c",
    "a |> scan(lambda s, x: (s + x) % 101, 1)",
    "a |> reduce(lambda s, x: s * x - 1, 1)",
    "a |> reduce(lambda s, x: s + x / 2, 1.5)",
    "a |> reduce(lambda s, x: (s[0] * x, s[1] + 1), (1, 0))",
    "a |> map(lambda x: x * 1.5) |> sum(3.5)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_after_a_run_over_nothing(text):
    session = Session({})
    for elements in ([], [1, 2, 3], [], [5], [3, 2, 1, 9], [1] * 3000):
        session.namespace["a"] = np.array(elements, int)
        expected = Session({"a": np.array(elements, int)}).run_cell(text).value
        assert repr(session.run_cell(text).value) == repr(expected)


@pytest.mark.parametrize("text", TEXTS)
def test_where_the_loop_is_compiled_again(text, monkeypatch):
    session, run_loops = Session({}), groups.run_loops
    # Without what an earlier run found out of it.
    monkeypatch.setattr(groups, "run_loops", lambda *given: run_loops(*given[:-1]))
    for elements in ([1, 2, 3], [4, 5], [1] * 3000):
        session.namespace["a"] = np.array(elements, int)
        expected = Session({"a": np.array(elements, int)}).run_cell(text).value
        assert repr(session.run_cell(text).value) == repr(expected)
