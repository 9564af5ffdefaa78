"""Sums whose terms cancel: what is left are roundings, which the order decides, and no other result."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest

from hastega_magic.compiler.comparing.baselines import Comparison
from hastega_magic.compiler.comparing.difference import TOLERANCE, of_terms
from hastega_magic.session import Options, Session

TURN = np.linspace(0, 2 * math.pi, 100_001)[:-1]
CENTRED = np.random.default_rng(7).normal(size=50_000) * 1e3
CENTRED -= CENTRED.mean()


def baselines(text: str, on: str = "parallel", **names: Any) -> list[dict[str, Any]]:
    session = Session({"math": math, "cmath": cmath, **names})
    report = session.run_cell(text, options=Options(on=on, threads=2)).report.to_dict()
    (pipeline,) = report["pipelines"]
    found = [each for each in pipeline["baselines"] if each["backend"] in ("python", "numpy")]
    assert found
    return found


@pytest.mark.parametrize(
    "text",
    [
        "t = xs |> map(math.sin) |> sum",
        "t = xs |> map(math.sin) |> mean",
        "t = xs |> map(lambda x: math.cos(x) * 1e200) |> sum",
        "t = xs |> zip(xs) |> map(lambda x, y: math.sin(x) * math.cos(y)) |> sum",
        "t = xs |> filter(lambda x: x > 0) |> map(math.sin) |> sum",
        "t = cs |> sum",
        "t = ys |> mean",
        "t = ys |> map(lambda y: y / 3) |> reduce(lambda a, b: a + b)",
        "t = ys |> map(lambda y: y / 3) |> sum\nu = ys |> mean",
    ],
)
def test_roundings_are_told_as_such(text: str) -> None:
    found = baselines(text, xs=TURN, cs=np.exp(1j * TURN), ys=CENTRED)
    assert all(each["equal"] for each in found)
    assert all(each["note"] == "" or each["note"].startswith("equal to ") for each in found)


@pytest.mark.parametrize("on", ["numpy", "python"])
def test_where_nothing_was_compiled(on: str) -> None:
    assert all(each["equal"] for each in baselines("t = xs |> map(math.sin) |> sum", on, xs=TURN))


def test_sums_of_windows_and_of_turns() -> None:
    text = "t = xs |> window(3) |> map(lambda a, b, c: math.sin(b)) |> sum"
    assert all(each["equal"] for each in baselines(text, xs=TURN))


def test_a_sum_that_is_wrong_is_another_result(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = Comparison.equal

    def off(self: Comparison, theirs: Any, values: Any, size: int | None = None) -> Any:
        return ours(self, [each + 1e-4 for each in theirs], values, size)

    monkeypatch.setattr(Comparison, "equal", off)
    found = baselines("t = xs |> map(math.sin) |> sum", xs=TURN)
    assert not any(each["equal"] for each in found)


def test_sums_that_leave_the_floats_in_one_order_say_so() -> None:
    found = baselines("t = xs |> sum", xs=np.array([1e308] * 3 + [-1e308] * 3))
    assert all(not each["equal"] and "another order" in each["note"] for each in found)


@pytest.mark.parametrize(
    ("own", "other", "magnitude", "equal"),
    [
        (1e-12, -1e-12, 1e4, True),
        (1e-3, -1e-3, 1e4, False),
        (0.0, 0.0, 0.0, True),
        (math.nan, 0.0, 1.0, False),
        (0.0, 1.0, math.inf, False),
        (0.0, 1.0, math.nan, False),
        (complex(1e-13, 5), complex(0, 5), complex(100, 10), True),
        (complex(1e-3, 5), complex(0, 5), complex(100, 10), False),
        (complex(1e-13, 5), complex(0, 6), complex(100, 10), False),
    ],
)
def test_the_difference_of_terms(own: Any, other: Any, magnitude: Any, equal: bool) -> None:
    assert (of_terms(own, other, magnitude, 10_000, TOLERANCE) is not None) is equal
