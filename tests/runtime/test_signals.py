"""Ctrl-C while a driver compiles: a notebook sends it to all processes of the kernel's group."""

import ctypes
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import pytest
from interrupting import interrupted

from hastega_magic.interrupts import put_off
from hastega_magic.runtime import cpu, signals
from hastega_magic.runtime.signals import held_back

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "pthread_sigmask"), reason="signals are no one's own here"
)

COMPILES = """
import signal
from hastega_magic.session import Options, Session
session = Session({}, Options(on="opencl", baseline=False))
session.run_cell("first = range(100_000) |> map(lambda x: x + 1) |> sum")
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
print("ready", flush=True)
session.run_cell("total = range(100_000) |> map(lambda x: x * 3 % 1009) |> sum")
signal.signal(signal.SIGINT, signal.SIG_IGN)
assert session.last_report.to_dict()["pipelines"][0]["backend"].startswith("opencl"), session.last_report
print(session.namespace["total"], bool(seen), flush=True)
"""


def test_a_thread_that_begins_meanwhile_takes_none_either():
    def taken():
        found.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))

    found = []
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())

    def begin():
        thread = threading.Thread(target=taken)
        thread.start()
        thread.join()

    held_back(begin)
    assert found == [True]
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_a_process_lives_on_when_its_compiler_is_interrupted(tmp_path):
    pytest.importorskip("pyopencl")
    environment = {**os.environ, "POCL_CACHE_DIR": str(tmp_path)}  # what is compiled is compiled now
    child = subprocess.Popen(
        [sys.executable, "-c", COMPILES], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment, start_new_session=True,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    end = time.monotonic() + 60
    while child.poll() is None and time.monotonic() < end:
        os.killpg(child.pid, signal.SIGINT)
        time.sleep(0.002)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (0, f"{sum(x * 3 % 1009 for x in range(100_000))} True\n"), err


def test_ctrl_c_in_a_finaliser_is_not_lost_while_llvm_compiles(monkeypatch):
    class Module:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def image_of(text):
        Module()
        done.append(text)
        return made(text)

    made, done = cpu.image_of, []
    monkeypatch.setattr(cpu, "image_of", image_of)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        cpu.compile_text("define void @hastega(ptr %words, ptr %scratch) { ret void }")
    assert len(done) == 1
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("block", [put_off, held_back])
def test_what_other_handlers_raise_leaves_ctrl_c_as_it_was(block):
    def late(number, frame):
        raise TimeoutError

    def run(seconds):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        while True:
            block(lambda: None)

    before, answer = signal.signal(signal.SIGALRM, late), signal.getsignal(signal.SIGINT)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        for number in range(200):
            with pytest.raises(TimeoutError):
                run(0.0005 + number * 3e-7)
            assert signal.getsignal(signal.SIGINT) is answer
            assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == mask
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.signal(signal.SIGINT, answer)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("block", [put_off, held_back, signals.with_signals])
def test_ctrl_c_at_any_place_leaves_all_as_it_was(block):
    answer, mask = signal.getsignal(signal.SIGINT), signal.pthread_sigmask(signal.SIG_BLOCK, ())
    hook, kept = sys.unraisablehook, []
    for place in itertools.count():
        kept.append(interrupted(lambda: block(lambda: [abs(-1), abs(2)]), place))
        assert signal.getsignal(signal.SIGINT) is answer, place
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == mask, place
        assert sys.unraisablehook is hook, place
        if kept[-1] is None:
            break
    assert place > 20


@pytest.mark.parametrize("block", [put_off, held_back])
def test_nor_does_one_that_another_thread_sends_while_the_interpreter_is_held(block):
    """The next place where Python looks for signals is behind the block's last call: it was where the end began."""
    hold = ctypes.PyDLL(None).usleep
    answer, mask = signal.getsignal(signal.SIGINT), signal.pthread_sigmask(signal.SIG_BLOCK, ())
    sender = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    sender.start()
    raised = []
    try:
        block(partial(hold, 100_000))
        time.sleep(20)
    except KeyboardInterrupt as error:
        raised.append(error)  # with its traceback, as IPython keeps the last one
    sender.join()
    assert raised
    assert signal.getsignal(signal.SIGINT) is answer
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == mask


def test_threads_put_nothing_off():
    def enter():
        put_off(lambda: found.append(signal.getsignal(signal.SIGINT)))

    found, before = [], signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert found == [before]


class Interrupted:
    """Of which the finaliser is interrupted."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


def test_what_a_finaliser_swallows_is_heard_behind_it():
    def run():
        made = Interrupted()
        del made
        time.sleep(20)

    before = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt):
        signals.with_signals(run)
    assert sys.unraisablehook is before


def test_what_is_swallowed_just_before_the_end_is_raised_there():
    def run():
        made = Interrupted()
        del made

    with pytest.raises(KeyboardInterrupt):
        signals.with_signals(run)
    time.sleep(0.01)  # and does not come once more


@pytest.mark.parametrize("again", [True, False])
def test_so_is_what_a_handler_of_another_signal_raises(again):
    def late(number, frame):
        if not again:
            signal.signal(number, signal.SIG_DFL)
        raise TimeoutError

    class Timed:
        def __del__(self):
            signal.raise_signal(signal.SIGALRM)

    def run():
        made = Timed()
        del made
        time.sleep(20 if again else 0.01)

    before = signal.signal(signal.SIGALRM, late)
    try:
        with pytest.raises(TimeoutError):
            signals.with_signals(run)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_other_errors_of_finalisers_are_told_as_ever(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)

    class Failing:
        def __del__(self):
            raise ValueError("no")

    signals.with_signals(lambda: bool(Failing()))
    assert len(told) == 1


ASKED = """
import _thread, signal, sys, threading, time
from hastega_magic.runtime.signals import _send

main, over = _thread.get_ident(), False

def again():
    while not over:
        _send(main, signal.SIGALRM)

assert not _send(main, signal.SIGALRM)
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=again) for _ in range(2)]
for thread in threads:
    thread.start()
until, came = time.monotonic() + 1, []
while time.monotonic() < until:
    for handler in (lambda *_: came.append(1), signal.SIG_IGN, signal.SIG_DFL):
        signal.signal(signal.SIGALRM, handler)
over = True
print(bool(came))
"""


def test_one_that_comes_again_does_not_end_the_process():
    """Where whoever answered it is gone in the very moment."""
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
