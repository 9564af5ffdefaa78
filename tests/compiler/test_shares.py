"""Shares of a loop: all elements, in blocks, done at once where rates say so, and nearer to it from run to run."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.compiler.choice.shares import LEAST, Book, Rate, balanced, rate, shares
from hastega_magic.ir.schedule import BLOCK

rates = st.builds(Rate, st.floats(1e-11, 1e-6), st.sampled_from([0.0, 1e-5, 1e-3, 1.0]))


@given(st.lists(rates, min_size=1, max_size=4), st.integers(1, 10**9))
def test_all_elements_are_given_in_blocks_and_no_part_is_small(each, length):
    parts = balanced(each, length)
    assert sum(parts) == length
    assert len(parts) == len(each)
    given_ = [part for part in parts if part]
    assert all(part % BLOCK == 0 for part in given_[:-1]), "a stretch begins at a block"
    assert len(given_) == 1 or min(given_) >= (LEAST - 1) * BLOCK


@given(st.lists(rates, min_size=2, max_size=4), st.integers(10**7, 10**9))
def test_those_that_take_part_are_done_at_once(each, length):
    parts = balanced(each, length)
    pairs = list(zip(each, parts, strict=True))
    ends = [one.seconds(part) for one, part in pairs if part]
    block = max(one.each * BLOCK for one, part in pairs if part)
    assert max(ends) - min(ends) <= 2 * block + 1e-9
    idle = [one for one, part in pairs if not part]
    assert all(one.once + LEAST * BLOCK * one.each >= min(ends) - 2 * block for one in idle), (
        "none was forgotten"
    )


@given(st.lists(rates, min_size=2, max_size=3), st.integers(10**6, 10**8))
def test_runs_bring_the_shares_into_balance(truth, length):
    book, names = Book(), [str(number) for number in range(len(truth))]
    best = max(one.seconds(part) for one, part in zip(truth, balanced(truth, length), strict=True))
    first = shares("loop", names, length, book)
    assert first.by == "probed"
    assert 0 < sum(first.elements) <= length // 2
    taken = []
    for elements in itertools.chain(
        [first.elements], (shares("loop", names, length, book).elements for _ in range(60))
    ):
        for name, one, part in zip(names, truth, elements, strict=True):
            book.note("loop", name, part, one.seconds(part))
        taken.append(max(one.seconds(part) for one, part in zip(truth, elements, strict=True)))
    block = sum(one.each * BLOCK for one in truth)
    # Trying again one that was left out for being slow costs a run now and then.
    assert min(taken[-10:]) <= 1.15 * best + (LEAST + 2) * block


def test_what_was_measured_goes_before_predictions_and_these_before_a_probe():
    def predict(length):
        return [Rate(1e-9), Rate(3e-9)]

    book, names = Book(), ["parallel", "opencl:0"]
    assert shares("a", names, 1 << 24, book).by == "probed"
    predicted = shares("a", names, 1 << 24, book, predict)
    assert (predicted.by, predicted.elements) == ("predicted", (3 << 22, 1 << 22))
    book.note("a", "parallel", 1 << 20, 3e-3)
    assert shares("a", names, 1 << 24, book, predict).by == "predicted", "of one of them nothing is known yet"
    book.note("a", "opencl:0", 1 << 20, 1e-3)
    measured = shares("a", names, 1 << 24, book, predict)
    assert (measured.by, measured.elements) == ("measured", (1 << 22, 3 << 22))
    assert shares("b", names, 1 << 24, book).by == "probed"
    book.clear()
    assert shares("a", names, 1 << 24, book).by == "probed"


@given(st.integers(2, 6), st.integers(1, 200 * BLOCK))
def test_a_probe_never_goes_beyond_the_end(count, length):
    """The last window of a vast loop may have fewer blocks than there are back ends."""
    parts = shares("a", [str(number) for number in range(count)], length, Book()).elements
    assert len(parts) == count
    assert 0 < sum(parts) <= length
    assert all(part % BLOCK == 0 for part in parts) or parts[0] == length


def test_the_latest_run_counts_for_most():
    assert rate([(1000, 1.0)]).each == 1e-3
    assert 1e-3 < rate([(1000, 10.0), (1000, 1.0)]).each < 3e-3


def test_a_back_end_that_was_slow_once_is_tried_again():
    book = Book()
    book.note("a", "parallel", 1 << 24, 1e-3)
    book.note("a", "opencl:0", 1 << 16, 10.0)
    tried = 0
    for _ in range(100):
        elements = shares("a", ["parallel", "opencl:0"], 1 << 24, book).elements
        tried += elements[1] > 0
        book.note("a", "parallel", elements[0], elements[0] * 6e-11)
        book.note("a", "opencl:0", elements[1], elements[1] * 6e-11)
    assert tried > 20
