"""Iterables that a function unpacks at once, `a, b = map(f, (x, 1))`, `a, b, c = range(3)`, or zips strictly."""

import math

import numpy as np
import pytest

from tests.compiler.battery import assert_like_python, one_loop

SOURCES = {
    "list": [3, -1, 4, 0, 9, 2],
    "floats": [0.5, -2.5, -0.0, math.inf],
    "bools": [True, False],
    "empty": [],
}
NUMBERS = np.arange(200)
COMPILED = [
    "a, b, c = range(3); return a + b * c + x",
    "*b, = range(2, 9, 3); return b[1] + x + len(b)",
    "a, *b = range(5); return a + b[-1] * x",
    "a, b = map(doubled, (x, 1)); return a - b",
    "x, y = map(doubled, (x, x + 1)); return x - y",
    "a, b = (doubled(y) for y in (x, 2)); return a - b",
    "a, b = reversed((x, 1)); return a - 2 * b",
    "(a, b), (c, d) = zip((x, 1), (2, x)); return a * 10 + b + c - d",
    "(i, a), [j, b] = enumerate((x, 5), start=1); return i * a + j * b",
    "s = x; for a, b in zip((1, x), (3, 4), strict=True): s += a * b; return s",
    "s = 0; for a, b in zip(range(100), range(50, 150), strict=True): s += a - b; return s - x",
    "s = x; for a, b in zip((1, 2), (3, x, 1), strict=False): s += a * b; return s",
    "L = [1, 2]; a, b = (L.append(y) or y for y in (x, 4)); return a + b + len(L)",
]
PYTHONS = [
    "return sum(a * b for a, b in zip(N, M, strict=True)) + x",
    "s = x; for a, b in zip((1, x), (3, 4, 5), strict=True): s += a * b; return s",
    "return sum(a * b for a, b in zip(N, range(9), strict=True)) + x",
    "for a, b in zip((1, x), (3, 4), first=True): x += a * b; return x",
    "a, b = range(3); return x",
    "a, b = map(doubled, (x,)); return x",
    "a, b = (y for y in (x, 2, 3) if y != 3); return a - b",
    "a, b = map(inverse, (x, 2)); return a + b",
    "a, b = c = range(2); return a + c[1] + x",
    "L = [1, 2]; a, b, c = (L.append(9) or y for y in L); return a",
]


def cell(body: str) -> str:
    lines = "\n    ".join(body.split("; "))
    return (
        "def doubled(y): return y * 2\ndef inverse(y): return 1 / y\n"
        f"def f(x):\n    {lines}\nxs |> map(f) |> to_list"
    )


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("body", COMPILED)
def test_compiled(body, source):
    one_loop(assert_like_python(cell(body), {"xs": SOURCES[source], "N": NUMBERS, "M": NUMBERS * 3}))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("body", PYTHONS)
def test_python_tells_what_is_wrong(body, source):
    assert_like_python(cell(body), {"xs": SOURCES[source], "N": NUMBERS, "M": NUMBERS * 3})
