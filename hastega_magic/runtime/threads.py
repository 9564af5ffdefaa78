"""Running a kernel on several threads, with the GIL released and Ctrl-C answered.

An interrupt may come between any two bytecodes, and while threads write into a result nobody may let go of it. So what
is waited for are flags, which the GIL orders, and queues only wake: no lock that an interrupt could leave taken.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from functools import cache
from queue import Empty, SimpleQueue

from hastega_magic.interrupts import begin
from hastega_magic.runtime.signals import leave_to_others

SMALL_BLOCKS = 16
"""Up to so many blocks, waking other threads costs more than it gains."""

ALONE_BLOCKS = 256
"""Up to so many blocks, one thread is the calling one: an interrupt can wait for the milliseconds that they take."""

SOON = 0.05
"""A call that takes no more seconds may use the calling thread too: so long an interrupt can wait."""

BRIEF = 0.25
"""Of a call that takes no more seconds nobody has to be told how far it has come."""

_TICK = 0.05


def default_threads() -> int:
    """The CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Job:
    """A task for one thread. Begun before it looks whether it is cancelled: who cancels it sees one of the two."""

    def __init__(self, task: Callable[[int], object], number: int, done: SimpleQueue[None]) -> None:
        self.task, self.number, self.done = task, number, done
        self.begun = self.cancelled = self.finished = False
        self.error: BaseException | None = None

    def run(self) -> None:
        """By a thread of a team."""
        self.begun = True
        try:
            if not self.cancelled:
                self.task(self.number)
        except BaseException as error:  # told to who waits
            self.error = error
        self.task = _nothing  # what it holds must not wait for this thread's next job
        self.finished = True
        self.done.put(None)


def _nothing(number: int) -> None:
    """No task any more."""


@cache
def _team(threads: int, kind: str = "") -> SimpleQueue[_Job]:
    """So many threads that do what is put into the queue; those of another kind may wait for them."""
    jobs: SimpleQueue[_Job] = SimpleQueue()

    def work() -> None:
        leave_to_others()
        while True:
            jobs.get().run()

    for number in range(threads):
        begin(threading.Thread(target=work, name=f"hastega{kind}_{number}", daemon=True))
    return jobs


def _begin(jobs: Sequence[_Job], threads: int, kind: str = "") -> None:
    """Hand the jobs to the team of so many threads."""
    try:
        team = _team(threads, kind)
    except RuntimeError:  # from Python 3.12 on, no thread begins any more once the interpreter shuts down
        for job in jobs:
            job.run()
        return
    for job in jobs:
        team.put(job)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_team.cache_clear)  # threads are not copied


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
    done: SimpleQueue[None] = SimpleQueue()
    jobs = [_Job(task, number, done) for number in range(1 if soon else 0, threads)]
    try:
        _begin(jobs, threads)
        if soon:
            task(0)
        while not all(job.finished for job in jobs):
            if not _woken(done):
                tick()
    except BaseException:
        _stopped(jobs, done, ask_to_stop)
        raise
    for job in jobs:
        if job.error is not None:
            raise job.error


def apart(
    task: Callable[[int], object],
    count: int,
    kind: str,
    ask_to_stop: Callable[[], None],
    tick: Callable[[], None],
    ended: Callable[[int, BaseException | None], None],
) -> None:
    """Call `task(number)` for so many numbers, each on a thread of its own, and wait; such tasks may call `run`.

    `kind`: whose threads, as those of one kind do not wait for each other. `ended` hears of each task that is done, and
    what it raised, and `tick` is called every 50 ms at least. Where they raise, or an interrupt comes, the tasks are
    asked to stop and waited for, and it goes on.
    """
    done: SimpleQueue[None] = SimpleQueue()
    jobs = [_Job(task, number, done) for number in range(count)]
    try:
        _begin(jobs, count, kind)
        pending = list(jobs)
        while pending:
            _woken(done)
            over = [job for job in pending if job.finished]
            pending = [job for job in pending if job not in over]
            for job in over:
                ended(job.number, job.error)
            tick()
    except BaseException:
        _stopped(jobs, done, ask_to_stop)
        raise


def _woken(done: SimpleQueue[None]) -> bool:
    """Whether a job was done within a tick. A wait without limit would not let a signal through on every platform."""
    try:
        done.get(timeout=_TICK)
    except Empty:
        return False
    return True


def _stopped(jobs: Sequence[_Job], done: SimpleQueue[None], ask_to_stop: Callable[[], None]) -> None:
    """When this returns no job runs, nor will one, however often it is interrupted."""
    while True:
        try:
            ask_to_stop()
            for job in jobs:
                job.cancelled = True
            while not all(job.finished for job in jobs if job.begun):
                _woken(done)
            return
        except BaseException:  # the first one goes on  # noqa: S112
            continue


def helped(task: Callable[[int], object], threads: int) -> None:
    """Let `task(number)` be called by so many threads; nobody waits for them, nor hears of what they raise."""
    done: SimpleQueue[None] = SimpleQueue()
    team = _team(threads + 1)
    for number in range(threads):
        team.put(_Job(task, number, done))


__all__ = ["ALONE_BLOCKS", "SMALL_BLOCKS", "SOON", "apart", "default_threads", "helped", "here", "run"]
