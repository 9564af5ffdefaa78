from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import GPU, machine

from hastega_magic.cost.choose import best, sentence
from hastega_magic.cost.features import Features, PythonFeatures
from hastega_magic.cost.predict import Case, CpuModel, DeviceModel, PythonModel, overlapped
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
    return listed[best(listed, case)].predict(case)


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
    assert max(one, other) * 0.999 <= overlapped(one, other) <= (one + other) * 1.001 + 1e-300


def test_threads_between_one_and_all():
    there, case, found = machine(threads=8), Case(10**7), features(50.0, inward=8.0)
    times = [CpuModel("parallel", found, there, count).seconds(case) for count in (1, 2, 4, 8, 16)]
    assert times == sorted(times, reverse=True)
    assert times[3] == times[4], "there are no more"


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
    found = features(60.0, inward=8.0, outward=8.0, bus_in=8.0, bus_out=8.0)
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
