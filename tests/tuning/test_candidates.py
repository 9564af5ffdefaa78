"""What is tried: legal schedules alone, none twice, what the user fixed left as it is."""

from dataclasses import replace

import pytest

from hastega_magic.ir.expr import const, leaf, make
from hastega_magic.ir.kernel import Accumulate, Kernel, Store
from hastega_magic.ir.pipeline import Source
from hastega_magic.ir.schedule import VIRTUAL_LANES, Schedule, Tuned
from hastega_magic.ir.target import Target
from hastega_magic.tuning.candidates import Limits, Shape, space, varied
from hastega_magic.types import INT, STORAGES

CPU = Target("x86_64-linux", "some", frozenset(), 512, "AVX-512")
POCL = Target("opencl", "some", frozenset(), 512, "OpenCL", "opencl")
GPU = replace(POCL, features=frozenset({"groups"}))
X = leaf("load", INT, 0)
XS = Source("xs", "array", INT, None, STORAGES["int64"], "dense", 1, 1000)


def kernel(*statements):
    return Kernel((XS,), (), statements, Schedule(8, 8, prefetch=4096, stream=True))


MAP = kernel(Store(0, make("add", X, const(1)), None))
FILTER = kernel(Store(0, X, make("gt", X, const(1))))


@pytest.mark.parametrize("target", [CPU, POCL, GPU])
@pytest.mark.parametrize("body", [MAP, FILTER])
def test_all_are_legal_and_different(target, body):
    found = space(body, target, Limits(threads=4, elements=10**7))
    every = [
        *found.vectors,
        *(varied(found.own, name, value) for name, values in found.axes for value in values),
    ]
    assert found.own not in every
    assert len(set(every)) == len(every)
    assert found.possible == 1 + len(every)
    for each in every:
        assert VIRTUAL_LANES % (each.lanes * each.in_flight) == 0
        own = replace(body.schedule, lanes=each.lanes)
        made = each.over(own)
        assert VIRTUAL_LANES % made.step == 0
        assert made.grain > 0


def test_what_the_user_fixed_is_not_tried():
    fixed = space(MAP, CPU, Limits(width=8, threads=4, free_threads=False))
    assert {each.lanes for each in fixed.vectors} == {8}
    assert "threads" not in dict(fixed.axes)
    free = space(MAP, CPU, Limits(threads=4))
    assert {each.lanes for each in free.vectors} == {4, 8, 16, 32}
    assert dict(free.axes)["threads"] == (3, 2)


@pytest.mark.parametrize(
    ("target", "lanes"), [(replace(POCL, vector_bits=256), {4}), (POCL, {16}), (GPU, {1})]
)
def test_no_more_lanes_are_tried_than_a_device_has(target, lanes):
    assert {each.lanes for each in space(MAP, target, Limits(width=16)).vectors} == lanes


def test_only_what_makes_a_difference_is_tried():
    assert {name for name, _ in space(MAP, CPU, Limits(threads=4)).axes} == {
        "grain",
        "threads",
        "stream",
        "prefetch",
    }
    assert {name for name, _ in space(FILTER, CPU, Limits(threads=4)).axes} == {"threads", "prefetch"}
    alone = space(kernel(Accumulate("add", X, None)), CPU, Limits(threads=1))
    assert {name for name, _ in alone.axes} == {"prefetch"}
    assert {name for name, _ in space(MAP, POCL, Limits()).axes} == {"grain", "chunk"}
    on_gpu = space(MAP, GPU, Limits(elements=1 << 21))
    assert {each.lanes for each in on_gpu.vectors} == {1}
    assert dict(on_gpu.axes) == {"chunk": (1 << 18, 1 << 20)}


def test_the_estimate_prefers_vectors_that_fill_registers_and_hide_latency():
    short = Shape(operations=4, depth=4, live=2, native=8, registers=32, exact=False)
    assert short.cycles(8, 8) < short.cycles(8, 2) < short.cycles(8, 1) < short.cycles(4, 1)
    long = Shape(operations=400, depth=40, live=12, native=8, registers=32, exact=False)
    assert long.cycles(8, 2) < long.cycles(8, 8), "values that registers do not hold cost more than waiting"
    exact = replace(long, exact=True)
    assert exact.cycles(8, 2) < exact.cycles(16, 1)


def test_a_choice_leaves_the_rest_to_the_compiler():
    own = Schedule(8, 4, 4, False, 4096)
    assert Tuned().over(own) == own
    assert Tuned(in_flight=16).over(own).step == VIRTUAL_LANES
    assert Tuned(prefetch=0, grain=16).over(own) == Schedule(8, 4, 16, False, 0)
    assert not Tuned(stream=True).over(own).stream, "results that caches hold may not be aligned"
    assert not Tuned(stream=False).over(replace(own, stream=True)).stream
