"""How loops are scheduled: what is asked for ahead, and how many vectors are in flight."""

from __future__ import annotations

from dataclasses import replace

import battery
import numpy as np
import pytest

from hastega_magic.compiler.loops import cached_loops, clear_cache
from hastega_magic.ir.target import Target, describe
from hastega_magic.passes.schedule import PREFETCH, _schedule
from hastega_magic.session import Options, Session

AVX512 = frozenset({"avx512f", "avx512dq", "avx512vl", "avx512bw", "avx2", "fma"})
XEON = describe("x86_64-unknown-linux-gnu", "sapphirerapids", AVX512)
ZEN = replace(XEON, cpu="znver4")


def body(text):
    session = Session(
        {"xs": np.arange(20), "ys": np.arange(20.0)}, Options(on="simd", baseline=False, quiet=True)
    )
    session.run_cell(f"t = {text}")
    loop = cached_loops()[-1]
    return loop.bodies[loop.first].kernel.body


@pytest.mark.parametrize(
    ("text", "in_flight"),
    [
        ("xs |> sum", 4),
        ("xs |> filter(_ % 2 == 0) |> map(_ * _) |> sum", 4),
        ("xs |> max", 4),
        ("ys |> sum", 8),  # the lanes of the tree
        ("ys |> max", 8),
    ],
)
def test_large_loops_that_only_read_ask_shortly_before_on_zen(text, in_flight):
    large, small = (_schedule(body(text), ZEN, None, each) for each in (True, False))
    assert (large.prefetch, large.in_flight) == (384, in_flight)
    assert (small.prefetch, small.in_flight) == (0, 8)
    for each in (True, False):
        elsewhere = _schedule(body(text), XEON, None, each)
        assert (elsewhere.prefetch, elsewhere.in_flight) == (PREFETCH, 8)


def test_large_folds_of_floats_from_several_places_ask_for_nothing_on_zen():
    several, one = (_schedule(body("ys |> sum"), ZEN, None, True, each) for each in (True, False))
    assert (several.prefetch, several.in_flight) == (0, 8)
    assert several == replace(one, prefetch=0)
    ints = [_schedule(body("xs |> sum"), ZEN, None, True, each) for each in (True, False)]
    assert ints[0] == ints[1]


@pytest.mark.parametrize(
    ("text", "prefetch"),
    [
        ("ys |> dot(zs)", 0),
        ("ys |> dot(ys)", 384),
        ("ys |> enumerate |> map(lambda i, y: i * y) |> sum", 384),
        ("ys |> window(2) |> map(sum) |> sum", 384),
    ],
)
def test_what_is_read_in_several_places(text, prefetch, monkeypatch):
    names = {"ys": np.arange(1e6), "zs": np.arange(1e6)}
    session = Session(names, Options(on="simd", baseline=False, quiet=True))
    monkeypatch.setattr(Target, "reads_past_caches", True)
    clear_cache()
    session.run_cell(f"t = {text}")
    loop = cached_loops()[-1]
    assert loop.bodies[loop.first].kernel.schedule.prefetch == prefetch
    clear_cache()


@pytest.mark.parametrize("text", ["xs |> map(_ + 1)", "xs |> filter(_ > 3)", "xs |> cumsum"])
def test_loops_that_write_are_scheduled_alike(text):
    for large in (True, False):
        assert _schedule(body(text), ZEN, None, large) == _schedule(body(text), XEON, None, large)


def test_chains_of_fused_multiply_adds_keep_eight_vectors_in_flight_without_avx512():
    plain = describe("x86_64-unknown-linux-gnu", "haswell", frozenset({"avx2", "fma"}))
    with battery.on_target("avx2"):
        steps = body("range(1, 500) " + "|> map(22 * _ * (_ + 1) % 6700417) " * 10)
        branches = body("xs |> map(" + " + ".join(f"(_ if _ > {n} else {n})" for n in range(20)) + ")")
    assert _schedule(steps, plain, None, False).in_flight == 8
    assert _schedule(branches, plain, None, False).in_flight == 1
