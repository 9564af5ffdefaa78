"""Ordinary code over neighbours, as `itertools.pairwise` gives them."""

from __future__ import annotations

import itertools
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega


def steps(xs: Any) -> Any:
    return [y - x for x, y in itertools.pairwise(xs)]


def length(xs: Any) -> Any:
    return sum(abs(b - a) for a, b in pairwise(xs))


def rises(xs: Any) -> Any:
    return all(a <= b for a, b in pairwise(xs))


def products(xs: Any) -> Any:
    return [a * b for a, b in pairwise(xs) if a < b]


def quotients(xs: Any) -> Any:
    return max(b / a for a, b in pairwise(xs))


def pairs(xs: Any) -> Any:
    return {(a, b) for a, b in pairwise(xs)}


def whole(xs: Any) -> Any:
    return [p[0] + p[1] for p in pairwise(xs)]


def of_a_generator(xs: Any) -> Any:
    return [y - x for x, y in pairwise(x * 2 for x in xs)]


def of_pairs(xs: Any) -> Any:
    return [c - a for (a, _), (_, c) in pairwise(pairwise(xs))]


FUNCTIONS = [steps, length, rises, products, quotients, pairs, whole, of_a_generator, of_pairs]
SOURCES: dict[str, Any] = {
    "ints": [(i * 7919) % 10007 + 1 for i in range(3000)],
    "rising": list(range(1, 3000)),
    "floats": [i / 2 + 1 for i in range(3000)],
    "a range": range(1, 3000),
    "a tuple": tuple(range(1, 3000)),
    "an array": np.arange(1, 3000),
    "with zero": list(range(3000)),
    "near the end of 64 bits": [2**62 + i for i in range(1000)],
    "beyond 64 bits": [2**70] * 1000,
    "kinds": [1, 2.5] * 1000,
    "bools": [True, False, False] * 500,
    "nan": [float("nan"), 1.0] * 500,
    "texts": ["a"] * 1000,
    "256": list(range(1, 257)),
    "257": list(range(1, 258)),
    "one": [1],
    "nothing": [],
}


def outcome(function: Any, given: Any) -> Any:
    try:
        found = function(given)
    except Exception as error:
        return type(error), str(error)
    return type(found), repr(found)


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_are_pythons(function: Any, name: str) -> None:
    decorated = hastega(function)
    for _ in range(3):
        assert outcome(decorated, SOURCES[name]) == outcome(function, SOURCES[name])
    assert outcome(decorated, iter(SOURCES[name])) == outcome(function, iter(SOURCES[name]))


@pytest.mark.parametrize("function", [steps, length, rises, products, quotients])
def test_it_is_one_loop(function: Any) -> None:
    decorated: Any = hastega(on="simd")(function)
    decorated(SOURCES["rising"])
    assert "1 fused loop" in str(decorated.explain())


def test_another_function_of_the_name() -> None:
    scope = {"hastega": hastega, "pairwise": lambda xs: zip(xs, xs, strict=True)}
    text = "@hastega\ndef f(xs): return [y - x for x, y in pairwise(xs)]\n"
    import linecache

    linecache.cache["<pairwise>"] = len(text), None, text.splitlines(keepends=True), "<pairwise>"
    exec(compile(text, "<pairwise>", "exec"), scope)
    assert scope["f"](list(range(3000))) == [0] * 3000  # type: ignore[operator]
