"""Work in a thread of its own: how it ends, and what it is told."""

import sys
import threading

from hastega_magic.jupyter.worker import Worker
from hastega_magic.progress import Cancelled, Listener


class Deaf(Listener):
    """Is told nothing."""


def worker(work) -> tuple[Worker, list[BaseException | None]]:
    ended: list[BaseException | None] = []
    return Worker(work, Deaf(), ended.append), ended


def test_work_ends_by_itself():
    found, ended = worker(lambda: None)
    assert found.wait(30)
    assert ended == [None]
    found.cancel()  # of no effect
    assert ended == [None]


def test_what_work_raises():
    found, ended = worker(lambda: 1 // 0)
    assert found.wait(30)
    assert [type(each) for each in ended] == [ZeroDivisionError]


def test_it_is_cancelled_where_the_first_exception_is_lost(monkeypatch):
    """What is raised in `__del__` is told to a hook, and goes no further."""
    lost, begun = [], threading.Event()
    monkeypatch.setattr(sys, "unraisablehook", lambda raised: lost.append(raised.exc_type))

    class Dying:
        def __del__(self):
            begun.set()
            while True:
                pass

    def work():
        Dying()
        while True:
            pass

    found, ended = worker(work)
    assert begun.wait(30)
    found.cancel()
    assert found.wait(30)
    assert lost == [Cancelled]
    assert [type(each) for each in ended] == [Cancelled]
