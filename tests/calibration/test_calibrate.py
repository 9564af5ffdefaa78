"""The calibration itself, once and for real; what it gives is looked at, never how fast it was."""

import itertools
import time

import pytest

from hastega_magic.calibration import cells, devices, host, interpreter
from hastega_magic.calibration import machine as calibration
from hastega_magic.calibration.pace import PACE, Pace
from hastega_magic.calibration.summary import lines
from hastega_magic.compiler.choice import costs
from hastega_magic.cost.features import CLASSES, PYTHON_CLASSES
from hastega_magic.cost.machine import Machine
from hastega_magic.cost.store import Store
from hastega_magic.errors import UsageError
from hastega_magic.progress import listening


@pytest.fixture
def store(tmp_path, monkeypatch):
    for name in ("machine", "store"):
        monkeypatch.setattr(costs._KNOWN, name, None)
    return Store(tmp_path / "cache", costs.identity())


class Listener:
    def __init__(self):
        self.shown = []

    def show(self, task):
        self.shown.append((task.path, task.fraction))

    def close(self):
        self.shown.append(("closed", 1.0))


def test_a_machine_is_measured_stored_and_used(store, monkeypatch):
    monkeypatch.setattr(host, "_SIZES", (1 << 15, 1 << 18, 1 << 21, 1 << 23))
    monkeypatch.setattr(devices, "_WITHIN", 0.2)
    listener = Listener()
    with listening(listener):
        found = calibration.calibrate(store)
    assert isinstance(found, Machine)
    assert costs.machine() is found
    assert Store(store.place, costs.identity()).machine() == found
    assert found.calibrated
    assert set(found.cpu.classes) == set(CLASSES)
    assert set(found.python.classes) == set(PYTHON_CLASSES)
    assert found.cpu.call > 0
    assert found.cpu.all.count == found.identity.threads
    assert 1 <= found.cpu.all.speed <= found.identity.threads
    for threads in (found.cpu.one, found.cpu.all):
        for curve in (threads.read, threads.write, threads.copy):
            sizes = [size for size, _ in curve.points]
            assert sizes == sorted(set(sizes))
            assert all(each > 0 for _, each in curve.points)
    try:
        from hastega_magic.runtime import opencl

        there = opencl.devices()
    except ImportError:
        there = ()
    assert [each.number for each in found.devices] == [each.number for each in there]
    for device in found.devices:
        assert min(device.launch, device.kernel, device.compile) > 0
        assert set(device.classes) == set(device.block) == set(CLASSES)
        assert (device.chunk == 0) == device.shared
    assert found.fits
    assert all(0 <= fit.r2 <= 1 and fit.a >= 0 and fit.b >= 0 for fit in found.fits)
    assert len(list(lines(found))) >= 6
    assert any(path.startswith("calibrate") for path, _ in listener.shown)
    assert listener.shown[-1][0] == "closed"


@pytest.mark.parametrize("where", [(host, "_block"), (host, "_lists"), (interpreter.Interpreter, "_seconds")])
def test_an_interrupted_calibration_leaves_what_was_there(store, monkeypatch, where):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(host, "_SIZES", (1 << 15, 1 << 18))
    monkeypatch.setattr(host, "LESSONS", host.LESSONS[:2])
    monkeypatch.setattr(*where, interrupt)
    assert store.update(lambda data: {**data, "before": 1})
    with pytest.raises(KeyboardInterrupt):
        calibration.calibrate(store)
    assert store.read() == {"before": 1}
    assert costs.auto() == "parallel" or costs.auto() == "", "nothing stays pinned"


@pytest.mark.parametrize("step", [0.0, -1e-3])
def test_a_clock_that_stands_still_or_runs_back_stores_nothing(store, monkeypatch, step):
    assert store.update(lambda data: {**data, "before": 1})
    moments = itertools.count(10**6)
    monkeypatch.setattr(time, "perf_counter", lambda: 1e6 + next(moments) * step)
    with pytest.raises(UsageError, match="nothing was stored"):
        calibration.calibrate(store)
    assert store.read() == {"before": 1}
    assert not PACE.hurried


def test_what_is_late_is_cut_short(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    pace = Pace()
    assert not pace.part(0.0), "nobody waits"
    assert pace.until(3.0) == 103.0
    pace.start(10.0)
    now[0] += 4.0
    assert not pace.part(0.5)
    assert pace.until(3.0) == 107.0
    assert pace.part(0.3)
    assert pace.until(3.0) == 105.0
    runs = []

    class Cell:
        def once(self, size):
            now[0] += 1.0
            runs.append(size)
            return 2e-3, 1e-3

    monkeypatch.setattr(cells, "PACE", pace)
    assert cells.in_turns([(Cell(), 7)], rounds=9, within=0.1, least=5) == [(2e-3, 1e-3)]
    assert len(runs) == 2, "one that does not count, and one"
    pace.stop()
    cells.in_turns([(Cell(), 7)], rounds=9, within=0.1, least=5)
    assert len(runs) == 12
