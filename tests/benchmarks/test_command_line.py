"""The command line: what it understands, its one-line errors, the table and the JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from battery import some

from hastega_magic.benchmarks import __main__ as command
from hastega_magic.benchmarks import table
from hastega_magic.benchmarks.model import Row, untimed
from hastega_magic.benchmarks.workloads import WORKLOADS

KEYS = ["workload", "peer", "n", "threads", "median_s", "min_s", "max_s", "ratio", "equal", "note"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["nosuch"],
            "unknown workload 'nosuch'; known: collatz, control-flow, cumsum-float64, cumsum-int64, dot, empty",
        ),
        (["sum", "--n", "many"], "'many' is not a whole number"),
        (["sum", "--n", "0"], "0 is not positive"),
        (["sum", "--threads", "-1"], "-1 is not positive"),
        (["sum", "--backend", "abacus"], "unknown back end 'abacus'; known: python, numpy, simd"),
        (["sum", "--peer", "abacus"], "unknown peer 'abacus'; known: c, numba"),
        (["sum", "--peer", ","], "no peer given"),
        (["sum", "--json", "/no/such/folder/x.json"], "there is no folder /no/such/folder"),
        (["sum", "--bogus"], "unrecognized arguments: --bogus"),
    ],
)
def test_a_wrong_command_line_is_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as caught:
        command.settings(arguments)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("benchmarks: ")
    assert words in error
    assert error.count("\n") == 1


def test_names_groups_and_defaults():
    family = ("logistic", "logistic-calls", "logistic-array", "logistic-list", "empty")
    assert command.settings(["logistic"]).names == family
    assert command.settings(["logistic", "--alone"]).names == ("logistic",)
    assert command.settings(["sum", "sum-int64"]).names == ("sum-int64", "sum-float64")
    assert command.settings([]).names == (*WORKLOADS, *command.PROBES)
    given = command.settings(["dot", "--n", "1_000", "--threads", "3", "--backend", "simd,opencl:0"])
    assert (given.n, given.threads, given.backends) == (1000, 3, ("simd", "opencl:0"))
    assert command.settings(["dot"]).n is None


def test_help_names_every_workload(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        command.settings(["--help"])
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in [*WORKLOADS, "latency", "memory"])


def test_the_table_and_the_json():
    rows = [
        Row("sum", "hastega", 10_000_000, 2, 0.0025, 0.002, 0.003, 1.0, True, "a note"),
        Row("sum", "numba", 10_000_000, 2, 3.5e-5, 3e-5, 1.5, 123.4, True, ""),
        untimed("sum", "jax", 10_000_000, 2, "jax is not installed"),
        untimed("sum", "c", 10_000_000, 2, "not equal", equal=False),
    ]
    lines = table.render(rows).splitlines()
    squeezed = [" ".join(line.split()) for line in lines]
    assert squeezed[1] == "sum hastega 10 000 000 2 2.5 ms 2 ms 3 ms 1.00 yes a note"
    assert squeezed[2] == "sum numba 10 000 000 2 35 us 30 us 1.5 s 123 yes"
    assert squeezed[3] == "sum jax 10 000 000 2 - - - - - jax is not installed"
    assert squeezed[4] == "sum c 10 000 000 2 - - - - NO not equal"
    assert len({line.index(" 10 000 000 ") for line in lines[1:]}) == 1
    decoded = json.loads(table.to_json(rows))
    assert [list(row) for row in decoded] == [KEYS] * 4
    assert decoded[2]["ratio"] is None
    assert decoded[2]["equal"] is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0 ns"), (2.5e-7, "250 ns"), (1e-6, "1 us"), (0.0123, "12.3 ms"), (1234.5, "1234 s")],
)
def test_times_have_three_digits(value: float | None, text: str):
    assert table.seconds(value) == text


def test_what_counts_as_failure():
    timed = Row("sum", "hastega", 1, 1, 1.0, 1.0, 1.0, 1.0, True, "")
    assert not command.failed(timed)
    assert not command.failed(untimed("sum", "jax", 1, 1, "jax is not installed"))
    assert command.failed(untimed("sum", "hastega", 1, 1, "failed"))
    assert command.failed(untimed("sum", "hastega:simd", 1, 1, "failed"))
    assert command.failed(untimed("sum", "c", 1, 1, "not equal", equal=False))


@pytest.mark.parametrize("workload", some(WORKLOADS, every=2))
def test_hastega_and_numpy_agree_from_end_to_end(
    workload: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "rows.json"
    asked = f"{workload} --alone --n 20011 --threads 2 --repeat 2 --peer numpy,c,python --json {out}"
    code = command.main(asked.split())
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert code == 0, rows
    assert rows[0]["peer"] == "hastega"
    assert rows[0]["ratio"] == 1
    assert all(row["ratio"] > 0 for row in rows if row["median_s"] is not None)
    peers = {row["peer"] for row in rows}
    assert peers >= set(WORKLOADS[workload].programs) & {"numpy", "c", "python"}
    assert workload in capsys.readouterr().out


def test_two_back_ends_have_two_rows(tmp_path: Path):
    out = tmp_path / "rows.json"
    code = command.main(
        f"sum-int64 --n 5000 --repeat 2 --backend parallel,simd --peer numpy --json {out}".split()
    )
    rows = {row["peer"]: row for row in json.loads(out.read_text(encoding="utf-8"))}
    assert code == 0, rows
    assert {"hastega:parallel", "hastega:simd", "hastega:parallel:kernel", "numpy"} <= set(rows)
    assert rows["hastega:simd"]["threads"] == 1
    assert rows["hastega:parallel"]["ratio"] == 1
