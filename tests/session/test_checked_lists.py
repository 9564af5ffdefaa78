"""`--int checked` and items of captured lists and arrays that no int64 holds: it raises for elements that read such."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest

from hastega_magic.session import Options, Session

BEYOND = 2**70
PLACES = ("simd", "numpy", "opencl")


def run(on: str, text: str, mode: str = "checked") -> Any:
    names = {"xs": [1, 2, BEYOND, 5], "rows": ((1, 2), (3, BEYOND))}
    return Session(names, Options(on=on, int_mode=mode, baseline=False, quiet=True)).run_cell(text).value


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("range(4) |> map(lambda i: xs[i] % 7)", "map.*: element 2 of range"),
        ("range(4) |> filter(lambda i: xs[i] > 7) |> count", "filter.*: element 2 of range"),
        ("range(4) |> take_while(lambda i: xs[i] < 3)", "take_while.*: element 2 of range"),
        ("range(4) |> map(lambda i: sum(x * i for x in xs) % 11)", "map.*: element 1 of range"),
        ("range(4) |> max(key=lambda i: xs[i])", "max.*: element 2 of range"),
        ("range(3) |> map(lambda i: rows[i % 2][i // 2 + 1] if i else 0)", "map.*: element 1 of range"),
        ("range(4) |> map(lambda i: xs[i - 3]) |> cumsum", "map.*: element 1 of range"),
    ],
)
def test_an_element_that_reads_one_raises(on: str, text: str, where: str) -> None:
    pytest.importorskip("pyopencl")
    with pytest.raises(OverflowError, match=rf"an integer that no int64 holds in `{where}.* needs {BEYOND}"):
        run(on, text)


@pytest.mark.parametrize("on", PLACES)
def test_a_step_that_reads_one_raises(on: str) -> None:
    pytest.importorskip("pyopencl")
    with pytest.raises(OverflowError, match=rf"in `reduce.*: {BEYOND}"):
        run(on, "range(4) |> reduce(lambda a, i: (a + xs[i]) % 1000, 0)")


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize(
    "text",
    [
        "range(2) |> map(lambda i: xs[i] % 7) |> sum",
        "range(4) |> map(lambda i: xs[i] % 7) |> take(2)",
        "range(4) |> map(lambda i: xs[i + 1] if i < 1 else i)",
        "range(4) |> reduce(lambda a, i: (a + xs[i % 2]) % 1000, 0)",
        "range(4) |> map(lambda i: len(xs) - i)",
    ],
)
def test_no_other_element_does(on: str, text: str) -> None:
    pytest.importorskip("pyopencl")
    assert repr(run(on, text)) == repr(run("python", text, mode="exact"))


def test_so_do_turns_of_a_loop() -> None:
    cell = "found = []\nfor k in (2, 2, {}):\n    found.append(range(4) |> map(lambda i: xs[i % k]) |> sum)\nfound"
    assert run("simd", cell.format(2)) == [6, 6, 6]
    with pytest.raises(OverflowError, match="element 2 of range"):
        run("simd", cell.format(3))


UNSIGNED = np.array([3, 1, 2**63 + 5, 7], np.uint64)
HOLDING = {
    "array": UNSIGNED,
    "other byte order": UNSIGNED.astype(">u8"),
    "every second": np.repeat(UNSIGNED, 2)[::2],
    "array.array": array.array("Q", UNSIGNED.tolist()),
    "memory": memoryview(UNSIGNED),
}


def read(on: str, text: str, table: object, mode: str = "checked") -> Any:
    return (
        Session({"t": table}, Options(on=on, int_mode=mode, baseline=False, quiet=True)).run_cell(text).value
    )


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize("name", HOLDING)
def test_an_element_that_reads_one_of_an_array_raises(on: str, name: str) -> None:
    pytest.importorskip("pyopencl")
    for text in (
        "range(4) |> map(lambda i: t[i] % 7) |> sum",
        "range(4) |> filter(lambda i: t[i] > 7) |> count",
    ):
        with pytest.raises(OverflowError, match=rf"element 2 of range.* needs {2**63 + 5}"):
            read(on, text, HOLDING[name])


@pytest.mark.parametrize("on", PLACES)
def test_a_step_that_reads_one_of_an_array_raises(on: str) -> None:
    pytest.importorskip("pyopencl")
    with pytest.raises(OverflowError, match=rf"in `reduce.*: {2**63 + 5}"):
        read(on, "range(4) |> reduce(lambda a, i: (a + t[i]) % 1000, 0)", UNSIGNED)


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize(
    "text",
    [
        "[0, 1, 3] |> map(lambda i: t[i] - 5)",
        "range(4) |> map(lambda i: t[i] - 5) |> take(2)",
        "range(2) |> reduce(lambda a, i: a + t[i] - 5, 0)",
        "range(4) |> map(lambda i: len(t) - i)",
    ],
)
def test_elements_of_an_array_are_pythons_ints_to_the_others(on: str, text: str) -> None:
    pytest.importorskip("pyopencl")
    found, expected = read(on, text, UNSIGNED), read("python", text, UNSIGNED.tolist(), "exact")
    assert repr(found) == repr(expected)
