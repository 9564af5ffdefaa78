"""Which thread runs a kernel, and that an interrupt reaches those that do not wait for it."""

import os
import queue
import subprocess
import sys
import threading

import pytest

from hastega_magic.runtime import threads
from hastega_magic.runtime.cpu import Pace


def ran_by(count, blocks, short=True):
    found = []
    threads.run(
        lambda number: found.append((number, threading.current_thread())),
        count,
        blocks,
        lambda: None,
        short=short,
    )
    assert sorted(number for number, _ in found) in ([0], list(range(count)))
    return {thread for _, thread in found}


@pytest.mark.parametrize(("count", "blocks"), [(1, 1), (1, 256), (4, 16)])
def test_short_kernels_are_the_calling_threads(count, blocks):
    assert threads.here(count, blocks, short=True)
    assert ran_by(count, blocks) == {threading.current_thread()}


@pytest.mark.parametrize(("count", "blocks", "short"), [(1, 257, True), (4, 17, True), (1, 1, False)])
def test_long_ones_leave_the_calling_thread_free(count, blocks, short):
    assert not threads.here(count, blocks, short=short)
    assert threading.current_thread() not in ran_by(count, blocks, short)


def test_an_interrupt_stops_the_others_and_goes_on():
    stop, begun = threading.Event(), threading.Event()

    def task(number):
        begun.set()
        assert stop.wait(20)

    def tick():
        if begun.is_set():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        threads.run(task, 2, 1000, stop.set, tick)
    assert stop.is_set()


def test_what_is_soon_done_uses_the_calling_thread_too():
    found = []
    threads.run(
        lambda number: found.append((number, threading.current_thread())), 3, 1000, lambda: None, soon=True
    )
    assert sorted(number for number, _ in found) == [0, 1, 2]
    assert [thread for number, thread in found if number == 0] == [threading.current_thread()]
    assert len({thread for _, thread in found}) > 1


def test_an_interrupt_on_the_calling_thread_stops_the_others_too():
    stop, begun = threading.Event(), threading.Event()

    def task(number):
        if number == 0:
            assert begun.wait(20)
            raise KeyboardInterrupt
        begun.set()
        assert stop.wait(20)

    with pytest.raises(KeyboardInterrupt):
        threads.run(task, 2, 1000, stop.set, soon=True)
    assert stop.is_set()


def test_a_program_s_pace():
    pace = Pace()
    assert pace.expected(1, 8, False) == float("inf")
    pace.note(0.01, 1000, 2)
    assert pace.expected(3000, 3, False) == pytest.approx(0.02)
    assert pace.expected(4001, 3, False) == float("inf")
    pace.note(0.001, 1000, 2)  # what was dearer is remembered for a while
    assert pace.expected(3000, 3, False) == pytest.approx(0.016)
    for _ in range(50):
        pace.note(0.001, 1000, 2)
    assert pace.expected(3000, 3, False) == pytest.approx(0.002)
    assert pace.expected(3000, 3, True) > 0.002  # into new pages


def test_no_task_runs_on_however_often_it_is_interrupted(monkeypatch):
    running, stop, interrupts = set(), threading.Event(), iter([KeyboardInterrupt] * 5)
    woken = threads._woken

    def task(number):
        running.add(number)
        stop.wait(20)
        running.discard(number)

    def interrupted(done):
        for each in interrupts:
            raise each
        return woken(done)

    monkeypatch.setattr(threads, "_woken", interrupted)
    for _ in range(20):
        stop.clear()
        interrupts = iter([KeyboardInterrupt] * 5)
        with pytest.raises(KeyboardInterrupt):
            threads.run(task, 3, 1000, stop.set)
        assert not running


def test_what_an_interrupt_kept_from_beginning_never_runs():
    ran = []
    job = threads._Job(ran.append, 0, queue.SimpleQueue())
    job.cancelled = True
    job.run()
    assert job.finished
    assert not ran


def test_what_a_task_raises_is_raised():
    def task(number):
        if number == 1:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        threads.run(task, 3, 1000, lambda: None)


FORKS = """
import os
from hastega_magic.runtime import threads

def ran():
    found = []
    threads.run(found.append, 2, 1000, lambda: None)
    return sorted(found) == [0, 1]

assert ran()
child = os.fork()
if not child:
    os._exit(0 if ran() else 1)
assert os.waitpid(child, 0)[1] == 0
"""


def test_where_no_thread_begins_any_more_the_calling_one_does_it_all(monkeypatch):
    def start(thread):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    threads._team.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        assert ran_by(3, 1000) == {threading.current_thread()}
    assert threading.current_thread() not in ran_by(3, 1000)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_that_was_forked_has_threads_of_its_own():
    # in a process of its own: others that may be imported here, as JAX, warn of a fork
    subprocess.run([sys.executable, "-c", FORKS], check=True, timeout=60)
