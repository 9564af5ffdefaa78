"""Every width, target, thread count and length gives the same; float sums the same bits."""

from __future__ import annotations

import itertools
import struct

import battery
import numpy as np
import pytest

LENGTHS = (0, 1, 2, 63, 64, 65, 4095, 4096, 4097, 3 * 4096 + 5)
GENERATOR = np.random.default_rng(7)
CELLS = {
    "map(lambda x: x * x - 3)": lambda xs: xs * xs - 3,
    "map(lambda x: x % 7)": lambda xs: xs % 7,
    "filter(lambda x: x % 3 == 1)": lambda xs: xs[xs % 3 == 1],
    "filter(lambda x: x % 3 == 1) |> map(lambda x: x > 5)": lambda xs: xs[xs % 3 == 1] > 5,
    "sum": lambda xs: int(xs.sum()),
    "filter(lambda x: x < 0) |> count": lambda xs: int((xs < 0).sum()),
    "map(lambda x: x ^ 5) |> reduce(lambda a, b: a ^ b, 0)": lambda xs: int(np.bitwise_xor.reduce(xs ^ 5)),
}


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("text", CELLS)
@pytest.mark.parametrize("backend", ["parallel", "opencl"], indirect=True)
def test_odd_lengths(text, length, backend):
    xs = GENERATOR.integers(-1000, 1000, length)
    for source in (xs, xs.tolist(), xs[::-1][::-1]):
        ran = battery.run(f"xs |> {text}", {"xs": source}, quiet=True)
        assert ran.error is None
        assert battery.same(ran.value, CELLS[text](xs))


@pytest.mark.parametrize("text", CELLS)
def test_a_list_of_several_pieces(text):
    xs = GENERATOR.integers(-1000, 1000, (1 << 20) + 4099)
    ran = battery.run(f"xs |> {text}", {"xs": xs.tolist()})
    assert battery.same(ran.value, CELLS[text](xs))


def test_trouble_in_the_second_piece_of_a_list():
    xs = list(range((1 << 20) + 5000))
    xs[(1 << 20) + 77] = 2**40
    ran = battery.run(
        "ys = xs |> enumerate |> map(lambda i, x: i + x * x)\nys |> filter(lambda y: y % 9 == 0)", {"xs": xs}
    )
    expected = [i + x * x for i, x in enumerate(xs)]
    assert ran.namespace["ys"].tolist() == expected
    assert ran.value.tolist() == [y for y in expected if y % 9 == 0]


@pytest.mark.parametrize("width", [0, 4, 1])
def test_division_of_all_magnitudes(width):
    """Around multiples, where a quotient that is off by a little would be off by one."""
    rng = np.random.default_rng(23)
    count = 1 << 15
    for most, low in ((40, 0), (52, -1), (53, 0), (62, -1), (63, 0), (63, -1)):

        def drawn(most=most):
            return rng.integers(0, 2**63 - 1, count) >> (63 - rng.integers(0, most + 1, count))

        y = np.maximum(drawn(), 1)
        x = np.clip(drawn() // y * y + rng.integers(-1, 2, count), 0, 2**most - 1)
        if low:
            x, y = (each * rng.choice([1, -1], count) for each in (x, y))
        cell = "q = x |> zip(y) |> map(lambda x, y: x // y)\nr = x |> zip(y) |> map(lambda x, y: x % y)"
        ran = battery.run(cell, {"x": x, "y": y}, width=width)
        assert ran.error is None
        assert np.array_equal(ran.namespace["q"], x // y)
        assert np.array_equal(ran.namespace["r"], x % y)


def bits(value):
    return struct.pack("<d", value)


FLOATS = {
    "float64": GENERATOR.normal(size=3 * 4096 + 777) * 10.0 ** GENERATOR.integers(-8, 8, 3 * 4096 + 777),
    "float32": GENERATOR.normal(size=9000).astype(np.float32),
    "strided": GENERATOR.normal(size=30000)[::-3],
}


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize(
    "text", ["sum", "prod", "mean", "filter(lambda x: x > 0) |> sum", "map(lambda x: x * x) |> sum"]
)
def test_float_reductions_have_the_same_bits_everywhere(name, text):
    cell, names = f"xs |> {text}", {"xs": FLOATS[name]}
    expected = bits(battery.run(cell, names, quiet=True).value)
    for options in (
        {"width": 1},
        {"width": 2},
        {"width": 4},
        {"width": 16},
        {"threads": 1},
        {"threads": 5},
        {"on": "simd"},
        {"on": "opencl"},
        {"on": "opencl", "device_memory": 1},
    ):
        assert bits(battery.run(cell, names, quiet=True, **options).value) == expected, options
    for target in battery.FEATURE_SETS[1:]:
        with battery.on_target(target):
            assert bits(battery.run(cell, names, quiet=True).value) == expected, target


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_packed_results_keep_their_order(threads):
    xs = GENERATOR.integers(0, 1 << 30, 400_000)
    ran = battery.run("xs |> filter(lambda x: x % 3 == 0)", {"xs": xs}, threads=threads)
    assert np.array_equal(ran.value, xs[xs % 3 == 0])


TYPES = {
    "int64": GENERATOR.integers(-(2**40), 2**40, 300), "wide": GENERATOR.integers(-(2**63), 2**63 - 1, 300),
    "float64": GENERATOR.normal(size=300), "float32": GENERATOR.normal(size=300).astype(np.float32),
    "bool": GENERATOR.integers(0, 2, 300).astype(bool), "uint8": GENERATOR.integers(0, 255, 300).astype(np.uint8),
    "swapped": GENERATOR.integers(-99, 99, 300).astype(">i2"), "strided": GENERATOR.normal(size=900)[::-3],
    "range": range(-70, 230),
}  # fmt: skip
SHAPES = ("filter(lambda x: x > 2)", "filter(lambda x: x != 1) |> map(lambda x: (x, x > 3))",
          "filter(lambda x: x) |> map(lambda x: x > 1)",
          "map(lambda x: x // 7)", "map(lambda x: x % 7)", "map(lambda x: x / 3)", "min", "max", "any", "all",
          "map(lambda x: int(x) % 5)", "map(lambda x: x // (x + 3.25))")  # fmt: skip


@pytest.mark.parametrize("width", [1, 2, 4, 16, 32, 64])
def test_every_type_at_every_width(width):
    for type_, shape, _ in battery.some(itertools.product(TYPES, SHAPES, [width]), every=9):
        battery.assert_like_python(f"xs |> {shape}", {"xs": TYPES[type_]}, width=width, quiet=True)


@pytest.mark.parametrize("name", battery.FEATURE_SETS)
def test_every_type_on_every_target(name):
    with battery.on_target(name):
        for type_, shape, _ in battery.some(itertools.product(TYPES, SHAPES, [name]), every=9):
            battery.assert_like_python(f"xs |> {shape}", {"xs": TYPES[type_]}, quiet=True)


@pytest.mark.parametrize("length", [(1 << 19) - 1, 1 << 19, 600_000, 1 << 20])
def test_wide_vectors_of_bytes_stored_past_the_caches(length):
    for width in (16, 32, 64):
        ran = battery.run("range(n) |> map(lambda x: x % 7 > 5)", {"n": length}, width=width)
        assert int(ran.value.sum()) == sum(1 for x in range(length) if x % 7 > 5)
