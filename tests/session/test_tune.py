"""`--tune`: the same results whatever is tried, the fastest remembered, by a clock that the tests wind."""

import itertools
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from outcomes import assigned

import hastega_magic
from hastega_magic.compiler.choice import schedule_store, tune
from hastega_magic.compiler.loops import cached_loops, clear_cache
from hastega_magic.errors import UsageError
from hastega_magic.ir.schedule import Tuned
from hastega_magic.report import Report
from hastega_magic.runtime.loop_result import LoopResult
from hastega_magic.session import Options, Session
from tests.session.kernels import as_another_kernel

RNG = np.random.default_rng(8)
NAMES = {
    "np": np,
    "x": np.arange(40_007) - 15_000,
    "f": RNG.normal(size=40_003),
    "s": RNG.normal(size=20_003).astype(np.float32),
    "mixed": np.where(np.arange(30_000) == 21_000, 2**62, np.arange(30_000)),
    "numbers": [int(each) for each in RNG.integers(-99, 99, 20_000)],
    "zeros": np.where(np.arange(20_000) == 17_003, 0, 7),
    "table": RNG.normal(size=100),
    "index": RNG.integers(0, 100, 20_001),
    "strided": np.arange(60_000)[::-3],
}
CELL = "y = x |> map(lambda v: v * v % 1000 - 5)"


pytestmark = pytest.mark.usefixtures("own_store")


class Clock:
    """Times come from a table by lanes and vectors in flight; each run, and each look at the clock, moves it."""

    def __init__(self, monkeypatch, times=None, run=0.0):
        self.now, self.times, self.runs = 0.0, times or {}, []
        ran = tune._Tuner._run

        def timed(tuner, candidate):
            result = ran(tuner, candidate)
            result.kernel_seconds = self.times.get((candidate.lanes, candidate.in_flight), 1e-3)
            self.runs.append(candidate)
            self.now += run
            return result

        monkeypatch.setattr(tune._Tuner, "_run", timed)
        monkeypatch.setattr(tune, "time", SimpleNamespace(perf_counter=lambda: self.now))


def run(text, names=NAMES, **options):
    return assigned(text, names, **{"on": "parallel", **options})


def own_vectors(**options):
    """Lanes and vectors in flight that the compiler gives the cell's loop on this machine."""
    _, _, pipeline = run(CELL, **options)
    clear_cache()
    return pipeline["vector"]["lanes"], pipeline["vector"]["in_flight"]


def same_bits(a, b):
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
    return type(a) is type(b) and repr(a) == repr(b)


TURNS = """
def turns(v):
    n = 0
    while v > 1:
        v = v // 2 if v % 2 == 0 else 3 * v + 1
        n += 1
    return n
y = range(1, 5_000) |> map(turns)
"""


@pytest.mark.parametrize(
    ("width", "text"),
    [
        # Lanes, too, where they could change the result; elsewhere test_widths.py has them.
        (0, "y = x |> filter(lambda v: v % 3 == 0) |> map(lambda v: v * 2)\nz = x |> sum"),
        (
            0,
            "y = f |> sum\nz = f |> map(lambda v: -v if v > 0 else v * 0) |> min\nw = s |> filter(_ > 0) |> prod",
        ),
        (8, "y = mixed |> filter(lambda v: v % 7 == 0) |> map(lambda v: v * 3)"),
        (8, "y = numbers |> map(lambda v: v + 1)"),
        (8, "y = zeros |> map(lambda v: 10 // v)"),
        (8, "y = index |> map(lambda i: table[i])\nz = strided |> map(lambda v: v > 7)"),
        (0, "y = f |> cumsum\nz = range(1, 21) |> prod"),
        (8, TURNS),
    ],
)
def test_every_candidate_gives_what_the_first_gives(width, text, monkeypatch):
    Clock(monkeypatch)  # which stands still, so that all are tried
    made, said, pipeline = run(text, tune=True, width=width)
    plain, told, _ = run(text, width=width)
    schedule_store.forget()
    assert said == told
    assert all(same_bits(made[name], plain[name]) for name in plain)
    if "tuning" in pipeline:
        tried = pipeline["tuning"]["tried"]
        assert len(tried) == pipeline["tuning"]["possible"] > (3 if width else 8)
        assert not [each["note"] for each in tried if each["note"]]


def test_schedules_of_a_few_blocks_have_the_one_thread_that_runs(monkeypatch):
    Clock(monkeypatch)
    for text, several in ((CELL, False), (CELL.replace("x |>", "range(16 * 4096 + 1) |>"), True)):
        tried = run(text, tune=True, threads=2)[2]["tuning"]["tried"]
        assert [each["schedule"] for each in tried if "2 threads" in each["schedule"]] == [
            each["schedule"] for each in tried if several
        ]


def test_the_fastest_is_taken_shown_and_remembered(monkeypatch):
    lanes, in_flight = own_vectors()
    slow = {(lanes, in_flight): 4e-3, (lanes, in_flight // 2): 4e-3, (2 * lanes, in_flight // 2): 2e-3}
    Clock(monkeypatch, slow, run=1e-4)
    made, _, pipeline = run(CELL, tune=True, width=0)
    tuning = pipeline["tuning"]
    own = tuning["tried"][0]
    chosen = [each for each in tuning["tried"] if each["chosen"]]
    assert len(chosen) == 1
    best = min(each["seconds"] for each in tuning["tried"])
    assert chosen[0]["seconds"] == best < own["seconds"]
    assert tuning["ended"] == "complete"
    assert tuning["elements"] == 40_007
    assert np.array_equal(made["y"], NAMES["x"] ** 2 % 1000 - 5)
    lanes = pipeline["vector"]["lanes"], pipeline["vector"]["in_flight"]
    assert chosen[0]["schedule"].startswith(f"{lanes[0]} lanes × {lanes[1]}"), (
        "the run that is shown is tuned"
    )

    for other in (False, True):
        if other:  # as another kernel finds it
            as_another_kernel()
        _, _, pipeline = run(CELL)
        again = pipeline["tuning"]
        assert (pipeline["vector"]["lanes"], pipeline["vector"]["in_flight"]) == lanes
        assert again["earlier"]
        assert [each["chosen"] for each in again["tried"]] == [False, True]
        assert again["tried"][1]["schedule"] == chosen[0]["schedule"]
    report = Report.from_dict({"pipelines": [pipeline]})
    assert any("Tuned on" in each and "as fast as" in each for each in pipeline["why"])
    assert chosen[0]["schedule"] in report.to_text(200)
    assert chosen[0]["schedule"] in report.to_html()
    assert Report.from_dict(report.to_dict()) == report

    _, _, other = run("y = x |> map(lambda v: v * v % 1001 - 5)")
    assert "tuning" not in other, "what was found holds for that loop"
    _, _, other = run(CELL, on="simd")
    assert "tuning" not in other, "and that back end"


def test_nothing_faster_is_remembered_too(monkeypatch):
    Clock(monkeypatch)
    _, _, pipeline = run(CELL, tune=True)
    assert pipeline["tuning"]["tried"][0]["chosen"]
    _, _, pipeline = run(CELL)
    assert len(pipeline["tuning"]["tried"]) == 1
    assert any("nothing was faster" in each for each in pipeline["why"])


def test_what_the_user_fixed_stays(monkeypatch):
    clock = Clock(monkeypatch)
    _, _, pipeline = run(CELL, tune=True, width=4, threads=2)
    assert {each.lanes for each in clock.runs} == {4}
    assert {each.threads for each in clock.runs} == {0}
    assert pipeline["vector"]["lanes"] == 4
    _, _, pipeline = run(CELL)
    assert "tuning" not in pipeline, "without the restriction, others might be faster"


def test_another_result_is_never_taken(monkeypatch):
    Clock(monkeypatch, {own_vectors(): 4e-3})
    monkeypatch.setattr(tune, "alike", lambda *results: False)
    _, _, pipeline = run(CELL, tune=True)
    own, *others = pipeline["tuning"]["tried"]
    assert own["chosen"]
    assert all("another result" in each["note"] and not each["seconds"] for each in others)


def test_the_time_ends_the_search(monkeypatch):
    clock = Clock(monkeypatch, run=0.05)
    _, _, pipeline = run(CELL, tune=True, tune_seconds=1.0)
    assert pipeline["tuning"]["ended"] == "time"
    assert 1 < len(pipeline["tuning"]["tried"]) < pipeline["tuning"]["possible"]
    assert clock.now <= 1.3


def test_an_interrupt_keeps_the_best_so_far(monkeypatch):
    clock = Clock(monkeypatch, {own_vectors(): 4e-3})
    measure, count = tune._Tuner.measure, itertools.count()

    def interrupted(tuner, candidate):
        if next(count) == 12:
            raise KeyboardInterrupt
        return measure(tuner, candidate)

    monkeypatch.setattr(tune._Tuner, "measure", interrupted)
    session = Session(dict(NAMES))
    with pytest.raises(KeyboardInterrupt):
        session.run_cell(CELL, options=Options(on="parallel", baseline=False, tune=True))
    assert "y" not in session.namespace
    told = session.last_report.to_dict()["pipelines"][0]["tuning"]
    assert told["ended"] == "interrupted"
    best = next(each for each in told["tried"] if each["chosen"])
    assert best != told["tried"][0]
    assert len(clock.runs) > 4
    _, _, pipeline = run(CELL)
    assert pipeline["tuning"]["tried"][1]["schedule"] == best["schedule"]
    schedule_store.forget()
    clear_cache()
    _, _, pipeline = run(CELL)
    assert pipeline["tuning"]["ended"] == "interrupted", "another process knows it as well"
    assert any("with --tune, cut short: " in sentence for sentence in pipeline["why"])


def test_intervals_that_no_clock_can_measure_are_none(monkeypatch):
    own = own_vectors(width=8)
    unmeasured = [(8, many) for many in (8, 4, 2, 1) if (8, many) != own][:2]
    clock = Clock(monkeypatch, dict(zip(unmeasured, (-3.0, 0.0), strict=True)))
    back = itertools.count(10**6, -7)
    monkeypatch.setattr(tune, "time", SimpleNamespace(perf_counter=lambda: float(next(back))))
    _, (error, _), pipeline = run(CELL, tune=True, width=8)
    tuning = pipeline["tuning"]
    assert error is None
    assert tuning["seconds"] == 0.0
    for each in tuning["tried"]:
        assert each["seconds"] == 0.0 or each["seconds"] >= 1e-4
    assert [each["note"] for each in tuning["tried"] if not each["seconds"]] == [
        "no clock could measure it"
    ] * 2
    assert tuning["tried"][0]["seconds"] > 0
    clock.times = {(lanes, many): -1.0 for lanes in (8, 4) for many in (8, 4, 2, 1)}
    _, _, pipeline = run(CELL.replace("5", "6"), tune=True, width=8)
    assert "tuning" not in pipeline
    assert any("no clock could measure it" in sentence for sentence in pipeline["why"])


def test_a_damaged_file_and_another_version_are_no_findings(monkeypatch, tmp_path):
    Clock(monkeypatch, {own_vectors(): 4e-3})
    run(CELL, tune=True)
    (file,) = (tmp_path / "hastega").glob("machine-*.json")
    data = json.loads(file.read_text())
    (key,) = data["tuned"]

    def found_with(change):
        changed = json.loads(json.dumps(data))
        change(changed["tuned"][key])
        file.write_text(json.dumps(changed))
        as_another_kernel()
        return "tuning" in run(CELL)[2]

    assert found_with(lambda entry: None)
    for change in (
        lambda entry: entry["tuned"].update(lanes=3), lambda entry: entry["tuned"].update(lanes=64, in_flight=64),
        lambda entry: entry["tuned"].update(stream="yes"), lambda entry: entry["tuned"].pop("chunk"),
        lambda entry: entry.pop("own"), lambda entry: entry["own"].update(spread=[1]),
        lambda entry: entry.update(tuned=7),
    ):  # fmt: skip
        assert not found_with(change)
    file.write_text("{ no JSON")
    as_another_kernel()
    _, _, pipeline = run(CELL)
    assert "tuning" not in pipeline
    assert any("damaged" in each for each in pipeline["warnings"])
    file.write_text(json.dumps(data))
    monkeypatch.setattr(hastega_magic, "__version__", "99.0")
    as_another_kernel()
    assert "tuning" not in run(CELL)[2]


def test_a_device_is_tuned_too(monkeypatch):
    pytest.importorskip("pyopencl")
    clock = Clock(monkeypatch, {(8, 8): 4e-3}, run=0.05)
    _, _, pipeline = run(CELL, on="opencl", tune=True, tune_seconds=1.0)
    assert pipeline["backend"] == "opencl"
    assert len(pipeline["tuning"]["tried"]) > 1
    assert all(isinstance(each, Tuned) for each in clock.runs)
    assert {each["note"] for each in pipeline["tuning"]["tried"]} <= {"", "in turns"}
    assert "earlier" in run(CELL, on="opencl")[2]["tuning"]
    made, _, pipeline = run(CELL, on="all", tune=True)
    assert np.array_equal(made["y"], NAMES["x"] ** 2 % 1000 - 5)
    assert any(each.startswith("--tune") for each in pipeline["why"]) or pipeline["backend"] == "parallel"


@pytest.mark.parametrize(("grain", "chunk"), [(2, 0), (4, 1 << 14)])
def test_groups_and_chunks_of_a_device_change_nothing(grain, chunk, monkeypatch):
    pytest.importorskip("pyopencl")
    for text in ("y = x |> filter(lambda v: v % 3 == 0)\nz = x |> sum", "y = mixed |> map(lambda v: v * 3)"):
        plain = run(text)[0]
        monkeypatch.setattr(
            schedule_store, "found", lambda key: _finding(Tuned(8, 2, grain=grain, chunk=chunk))
        )
        for memory in (0, 1):
            made = run(text, on="opencl", device_memory=memory)[0]
            assert all(same_bits(made[name], plain[name]) for name in plain)
        monkeypatch.undo()


def _finding(tuned):
    timed = schedule_store.Timed("some", 1.0, (1.0, 1.0))
    return schedule_store.Finding(tuned, timed, timed, 1, "2026-11-21")


def test_nothing_to_tune_is_said():
    for on in ("python", "numpy"):
        _, _, pipeline = run("z = x |> map(lambda v: v + 1)", on=on, tune=True)
        assert any(each.startswith("--tune is for compiled loops") for each in pipeline["warnings"])
    with pytest.raises(UsageError, match="tune_seconds"):
        Options(tune_seconds=0.0)


def test_loops_are_tuned_once_and_by_the_cell_alone(monkeypatch):
    Clock(monkeypatch)
    searched = []
    plain = tune.tune

    def counted(*args):
        searched.append(args)
        return plain(*args)

    monkeypatch.setattr(tune, "tune", counted)
    text = "def g(xs):\n    return xs |> map(lambda v: v + 3) |> sum\ny = [g(x) for _ in range(4)]"
    run(text, tune=True)
    assert len(searched) == 1
    run("z = x |> take_while(lambda v: v < 9) |> var", tune=True, compare=("simd",), baseline=True)
    assert len(searched) == 2, "neither loops that go before nor comparisons"
    kept = len(cached_loops())
    run(CELL, tune=True)
    assert len(cached_loops()) <= kept + 2, "candidates are not kept"


def test_alike_looks_at_everything_but_what_python_computes():
    def result(**changed):
        found = LoopResult(
            8192, [np.arange(8192.0)], [np.array([[1.0], [-0.0]])], np.zeros(2, np.uint8),
            np.zeros((2, 1), np.int64), (None,),
        )  # fmt: skip
        return replace(found, **changed)

    def stored(place, value):
        array = np.arange(8192.0)
        array[place] = value
        return [array]

    assert tune.alike(result(), result(), 8192)
    assert tune.alike(result(), result(partials=[np.array([[1.0], [0.0]])]), 8192)
    assert not tune.alike(result(), result(partials=[np.array([[1.0], [1.0]])]), 8192)
    assert not tune.alike(result(), result(arrays=stored(8191, 5.0)), 8192)
    assert not tune.alike(result(), result(arrays=stored(0, -0.0)), 8192)
    assert tune.alike(result(), result(arrays=stored(8191, 5.0)), 8191), "beyond what was run"
    bad = np.array([0, 2], np.uint8)
    assert tune.alike(result(status=bad), result(status=bad, arrays=stored(5000, 7.0)), 8192)
    assert not tune.alike(result(status=bad), result(status=bad, arrays=stored(5, 7.0)), 8192)
    assert not tune.alike(result(), result(status=bad), 8192), "more for Python is no gain"
    nan = stored(3, np.frombuffer(b"\x01\0\0\0\0\0\xf8\x7f")[0])
    assert tune.alike(result(arrays=stored(3, np.nan)), result(arrays=nan), 8192)
    packed = {"groups": (0,), "kept": np.array([[10], [20]])}
    assert tune.alike(result(**packed), result(**packed, arrays=stored(30, 7.0)), 8192)
    assert not tune.alike(result(**packed), result(**packed, arrays=stored(29, 7.0)), 8192)
    assert not tune.alike(result(**packed), result(**(packed | {"kept": np.array([[10], [19]])})), 8192)
    other = {"groups": (0,), "kept": np.array([[10], [99]]), "status": bad, "arrays": stored(40, 7.0)}
    assert tune.alike(result(**packed, status=bad), result(**other), 8192)
