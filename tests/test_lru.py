"""What was asked for lately."""

import sys
import threading

import pytest

from hastega_magic import pipe
from hastega_magic.lru import LruCache


def test_what_nobody_has_asked_for_longest_goes_first():
    latest = LruCache(3)
    for key in "abc":
        assert latest.put(key, key.upper()) == key.upper()
    assert latest.get("a") == "A"
    latest.put("d", "D")
    assert latest.get("b") is None
    assert latest.values() == ("C", "A", "D")
    latest.put("c", "other")
    assert (latest.get("c"), len(latest.values())) == ("other", 3)
    latest.drop(str.islower)
    assert latest.values() == ("A", "D")
    assert latest.get("c") is None


@pytest.fixture
def often():
    """Threads take turns after each few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_share_it_where_keys_compare_by_python(often):
    class Key:
        def __init__(self, number):
            self.number = number

        def __hash__(self):
            return hash(self.number % 7)

        def __eq__(self, other):
            return self.number == other.number

    latest, failed = LruCache(20), []

    def use(first):
        try:
            for number in range(1500):
                key = Key((first + number) % 40)
                found = latest.get(key)
                assert found is None or found == key.number
                latest.put(key, key.number)
        except BaseException as error:
            failed.append(error)

    _at_once(use)
    assert failed == []
    assert 0 < len(latest.values()) <= 20


def test_threads_may_run_the_same_pipes(often):
    failed = []

    def run(first):
        try:
            for number in range(60):
                k = first + number
                assert pipe(range(300)).map(lambda x, k=k: x + k).sum() == sum(range(300)) + 300 * k
        except BaseException as error:
            failed.append(error)

    _at_once(run)
    assert failed == []


def _at_once(function):
    threads = [threading.Thread(target=function, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
