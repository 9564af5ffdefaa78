"""What a pipeline costs in the body of a loop, stage by stage: the whole statement, over a few elements, many times.

The turns are those of a cell's own `for`; the clock is read before and behind each, which is part of what is measured.
The first turns, which compile, do not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from hastega_magic.benchmarks.harness import compare, message
from hastega_magic.benchmarks.model import Row, untimed
from hastega_magic.session import Options, Session

N = 20
MOST_S = 20e-6
"""What a call may take."""

TURNS, FIRST = 400, 50

STAGES = (
    "sum", "map(lambda x: x * k + 1) |> sum", "filter(lambda x: x > k) |> count",
    "zip(ys) |> map(lambda x, y: x * y) |> sum",
    "dot(ys)", "enumerate |> map(lambda i, x: i * x) |> max", "mean", "var", "std", "prod", "min",
    "argmax", "any", "all",
    "map(lambda x: x * k)", "filter(lambda x: x > k)", "to_list", "zip(ys) |> to_list", "clip(1, 9)",
    "where(lambda x: x > k, 0)",
    "astype('float32')", "take(5)", "drop(5) |> to_list", "step(3) |> sum", "reverse", "first", "last",
    "filter(lambda x: x > k) |> first", "take_while(lambda x: x < 9) |> sum",
    "drop_while(lambda x: x < 9) |> mean",
    "window(3) |> map(lambda a, b, c: (a + b + c) / 3)", "chunk(4) |> map(sum)", "cumsum",
    "scan(lambda a, x: a * 0.5 + x, 0.0)",
    "reduce(lambda a, x: a * 0.5 + x)", "map(lambda x: int(x)) |> bincount", "map(lambda x: x * 1j) |> sum",
    "map(lambda x: x if x > 3 else 1) |> sum",
    # stages that Python runs, alone and between loops
    "sorted |> take(3)", "filter(lambda x: x > k) |> sorted", "map(lambda x: x * k) |> tap(len) |> sum",
    "map(lambda x: f'{x}') |> to_list",
)  # fmt: skip

_CELL = """for turn in range({turns}):
    began = clock()
    found = xs |> {stages}
    took.append(clock() - began)
"""


def inputs(n: int) -> dict[str, Any]:
    """`xs`, `ys`: float64; `k`: 2.0."""
    return {"xs": np.arange(n) * 1.5, "ys": np.arange(n) * 0.5, "k": 2.0}


def _row(stages: str, n: int, backend: str, threads: int) -> Row:
    took: list[float] = []
    names: Mapping[str, Any] = {**inputs(n), "clock": perf_counter, "took": took}
    expected = Session(dict(names), Options(on="python", quiet=True))
    ours = Session(dict(names), Options(on=backend, threads=threads, baseline=False, quiet=True))
    try:
        ours.run_cell(_CELL.format(stages=stages, turns=TURNS + FIRST))
        counted = took[FIRST:]
        expected.run_cell(f"found = xs |> {stages}")
    except Exception as error:
        return untimed("ordinary-calls", "hastega", n, threads, f"{stages}: {message(error)}")
    same = compare(ours.namespace["found"], expected.namespace["found"], 1e-9)
    middle = median(counted)
    note = stages if middle < MOST_S else f"{stages}: beyond {MOST_S * 1e6:.0f} us"
    return Row(
        "ordinary-calls", "hastega", n, threads, middle, min(counted), max(counted), None, same.equal, note
    )


def rows(n: int | None, backend: str, threads: int, repeat: int) -> list[Row]:
    """A row for each of `STAGES`: seconds of one call."""
    return [_row(stages, n or N, backend, threads) for stages in STAGES]


__all__ = ["FIRST", "MOST_S", "STAGES", "TURNS", "N", "inputs", "rows"]
