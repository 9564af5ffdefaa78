"""Short calls on all threads at once: whoever comes takes part, and nobody waits for who comes late."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator

import llvmlite.binding as llvm
import pytest

from hastega_magic.runtime import cpu
from hastega_magic.runtime.cpu import Program, pool, pool_text
from tests.compiler.battery import EFFORT

pytestmark = pytest.mark.skipif(
    not pool_text.supported(cpu.host().triple), reason="crews need Linux on x86-64 or AArch64"
)

_CLAIMS = """
define void @hastega(ptr %words, ptr %scratch) {
entry:
  %end.at = getelementptr i64, ptr %words, i64 1
  %end = load i64, ptr %end.at
  %turns.at = getelementptr i64, ptr %words, i64 2
  %turns = load i64, ptr %turns.at
  br label %claim
claim:
  %sum = phi i64 [ 0, %entry ], [ %more, %counted ]
  %mine = atomicrmw add ptr %words, i64 1 monotonic
  %there = icmp slt i64 %mine, %end
  br i1 %there, label %work, label %leave
work:
  %turn = phi i64 [ 0, %claim ], [ %next, %work ]
  %next = add i64 %turn, 1
  store volatile i64 %next, ptr %scratch
  %again = icmp slt i64 %next, %turns
  br i1 %again, label %work, label %counted
counted:
  %more = add i64 %sum, %mine
  br label %claim
leave:
  %total.at = getelementptr i64, ptr %words, i64 3
  %before = atomicrmw add ptr %total.at, i64 %sum monotonic
  %came.at = getelementptr i64, ptr %words, i64 4
  %others = atomicrmw add ptr %came.at, i64 1 monotonic
  ret void
}
"""
"""Words: next number to claim, end, turns for each, the sum of all claimed numbers, threads that took part."""


@pytest.fixture(scope="module")
def program() -> Program:
    return cpu.compile_text(_CLAIMS)


@pytest.fixture(autouse=True)
def apart() -> Iterator[None]:
    """Crews of these tests are their own."""
    pool._crews.dismiss()
    pool._crews.forget()
    yield
    pool._crews.dismiss()
    pool._crews.forget()


class Call:
    """One call after the other of the program above."""

    def __init__(self, program: Program, threads: int) -> None:
        self.words = (ctypes.c_int64 * 8)()
        self.rooms = [(ctypes.c_int64 * 8)() for _ in range(threads)]
        address = ctypes.c_void_p(ctypes.addressof(self.words))
        places = [ctypes.c_void_p(ctypes.addressof(each)) for each in self.rooms]
        self.call = pool.Call(program, address, places)

    def made(self, end: int, turns: int = 1) -> bool:
        self.words[:5] = [0, end, turns, 0, 0]
        return pool.together(self.call)

    @property
    def right(self) -> bool:
        end = self.words[1]
        return self.words[3] == end * (end - 1) // 2 and 1 <= self.words[4] <= len(self.rooms)

    def ready(self) -> None:
        limit = time.monotonic() + 60
        while not self.made(1):
            assert time.monotonic() < limit
            time.sleep(0.001)


def test_the_first_call_finds_nobody_and_has_a_crew_made(program: Program) -> None:
    call = Call(program, 3)
    assert not call.made(10)
    assert call.words[3] == 0  # nothing was called
    call.ready()
    assert call.made(1000)
    assert call.right


_MARKS = """
define void @hastega(ptr %where, ptr %nothing) {
entry:
  %count = load i64, ptr %where
  %copied.at = getelementptr i64, ptr %where, i64 1
  store i64 %count, ptr %copied.at
  ret void
}
"""


def test_who_leads_goes_on_when_all_are_done(program: Program) -> None:
    call, marks = Call(program, 3), cpu.compile_text(_MARKS)
    call.ready()
    came = ctypes.addressof(call.words) + 32
    for number in range(200):
        call.words[5] = 0
        call.call.fold(marks.address, came)
        assert call.made(number, 50)
        assert call.words[5] == call.words[4]  # how many took part, when it was looked at
    call.words[5] = 0
    call.call.fold(0, 0)
    assert call.made(10)
    assert call.words[5] == 0


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_all_is_done_once_however_long_they_waited(program: Program, threads: int) -> None:
    call, chance = Call(program, threads), random.Random(threads)
    call.ready()
    helped = turn = 0
    limit = time.monotonic() + 60
    while turn < 4000 or (not helped and time.monotonic() < limit):
        turn += 1
        if chance.random() < 0.2:
            pool.rouse(threads - 1)
        assert call.made(chance.choice([0, 1, 2, 7, 100]), chance.choice([1, 1, 50, 2000]))
        assert call.right, turn
        helped += call.words[4] > 1
        if turn % 16 == 0:
            time.sleep(chance.choice([0.0, 1e-5, 1e-4, 1e-3]))  # some still look, some sleep
    assert helped


def test_who_sleeps_can_be_roused_and_sleeps_again(program: Program) -> None:
    pool.rouse(1)  # nobody is there
    call = Call(program, 2)
    call.ready()
    state = pool._crews.idle[1][-1]._state

    def becomes(sleepers: int, rouses: bool = False) -> bool:
        limit = time.monotonic() + 60
        while state[pool_text.ASLEEP] != sleepers and time.monotonic() < limit:
            if rouses:
                pool.rouse(1)
        return time.monotonic() < limit

    assert becomes(1)
    calls = state[pool_text.CALLS]
    assert becomes(0, rouses=True)
    assert becomes(1)
    assert state[pool_text.CALLS] == calls  # nothing was called
    assert call.made(100)
    assert call.right


def test_calls_of_several_threads_at_once(program: Program) -> None:
    Call(program, 2).ready()
    wrong: list[tuple[int, ...]] = []
    helped: list[int] = []

    def caller(number: int) -> None:
        call = Call(program, 2)
        for _ in range(2000):
            if call.made(50, 20):
                helped.append(number)
                if not call.right:
                    wrong.append(tuple(call.words[:5]))

    callers = [threading.Thread(target=caller, args=(number,)) for number in range(6)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    assert not wrong
    assert helped
    assert pool._crews.made[1] <= 4


def test_an_interrupt_waits_for_the_call_and_leaves_the_crew(program: Program) -> None:
    call = Call(program, 2)
    call.ready()

    def interrupted() -> None:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        call.made(100, 1_000_000)
        time.sleep(1.0)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert call.right
    assert call.made(100)
    assert call.right


def test_nobody_joins_a_crew_that_is_dismissed(program: Program) -> None:
    Call(program, 2).ready()
    (mine,) = pool._crews.idle[1]
    assert mine._state[pool_text.JOINED] & pool_text.CLOSED
    mine.dismiss()
    assert mine._state[pool_text.JOINED] & pool_text.CLOSED
    for each in mine._threads:  # which a busy machine may keep waiting
        each.join(60)
        assert not each.is_alive()
    pool._crews.forget()


def test_one_crew_is_made_at_a_time(program: Program) -> None:
    Call(program, 2).ready()
    assert pool._crews.made[1] == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork")  # Python and JAX warn of it
def test_a_forked_process_has_a_crew_of_its_own(program: Program) -> None:
    call = Call(program, 2)
    call.ready()
    child = os.fork()
    if not child:
        try:
            assert not call.made(10)  # the helpers were not copied
            call.ready()
            assert call.made(1000)
            os._exit(0 if call.right else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert call.made(1000)
    assert call.right


@pytest.mark.parametrize("wait", [0.0, 0.005, 0.02, 0.2])
def test_a_process_ends_whatever_its_crew_is_at(wait: float) -> None:
    code = f"""
    import time
    import numpy as np
    from hastega_magic.session import Options, Session
    session = Session({{"xs": np.arange(300_000)}}, Options(on="parallel", threads=2, baseline=False, quiet=True))
    for _ in range(3):
        session.run_cell("t = xs |> sum")
    time.sleep({wait})
    session.run_cell("t = xs |> sum")
    assert session.namespace["t"] == 299_999 * 150_000
    """
    for _ in range(EFFORT):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")


def test_elsewhere_there_are_none(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_text, "supported", lambda triple: False)
    call = Call(program, 2)
    assert not call.made(10)
    time.sleep(0.05)
    assert not call.made(10)


@pytest.mark.parametrize("triple", ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"])
def test_the_text_of_each_architecture(triple: str) -> None:
    assert pool_text.supported(triple)
    llvm.parse_assembly(pool_text.text(triple)).verify()


def test_other_systems_are_not_supported() -> None:
    assert not pool_text.supported("arm64-apple-darwin23.1.0")
    assert not pool_text.supported("x86_64-pc-windows-msvc")
