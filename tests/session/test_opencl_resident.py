"""What stays on the device for later pipelines of a cell: counted in bytes, and never stale."""

import dataclasses
import warnings
import weakref

import numpy as np
import pytest

from hastega_magic.compiler.loops import clear_cache
from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.runtime import opencl
from hastega_magic.runtime.opencl import lane as opencl_lane
from hastega_magic.session import Options, Session

pytest.importorskip("pyopencl")

N = 100_000


@pytest.fixture(autouse=True)
def gpu(monkeypatch):
    """Every device is taken for a GPU with memory of its own."""
    described = opencl._described
    monkeypatch.setattr(
        opencl, "_described", lambda *args: dataclasses.replace(described(*args), kind="gpu", unified=False)
    )
    monkeypatch.setattr(opencl, "_DEVICES", {})
    clear_cache()


def run(text, names, **options):
    """The bytes that each pipeline sent to the device; the values are checked against the CPU's."""
    mine, theirs = (
        {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in names.items()}
        for _ in range(2)
    )
    session = Session(mine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegerOverflowWarning)
        session.run_cell(text, options=Options(on="opencl", baseline=False, quiet=True, **options))
        Session(theirs).run_cell(text, options=Options(on="parallel", baseline=False, quiet=True))
    for name, value in theirs.items():
        if isinstance(value, (int, float, np.ndarray)):
            assert np.array_equal(mine[name], value), name
    pipelines = session.last_report.pipelines
    assert {pipeline.backend for pipeline in pipelines} <= {"opencl", "python"}
    return [sum(each.bytes for each in one.phases if each.name == "to_device") for one in pipelines]


XS = {"xs": np.arange(N) - 500}
FS = {"fs": np.arange(N) / 7}


@pytest.mark.parametrize("options", [{}, {"repeat": 3}])
def test_an_input_that_a_later_pipeline_reads_is_sent_once(options):
    text = "m = fs |> mean\ny = fs |> map(lambda x: (x - m) * (x - m)) |> sum\nz = fs |> map(lambda x: x * y)"
    assert run(text, FS, **options) == [8 * N, 0, 0]
    assert opencl.device("opencl").resident == {}, "nothing is kept beyond the cell"


def test_an_input_is_kept_whatever_its_layout():
    text = "m = xs |> max\ny = xs |> map(lambda x: x * m)"
    for xs in (np.arange(3 * N)[::-3], np.arange(N, dtype=">i8"), np.arange(N).astype(np.uint8)):
        assert run(text, {"xs": xs}) == [N * xs.itemsize, 0]


def test_a_part_of_an_input_is_another_input():
    assert run("m = xs |> max\ny = xs[8:] |> map(lambda x: x * m)", XS) == [8 * N, 8 * (N - 8)]


def test_a_captured_array_is_sent_once():
    names = {"i": np.arange(N) % 1000, "table": np.arange(1000.0)}
    text = "m = i |> map(lambda k: table[k]) |> max\ny = i |> map(lambda k: table[k] - m)"
    assert run(text, names) == [8 * N + 8000, 0]
    text = "m = table |> max\ny = i |> map(lambda k: table[k] - m)"
    assert run(text, names) == [8000, 8 * N]


RESULTS = {
    "int8": "x % 100",
    "uint8": "x % 200",
    "int16": "x % 1000 - 500",
    "uint16": "x % 50_000",
    "int32": "x % 100_000 - 50_000",
    "int64": "(x % 100_000) * 1_000_003",
    "bool": "x % 3 == 0",
    "float64": "x / 7",
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_that_a_later_pipeline_reads_is_not_sent(name):
    text = f"y = xs |> map(lambda x: {RESULTS[name]})\nm = y |> max\nz = y |> map(lambda v: v * 2 - m)\nw = z |> sum"
    assert run(text, XS) == [8 * N, 0]


def test_results_are_kept_as_long_as_pipelines_read_them():
    text = "y = xs |> map(lambda x: x % 1000)\nm = y |> max\nz = y |> map(lambda v: v + m)\nn = z |> max\n"
    assert run(text + "w = z |> map(lambda v: v - n + m)\nu = y |> map(lambda v: v * n)", XS) == [8 * N, 0, 0]


def test_a_result_with_elements_beyond_the_narrow_form_is_right():
    xs = np.where(np.arange(N) == 77_000, 2**40, np.arange(N))  # one block leaves what the others fit
    run("y = xs |> map(lambda x: x * 3)\nm = y |> max\nz = y |> map(lambda v: v - m)", {"xs": xs})


def test_a_result_that_python_computed_a_part_of_is_sent():
    xs = np.where(np.arange(N) == 77_000, 0, np.arange(N))
    text = "y = xs |> map(lambda x: x if x else -(2**40) * 2**30 // 2**33)\nm = y |> max\nz = y |> map(lambda v: v - m)"
    run(text, {"xs": xs})
    run("y = fs |> map(lambda x: int(x * 1e18) % 7)\nm = y |> max\nz = y |> map(lambda v: v - m)", FS)


_Z = "z = xs |> map(lambda x: x % 100)\nm = z |> max\n"
CHANGES = {
    "a statement": "m = xs |> max\nxs[5] = 10**6\ny = xs |> map(lambda x: x - m)",
    "a call in an argument": "m = xs |> max\ny = xs |> take(change(xs) or 99_999) |> map(lambda x: x - m)",
    "a call in the source": "m = xs |> max\ny = change(xs) or xs |> map(lambda x: x - m)",
    "a barrier": "m = xs |> max\nn = xs |> take(3) |> tap(lambda _: change(xs)) |> sum\ny = xs |> map(lambda x: x - m)",
    "a statement, to a result": f"{_Z}z[5] = 10**6\ny = z |> map(lambda x: x - m)",
    "a barrier, to a result": f"{_Z}n = z |> take(3) |> tap(lambda _: change(z)) |> sum\ny = z |> map(lambda x: x - m)",
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_python_may_have_changed_is_sent_again(name):
    def change(array):
        array[7] = 123_456

    assert run(CHANGES[name], {**XS, "change": change})[-1] >= 8 * (N - 1)


DRAWN = {
    "an iterator": "n = drawn |> map(lambda v: v + 1) |> sum",
    "an iterator of many": "n = many |> map(lambda v: v + 1) |> sum",
    "an iterator, one by one": "n = drawn |> take(3) |> sum",
    "an object": "n = odd |> map(lambda v: v + 1) |> sum",
    "a subclass": "n = numbers |> map(lambda v: v + 1) |> sum",
    "a stage behind one that raises": "n = xs |> map(lambda x: 9 // (x - 500)) |> map(changing) |> take(3) |> sum",
}


@pytest.mark.parametrize("name", DRAWN)
def test_what_drawing_elements_changes_is_sent_again(name):
    def session(on):
        xs = XS["xs"].copy()

        def changing(x):
            xs[7] = 10**6 + 1
            return x

        class Odd:
            def __iter__(self):
                return map(changing, range(5))

        class Numbers(list):
            __module__ = "builtins"  # as of classes in a namespace without a name

            def __iter__(self):
                return map(changing, super().__iter__())

        names = {
            "xs": xs, "changing": changing, "drawn": map(changing, range(9)), "many": map(changing, range(70_000)),
            "odd": Odd(), "numbers": Numbers([1, 2]),
        }  # fmt: skip
        found = Session(names, Options(on=on, baseline=False, quiet=True))
        found.run_cell(f"m = xs |> max\n{DRAWN[name]}\ny = xs |> map(lambda x: x - m)")
        return names

    mine, theirs = session("opencl"), session("parallel")
    assert mine["n"] == theirs["n"]
    assert mine["y"][7] == theirs["y"][7] == 10**6 + 1 - mine["m"]


def test_what_no_later_pipeline_reads_is_not_kept(monkeypatch):
    kept = []
    monkeypatch.setattr(
        opencl.Device, "forget", lambda self: kept.append(len(self.resident)) or self.resident.clear()
    )
    assert run("y = xs |> map(lambda x: x + 1)\nz = y |> sum", XS) == [8 * N]
    assert max(kept) == 0


def test_what_does_not_fit_is_sent_again(monkeypatch):
    described = opencl._described
    monkeypatch.setattr(
        opencl, "_described", lambda *args: dataclasses.replace(described(*args), memory=3_000_000)
    )
    text = "m = xs |> max\ny = xs |> map(lambda x: x * m)"
    assert run(text, XS) == [8 * N, 8 * N]
    small = {"xs": XS["xs"][:40_000]}
    assert run(text, small) == [320_000, 0]


@pytest.fixture
def buffers(monkeypatch):
    """The bytes of all buffers on the device that were alive when one was made."""
    import pyopencl as cl

    alive, seen = {}, []

    class Counted(cl.Buffer):
        def __init__(self, context, flags, size=0, hostbuf=None):
            super().__init__(context, flags, size=size, hostbuf=hostbuf)
            if not flags & cl.mem_flags.ALLOC_HOST_PTR:
                alive[id(self)] = self.size
                weakref.finalize(self, alive.pop, id(self), None)
                seen.append(sum(alive.values()))

    monkeypatch.setattr(cl, "Buffer", Counted)
    return seen


LONG = np.arange(1_000_000)
TWICE = "m = xs |> max\ny = xs |> map(lambda x: x % 1000 - m)\nz = y |> max\nw = y |> map(lambda v: v * z)"


@pytest.mark.parametrize(("limit", "sent"), [(4, 2), (16, 2), (48, 1), (64, 1), (1024, 1)])
def test_what_fits_into_the_memory_that_is_given_is_sent_once(buffers, limit, sent):
    # Twice 8 MB while parts are joined, twice 8 MB for the results that stay, and two lanes.
    for _ in range(2):
        found = run(TWICE, {"xs": LONG}, device_memory=limit)
        assert max(buffers) <= limit << 20
        assert found[:2] == ([8 * len(LONG), 0] if sent == 1 else [8 * len(LONG)] * 2)
        if sent == 1:
            assert sum(found) == 8 * len(LONG)


@pytest.mark.parametrize("transfer", [1_500_000, 6_000_000, 7_000_000])
def test_limited_memory_suffices_whatever_the_bus_suggests(buffers, monkeypatch, transfer):
    monkeypatch.setattr(opencl_lane, "transfer_size", lambda device: transfer)
    for _ in range(2):
        run(TWICE, {"xs": LONG}, device_memory=16)
        assert max(buffers) <= 16 << 20


def test_kept_arrays_make_room_for_a_loop_that_needs_it():
    names = {"xs": LONG, "us": LONG * 3.5, "table": np.arange(1_800_000)}
    text = "m = xs |> max\ny = us |> map(lambda u: table[int(u) % 1_000_000])\nz = xs |> map(lambda x: x - m)"
    assert run(text, names, device_memory=20)[-1] == 8 * len(LONG)
    assert run(text, names, device_memory=200)[-1] == 0


def test_an_interrupted_pipeline_leaves_nothing_half_sent(monkeypatch):
    import pyopencl as cl

    session = Session(dict(FS))
    with monkeypatch.context() as patch:

        def stop(*_, **__):
            raise KeyboardInterrupt

        patch.setattr(cl, "enqueue_nd_range_kernel", stop)
        with pytest.raises(KeyboardInterrupt):
            session.run_cell("m = fs |> mean\ny = fs |> map(lambda x: x - m)", options=Options(on="opencl"))
    assert opencl.device("opencl").resident == {}
    assert run("m = fs |> mean\ny = fs |> map(lambda x: x - m)", FS) == [8 * N, 0]
