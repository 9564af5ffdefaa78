"""A calibration in a few lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from hastega_magic.cost.machine import Curve, Device, Machine, Threads
from hastega_magic.report import units

_LIST = 1 << 20
"""Elements of a list that conversions are told of."""


def lines(machine: Machine) -> Iterator[str]:
    """What was measured of calls, threads, memory, lists, Python and the devices."""
    cpu, python = machine.cpu, machine.python
    yield f"{machine.identity.cpu}, {units.plural(machine.identity.threads, 'thread')}"
    starts = f"a call {units.seconds(cpu.call + cpu.setup)}"
    if cpu.all.count > 1:
        starts += (
            f"; {cpu.all.count} threads start in {units.seconds(cpu.all.start)}, {cpu.all.speed:.1f} × one"
        )
    yield starts
    for threads in {each.count: each for each in (cpu.one, cpu.all)}.values():
        yield _memory(threads)
    lists = ", ".join(f"{name} {units.seconds(each.at(_LIST))}" for name, each in cpu.lists.items())
    yield f"lists, an element: {lists}; back {units.seconds(cpu.unlist.at(_LIST))}"
    call = units.seconds(python.classes.get("call", 0.0))
    yield f"Python: {units.seconds(python.call)} to begin, {call} to call a function"
    for device in machine.devices:
        yield _device(device)


def _memory(threads: Threads) -> str:
    rates = ", ".join(
        f"{name} {_rate(curve, 1 << 20)} in caches, {_rate(curve, 1 << 28)} in memory"
        for name, curve in (("reads", threads.read), ("writes", threads.write))
    )
    return f"{units.plural(threads.count, 'thread')}: {rates}"


def _rate(curve: Curve, size: int) -> str:
    return units.rate(size, size * curve.at(size))


def _device(device: Device) -> str:
    text = f"opencl:{device.number} {device.name}: a launch {units.seconds(device.launch)}"
    if device.shared:
        return f"{text}; in the host's memory"
    (sent, got), size = device.pinned, 1 << 30
    ways = f"to it {units.rate(size, size * sent)}, back {units.rate(size, size * got)} (pinned)"
    whole = f"{units.rate(size, size * device.inward)} and {units.rate(size, size * device.outward)}"
    return f"{text}; {ways}; in a loop {whole}"


__all__ = ["lines"]
