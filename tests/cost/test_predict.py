from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import GPU, machine

from hastega_magic.cost.choose import sentence
from hastega_magic.cost.features import Features, PythonFeatures
from hastega_magic.cost.machine import Curve
from hastega_magic.cost.overlap import overlapped, parts
from hastega_magic.cost.predict import ALONE, Case, CpuModel, DeviceModel, PythonModel
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.report import units


def features(operations=4.0, inward=0.0, outward=0.0, **more):
    return Features({"simple": operations, "index": 1.0, "fold": 1.0}, 8, inward, outward, 0.0, **more)


def models(found, there, python=True):
    listed = [CpuModel("parallel", found, there, there.identity.threads), CpuModel("simd", found, there, 1)]
    listed += [DeviceModel(f"opencl:{each.number}", found, there, each) for each in there.devices]
    work = PythonFeatures({"integer": found.per_element, "element": 1.0, "call": 1.0})
    return [*listed, PythonModel(work, there)] if python else listed


def chosen(found, there, case):
    listed = models(found, there)
    return min((model.predict(case) for model in listed), key=lambda each: each.seconds)


def test_few_elements_are_pythons_more_are_one_threads_and_many_are_all_threads():
    there = machine()
    assert chosen(features(), there, Case(10)).backend == "python"
    some = chosen(features(), there, Case(10_000))
    assert (some.backend, some.threads) == ("parallel", 1), "few blocks run on the calling thread"
    assert chosen(features(), there, Case(80_000)).backend == "simd", (
        "threads take longer to start than it saves"
    )
    many = chosen(features(), there, Case(10_000_000))
    assert (many.backend, many.threads, many.bound) == ("parallel", 4, "arithmetic")


def test_a_device_gets_what_computes_much_and_moves_little():
    there, case = machine(GPU), Case(10_000_000)
    light = features(2.0, inward=8.0, outward=8.0, bus_in=8.0, bus_out=8.0)
    assert chosen(light, there, case).backend == "parallel"
    device = DeviceModel("opencl:0", light, there, GPU).predict(case)
    assert device.bound == "transfer"
    assert chosen(replace(light, operations={"simple": 4000.0}), there, case).backend == "opencl:0"
    made_there = features(20.0)
    assert chosen(made_there, there, Case(100_000_000)).backend == "opencl:0", "a range is not sent"
    assert chosen(made_there, there, Case(1_000)).backend != "opencl:0"


def test_what_lies_on_the_device_need_not_be_sent():
    there = machine(GPU)
    found = features(20.0, inward=8.0, bus_in=8.0)
    listed = models(found, there, python=False)
    sent, lies = Case(10_000_000), Case(10_000_000, resident=1.0)
    assert listed[2].seconds(sent) > listed[0].seconds(sent)
    assert listed[2].seconds(lies) < listed[0].seconds(lies)


@pytest.mark.parametrize(
    ("found", "n", "bound"),
    [
        (features(200.0), 10**7, "arithmetic"),
        (features(1.0, inward=8.0, outward=8.0), 10**7, "memory"),
        (features(1.0, lists=("int64",)), 10**6, "conversion"),
        (features(1.0), 100, "launch"),
    ],
)
def test_the_roofline(found, n, bound):
    assert CpuModel("simd", found, machine(), 1).predict(Case(n)).bound == bound


@pytest.mark.parametrize("run", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("kernel", [0.5, 1.0, 3.0])
def test_a_correction_keeps_the_whole_and_the_kernel(run, kernel):
    there = machine(GPU)
    found = features(20.0, inward=8.0, bus_in=8.0, lists=("int64",))
    for model in models(found, there):
        bare = model.predict(Case(100_000))
        after = bare.corrected(run, kernel)
        assert after.seconds == pytest.approx(bare.seconds * run)
        wanted = min(bare.phase("kernel") * kernel, after.seconds)
        assert after.phase("kernel") == pytest.approx(wanted)
        assert [each.name for each in after.phases] == [each.name for each in bare.phases]
        assert all(each.seconds >= 0 for each in after.phases)
        if not model.backend.startswith("opencl"):
            assert sum(each.seconds for each in after.phases) == pytest.approx(after.seconds)


sizes = st.integers(0, 10**9)
made = st.builds(
    features, st.floats(0, 1000), st.sampled_from([0.0, 4.0, 8.0, 24.0]), st.sampled_from([0.0, 8.0]),
    lists=st.sampled_from([(), ("int64",), ("float64", "bool")]), bus_in=st.sampled_from([0.0, 8.0]),
    unlisted=st.integers(0, 1), inner=st.booleans(),
)  # fmt: skip


@given(made, sizes, sizes, st.floats(0, 1e9), st.integers(1, 9))
def test_predictions_are_consistent(found, n, more, fresh, threads):
    there = machine(GPU, replace(GPU, number=1, shared=True), threads=threads)
    small, large = sorted((n, more))
    for model in models(found, there):
        one, two = model.predict(Case(small)), model.predict(Case(large))
        assert one.seconds == pytest.approx(model.seconds(Case(small)))
        assert one.seconds > 0
        together = sum(phase.seconds for phase in one.phases)
        assert together >= one.seconds * 0.999
        if not model.backend.startswith("opencl"):
            assert together == pytest.approx(one.seconds), "on the CPU, one phase follows the other"
        if threads == 1 or model.backend != "parallel" or (small > 10**6):
            assert two.seconds >= one.seconds * 0.999, "more elements take longer"
        assert model.seconds(Case(small, fresh=fresh)) >= one.seconds * 0.999, "new memory costs"
    for device in models(found, there)[2:4]:
        assert device.at_least(Case(large)) <= device.seconds(Case(large)) * 1.001


@given(st.floats(0, 1e3), st.floats(0, 1e3))
def test_overlapping_is_between_the_longer_and_the_sum(one, other):
    together = overlapped(one, other)
    assert max(one, other) * 0.999 <= together <= (one + other) * 1.001 + 1e-300
    a, b = parts(one, other)
    assert one * a + other * b == pytest.approx(together)


def test_threads_between_one_and_all():
    there, case, found = machine(threads=8), Case(10**7), features(50.0, inward=8.0)
    times = [CpuModel("parallel", found, there, count).seconds(case) for count in (1, 2, 4, 8, 16)]
    assert times == sorted(times, reverse=True)
    assert times[3] == times[4], "there are no more"


def test_threads_lose_time_until_all_are_at_work():
    at_once, slowly = machine(), machine(ramp=1e-3)
    found = features(50.0)
    models = [CpuModel("parallel", found, there, 4) for there in (at_once, slowly)]
    lost = [
        slow.seconds(Case(n)) - quick.seconds(Case(n))
        for quick, slow in [models]
        for n in (10**5, 10**6, 10**9)
    ]
    assert 0 < lost[0] < lost[1] < lost[2] < 1e-3
    assert lost[2] > 0.9e-3
    few = [model.seconds(Case(1000)) for model in models]
    assert few[0] == few[1], "few blocks are the calling thread's"


def test_one_thread_is_the_calling_one_up_to_some_milliseconds():
    there = machine()
    alone = CpuModel("simd", features(), there, 1)
    short, long = alone.predict(Case(ALONE * BLOCK)), alone.predict(Case(ALONE * BLOCK + 1))
    assert long.seconds - short.seconds == pytest.approx(there.cpu.one.start, rel=0.01)
    inner = CpuModel("simd", features(inner=True), there, 1)
    assert inner.seconds(Case(1)) > alone.seconds(Case(1)), "what may take long can be interrupted"


def test_what_waits_for_the_one_before_is_not_shared_among_threads():
    there, case = machine(threads=4), Case(10**7)
    alone, waiting = features(), features(chain={"divide": 1.0})

    def seconds(found, threads):
        return CpuModel("parallel", found, there, threads).predict(case)

    least = case.n * there.cpu.classes["divide"]
    assert seconds(alone, 4).seconds < least
    assert seconds(waiting, 4).seconds > least
    assert seconds(waiting, 1).seconds > seconds(waiting, 4).seconds
    assert seconds(waiting, 4).bound == "arithmetic"


def test_divisions_hide_behind_other_operations():
    there, case = machine(), Case(10**6)

    def seconds(**operations):
        found = Features({name: float(count) for name, count in operations.items()}, 8, 0.0, 0.0, 0.0)
        return CpuModel("simd", found, there, 1).seconds(case)

    both, apart = seconds(simple=10, divide=10), seconds(simple=20)
    assert seconds(simple=10) < both < apart


def test_a_device_needs_a_kernel_for_each_chunk_and_few_blocks_take_as_long_as_one():
    there = machine(GPU)
    moving = DeviceModel("opencl:0", features(4.0, inward=8.0, bus_in=8.0), there, GPU)
    one, many = (moving.predict(Case(n)).phase("kernel") for n in (500_000, 5_000_000))
    assert many == pytest.approx(10 * one, rel=0.1)
    made = DeviceModel("opencl:0", features(400.0), there, GPU)
    few, more = (made.predict(Case(n)).phase("kernel") for n in (BLOCK, 20 * BLOCK))
    assert few == more > 2 * GPU.kernel
    assert made.predict(Case(10**9)).phase("kernel") > 2 * few
    packing = replace(features(4.0), operations={"pack": 1.0}, packed=8.0)
    least = DeviceModel("opencl:0", packing, there, GPU).predict(Case(1)).phase("kernel")
    assert least == pytest.approx(2 * GPU.kernel + BLOCK * 1e-10 / 8), (
        "what filters leave is moved by kernels of their own"
    )


def test_objects_of_long_lists_lie_in_memory():
    there = machine()
    curve = Curve(((1e4, 5e-9), (1e6, 2e-8)))
    there = replace(there, cpu=replace(there.cpu, lists={"int64": curve}, unlist=curve))
    found = CpuModel("simd", features(lists=("int64",), unlisted=1), there, 1)
    short, long = found.predict(Case(10_000)), found.predict(Case(1_000_000))
    for phase in ("convert_in", "convert_out"):
        assert short.phase(phase) == pytest.approx(5e-5)
        assert long.phase(phase) == pytest.approx(2e-2)


def test_what_a_device_writes_has_a_price_of_its_own():
    slow = replace(GPU, shared=True, stored=1e-9)
    there, case = machine(slow), Case(10**7)
    reading, writing = features(1.0, inward=8.0), features(1.0, outward=8.0)
    assert DeviceModel("opencl:0", reading, there, slow).seconds(case) < 1e-2
    found = DeviceModel("opencl:0", writing, there, slow).predict(case)
    assert found.bound == "memory"
    assert found.seconds == pytest.approx(8e-2, rel=0.01)


def test_the_sentence_has_the_figures():
    there, case = machine(GPU), Case(33_554_432)
    found = features(40.0, inward=8.0, outward=8.0, bus_in=8.0, bus_out=8.0)
    predictions = [model.predict(case) for model in models(found, there)]
    first = min(predictions, key=lambda each: each.seconds)
    rest = [each for each in predictions if each is not first]
    said = sentence(first, rest, found, case, there, units.seconds)
    assert said.startswith("4 threads: predicted ")
    assert "A GPU" in said
    assert "its transfers" in said
    assert "break-even only from about" in said
    assert said.endswith("operations an element.")
    small = PythonModel(PythonFeatures({"integer": 1.0}), there).predict(Case(10))
    assert sentence(small, [], found, Case(10), there, units.seconds).startswith("Plain Python: predicted ")
