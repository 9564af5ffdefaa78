"""Attributes of captured objects, named tuples, and calls of functions that call others."""

import collections
import dataclasses
import functools
import operator
import types
import typing

import numpy as np
import pytest

from hastega_magic.session import Options, Session
from tests.compiler.battery import assert_interpreted, assert_like_python

Pair = collections.namedtuple("Pair", "x y", defaults=(3,))  # noqa: PYI024


class Named(typing.NamedTuple):
    a: int
    b: float = 2.5

    def doubled(self):
        return self.a * 2


@dataclasses.dataclass
class Settings:
    rate: float = 0.5
    n: int = 3
    inner: object = None
    array: object = None

    def scaled(self, x):
        return x * self.rate + self.n

    @property
    def computed(self):
        return self.n + 1


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    k: int = 4


class Plain:
    k = 4

    @staticmethod
    def moved(x):
        return x + 1


class Odd:
    def __getattribute__(self, name):
        return 5


def scaled(a, b=2):
    return a * b


NAMES = {
    "Pair": Pair, "Named": Named, "Plain": Plain, "odd": Odd(), "plain": Plain(), "frozen": Frozen(),
    "pair": Pair(5, 6), "settings": Settings(inner=Frozen(7), array=np.arange(5.0)),
    "space": types.SimpleNamespace(rate=-0.0),
    "functools": functools, "operator": operator, "reduce": functools.reduce, "scaled": scaled,
    "part": functools.partial(scaled, b=9), "xs": list(range(20)),
}  # fmt: skip
BODIES = [
    "settings.rate * x + settings.n + settings.inner.k + space.rate",
    "settings.array[x % 5] + len(settings.array) + frozen.k + plain.k",
    "Plain.k * x + Plain.moved(x)",
    "settings.scaled(x)",
    "pair.x * x + pair[1]",
    "(lambda p: p.x * p.y + p[0] + len(p))(Pair(x, 2)) + (lambda p: p.x + p.y)(Pair(x))",
    "(lambda p: p.a * p.b)(Named(b=x, a=1)) + (lambda p: p.x)(Pair(x, 2) if x > 3 else Pair(2, x))",
    "sum(Pair(x, 2)) + (Pair(x, 1) < (5, 2)) + (Pair(x, 2) == (x, 2))",
    "(min((x, 3, 7), key=lambda v: -v), max(x, 3, 7.5, key=lambda v: abs(v - 5)))",
    "max(range(9), key=lambda v: (v * x) % 7) + min((v * x % 5 for v in range(6)), key=lambda v: v - 2)",
    "sum(map(lambda i: i * x, range(4))) + sum(map(lambda i: i * x, range(x)))",
    "sum(map(operator.mul, (1, 2, 3), (x, x, 4))) + max(map(abs, (x - 10, 3))) + any(map(lambda v: v > x, (1, 5)))",
    "list(map(lambda v: v + x, (1, 2)))[1] + sum(filter(lambda v: v > x, (1, 5, 9))) + sum(filter(None, range(x)))",
    "reduce(lambda a, b: a * x + b, (1, 2, 3), 0) + functools.reduce(operator.add, [x, 2, 3])",
    "reduce(lambda a, b: a + b * x, range(30), 0) + reduce(max, range(x), 0)",
    "ord('a') + part(x) + part(x, b=2) + scaled(b=x, a=2) + operator.mul(x, 3)",
]
LEFT = ["settings.computed + x", "odd.k + x", "Pair(x, 2)", "settings.missing + x", "Named(x).doubled()"]


@pytest.mark.parametrize("body", BODIES)
def test_as_python_has_it(body):
    ran = assert_like_python(f"xs |> map(lambda x: {body}) |> to_list", NAMES, on="parallel")
    assert [each["barriers"] for each in ran.report["pipelines"]] == [[]]
    assert_interpreted(ran)


@pytest.mark.parametrize("body", LEFT)
def test_what_is_left_to_python_is_right_too(body):
    ran = assert_like_python(f"xs |> map(lambda x: {body}) |> to_list", NAMES, on="parallel")
    assert ran.error or [each["barriers"] for each in ran.report["pipelines"]] != [[]]


FORM = """
def total():
    return range(6) |> map(lambda x: read({})) |> sum

def read(value):
    return value.k * 2 + value.more(1)

found = []
for turn in range(10):
    found.append(total())
    change(turn)
"""


@pytest.mark.parametrize("read", ["thing", "kept[0]", "holder.thing"])
def test_what_is_changed_between_runs_is_noticed(read):
    class Thing:
        k = 1

        def more(self, x):
            return self.k + x

    def change(turn):
        if turn == 2:
            Thing.k = 5
        if turn == 4:
            thing.k = 2.5
        if turn == 6:
            Thing.more = lambda self, x: 100 * x
        if turn == 7:
            del thing.k

    values = []
    for on in ("python", "parallel"):
        Thing.k, Thing.more, thing = 1, lambda self, x: self.k + x, Thing()
        names = {
            "thing": thing,
            "kept": (thing,),
            "holder": types.SimpleNamespace(thing=thing),
            "change": change,
        }
        session = Session(names, Options(on=on, baseline=False, quiet=True))
        session.run_cell(FORM.format(read))
        values.append(session.namespace["found"])
    assert values[0] == values[1]
    assert len(set(values[0])) == 5
