"""The search by a synthetic clock: what it tries, how long, and what it takes."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.ir.schedule import Tuned
from hastega_magic.tuning.candidates import Space
from hastega_magic.tuning.search import Rejected, Search, Watch, run

VECTORS = tuple(
    Tuned(lanes, flight) for lanes in (4, 8, 16) for flight in (1, 2, 4) if (lanes, flight) != (8, 4)
)
SPACE = Space(Tuned(8, 4), VECTORS, (("grain", (1, 16)), ("prefetch", (0,))))


class Machine:
    """Runs take what `truth` says, a first one `compiling` seconds more; the clock moves with them alone."""

    def __init__(self, truth, compiling=0.01, noise=0.0):
        self.truth, self.compiling, self.now = truth, compiling, 100.0
        self.noise, self.random = noise, random.Random(1)
        self.seen, self.runs = set(), []
        self.told = []

    def measure(self, candidate):
        seconds = self.truth(candidate)
        if seconds is None:
            raise Rejected("no such instruction")
        seconds *= 1 + self.noise * self.random.expovariate(3)
        self.now += seconds + (self.compiling if candidate not in self.seen else 0)
        self.seen.add(candidate)
        self.runs.append(candidate)
        return seconds

    def search(self, limit=2.0, space=SPACE):
        search = Search(space)
        run(search, self.measure, Watch(limit, lambda: self.now, self.told.append))
        return search


def truth_of(seconds):
    return lambda candidate: seconds.get((candidate.lanes, candidate.in_flight), 2e-3)


def test_the_fastest_is_found_and_choices_are_put_together():
    def truth(candidate):
        seconds = {(8, 4): 1.0, (16, 2): 0.8}.get((candidate.lanes, candidate.in_flight), 1.3)
        return (
            1e-3 * seconds * (0.9 if candidate.grain == 16 else 1) * (0.9 if candidate.prefetch == 0 else 1)
        )

    machine = Machine(truth)
    found = machine.search()
    assert found.best.candidate == Tuned(16, 2, grain=16, prefetch=0)
    assert found.ended == "complete"
    assert len(found.trials) == SPACE.possible
    assert found.trials[0].candidate == SPACE.own
    assert machine.told == sorted(machine.told)
    assert 0 < machine.told[-1] <= 1


def test_the_compilers_own_is_kept_unless_something_is_clearly_faster():
    assert Machine(truth_of({(8, 4): 1e-3, (4, 2): 0.99e-3})).search().best.candidate == SPACE.own
    assert Machine(lambda candidate: 1e-3).search().best.candidate == SPACE.own
    slower = Machine(lambda candidate: 1e-3 if candidate == SPACE.own else 5e-3)
    assert slower.search().best.candidate == SPACE.own
    assert max(slower.runs.count(each) for each in VECTORS) == 2, "what is far off is not run often"


@given(st.integers(0, 2**32), st.floats(0.5, 0.9))
def test_noise_does_not_choose(seed, gain):
    machine = Machine(truth_of({(8, 4): 1e-3, (16, 1): gain * 1e-3}), noise=0.02)
    machine.random.seed(seed)
    assert (machine.search().best.candidate.lanes, machine.search().best.candidate.in_flight) == (16, 1)
    machine = Machine(lambda candidate: 1e-3, noise=0.02)
    machine.random.seed(seed)
    best = machine.search().best
    assert best.candidate == SPACE.own or best.least < 0.97 * 1.02e-3


@given(st.floats(0.05, 3.0), st.floats(1e-5, 0.05), st.floats(0, 0.4))
def test_the_time_is_kept(limit, each, compiling):
    machine = Machine(lambda candidate: each, compiling)
    found = machine.search(limit)
    # A candidate that is begun is compiled and run, and the last comparison is made: two rounds of it at least.
    assert found.seconds <= 1.25 * limit + compiling + 8 * each
    assert found.trials[0].seconds
    if len(found.trials) < SPACE.possible:
        assert found.ended == "time"


def test_what_cannot_run_is_told_and_not_taken():
    found = Machine(
        lambda each: None if each.lanes == 16 else 1e-3 * (1 if each.lanes == 8 else 0.5)
    ).search()
    refused = [each for each in found.trials if each.note]
    assert {each.candidate.lanes for each in refused} == {16}
    assert all(not each.seconds for each in refused)
    assert found.best.candidate.lanes == 4
    with pytest.raises(Rejected, match="no such instruction"):
        Machine(lambda each: None).search()


@pytest.mark.parametrize("after", range(1, 40))
def test_an_interrupt_keeps_the_best_so_far(after):
    machine = Machine(truth_of({(8, 4): 1e-3, (4, 1): 0.5e-3}))
    plain, search = machine.measure, Search(SPACE)

    def measure(candidate):
        if len(machine.runs) == after:
            raise KeyboardInterrupt
        return plain(candidate)

    with pytest.raises(KeyboardInterrupt):
        run(search, measure, Watch(2.0, lambda: machine.now))
    assert search.ended == "interrupted"
    assert search.trials[0].seconds
    best = search.best.candidate
    twice = machine.runs.count(Tuned(4, 1)) > 1
    assert (best.lanes, best.in_flight) == ((4, 1) if twice else (8, 4)), "one run says nothing"
