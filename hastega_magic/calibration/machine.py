"""All of a calibration: measured within some seconds, then stored."""

from __future__ import annotations

import time

from hastega_magic.calibration import devices, host, interpreter
from hastega_magic.compiler import costs
from hastega_magic.cost.machine import Fit, Machine
from hastega_magic.cost.store import Store
from hastega_magic.progress import task

_STEPS = 14
"""About so many things are measured."""


def calibrate(store: Store | None = None) -> Machine:
    """Measure this machine and store the figures, for this process and later ones; less than five seconds.

    KeyboardInterrupt goes through at any time, and leaves what was stored before. `store`: another place than the
    user's cache folder.
    """
    identity = costs.identity()
    with task("calibrate", _STEPS) as work, costs.pinned("parallel"), costs.not_learning():
        done = 0

        def step(what: str) -> None:
            nonlocal done
            done += 1
            work.label = f"calibrate ({what})"
            work.at(min(done, _STEPS - 1))

        measured = host.measure(identity.threads, step)
        python = interpreter.measure(step)
        fits: list[Fit] = list(measured.fits)
        found = devices.measure(step, fits)
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    machine = Machine(identity, when, measured.cpu, python, found, tuple(fits))
    costs.adopt(machine, store)
    return machine


__all__ = ["calibrate"]
