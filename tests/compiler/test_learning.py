"""What runs teach the cost model: what is told of it, what becomes of wrong choices, what the next process knows."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import GPU, machine

from hastega_magic.compiler.choice import costs
from hastega_magic.cost.learned import Learned
from hastega_magic.cost.store import Store
from hastega_magic.report import units
from hastega_magic.session import Options, Session

BACKENDS = ("python", "parallel", "opencl:0", "opencl:1")


TOOK = {"python": 0.02, "simd": 0.0004, "parallel": 0.0003}
"""Seconds of a run, in place of what a busy machine makes of it."""


def test_a_wrong_choice_is_noticed_and_not_made_again(on, monkeypatch):
    note = costs.note

    def steady(loop, backend, n, predicted, measured, kernel):
        took = TOOK[backend]
        return note(loop, backend, n, predicted, took, (kernel[0], took if kernel[0] else 0.0))

    monkeypatch.setattr(costs, "note", steady)
    there = machine(python=2e-11)  # which says that Python takes next to nothing for any number of elements
    on(there)
    session = Session({}, Options(baseline=False))
    text = "wrong = range(300_000) |> map(lambda x: x * 5 + 11) |> sum"
    chosen = []
    for _ in range(6):
        session.run_cell(text)
        report = session.last_report.to_dict()["pipelines"][0]
        chosen.append(report["backend"])
        if len(chosen) == 1:
            first = next(row["seconds"] for row in report["cost"]["predicted"] if row["backend"] == "python")
        if len(chosen) == 2:
            assert "which corrects the prediction" in report["cost"]["because"]
    assert chosen[:2] == ["python", "python"], "a first run, which compiles, tells nothing"
    assert "python" not in chosen[4:], "it took ten times as long as one thread is predicted to"
    rows = {row["backend"]: row["seconds"] for row in report["cost"]["predicted"]}
    assert rows["python"] > 20 * first


def test_what_was_predicted_is_told_and_not_what_was_learned_since(on):
    on(machine())
    session = Session({}, Options(baseline=False))
    cell = "told = range(10) |> map(lambda x: x * 7 + 19)"
    rows, factors = [], []
    for options in (None, None, Options(on="parallel", baseline=False)):
        factors.append(dict(costs.learned().levels.known))
        session.run_cell(cell, options=options)
        cost = session.last_report.to_dict()["pipelines"][0]["cost"]
        text = session.last_report.to_text()
        assert ("chosen: Plain Python: predicted" in text) == (options is None), (
            "nobody chose where it was asked for"
        )
        rows.append({row["backend"]: row["seconds"] for row in cost["predicted"]})
        assert cost["measured"] != rows[-1][cost["chosen"]]
        if len(rows) == 2:
            took = cost["measured"] / rows[-1]["python"]
            assert ("which corrects the prediction" in cost["because"]) == (not 1 / 1.5 < took < 1.5)
    assert factors[1] == {}, "a first run tells nothing"
    assert rows[0] == rows[1]
    assert rows[2]["python"] != rows[1]["python"], "the third was predicted with what the second taught"


@pytest.mark.parametrize("options", [{"repeat": 30}, {"threads": 7}, {"width": 2}], ids=str)
def test_runs_as_the_user_wants_them_teach_nothing_and_promise_nothing(on, options):
    on(machine(start=1e-9))  # all threads are taken
    session = Session({}, Options(baseline=False))
    cell = "told = range(400_000) |> map(lambda x: x * 7 + 21) |> sum"
    wanted = Options(baseline=False, **options)
    session.run_cell(cell, options=wanted)
    known = {name: dict(each) for name, each in costs.learned().loops.items()}
    for _ in range(3):
        session.run_cell(cell, options=wanted)
        pipeline = session.last_report.to_dict()["pipelines"][0]
        assert "corrects" not in pipeline["cost"]["because"]
    assert {name: dict(each) for name, each in costs.learned().loops.items()} == known
    if "repeat" in options:
        running = sum(
            each["seconds"] for each in pipeline["phases"] if each["name"] not in ("parse", "infer", "fuse")
        )
        assert pipeline["cost"]["measured"] < 8 * running, "of one run, and not of thirty"


def test_where_one_thread_is_asked_for_nothing_is_said_of_others(on):
    on(machine())
    session = Session({}, Options(baseline=False, threads=1))
    for where in ("auto", "parallel"):
        for n in (5_000, 50_000):
            session.run_cell(
                f"told = range({n}) |> map(lambda x: x * 7 + 23) |> sum",
                options=Options(on=where, baseline=False, threads=1),
            )
            report = session.last_report
            assert "for 4 threads" not in report.to_text()
            told = {each["backend"] for each in report.to_dict()["pipelines"][0]["cost"]["curves"]}
            assert told in ({"python", "simd"}, {"python", "parallel"}), "which would be two names of one"


def test_few_elements_have_one_line_whatever_was_learned(on):
    on(machine())
    session = Session({}, Options(baseline=False))
    for number, where in enumerate(["simd", "parallel", "auto"] * 3):
        cell = f"told = range({5_000 * (1 + number % 4)}) |> map(lambda x: x * 7 + 29) |> sum"
        session.run_cell(cell, options=Options(on=where, baseline=False))
        cost = session.last_report.to_dict()["pipelines"][0]["cost"]
        curves = {each["backend"]: dict(map(tuple, each["points"])) for each in cost["curves"]}
        small = [n for n in curves["simd"] if n <= 10_000]
        assert len(small) > 10
        assert all(curves["simd"][n] == curves["parallel"][n] for n in small)
        assert all(
            each["n"] > 5_000
            for each in cost["crossings"]
            if {each["faster"], each["than"]} == {"simd", "parallel"}
        )


def test_back_ends_that_are_named_teach_what_auto_goes_by(on, monkeypatch):
    pytest.importorskip("pyopencl")
    monkeypatch.setattr(costs, "_EVERY", math.inf)  # writing it down would end what is counted
    on(machine(GPU))
    session = Session({}, Options(baseline=False))
    cell = "taught = range(50_000) |> map(lambda x: x * 9 + 17) |> sum"

    def run(where, **more):
        session.run_cell(cell, options=Options(on=where, baseline=False, **more))
        return session.last_report.to_dict()["pipelines"][0]["cost"]

    for where, backend in (("simd", "simd"), ("parallel", "parallel"), ("opencl:0", "opencl:0")):
        run(where)
        before = sum(map(len, costs.learned().loops.values()))
        assert before or where == "simd", "a first run, which compiles, tells nothing"
        run(where, repeat=3)
        run(where, width=4)
        run(where, width=4)  # compiled for that width, it is another form of the loop
        if where == "parallel":
            run(where, threads=7)
            run(where, threads=7)
        known = costs.learned().loops
        assert sum(map(len, known.values())) == before, (
            "neither first runs, nor schedules that a user has set"
        )
        run(where)
        ((loop, backends),) = known.items()
        (size,) = backends[backend].values()
        assert size.kernels, "one loop, wherever it runs; and its kernel, too"
        assert costs.learned().levels.known[backend]
        factors = [costs.learned().factor(loop, backend, 50_000, phase) for phase in ("run", "kernel")]
        later = run(where)
        with costs.not_learning():
            bare = run(where)
        after, alone = ({row["backend"]: row for row in cost["predicted"]}[backend] for cost in (later, bare))
        assert after["seconds"] == pytest.approx(alone["seconds"] * factors[0], rel=1e-6)
        kernels = [
            next(each["seconds"] for each in row["phases"] if each["name"] == "kernel")
            for row in (after, alone)
        ]
        assert kernels[0] == pytest.approx(min(kernels[1] * factors[1], after["seconds"]), rel=1e-6)
    with costs.not_learning():
        run("simd")
    assert len(costs.learned().loops[loop]["simd"]) == 1
    costs.learned().noted.clear()
    for _ in range(80):
        run("simd")
    assert 8 <= sum(costs.learned().noted.values()) <= 20, "loops that run often are noted seldom"


@settings(max_examples=25)
@given(st.lists(st.floats(0.05, 20.0), min_size=4, max_size=4))
def test_what_is_predicted_to_be_faster_and_not_chosen_has_its_reason(factors):
    there = machine(GPU, replace(GPU, number=1, kind="cpu", shared=True, name="Another"))
    session = Session({"xs": np.arange(300_000)}, Options(baseline=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(costs.AUTO)
        patch.setattr(costs._KNOWN, "machine", there)
        logs = [math.log(max(min(each, 2.0), 0.5)) for each in factors]
        learned = Learned()
        for backend, log in zip(BACKENDS, logs, strict=True):
            learned.levels.note(backend, 18, None, (log, log))
        patch.setattr(costs._KNOWN, "learned", learned)
        session.run_cell("why = xs |> map(lambda x: x * 11 + 3) |> sum")
    cost = session.last_report.to_dict()["pipelines"][0]["cost"]
    seconds = {row["backend"]: row["seconds"] for row in cost["predicted"]}
    assert f"predicted {units.seconds(seconds[cost['chosen']])}" in cost["because"]
    for backend, name in (("opencl:0", "A GPU"), ("opencl:1", "Another")):
        said = re.search(
            rf"{name} ([^,;(]*?)(?:, its kernel [^(,;]*)?( \([^)]*\))?(?:[,;]|\.$)", cost["because"]
        )
        assert said[1] == units.seconds(seconds[backend])
        assert bool(said[2]) == (seconds[backend] < seconds[cost["chosen"]]), cost["because"]


def test_what_was_learned_is_there_for_the_next_process(on, tmp_path, monkeypatch):
    store = Store(tmp_path, machine().identity)
    on(machine())
    monkeypatch.setattr(costs._KNOWN, "store", store)
    monkeypatch.setattr(costs._KNOWN, "learned", None)
    costs.note("a loop", "simd", 1000, 1.0, 2.0)
    costs.save()
    monkeypatch.setattr(costs._KNOWN, "learned", None)
    assert costs.factor("a loop", "simd", 1000) == pytest.approx(2.0)
    with costs.not_learning():
        assert costs.factor("a loop", "simd", 1000) == 1.0
        costs.note("a loop", "simd", 1000, 1.0, 7.0)
    assert not costs.learned().noted
    costs.note("a loop", "simd", 4000, 1.0, 3.0)
    Store(tmp_path, machine().identity).keep(machine(calibrated="2026-02-02T00:00:00Z"))
    costs.save()
    assert "learned" not in store.read(), "it is of a calibration that another kernel has made anew"
    assert costs.adopt(machine(start=1e-9))
    assert costs.factor("a loop", "simd", 1000) == 1.0, "another calibration begins anew"
    assert "learned" not in store.read()
