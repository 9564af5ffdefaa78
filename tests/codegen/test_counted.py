"""Loops that a counter ends after a known number of turns: no lane is kept back, and they run again at once."""

import itertools
import re

import numpy as np
import pytest
from battery import some

from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.runtime.cpu.direct import DirectCall
from hastega_magic.runtime.cpu.threaded import ThreadedCall
from hastega_magic.session import Options, Session

XS = np.random.default_rng(1).random(5000)
KS = np.random.default_rng(1).integers(-9, 10, 5000)


def ran(definition, expression, on="simd", **names):
    session = Session({"xs": XS, "ks": KS, **names}, Options(on=on, threads=2, baseline=False))
    session.run_cell(f"{definition}\nfound = {expression}")
    return session.namespace["found"], session.last_report.to_dict()["pipelines"][0]


def inner_loop(llvm):
    """The lines of the first loop inside the loop over elements."""
    return llvm[
        re.search(r"^turn\d+:", llvm, re.MULTILINE).start() : re.search(
            r"^turned\d+:", llvm, re.MULTILINE
        ).start()
    ]


LOGISTIC = "def f(x):\n    for j in range({}):\n        x = 3.7 * x * (1 - x)\n    return x"


@pytest.mark.parametrize("turns", [50, 20, 11, 97])
def test_no_lane_is_kept_back_where_the_number_of_turns_is_known(turns):
    found, told = ran(LOGISTIC.format(turns), "xs |> map(f)")
    body = inner_loop(told["code"]["llvm"])
    assert "select" not in body
    times = body.count(" fsub ") // told["vector"]["in_flight"]
    assert turns % times == 0
    assert times == max(each for each in range(1, 9) if turns % each == 0)
    x = XS.copy()
    for _ in range(turns):
        x = 3.7 * x * (1 - x)
    assert found.tobytes() == x.tobytes()


def test_lanes_are_kept_where_elements_may_leave_sooner():
    text = LOGISTIC.format(50).replace("(1 - x)", "(1 - x)\n        if x > 0.9: break")
    found, told = ran(text, "xs |> map(f)")
    llvm = told["code"]["llvm"]
    refilled = re.search(r"^refill:", llvm, re.MULTILINE)  # as with AVX-512, whose masks make that cheap
    assert refilled or "select" in inner_loop(llvm)
    space = {}
    exec(text, space)
    assert found.tolist() == [space["f"](x) for x in XS.tolist()]


def test_more_vectors_are_in_flight_where_none_waits_for_the_slowest():
    _, counted = ran(LOGISTIC.format(50), "xs |> map(f)")
    text = LOGISTIC.format(50).replace("(1 - x)", "(1 - x)\n        if x > 0.9: break")
    _, open_ended = ran(text, "xs |> map(f)")
    assert counted["vector"]["in_flight"] == 2 * open_ended["vector"]["in_flight"]


FUNCTIONS = {
    "steps": "def f(k):\n    s = k\n    for j in range(3, 77, {}):\n        s = s * 3 % 1009 + j\n    return s",
    "down": "def f(k):\n    s = k\n    for j in range({} + 12, 0, -1):\n        s = s * 3 % 1009 + j\n    return s",
    "counter": "def f(k):\n    s = 0\n    for j in range({} + 9):\n        s += k * j\n    return s + j",
    "nested": "def f(k):\n    s = 1\n    for i in range({} + 9):\n        for j in range(13):\n"
    "            s = (s * 5 + k * j + i) % 10007\n    return s",
    "branch": "def f(k):\n    s = 5\n    if k > 0:\n        for j in range({} + 10):\n"
    "            s = s * k % 127\n    return s",
    "two": "def f(k):\n    s = 0\n    for j in range({} + 9):\n        s += k\n"
    "    for j in range(11):\n        s = s * 7 % 101\n    return s",
}


@pytest.mark.parametrize(("name", "size"), some(itertools.product(FUNCTIONS, range(1, 13)), every=3))
def test_the_values_are_pythons_for_any_number_of_turns(name, size):
    text = FUNCTIONS[name].format(size)
    space = {}
    exec(text, space)
    expected = [space["f"](k) for k in KS.tolist()]
    found, _ = ran(text, "ks |> map(f)")
    assert found.tolist() == expected
    kept, _ = ran(text, "ks |> filter(lambda k: k % 3) |> map(f) |> sum")
    assert kept == sum(each for each, k in zip(expected, KS.tolist(), strict=True) if k % 3)


def test_an_element_that_raises_in_a_turn_does_so():
    text = "def f(k):\n    s = 0\n    for j in range(12):\n        s += 100 // (k - j)\n    return s"
    with pytest.raises(ZeroDivisionError):
        ran(text, "ks |> map(f)")
    found, _ = ran(text, "ks |> filter(lambda k: k < 0) |> map(f)")
    space = {}
    exec(text, space)
    assert found.tolist() == [space["f"](k) for k in KS.tolist() if k < 0]


def test_values_beyond_64_bits_are_pythons():
    text = "def f(k):\n    s = 1\n    for j in range(30):\n        s = s * (k + 40)\n    return s"
    space = {}
    exec(text, space)
    with pytest.warns(IntegerOverflowWarning):
        found, _ = ran(text, "ks |> map(f)")
    assert found.tolist() == [space["f"](k) for k in KS.tolist()]


@pytest.mark.parametrize(("n", "call"), [(1000, DirectCall), (200_000, ThreadedCall)])
@pytest.mark.parametrize(("turns", "many"), [(100, False), (1000, True)])
def test_few_turns_run_again_at_once_and_many_where_they_can_be_interrupted(
    n, call, turns, many, monkeypatch
):
    runs, run = [], call.run

    def noted(self, *given, **how):
        runs.append(self)
        return run(self, *given, **how)

    monkeypatch.setattr(call, "run", noted)
    monkeypatch.setattr("hastega_magic.runtime.threads.BRIEF", 10.0)
    session = Session({}, Options(on="parallel", threads=2, baseline=False, quiet=True))
    session.run_cell(f"{LOGISTIC.format(turns)}\ndef called(xs): return xs |> map(f)")
    xs = np.random.default_rng(2).random(n)
    first = session.namespace["called"](xs)
    session.namespace["called"](xs)
    runs.clear()
    assert session.namespace["called"](xs).tobytes() == first.tobytes()
    assert bool(runs) != many
