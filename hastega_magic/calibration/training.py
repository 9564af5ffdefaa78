"""The loops that classes of operations are fitted on: small ones, each heavy in a few classes.

Cells over `range` and arrays that fit into caches, so that arithmetic is what takes the time. What they share with
anybody's cells is no more than operators.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hastega_magic.records import dataclass

ELEMENTS = 1 << 19
"""Elements of a loop that stores nothing."""

SMALL = 1 << 16
"""Elements where arrays take part: what they hold fits into a core's own cache."""


@dataclass(frozen=True)
class Lesson:
    """A cell's stages over `source` ("range", or an array's type), and whether it is among the few for devices."""

    name: str
    stages: str
    source: str = "range"
    device: bool = False
    python: bool = False

    @property
    def elements(self) -> int:
        """How many elements it is run over."""
        return ELEMENTS if self.source == "range" and self.sums else SMALL

    @property
    def sums(self) -> bool:
        """Whether it leaves one number."""
        return self.stages.rstrip().endswith(("sum", "count", "max", "min"))

    def text(self, elements: int | None = None) -> str:
        """The cell."""
        functions = FUNCTIONS if "map(steps)" in self.stages or "map(horner)" in self.stages else ""
        head = f"range(1, {(elements or self.elements) + 1})" if self.source == "range" else "xs"
        return f"{functions}found = {head} |> {self.stages}"

    def namespace(self, elements: int | None = None) -> Mapping[str, object]:
        """What the cell reads."""
        count = elements or self.elements
        names: dict[str, object] = {"table": np.arange(1024.0), "math": __import__("math"), "np": np}
        if self.source != "range":
            numbers = np.random.default_rng(5).integers(0, 1000, count)
            names["xs"] = numbers.astype(self.source) + (0.25 if self.source.startswith("float") else 0)
        return names


LESSONS = (
    # Those for devices stand in the order of what they tell: compilers of devices are slow.
    Lesson("sum of ints", "sum", device=True, python=True),
    Lesson("pack", "filter(lambda x: x & 3 > 0)", device=True, python=True),
    Lesson("turns", "map(steps) |> sum", device=True),
    Lesson("root", "map(lambda x: math.sqrt(x + 0.5)) |> sum", device=True, python=True),
    Lesson("exp", "map(lambda x: math.exp(0.5 - 3e-9 * x)) |> sum", device=True, python=True),
    Lesson("multiply more", "map(lambda x: (x * x + (x + 1) * (x + 2)) * 3 + (x + 5) * (x + 7)) |> sum", device=True),
    Lesson("divide", "map(lambda x: 1.0 / (x + 0.5)) |> sum", device=True, python=True),
    Lesson("polynomial", "map(lambda x: ((0.1 * x + 0.2) * x + 0.3) * x + 0.4) |> sum", device=True, python=True),
    Lesson("bits", "map(lambda x: ((x ^ (x >> 3)) & 4095) | (x >> 7)) |> sum", device=True, python=True),
    Lesson("modulo", "map(lambda x: x * (x + 1) % 6700417) |> sum", device=True, python=True),
    Lesson("tables", "map(lambda x: table[x & 1023]) |> sum", device=True),
    Lesson("array", "map(lambda x: x * 2.0 + 1.0)", "float64", device=True, python=True),
    Lesson("store", "map(lambda x: x + 1)", device=True, python=True),
    Lesson("floor division", "map(lambda x: x // 7 + (x + 1) // 11) |> sum", device=True),
    Lesson("running", "map(lambda x: x & 1023) |> cumsum"),
    Lesson("long polynomial",
           "map(lambda x: (((((((0.1 * x + 0.2) * x + 0.3) * x + 0.4) * x - 0.5) * x + 0.6) * x - 0.7) * x + 0.8) * x)"
           " |> sum"),
    Lesson("compare", "map(lambda x: 3 if x & 15 > 7 else 5 if x & 3 > 1 else x & 7) |> sum"),
    Lesson("modulo chain",
           "map(lambda x: 22 * x * (x + 1) % 6700417) |> map(lambda x: 23 * x * (x + 2) % 6700417)"
           " |> map(lambda x: 24 * x * (x + 3) % 6700417) |> map(lambda x: 25 * x * (x + 4) % 6700417) |> sum"),
    Lesson("many bits",
           "map(lambda x: (((x ^ 77) & (x >> 5)) ^ ((x >> 2) & 91)) + (((x + 5) ^ (x >> 9)) & 255)) |> sum"),
    Lesson("minmax", "map(lambda x: min(max(x & 255, 17), 200) + max(x & 31, 9)) |> sum"),
    Lesson("multiply", "map(lambda x: (x * 12345 + 7) * (x + 3)) |> sum", python=True),
    Lesson("small modulo", "map(lambda x: (x % 17) + (x % 100)) |> sum"),
    Lesson("variable modulo", "map(lambda x: 1000003 % (x + 1)) |> sum"),
    Lesson("half", "map(lambda x: x * 0.5) |> sum"),
    Lesson("floats", "map(lambda x: (x * 0.5 - 3.0) * (x * 0.25 + 1.0) - abs(x * 0.125 - 8.0)) |> sum"),
    Lesson("divide twice", "map(lambda x: (x + 1.5) / (x + 0.5) + 3.0 / (x + 2.5)) |> sum"),
    Lesson("root and divide", "map(lambda x: math.sqrt(x + 0.5) / (x + 1.0)) |> sum"),
    Lesson("rounding", "map(lambda x: int(x * 0.37) + int(x * 0.21)) |> sum"),
    Lesson("sin", "map(lambda x: math.sin(0.001 * x)) |> sum"),
    Lesson("log", "map(lambda x: math.log(x + 0.5)) |> sum"),
    Lesson("two tables", "map(lambda x: table[x & 1023] * table[(x >> 3) & 1023]) |> sum"),
    Lesson("filter", "filter(lambda x: x & 3 > 0) |> map(lambda x: x + 1) |> sum", python=True),
    Lesson("count", "filter(lambda x: x % 3 == 0) |> count"),
    Lesson("store floats", "map(lambda x: x * 0.5 + 1.0)", python=True),
    Lesson("pack floats", "map(lambda x: x * 0.5) |> filter(lambda x: x > 100.0)"),
    Lesson("running floats", "cumsum", "float64"),
    Lesson("array sum", "sum", "float64", device=True, python=True),
    Lesson("array of ints", "map(lambda x: x & 7) |> sum", "int64"),
    Lesson("small ints", "map(lambda x: x * 3) |> sum", "int32"),
    Lesson("single", "map(lambda x: x * x + x) |> sum", "float32", python=True),
    Lesson("single division", "map(lambda x: x / (x + 1)) |> sum", "float32"),
    Lesson("counted turns", "map(horner) |> sum", python=True),
)  # fmt: skip

FUNCTIONS = """
def steps(x):
    n = x & 63
    for k in range(12):
        n = n // 2 if n % 2 == 0 else 3 * n + 1 & 1023
    return n


def horner(x):
    s = 0.0
    for k in range(10):
        s = s * 0.5 + x * 0.001
    return s


"""
"""What lessons call; it stands before their cells."""

__all__ = ["ELEMENTS", "FUNCTIONS", "LESSONS", "SMALL", "Lesson"]
