"""The cells that `--on auto` is judged by: none of them was fitted on."""

from __future__ import annotations

from typing import Any

import numpy as np

from hastega_magic.records import dataclass

SIZES = (10, 1_000, 100_000, 10_000_000, 100_000_000)
_LISTS = 10_000_000
"""Elements of the longest list: its objects take 40 bytes each."""


@dataclass(frozen=True)
class Cell:
    """One computation; `text` holds {n}. `source`: "range", "float64", "int64", "ints" or "floats" (lists)."""

    name: str
    text: str
    source: str

    @property
    def largest(self) -> int:
        """The most elements it is run over."""
        return _LISTS if self.source in ("ints", "floats") else SIZES[-1]

    def namespace(self, n: int) -> dict[str, Any]:
        """What the cell reads; made anew for each size."""
        rng = np.random.default_rng(11)
        match self.source:
            case "float64":
                return {"xs": rng.random(n) * 3}
            case "int64":
                return {"xs": rng.integers(0, 1_000_000, n)}
            case "ints":
                return {"xs": rng.integers(0, 1_000_000, n).tolist()}
            case "floats":
                return {"xs": (rng.random(n) * 3).tolist()}
            case _:
                return {}


_MATH = "import math\n"

CELLS = (
    Cell("range squares", "found = range({n}) |> map(lambda x: x * x + 5)", "range"),
    Cell("range logistic", "p, mu = 6_700_417, 22\nfound = (range(1, {n} + 1)"
         + " |> map(lambda x: mu * x * (x + 1) % p)" * 10 + ")", "range"),
    Cell("range even squares", "found = range({n}) |> filter(lambda x: x % 2 == 0) |> map(lambda x: x * x) |> sum",
         "range"),
    Cell("range wave", _MATH + "found = range({n}) |> map(lambda x: math.cos(x * 0.001) * math.exp(-x * 1e-9)) |> sum",
         "range"),
    Cell("range divisors", "def divisors(x):\n    c = 0\n    for d in range(1, 25):\n        c += x % d == 0\n"
         "    return c\nfound = range(1, {n} + 1) |> map(divisors) |> max", "range"),
    Cell("array scale", "found = xs |> map(lambda x: 2.5 * x + 0.5)", "float64"),
    Cell("array sum of squares", "found = xs |> map(lambda x: x * x) |> sum", "float64"),
    Cell("array vector math", _MATH + "found = xs |> map(lambda x: math.sqrt(x * x + 1.0) * 0.5 + math.exp(-x))",
         "float64"),
    Cell("array ratio", "found = xs |> map(lambda x: (x - 1.0) / (x + 1.0) + 1.0 / (x + 2.0))", "float64"),
    Cell("array pick", "found = xs |> filter(lambda x: x > 1.5)", "float64"),
    Cell("array ints", "found = xs |> map(lambda x: (x * 7 + 3) % 1001)", "int64"),
    Cell("array even sum", "found = xs |> filter(lambda x: x % 2 == 0) |> map(lambda x: x * x) |> sum", "int64"),
    Cell("array largest", "found = xs |> map(lambda x: x ^ (x >> 5)) |> max", "int64"),
    Cell("list of ints", "found = xs |> map(lambda x: 3 * x + 1) |> sum", "ints"),
    Cell("list to list", "found = xs |> map(lambda x: x // 3) |> to_list", "ints"),
    Cell("list of floats", "found = xs |> map(lambda x: x * 0.5 - 1.0)", "floats"),
)  # fmt: skip

__all__ = ["CELLS", "SIZES", "Cell"]
