"""A fork while other threads compile: in the new process they are not there, and nobody lets go of what they hold.

So a fork waits until they hold none of our locks, and import no module that our functions import when they first need
it. It waits with nothing in its hands, and what it needs it takes all at once: nobody waits for it meanwhile.

    lock = held_while_forking(threading.Lock())
"""

from __future__ import annotations

import _imp
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from importlib import _bootstrap  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
from typing import Any, Protocol, TypeVar, cast
from weakref import WeakValueDictionary

from hastega_magic.interrupts import put_off


class Lock(Protocol):
    """One of `threading`'s."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...
    def release(self) -> None: ...


_Lock = TypeVar("_Lock", bound=Lock)

_LOCKS: WeakValueDictionary[int, Lock] = WeakValueDictionary()
_TOUCHED: WeakValueDictionary[int, Lock] = WeakValueDictionary()
_held: list[Lock] = []

_PATIENCE = 30.0
"""Seconds after which a fork goes on as it would without us."""

_TICK, _WAIT = 0.001, 0.1

_BEFORE_OURS = logging
"""Modules that a fork waits for ask it for a logger. Of hooks before a fork the first is the last: its lock is taken
when nobody is waited for any more."""

_QUICK = {
    "hastega_magic",
    "llvmlite",
    "numpy",
    "pyopencl",
    "platformdirs",
    "tqdm",
    "IPython",
    *sys.stdlib_module_names,
}
"""Packages that our functions import. Others' modules may take any time, or wait for who forks."""


def held_while_forking(lock: _Lock) -> _Lock:
    """The lock, which each fork of this process takes for its time. No finaliser may take it (`free_when_forking`)."""
    _LOCKS[id(lock)] = lock
    return lock


def free_when_forking(lock: _Lock) -> _Lock:
    """The lock, for which each fork waits until it is free.

    A thread that a finaliser comes to may hold any lock, as one of `logging` that a fork waits for behind ours.
    """
    _TOUCHED[id(lock)] = lock
    return lock


class _Forks(threading.local):
    """How many forks of this thread have begun: a handler of signals may fork on the way to one.

    It is not to wait for what the thread holds, and what the other fork needs stays taken behind it.
    """

    begun = 0


_forks = _Forks()


def _before() -> None:
    _forks.begun += 1
    if _forks.begun == 1:
        put_off(_wait)  # a fork would go on without what an interrupt has prevented


def _wait() -> None:
    end = time.monotonic() + _PATIENCE
    time.sleep(0)  # the turn that begins here is long enough to fork in it
    busy: Lock | None = None
    while not _take_all(busy, anyway := time.monotonic() > end) and not anyway:
        busy = next((lock for lock in _alive(_LOCKS) if not _free(lock)), None)
        if busy is None:
            time.sleep(_TICK)
        # Somebody may take it again and again: who only looks whether it is free could look for ever.
        elif not busy.acquire(timeout=_WAIT):
            busy = None


def _take_all(first: Lock | None, anyway: bool) -> bool:
    """Whether all is as it should be, and the locks are held; `anyway`: those that can. `first` is taken already."""
    taken: list[Lock] = [] if first is None else [first]
    fine = False
    try:
        for lock in _alive(_LOCKS):
            if lock is first:
                continue
            if lock.acquire(False):
                taken.append(lock)
            elif not anyway:
                return False
        fine = anyway or (all(map(_free, _alive(_TOUCHED))) and not any(_importing()))
        return fine
    finally:
        if fine:
            _held.extend(taken)
        else:
            _let_go(taken)


def _alive(locks: WeakValueDictionary[int, Lock]) -> list[Lock]:
    return [lock for each in locks.valuerefs() if (lock := each()) is not None]


def _free(lock: Lock) -> bool:
    if not lock.acquire(False):
        return False
    lock.release()
    return True


def _importing() -> Iterator[bool]:
    """Of each module that someone imports, or has just imported: whether a fork has to wait for that."""
    locks = cast("dict[str, Any]", getattr(_bootstrap, "_module_locks", {}))
    me = threading.get_ident()
    _imp.acquire_lock()
    try:
        found = [lock for each in [*locks.values()] if (lock := each()) is not None]
    finally:
        _imp.release_lock()
    for lock in found:
        if lock.name.partition(".")[0] in _QUICK:
            # Whoever waits for a module that this thread itself imports (a handler of signals may fork) cannot go on.
            yield not _free(lock.lock) or (lock.owner not in (None, me) and not lock.has_deadlock())


def _let_go(locks: list[Lock]) -> None:
    while locks:
        locks.pop().release()


def _behind() -> None:
    _forks.begun = max(0, _forks.begun - 1)
    if not _forks.begun:
        _let_go(_held)


def _behind_in_child() -> None:
    _forks.begun = 0
    _let_go(_held)
    for lock in _alive(_TOUCHED):
        if not _free(lock):  # who had waited for it has it, and did nothing yet
            cast("Any", lock)._at_fork_reinit()  # noqa: SLF001  as the standard library does


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_behind, after_in_child=_behind_in_child)


__all__ = ["free_when_forking", "held_while_forking"]
