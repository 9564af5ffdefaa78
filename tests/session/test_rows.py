"""Lists of lists as sources: functions of rows are loops, and results and errors are Python's."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest

from hastega_magic.compiler.comparing.written import as_written
from hastega_magic.errors import IntegerOverflowWarning, Span
from hastega_magic.ir.rows import by_place, rows_from
from hastega_magic.session import Options, Session
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.site import StageSite
from hastega_magic.syntax.values.neighbours import Over
from hastega_magic.types import INT


def norm(row: Any) -> Any:
    total = 0
    for x in row:
        total += x * x
    return total


SPACE: dict[str, Any] = {
    "wide": [[i * j % 1000 for j in range(90)] for i in range(300)],
    "ragged": [list(range(number % 7)) for number in range(900)],
    "halves": [[x / 2 for x in range(1 + number % 7)] for number in range(900)],
    "hollow": [[x / 2 for x in range(number % 7)] for number in range(900)],
    "pairs": [[number, number + 1] for number in range(900)],
    "flags": [[number % 2 == 0] * (1 + number % 4) for number in range(900)],
    "triples": [(number, number, number) for number in range(30)] + [(1, 2)],
    "norm": norm,
}
COMPILED = [
    "wide |> map(sum) |> max",
    "wide |> map(lambda r: sum(x * x for x in r)) |> to_list",
    "wide |> map(lambda r: max(r) - min(r)) |> sum",
    "wide |> map(norm) |> argmax",
    "wide |> map(lambda r: sum(a * b for a, b in zip(r, wide[1]))) |> sum",
    "wide |> map(lambda r: sum(b - a for a, b in zip(r, r[1:]))) |> sum",
    "wide |> map(lambda r: sum(r[:10])) |> to_list",
    "wide |> map(any) |> count",
    "wide |> filter(lambda r: sum(r) % 2 == 0) |> map(lambda r: sum(r[1:-1])) |> mean",
    "wide |> filter(lambda r: sum(r) % 2) |> count",
    "wide |> map(lambda r: sum(r)) |> filter(_ > 500) |> map(_ * 2) |> to_list",
    "ragged |> map(len) |> to_list",
    "ragged |> map(lambda r: sum(r)) |> to_list",
    "ragged |> map(lambda r: r[0] if r else -1) |> sum",
    "ragged |> filter(lambda r: r) |> map(lambda r: r[-1]) |> to_list",
    "ragged |> map(lambda r: sum(r[-2:])) |> sum",
    "ragged |> map(lambda r: max(r[1:-1]) if len(r) > 2 else 0) |> sum",
    "ragged |> map(lambda r: sum(n * x for n, x in enumerate(r))) |> cumsum",
    "halves |> map(lambda r: sum(r)) |> to_list",
    "halves |> filter(lambda r: len(r) > 2) |> map(lambda r: r[0] + r[-1]) |> to_list",
    "pairs |> map(lambda p: p[0] * p[1]) |> sum",
    "pairs |> filter(lambda p: p[0] % 2 == 0) |> map(lambda p: p[0] * p[1]) |> to_list",
    "flags |> map(sum) |> to_list",
]
PYTHONS = [
    "hollow |> map(sum) |> to_list",
    "hollow |> map(lambda r: sum(1 for _ in r)) |> to_list",
    "hollow |> filter(lambda r: any(True for _ in r)) |> count",
    "wide |> map(sorted) |> count",
    "wide |> map(lambda r: r * 2) |> count",
    "wide |> map(lambda r: 7 in r) |> sum",
    "wide |> map(lambda r: r[50]) |> sum",
    "wide |> map(lambda r: isinstance(r, list)) |> sum",
    "ragged |> filter(lambda r: len(r) > 2) |> to_list",
    "ragged |> map(lambda r: r + [1]) |> count",
    "pairs |> map(lambda a, b: a * b) |> sum",
    "triples |> map(lambda a, b: a) |> sum",
    "ragged |> map(max) |> sum",
    "wide |> map(lambda r: 1 // (sum(r) - 4005)) |> sum",
    "wide |> map(lambda r: r[100]) |> sum",
    "wide |> map(lambda r: r[0.5]) |> sum",
]


def outcome(cell: str, **options: Any) -> tuple[object, Session]:
    session = Session(dict(SPACE), Options(baseline=False, **options))
    try:
        session.run_cell("t = " + cell)
    except Exception as error:
        return (type(error), str(error)), session
    return (type(session.namespace["t"]), repr(session.namespace["t"])), session


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("on", ["simd", "parallel", "opencl", "numpy"])
@pytest.mark.parametrize("cell", [*COMPILED, *PYTHONS])
def test_results_and_errors_are_pythons(cell: str, on: str) -> None:
    expected, _ = outcome(cell, on="python")
    assert outcome(cell, on=on, threads=3)[0] == expected


@pytest.mark.parametrize("cell", COMPILED)
def test_it_is_one_loop(cell: str) -> None:
    _, session = outcome(cell, on="simd")
    assert session.last is not None
    (pipeline,) = session.last.report.to_dict()["pipelines"]
    assert (pipeline["loops"], pipeline["barriers"]) == (1, [])


@pytest.mark.parametrize(
    ("cell", "note"),
    [
        ("ragged |> map(max) |> sum", "element 0 of ragged, which is [], in `map(max)`"),
        (
            "wide |> map(lambda r: 1 // (sum(r) - 4005)) |> sum",
            "element 1 of wide, which is [0, 1, 2, 3, 4, 5, ...], in `map(lambda r: 1 // (sum(r) - 4005))`",
        ),
        (
            "range(1000, 3000) |> window(100) |> map(lambda w: 1 // (w[0] - 1005)) |> sum",
            "`window(100) |> map(lambda w: 1 // (w[0] - 1005))` (cell line 1), which was given (1005, 1006, ",
        ),
        (
            "range(1000, 3000) |> window(100) |> map(lambda w: 1 // (w[0] - 1005)) |> sum",
            "element 5 of range(1000, 3000), which is 1005, in ",
        ),
        (
            "range(2000) |> map(_ + 1) |> window(100) |> map(lambda w: 1 // (w[0] - 5)) |> sum",
            "element 4 of what `map(_ + 1)` gives, which is 5, in `window(100)",
        ),
        (
            "pairs |> sorted |> map(lambda r: 1 // (r[0] - 5)) |> sum",
            "element 5 of what `sorted` gives, which is [5, 6], in `map(lambda r: 1 // (r[0] - 5))`",
        ),
        (
            "range(1000, 3000) |> chunk(100) |> map(lambda w: 1 // (w[0] - 1500)) |> sum",
            "element 500 of range(1000, 3000), which is 1500, in ",
        ),
    ],
)
def test_notes_name_the_row(cell: str, note: str) -> None:
    session = Session(dict(SPACE), Options(on="simd", baseline=False))
    with pytest.raises((ValueError, ZeroDivisionError)) as raised:
        session.run_cell(cell)
    assert note in "\n".join(raised.value.__notes__)


def test_integers_beyond_64_bits_are_exact() -> None:
    cell = "t = wide |> map(lambda r: sum(x * 10**17 for x in r)) |> to_list"
    session = Session(dict(SPACE), Options(on="simd", baseline=False))
    with pytest.warns(
        IntegerOverflowWarning, match=r"element 1 of wide, which is \[0, 1, 2, 3, 4, 5, \.\.\.\]"
    ):
        session.run_cell(cell)
    assert session.namespace["t"] == [sum(x * 10**17 for x in row) for row in SPACE["wide"]]


def test_rows_changed_between_runs_are_read_again() -> None:
    session = Session({"rows": [[1, 2], [3], []] * 200}, Options(on="simd", baseline=False))
    for number in range(4):
        session.run_cell("t = rows |> map(sum) |> sum")
        assert session.namespace["t"] == sum(map(sum, session.namespace["rows"]))
        session.namespace["rows"][number].append(number)
        session.namespace["rows"].append([number] * 5)


def test_a_tuple_of_two_is_not_taken_for_a_row() -> None:
    cell = "triples |> map(lambda t: t[0]) |> to_list"
    assert outcome(cell, on="simd")[0] == outcome(cell, on="python")[0]


def test_baselines_run_what_the_user_wrote() -> None:
    place = StageSite("map", "map(f)", Span(1, 0, 1, 1), known=True)
    held = [[1, 2], [3], [4, 5, 6]]
    flat, bounds = np.arange(1, 7), np.array([0, 2, 3, 6])
    stages = (BoundStage(place, None, (by_place(sum, rows_from("rows", flat, bounds, INT, held)),)),)
    value, written = as_written(range(3), stages, 2)
    assert (value, [each.args for each in written]) == (held[:2], [(sum,)])
    for step, name, taken in ((1, "window", [0, 1, 2, 3]), (3, "chunk", [0, 1, 2, 3, 4, 5])):
        over = Over(sum, list(range(9)), 3, step, iter, sum)
        value, written = as_written(range(3), (BoundStage(place, None, (over,)),), 2)
        assert (value, [(each.site.name, each.args) for each in written]) == (
            taken,
            [(name, (3,)), ("map", (sum,))],
        )


def test_rows_are_let_go_when_the_cell_has_ended() -> None:
    rows = [[number, number + 1, 5] for number in range(400)]
    before = sys.getrefcount(rows)
    for on in ("simd", "auto"):
        session = Session({"rows": rows}, Options(on=on))
        session.run_cell("t = rows |> map(sum) |> max")
        with pytest.raises(ZeroDivisionError):
            session.run_cell("t = rows |> map(lambda r: 1 // (r[0] - 5)) |> max")
        del session
        gc.collect()
    assert sys.getrefcount(rows) <= before + 1


@pytest.mark.parametrize("count", [300, 40_000])
def test_what_one_thread_ran_is_told_as_such(count, monkeypatch):
    monkeypatch.setenv("HASTEGA_AUTO", "")
    session = Session({}, Options(baseline=False, threads=2))
    session.run_cell(f"rows = [[i, i + 1, i + 2] * 7 for i in range({count})]")
    for stages in ("map(sum) |> sum", "map(lambda r: sum(x * x for x in r)) |> max"):
        (pipeline,) = session.run_cell(f"r = rows |> {stages}").report.pipelines
        assert (pipeline.backend == "parallel") == (pipeline.threads > 1)
