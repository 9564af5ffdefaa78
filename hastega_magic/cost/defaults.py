"""Figures for a machine that was not measured: a modest one, so that nothing is promised. No device is known."""

from __future__ import annotations

from hastega_magic.cost.machine import Cpu, Curve, Identity, Machine, Python, Threads

CLASSES = {
    "simple": 0.25e-9, "float": 0.3e-9, "multiply": 0.8e-9, "madd": 0.45e-9, "divide": 6e-9, "root": 8e-9,
    "convert": 0.4e-9, "gather": 5e-9, "load": 0.4e-9, "strided": 6e-9, "index": 0.2e-9, "fold": 0.6e-9,
    "fold_float": 0.5e-9, "store": 0.6e-9, "pack": 3e-9, "running": 12e-9, "turn": 2e-9, "loop": 0.6e-9,
}  # fmt: skip
"""Seconds of a vector operation on one thread: two a cycle for the cheap ones, at some 2.5 GHz."""

PYTHON = {
    "element": 12e-9, "boxed": 12e-9, "call": 50e-9, "integer": 30e-9, "real": 25e-9, "small_real": 90e-9,
    "function": 60e-9, "collect": 60e-9, "total": 20e-9, "list": 15e-9, "pair": 40e-9,
}  # fmt: skip
"""Seconds of CPython's work for an element."""

_READ = ((1e4, 0.02e-9), (1e6, 0.04e-9), (1e7, 0.07e-9), (1e8, 0.12e-9))
_WRITE = ((1e4, 0.04e-9), (1e6, 0.06e-9), (1e7, 0.12e-9), (1e8, 0.2e-9))
_COPY = tuple((size, (one + other) / 2) for (size, one), (_, other) in zip(_READ, _WRITE, strict=True))
_LISTS = {"int64": 5e-9, "float64": 5e-9, "bool": 5e-9, "float32": 30e-9}


def machine(identity: Identity) -> Machine:
    """The assumed figures."""
    speed = max(1.0, 0.9 * identity.threads)
    shared = min(2.0, speed)  # the memory is one for all
    one = Threads(1, 40e-6, 1.0, 0.0, 1e-3, Curve(_READ), Curve(_WRITE), Curve(_COPY), 0.5e-9)
    curves = [
        Curve(tuple((size, each / shared) for size, each in points)) for points in (_READ, _WRITE, _COPY)
    ]
    start = 40e-6 + 20e-6 * identity.threads
    ramp = 0.0 if identity.threads == 1 else 5e-4
    several = Threads(identity.threads, start, speed, ramp, 1e-3, *curves, fresh=0.5e-9 / shared)
    lists = {name: Curve(((1e5, each),)) for name, each in _LISTS.items()}
    cpu = Cpu(25e-6, 0.0, 15e-6, CLASSES, one, several, lists, Curve(((1e5, 25e-9),)))
    return Machine(identity, "", cpu, Python(8e-6, PYTHON))


__all__ = ["CLASSES", "PYTHON", "machine"]
