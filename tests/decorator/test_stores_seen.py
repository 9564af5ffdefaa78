"""What stores one turn after the other could be told from all at once by, is Python's loop."""

from __future__ import annotations

import threading
import types
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega
from tests.decorator.conftest import loops  # noqa: F401
from tests.decorator.test_stores import HEAD, XS, N, floats, function, ints, same


def test_the_last_element_is_what_it_was_when_it_was_reached(loops):  # noqa: F811
    same("def f(a, b):\n    for i, x in enumerate(b):\n        b[i] = x + 1\n    return i, x\n", ints, ints)
    text = "def f(a, b):\n    for i, (x, y) in enumerate(zip(b, a)):\n        b[i] = x + y\n        a[i] = x - y\n"
    same(f"{text}    return x, y\n", ints, floats)
    same(
        "def f(a, b):\n    for i, x in enumerate(b, True):\n        b[i - 1] = x + i\n    return x\n",
        ints,
        ints,
    )
    assert len(loops) == 6


def test_elements_from_the_end_are_stored_meanwhile(loops):  # noqa: F811
    same(f"{HEAD}    for i, x in enumerate(reversed(b)):\n        b[i] = x + 1\n", ints, ints)
    assert not loops


FIRST = {
    "a number": 7,
    "a float": 0.5,
    "a text": "x",
    "None": None,
    "truth": True,
    "a range": range(3),
    "a function": len,
}


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("kind", [list, np.array])
def test_a_tuple_may_hold_it_anywhere(name, kind, loops):  # noqa: F811
    text = "def f(t, b):\n    for i in range(1, len(b)):\n        b[i] = t[1][i - 1] * 2 % 1009 + 1\n"
    for nested in (False, True):
        code = text.replace("t[1]", "t[1][1]") if nested else text
        plain = function(code)
        found = []
        for f in (plain, hastega(plain)):
            b = kind([1] * N)
            f((FIRST[name], (8, b) if nested else b), b)
            found.append([*map(int, b)])
        assert found[0] == found[1]
    assert not loops


def test_a_module_may_hold_it(loops):  # noqa: F811
    found = []
    for decorate in (lambda f: f, hastega):
        held = types.ModuleType("held")
        b: Any = [1] * N
        held.t = b  # type: ignore[attr-defined]
        text = f"{HEAD}    for i in range(1, len(b)):\n        b[i] = held.t[i - 1] * 3 % 1009 + 1\n"
        decorate(function(text, held=held))(None, b)
        found.append(b)
    assert found[0] == found[1]
    assert not loops


def test_a_method_may_read_it(loops):  # noqa: F811
    found = []
    for decorate in (lambda f: f, hastega):
        b = [1] * N
        text = f"{HEAD}    for i in range(1, len(b)):\n        b[i] = a(i - 1) * 3 % 1009 + 1\n"
        decorate(function(text))(b.__getitem__, b)
        found.append(b)
    assert found[0] == found[1]
    assert not loops


@pytest.mark.parametrize("stride", [0, 4])
def test_places_of_an_array_may_overlap(stride, loops):  # noqa: F811
    text = f"{HEAD}    for i in range(len(b) - 1, -1, -1):\n        b[i] = i * 0.5\n"
    found = []
    for decorate in (lambda f: f, hastega):
        memory = np.zeros(N)
        decorate(function(text))(None, np.lib.stride_tricks.as_strided(memory, (N,), (stride,)))
        found.append(memory.tolist())
    assert found[0] == found[1]
    assert not loops


def test_names_of_the_target_are_given_values(loops):  # noqa: F811
    same(f"{HEAD}    for i, i in enumerate(a):\n        b[i - 501] = i\n", ints, ints)
    same(f"{HEAD}    for i, b in enumerate(a):\n        b[i] = 1\n", ints, ints)
    assert not loops


def test_what_turns_leave_alone_stays_the_same_object(loops):  # noqa: F811
    f = hastega(
        function(f"{HEAD}    for i in range(len(a)):\n        if a[i] > 1000:\n            b[i] = a[i]\n")
    )
    a = [10**6 * (i % 2) + i for i in range(N)]
    b = [-(10**6) - i for i in range(N)]
    held = [*b]
    f(a, b)
    assert all(x is y for x, y in zip(b[::2], held[::2], strict=True) if x < 0)
    assert b[1::2] == a[1::2]
    assert loops


def test_threads_that_store_elsewhere_lose_nothing():
    text = f"{HEAD}    for i in range(len(b)):\n        if i % 2 == a:\n            b[i] = 2000 + i\n"
    f = hastega(function(text))
    for make in (lambda: [0] * 4 * N, lambda: np.zeros(4 * N, int)):
        for _ in range(5):
            b = make()
            threads = [threading.Thread(target=f, args=(which, b)) for which in (0, 1)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            assert min(b) >= 2000


class Ending:
    """An element whose end changes what turns read."""

    def __init__(self, place: int, into: list[int]) -> None:
        self.place, self.into = place, into

    def __del__(self) -> None:
        self.into[min(self.place + 1, 999)] = -7


def test_elements_that_end_are_told_in_their_turn(loops):  # noqa: F811
    found = []
    for decorate in (lambda f: f, hastega):
        a = [3] * 1000
        b: list[Any] = [Ending(place, a) for place in range(1000)]
        decorate(function(f"{HEAD}    for i in range(len(b)):\n        b[i] = a[i] * 2 + 1\n"))(a, b)
        found.append(b)
    assert found[0] == found[1]
    assert not loops


ASKED = {
    "stored": "b = [0.0] * len(a)\n    for i in range(len(a)):\n        b[i] = a[i] * 1e-300 * 1e-300\n    return b\n",
    "collected": "b = []\n    for i in range(len(a)):\n        b.append(a[i] * 1e-300 * 1e-300)\n    return b\n",
    "listed": "return [a[i] * 1e-300 * 1e-300 for i in range(len(a))]\n",
}


@pytest.mark.parametrize("name", ASKED)
def test_numpy_tells_of_underflow_where_it_is_asked_to(name):
    f = hastega(function(f"def f(a):\n    {ASKED[name]}"))
    a = np.ones(N)
    assert len(f(a)) == N
    with np.errstate(under="raise"), pytest.raises(FloatingPointError):
        f(a)
    with np.errstate(under="warn"), pytest.warns(RuntimeWarning, match="underflow"):
        f(a)


class Body:
    def __init__(self, scale: int, values: list[int]) -> None:
        self.scale, self.values = scale, values

    fill = function(
        "def f(self, out):\n    for i in range(len(out)):\n        out[i] = self.scale * self.values[i]\n"
    )


def test_objects_of_the_users_may_be_read(loops):  # noqa: F811
    fill, body = hastega(Body.fill), Body(3, [*XS])
    fill(body, out := [0] * N)
    assert out == [3 * x for x in XS]
    assert loops
    fill(body, body.values)
    assert body.values == [3 * x for x in XS]
