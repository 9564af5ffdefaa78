"""Running a kernel on several threads, with the GIL released and Ctrl-C answered."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import cache

SMALL_BLOCKS = 16
"""Up to so many blocks, waking other threads costs more than it gains."""

ALONE_BLOCKS = 256
"""Up to so many blocks, one thread is the calling one: an interrupt can wait for the milliseconds that they take."""


def default_threads() -> int:
    """The CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


SOON = 0.015
"""A call that takes no more seconds may use the calling thread too: so long an interrupt can wait."""


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="hastega")


def here(threads: int, blocks: int, *, short: bool) -> bool:
    """Whether `run` calls the task on the calling thread."""
    return short and blocks <= (ALONE_BLOCKS if threads == 1 else SMALL_BLOCKS)


def run(
    task: Callable[[int], object],
    threads: int,
    blocks: int,
    ask_to_stop: Callable[[], None],
    tick: Callable[[], None] = lambda: None,
    *,
    short: bool = True,
    soon: bool = False,
) -> None:
    """Call `task(thread number)` on every thread and wait; `tick` is called every 50 ms meanwhile.

    On KeyboardInterrupt the tasks are asked to stop, waited for (each finishes the block in hand), and the
    interrupt goes on. `short`: blocks take microseconds, so that few of them are run here and now (`here`).
    `soon`: all of it takes no longer than `SOON`; the calling thread is then one of the threads, and does not
    have to be woken.
    """
    if here(threads, blocks, short=short):
        task(0)
        return
    futures: list[Future[object]] = [
        _pool(threads).submit(task, number) for number in range(1 if soon else 0, threads)
    ]
    try:
        if soon:
            task(0)
        pending = set(futures)
        while pending:
            # A wait without limit would not let a signal through on every platform.
            pending = wait(pending, timeout=0.05, return_when=FIRST_EXCEPTION).not_done
            tick()
    except BaseException:
        ask_to_stop()
        wait(futures)
        raise
    for future in futures:
        future.result()


def helped(task: Callable[[int], object], threads: int) -> None:
    """Let `task(number)` be called by so many threads; nobody waits for them, nor hears of what they raise."""
    for number in range(threads):
        _pool(threads + 1).submit(task, number)


__all__ = ["ALONE_BLOCKS", "SMALL_BLOCKS", "SOON", "default_threads", "helped", "here", "run"]
