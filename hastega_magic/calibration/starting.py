"""The first start of drivers, in a thread, while this one compiles what it will measure.

Loading a driver and making a context can take seconds in a process that is the machine's first. Some of it holds the
interpreter's lock, so nothing is to be timed before `ready`; a GPU's compiler, which starts after that, does not, and
takes none of the cores that are measured.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from hastega_magic.interrupts import begin

_LONGEST = 4.0
"""Seconds after which a driver is no longer waited for; measuring its device waits for it again."""

_TEXT = "__kernel void starting(__global long *x) { x[get_global_id(0)] += 3; }"


class Starting:
    """All devices' contexts and compilers."""

    def __init__(self) -> None:
        """Begins at once."""
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._start, name="hastega drivers", daemon=True)
        begin(self._thread)

    @property
    def ready(self) -> bool:
        """Whether the interpreter's lock is free of drivers."""
        return self._ready.is_set()

    def wait(self) -> None:
        """Until it is, or no longer."""
        self._ready.wait(_LONGEST)

    def finish(self) -> None:
        """Until compilers have started, too: drivers need not like two who ask at once."""
        self._thread.join()

    def _start(self) -> None:
        there: list[Any] = []
        try:
            from hastega_magic.runtime import opencl

            found = {(each.name, each.platform): each.number for each in opencl.devices()}
            there = [opencl.device(f"opencl:{number}") for number in found.values()]
            for each in there:
                each.queue()
                if each.info.kind == "cpu":  # its compiler would take a core that is measured
                    each.built(_TEXT)
        except Exception:  # no pyopencl, no driver, or one that fails: measuring devices meets that again
            there = []
        finally:
            self._ready.set()
        for each in there:
            with contextlib.suppress(Exception):  # as above
                each.built(_TEXT)


__all__ = ["Starting"]
