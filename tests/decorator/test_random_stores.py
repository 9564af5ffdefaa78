"""Random functions whose turns store into lists and arrays leave there what Python leaves, whatever shows what."""

from __future__ import annotations

import itertools
import linecache
import random
import warnings
from array import array
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath.profitability import Profitability
from tests.decorator.conftest import loops  # noqa: F401
from tests.decorator.test_random_for_statements import typed

HEADS = (
    "for i in range(n):", "for i in range(n):", "for i in range(1, n - 1):", "for i in range(n - 1, -1, -1):",
    "for i in range(0, n, 3):", "for i in range(1, n - 1):", "for i, x in enumerate(a):", "for i, x in enumerate(b):",
    "for i, x in enumerate(a, 1):", "for i, (x, w) in enumerate(zip(a, c)):", "for i in order:", "for i, x in pairs:",
)  # fmt: skip
PLACES = ("b[i]", "b[i]", "b[i]", "c[i]", "b[i + 1]", "b[i - 1]", "a[i]", "b[1 + i]")


class Program:
    """The text of a function, of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = ["def f(a, b, c, n, k, order, pairs):"]
        if self.maybe(0.3):
            self.lines.append(
                f"    b = {self.any('[0] * n', '[0.0] * (n + 1)', 'np.zeros(n)', 'np.zeros(n, int)')}"
            )
        if self.maybe(0.1):
            self.lines.append("    b = a")
        if self.maybe(0.2):
            self.lines.append("    y = 3")
        for _ in range(self.random.randint(1, 2)):
            self.loop()
        self.lines.append(f"    return {self.any('b', 'b, c', 'b, i', 'b, y' if self.maybe(0.3) else 'b')}")
        self.text = "\n".join(self.lines) + "\n"

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def any(self, *texts: str) -> str:
        return self.random.choice(texts)

    def loop(self) -> None:
        head = self.any(*HEADS)
        self.lines.append("    " + head)
        names = ["i", "i", "k", "a[i]"]
        if "x" in head:
            names += ["x", "x"]
        if "w" in head:
            names.append("w")
        inner = head.endswith("(1, n - 1):") or self.maybe(0.05)  # else most of them store beyond an end
        self.places = PLACES if inner else tuple(each for each in PLACES if "1" not in each)
        self.block(names, self.any(*self.places), 2)

    def block(self, names: list[str], own: str, depth: int) -> None:
        indent = "    " * depth
        for _ in range(self.random.randint(1, 2)):
            chance = self.random.random()
            if chance < 0.15:
                self.lines.append(f"{indent}y = {self.value(names)}")
                names = [*names, "y"]
            elif chance < 0.25 and depth < 4:
                self.lines.append(f"{indent}if {self.condition(names)}:")
                self.block(names, own, depth + 1)
                if self.maybe(0.5):
                    self.lines.append(f"{indent}else:")
                    self.block(names, own, depth + 1)
            elif chance < 0.3 and depth == 2:
                self.lines.append(f"{indent}if {self.condition(names)}: continue")
            elif chance < 0.36 and depth < 4:
                self.lines.append(f"{indent}for j in range(3):")
                self.block([*names, "j"], own, depth + 1)
        place = own if self.maybe(0.9) else self.any(*self.places)
        reads = [place] if self.maybe(0.3) else []
        sign = self.any("=", "=", "=", "+=", "-=", "*=")
        self.lines.append(f"{indent}{place} {sign} {self.value([*names, *reads])}")

    def value(self, names: list[str], depth: int = 0) -> str:
        chance = self.random.random()
        if depth > 2 or chance < 0.35:
            return self.any(*names) if self.maybe(0.8) else self.any("1", "2", "-3", "0.5", "K", "c[i]")

        def part() -> str:
            return self.value(names, depth + 1)

        if chance < 0.75:
            return f"({part()} {self.any('+', '-', '*', '+', '*', '//', '%', '/')} {part()})"
        if chance < 0.85:
            return f"({part()} if {self.condition(names, depth + 1)} else {part()})"
        return self.any(
            f"abs({part()})", f"max({part()}, {part()})", f"helper({part()})", "a[i - 1]", "a[(i * 7) % n]",
            f"int({part()})", f"float({part()})", self.any("b[i // 2]", "look(i)", "a[i]", "c[i]", "a[-i]"),
        )  # fmt: skip

    def condition(self, names: list[str], depth: int = 0) -> str:
        left, right = (self.value(names, depth + 1) for _ in range(2))
        return f"{left} {self.any('<', '>', '==', '!=')} {right}"


def sequence(chosen: random.Random, n: int) -> Any:
    """A list or an array of so many numbers, or about so many."""
    n = max(0, n + chosen.choice([0, 0, 0, 0, 0, 0, 1, -1]))
    ints = [chosen.randint(-9, 9) for _ in range(n)]
    floats = [chosen.uniform(-5, 5) for _ in range(n)]
    match chosen.randrange(20):
        case 0 | 1 | 2 | 3:
            return ints
        case 4 | 5 | 6:
            return floats
        case 7:
            return [chosen.choice([x, y, x > 0]) for x, y in zip(ints, floats, strict=True)]
        case 8:
            return [*ints[1:], *[2**62] * min(n, 1)]
        case 9:
            return [*floats[1:], *[float("nan")] * min(n, 1)]
        case 10:
            return [None, *ints[1:]]
        case 11:
            return array("d", floats)
        case 12:
            return tuple(ints)
        case 13 | 14:
            return np.array(floats)
        case 15:
            return np.array(floats * 2)[::2]
        case kind:
            types = [np.int64, np.int32, np.uint8, np.float32]
            return np.array([abs(x) for x in ints], types[kind - 16])


def given(chosen: random.Random, n: int) -> dict[str, Any]:
    """What a function is given, of which some may show what others do."""
    a, b, c = (sequence(chosen, n) for _ in range(3))
    match chosen.randrange(8):
        case 0:
            b = a
        case 1 if isinstance(b, np.ndarray):
            a = b[1:]
        case 2 if isinstance(b, np.ndarray):
            c = b[::-1]
        case 3 if isinstance(b, np.ndarray):
            b.flags.writeable = False
        case _:
            pass
    order = [*range(n)]
    chosen.shuffle(order)
    pairs = [*zip(order, order, strict=True)]
    return {"a": a, "b": b, "c": c, "n": n, "k": chosen.randint(-2, 4), "order": order, "pairs": pairs}


def left(function: Any, values: dict[str, Any]) -> list[str]:
    """What a call gives or raises, and all that it was given, with types and last bits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = exactly(function(*values.values()))
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
    return [found, *map(exactly, values.values())]


def exactly(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.tolist()!r}"
    if isinstance(value, tuple):
        return f"({', '.join(map(exactly, value))})"
    return typed(value)


@pytest.fixture(autouse=True)
def never_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Python takes does not matter here."""
    monkeypatch.setattr(Profitability, "by_python", lambda *_: "")
    monkeypatch.setattr(Profitability, "as_before", lambda *_: "")
    monkeypatch.setattr(Profitability, "stays", lambda *_: False)


@pytest.mark.parametrize("seed", range(60))
def test_random_functions(seed: int, loops: list[str]) -> None:  # noqa: F811
    text, name = Program(seed).text, f"<random stores {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"helper": lambda v: v * 2 + 1, "K": 3, "np": np, "seen": []}
    namespace["look"] = eval("lambda i: seen[i - 3] if seen else i", namespace)
    exec(compile(text, name, "exec"), namespace)
    function = namespace["f"]
    decorated = hastega(function)
    for n, some in itertools.product((0, 3, 300), range(4)):
        for number in range(2):
            theirs, ours = (given(random.Random(f"{seed} {n} {some}"), n) for _ in range(2))
            shown = seed % 5 == 0 and number
            namespace["seen"] = theirs["b"] if shown else []
            expected = left(function, theirs)
            namespace["seen"] = ours["b"] if shown else []
            assert left(decorated, ours) == expected, text


def test_some_of_them_are_done_by_loops(loops: list[str]) -> None:  # noqa: F811
    for seed in range(25):
        test_random_functions(seed, loops)
    assert len(loops) > 20
