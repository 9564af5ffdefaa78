"""All of a calibration: measured within some seconds, then stored."""

from __future__ import annotations

import time

from hastega_magic.calibration import devices, host, interpreter
from hastega_magic.calibration.pace import PACE
from hastega_magic.calibration.starting import Starting
from hastega_magic.compiler.choice import costs
from hastega_magic.cost.machine import Fit, Machine
from hastega_magic.cost.sanity import check
from hastega_magic.cost.store import Store
from hastega_magic.errors import UsageError
from hastega_magic.progress import task

_STEPS = 14
"""About so many things are measured."""

_ALL, _REST = 4.8, 1.5
"""Seconds for everything; and for what comes after the start of drivers, at least."""

_WITHIN, _LEAST, _MOST = 3.3, 0.25, 0.6
"""Seconds before a device's lessons have to end; and how many they have at least, and at most."""


def calibrate(store: Store | None = None) -> Machine:
    """Measure this machine and store the figures, for this process and later ones; about five seconds.

    KeyboardInterrupt goes through at any time, and leaves what was stored before, as does the UsageError where no
    machine can have the figures. `store`: another place than the user's cache folder.
    """
    try:
        machine = _measured()
        check(machine)
    except (ArithmeticError, ValueError) as error:
        why = f"nothing that was timed makes sense ({error}), as where a clock stands still or jumps"
        raise UsageError(f"calibrate: {why}; nothing was stored") from error
    finally:
        PACE.stop()
    costs.adopt(machine, store)
    return machine


def _measured() -> Machine:
    identity, began = costs.identity(), time.perf_counter()
    starting = Starting()
    with task("calibrate", _STEPS) as work, costs.pinned("parallel"), costs.not_learning():
        done = 0

        def step(what: str) -> None:
            nonlocal done
            done += 1
            work.label = f"calibrate ({what})"
            work.at(min(done, _STEPS - 1))

        prepared = host.prepare(lambda: starting.ready)
        starting.wait()
        PACE.start(max(_ALL - (time.perf_counter() - began), _REST))
        python = interpreter.Interpreter()
        python.sample(step)
        measured = host.measure(identity.threads, step, prepared)
        if not PACE.part(0.68):  # once more, a second later
            python.sample(step)
        fits: list[Fit] = list(measured.fits)
        starting.finish()
        left = began + _WITHIN - time.perf_counter()
        least = 0.0 if PACE.part(0.72) else _LEAST
        found = devices.measure(step, fits, measured.cpu, min(max(left, least), _MOST))
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return Machine(identity, when, measured.cpu, python.figures(), found, tuple(fits))


__all__ = ["calibrate"]
