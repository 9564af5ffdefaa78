"""Lists that are one of two, by a branch, and classes of named tuples that are changed between runs."""

from __future__ import annotations

from typing import Any

import pytest

from hastega_magic.session import Options, Session

CELL = "r = xs |> map(f) |> to_list\n"
NAMED = "from collections import namedtuple\nP = namedtuple('P', 'w z', defaults=(4,))\n"


def ran(text: str, *changes: str) -> tuple[list[Any], list[Any], list[Any]]:
    names: dict[str, Any] = {"xs": [0, 1, 2, 3, 5]}
    session = Session(names, Options(on="simd", baseline=False))
    session.run_cell(text)
    session.run_cell(CELL)
    for change in changes:
        exec(change, names)
    session.run_cell(CELL)
    report = session.last_report
    assert report is not None
    pipelines: Any = report.to_dict()["pipelines"]
    return names["r"], [names["f"](x) for x in names["xs"]], pipelines[-1]["barriers"]


@pytest.mark.parametrize(
    "body",
    [
        "a = [1, 2]\n if x > 2: a = [x, 4]\n return a[0] * 10 + a[1]",
        "a = [1, 2]; b = [3, 4]\n if x > 2: a[0] = x; c = a\n else: b[0] = 7; c = b\n return c[0] + a[0] * 9 + b[0]",
        "a = [1, 2]; b = [3, 4]\n if x > 2: c = b\n else: a[0] = x; c = a\n return c[0]",
        "a = [[1], [2]]; b = [3]\n if x > 2: a[0][0] = x; a[1] = b; b[0] = 9\n return a[0][0] + a[1][0] * 10",
        "a = [1, 2]\n for i in range(3):\n  if i == x: break\n  a = [i, 5]\n return a[0] + a[1] * 10",
    ],
)
def test_one_of_two_lists(body: str) -> None:
    result, expected, barriers = ran(f"def f(x):\n {body}\n")
    assert (result, barriers) == (expected, [])


def test_a_list_that_is_one_of_several_is_changed_by_python() -> None:
    result, expected, barriers = ran(
        "def f(x):\n a = [1]; b = a\n if x > 2: a = [4]\n a[0] = x\n return b[0]\n"
    )
    assert result == expected
    assert barriers


@pytest.mark.parametrize(
    "change",
    [
        "P.__new__.__defaults__ = (7.5,)",
        "P.z = 3",
        "P.w, P.z = P.z, P.w",
        "P = namedtuple('P', 'z w', defaults=(1,))",
    ],
)
def test_a_changed_class_of_named_tuples_is_noticed(change: str) -> None:
    result, expected, _ = ran(f"{NAMED}def f(x):\n t = P(x)\n return t.w - t.z\n", change)
    assert list(map(repr, result)) == list(map(repr, expected))
