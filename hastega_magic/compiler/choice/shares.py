"""How many elements each of several back ends gets of a loop that they compute together.

    rates       CPU 1 ns an element, GPU 0.25 ns and 100 µs once        over 10 000 000 elements
    balanced    2 080 768 and 7 919 232: both are done after 2.08 ms

Where a loop ran together before, what was measured then decides; else what is predicted; else the loop itself, of which
each back end first computes a small part.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from hastega_magic.forking import held_while_forking
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass

LEAST = 16
"""Blocks below which a part is not worth a launch of its own."""

_PROBED = 32
"""One in so many blocks goes to each back end of which nothing is known."""

_RUNS = 2
"""Runs of a loop that are remembered."""

_NEW = 0.7
"""What the latest counts for, and the one before for the rest."""

_AGED = 0.98
"""What a measurement counts for after a run without the back end; after the next one twice as much is taken, and so on:
what is nearly as fast as the others is not tried all the time, and what seemed slow is tried again before long."""

_LOOPS = 1024
"""Loops that are remembered."""


@dataclass(frozen=True)
class Rate:
    """A back end takes `each` seconds for an element, and `once` seconds for a run."""

    each: float
    once: float = 0.0

    def seconds(self, elements: float) -> float:
        """For so many elements; none of them take no time."""
        return self.each * elements + self.once if elements else 0.0


@dataclass(frozen=True)
class Shares:
    """Elements for each back end, in their order; `by`: "measured", "predicted" or "probed"."""

    elements: tuple[int, ...]
    by: str


Predict = Callable[[int], Sequence[Rate] | None]
"""From a number of elements to the rates that are expected of each back end there; None where nothing is known."""


def balanced(rates: Sequence[Rate], length: int) -> tuple[int, ...]:
    """Elements for each rate, so that all are done at once, and none that starts too late for that takes part.

    Multiples of the block, but for the last part that there is, and together `length`. A part of fewer than `LEAST`
    blocks goes to the others.
    """
    taking = list(range(len(rates)))
    while True:
        speeds = {number: 1 / max(rates[number].each, 1e-15) for number in taking}
        begun = sum(rates[number].once * speed for number, speed in speeds.items())
        ends = (length + begun) / sum(speeds.values())
        parts = {number: (ends - rates[number].once) * speed for number, speed in speeds.items()}
        least = min(taking, key=parts.__getitem__)
        if len(taking) == 1 or parts[least] >= LEAST * BLOCK:
            return _in_blocks(parts, len(rates), length)
        taking.remove(least)


def _in_blocks(parts: dict[int, float], count: int, length: int) -> tuple[int, ...]:
    found = [0] * count
    wanted, given = 0.0, 0
    last = max(parts)
    for number, part in sorted(parts.items()):
        wanted += part
        stop = length if number == last else min(length, round(wanted / BLOCK) * BLOCK)
        found[number], given = stop - given, stop
    return tuple(found)


def rate(runs: Sequence[tuple[int, float]]) -> Rate:
    """The rate that runs of (elements, seconds) show, the latest last: what it shows counts for most.

    What is paid once is in it, as it was for so many elements: the shares then approach the balanced ones from run to
    run. A line through sizes that the runs happened to have would say more about noise than about either part.
    """
    found, *earlier = [max(seconds, 1e-9) / count for count, seconds in reversed(runs)]
    for each in earlier[:1]:
        found = found**_NEW * each ** (1 - _NEW)
    return Rate(found)


class Book:
    """What was measured of loops that ran together: by loop and back end, the latest runs. For several threads."""

    def __init__(self) -> None:
        self._lock = held_while_forking(threading.Lock())
        self._runs: OrderedDict[tuple[str, str], list[tuple[int, float]]] = OrderedDict()
        self._idle: dict[tuple[str, str], int] = {}
        """Runs without a back end, since its last one."""

    def note(self, loop: str, backend: str, elements: int, seconds: float) -> None:
        """A back end computed so many elements of the loop, while others computed the rest.

        Of one that got none, what is known ages, so that it will be tried again: its first run may have been slow.
        """
        if elements > 0 and seconds <= 0:
            return
        with self._lock:
            key = loop, backend
            runs = self._runs.setdefault(key, [])
            self._idle[key] = 0 if elements > 0 else self._idle.get(key, 0) + 1
            if elements > 0:
                runs.append((elements, seconds))
                del runs[:-_RUNS]
            else:
                aged = _AGED ** self._idle[key]
                runs[:] = [(count, spent * aged) for count, spent in runs]
            self._runs.move_to_end(key)
            while len(self._runs) > _LOOPS:
                self._idle.pop(self._runs.popitem(last=False)[0], None)

    def rates(self, loop: str, backends: Sequence[str]) -> list[Rate] | None:
        """The rates of the back ends; None where one of them never ran it."""
        with self._lock:
            runs = [self._runs.get((loop, name)) for name in backends]
            return [rate(each) for each in runs if each] if all(runs) else None

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._runs.clear()
            self._idle.clear()


def shares(
    loop: str, backends: Sequence[str], length: int, book: Book, predict: Predict | None = None
) -> Shares:
    """How `length` elements of a loop are shared, by what is known of it.

    "probed": nothing is. The parts are then those of a first, small run, and together less than `length`; of too few
    blocks for that, as the last window of a vast loop may have, the first back end gets all.
    """
    rates: Sequence[Rate] | None = book.rates(loop, backends)
    if rates is not None:
        return Shares(balanced(rates, length), "measured")
    rates = None if predict is None else predict(length)
    if rates is not None:
        return Shares(balanced(rates, length), "predicted")
    blocks = length // BLOCK
    part = min(max(1, LEAST // 4, blocks // _PROBED), blocks // (2 * len(backends)))
    if not part:
        return Shares((length, *(0 for _ in backends[1:])), "probed")
    return Shares((part * BLOCK,) * len(backends), "probed")


__all__ = ["LEAST", "Book", "Predict", "Rate", "Shares", "balanced", "rate", "shares"]
