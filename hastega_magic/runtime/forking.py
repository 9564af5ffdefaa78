"""Locks of which the holder must be done before a process is forked: in the new one, nobody would let go of them."""

from __future__ import annotations

import os
from typing import Protocol

from hastega_magic.runtime.signals import put_off


class Lock(Protocol):
    """One of `threading`'s."""

    def acquire(self) -> bool: ...
    def release(self) -> None: ...


def held_while_forking(lock: Lock) -> None:
    """Have each fork of this process wait for the lock. Ctrl-C comes behind that: a fork would go on without it."""

    def before() -> None:
        with put_off():
            lock.acquire()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before, after_in_parent=lock.release, after_in_child=lock.release)


__all__ = ["held_while_forking"]
