"""`--int checked` within the turns of functions' own loops, and beside constants that no int64 holds."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hastega_magic.compiler.python import instrumented
from hastega_magic.session import Options, Session

FUNCTIONS = """
def power(x):
    r = 1
    for k in range(x):
        r = r * 10
    return r
def left(x):
    r = 1
    for k in range(x):
        r = r * 10 if k < 40 else r
    return r % 1000
def nested(n):
    t = 0
    for i in range(n % 5):
        for k in range(3):
            t = t * 2**30 + k if k else t + 1
        t = t % 11
    return t
def apart(a, x):
    for k in range(3):
        a = a * 2**30 + x
    return a % 1000
"""


def run(on: str, text: str) -> Any:
    session = Session({"math": math}, Options(on=on, int_mode="checked", baseline=False, quiet=True))
    session.run_cell(FUNCTIONS + "out = " + text)
    return session.namespace["out"]


@pytest.mark.parametrize("on", ["simd", "numpy"])
@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("range(15, 25) |> map(lambda x: power(x) > 5)", r"element 4 .*19. needs 10000000000000000000\n"),
        ("range(15, 25) |> map(left) |> sum", r"element 4 .*19. needs 10000000000000000000\n"),
        ("range(15, 25) |> filter(lambda x: power(x) % 7 < 3) |> count", r"needs 10000000000000000000\n"),
        ("range(20) |> map(nested)", "element 3 "),
        (
            "range(15, 25) |> map(lambda x: math.comb(100, x) % 7)",
            r"element 3 .*needs 30664510802988208300\n",
        ),
        ("range(5, 20) |> scan(apart)", "needs|: 6189"),
        ("range(5, 20) |> reduce(apart, 1)", ": 1237"),
    ],
)
def test_integers_of_turns_raise(on: str, text: str, needs: str) -> None:
    with pytest.raises(OverflowError, match=needs):
        run(on, text)


@pytest.mark.parametrize("on", ["simd", "numpy"])
@pytest.mark.parametrize(
    "element",
    [
        "math.comb(66, 33 - x)",
        "pow(2**40 + x, 3, 10**15 + 7)",
        "pow(2**40 + x, x + 2, 10**15 + 7)",
        "power(x) % 7",
    ],
)
def test_what_pythons_functions_have_on_their_way_is_nobodys(on: str, element: str) -> None:
    names: dict[str, Any] = {"math": math}
    exec(FUNCTIONS, names)
    expected = [eval(element, names, {"x": x}) for x in range(7)]
    assert run(on, f"range(7) |> map(lambda x: {element}) |> to_list") == expected


@pytest.mark.parametrize("on", ["simd", "numpy"])
@pytest.mark.parametrize(
    "pipeline",
    [
        "range(5) |> map(lambda x: x % 10**25) |> to_list", "range(5) |> map(lambda x: min(x, 2**80)) |> sum",
        "range(5) |> map(lambda x: x if x < 30 else x + 10**25) |> max", "[] |> map(lambda x: x % 10**25) |> sum",
        "range(5) |> filter(lambda x: x % 2**70 > 2) |> sum", "range(5) |> map(lambda x: x % 10**25) |> cumsum",
        "range(5) |> map(lambda x: x % 10**25) |> take_while(lambda x: x < 3) |> to_list",
        "range(5) |> map(lambda x: 2**80 if x == 3 else x) |> first",
    ],
)  # fmt: skip
def test_constants_beyond_raise_only_where_elements_need_more(on: str, pipeline: str) -> None:
    session = Session({}, Options(on="python", quiet=True))
    session.run_cell(f"out = {pipeline}")
    assert repr(run(on, pipeline)) == repr(session.namespace["out"])


@pytest.mark.parametrize("on", ["simd", "numpy"])
@pytest.mark.parametrize(
    ("function", "element"),
    [("2**80", 0), ("(2**80, x)", 0), ("max(x, 2**80)", 0), ("x if x < 3 else x + 10**25", 3)],
)
def test_elements_that_are_such_a_constant_raise(on: str, function: str, element: int) -> None:
    with pytest.raises(OverflowError, match=f"element {element} of range"):
        run(on, f"range(5) |> map(lambda x: {function})")


def test_the_report_says_no_more_than_that_python_looked() -> None:
    session = Session({}, Options(on="simd", int_mode="checked", baseline=False))
    text = session.run_cell("range(9) |> map(lambda x: x % 10**25) |> sum").report.to_text()
    assert "does not fit in 64 bits" in " ".join(text.split())
    assert "does not reach" not in text


def test_functions_whose_text_would_be_too_long_are_looked_at_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(instrumented, "_LONGEST", 0)
    for function, element in (("left(x)", 19), ("nested(x)", 3), ("power(x) % 9", 19)):
        with pytest.raises(OverflowError, match=f"element {element} of range"):
            run("simd", f"range(22) |> map(lambda x: {function} % 10**25)")
    expected = [math.comb(66, x) % 7 for x in range(7)]  # steps of comb are nobody's
    assert run("simd", "range(7) |> map(lambda x: math.comb(66, x) % 10**25 % 7) |> to_list") == expected


def test_more_branches_within_each_other_than_python_takes() -> None:
    branches = "\n".join(f"        elif x * 2**{k % 9} + r == {-k}: r = r + {k}" for k in range(1, 130))
    text = f"""
def chain(x):
    r = 1
    for k in range(x):
        if k < 0: r = 0
{branches}
        else: r = r * 10
    return r % 1000
out = range(22) |> map(lambda x: chain(x) % 10**25)"""
    with pytest.raises(OverflowError, match="element 19 of range"):
        Session({}, Options(on="simd", int_mode="checked", baseline=False, quiet=True)).run_cell(text)
