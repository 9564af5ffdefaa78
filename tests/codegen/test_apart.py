"""Elements that lie two to eight apart: whole vectors are read, from the first that is used to the last."""

import battery
import numpy as np
import pytest

from hastega_magic.compiler.comparing.kept import choose
from hastega_magic.compiler.editing.edited import run_edited, text_of
from hastega_magic.ir.pipeline import MOST_APART
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.passes.schedule import STREAMED
from hastega_magic.runtime import buffers
from hastega_magic.session import Options, Session

N = BLOCK + 77
RNG = np.random.default_rng(7)
DTYPES = ("float64", "float32", "int64", "int8", "uint16", "bool")


def ending_a_page(dtype: str, size: int):
    """An array behind which nothing can be read."""
    array = buffers._between_guards(size, dtype, size * np.dtype(dtype).itemsize)
    array[:] = RNG.integers(0, 2 if dtype == "bool" else 100, size)
    return array


def layouts(ran) -> set[str]:
    return {source.layout for each in ran.executions for source in each.fused.sources}


@pytest.mark.parametrize("target", battery.FEATURE_SETS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_nothing_is_read_behind_the_last_element(dtype, target):
    size = np.dtype(dtype).itemsize
    with battery.on_target(target):
        for apart in range(2, MOST_APART + 2):
            whole = 64 // size * -(-N * size * apart // 64)
            memory = ending_a_page(dtype, whole)
            first = (whole - 1) % apart
            xs = memory[first::apart]  # its last element is the page's last one
            ran = battery.run("y = xs |> map(lambda x: x * 2)\nt = xs |> sum", {"xs": xs})
            assert ran.error is None
            assert layouts(ran) == {f"{apart} apart" if apart <= MOST_APART else "strided"}
            assert np.array_equal(ran.namespace["y"], xs.astype(ran.namespace["y"].dtype) * 2)
            assert ran.namespace["t"] == battery.run("xs |> sum", {"xs": xs}, on="python").value


POINTS = RNG.integers(-50, 50, (STREAMED + 5000, 3))
PAIRS = np.zeros(9000, [("a", "f8"), ("b", "i8")])
PAIRS["a"], PAIRS["b"] = RNG.random(9000), RNG.integers(0, 9, 9000)
CELLS = {
    "columns": ("a |> zip(b, c) |> map(lambda x, y, z: x * y + z)", 3),
    "step": ("dense |> step(5) |> map(lambda x: x - 1)", 5),
    "a step of what lies apart": ("a |> step(2) |> sum", 6),
    "chunks": ("dense |> chunk(3) |> map(lambda x, y, z: x * y - z)", 3),
    "large chunks": ("dense |> chunk(5) |> map(sum)", 5),
    "fields": ("pairs['a'] |> zip(pairs['b']) |> map(lambda a, b: a * b)", 2),
    "windows": ("a |> window(3) |> map(lambda x, y, z: x - y + z)", 3),
    "a filter": ("b |> filter(lambda x: x > 3)", 3),
    "running sums": ("c |> cumsum", 3),
}
NAMES = {"a": POINTS[:, 0], "b": POINTS[:, 1], "c": POINTS[:, 2], "dense": POINTS.reshape(-1), "pairs": PAIRS}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("cell", "apart"), CELLS.values(), ids=CELLS)
def test_the_values_are_those_of_dense_arrays(cell, apart, threads):
    ran = battery.run(cell, NAMES, threads=threads)
    assert ran.error is None
    assert layouts(ran) == {f"{apart} apart"}
    names = {name: each.tolist() if name in "abc" else each for name, each in NAMES.items()}
    if "dense" in cell:
        names["dense"] = NAMES["dense"].tolist()
    expected = battery.run(cell, names, threads=threads)
    assert np.array_equal(ran.value, expected.value)


def test_other_distances_make_other_loops():
    """Code takes the distance for granted, so what is kept of a cell is not for arrays with another one."""
    xs = np.arange(60_000)
    cell = "t = ys |> map(lambda x: x * 3) |> sum\nfor turn in range(3):\n    u = ys |> map(lambda x: x + 1) |> max\n"
    session = Session({}, Options(baseline=False, quiet=True))
    for ys in (xs[::3], xs[::3], xs[1::3], xs[::2], xs[::4], xs, xs[::-1], xs[::-3], xs[::20], xs[::3]):
        session.namespace["ys"] = ys
        for _ in range(3):
            session.run_cell(cell)
            assert session.namespace["t"] == 3 * ys.sum()
            assert session.namespace["u"] == ys.max() + 1


def test_a_loop_that_reads_only_some_of_its_sources_elements_runs_again():
    session = Session({"xs": np.arange(30_000)}, Options(baseline=False, quiet=True))
    for step in (2, 3, 2, 7, 9, 3, 1):
        session.namespace["k"] = step
        session.run_cell(
            "def f():\n    return xs |> step(k) |> map(lambda x: x * 2) |> sum\nt = [f() for _ in range(12)]"
        )
        assert set(session.namespace["t"]) == {2 * sum(range(0, 30_000, step))}


@pytest.mark.parametrize("source", ["xs[::-1]", "xs[::3]", "xs[1::8]", "xs[::20]", "zs", "xs"])
def test_edited_kernels_have_their_sources_laid_out_alike(source):
    xs = np.arange(150_001)
    session = Session({"xs": xs, "zs": xs * 1j})
    session.run_cell(
        f"y = {source} |> map(lambda x: x + 1)", options=Options(on="simd", baseline=False, quiet=True)
    )
    kept = choose(session.kept, "y")
    found = run_edited(kept, "llvm", text_of(kept, "llvm"))
    assert np.array_equal(found.values["y"], session.namespace["y"])
