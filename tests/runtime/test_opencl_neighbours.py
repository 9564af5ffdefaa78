"""Sources that lie in one another, as those of windows: sent to a device once, and the same values."""

import dataclasses

import numpy as np
import pytest

from hastega_magic.compiler.loops import clear_cache
from hastega_magic.runtime import opencl
from hastega_magic.session import Options, Session

pytest.importorskip("pyopencl")

from hastega_magic.runtime.opencl.beside import FURTHEST, neighbours

N = 100_000
XS = np.arange(N) % 977


def shifts(*arrays):
    """By the number of the first array of each group, what lies behind it, and how far."""
    found = neighbours(dict(enumerate(arrays)))
    for each in found:
        for number, shift in [(each.first, 0), *each.shifts.items()]:
            own = arrays[number]
            assert np.array_equal(each.elements[shift : shift + len(own)], own)
        assert len(each.elements) == len(arrays[each.first]) + each.more
    return {each.first: dict(each.shifts) for each in found}


def test_windows_lie_in_one_array():
    assert shifts(XS[:-2], XS[1:-1], XS[2:]) == {0: {1: 1, 2: 2}}
    assert shifts(XS[2:], XS[:-2], XS[1:-1]) == {1: {2: 1, 0: 2}}
    assert shifts(XS[::-1][:-1], XS[::-1][1:]) == {0: {1: 1}}
    assert shifts(XS[::3][:-1], XS[::3][1:]) == {0: {1: 1}}
    assert shifts(XS, XS) == {0: {1: 0}}
    assert shifts(XS[:10], XS[10:20]) == {0: {1: 10}}


def test_chunks_and_other_arrays_do_not():
    assert shifts(XS[0::3][:100], XS[1::3][:100], XS[2::3][:100]) == {}
    assert shifts(XS[:10], XS[11:21]) == {}
    assert shifts(XS, XS.copy()) == {}
    assert shifts(XS[:-1], XS.view(np.uint64)[1:]) == {}
    assert shifts(XS[: -FURTHEST - 1], XS[FURTHEST + 1 :]) == {}
    assert shifts(XS[:0], XS[1:1]) == {}
    assert shifts(np.broadcast_to(XS[:1], 5), np.broadcast_to(XS[:1], 5)) == {}
    odd = np.zeros(8 * N + 1, np.uint8)
    assert shifts(odd[:-1].view(np.int64), odd[1:].view(np.int64)) == {}


def test_several_groups_are_told_apart():
    others = XS * 2
    arrays = XS[:-1], others[:-1], XS[1:], others[1:], np.ones(N - 1)
    assert shifts(*arrays) == {0: {2: 1}, 1: {3: 1}}
    rows = [XS[k::2][j : N // 2 - 2 + j] for j in range(2) for k in range(2)]
    assert shifts(*rows) == {0: {2: 1}, 1: {3: 1}}


@pytest.fixture
def sent(monkeypatch):
    """Bytes that a cell sends to a device with memory of its own; its values are the CPU's."""
    described = opencl._described
    monkeypatch.setattr(
        opencl, "_described", lambda *args: dataclasses.replace(described(*args), kind="gpu", unified=False)
    )
    monkeypatch.setattr(opencl, "_DEVICES", {})
    clear_cache()

    def run(text, names, **options):
        mine, theirs = dict(names), dict(names)
        session = Session(mine, Options(on="opencl", baseline=False, **options))
        session.run_cell(text)
        Session(theirs, Options(on="parallel", baseline=False, quiet=True)).run_cell(text)
        assert np.array_equal(mine["y"], theirs["y"])
        pipelines = session.last_report.pipelines
        assert {pipeline.backend for pipeline in pipelines} == {"opencl"}
        return sum(each.bytes for one in pipelines for each in one.phases if each.name == "to_device")

    return run


SOURCES = {
    "ints": XS,
    "floats": np.sin(XS),
    "narrow": XS.astype(np.int16),
    "backwards": XS[::-1],
    "strided": np.repeat(XS, 2)[::2],
    "swapped": XS.astype(">i8"),
    "bools": XS % 3 == 0,
    "list": XS.tolist(),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("stages", ["map(max) |> sum", "map(lambda w: w[4] - w[0] * 2)"])
def test_a_window_sends_each_element_once(sent, source, stages):
    data = SOURCES[source]
    size = np.asarray(data).itemsize
    assert sent(f"y = xs |> window(5) |> {stages}", {"xs": data}) == N * size


def test_chunks_of_a_launch_send_what_lies_behind_them(sent):
    xs = np.arange(3_000_000) % 1009
    moved = sent("y = xs |> window(9) |> map(lambda w: w[8] * 3 + w[0]) |> sum", {"xs": xs}, threads=2)
    assert 8 * len(xs) <= moved <= 8 * len(xs) * 1.01


def test_several_arrays_and_shifts_of_one(sent):
    names = {"xs": XS, "zs": XS * 3 + 1}
    assert sent("y = xs |> zip(xs[1:], zs, zs[2:]) |> map(lambda a, b, c, d: a * b - c * d)", names) == (
        8 * (2 * N - 1)
    )


def test_with_little_memory_each_is_sent_by_itself(sent):
    assert sent("y = xs |> window(3) |> map(max) |> sum", {"xs": XS}, device_memory=1) == 3 * 8 * (N - 2)


def test_what_later_pipelines_read_is_no_reason_to_send_each_by_itself(sent):
    text = "z = xs |> window(5) |> map(max) |> sum\ny = xs |> window(3) |> map(min)"
    assert sent(text, {"xs": XS}) == 2 * 8 * N
