"""Loops that never end, interrupted: the session goes on, and a report tells what the cell has answered itself."""

import asyncio
import itertools
import math
import os
import signal
import sys
import threading
import weakref
from random import Random

import llvmlite.binding as llvm
import numpy as np
import pytest
from interrupting import interrupted

from hastega_magic.compiler.fastpath.hooks import Hooks
from hastega_magic.compiler.trampoline import stepped
from hastega_magic.jupyter.awaiting import _computed
from hastega_magic.runtime import cpu
from hastega_magic.session import Options, Session
from hastega_magic.syntax.site import RUN
from hastega_magic.syntax.values.values import _counted, counted

FUNCTION = "def f(v):\n    while v != 0:\n        v = (v ^ 1) | 2\n    return v\n"


@pytest.mark.parametrize(("count", "on"), [(3, "parallel"), (40_000, "parallel"), (40_000, "opencl")])
def test_a_loop_that_never_ends_is_interrupted(count, on):
    session = Session({"xs": np.arange(1, count)})
    asked = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    asked.start()
    with pytest.raises(KeyboardInterrupt):
        session.run_cell(FUNCTION + "y = xs |> map(f)", options=Options(baseline=False, on=on))
    asked.join()
    session.run_cell("z = xs |> sum")
    assert session.namespace["z"] == count * (count - 1) // 2


@pytest.mark.parametrize("stage", ["scan(lambda a, v: a + f(v), 0)", "reduce(lambda a, v: a ^ f(v))"])
@pytest.mark.parametrize("on", ["parallel", "simd", "opencl"])
def test_a_step_that_never_ends_is_interrupted(stage, on):
    session = Session({"xs": np.arange(1, 3)})
    asked = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    asked.start()
    with pytest.raises(KeyboardInterrupt):
        session.run_cell(FUNCTION + f"y = xs |> {stage}", options=Options(baseline=False, on=on))
    asked.join()
    assert session.last.report.pipelines[0].loops == 1


@pytest.mark.parametrize(("count", "threads"), [(3, 1), (40_000, 2)])
def test_the_report_tells_of_an_interrupt_that_the_cell_answers(count, threads):
    text = (
        FUNCTION + "try:\n    y = xs |> map(f)\nexcept KeyboardInterrupt:\n    y = 'answered'\nz = xs |> sum"
    )
    session = Session({"xs": np.arange(1, count)})
    asked = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    asked.start()
    session.run_cell(text, options=Options(on="parallel", threads=2, baseline=False))
    asked.join()
    assert session.namespace["y"] == "answered"
    first, last = session.last.report.pipelines
    assert (first.raised, first.backend, first.loops) == ("KeyboardInterrupt", "parallel", 1)
    assert (first.elements, first.threads) == (count - 1, threads)
    assert (last.raised, last.backend) == (None, "parallel")


def test_code_that_llvm_takes_long_to_make_is_not_waited_for(monkeypatch):
    compiled, interrupted, made = cpu._compiled, threading.Event(), threading.Event()

    def slowly(text):
        if interrupted.is_set():
            return compiled(text)
        interrupted.set()
        os.kill(os.getpid(), signal.SIGINT)
        try:
            return compiled(text)
        finally:
            made.set()

    monkeypatch.setattr(cpu, "_compiled", slowly)
    session = Session({"xs": np.arange(1.0, 1000.0), "math": math})
    stages = " ".join(f"|> map(lambda v: math.sin(v) + {k})" for k in range(30))
    with pytest.raises(KeyboardInterrupt):
        session.run_cell(f"y = xs {stages} |> sum", options=Options(baseline=False, quiet=True))
    assert not made.is_set()
    assert "y" not in session.namespace
    session.run_cell(f"y = xs {stages} |> max", options=Options(baseline=False, quiet=True))
    assert made.wait(60)
    v = np.arange(1.0, 1000.0)
    for k in range(30):
        v = np.sin(v) + k
    assert math.isclose(session.namespace["y"], v.max())


CELLS = {
    "statements": "a = 1\ny = xs |> map(lambda v: v * 3 + a) |> sum\nb = [v * y for v in range(2000)]",
    "loop": "y = 0\nfor k in range(3):\n    y += xs |> map(lambda v: v + k) |> sum",
    "brief": "xs |> map(lambda v: v * 3) |> sum",
}


# From 3.14 on Ctrl-C that comes as a lock is taken comes between that and the statement that lets go of it.
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="CPython may leave a lock of `with` taken")
@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("text", CELLS.values(), ids=CELLS)
def test_wherever_an_interrupt_comes_the_next_cell_runs_as_ever(text, known):
    """Places are some hundred of the cell's operations, others in each run of these tests."""

    def run():
        return session.run_cell(text, options=options)

    options = Options(baseline=False, quiet=True)
    session = Session({"xs": np.arange(20_000)})
    value, left = run().value, {**session.namespace}
    before = sys.unraisablehook, signal.getsignal(signal.SIGINT), signal.pthread_sigmask(signal.SIG_BLOCK, ())
    place, random = 0, Random()
    while True:
        if not known:
            session = Session({"xs": left["xs"]})
        came = interrupted(run, place)  # which holds what it came through
        assert (sys.unraisablehook, signal.getsignal(signal.SIGINT)) == before[:2], place
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before[2], place
        assert not any(lock._is_owned() for lock in (cpu._LOCK, llvm.ffi.lib._lock._lock)), place
        assert not _counted.get(), place
        assert run().value == value, place
        assert session.namespace.keys() == left.keys(), place
        assert all(session.namespace[name] == left[name] for name in left.keys() & {"y", "b"}), place
        if came is None:
            break
        place += random.randrange(600)


@pytest.mark.parametrize("own", [False, True])
def test_a_cell_that_could_not_say_that_it_is_over_leaves_no_names_for_good(own, monkeypatch):
    def end(hooks, namespace, running):
        monkeypatch.undo()
        raise KeyboardInterrupt

    session = Session({"xs": [1, 2], **({RUN: "mine"} if own else {})})
    before = session.namespace.keys() | {"y", "__builtins__"}
    monkeypatch.setattr(Hooks, "end", end)
    with pytest.raises(KeyboardInterrupt) as kept:
        session.run_cell("y = xs |> sum")
    session.run_cell("y = xs |> max")
    assert kept.value.__traceback__ is not None  # what the cell was is there as long as this
    assert session.namespace.keys() == before
    assert session.namespace.get(RUN, "mine") == "mine"


@pytest.mark.usefixtures("settled")
def test_what_counts_as_a_number_is_as_before_wherever_an_interrupt_comes():
    kept = [KeyboardInterrupt()]
    while kept[-1] is not None:
        kept.append(interrupted(lambda: counted(True, lambda: abs(-1)), len(kept) - 1))
        assert not _counted.get(), len(kept)
    assert len(kept) > 15


def test_what_is_raised_as_a_step_ends_is_raised_in_the_cell_that_awaits():
    async def cell():
        try:
            await asyncio.sleep(0)
        except KeyboardInterrupt:
            return "answered"

    def run(step):
        step()
        raise KeyboardInterrupt

    async def whole():
        return await stepped(cell(), run)

    assert asyncio.run(whole()) == "answered"


@pytest.mark.usefixtures("settled")
def test_the_event_loops_handler_is_there_again_wherever_an_interrupt_comes():
    def loops(number, frame):
        raise KeyboardInterrupt

    loops.__module__ = "ipykernel.kernelbase"
    before, kept = signal.signal(signal.SIGINT, loops), [KeyboardInterrupt()]
    try:
        while kept[-1] is not None:
            kept.append(interrupted(lambda: _computed(lambda: abs(-1)), len(kept) - 1))
            assert signal.getsignal(signal.SIGINT) is loops, len(kept)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(kept) > 30


@pytest.mark.usefixtures("settled")
def test_programs_that_nobody_holds_leave_llvmlites_lock_alone():
    lock, program = llvm.ffi.lib._lock._lock, []
    text = "define void @hastega(ptr %words, ptr %scratch) { ret void }"
    for place in itertools.count():
        program.append(cpu.compile_text(text))
        came = interrupted(program.clear, place)
        assert not lock._is_owned(), place
        if came is None:
            break


def test_llvm_lets_go_of_them_when_it_makes_the_next():
    text = "define void @hastega(ptr %words, ptr %scratch) { ret void }"
    program = cpu.compile_text(text)
    (library,) = (weakref.ref(library) for of, library in cpu._LIBRARIES.values() if of() is program)
    del program
    assert library() is not None
    cpu.compile_text(text)
    assert library() is None


@pytest.mark.timeout(120)
def test_what_an_interrupt_has_left_of_llvmlites_lock_is_let_go_of():
    lock = llvm.ffi.lib._lock._lock
    lock.acquire()  # as Ctrl-C in the midst of a finaliser's `with` leaves it
    stages = " ".join(f"|> map(lambda v: math.cos(v) - {k})" for k in range(30))
    session = Session({"xs": np.arange(1.0, 1000.0), "math": math})
    session.run_cell(f"y = xs {stages} |> sum", options=Options(baseline=False, quiet=True))
    assert not lock._is_owned()
    assert math.isfinite(session.namespace["y"])
