"""Random functions full of `for` statements give what Python gives: values, types, errors, and what was done before."""

from __future__ import annotations

import linecache
import math
import random
import types
import warnings
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath import looks

SOURCES = [
    ("x", "xs"), ("x", "xs"), ("x", "range(n)"), ("i, x", "enumerate(xs)"), ("x, w", "zip(xs, ys)"),
    ("x", "reversed(xs)"), ("i, (x, w)", "enumerate(zip(xs, ys), 2)"), ("x", "make(xs)"), ("x, w", "pairs"),
    ("x", "xs[1:]"),
]  # fmt: skip


class Program:
    """The text of a function, of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = ["def f(xs, ys, pairs, n, k):"]
        self.depth = 1
        for line in ("a = 0", "b = 1", "out = []"):
            if self.maybe(0.85):
                self.add(line)
        self.items()
        generator, names = self.maybe(0.1), ["a", "b", "out", "x", "y", "z", "w", "i"]
        if generator:
            self.add("yield a")
        found = self.random.sample(names, self.random.randint(1, 4)) if self.maybe(0.5) else names[:3]
        self.add(f"{'yield' if generator else 'return'} {', '.join(found)},")
        self.text = "\n".join(self.lines) + "\n"

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def any(self, *texts: str) -> str:
        return self.random.choice(texts)

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def block(self, head: str, inside: Callable[[], object]) -> None:
        self.add(head)
        self.depth += 1
        inside()
        self.depth -= 1

    def expression(self, names: list[str], depth: int = 0) -> str:
        chance = self.random.random()
        if depth > 2 or chance < 0.3:
            return (
                self.any(*names) if self.maybe(0.75) else self.any("1", "2", "3", "-1", "0.5", "7", "k", "K")
            )

        def part() -> str:
            return self.expression(names, depth + 1)

        if chance < 0.75:
            op = self.any("+", "-", "*", "+", "*", *(() if depth else ("//", "%", "&", "|", "/")))
            return f"({part()} {op} {part()})"
        if chance < 0.85:
            return f"({part()} if {self.condition(names, depth + 1)} else {part()})"
        return self.any(f"abs({part()})", f"max({part()}, {part()})", f"helper({part()})")

    def condition(self, names: list[str], depth: int = 0) -> str:
        left, right = (self.expression(names, depth + 1) for _ in range(2))
        compared = f"{left} {self.any('<', '>', '==', '!=', '<=', '>=')} {right}"
        more = self.expression(names, depth + 1)
        return self.any(
            compared, compared, compared, f"{compared} and {more} > 0", f"not {compared}", f"{more} % 2 == 0"
        )

    def turn(
        self, names: list[str], states: list[str], out: bool, depth: int = 0, outermost: bool = True
    ) -> None:
        """The statements of a turn, or of a block in one."""
        names = [*names]
        for _ in range(self.random.randint(1, 3)):
            chance = self.random.random()
            if chance < 0.25:
                name, of_states = self.any("y", "z"), self.maybe(0.2)
                value = f"{self.expression(names + states)} % 1009" if of_states else self.expression(names)
                self.add(f"{name} = {value}")
                names.append(name)
            elif chance < 0.35 and outermost:
                self.block(f"if {self.condition(names)}:", lambda: self.add("continue"))
            elif chance < 0.5 and depth < 2:
                known = names + (states if self.maybe(0.4) else [])
                self.block(
                    f"if {self.condition(known)}:",
                    lambda: self.turn(names, states, out, depth + 1, outermost),
                )
                if self.maybe(0.5):
                    head = "else:" if self.maybe(0.6) else f"elif {self.condition(names)}:"
                    self.block(head, lambda: self.turn(names, states, out, depth + 1, outermost))
            elif chance < 0.57 and not depth and states:
                head = f"for j in range({self.any('3', 'k', 'x % 4')}):"
                self.block(head, lambda: self.turn([*names, "j"], states, out, 1, outermost=False))
            elif chance < 0.64 and not depth:
                self.block(
                    self.any("for j in range(3):", "for j in range(x % 4):"),
                    lambda: self.block(f"if {self.condition([*names, 'j'])}:", lambda: self.add("break")),
                )
                self.block("else:", lambda: self.turn(names, states, out, 1, outermost))
            elif out and self.maybe(0.9):
                self.add(f"out.append({self.expression(names)})")
            elif states:
                self.add(self.handed_on(self.any(*states), names, states))
            else:
                self.add("pass")

    def handed_on(self, name: str, names: list[str], states: list[str]) -> str:
        """What keeps numbers from growing without end."""
        return self.any(
            f"{name} {self.any('+=', '-=')} {self.expression(names)}",
            f"{name} += {self.expression(names)}",
            f"{name} *= {self.any('-1', '2')}",
            f"{name} = {self.expression(names + states)} % 10007",
            f"{name} = {self.any('max', 'min')}({name}, {self.expression(names)})",
        )

    def loop(self) -> None:
        out = self.maybe(0.35)
        states = [] if out else self.random.sample(["a", "b", "y"], self.random.randint(1, 2))
        if out and self.maybe(0.8):
            self.add("out = []")
        if self.maybe(0.3):
            self.add(self.any("a = 0", "b = 1", "z = 5", "y = 2", "w = 4", "x = 3"))
        target, source = self.random.choice(SOURCES)
        names = [name for name in ("i", "x", "w") if name in target]

        def inside() -> None:
            if self.maybe(0.15):
                head = f"for m in {self.any('range(3)', 'range(k)', 'ys[:3]', 'range(n % 7)')}:"
                self.block(head, lambda: self.turn([*names, "m"], states, out))
            else:
                self.turn(names, states, out)

        self.block(f"for {target} in {source}:", inside)

    def items(self, depth: int = 0) -> None:
        """Statements of the function, loops most of them."""
        for _ in range(self.random.randint(1, 3)):
            chance = self.random.random()

            def inside() -> None:
                self.items(depth + 1)

            if chance < 0.55 or depth > 1:
                self.loop()
            elif chance < 0.65:
                self.block(f"if {self.condition(['n', 'k'])}:", inside)
                if self.maybe(0.5):
                    self.block("else:", inside)
            elif chance < 0.72:
                count = f"q{depth}"
                self.add(f"{count} = 0")
                self.block(f"while {count} < 2:", lambda: (self.add(f"{count} += 1"), self.items(depth + 1)))  # noqa: B023
            elif chance < 0.8:
                self.block("try:", inside)
                self.block("except Exception as e:", lambda: self.add(
                    self.any("k = 1", "a = y", "b = x", "out = [z]", "raise", "return a, b, str(e)")
                ))  # fmt: skip
                if self.maybe(0.3):
                    self.block("finally:", lambda: self.add(self.any("n = n", "b = a", "a = 3")))
            elif chance < 0.86:
                self.block(f"for u in range({self.any('2', 'k', '3')}):", inside)
            else:
                self.add(self.any(
                    f"if k > 2: return {self.any('a', 'b', 'a, b', 'y', 'x')}", "log = [a for v in range(2)]",
                    f"g = lambda: {self.any('a', 'x', 'y')}", f"a = {self.expression(['n', 'k'])}",
                ))  # fmt: skip


def sources(made: random.Random, n: int) -> Iterator[Any]:
    """Things to go through, of so many elements."""
    whole = [made.randint(-50, 50) for _ in range(n)]
    yield whole
    yield [made.choice([made.uniform(-5, 5), 0.0, -0.0, 1.5]) for _ in range(n)]
    yield [made.choice([math.inf, math.nan, -0.0, 2.5]) for _ in range(n)]
    yield [made.randint(-(2**62), 2**62) for _ in range(n)]
    yield [made.choice([1, 2.5, -3, True]) for _ in range(n)]
    yield [*map(abs, whole[1:]), made.choice([None, "a", 0])]
    yield range(-7, n - 7)
    yield np.array(whole)
    yield np.array(whole) / 8
    yield array("l", whole)
    yield tuple(whole)


def outcome(function: Any, arguments: Any) -> str:
    """The value with all of its types and last bits, or what is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = function(*arguments)
            return typed([*found] if isinstance(found, types.GeneratorType) else found)
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def typed(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({','.join(map(typed, value))})"
    return f"{type(value).__name__}:{value!r}"


@pytest.mark.parametrize("seed", range(60))
def test_random_functions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 2:  # from their second run on by native code
        monkeypatch.setattr(looks, "FIRST", 1)
        monkeypatch.setattr(looks, "LATER", 1)
    text, name = Program(seed).text, f"<random for statements {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"helper": lambda v: v * 2 + 1, "make": lambda xs: [*xs], "K": 3}
    exec(compile(text, name, "exec"), namespace)
    function, made = namespace["f"], random.Random(seed)
    decorated = hastega(function)
    for n in (0, 3, 256, 301):
        for xs in made.sample([*sources(made, n)], 3):
            ys = [made.uniform(-5, 5) for _ in range(n + made.choice([0, 5]))]
            pairs = [(made.randint(-9, 9), made.uniform(-5, 5)) for _ in range(n)]
            arguments = xs, ys, pairs, n, made.randint(-1, 4)
            for _ in range(2):
                assert outcome(decorated, arguments) == outcome(function, arguments), text
