"""Random `for` statements that search give what Python gives: values, types, and errors."""

from __future__ import annotations

import linecache
import random
from typing import Any

import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath import looks, searching
from tests.decorator.outcomes import ints, outcome


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(searching, "COMPILED_AFTER", 0.0)
    monkeypatch.setattr(searching, "_LEAST", 0.0)
    monkeypatch.setattr(searching, "_CLEAR", 1e9)


CONDITIONS = [
    "x > {}", "x * x % 97 == {}", "w == {}", "y > {}", "(x ^ k) & 63 == {}", "x // 7 == {}", "x % (k + 1) == {}",
    "100 // x == {}", "x / 3 > {}",
]  # fmt: skip
ENDS = [
    "return x", "break", "a = x\n    break", "raise KeyError(x)", "b = y\n    return a, b", "out.append(x)\n    break",
    "return k", "for z in range(2):\n      out.append(z)\n    break",
]  # fmt: skip
HEADS = "for x in xs:", "for x in range(n):", "for x in range(k, n, 2):"
HEADS_OF_TWO = "for x, w in zip(xs, ys):", "for w, x in enumerate(xs):", "for w, x in enumerate(xs, k):"


def _program(seed: int) -> str:
    made = random.Random(seed)
    lines = [made.choice(HEADS_OF_TWO if made.random() < 0.3 else HEADS)]
    lines += ["  y = " + made.choice(["x * 3 - k", "x", "abs(x)", "x if x > k else k"])] * (
        made.random() < 0.6
    )
    for _ in range(made.randint(1, 3)):
        condition = made.choice(CONDITIONS).format(made.choice([0, 1, 5, 40, 990, 5000]))
        chance = made.random()
        if chance < 0.15:
            lines.append(f"  if {condition}: continue")
        elif chance < 0.3:
            lines += ["  for z in range(3):", f"    if {condition} and z == 2: return z, x"]
        elif chance < 0.4:
            lines += ["  z = 0", "  while z < 2:", "    z += 1", f"    if {condition}: break"]
        elif chance < 0.5:
            lines += [
                f"  for z in range(2, {made.choice(['3', 'k + 2'])}):",
                f"    if {condition} or x % z == 0: break",
            ]
            lines += ["  else:", "    " + made.choice([*ENDS, "pass", "continue"])]
        else:
            lines += [f"  if {condition}:", "    " + made.choice(ENDS)]
            if made.random() < 0.2:
                lines += ["  else:", "    " + made.choice(["pass", "continue", "y = x + 1"])]
    if made.random() < 0.3:
        lines += ["else:", "  a = 'else'"]
    names = made.sample(["a", "b", "out", "x", "y", "w", "z"], 3)
    head = "def f(xs, ys, n, k):\n  a, b, out = 0, 1, []\n"
    head += "  x = y = w = z = None\n" if made.random() < 0.7 else ""
    return (
        head
        + "\n".join("  " + each for line in lines for each in line.split("\n"))
        + f"\n  return {', '.join(names)}\n"
    )


@pytest.mark.parametrize("seed", range(80))
def test_random_searches(seed, monkeypatch):
    if seed % 2:
        monkeypatch.setattr(looks, "FIRST", 1)
        monkeypatch.setattr(looks, "LATER", 1)
    monkeypatch.setattr(searching, "FIRST", 4)
    text, name = _program(seed), f"<random search {seed}>"
    linecache.cache[name] = (1, None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)
    function, made = namespace["f"], random.Random(seed)
    decorated = hastega(function)
    for n in (0, 3, 300, 3000):
        for xs in ([made.randint(1, 999) for _ in range(n)], [made.randint(-999, 999) for _ in range(n)],
                   [made.uniform(1, 999) for _ in range(n)], range(1, n)):  # fmt: skip
            arguments = xs, ints(n + 1), n, made.randint(0, 4)
            for _ in range(2):
                assert outcome(decorated, *arguments) == outcome(function, *arguments), text
