"""Forks while other threads compile or import: the new process can do both, and no fork waits for who cannot go on."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")

_BEGIN = """
import _thread, os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")  # of forks beside threads

from hastega_magic import forking
forking._PATIENCE = 1e9  # a fork that waits in vain waits for ever

def forked(work):
    child = os.fork()
    if not child:
        signal.alarm(60)
        work()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def run(code: str, *folders: Path) -> None:
    """In a process of its own: what others have imported here would count, and JAX warns of a fork."""
    code = _BEGIN + f"sys.path += {[*map(str, folders)]}\n" + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr


def test_modules_that_another_thread_imports_are_there():
    run("""
    at, came = threading.Event(), []

    class Slow:
        def find_spec(self, name, path=None, target=None):
            if threading.current_thread() is thread and name.startswith("hastega_magic.") and len(came) % 9 == 8:
                at.set()
                time.sleep(0.02)
            came.append(name)

    def work():
        from hastega_magic import hastega, pipe
        assert pipe(range(5000)).map(lambda x: x * x).filter(lambda x: x % 3 == 0).sum() > 0
        assert pipe(iter(range(5000))).map(lambda x: x + 1).take(3).to_list() == [1, 2, 3]
        assert pipe([1.5] * 5000).map(str).first() == "1.5"
        assert hastega(lambda xs: [x + 1 for x in xs])(list(range(5000)))[-1] == 5000

    sys.meta_path.insert(0, Slow())
    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive() and not at.wait(0.001):
        pass
    forks = 0
    while thread.is_alive() and forks < 12:
        at.clear()
        forked(work)
        forks += 1
        at.wait(0.1)
    thread.join()
    assert forks
    """)


def test_a_lock_that_another_thread_holds_is_free_behind_the_fork():
    run("""
    from hastega_magic.runtime.objects import lists
    for lock in (lists._lock, forking.held_while_forking(threading.RLock())):
        held = threading.Event()
        def hold():
            with lock:
                held.set()
                time.sleep(0.3)
        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        forked(lambda: lock.acquire() and lock.release())
        assert lock.acquire(False)
        lock.release()
        thread.join()
    """)


def test_a_lock_of_finalisers_is_waited_for_and_not_held():
    run("""
    lock, held = forking.free_when_forking(threading.RLock()), threading.Event()
    def hold():
        with lock:
            held.set()
            time.sleep(0.3)
    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    taken = []
    def take():  # by another hook, for which the fork waits
        other = threading.Thread(target=lambda: taken.append(lock.acquire(timeout=30)) or lock.release())
        other.start()
        other.join()
    forking.os.register_at_fork(before=take)
    forked(lambda: lock.acquire() and lock.release())
    assert taken == [True]
    """)


def test_a_fork_does_not_wait_for_modules_of_others(tmp_path: Path):
    (tmp_path / "server.py").write_text("import __main__\n__main__.begun.set()\n__main__.over.wait()\n")
    run(
        """
    begun, over = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: __import__("server"))
    thread.start()
    begun.wait()
    forked(lambda: None)
    over.set()
    thread.join()
    """,
        tmp_path,
    )


def test_a_module_that_is_waited_for_can_ask_for_a_logger(tmp_path: Path):
    text = (
        "import __main__, logging, time\n__main__.begun.set()\ntime.sleep(0.3)\nlogging.getLogger('inner')\n"
    )
    (tmp_path / "inner.py").write_text(text)
    run(
        """
    begun = threading.Event()
    forking._QUICK.add("inner")
    import logging
    thread = threading.Thread(target=lambda: __import__("inner"))
    thread.start()
    begun.wait()
    forked(lambda: __import__("inner"))
    thread.join()
    """,
        tmp_path,
    )


def test_a_fork_in_the_midst_of_an_import_does_not_wait_for_who_waits_for_that(tmp_path: Path):
    (tmp_path / "outer.py").write_text("import __main__\n__main__.inside()\n")
    (tmp_path / "inner.py").write_text("import __main__\n__main__.begun.set()\nimport outer\n")
    run(
        """
    from importlib import _bootstrap
    begun = threading.Event()
    forking._QUICK.add("inner")
    def inside():
        thread.start()
        begun.wait()
        while not _bootstrap._blocking_on.get(thread.ident):  # until it waits for `outer`
            time.sleep(0.001)
        forked(lambda: None)
    thread = threading.Thread(target=lambda: __import__("inner"))
    import outer
    thread.join()
    """,
        tmp_path,
    )


def test_a_handler_of_a_signal_can_fork_while_its_thread_holds_a_lock_or_waits_for_one():
    run("""
    from hastega_magic.runtime import cpu
    signal.signal(signal.SIGUSR1, lambda *_: forked(lambda: None))
    with cpu._LOCK:
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0)

    lock = forking.held_while_forking(threading.Lock())
    lock.acquire()
    def later():
        time.sleep(0.2)  # the main thread's fork waits by then, or does not yet: it is fine with both
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.2)
        lock.release()
    thread = threading.Thread(target=later)
    thread.start()
    forked(lambda: lock.acquire() and lock.release())
    thread.join()
    """)


def test_so_can_one_that_comes_when_the_fork_has_taken_the_locks():
    run("""
    lock = forking.held_while_forking(threading.Lock())
    signal.signal(signal.SIGUSR1, lambda *_: forked(lambda: lock.acquire() and lock.release()))
    forking._before()
    os.kill(os.getpid(), signal.SIGUSR1)
    time.sleep(0)
    assert lock.locked()  # for the fork that is on its way
    forking._behind()
    assert not lock.locked()
    """)


def test_a_fork_that_waits_for_too_long_goes_on():
    run("""
    forking._PATIENCE = 0.1
    lock = forking.held_while_forking(threading.Lock())
    lock.acquire()
    forked(lambda: None)
    assert lock.locked()
    """)
