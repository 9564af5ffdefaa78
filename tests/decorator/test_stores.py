"""`for` statements whose turns store into lists and arrays: loops leave there what Python leaves."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath.in_place import Places
from tests.decorator.conftest import loops  # noqa: F401

N = 5000
XS = [x * 7919 % 1001 - 500 for x in range(N)]


def function(text: str, **names: Any) -> Callable[..., Any]:
    """The function `f` of a text that Python's `linecache` knows."""
    name = f"<stores {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names["np"] = np
    exec(compile(text, name, "exec"), names)
    return names["f"]


def seen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype, repr(value.tolist())
    if isinstance(value, (list, tuple)):
        return type(value), [*map(type, value)], [*map(seen, value)] if type(value) is tuple else repr(value)
    return repr(value)


def outcome(call: Callable[..., Any], given: list[Any]) -> Any:
    """What it gives, or raises."""
    try:
        return seen(call(*given))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def same(text: str, *made: Callable[[], Any], **names: Any) -> None:
    """Whether a function and its decorated form leave the same in what these make for each, and give the same."""
    plain = function(text, **names)
    decorated = hastega(plain)
    for _ in range(2):
        theirs, ours = [each() for each in made], [each() for each in made]
        expected = outcome(plain, theirs)
        assert outcome(decorated, ours) == expected
        assert [*map(seen, ours)] == [*map(seen, theirs)]


def ints() -> list[int]:
    return [*XS]


def floats() -> list[float]:
    return [x / 8 for x in XS]


def array(dtype: str = "float64") -> Callable[[], Any]:
    return lambda: np.array(XS).astype(dtype)


def zeros(dtype: str = "float64", more: int = 0) -> Callable[[], Any]:
    return lambda: np.zeros(N + more, dtype)


HEAD = "def f(a, b):\n"
DONE = {
    "elements": ("for i in range(len(a)):\n        b[i] = a[i] * 3 + i\n", ints, ints),
    "floats": ("for i, x in enumerate(a):\n        b[i] = x / 3\n", ints, floats),
    "further on": ("for i in range(len(a) - 1):\n        b[i + 1] = a[i] * a[i]\n", ints, ints),
    "neighbours": ("for i in range(1, len(a) - 1):\n        b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3\n", ints, floats),
    "backwards": ("for i in range(len(a) - 1, -1, -1):\n        b[i] = a[i] + 1\n", ints, ints),
    "every third": ("for i in range(2, len(a), 3):\n        b[i] = a[i] * 2\n", ints, ints),
    "some of them": ("for i in range(len(a)):\n        if a[i] > 0:\n            b[i] = a[i] % 7\n", ints, ints),
    "one or the other": (
        "for i, x in enumerate(a):\n        if x < 0: continue\n        b[i] = x * x if x % 2 else -x\n", ints, ints),
    "added": ("for i in range(len(a)):\n        b[i] += a[i]\n", ints, ints),
    "read again": ("for i in range(len(a)):\n        b[i] = a[i] * 2\n        b[i] = b[i] * b[i]\n", ints, ints),
    "in turns": ("for i in range(len(a)):\n        for j in range(4):\n            b[i] += a[i] * j\n", ints, ints),
    "itself": ("for i, x in enumerate(b):\n        b[i] = x * 2 + a[i]\n", ints, ints),
    "behind it": ("for i, x in enumerate(b, 1):\n        b[i - 1] = x * 2\n", ints, ints),
    "numbered": ("for i, (x, y) in enumerate(zip(a, b)):\n        b[i] = x * y\n", ints, ints),
    "last": ("for i, x in enumerate(a):\n        b[i] = x + 1\n    return i, x\n", ints, ints),
    "into an array": ("for i in range(len(a)):\n        b[i] = a[i] * 2.5\n", floats, zeros()),
    "of an array": ("for i in range(len(a)):\n        b[i] = a[i] * 2\n", array(), zeros()),
    "whole numbers": ("for i in range(len(a)):\n        b[i] = i * i % 100\n", ints, zeros()),
    "narrow ones": ("for i in range(len(a)):\n        b[i] = i * i % 100\n", ints, zeros("uint8")),
    "float32": ("for i in range(len(a)):\n        b[i] = a[i] * 2.0\n", array("float32"), zeros("float32")),
    "adds to an array": ("for i in range(len(a)):\n        b[i] += a[i]\n", array("int64"), array("int64")),
    "a part of one": ("for i in range(len(a) // 2):\n        b[i] = a[i]\n", array(), lambda: np.zeros(2 * N)[::4]),
    "NaN in an array": ("for i in range(len(a)):\n        b[i] = a[i] * 0.5\n", lambda: np.full(N, np.nan), zeros()),
    "a mask": ("for i in range(len(a)):\n        if a[i] > 3:\n            b[i] = 1\n", ints, zeros("int8")),
    "a float": ("for i, x in enumerate(a):\n        if x < 0: continue\n        b[i] = 0.5\n", ints, floats),
    "in an array": ("for i in range(len(a)):\n        if a[i] > 3: b[i] = 0.25\n", array(), array()),
    "beside None": ("for i, x in enumerate(a):\n        if x % 3: b[i] = True\n", ints, lambda: [None] * N),
    "truth": ("for i in range(len(a)):\n        b[i] = a[i] > 3\n", ints, zeros("bool")),
    "its own": ("b = [0] * len(a)\n    for i in range(len(a)):\n        b[i] = a[i] ^ 5\n    return b\n", ints, ints),
    "two": (
        "c = [0.0] * len(a)\n    for i, x in enumerate(a):\n        b[i] = x + 1\n        c[i] = x / 2\n    return c\n",
        ints, ints),
}  # fmt: skip


@pytest.mark.parametrize("name", DONE)
def test_loops_do_it(name, loops):  # noqa: F811
    text, *made = DONE[name]
    same(HEAD + "    " + text, *made)
    assert len(loops) == 2


LEFT = {
    "beyond the end": ("for i in range(len(a) - 3):\n        b[i + 2] = a[i]\n", ints, lambda: [0] * (N - 5)),
    "from the end": ("for i in range(len(a)):\n        b[i - 1] = a[i] + 1\n", ints, ints),
    "another place": ("for i in range(len(a)):\n        b[(i * 7) % 100] = a[i]\n", ints, ints),
    "running": ("for i in range(1, len(a)):\n        b[i] = b[i - 3] + a[i]\n", ints, ints),
    "as a whole": ("for i in range(len(a)):\n        b[i] = a[i] + len(b)\n", ints, ints),
    "ahead": ("for i, x in enumerate(b, -1):\n        b[i + 2] = x * 2 % 1001\n", ints, lambda: [*XS, 3, 4]),
    "rounded by an array": ("for i in range(len(a)):\n        b[i] = a[i] / 3\n", ints, zeros("float32")),
    "cut off by an array": ("for i in range(len(a)):\n        b[i] = a[i] / 3\n", ints, zeros("int64")),
    "read again": (
        "for i in range(len(a)):\n        b[i] = a[i] / 3\n        b[i] *= 2\n",
        ints,
        zeros("float32"),
    ),
    "a tuple": ("for i in range(len(a)):\n        b[i] = a[i]\n", ints, lambda: tuple(XS)),
    "read-only": (
        "for i in range(len(a)):\n        b[i] = a[i]\n",
        ints,
        lambda: np.frombuffer(bytes(8 * N)),
    ),
    "too large for it": ("for i in range(len(a)):\n        b[i] = i\n", ints, zeros("int8")),
    "an element raises": ("for i in range(len(a)):\n        b[i] = 100 // (i - 4000)\n", ints, ints),
    "of two dimensions": ("for i in range(len(a)):\n        b[i] = a[i]\n", ints, lambda: np.zeros((N, 2))),
    "a dict": ("for i in range(len(a)):\n        b[i] = a[i] + 1\n", ints, lambda: {3: 4}),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_pythons(name, loops):  # noqa: F811
    text, *made = LEFT[name]
    same(HEAD + "    " + text, *made)
    assert not loops


ALIASES = {
    "the same list": lambda: (it := [*XS], it),
    "the same array": lambda: (it := np.array(XS), it),
    "a part of it": lambda: ((it := np.array(XS + XS))[3:], it[: N + 3]),
    "backwards": lambda: ((it := np.array(XS))[::-1], it),
    "the same memory": lambda: ((it := np.array(XS, float)).reshape(2, -1).ravel(), it),
    "in rows": lambda: ((it := [*XS]) and [it, it], it),
}


@pytest.mark.parametrize("name", ALIASES)
def test_what_shows_what_is_stored_is_read_in_order(name, loops):  # noqa: F811
    made = ALIASES[name]
    element = "a[0][i - 1]" if name == "in rows" else "a[i - 1]"
    plain = function(f"{HEAD}    for i in range(1, len(b)):\n        b[i] = {element} * 3 % 1009 + b[i]\n")
    decorated = hastega(plain)
    for _ in range(2):
        theirs, ours = made(), made()
        plain(*theirs)
        decorated(*ours)
        assert [*map(repr, map(seen, ours))] == [*map(repr, map(seen, theirs))]
    assert not loops or name == "the same memory"  # which `ravel` may have copied


SEES = {
    "a global variable": ("def g(i):\n    return there[i - 1] + 1\n", "g(i)"),
    "through another": ("def h(i):\n    return there[i - 1] + 1\ndef g(i):\n    return h(i)\n", "g(i)"),
    "a default": ("", "g(i)"),
    "an object": ("", "it.values[i - 1]"),
}


class Holder:
    def __init__(self, values: Any) -> None:
        self.values = values


@pytest.mark.parametrize("name", SEES)
@pytest.mark.parametrize("kind", [list, np.array])
def test_functions_see_each_turn(name, kind, loops):  # noqa: F811
    before, element = SEES[name]
    text = f"{before}{HEAD}    for i in range(1, len(b)):\n        b[i] = {element} % 1009\n    return b\n"
    found: list[Any] = []
    for decorate in (lambda f: f, hastega):
        there = kind(XS)
        names: dict[str, Any] = {"there": there, "it": Holder(there)}
        if name == "a default":
            names["g"] = lambda i, t=there: t[i - 1] + 1
        f = decorate(function(text, **names))
        found += [seen(f(None, there)), seen(f(None, there))]
    assert found[:2] == found[2:]
    assert not loops


def test_the_list_stays_the_same_one(loops):  # noqa: F811
    f = hastega(function(f"{HEAD}    for i in range(len(a)):\n        b[i] = a[i] + 1\n"))
    b = [0] * N
    held = b
    f(XS, b)
    assert held is b
    assert held == [x + 1 for x in XS]
    assert loops


def test_nan_objects_stay_themselves(loops):  # noqa: F811
    nan = float("nan")
    f = hastega(function(f"{HEAD}    for i in range(len(a)):\n        b[i] = a[i]\n"))
    a, b = [nan] * N, [0.0] * N
    f(a, b)
    assert a == b
    assert not loops


def test_numpys_warnings_are_given(loops):  # noqa: F811
    f = hastega(function(f"{HEAD}    for i in range(len(a)):\n        b[i] = a[i] * 2\n"))
    a = np.full(N, 100, np.int8)
    with pytest.warns(RuntimeWarning, match="overflow"):
        f(a, np.zeros(N, np.int8))
    assert not loops


def test_what_arrays_make_otherwise_is_not_computed_each_time(loops, monkeypatch):  # noqa: F811
    computed: list[int] = []
    store = Places.store
    monkeypatch.setattr(Places, "store", lambda *given: computed.append(1) or store(*given))
    f = hastega(function(f"{HEAD}    for i in range(len(a)):\n        b[i] = a[i] / 3\n"))
    for _ in range(15):
        f(XS, b := np.zeros(N, "float32"))
        assert b[7] == np.float32(XS[7] / 3)
    assert len(computed) == 3
    assert not loops


def test_no_warning_comes_from_us():
    f = hastega(function(f"{HEAD}    for i in range(len(a)):\n        b[i] = a[i] * 1e300\n"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f([1e300] * N, b := [0.0] * N)
    assert b == [float("inf")] * N
