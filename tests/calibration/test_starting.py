"""Drivers that start in a thread: whatever they do, a calibration goes on."""

import threading

import pytest

from hastega_magic.calibration import starting
from hastega_magic.calibration.starting import Starting

opencl = pytest.importorskip("hastega_magic.runtime.opencl")


class Device:
    def __init__(self, kind, log, fails=()):
        self.info = type("Info", (), {"kind": kind})
        self.log, self.fails = log, fails

    def queue(self):
        self._do("queue")

    def built(self, text):
        assert "__kernel" in text
        self._do("built")

    def _do(self, what):
        assert threading.current_thread() is not threading.main_thread()
        self.log.append((self.info.kind, what))
        if what in self.fails:
            raise RuntimeError("a driver's own way")


class Info:
    name, platform, number = "A device", "A platform", 0


def start(monkeypatch, *devices):
    infos = [type("Info", (Info,), {"name": str(number), "number": number}) for number in range(len(devices))]
    monkeypatch.setattr(opencl, "devices", lambda: infos)
    monkeypatch.setattr(opencl, "device", lambda spec: devices[int(spec.partition(":")[2])])
    begun = Starting()
    begun.wait()
    begun.finish()
    assert begun.ready


def test_contexts_come_first_and_a_cpus_compiler_before_anything_is_timed(monkeypatch):
    log = []
    start(monkeypatch, Device("cpu", log), Device("gpu", log))
    assert log[:3] == [("cpu", "queue"), ("cpu", "built"), ("gpu", "queue")]
    assert log[-1] == ("gpu", "built")


@pytest.mark.parametrize("fails", [("queue",), ("built",)])
def test_a_driver_that_fails_is_no_matter(monkeypatch, fails):
    log = []
    start(monkeypatch, Device("gpu", log, fails))
    assert log[0] == ("gpu", "queue")


def test_a_driver_that_hangs_is_not_waited_for_for_ever(monkeypatch):
    free = threading.Event()
    monkeypatch.setattr(starting, "_LONGEST", 0.01)
    monkeypatch.setattr(opencl, "devices", lambda: free.wait(10) and [])
    begun = Starting()
    begun.wait()
    assert not begun.ready
    free.set()
    begun.finish()
    assert begun.ready
