"""What functions lead to."""

import functools
import statistics  # noqa: F401  texts below name it
import types

import numpy as np
import pytest

from hastega_magic.syntax.closures.libraries import is_library
from hastega_magic.syntax.closures.reachable import Endless, fields, may_read, reached

k = 1


def plain(x):
    return x + k


class Owner:
    rate = 2

    def method(self, x):
        return plain(x)

    @property
    def computed(self):
        return k

    @classmethod
    def of_class(cls, x):
        return x + k


class Slotted:
    __slots__ = ("held",)


def slotted():
    found = Slotted()
    found.held = plain
    return found


def generated():
    yield k


ATTRIBUTE = types.SimpleNamespace(f=plain)
OWNER, SLOTTED, TABLE, MAPPING, ARRAY = Owner(), slotted(), [plain], {1: plain}, np.array([plain], object)
READING = {
    "function": "plain",
    "inner function": "lambda x: (lambda y: y + k)(x)",
    "called": "lambda x: plain(x)",
    "default": "lambda x, f=plain: f(x)",
    "named default": "(lambda f: lambda x, *, g=f: g(x))(plain)",
    "closure": "(lambda f: lambda x: f(x))(plain)",
    "partial": "functools.partial(plain)",
    "keyword of a partial": "functools.partial(max, key=plain)",
    "bound method": "OWNER.method",
    "method": "lambda x: OWNER.method(x)",
    "property": "lambda x: OWNER.computed",
    "class method": "lambda x: Owner.of_class(x)",
    "attribute": "lambda x: ATTRIBUTE.f(x)",
    "slot": "lambda x: SLOTTED.held(x)",
    "list": "lambda x: TABLE[0](x)",
    "dict": "lambda x: MAPPING[1](x)",
    "array": "lambda x: ARRAY[0](x)",
    "cache": "functools.lru_cache(plain)",
    "generator": "generated()",
    "map": "map(plain, [1])",
    "by any name": 'lambda x: globals()["k"]',
    "tuple": "(1, (plain,))",
}
NOT = {
    "library": "statistics.mean",
    "builtin": "abs",
    "ufunc": "np.sqrt",
    "no name": "lambda x: x + 1",
    "numbers": "list(range(100_000))",
    "array": "np.arange(10)",
    "another name": "lambda x: Slotted",
}


@pytest.mark.parametrize("name", READING)
def test_what_is_read(name):
    assert may_read([eval(READING[name])], {"k"})


@pytest.mark.parametrize("name", NOT)
def test_what_is_not_read(name):
    assert not may_read([eval(NOT[name])], {"k"})


def test_there_is_an_end():
    many = [[number] for number in range(10_000)]
    with pytest.raises(Endless):
        list(reached([many]))
    assert may_read([lambda x: x, many], {"k"}), "what cannot be told counts"
    ring = []
    ring.append(ring)
    assert list(reached([ring])) == [ring]


def test_no_code_of_the_class_runs():
    class Asked:
        held = plain

        def __init__(self):
            object.__setattr__(self, "more", [1])

        def __getattribute__(self, name):
            raise AssertionError(name)

    asked = Asked()
    assert list(fields(asked)) == [[1]]
    assert not list(fields(object()))
    assert plain in list(reached([asked]))


def test_libraries():
    assert is_library(int)
    assert is_library(np.ndarray)
    assert is_library(functools.partial)
    assert not is_library(Owner)
    assert not is_library(plain)
    nameless = {}
    exec("class K: pass\ndef f(): pass", nameless)
    assert not is_library(nameless["K"])
    assert not is_library(nameless["f"])
