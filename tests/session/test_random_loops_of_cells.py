"""Random cells full of `for` statements leave behind what Python leaves: all variables, and what is raised."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from hastega_magic.compiler.fastpath import looks, searching
from hastega_magic.session import Options, Session
from tests.decorator.test_random_for_statements import Program, sources, typed

NAMES = ("a", "b", "out", "x", "y", "z", "w", "i", "j", "m", "u", "q0", "q1", "k", "n", "log")
HELPERS = (
    "def helper(v):\n    return v * 2 + 1\n",
    "def helper(v):\n    return v * 2 + 1\n",
    "def helper(v):\n    return v * 2 + a\n",
    "def helper(v):\n    return inner(v) + 1\ndef inner(v):\n    return v + x\n",
    "def helper(v):\n    global b\n    b = 7\n    return v\n",
    "def helper(v):\n    return v + len(out)\n",
)
OPTIONS = Options(quiet=True, baseline=False)


class Cell(Program):
    """The text of a cell, of a seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        lines = self.lines[1:]
        kept = [each for each in lines if not re.match("    (return|yield)", each)]
        self.text = "".join(f"{re.sub('return .*', 'pass', each[4:])}\n" for each in kept)
        if seed % 3 == 0:
            self.text += "for u in xs:\n    y = u\n    if u > 40:\n        break\nelse:\n    z = 1\n"


def left_behind(run: Any, namespace: dict[str, Any]) -> dict[str, str]:
    """All variables with their types and last bits, and what is raised."""
    error = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run()
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
    found = {name: typed(namespace[name]) for name in NAMES if name in namespace}
    return found | {"error": error}


@pytest.mark.parametrize("seed", range(60))
def test_random_cells(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "COMPILED_AFTER", 0.0)
    if seed % 2:  # from their second run on by native code
        monkeypatch.setattr(looks, "FIRST", 1)
        monkeypatch.setattr(looks, "LATER", 1)
    made = Cell(seed)
    code = compile(made.text, "<cell>", "exec")
    helper = made.random.choice(HELPERS)
    for n in (0, 3, 256, 301):
        for xs in made.random.sample([*sources(made.random, n)], 3):
            ys = [made.random.uniform(-5, 5) for _ in range(n + made.random.choice([0, 5]))]
            pairs = [(made.random.randint(-9, 9), made.random.uniform(-5, 5)) for _ in range(n)]
            given = {"xs": xs, "ys": ys, "pairs": pairs, "n": n, "k": made.random.randint(-1, 4), "K": 3}
            given |= {"make": lambda xs: [*xs]}
            ours, pythons = dict(given), dict(given)
            exec(helper, pythons)
            session = Session(ours, OPTIONS)
            session.run_cell(helper)
            for _ in range(2):
                expected = left_behind(lambda: exec(code, pythons), pythons)  # noqa: B023
                found = left_behind(lambda: session.run_cell(made.text), ours)  # noqa: B023
                assert found == expected, helper + made.text
