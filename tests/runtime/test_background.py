"""What is made in the background."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from interrupting import interrupted

from hastega_magic import interrupts
from hastega_magic.interrupts import begin
from hastega_magic.runtime import cpu
from hastega_magic.runtime.background import Later, made_aside
from hastega_magic.runtime.signals import with_signals
from hastega_magic.session import Options, Session


def test_it_is_made_once_and_in_the_background():
    go, made = threading.Event(), []

    def make():
        go.wait(30)
        made.append(threading.current_thread())
        return "it"

    later = Later(make)
    assert [later.ask(), later.ask()] == [None, None]
    go.set()
    while later.made is None:
        time.sleep(0.001)
    assert later.ask() == "it"
    assert len(made) == 1
    assert made[0] is not threading.current_thread()


def test_nothing_is_made_before_it_is_asked_for():
    assert Later(lambda: "it").made is None


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="there is no such signal")
@pytest.mark.usefixtures("signals_answered")
def test_llvm_works_where_no_handler_of_signals_raises(monkeypatch):
    """Between two operations of llvmlite it would free memory twice."""
    where, image_of = [], cpu.image_of

    def seen(text):
        where.append(threading.current_thread() is threading.main_thread())
        return image_of(text)

    monkeypatch.setattr(cpu, "image_of", seen)
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        Session({}, Options(baseline=False, quiet=True)).run_cell(
            "range(3) |> map(lambda x: x * 41 + 7) |> sum"
        )
        signal.signal(signal.SIGUSR1, before)
        monkeypatch.setattr(interrupts, "_OTHERS", (signal.SIGUSR1,))  # without what limits the test
        Session({}, Options(baseline=False, quiet=True)).run_cell(
            "range(3) |> map(lambda x: x * 43 + 7) |> sum"
        )
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert where == [False, True]


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="there is no such signal")
@pytest.mark.usefixtures("signals_answered")
def test_threads_begin_where_handlers_of_signals_stand():
    def raising(*_):
        raise RuntimeError("late")

    before = signal.signal(signal.SIGUSR1, raising)
    begun = threading.Event()
    thread = threading.Thread(target=begun.set)
    with interrupts._STACKS:  # nobody else begins one now
        size = threading.stack_size()
    others = [threading.Thread(target=begun.wait) for _ in range(8)]
    starters = [threading.Thread(target=begin, args=(each, 1 << 25)) for each in others]
    try:
        for each in starters:
            each.start()
        begin(thread, 1 << 24)
        assert begun.wait(30)
        for each in (*starters, *others):
            each.join()
        assert threading.stack_size() == size
        with pytest.raises(RuntimeError, match="once"):
            begin(thread)
    finally:
        signal.signal(signal.SIGUSR1, before)


FORKS = """
import os, threading, time
from hastega_magic.runtime.background import Later, made_aside

go = threading.Event()
later = Later(lambda: go.wait(30))
later.ask()
child = os.fork()
if not child:
    go.set()
    end = time.monotonic() + 20
    while later.ask() is None and time.monotonic() < end:
        time.sleep(0.001)
    os._exit(0 if later.made else 1)
go.set()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_that_was_forked_meanwhile_makes_its_own():
    # in a process of its own: others that may be imported here, as JAX, warn of a fork
    subprocess.run([sys.executable, "-c", FORKS], check=True, timeout=60)


def test_what_is_made_aside_is_returned():
    assert made_aside(threading.current_thread) is not threading.current_thread()


def test_what_is_raised_aside_is_raised():
    with pytest.raises(ZeroDivisionError):
        made_aside(lambda: 1 // 0)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals cannot be sent to a thread")
def test_an_interrupt_does_not_wait_for_what_is_made_aside():
    go, done = threading.Event(), threading.Event()

    def make():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        go.wait(60)
        done.set()

    with pytest.raises(KeyboardInterrupt):
        made_aside(make)
    assert not done.is_set()
    go.set()
    assert done.wait(60)


@pytest.mark.usefixtures("settled")
def test_later_threads_have_stacks_as_ever_wherever_an_interrupt_comes():
    before, kept = threading.stack_size(), [KeyboardInterrupt()]
    while kept[-1] is not None:
        kept.append(interrupted(lambda: with_signals(lambda: made_aside(lambda: 1)), len(kept) - 1))
        assert threading.stack_size() == before, len(kept)
    assert len(kept) > 50
