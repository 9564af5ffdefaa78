"""What is known of a loop's counter keeps products of it within 64 bits: no element is left to Python for nothing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from hastega_magic.session import Options, Session

OPTIONS = Options(on="parallel", threads=2, baseline=False, quiet=True)
N = np.random.default_rng(8).integers(-5, 2**40, 6000)
END = 2**63

EXACT = {
    "up to a number": ("r = 1\nfor i in range(2, x % 21 + 1):\n    r *= i\nreturn r", N),
    "by steps": ("r = 1\nfor i in range(1, x % 26, 3):\n    r *= i\nreturn r", N),
    "downwards": ("r = 1\nfor i in range(x % 21, 1, -1):\n    r *= i\nreturn r", N),
    "a while that counts down": ("n = x % 21\nr = 1\nwhile n > 1:\n    r *= n\n    n -= 1\nreturn r", N),
    "a while that counts up": ("i, r = 1, 1\nwhile i < x % 20 + 1:\n    r *= i\n    i += 1\nreturn r", N),
    "one of two steps": (
        "i, r = 1, 0\nwhile i < 50:\n    r += i * x\n    i = i + 3 if x % 2 else i + 1\nreturn r", N % 2**30,
    ),
    "left by break": ("r = 1\nfor i in range(2, x % 40):\n    if i > 20:\n        break\n    r *= i\nreturn r", N),
}  # fmt: skip
"""Functions of x that never leave 64 bits."""

ENDS = {
    "near the largest": (
        "r = 0\nfor i in range(x, x + 5, 3):\n    r ^= i\nreturn r",
        np.array([END - 8, END - 6, 3]),
    ),
    "near the least": (
        "r = 0\nfor i in range(x, x - 5, -3):\n    r ^= i\nreturn r",
        np.array([-END + 7, -END + 5, 3]),
    ),
    "turns written out": (
        "r = 0\nfor i in range(x, x + 2, 3):\n    r += 0.5\nreturn r",
        np.array([END - 3, END - 4, 3]),
    ),
    "constant ends": (
        f"r = x\nfor i in range({END - 61}, {END - 1}, 3):\n    r ^= i\nreturn r",
        np.array([END - 3, 0, 3]),
    ),
    "constant ends, downwards": (
        f"r = x\nfor i in range({-END + 61}, {-END}, -3):\n    r ^= i\nreturn r",
        np.array([END - 3, 0, 3]),
    ),
    "a constant start": (
        f"r = 0\nfor i in range({END - 2}, x, 3):\n    r += 0.5\nreturn r",
        np.array([END - 1, END - 2, 3]),
    ),
    "across": (
        "r = 0\nfor i in range(x - 3, x + 3):\n    r += i & 7\nreturn r",
        np.array([-END + 3, END - 4, 0]),
    ),
    "beyond": ("r = 1\nfor i in range(2, x + 1):\n    r *= i\nreturn r", np.array([3, 20, 21, 25, 2, 30])),
    "no turn": ("r = x\nfor i in range(x, x - 1):\n    r += i\nreturn r", np.array([END - 1, -END + 1, 5])),
}
"""Functions whose counters, or results, come to the ends of int64, or beyond."""


def ran(body, xs, **options):
    session = Session({"xs": xs}, replace(OPTIONS, **options))
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    result = session.run_cell(f"def f(x):\n{indented}ys = xs |> map(f)\n")
    scope = {}
    exec(f"def f(x):\n{indented}", scope)
    told = [event.data["text"] for event in result.trace.events if event.kind == "why"]
    return session.namespace["ys"].tolist(), [scope["f"](x) for x in xs.tolist()], " ".join(told)


@pytest.mark.parametrize("name", EXACT)
def test_nothing_is_left_to_python(name):
    found, expected, told = ran(*EXACT[name])
    assert found == expected
    assert "Python computed" not in told


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("name", ENDS)
def test_counters_at_the_ends(name):
    found, expected, _ = ran(*ENDS[name])
    assert found == expected
    if name != "beyond":
        found, expected, _ = ran(*ENDS[name], int_mode="checked")
        assert found == expected


def test_factorials():
    session = Session({"xs": N, "math": math}, OPTIONS)
    result = session.run_cell("ys = xs |> map(lambda x: math.factorial(x % 21))\n")
    assert session.namespace["ys"].tolist() == [math.factorial(x % 21) for x in N.tolist()]
    assert not any("Python computed" in str(event.data.get("text")) for event in result.trace.events)
