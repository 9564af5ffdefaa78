"""Every stage of the table alone, and pairs of them, against CPython: all dtypes, and few, odd and many elements."""

from __future__ import annotations

import itertools
import math
import zlib

import numpy as np
import pytest

from hastega_magic.session import Options, Session
from hastega_magic.syntax.stages import STAGES
from tests.compiler.battery import assert_interpreted, python, run, same, some

DTYPES = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
)
NARROW = ("int8", "int16", "int32", "uint8", "uint16", "uint32")
"""Types that are alike, of which each stage is tried with some."""
LENGTHS = (0, 1, 7, 4099)

WRITTEN: dict[str, tuple[str, ...]] = {
    "map": ("map(_ * 3)", "map(lambda *t: len(t))"),
    "filter": ("filter(_ > 3)", "filter(None)"),
    "zip": ("zip(ys)", "zip(ys, range(5))"),
    "enumerate": ("enumerate", "enumerate(3)", "enumerate(start=True)"),
    "astype": (
        "astype(float)",
        "astype('float32')",
        "astype(int)",
        "astype('int8')",
        "astype(bool)",
        "astype('u8')",
    ),
    "clip": ("clip(0, 9)", "clip(None, 2.5)", "clip(1, None)"),
    "where": ("where(_ > 3, 0)", "where(_ > 3, -_)"),
    "take": ("take(5)", "take(5000)"),
    "drop": ("drop(3)",),
    "take_while": ("take_while(_ < 60)", "take_while(None)"),
    "drop_while": ("drop_while(_ < 60)",),
    "reverse": ("reverse",),
    "step": ("step(3)",),
    "window": ("window(3)", "window(2) |> map(lambda a, b: b)"),
    "chunk": ("chunk(3)", "chunk(4) |> map(max)"),
    "scan": ("scan(lambda a, x: a if a > x else x)", "scan(lambda a, x: (a + x) % 1009, 1)"),
    "cumsum": ("cumsum",),
    "tap": ("tap(list)",),
    "reduce": ("reduce(lambda a, x: x - a)", "reduce(lambda a, x: a * 0.5 + x, 0)", "reduce(max)"),
    "sum": ("sum", "sum(3)"),
    "prod": ("take(9) |> prod",),
    "min": ("min", "min(default=0)"),
    "max": ("max",),
    "count": ("count",),
    "mean": ("mean",),
    "var": ("var", "var(ddof=1)"),
    "std": ("std",),
    "any": ("any",),
    "all": ("all",),
    "argmin": ("argmin",),
    "argmax": ("argmax",),
    "first": ("first", "first(default=-1)"),
    "last": ("last", "last(default=-1)"),
    "dot": ("dot(ys)", "dot(range(3))"),
    "bincount": ("bincount", "bincount(minlength=99)"),
    "to_list": ("to_list",),
}
"""How each stage is written in these tests; the first form is the one for pairs."""

ROUNDED = ("sum", "prod", "mean", "var", "std", "cumsum", "dot")
"""What adds floats in an order of its own."""


def source(dtype: str, length: int) -> np.ndarray:
    """Numbers that every dtype holds, with some that are rare; the same ones each time."""
    random = np.random.default_rng(length)
    if dtype == "bool":
        return random.integers(0, 2, length).astype(bool)
    if dtype.startswith("float"):
        found = (random.integers(-80, 400, length) / 4).astype(dtype)
        found[length // 2 : length // 2 + 1] = -0.0
        return found
    return random.integers(0 if dtype.startswith("u") else -20, 101, length).astype(dtype)


def alike(ours, theirs, tolerance: float) -> bool:
    """Equal; where floats are added, up to rounding."""
    if same(ours, theirs):
        return True
    if not tolerance:
        return False
    if isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        if ours.dtype.names or ours.dtype != theirs.dtype or ours.shape != theirs.shape:
            return same(ours, theirs)
        scale = float(np.max(np.abs(theirs.astype(float)), initial=1.0))
        return bool(
            np.allclose(ours.astype(float), theirs.astype(float), rtol=tolerance, atol=tolerance * scale)
        )
    if isinstance(ours, list) and isinstance(theirs, list):
        return alike(np.array(ours), np.array(theirs), tolerance)
    numbers = (float, np.floating)
    return (
        isinstance(ours, numbers)
        and isinstance(theirs, numbers)
        and math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=tolerance)
    )


def difference(text: str, dtype: str, length: int, **options) -> str:
    """What tells the compiled cell from CPython's; "" if nothing does."""
    names = {"xs": source(dtype, length), "ys": source(dtype, length)[::-1].copy()}
    theirs, ours = python(text, names), run(text, names, quiet=True, **options)
    inexact = (dtype.startswith("float") or "float" in text or "0.5" in text) and any(
        name in text for name in ROUNDED
    )
    tolerance = (
        (1e-3 if "float32" in dtype + text else 1e-11) if inexact or "var" in text or "std" in text else 0.0
    )
    where = f"{text} over {length} {dtype}"
    if type(ours.error) is not type(theirs.error) or str(ours.error) != str(theirs.error):
        return f"{where}: {ours.error!r} is not {theirs.error!r}"
    if theirs.error is None and not alike(ours.value, theirs.value, tolerance):
        return f"{where}: {ours.value!r} is not {theirs.value!r}"
    return ""


def test_every_stage_is_written():
    assert WRITTEN.keys() == STAGES.keys()


@pytest.mark.parametrize("name", WRITTEN)
def test_alone(name):
    first, *others = WRITTEN[name]
    cases = [(first, dtype) for dtype in DTYPES if dtype not in NARROW]
    cases += some(((first, dtype) for dtype in NARROW), every=3) + some(
        itertools.product(others, DTYPES), every=3
    )
    lengths = itertools.cycle(LENGTHS)
    differences = [difference(f"xs |> {text}", dtype, next(lengths), threads=3) for text, dtype in cases]
    assert [each for each in differences if each] == []


@pytest.mark.parametrize("name", [name for name in WRITTEN if name != "tap"])
def test_the_same_on_a_device(name):
    """Bit for bit what the CPU's loops give."""
    for dtype, length in (("float64", 4099), ("int32", 8191), ("float32", 7)):
        names = {"xs": source(dtype, length), "ys": source(dtype, length)[::-1].copy()}
        text = f"xs |> {WRITTEN[name][0]}"
        here, there = run(text, names, quiet=True), run(text, names, on="opencl", quiet=True)
        assert type(here.error) is type(there.error)
        assert same(here.value, there.value), f"{text} over {dtype}: {there.value!r} is not {here.value!r}"


@pytest.mark.parametrize("name", [name for name in WRITTEN if not STAGES[name].sink])
def test_in_front_of_every_other(name):
    found = []
    for other in (other for _, other in some(((name, other) for other in WRITTEN), every=2)):
        seed = zlib.crc32(f"{name} {other}".encode())
        dtype, length = DTYPES[seed % len(DTYPES)], LENGTHS[seed // 16 % len(LENGTHS)]
        text = f"xs |> {WRITTEN[name][0]} |> {WRITTEN[other][0]}"
        found.append(difference(text, dtype, length, threads=3))
    assert [each for each in found if each] == []


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("name", [name for name in WRITTEN if name != "tap"])
def test_the_first_form_is_compiled(name, dtype):
    if (name, dtype) == ("bincount", "float64"):
        pytest.skip("counts no floats")
    ran = run(f"xs |> {WRITTEN[name][0]}", {"xs": abs(source(dtype, 4098)), "ys": source(dtype, 4098)})
    assert ran.error is None
    (pipeline,) = ran.report["pipelines"]
    assert pipeline["barriers"] == []
    assert pipeline["loops"] >= 1
    if len(ran.executions) == 1 and not ran.executions[0].fused.outputs[0].sink.kind.startswith("any"):
        assert_interpreted(ran, lambda ours, theirs: alike(ours, theirs, 0.0))


@pytest.mark.parametrize("on", ["parallel", "python", "numpy"])
@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("[] |> map(lambda x: x + 1)", "int64"),
        ("[] |> map(lambda x: x > 1)", "bool"),
        ("[5] |> filter(_ > 9)", "int64"),
        ("[5] |> filter(_ > 9) |> map(_ / 2)", "float64"),
        ("range(3) |> filter(_ > 9) |> map(_ / 2)", "float64"),
        ("[5, 7] |> take_while(lambda t: t < 3)", "int64"),
        ("[5, 7] |> take_while(lambda t: t < 3) |> map(_ > 1)", "bool"),
        ("[True] |> filter(lambda x: not x)", "bool"),
        ("[1j] |> take(0)", "complex128"),
        ("[1, 2.5] |> filter(_ > 9)", "float64"),
        ("[5] |> take(0) |> enumerate", [("f0", "<i8"), ("f1", "<i8")]),
        ("[1] |> chunk(2) |> filter(lambda c: c is None)", "i8,i8"),
        ("[1] |> take(0) |> astype('int8')", "int8"),
        ("['a'] |> take(0)", "float64"),
        ("[] |> cumsum", "int64"),
        ("[True] |> take(0) |> cumsum", "int64"),
        ("[1.5] |> filter(_ > 9) |> cumsum", "float64"),
        ("[] |> cumsum |> map(_ > 3)", "bool"),
    ],
)
def test_results_without_elements_have_one_type_on_all_back_ends(text, dtype, on):
    session = Session({})
    session.run_cell(f"y = {text}", options=Options(on=on, baseline=False))
    assert session.namespace["y"].dtype == np.dtype(dtype)


@pytest.mark.parametrize("on", ["parallel", "python", "opencl"])
def test_of_bounds_that_cross_the_upper_one_holds(on):
    """As `np.clip` and `min(max(x, lo), hi)` have it."""
    if on == "opencl":
        pytest.importorskip("pyopencl")
    numbers = (None, -3, 2, 5.5, 2.25, math.nan, True, -0.0)
    sources = (range(-5, 9), [0.5, -2.5, math.nan, 7.0], np.linspace(-3, 6, 11).astype(np.float32))
    session = Session({}, Options(on=on, baseline=False, quiet=True))
    for source, lo, hi in itertools.product(sources, numbers, numbers):
        if lo is not None and hi is not None and not lo > hi:
            continue
        session.namespace |= {"xs": source, "lo": lo, "hi": hi}
        session.run_cell("y = xs |> clip(lo, hi) |> to_list")
        for x, found in zip(source, session.namespace["y"], strict=True):
            least = lo if lo is not None and x < lo else x
            wanted = hi if hi is not None and least > hi else least
            assert found == wanted or (math.isnan(found) and math.isnan(wanted)), (source, lo, hi)
