"""Random `for` statements over arrays that hand numbers on give what NumPy's scalars give, and warn as these do."""

from __future__ import annotations

import linecache
import math
import random
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega
from tests.decorator.outcomes import warned

HEADS = [
    ("for x in xs:", "x"), ("for x in xs:", "x"), ("for i in range(len(xs)):", "xs[i]"),
    ("for i, x in enumerate(xs):", "x"), ("for x, w in zip(xs, ys):", "x"), ("for x in floats:", "x"),
]  # fmt: skip
BEGUN = ["0", "0.0", "1", "xs[0]", "k", "ys[-1]", "-1.5", "True", "xs[0] * 0"]


class Program:
    """A function of one loop, of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        head, element = self.any(*HEADS)
        self.names = [
            element,
            element,
            "k",
            *(["w"] if "w" in head else []),
            *(["i"] if "for i" in head else []),
        ]
        self.states = ["a", "b"][: self.random.randint(1, 2)]
        lines = ["def f(xs, ys, floats, k):"]
        lines += [f"    {state} = {self.any(*BEGUN)}" for state in self.states]
        lines += [f"    {head}", *(f"        {line}" for line in self.turn())]
        lines += [f"    return {', '.join(self.states)}"]
        self.text = "\n".join(lines) + "\n"

    def any(self, *texts: Any) -> Any:
        return self.random.choice(texts)

    def turn(self) -> list[str]:
        made = [line for _ in range(self.random.randint(1, 2)) for line in self.statement()]
        return ["y = " + self.expression(self.names), *made] if self.random.random() < 0.2 else made

    def statement(self) -> list[str]:
        state, every = self.any(*self.states), self.names + self.states
        step = self.any(
            f"{state} += {self.expression(self.names)}",
            f"{state} = {state} * {self.any('0.5', '0.9', 'k', '2')} + {self.expression(self.names)}",
            f"{state} = {self.any('max', 'min')}({state}, {self.expression(self.names)})",
            f"{state} = {self.expression(every)} % {self.any('1009', '7', '5.5')}",  # or ints would have no end
            f"{state} = {self.expression(self.names)} - {state}",
            f"{state} {self.any('-=', '*=', '+=')} {self.any('1', *self.names)}",
        )
        chance = self.random.random()
        if chance < 0.25:
            return [f"if {self.condition(self.names)}:", f"    {step}"]
        if chance < 0.4:
            return [
                f"if {self.condition(every)}:",
                f"    {step}",
                "else:",
                f"    {state} = {self.any(*every)}",
            ]
        if chance < 0.5:
            return [f"if {self.condition(self.names)}: continue", step]
        return [step]

    def expression(self, names: list[str], depth: int = 0) -> str:
        def part() -> str:
            return self.expression(names, depth + 1)

        chance = self.random.random()
        if depth > 1 or chance < 0.35:
            return self.any(*names) if self.random.random() < 0.75 else self.any("1", "2", "-3", "0.5", "7")
        if chance < 0.8:
            return f"({part()} {self.any('+', '-', '*', '+', '*', '//', '%', '/')} {part()})"
        if chance < 0.9:
            return f"({part()} if {self.condition(names)} else {part()})"
        return self.any(f"abs({part()})", f"-{part()}", f"min({part()}, {part()})", f"{part()} ** 2")

    def condition(self, names: list[str]) -> str:
        return (
            f"{self.any(*names)} {self.any('<', '>', '==', '!=', '<=')} {self.any('0', '3', '0.5', *names)}"
        )


def arrays(made: random.Random, n: int) -> list[Any]:
    """Of so many elements, of each type."""
    whole = np.array([made.randint(-50, 50) for _ in range(n)])
    return [
        whole, whole, whole / 8, whole / 8, whole.astype(np.int32), whole.astype(np.float32) / 3,
        (whole & 127).astype(np.uint8), whole > 0, whole.astype(np.uint64),
        np.array([made.choice([math.inf, math.nan, -0.0, 2.5]) for _ in range(n)]),
        np.array([made.randint(-(2**62), 2**62) for _ in range(n)]), np.array(([1e300, 1e-300, 3.0] * n)[:n]),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(80))
def test_random_loops(seed: int) -> None:
    text, name = Program(seed).text, f"<random loop over scalars {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)
    made, function = random.Random(seed), namespace["f"]
    decorated = hastega(function)
    for n in (300, 257):
        for xs in made.sample(arrays(made, n), 3):
            ys, floats = made.choice(arrays(made, n + 3)), [made.uniform(-5, 5) for _ in range(n)]
            arguments = xs, ys, floats, made.choice([0, 2, 3, 0.5, np.int64(2), np.float64(1.5), -1])
            for _ in range(2):
                assert warned(decorated, *arguments) == warned(function, *arguments), (text, arguments)
