import math

import battery
import numpy as np
import pytest

from hastega_magic.calibration.cells import timed
from hastega_magic.cost.features import CLASSES, PYTHON_CLASSES, TURNS, features_of, python_features

N = 5000


def features(text, **names):
    return timed(f"found = {text}", "simd", {"math": math, **names}).features()


def test_a_range_costs_arithmetic_alone():
    found = features(f"range({N}) |> map(lambda x: x * 3 + 1) |> sum")
    assert found.bytes == found.bus_in == found.bus_out == 0
    assert found.operations["index"] == 1
    assert found.operations["fold"] == 1
    assert "load" not in found.operations
    assert set(found.operations) <= set(CLASSES)


def test_bytes_are_those_of_sources_and_results():
    xs, small = np.arange(N, dtype=np.float64), np.arange(N, dtype=np.int16)
    stored = features("xs |> map(_ * 2.0)", xs=xs)
    assert (stored.inward, stored.outward, stored.packed) == (8, 8, 0)
    packed = features("xs |> filter(_ > 3.0)", xs=xs)
    assert (packed.inward, packed.outward, packed.packed) == (8, 0, 8)
    narrow = features("small |> map(_ & 7)", small=small)
    assert (narrow.inward, narrow.outward) == (2, 8)
    assert narrow.bus_out == 1, "results cross a bus in as few bytes as their range needs"
    both = features("xs |> zip(small) |> map(lambda x, y: x * y) |> sum", xs=xs, small=small)
    assert both.inward == 10


@pytest.mark.parametrize(("stage", "inward"), [("window(5)", 8), ("chunk(5)", 40)])
def test_neighbours_come_from_memory_and_to_a_device_once(stage, inward):
    ran = battery.run(f"xs |> {stage} |> map(sum) |> max", {"xs": np.arange(N) * 0.5}, on="simd")
    found = features_of(ran.executions[-1].compiled.bodies[0].kernel, 0)
    assert (found.inward, found.bus_in) == (inward, inward)


def test_a_step_waits_for_what_depends_on_the_one_before():
    xs = np.arange(1.0, N)
    divided = features("xs |> reduce(lambda a, x: a / (x * x + 1.0), 1.0)", xs=xs).chain
    assert set(divided) == {"divide"}
    more = features("xs |> scan(lambda a, x: x / (a * a + 1.0), 1.0)", xs=xs).chain
    assert more["divide"] == divided["divide"]
    assert more["float"] > 0
    assert features("xs |> cumsum", xs=xs).chain == {}, "rows are added up side by side"
    turned = features("xs |> scan(halved, 1.0)", xs=xs, halved=halved).chain
    assert turned["turn"] == TURNS


def halved(a, x):
    while a > x:
        a /= 2
    return a + x


def test_lists_are_converted_first_and_results_last():
    found = features("xs |> map(_ + 1) |> to_list", xs=list(range(N)))
    assert found.lists == ("int64",)
    cell = timed("found = xs |> map(_ + 1) |> to_list", "simd", {"xs": list(range(N))})
    kernel = cell.run().compiled.bodies[0].kernel
    assert features_of(kernel, 1).unlisted == 1


def test_operations_grow_with_what_is_computed():
    def of(count):
        stages = " |> map(lambda x: 22 * x * (x + 1) % 6700417)" * count
        found = features(f"(range(1, {N}){stages} |> sum)")
        return found.per_element

    one, two, four = of(1), of(2), of(4)
    assert one < two < four
    assert four - two == pytest.approx(2 * (two - one), rel=0.2)


def test_a_division_of_small_floats_is_less_of_one():
    xs = np.arange(1.0, N)
    large, small = (features("xs |> map(lambda x: x / (x + 1))", xs=xs.astype(each)) for each in ("f8", "f4"))
    assert large.operations["divide"] == 1
    assert 0 < small.operations["divide"] < 1


def test_loops_inside_count_as_often_as_their_counter_says():
    def of(turns):
        text = (
            f"def f(x):\n    s = 0.0\n    for k in range({turns}):\n        s = s * 0.5 + x\n    return s\n"
        )
        cell = timed(f"{text}found = range({N}) |> map(f) |> sum", "simd")
        return cell.features()

    ten, forty = of(10), of(40)
    assert ten.inner
    assert ten.operations["turn"] == 10
    assert forty.operations["turn"] == 40
    assert forty.per_element == pytest.approx(4 * ten.per_element, rel=0.3)
    unknown = "def g(x):\n    n = x\n    while n > 1:\n        n = n // 2\n    return n\n"
    cell = timed(f"{unknown}found = range({N}) |> map(g) |> sum", "simd")
    assert cell.features().operations["turn"] == TURNS


def test_pythons_work_is_what_is_written():
    cell = timed(f"found = range({N}) |> map(lambda x: x * 3 + 1) |> filter(lambda x: x > 7) |> map(math.sqrt) |> sum",
                 "simd", {"math": math})  # fmt: skip
    found = python_features([loop.pipeline for loop in cell.loops]).operations
    assert set(found) <= set(PYTHON_CLASSES)
    assert found["integer"] == 3
    assert found["call"] == 2.5, "after a filter, half of the elements are expected"
    assert found["function"] == 0.5
    assert found["total"] == 0.5
    assert "boxed" not in found
