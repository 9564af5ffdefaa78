"""`--on numpy --int checked` over loops that NumPy has no calls for: raises as a compiled loop does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hastega_magic.compiler.python.elements import Elements
from hastega_magic.session import Options, Session

COMB = "math.comb(70, x % 36)"
BODIES = (
    f"map(lambda x: {COMB})", "map(lambda x: math.factorial(x % 30)) |> sum",
    "map(lambda x: x.bit_length() << 62) |> to_list",
    f"filter(lambda x: {COMB} > 5) |> sum", f"take_while(lambda x: {COMB} % 7 != 9) |> count",
    f"drop_while(lambda x: {COMB} < 10**3) |> sum", f"enumerate |> map(lambda i, x: i + {COMB}) |> sum",
    "chunk(2) |> map(lambda w: w[0].bit_length() << 61)", "chunk(4) |> map(lambda w: sum(w).bit_length() << 61) |> sum",
    f"map(lambda x: {COMB} // (x - 3)) |> filter(lambda v: v > 2) |> max", "map(lambda x: x ** 9) |> astype('int16')",
    f"scan(lambda a, x: (a + {COMB}) % 7)", f"map(lambda x: {COMB}) |> scan(lambda a, x: (a + x) % 7)",
    f"map(lambda x: {COMB}) |> take(1)", f"map(lambda x: {COMB}) |> take_while(lambda v: v < 10**9) |> count",
    f"map(lambda x: {COMB}) |> any", f"map(lambda x: {COMB} > 5) |> all", f"filter(lambda x: {COMB} > 10**20) |> first",
    f"max(key=lambda x: {COMB})", "map(lambda x: x.bit_length() << 62) |> bincount(minlength=100)",
    f"map(lambda x: ({COMB}, x)) |> map(lambda a, b: a % 7) |> sum", "map(branching) |> sum",
    "map(lambda x: x ** 3) |> sum",
    "map(lambda x: x << (x % 70))", "map(lambda x: int(x * 1e20))", "map(lambda x: round(x / 3 * 1e30)) |> max",
)  # fmt: skip
SOURCES: list[Any] = [
    list(range(1, 12)), [2**40 + k for k in range(9)], np.arange(1, 20) * 1000, [-3, -(2**40), 5], range(3, 9),
]  # fmt: skip


def branching(x: int) -> int:
    if x % 2:
        return x * x * 2**40
    return x


def outcome(on: str, body: str, xs: Any) -> tuple[Any, ...]:
    names = {"xs": xs, "math": math, "branching": branching}
    session = Session(names, Options(on=on, int_mode="checked", baseline=False, quiet=True))
    try:
        session.run_cell(f"out = xs |> {body}")
    except (ArithmeticError, ValueError) as error:
        return type(error), str(error), error.__context__
    value = session.namespace["out"]
    return type(value), repr(value)


@pytest.mark.parametrize("body", BODIES)
def test_it_raises_as_a_loop_does(body: str) -> None:
    for xs in SOURCES:
        assert outcome("numpy", body, xs) == outcome("simd", body, xs)


def test_elements_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    alone: list[int] = []
    at = Elements.at
    monkeypatch.setattr(Elements, "at", lambda self, index: alone.append(index) or at(self, index))
    assert outcome("numpy", "map(lambda x: x.bit_length()) |> sum", list(range(9000))) == (
        int, repr(sum(x.bit_length() for x in range(9000))),
    )  # fmt: skip
    assert not alone
