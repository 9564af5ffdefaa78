"""Results that a loop makes piece by piece: of another form than what it stores, or backwards."""

import pytest

from tests.compiler.in_pieces import bits, handed, run

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
        ("y = range(N) |> map(lambda x: complex(x, 1))", True),  # stored as records
        ("y = range(N) |> map(lambda x: (x, x > 1))", False),
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
