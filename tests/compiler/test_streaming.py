"""Loops that hand their elements on piece by piece: the same values as of loops one after the other, over all."""

import math
import warnings

import numpy as np
import pytest

from hastega_magic.compiler.streaming import chain, ends
from hastega_magic.runtime import produced, stream
from hastega_magic.session import Options, Session
from tests.compiler.battery import EFFORT
from tests.compiler.handed import COMPLEX, CONSUMERS, OF_COMPLEX, OF_PAIRS, PAIRED, PRODUCERS

N = 100_003
RANDOM = np.random.default_rng(7)
FLOATS = RANDOM.normal(size=N) * 100
ODD = FLOATS.copy()
ODD[::1000] = np.nan
ODD[5::997] = -0.0
ODD[6::997] = 0.0
LARGE = np.full(N, 2**40)
LARGE[60_000:] = 2**62
NAMES = {
    "ints": RANDOM.integers(-1000, 1000, N),
    "floats": FLOATS,
    "odd": ODD,
    "zeros": np.where(np.arange(N) % 50_000 == 49_999, -0.0, 0.0),
    "small": FLOATS.astype(np.float32),
    "bits": RANDOM.random(N) < 0.5,
    "few": RANDOM.integers(0, 200, N, dtype=np.uint8),
    "large": LARGE,
    "listed": RANDOM.integers(-9, 9, N).tolist(),
    "back": np.arange(2 * N)[::-2],
    "math": math,
    "np": np,
    "N": N,
}
SMALL = 3 * 4096
"""Elements of a piece."""


@pytest.fixture
def pieces(monkeypatch):
    """Pieces of some blocks, so that there are several of few elements."""
    for module in (stream, chain):
        monkeypatch.setattr(module, "PIECE", SMALL)
    monkeypatch.setattr(chain, "LONG", 2 * SMALL)
    monkeypatch.setattr(ends, "_LARGEST", 2 * SMALL)


def run(cell, long=None, **options):
    """What the cell leaves, or raises, with the sentences about pieces; loops over `long` elements hand on."""
    names, found = dict(NAMES), None
    session = Session(names, Options(**{"on": "parallel", "threads": 2, "baseline": False} | options))
    before = chain.LONG, chain.PIECE, ends._LARGEST
    if long is not None:
        chain.LONG = chain.PIECE = ends._LARGEST = long
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                session.run_cell(cell)
                found = names["y"]
            except Exception as error:
                found = type(error), str(error), getattr(error, "__notes__", [])
    finally:
        chain.LONG, chain.PIECE, ends._LARGEST = before
    return found, [str(each.message) for each in warned]


def reported(cell, **options):
    """What is told of the cell's statement."""
    names = dict(NAMES)
    session = Session(names, Options(**{"on": "parallel", "threads": 2, "baseline": False} | options))
    (told,) = session.run_cell(cell).report.pipelines
    return told


def handed(cell, **options):
    """Whether the cell's loops hand on."""
    told = reported(cell, **options)
    return any("hands its elements on" in sentence for sentence in told.why)


def bits(value):
    """Equal for values that are the same bit by bit, and of the same type."""
    found, warned = value
    if isinstance(found, np.ndarray) and found.dtype == object:
        found = found.tolist()
    if isinstance(found, np.ndarray):
        return found.dtype.str, found.tobytes(), warned
    if isinstance(found, list):
        return [(type(each), repr(each)) for each in found], warned
    return type(found), found if isinstance(found, int) else repr(found), warned


PAIRS = [
    (producer, consumer)
    for number, producer in enumerate(PRODUCERS)
    for place, consumer in enumerate(CONSUMERS)
    if EFFORT > 1 or (number + place) % 5 == 0
]
PAIRS += [(producer, consumer) for producer in PAIRED for consumer in OF_PAIRS]
PAIRS += [(producer, consumer) for producer in COMPLEX for consumer in OF_COMPLEX]


@pytest.mark.parametrize(("producer", "consumer"), PAIRS)
def test_the_same_bits(pieces, producer, consumer):
    cell = f"y = {producer} |> {consumer}\n"
    assert bits(run(cell)) == bits(run(cell, long=1 << 60))


OTHER_FORMS = [
    "range(N) |> map(lambda x: x * 1.5) |> to_list",
    "range(N) |> filter(lambda x: x % 3 == 0) |> to_list",
    "range(N) |> filter(lambda x: x < 0) |> to_list",
    "small |> filter(lambda x: x > 0) |> to_list",
    "bits |> to_list",
    "few |> map(lambda x: x + 200) |> to_list",
    "ints |> cumsum |> to_list",
    "ints |> map(lambda x: (x,)) |> to_list",
    "ints |> zip(floats, bits) |> to_list",
    "ints |> enumerate |> filter(lambda i, x: x > 0) |> to_list",
    "ints |> zip(floats) |> enumerate |> to_list",
    "ints |> window(3) |> to_list",
    "ints |> chunk(4) |> map(sum) |> to_list",
    "ints |> take(70_000) |> reverse |> to_list",
    "floats |> map(lambda x: complex(x, -x)) |> to_list",
    "floats |> map(lambda x: complex(x, -x))",
    "floats |> map(lambda x: complex(x, -x)) |> filter(lambda z: z.real > 30)",
    "floats |> map(lambda x: complex(x, -x)) |> filter(lambda z: z.real > 30) |> take(7)",
    "floats |> map(lambda x: complex(x, -x)) |> filter(lambda z: z.real > 30) |> first",
    "small |> map(lambda x: np.complex64(complex(1, 2)) * x)",
    "odd |> zip(ints) |> map(lambda a, b: (a, (b, complex(a, b))))",
    "odd |> zip(ints) |> map(lambda a, b: (a, (b, complex(a, b)))) |> filter(lambda p: p[0] > 0) |> to_list",
    "bits |> zip(few, small)",
    "range(N) |> map(lambda x: x % 100) |> astype('int8')",
    "listed |> filter(lambda x: x > 0) |> astype('uint32')",
    "ints |> filter(lambda x: x > 10**9) |> map(lambda x: x % 7) |> astype(dtype='uint8')",
    "floats |> astype('float32')",
    "floats |> map(lambda x: complex(x, 1)) |> astype('complex64')",
    "ints |> map(lambda x: x % 5 > 1) |> astype('float64')",
    "ints |> map(lambda x: x % 100) |> astype('int8') |> filter(lambda x: x > 50) |> take(10_000)",
    "ints |> map(lambda x: x % 100) |> astype('int8') |> to_list",
    "ints |> cumsum |> map(lambda x: x % 100) |> astype('int8')",
    "ints |> cumsum |> map(lambda x: complex(x, 1))",
    "ints |> filter(lambda x: x > 0) |> enumerate",
    "floats |> map(lambda x: complex(x, 1)) |> filter(lambda z: z.real > 0) |> window(2) |> map(lambda a, b: a - b)",
]
"""Results that are no arrays of what the loop stores."""


@pytest.mark.parametrize("cell", OTHER_FORMS)
def test_results_of_another_form(pieces, cell):
    found = bits(run(f"import numpy as np\ny = {cell}\n"))
    assert found == bits(run(f"import numpy as np\ny = {cell}\n", long=1 << 60))
    assert found == bits(run(f"import numpy as np\ny = {cell}\n", on="python"))


@pytest.mark.parametrize(
    ("cell", "all_at_once"),
    [
        ("y = range(N) |> map(lambda x: x * 1.5) |> to_list", False),
        ("y = listed |> map(lambda x: x * 1.5) |> to_list", True),  # read and made at the same time
        ("y = range(N) |> map(lambda x: complex(x, 1))", False),
        ("y = range(N) |> map(lambda x: complex(x, 1))\nt = y |> sum", True),  # one loop
        ("y = range(N) |> map(lambda x: (x, x / 2)) |> filter(lambda a, b: b > 7)", False),
        ("y = range(N) |> map(lambda x: x * 2)", True),  # what is stored is the result
        ("y = range(N) |> map(lambda x: x % 9) |> astype('int8')", False),
        ("y = range(N) |> cumsum |> map(lambda x: x % 9) |> astype('int8')", False),
        ("y = range(N) |> map(lambda x: x % 9) |> astype('int64')", True),
        ("y = range(N) |> map(lambda x: x % 9) |> astype('int8')\nt = y |> sum", True),
    ],
)
def test_results_of_another_form_are_made_piece_by_piece(pieces, cell, all_at_once):
    assert handed(cell) is not all_at_once


BACKWARDS = [
    "range(N) |> filter(lambda x: x % 3) |> reverse",
    "range(N) |> filter(lambda x: x < 0) |> reverse",
    "floats |> filter(lambda x: x > 9e9) |> reverse",
    "floats |> filter(lambda x: x > 0) |> drop(3) |> reverse",
    "small |> filter(lambda x: x > 0) |> take(30_000) |> reverse",
    "bits |> filter(lambda x: x) |> reverse",
    "ints |> cumsum |> reverse",
    "zeros |> cumsum |> step(3) |> reverse",
    "ints |> scan(lambda m, x: max(m, x % 1009), 0) |> reverse",
    "ints |> cumsum |> filter(lambda x: x % 2) |> reverse",
    "odd |> zip(ints) |> filter(lambda a, b: b > 0) |> reverse",
    "floats |> map(lambda x: complex(x, 1)) |> filter(lambda z: z.real > 0) |> reverse",
    "ints |> filter(lambda x: x > 0) |> reverse |> reverse",
    "ints |> filter(lambda x: x > 0) |> astype('int32') |> reverse",
]


@pytest.mark.parametrize("cell", BACKWARDS)
def test_backwards(pieces, cell):
    found = bits(run(f"y = {cell}\n"))
    assert found == bits(run(f"y = {cell}\n", long=1 << 60))
    assert found == bits(run(f"y = {cell}\n", on="python"))


EITHER_WAY = [
    "ints |> cumsum |> reverse |> sum",
    "ints |> scan(lambda m, x: max(m, x % 1009), 0) |> reverse |> min",
    "ints |> filter(lambda x: x % 3) |> reverse |> max",
    "bits |> filter(lambda x: x) |> reverse |> max",
    "floats |> cumsum |> reverse |> sum",
    "ints |> cumsum |> reverse |> sum(5)",
    "zeros |> cumsum |> reverse |> min",
    "ints |> cumsum |> reverse |> first",
]


@pytest.mark.parametrize("cell", EITHER_WAY)
def test_sinks_that_tell_the_same_from_either_end(pieces, cell):
    found = bits(run(f"y = {cell}\n"))
    assert found == bits(run(f"y = {cell}\n", long=1 << 60))
    assert found == bits(run(f"y = {cell}\n", on="python")) or "floats" in cell
    assert handed(f"y = {cell}") is (cell in EITHER_WAY[:4])


@pytest.mark.parametrize("cell", BACKWARDS[:-2])
def test_what_is_turned_in_the_end_is_made_so(pieces, cell):
    assert handed(f"y = {cell}")


@pytest.mark.parametrize(
    "cell",
    [
        "range(N) |> filter(lambda x: 1 // (x - 90_000) < 5) |> reverse",
        "range(N) |> map(lambda x: x << (x // 90_000 * 60)) |> filter(lambda x: x % 3) |> reverse",
    ],
)
def test_what_python_evaluates_is_turned_as_ever(pieces, cell):
    assert bits(run(f"y = {cell}\n")) == bits(run(f"y = {cell}\n", long=1 << 60))


def test_what_is_turned_in_the_end_is_an_array_like_any_other(pieces):
    found, _ = run("y = range(N) |> filter(lambda x: x % 3) |> reverse\n")
    assert found.flags.c_contiguous
    assert found.flags.writeable


def test_an_element_that_raises_is_named_where_a_list_is_made_in_pieces(pieces):
    cell = "y = range(N) |> map(lambda x: 1 // (x - 90_000)) |> to_list\n"
    (kind, text, notes), _ = run(cell)
    assert kind is ZeroDivisionError
    assert (kind, text, notes) == run(cell, long=1 << 60)[0]
    assert any("90000" in note or "90 000" in note for note in notes)


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
        "ints |> cumsum |> reverse |> cumsum |> sum",
        "ints |> cumsum |> take(90_000)",
        "ints |> cumsum |> window(100) |> map(sum) |> max",
        "ints |> filter(lambda x: x > 0) |> map(str) |> count",
        "range(100) |> filter(lambda x: x > 0) |> enumerate |> map(lambda i, x: x * i) |> sum",
    ],
)
def test_others_do(pieces, cell):
    assert not handed(f"y = {cell}\n")
    assert bits(run(f"y = {cell}\n")) == bits(run(f"y = {cell}\n", long=1 << 60))


@pytest.mark.parametrize(
    "cell",
    [
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
    ],
)
@pytest.mark.parametrize("mode", ["exact", "checked", "wrap"])
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
