"""Lists that exchange elements: each of them is there once, and as often referred to as before."""

from __future__ import annotations

import sys
import weakref

import numpy as np
import pytest

from hastega_magic.runtime.objects import exchange
from hastega_magic.runtime.objects.exchange import put, slice_of
from hastega_magic.runtime.objects.lists import WORTH

N = 2 * WORTH
PLACES = [
    range(N), range(1, N), range(N - 1, -1, -1), range(0, N, 2), range(N - 1, -1, -2), range(3, 3), range(5),
    range(4, 1, -1),
]  # fmt: skip


@pytest.mark.parametrize("places", PLACES, ids=str)
def test_items_stand_in_their_places(places):
    data, expected, items = [*range(N)], [*range(N)], [-each - 0.5 for each in places]
    for place, item in zip(places, items, strict=True):
        expected[place] = item
    put(data, places, [*items])
    assert data == expected
    assert [*range(N)][slice_of(places)] == [*places]


class Kept:
    pass


@pytest.mark.parametrize("native", [True, False])
def test_references_are_those_of_an_assignment(native, monkeypatch):
    if not native:
        monkeypatch.setattr(exchange, "_exchange", lambda: None)
    old, new = Kept(), Kept()
    data, items = [old] * N, [new] * N
    many = sys.getrefcount(new)
    gone = weakref.ref(old)
    put(data, range(N), items)
    del items, old
    assert gone() is None
    assert sys.getrefcount(new) == many
    assert data == [new] * N


@pytest.mark.parametrize("step", [1, -1])
def test_a_list_that_has_become_shorter_is_left_as_it_is(step):
    data = [*range(N)]
    with pytest.raises(IndexError):
        put(data, range(1, N + 1)[::step], [0] * N)
    assert data == [*range(N)]


@pytest.mark.parametrize("places", PLACES, ids=str)
def test_some_items_stay_where_they_are(places):
    data, expected, items = [*range(N)], [*range(N)], [-each - 0.5 for each in places]
    which = np.arange(len(places)) % 3 == 1
    for place, item, chosen in zip(places, items, which, strict=True):
        expected[place] = item if chosen else expected[place]
    put(data, places, items, which)
    assert data == expected
