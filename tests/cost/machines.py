"""Machines with round figures, on which anybody can compute what is best."""

from hastega_magic.cost.features import CLASSES, PYTHON_CLASSES
from hastega_magic.cost.machine import Cpu, Curve, Device, Identity, Machine, Python, Threads

GPU = Device(
    number=0, name="A GPU", platform="A platform", driver="1.0", kind="gpu", shared=False, launch=1e-4, kernel=1e-5,
    chunk=4e6, latency=(1e-5, 1e-5), pinned=(2e-11, 2e-11), pageable=(1e-10, 1e-10), inward=1e-10, outward=1e-10,
    fresh=0.0, local=0.0, stored=0.0, compile=0.1, classes=dict.fromkeys(CLASSES, 1e-13),
    block=dict.fromkeys(CLASSES, 1e-10),
)  # fmt: skip


def machine(*devices, threads=4, calibrated="2026-01-01T00:00:00Z", python=2e-8, start=5e-5, ramp=0.0):
    """Vector operations of 0.8 ns, memory of 10 GB/s for one thread and 20 for all, Python 20 ns an operation."""
    one = Threads(1, 1e-5, 1.0, 0.0, 1e-3, *[Curve(((1e4, 1e-10), (1e9, 1e-10)))] * 3, fresh=1e-9)
    several = Threads(
        threads, start, float(threads), ramp, 1e-3, *[Curve(((1e4, 5e-11), (1e9, 5e-11)))] * 3, fresh=5e-10
    )
    lists = {name: Curve(((1e5, 5e-9),)) for name in ("int64", "float64", "bool")} | {
        "float32": Curve(((1e5, 2e-8),))
    }
    cpu = Cpu(2e-5, 0.0, 1e-5, dict.fromkeys(CLASSES, 8e-10), one, several, lists, Curve(((1e5, 2e-8),)))
    identity = Identity("A CPU", threads, "3.11", "0.1.0", ("drivers",))
    return Machine(
        identity, calibrated, cpu, Python(5e-6, dict.fromkeys(PYTHON_CLASSES, python)), tuple(devices)
    )
