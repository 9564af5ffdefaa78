"""Threads that wait in native code for short calls, and take part in them: nobody has to hold the GIL to begin, or end.

The calling thread leads. It begins at once, the others join it when they come, and who comes when nothing is left to do
goes back to wait: a call takes no longer for them. They look for the next call for some microseconds, then sleep.

    together(call)      False: no crew is ready; a first call has one made, in the background
    rouse(helpers)      before one is made ready, so that they need not be waited for
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache

from hastega_magic.forking import held_while_forking
from hastega_magic.interrupts import begin
from hastega_magic.ir import abi
from hastega_magic.runtime import cpu
from hastega_magic.runtime.cpu import Program, pool_text

_MOST = 4
"""Crews of one size: so many threads may call at a time, and an interrupt may have lost one."""


class Call:
    """A program's arguments, laid out as a crew reads them: `words`, and for each thread its place for scratch."""

    def __init__(self, program: Program, words: ctypes.c_void_p, places: Sequence[ctypes.c_void_p]) -> None:
        self.program, self.words, self.places = program, words, places
        self.helpers = len(places) - 1
        self._laid_out = (ctypes.c_int64 * (pool_text.SCRATCH + len(places)))(
            program.address, words.value or 0, 0, 0, *(place.value or 0 for place in places)
        )
        self.address = ctypes.addressof(self._laid_out)

    def fold(self, code: int, argument: int) -> None:
        """Let who leads the call go on with this code, when all are done; 0: no longer. Both must stay in memory."""
        self._laid_out[pool_text.FOLD], self._laid_out[pool_text.FOLDED] = code, argument


class _Crew:
    """So many helpers. Not for two threads at once: whoever leads has taken it."""

    def __init__(self, helpers: int, program: Program) -> None:
        size = 8 * (pool_text.DISMISSED + 1)
        self._memory = (ctypes.c_uint8 * (size + abi.ALIGNMENT))()
        address = abi.aligned(ctypes.addressof(self._memory))
        self._state = (ctypes.c_int64 * (size // 8)).from_address(address)
        self._address = ctypes.c_void_p(address)
        self._program, self._call = program, program.function  # its code must stay
        self._threads = [
            threading.Thread(target=self._help, args=(number,), name=f"hastega_crew_{number}", daemon=True)
            for number in range(1, helpers + 1)
        ]
        for each in self._threads:
            begin(each)

    def _help(self, number: int) -> None:
        self._call(self._address, ctypes.c_void_p(number))

    def lead(self, call: Call) -> None:
        """Make the call on this thread and on all who come; returns when all are done with it."""
        self._state[pool_text.CALL] = call.address
        self._call(self._address, _LEADER)

    def rouse(self) -> None:
        """Let the helpers look for a call for a while."""
        self._call(self._address, _ROUSER)

    def dismiss(self) -> None:
        """Let the helpers go, before the memory of their code does."""
        self._state[pool_text.DISMISSED] = 1
        self._call(self._address, _LEADER)
        for each in self._threads:
            each.join(_PATIENCE)


_LEADER, _ROUSER = ctypes.c_void_p(0), ctypes.c_void_p(-1)
_PATIENCE = 0.1
"""Seconds for a helper to leave."""


class _Crews:
    """Those of this process, by their number of helpers."""

    def __init__(self) -> None:
        self.idle: defaultdict[int, list[_Crew]] = defaultdict(list)
        self.made: Counter[int] = Counter()
        self.coming: set[int] = set()
        self.lock = held_while_forking(threading.Lock())

    def summon(self, helpers: int) -> None:
        """Have one more made, where another can be and none is on its way."""
        if helpers in self.coming or self.made[helpers] >= _MOST:
            return
        if pool_text.supported(cpu.host().triple):
            self.made[helpers] += 1
            self.coming.add(helpers)
            # Not a daemon: a process must not end while a compiler works in it.
            maker = threading.Thread(target=self._make, args=(helpers,), name="hastega_crew")
            with contextlib.suppress(RuntimeError):  # none can be begun when the process ends
                begin(maker)

    def _make(self, helpers: int) -> None:
        with self.lock:  # of two programs made at once one would be lost, and its code with it
            program = _program()
        with contextlib.suppress(RuntimeError):  # no more threads can be begun
            self.idle[helpers].append(_Crew(helpers, program))
        self.coming.discard(helpers)

    def forget(self) -> None:
        """There are none."""
        self.idle.clear()
        self.made.clear()
        self.coming.clear()

    def dismiss(self) -> None:
        """Let all go that wait, and make no others."""
        for helpers, crews in self.idle.items():
            self.made[helpers] = _MOST
            while crews:
                crews.pop().dismiss()


_crews = _Crews()
atexit.register(_crews.dismiss)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_crews.forget)  # threads are not copied


def together(call: Call) -> bool:
    """Make a call with the first place here, with the others on threads that come in time.

    The calls share the work among them: whoever comes first does it. Returns when all that began are done, which
    nothing interrupts. False where nobody is there to help: nothing was called then.
    """
    crews = _crews.idle[call.helpers]
    try:
        crew = crews.pop()
    except IndexError:
        _crews.summon(call.helpers)
        return False
    try:
        crew.lead(call)
    finally:
        crews.append(crew)
    return True


def rouse(helpers: int) -> None:
    """Have helpers awake for a call that is being made ready: to wake takes them 40 to 90 µs."""
    for each in _crews.idle[helpers][-1:]:
        each.rouse()


@cache
def _program() -> Program:
    return cpu.compile_text(pool_text.text(cpu.host().triple))


__all__ = ["Call", "rouse", "together"]
