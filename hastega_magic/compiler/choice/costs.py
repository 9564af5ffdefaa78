"""What this process knows of its machine: the stored calibration, else assumed figures; read once, when first asked."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import hastega_magic
from hastega_magic.cost import defaults
from hastega_magic.cost.learned import Learned, Phase
from hastega_magic.cost.machine import Identity, Machine
from hastega_magic.cost.store import Json, Store, folder
from hastega_magic.forking import held_while_forking
from hastega_magic.records import dataclass

AUTO = "HASTEGA_AUTO"
"""Environment variable: a back end that `--on auto` is to stand for, whatever the model says; empty: none."""


_EVERY = 30.0
"""Seconds after which what was learned is written down, by the next run."""


@dataclass
class _Known:
    store: Store | None = None
    machine: Machine | None = None
    learned: Learned | None = None
    pinned: str = ""
    learns: bool = True
    given: Learned | None = None
    """What is used in place of what was learned, while nothing is."""
    saved: float = 0.0
    """When what was learned was last written down, by the monotonic clock."""


_KNOWN = _Known()
_LOCK = held_while_forking(threading.RLock())


def identity() -> Identity:
    """Of this machine, as this process may use it."""
    from hastega_magic.runtime import identity as found

    version = ".".join(map(str, sys.version_info[:2]))
    return Identity(
        found.cpu_name(), found.threads(), version, hastega_magic.__version__, found.devices_key()
    )


def store() -> Store:
    """Where this machine's figures are kept."""
    with _LOCK:
        if _KNOWN.store is None:
            _KNOWN.store = Store(folder(), identity())
        return _KNOWN.store


def machine() -> Machine:
    """The machine as it was measured; assumed figures where it was not, or where what is stored cannot be read."""
    found = _KNOWN.machine
    if found is not None:
        return found
    with _LOCK:
        if _KNOWN.machine is None:
            _KNOWN.machine = store().machine() or defaults.machine(store().identity)
        return _KNOWN.machine


def chunk_of(info: Any) -> float:
    """Bytes of a chunk on an OpenCL device (its `DeviceInfo`), as the calibration found; 0.0 where it knows none."""
    alike = (each for each in machine().devices if (each.name, each.platform) == (info.name, info.platform))
    return next((each.chunk for each in alike), 0.0)


def adopt(found: Machine, where: Store | None = None) -> bool:
    """Use these figures from now on, and store them; False if they could be kept for this process alone."""
    with _LOCK:
        if where is not None:
            _KNOWN.store = where
        _KNOWN.machine, _KNOWN.learned = found, Learned(calibrated=found.calibrated)
        return store().keep(found)


def forget() -> None:
    """Read everything anew when it is asked for."""
    with _LOCK:
        _KNOWN.store = _KNOWN.machine = _KNOWN.learned = None


def learned() -> Learned:
    """What real runs say against the model on this machine."""
    found = _KNOWN.learned
    if found is not None:
        return found
    with _LOCK:
        if _KNOWN.learned is None:
            _KNOWN.learned = Learned.from_dict(store().read().get("learned"), machine().calibrated)
            _KNOWN.saved = time.monotonic()
        return _KNOWN.learned


def learning() -> bool:
    """Whether runs teach the model now."""
    return _KNOWN.learns


def note(
    loop: str, backend: str, n: int, predicted: float, measured: float,
    kernel: tuple[float, float] = (0.0, 0.0),
) -> bool:  # fmt: skip
    """Learn from a run of a known loop: what the bare model said, and what it took (seconds).

    `kernel`: the same of its kernel alone; zeros where that is not known. False where nothing is learned from it.
    """
    if not _KNOWN.learns:
        return False
    with _LOCK:
        accepted = learned().note(loop, backend, n, predicted, measured, kernel)
        if time.monotonic() - _KNOWN.saved > _EVERY:
            save()
        return accepted


def save() -> None:
    """Write down what was learned since the last time; nothing where another calibration lies there by now."""
    with _LOCK:
        found = _KNOWN.learned
        _KNOWN.saved = time.monotonic()
        if found is None or not found.noted:
            return

        def changed(data: Json) -> Json:
            stored: object = data.get("machine")
            there = cast("Json", stored) if isinstance(stored, dict) else {}
            if there.get("calibrated", found.calibrated) != found.calibrated:
                return data
            both = found.merged(Learned.from_dict(data.get("learned"), found.calibrated))
            return {**data, "learned": both.to_dict()}

        store().update(changed)
        found.noted.clear()


atexit.register(save)


@contextmanager
def not_learning(given: Learned | None = None) -> Generator[None]:
    """In the block, runs are not learned from, and what was learned is `given`; None: nothing."""
    before = _KNOWN.learns, _KNOWN.given
    _KNOWN.learns, _KNOWN.given = False, given
    try:
        yield
    finally:
        _KNOWN.learns, _KNOWN.given = before


def _used() -> Learned | None:
    """What predictions are corrected by."""
    return learned() if _KNOWN.learns else _KNOWN.given


def factor(loop: str, backend: str, n: int) -> float:
    """By what the model's time is to be multiplied."""
    return factors(loop, backend, (n,))[0]


def factors_of(loop: str, backends: Sequence[str], n: int, phase: Phase = "run") -> dict[str, float]:
    """The same for several back ends, by their names; of the kernel alone, where that is asked for."""
    found = _used()
    return {each: 1.0 if found is None else found.factor(loop, each, n, phase) for each in backends}


def factors(loop: str, backend: str, sizes: Sequence[int]) -> list[float]:
    """The same for several numbers of elements."""
    found = _used()
    return [1.0] * len(sizes) if found is None else found.factors_at(loop, backend, sizes)


def auto() -> str:
    """The back end that "auto" stands for; "" where the model chooses."""
    return _KNOWN.pinned or os.environ.get(AUTO, "")


@contextmanager
def pinned(backend: str) -> Generator[None]:
    """In the block, "auto" stands for the back end."""
    before, _KNOWN.pinned = _KNOWN.pinned, backend
    try:
        yield
    finally:
        _KNOWN.pinned = before


__all__ = [
    "AUTO", "adopt", "auto", "factor", "factors", "factors_of", "forget", "identity", "learned", "learning",
    "machine", "not_learning", "note", "pinned", "save", "store",
]  # fmt: skip
