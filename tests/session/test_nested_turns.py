"""Pipelines inside functions that another pipeline of the cell calls: both are told of, each with its own figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hastega_magic.session import Options, Session

SHOWN = Options(on="parallel", threads=2)
NESTED = [
    "t = xs |> map(lambda i: range(i) |> sum) |> to_list",
    "def f(i):\n    return range(i) |> sum\nt = xs |> map(f) |> to_list",
    "t = xs |> map(lambda i: range(i) |> map(lambda k: range(k) |> sum) |> sum) |> to_list",
    "t = xs |> map(_ * 2) |> map(lambda i: range(i // 2) |> sum) |> map(_ + 0) |> to_list",
]


def run(text: str, options: Options = SHOWN) -> tuple[Session, list[dict[str, Any]]]:
    session = Session({"xs": np.arange(9), "zs": np.arange(5000)})
    return session, session.run_cell(text, options=options).report.to_dict()["pipelines"]


@pytest.mark.parametrize("on", ["parallel", "auto"])
@pytest.mark.parametrize("text", NESTED)
def test_each_is_told_of_by_itself(text: str, on: str) -> None:
    session, pipelines = run(text, Options(on=on, threads=2))
    inner = (
        (lambda i: sum(sum(range(k)) for k in range(i))) if "lambda k" in text else lambda i: sum(range(i))
    )
    assert session.namespace["t"] == [inner(i) for i in range(9)]
    outer, *others = pipelines
    assert outer["name"] == "t"
    assert outer["graph"]["before"]["nodes"]
    assert any("|>" in each["reason"] or "inside a function" in each["reason"] for each in outer["barriers"])
    for each in others:
        assert not each["barriers"] or "lambda k" in text
        assert not any("ran 1 times" in why for why in each["why"])
    for each in pipelines if on == "parallel" else ():
        assert each["backend"] == "parallel"
        assert each["loops"] >= 1
        assert [phase["name"] for phase in each["phases"]].count("kernel") == 1


def test_statements_behind_go_on_as_ever() -> None:
    _, pipelines = run(f"{NESTED[0]}\nu = zs |> map(_ * 2) |> sum\nv = zs |> sum")
    assert [each["name"] for each in pipelines] == ["t", "line 1", "u, v"]
    assert pipelines[-1]["elements"] == 5000


ERRORS = [
    ("b = xs |> map(lambda x: (xs |> sum) // x) |> sum", "b"),
    ("def f(x):\n    s = range(x) |> sum\n    return 1 // (x - 4)\nb = xs |> map(f) |> to_list", "b"),
    ("def f(x):\n    return range(x) |> map(lambda y: 5 // (y - 3)) |> sum\nb = xs |> map(f)", "return"),
    ("a = xs |> sum\nb = xs |> take(1 // 0)", None),
    ("a = xs |> sum\nb = xs |> take((xs |> sum) // 0)", None),
    ("a = xs |> map(_ + 1)\nb = a |> take((xs |> sum) // 0)", None),
    ("a = xs |> sum\nb = (xs |> sum) // 0", None),
]


@pytest.mark.parametrize(("text", "line"), ERRORS)
def test_the_statement_that_fails_is_named(text: str, line: str | None) -> None:
    session = Session({"xs": np.arange(10)})
    with pytest.raises(ZeroDivisionError) as caught:
        session.run_cell(text, options=Options(on="parallel", baseline=False, quiet=True))
    place = session.last.failed_at
    if line is None:
        assert place is None
        assert not hasattr(caught.value, "__notes__")
        assert "a" in session.namespace
        return
    assert place is not None
    assert text.splitlines()[place.line - 1].split()[0] == line
    assert any("^" in note for note in caught.value.__notes__)


CAUGHT = """\
def f(i):
    try:
        return range(i + 1) |> map(lambda x: 1 // x) |> sum
    except ZeroDivisionError:
        return 0
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (CAUGHT + "b = xs |> map(f) |> map(lambda x: 1 // x) |> to_list", 6),
        (CAUGHT + "b = f(3)\nc = 1 // b", None),
        (CAUGHT + "b = f(3)\nc = xs |> map(lambda x: 1 // x)", 7),
        (CAUGHT.replace("return 0", "raise") + "b = f(3)", 3),
        (CAUGHT.replace("return 0", "1 // 0") + "b = xs |> map(f)", 6),
    ],
)
def test_one_that_failed_and_was_caught_is_not_named(text: str, line: int | None) -> None:
    session = Session({"xs": np.arange(10)})
    with pytest.raises(ZeroDivisionError):
        session.run_cell(text, options=Options(on="parallel", baseline=False, quiet=True))
    assert (session.last.failed_at and session.last.failed_at.line) == line


def test_what_stages_call_of_ours_is_not_followed() -> None:
    """Looking into functions for what they read ends at the calls that pipelines inside them are rewritten to."""
    session = Session({"xs": np.arange(9), "k": 2})
    text = "t = xs |> map(lambda i: range(i) |> map(lambda j: j * k) |> sum) |> sum"
    for k in (2, 3, 2.5):
        session.namespace["k"] = k
        session.run_cell(text, options=Options(on="parallel", baseline=False))
        assert session.namespace["t"] == sum(sum(j * k for j in range(i)) for i in range(9))


def test_exceptions_with_a_kind_of_their_own_are_raised_as_they_are() -> None:
    session = Session({})
    with pytest.raises(Exception, match="mine") as caught:
        session.run_cell("class E(Exception):\n    kind = 'bad'\nraise E('mine')")
    assert type(caught.value).__name__ == "E"
    assert "raised E" in session.kept.why
