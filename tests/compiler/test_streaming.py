"""Loops that hand their elements on piece by piece: the same values as of loops one after the other, over all."""

import itertools

import numpy as np
import pytest

from hastega_magic.runtime import produced
from hastega_magic.session import Options, Session
from tests.compiler.battery import EFFORT, some
from tests.compiler.handed import COMPLEX, CONSUMERS, OF_COMPLEX, OF_PAIRS, PAIRED, PRODUCERS
from tests.compiler.in_pieces import NAMES, SMALL, N, bits, handed, reported, run

PAIRS = [
    (producer, consumer)
    for number, producer in enumerate(PRODUCERS)
    for place, consumer in enumerate(CONSUMERS)
    if EFFORT > 1 or (number + place) % 21 == 0
]
PAIRS += some((producer, consumer) for producer in PAIRED for consumer in OF_PAIRS)
PAIRS += some((producer, consumer) for producer in COMPLEX for consumer in OF_COMPLEX)


@pytest.mark.parametrize(("producer", "consumer"), PAIRS)
def test_the_same_bits(pieces, producer, consumer):
    cell = f"y = {producer} |> {consumer}\n"
    assert bits(run(cell)) == bits(run(cell, long=1 << 60))


@pytest.mark.parametrize(
    "cell",
    [
        "ints |> cumsum |> max",
        "ints |> filter(lambda x: x > 0) |> take(10)",
        "ints |> filter(lambda x: x > 0) |> drop(10) |> take(20_000) |> sum",
        "ints |> filter(lambda x: x > 0) |> enumerate |> map(lambda i, x: x * i) |> sum",
        "ints |> filter(lambda x: x > 0) |> zip(floats) |> map(lambda a, b: a + b) |> sum",
        "floats |> filter(lambda x: x > 0) |> cumsum |> max",
        "listed |> filter(lambda x: x > 0) |> enumerate |> map(lambda i, x: x * i) |> to_list",
        "ints |> filter(lambda x: x > 0) |> reverse |> take(5)",
        "ints |> cumsum |> var",
        "ints |> cumsum |> max(key=lambda x: x % 7)",
        "ints |> filter(lambda x: x > 0) |> window(2) |> map(lambda a, b: b - a) |> max",
        "ints |> filter(lambda x: x > 0) |> chunk(3) |> map(sum) |> max",
        "ints |> chunk(3) |> map(sum) |> cumsum |> max",
        "ints |> cumsum |> step(3) |> max",
        "ints |> cumsum |> step(3)",
        "ints |> cumsum |> take(20_000)",
        "ints |> cumsum |> take_while(lambda x: x < 10**9) |> max",
        "ints |> map(lambda x: x % 100) |> bincount",
        "ints |> zip(floats) |> filter(lambda a, b: a > b) |> take(7)",
        "ints |> zip(floats) |> filter(lambda a, b: a > b) |> enumerate |> map(lambda i, p: p[0] + i) |> sum",
        "ints |> scan(lambda s, x: (s[0] + x, max(s[1], x)), (0, 0)) |> map(lambda a, b: a - b) |> max",
        "ints |> filter(lambda x: x > 0) |> bincount(minlength=5)",
        "floats |> map(lambda x: complex(x)) |> filter(lambda z: z.real > 0) |> window(2) |> map(lambda a, b: a - b)",
        "floats |> map(lambda x: (x * 1j, x)) |> filter(lambda z, x: x > 0) |> enumerate |> map(lambda i, p: i * p[1])",
        "ints |> filter(lambda x: x > 0) |> enumerate |> map(lambda i, x: (i + x) % 100) |> bincount",
    ],
)
@pytest.mark.parametrize("on", ["auto", "simd", "parallel"])
def test_no_loop_waits_for_all_elements(pieces, cell, on, monkeypatch):
    monkeypatch.setenv("HASTEGA_AUTO", "parallel")
    assert handed(f"y = {cell}\n", on=on)


def test_few_elements_are_soon_there(pieces):
    """Pieces begin small where some elements are enough."""
    names = {"seen": 10**9}
    session = Session(names, Options(on="parallel", threads=2, baseline=False))
    report = session.run_cell("y = range(seen) |> filter(lambda x: x % 3 == 0) |> take(5)\n").report
    assert names["y"].tolist() == [0, 3, 6, 9, 12]
    (told,) = [text for text in report.pipelines[0].why if "hands its elements on" in text]
    assert "in 1 piece:" in told


def test_repeated_runs_are_told_of_as_one(pieces):
    session = Session(dict(NAMES), Options(on="parallel", threads=2, baseline=False, repeat=5))
    report = session.run_cell("y = ints |> cumsum |> max\n").report
    assert session.namespace["y"] == np.cumsum(NAMES["ints"]).max()
    (kernel,) = [each for each in report.pipelines[0].phases if each.name == "kernel"]
    assert kernel.bytes == 3 * 8 * N  # read, written and read again: once


@pytest.mark.parametrize(
    "cell",
    [
        "ints |> cumsum |> reverse |> map(lambda x: x * 2) |> sum",
        "ints |> cumsum |> take(90_000)",
        "ints |> cumsum |> window(100) |> map(sum) |> max",
        "ints |> filter(lambda x: x > 0) |> map(str) |> count",
        "range(100) |> filter(lambda x: x > 0) |> enumerate |> map(lambda i, x: x * i) |> sum",
    ],
)
def test_others_do(pieces, cell):
    assert not handed(f"y = {cell}\n")
    assert bits(run(f"y = {cell}\n")) == bits(run(f"y = {cell}\n", long=1 << 60))


NEEDING_PYTHON = [
    "large |> cumsum |> max",  # beyond 64 bits
    "large |> map(lambda x: x * 4) |> filter(lambda x: x > 0) |> enumerate |> map(lambda i, x: x + i) |> sum",
    "range(N) |> filter(lambda x: 5 // (x - 70_000) < 9) |> enumerate |> map(lambda i, x: x) |> sum",
    "range(N) |> filter(lambda x: 5 // (x - 70_000) < 9) |> take(3) |> sum",
    "range(N) |> filter(lambda x: 5 // (x - 70_000) < 9) |> take(70_000) |> sum",
    "range(N) |> filter(lambda x: 5 // (x - 7) < 9) |> drop(N) |> take(3)",
    "range(N) |> filter(lambda x: 5 // (x - 7) < 9) |> drop(N) |> count",
    "range(N) |> filter(lambda x: 5 // (x - 7) < 9) |> take(9) |> drop(9) |> count",
    "range(N) |> filter(lambda x: 5 // (x - 7) < 9) |> take(0) |> drop(9)",
    "range(N) |> filter(lambda x: 5 // (x - 7) < 9) |> drop(9) |> take(0) |> sum",
    "range(N) |> filter(lambda x: 5 // (x - 7) < 9) |> zip(ints[:0]) |> map(lambda a, b: a) |> sum",
    "range(N) |> filter(lambda x: x > 9) |> enumerate |> map(lambda i, x: 5 // (i - 80_000)) |> sum",
    "range(N) |> filter(lambda x: x > 9) |> enumerate |> map(lambda i, x: x ** 4) |> max",
    "range(N) |> filter(lambda x: x < 0) |> enumerate |> map(lambda i, x: x) |> max",
    "large |> map(lambda x: x >> 12) |> cumsum |> cumsum",  # the second sums alone
    "ints |> filter(lambda x: x > 0) |> enumerate |> map(lambda i, x: x * 2**43) |> cumsum",
    "floats |> scan(lambda a, x: a * 1e3 + x) |> max",  # not finite in the end
    "floats |> map(lambda x: math.sqrt(x + 399.9)) |> filter(lambda x: x > 1) |> enumerate |> map(lambda i, x: x)",
    "listed |> filter(lambda x: x > 0) |> enumerate |> map(lambda i, x: x + 'a') |> count",
]


@pytest.mark.parametrize(
    ("cell", "mode"), some(itertools.product(NEEDING_PYTHON, ["exact", "checked", "wrap"]), every=2)
)
def test_what_needs_python_is_as_ever(pieces, cell, mode):
    cell = f"y = {cell}\n"
    found, other = run(cell, int_mode=mode), run(cell, int_mode=mode, long=1 << 60)
    assert bits(found) == bits(other)


@pytest.mark.parametrize(
    "stages",
    [
        "filter(lambda x: 5 // (x - 7) < 9) |> reverse |> take(3)",  # all elements, before the first one is given
        "map(lambda x: 5 // (x - 7)) |> reverse |> first",
        "filter(lambda x: 5 // (x - 7) < 9) |> reverse |> take_while(lambda x: x > N - 20) |> count",
        "filter(lambda x: 5 // (x - 12_288) < 9) |> zip(range(12_288)) |> map(lambda a, b: a + b) |> sum",  # one more
        "filter(lambda x: x != 1) |> map(lambda x: 5 // (x - 12_289)) |> cumsum |> zip(range(12_288)) |> count",
        "filter(lambda x: 5 // x < 9) |> zip(ints[:0]) |> map(lambda a, b: a) |> max",
        "filter(lambda x: 5 // (x - 12_288) < 9) |> take(12_289) |> step(12_287) |> sum",  # up to the last one of take
        "filter(lambda x: 5 // (x - 7) < 9) |> enumerate |> take(10) |> drop(20) |> map(lambda i, x: i) |> sum",
        "filter(lambda x: 5 // (x - 7) < 9) |> map(lambda x: x) |> enumerate |> take(9) |> window(10) |> count",
    ],
)
def test_what_python_goes_through_may_raise(pieces, stages):
    cell = f"y = range(N) |> {stages}\n"
    found, _ = run(cell, on="python")
    assert found[0] is ZeroDivisionError
    assert run(cell)[0][:2] == found[:2]


@pytest.mark.parametrize(
    "stages",
    [
        "filter(lambda x: 5 // (x - 12_288) < 9) |> take(12_289) |> step(12_287) |> take(2) |> to_list",
        "filter(lambda x: 5 // (x - 12_288) < 9) |> take(12_288) |> step(12_287) |> to_list",
        "filter(lambda x: 5 // (x - 12_289) < 9) |> zip(range(12_288)) |> map(lambda a, b: a + b) |> sum",
        "filter(lambda x: 5 // (x - 90_000) < 9) |> enumerate |> take(9) |> map(lambda i, x: i * x) |> sum",
    ],
)
def test_what_python_does_not_go_through_does_not(pieces, stages):
    cell = f"y = range(N) |> {stages}\n"
    assert bits(run(cell)) == bits(run(cell, on="python"))


@pytest.mark.parametrize(
    "stages",
    [
        "cumsum |> window(1) |> map(lambda a: a - a) |> min",
        "filter(lambda x: x > 0) |> map(lambda x: (x,)) |> take(5)",
        "filter(lambda x: x > 0) |> window(1) |> cumsum |> last",
    ],
)
def test_a_tuple_of_one_number_is_no_number(pieces, stages):
    cell = f"y = ints |> {stages}\n"
    (found, _), (expected, _) = run(cell), run(cell, on="python")
    if isinstance(expected, tuple):
        found, expected = found[:2], expected[:2]
    assert bits((found, [])) == bits((expected, []))


@pytest.mark.parametrize(
    "stages",
    [
        "filter(lambda x: x > 0) |> take(10)",
        "cumsum |> last",
        "filter(lambda x: x > 0) |> drop(9) |> sum",
        "cumsum |> max",
    ],
)
def test_baselines_are_those_of_the_whole_statement(pieces, stages):
    told = reported(f"y = ints |> {stages}\n", baseline=True)
    assert [(each.backend, each.equal) for each in told.baselines] == [("python", True), ("numpy", True)]


def test_the_report_counts_what_was_gone_through(pieces):
    told = reported("y = ints |> filter(lambda x: x == x) |> take(10)\n")
    bytes_moved = {phase.name: phase.bytes for phase in told.phases}
    assert told.elements == SMALL
    assert bytes_moved["kernel"] == SMALL * 16
    assert f"{SMALL * 8 / 1000:.1f} kB in all, about {SMALL * 8 / 1000:.1f} kB are" in told.why[0]
    told = reported("y = listed |> filter(lambda x: x > 0) |> enumerate |> map(lambda i, x: i * x) |> sum\n")
    bytes_moved = {phase.name: phase.bytes for phase in told.phases}
    kept = sum(x > 0 for x in NAMES["listed"])
    assert bytes_moved["convert_in"] == N * 8
    assert bytes_moved["kernel"] == (N + 2 * kept) * 8


def test_a_loop_over_a_long_window_gives_no_more_than_there_is_room_for(pieces, monkeypatch):
    given, give = [], produced.Produced.give

    def watched(self, rooms, size):
        given.append((give(self, rooms, size) or 0, len(rooms[0])))
        return given[-1][0] or None

    monkeypatch.setattr(produced.Produced, "give", watched)
    cell = (
        "y = range(N) |> filter(lambda x: x > 0) |> enumerate |> filter(lambda i, x: i < SMALL - 1 or i > 20_000) |> "
        "map(lambda i, x: x) |> enumerate |> map(lambda i, x: i * x) |> sum\n"
    ).replace("SMALL", str(SMALL))
    assert bits(run(cell)) == bits(run(cell, long=1 << 60))
    assert given
    assert all(count <= room for count, room in given)
