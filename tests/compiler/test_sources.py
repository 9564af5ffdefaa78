"""Where elements may come from, good and bad."""

from __future__ import annotations

import array
import math

import battery
import numpy as np
import pytest

INTS = [0, 1, -1, 7, 100, -100, 63, 64]
SOURCES = {
    "list": INTS, "tuple": tuple(INTS), "range": range(-5, 100, 3), "reversed range": range(50, -50, -7),
    "array.array": array.array("i", INTS), "bytearray": bytearray(b"hello"), "memoryview": memoryview(b"hello"),
    "int8": np.array(INTS, np.int8), "int16": np.array(INTS, np.int16), "int32": np.array(INTS, np.int32),
    "uint8": np.arange(256, dtype=np.uint8), "uint16": np.array([0, 65535], np.uint16),
    "uint32": np.array([0, 2**32 - 1], np.uint32), "uint64": np.array([0, 2**63, 2**64 - 1], np.uint64),
    "bool": np.array([True, False, True]), "list of bools": [True, False, True],
    "big-endian": np.array(INTS, ">i4"), "big-endian floats": np.array(INTS, ">f8"),
    "negative stride": np.array(INTS)[::-1], "stride": np.arange(100)[::7], "float stride": np.arange(50.0)[::-3],
    "read-only": np.frombuffer(np.arange(20).tobytes(), np.int64),
    "unaligned": np.frombuffer(bytes(81), np.int64, 10, 1),
    "column": np.arange(40).reshape(10, 4)[:, 1], "broadcast": np.broadcast_to(np.int64(5), 30),
    "float64": np.array([0.5, -2.25, 1e10]), "float32": np.array([0.5, -2.25, 100], np.float32),
    "floats": [0.5, -2.25, 1e10], "mixed": [1, 2.5, 3], "set": {1, 2, 3}, "dict": {1: 2, 3: 4}, "strings": "abc",
    "none": [1, None], "text": [1, "a"], "float16": np.array([1, 2], np.float16),
    "object": np.array([1, 2**70], object),
    "two dimensions": np.arange(6).reshape(2, 3), "complex": [1, 2j], "fractions": np.array([1, 2]).astype("M8[s]"),
    "fields": np.array([(1, 2.0)], "i4,f8"), "int subclass": [True, 2],
    "nothing": None, "a number": 5, "zero-dimensional": np.array(5),
}  # fmt: skip
STAGES = ("map(lambda x: x * 3 + 1)", "filter(lambda x: x > 2)", "sum", "max", "map(lambda x: x % 5) |> to_list",
          "map(lambda x: x / 4)",
          "enumerate |> map(lambda i, x: x - i)", "take(3)")  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_every_source(name, backend):
    # Each costs OpenCL's compiler a third of a second: other ones of each source.
    some = slice(len(name) % 4, None, 4) if backend == "opencl" and battery.EFFORT == 1 else slice(None)
    for stage in STAGES[some]:
        battery.assert_like_python(f"xs |> {stage}", {"xs": SOURCES[name]}, equal=_close_arrays, quiet=True)


def _close_arrays(a, b):
    if (
        isinstance(a, np.ndarray)
        and isinstance(b, np.ndarray)
        and a.ndim == b.ndim == 1
        and a.dtype.kind == "O"
    ):
        return (
            a.dtype == b.dtype
            and len(a) == len(b)
            and all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
        )
    return battery.close(a, b) if not isinstance(a, np.ndarray) or a.ndim == 1 else np.array_equal(a, b)


@pytest.mark.parametrize(
    "ranges",
    [
        (range(-1, 9), range(-2, 9)),
        (range(10, -1, -1), range(10, -1, -2)),
        (range(5, -1, -1), range(5, -2, -1)),
    ],
    ids=str,
)
def test_ranges_that_python_hashes_alike_are_two(ranges):
    xs, ys = ranges
    battery.assert_like_python(
        "xs |> zip(ys) |> map(lambda x, y: x * 1000 + y)", {"xs": xs, "ys": ys}, quiet=True
    )


def test_a_generator_is_consumed_only_as_far_as_needed():
    taken = []
    source = (taken.append(x) or x for x in range(100))
    assert battery.run("xs |> map(lambda x: x * 2) |> take(3)", {"xs": source}).value.tolist() == [0, 2, 4]
    assert taken == [0, 1, 2]


@pytest.mark.parametrize(
    "others", [("[1, 2]",), ("range(100)",), ("[1, 2, 3]", "range(2)"), ("np.arange(5.0)",)]
)
def test_zip_ends_with_the_shortest(others):
    text = f"xs |> zip({', '.join(others)}) |> map(lambda t: t[0] + t[-1])"
    battery.assert_like_python(text, {"xs": [10, 20, 30, 40]}, quiet=True)


def test_zip_strict_is_pythons():
    battery.assert_like_python("xs |> zip([1], strict=True) |> to_list", {"xs": [1, 2]}, quiet=True)


def test_an_unknown_name():
    assert isinstance(battery.run("nowhere |> map(lambda x: x)").error, NameError)
    assert isinstance(battery.run("[1] |> map(lambda x: x + nowhere)").error, NameError)
    assert isinstance(battery.run("[1] |> nowhere").error, NameError)


ODD = ("[1] |> map(lambda x: x.real)", "[1] |> map(lambda x, y: x)", "[1] |> map()", "[1] |> take('a')",
       "[1] |> map(5)",
       "[1] |> take(-1)", "[1] |> reduce(lambda a: a)", "[2.5] |> map(lambda x: x << 1)")  # fmt: skip


@pytest.mark.parametrize("text", ODD)
def test_calls_that_python_refuses_or_only_python_can(text):
    battery.assert_like_python(text, quiet=True)


def test_nan_and_infinity():
    xs = [math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324]
    for text in ("map(lambda x: x * 0)", "min", "max", "filter(None)", "map(bool)", "map(lambda x: x == x)",
                 "map(lambda x: -x)", "any", "all",
                 "map(lambda x: max(x, 0.0))", "map(lambda x: min(0.0, x))", "map(lambda x: x - x)",
                 "map(abs)"):  # fmt: skip
        for source in (xs, xs[::-1], xs[3:], xs[1:], np.array(xs)):
            battery.assert_like_python(f"xs |> {text}", {"xs": source}, quiet=True)


@pytest.mark.parametrize("order", [(0.0, -0.0), (-0.0, 0.0), (math.nan, 1.0), (1.0, math.nan)])
@pytest.mark.parametrize("sink", ["min", "max"])
def test_which_of_equal_floats_is_the_smallest(order, sink):
    for before in (0, 1, 100, 5000):
        xs = [5.0 if sink == "min" else -5.0] * before + list(order) * 3
        battery.assert_like_python(f"xs |> {sink}", {"xs": xs}, quiet=True)


def test_pairs_are_structured_arrays():
    ran = battery.assert_like_python("xs |> map(lambda x: (x, x > 2, x / 2))", {"xs": [1, 2, 3]})
    assert ran.value.dtype.names == ("f0", "f1", "f2")
    battery.assert_like_python(
        "xs |> map(lambda x: (x, (x + 1, -x))) |> to_list", {"xs": [1, 2, 3]}, quiet=True
    )
    battery.assert_like_python(
        "xs |> filter(lambda x: x > 1) |> map(lambda x: (x, x * x)) |> count", {"xs": [1, 2, 3]}
    )
