"""Elements of several numbers that are stored as records: complex numbers, and tuples of numbers of one size."""

import warnings
from functools import cache

import battery
import numpy as np
import pytest

from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.ir import abi
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.passes.schedule import STREAMED
from hastega_magic.session import Options, Session

N = STREAMED + 5 * BLOCK + 1234
RNG = np.random.default_rng(6)
NAMES = {
    "xs": RNG.integers(-1000, 1000, N), "fs": RNG.random(N), "zs": RNG.random(N) - 1j * RNG.random(N),
    "hs": RNG.random(N).astype(np.float32), "cs": (RNG.random(N) + 1j).astype(np.complex64),
}  # fmt: skip
RECORDS = {
    "complex128": "zs |> map(lambda z: z + z)",
    "complex64": "cs |> map(lambda z: z - 1)",
    "a pair": "xs |> map(lambda x: (x, x * 3))",
    "float32": "hs |> map(lambda h: (h, h * h))",
    "ints and floats": "xs |> zip(fs)",
    "three": "fs |> map(lambda f: (f, f * 2, f * 3))",
    "four": "xs |> map(lambda x: (x, x + 1, x + 2, x + 3))",
    "bools": "xs |> map(lambda x: (x > 3, x < 3))",
    "complex ones in it": "zs |> enumerate |> map(lambda i, z: (i, z))",
    "nested": "xs |> map(lambda x: (x, (x * 2, x * 0.5)))",
}
APART = {
    "five": "xs |> map(lambda x: (x, x, x, x, x))",
    "of two sizes": "xs |> map(lambda x: (x, x > 3))",
    "packed": "xs |> map(lambda x: (x, x * 3)) |> filter(lambda a, b: a > 0)",
}


def rooms(ran) -> set[int]:
    """How many numbers lie in one memory."""
    bodies = (body for each in ran.executions for body in each.compiled.bodies.values())
    return {len(stores) for body in bodies for stores in abi.layout(body.kernel).rooms}


@cache
def pythons(cell: str, size: int):
    return battery.run(cell, {name: each[:size] for name, each in NAMES.items()}, on="python").value


def same(ran, expected) -> None:
    assert ran.error is None
    assert ran.value.dtype == expected.dtype
    assert ran.value.tobytes() == expected.tobytes()


@pytest.mark.parametrize("target", battery.FEATURE_SETS)
@pytest.mark.parametrize("cell", [*RECORDS.values(), *APART.values()], ids=[*RECORDS, *APART])
def test_the_bits_are_pythons(cell, target):
    for size, threads in ((5, 1), (BLOCK + 3, 1), (N, 3)):
        names = {name: each[:size] for name, each in NAMES.items()}
        with battery.on_target(target):
            ran = battery.run(cell, names, threads=threads)
        same(ran, pythons(cell, size))
        assert (max(rooms(ran)) > 1) == (cell in RECORDS.values())


@pytest.mark.parametrize("cell", RECORDS.values(), ids=RECORDS)
def test_the_result_is_what_loops_have_stored(cell):
    ran = battery.run(cell, NAMES)
    assert max(rooms(ran)) > 1
    assert ran.value.base is not None  # no copy, which would be memory of its own
    assert ran.value.flags.writeable
    assert ran.value.flags.c_contiguous


@pytest.mark.parametrize("cell", APART.values(), ids=APART)
def test_others_are_stored_each_by_itself(cell):
    assert rooms(battery.run(cell, NAMES)) == {1}


@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_that_another_variant_or_python_computes(threads):
    xs = NAMES["xs"].copy()
    places = [0, BLOCK - 1, BLOCK + 1024, N - 1, N // 2]
    xs[places] = 2**61
    cell = "xs |> map(lambda x: (x, x * 3))"
    same(battery.run(cell, {"xs": xs}, threads=threads), battery.run(cell, {"xs": xs}, on="python").value)
    xs[N // 2] = 2**62
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegerOverflowWarning)
        ran = battery.run(cell, {"xs": xs}, threads=threads)
    assert ran.error is None
    assert ran.value[N // 2].tolist() == (2**62, 3 * 2**62)
    assert [each.tolist() for each in ran.value[:BLOCK]] == [(x, 3 * x) for x in xs[:BLOCK].tolist()]


def test_what_an_element_raises():
    xs = NAMES["xs"].copy()
    xs[xs == 0] = 1
    xs[N - 7] = 0
    ran = battery.run("xs |> map(lambda x: (x, 100 // x))", {"xs": xs})
    assert isinstance(ran.error, ZeroDivisionError)
    assert f"element {N - 7}" in ran.error.__notes__[0]


def test_in_a_cell_that_runs_again():
    session = Session({"xs": NAMES["xs"][:300]}, Options(baseline=False))
    for cell in ("xs |> map(lambda x: (x, x * 3))", "xs |> map(lambda x: complex(x, 1))"):
        for _ in range(12):
            same(battery.run_in(session, cell), pythons(cell, 300))
