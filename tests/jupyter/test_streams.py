"""What is waited for before a value is shown."""

from __future__ import annotations

import os
import threading
from types import SimpleNamespace

import pytest

from hastega_magic.jupyter import streams


class Stream:
    """As ipykernel's: a thread reads what is written to a file."""

    def __init__(self) -> None:
        self._should_watch = True
        self._fid, self.file = os.pipe()
        self.watch_fd_thread = threading.Thread(target=self._take, daemon=True)
        self.watch_fd_thread.start()

    def _take(self) -> None:
        while os.read(self._fid, 100):
            pass


@pytest.fixture
def slept(monkeypatch):
    moments = []
    sleep = streams.time.sleep
    monkeypatch.setattr(streams.time, "sleep", lambda seconds: (moments.append(seconds), sleep(seconds)))
    return moments


@pytest.fixture
def stream(monkeypatch):
    made = Stream()
    # pytest puts its own streams into `sys` between a fixture and its test.
    monkeypatch.setattr(streams, "sys", SimpleNamespace(stdout=made, stderr=None))
    yield made
    os.close(made.file)
    made.watch_fd_thread.join(10)
    os.close(made._fid)


def test_what_c_code_has_written_is_waited_for(stream, slept):
    readers = streams.Readers()
    os.write(stream.file, b"written")
    readers.wait()
    assert slept


@pytest.mark.skipif(not hasattr(streams.time, "pthread_getcpuclockid"), reason="no clocks of threads here")
def test_nothing_is_waited_for_where_nothing_was_written(stream, slept, monkeypatch):
    monkeypatch.setattr(streams, "_cpu_seconds", lambda thread: 0.25)
    streams.Readers().wait()
    assert not slept


def test_one_that_waits_for_a_processor_is_not_taken_to_be_at_rest(stream, slept, monkeypatch):
    clock = iter([0.25, 0.5, 0.5, 0.5, 0.75])  # it has read, cannot go on for a while, and does then
    monkeypatch.setattr(streams, "_cpu_seconds", lambda thread: next(clock, 0.75))
    readers = streams.Readers()
    readers.wait()
    assert list(clock) == []
    assert 3 < len(slept) < streams._MOMENTS


def test_where_the_system_tells_nothing_a_moment_is_waited(stream, slept, monkeypatch):
    monkeypatch.setattr(streams, "_cpu_seconds", lambda thread: None)
    streams.Readers().wait()
    assert len(slept) == 1


def test_a_thread_that_has_ended_has_no_clock():
    ended = threading.Thread(target=bool)
    ended.start()
    ended.join()
    assert streams._cpu_seconds(ended) is None
    assert streams._cpu_seconds(None) is None


def test_streams_that_nobody_watches_need_no_waiting(slept, monkeypatch):
    monkeypatch.setattr(streams, "sys", SimpleNamespace(stdout=None, stderr=object()))
    streams.Readers().wait()
    assert not slept
