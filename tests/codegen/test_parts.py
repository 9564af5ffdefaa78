"""Parts of a block that a turn goes through side by side: values, faults and rests of blocks done from end to end."""

import warnings

import battery
import numpy as np
import pytest

from hastega_magic.compiler import execute
from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.passes.schedule import STREAMED

N = STREAMED + 5 * BLOCK + 1234
RNG = np.random.default_rng(5)
NAMES = {
    "xs": RNG.integers(-1000, 1000, N), "fs": RNG.random(N), "ws": RNG.integers(0, 2**40, N), "n": N,
    "hs": RNG.random(N).astype(np.float32),
}  # fmt: skip
CELLS = {
    "ints": ("xs |> map(lambda x: x * 3 + 1)", lambda: NAMES["xs"] * 3 + 1),
    "index": ("fs |> enumerate |> map(lambda i, f: i + f)", lambda: np.arange(N) + NAMES["fs"]),
    "range": ("range(3, 3 + 2 * n, 2) |> map(lambda x: x * x)", lambda: (3 + 2 * np.arange(N)) ** 2),
    "bools": ("fs |> map(lambda f: f > 0.5)", lambda: NAMES["fs"] > 0.5),
    "float32": ("hs |> map(lambda f: f * f)", lambda: NAMES["hs"] ** 2),
    "window": ("fs |> window(3) |> map(lambda a, b, c: max(a, b, c))",
               lambda: np.maximum(np.maximum(NAMES["fs"][:-2], NAMES["fs"][1:-1]), NAMES["fs"][2:])),
    "reversed": ("xs |> reverse |> map(lambda x: x - 1)", lambda: NAMES["xs"][::-1] - 1),
    "chunks": ("fs |> chunk(2) |> map(lambda a, b: a - b)",
               lambda: NAMES["fs"][: N // 2 * 2 : 2] - NAMES["fs"][1 : N // 2 * 2 : 2]),
}  # fmt: skip


def parts(ran) -> set[int]:
    return {body.kernel.schedule.parts for each in ran.executions for body in each.compiled.bodies.values()}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("target", battery.FEATURE_SETS)
@pytest.mark.parametrize("name", CELLS)
def test_the_values_are_those_of_numpy(name, target, threads):
    cell, expected = CELLS[name]
    with battery.on_target(target):
        ran = battery.run(cell, NAMES, threads=threads)
    assert ran.error is None
    assert np.array_equal(np.asarray(ran.value), expected())
    assert max(parts(ran)) > 1 or name == "chunks"


def test_values_beyond_what_a_variant_assumes():
    """A block with one large number is done by the next variant, in the place where it stands."""
    xs = NAMES["xs"].copy()
    places = [0, BLOCK - 1, BLOCK + 1024, N - 1, N // 2]
    xs[places] = 2**61
    ran = battery.run("xs |> map(lambda x: x * 3 + 1)", {"xs": xs})
    assert np.array_equal(ran.value, xs * 3 + 1)


@pytest.mark.parametrize("threads", [1, 3])
def test_only_blocks_with_trouble_are_left_to_python(threads, monkeypatch):
    """Blocks are computed together, and again one by one where something is the matter with one of them."""
    xs = NAMES["xs"].copy()
    xs[[BLOCK * 7 + 5, N - 1]] = 2**62
    left, found = [], execute.blocks_of
    monkeypatch.setattr(execute, "blocks_of", lambda *args: left.append(found(*args)) or left[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegerOverflowWarning)
        ran = battery.run("xs |> map(lambda x: x * 3 + 1)", {"xs": xs}, threads=threads)
    assert ran.value.tolist() == [x * 3 + 1 for x in xs.tolist()]
    assert [each.tolist() for each in left] == [[7, (N - 1) // BLOCK]]


def test_the_failing_element_is_named():
    xs = np.abs(NAMES["xs"]) + 1
    for place in (BLOCK + 3077, N - 1):
        xs[place] = 0
        ran = battery.run("xs |> map(lambda x: 7 // x)", {"xs": xs})
        assert isinstance(ran.error, ZeroDivisionError)
        assert f"element {place}" in str(ran.error) + "".join(getattr(ran.error, "__notes__", []))
        xs[place] = 1


def test_what_needs_an_order_is_done_in_it():
    for cell in (
        "fs |> sum",
        "fs |> filter(lambda f: f > 0.5)",
        "fs |> cumsum",
        "t = fs |> map(lambda f: f + 1)\nfs |> sum",
    ):
        assert parts(battery.run(cell, NAMES)) == {1}
