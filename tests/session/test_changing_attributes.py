"""Attributes that are other numbers in each turn of a loop: values, and how often something is compiled."""

import sys

import numpy as np
import pytest
from outcomes import compiled

from hastega_magic.session import Options, Session

pytestmark = pytest.mark.usefixtures("nothing_compiled")

TURNS = 24
XS = {"list": [1, 2, 3], "array": np.arange(20) % 3 + 1, "long": np.arange(5000) % 3 + 1}

NAMES = """
import math
from dataclasses import dataclass
from types import SimpleNamespace

class O:
    k = 7
    def __init__(self, k=0):
        self.k = k
        self.name = 'a text'
    def f(self, x):
        return x * self.k + 1
    def g(self, x):
        return self.f(x) * self.k

class Inherits(O):
    def f(self, x):
        return x - self.k

class Slots:
    __slots__ = ("k", "other")

class Class:
    k = 0

class Computed:
    def __init__(self):
        self.half = 0
    @property
    def k(self):
        return self.half * 2

class Asks:
    def __getattr__(self, name):
        return 5

@dataclass
class Data:
    k: float
    flag: bool = True

@dataclass(frozen=True)
class Frozen:
    k: float = 0.0

class Runs:
    def __init__(self):
        self.rate = 0
        self.step = 2
    def run(self, xs):
        return xs |> map(lambda x: x * self.rate + self.step) |> sum

o, p, n, s, c, a, r, inherits = O(), O(), SimpleNamespace(k=0), Slots(), Computed(), Asks(), Runs(), Inherits()
outer = SimpleNamespace(part=SimpleNamespace(k=0, deep=O()))
def around(x):
    return x * o.k
"""

CHANGING = {
    "attribute": ("o.k = i", "lambda x: x * o.k"),
    "float": ("o.k = i * 0.5", "lambda x: x * o.k - o.k"),
    "read twice": ("o.k = i", "lambda x: x * o.k + o.k // 2"),
    "two objects": ("o.k = i; p.k = -i", "lambda x: x * o.k + p.k"),
    "one object, two names": ("o.k = i; q = o", "lambda x: x * o.k + q.k"),
    "another object": ("o = O(i)", "lambda x: x * o.k"),
    "one and then two": ("o = O(i); q = o if i < 9 else O(i + 100)", "lambda x: x * o.k + q.k"),
    "method": ("o.k = i", "lambda x: o.f(x)"),
    "method of another": ("o = O(i)", "lambda x: o.g(x)"),
    "inherited": ("inherits.k = i", "lambda x: inherits.g(x)"),
    "function": ("o.k = i", "lambda x: around(x) + o.k"),
    "namespace": ("n.k = i", "lambda x: x * n.k"),
    "new namespace": ("n = SimpleNamespace(k=i, j=0.5)", "lambda x: x * n.k + n.j"),
    "slots": ("s.k = i", "lambda x: x * s.k"),
    "class": ("Class.k = i", "lambda x: x * Class.k"),
    "class by an instance": ("O.rate = i", "lambda x: x * o.rate"),
    "dataclass": ("d = Data(i * 0.5)", "lambda x: x * d.k if d.flag else 0"),
    "frozen": ("d = Frozen(i * 0.5)", "lambda x: x * d.k"),
    "nested": ("outer.part.k = i", "lambda x: x * outer.part.k"),
    "nested method": ("outer.part.deep.k = i", "lambda x: outer.part.deep.f(x)"),
    "new nested": ("outer = SimpleNamespace(part=O(i))", "lambda x: outer.part.f(x)"),
    "over several": ("o = [O(1), O(2), O(3)][i % 3]", "lambda x: x * o.k"),
    "a NumPy number": ("o.k = np.float64(i)", "lambda x: x * o.k"),
    "beyond 64 bits": ("o.k = 2**62 + i", "lambda x: x * o.k"),
    "negative zero": ("o.k = -0.0 if i % 2 else 0.0", "lambda x: math.copysign(1.0, o.k) * x"),
    "in a method": ("r.rate = i", None),
}


def python(number):
    """NumPy's numbers count as Python's."""
    return number.item() if isinstance(number, np.generic) else number


def cell(assigned, function):
    value = "r.run(XS)" if function is None else f"XS |> map({function}) |> sum"
    return f"ys = []\nfor i in range({TURNS}):\n    {assigned}\n    ys.append({value})\n"


def by_python(code, xs, names=NAMES):
    named = {"XS": [int(x) for x in xs], "np": np}
    for each in (names, code):
        text = each.replace("XS |> map(", "sum(map(").replace(") |> sum)", ", XS)))")
        text = text.replace(
            "xs |> map(lambda x: x * self.rate + self.step) |> sum",
            "sum(x * self.rate + self.step for x in xs)",
        )
        exec(text, named)
    return named


def by_session(code, xs, names=NAMES):
    session = Session({"XS": xs, "np": np}, Options(baseline=False))
    session.run_cell(names)
    session.run_cell(code)
    return session


@pytest.mark.parametrize("xs", XS)
@pytest.mark.parametrize("form", CHANGING)
def test_values_and_compilations(form, xs):
    code = cell(*CHANGING[form])
    found, expected = by_session(code, XS[xs]).namespace["ys"], by_python(code, XS[xs])["ys"]
    assert [float(each) for each in found] == [float(each) for each in expected]
    assert [type(each) for each in found] == [type(python(each)) for each in expected]
    assert compiled() < 6


@pytest.mark.parametrize(
    ("assigned", "function"),
    [
        ("o.k = i % 2 == 0", "lambda x: x * o.k"),
        ("o.k = 1 if i % 2 else True", "lambda x: o.k"),
        ("o.k = i if i % 3 else float(i)", "lambda x: x * o.k"),
        ("o.k = np.float64(i) if i % 2 else i", "lambda x: x * o.k"),
        ("o.k = 2**70 + i", "lambda x: x * o.k"),
        ("o.k = i if i % 5 < 4 else None", "lambda x: x * o.k"),
        ("o.k = i if i % 5 < 4 else 'a'", "lambda x: x * o.k"),
        ("o.k = i if i % 5 < 4 else (i, i)", "lambda x: x * 2 if o.k == 3 else 0"),
        ("o = O(i) if i % 2 else inherits", "lambda x: o.f(x)"),
        ("o = O(i) if i % 2 else n", "lambda x: x * o.k"),
        ("o = O(i) if i % 2 else Class", "lambda x: x * o.k"),
        ("o = O(i)\n    if i % 4 == 3: del o.k", "lambda x: x * o.k"),
        ("s = Slots()\n    if i % 4 < 3: s.k = i", "lambda x: x * s.k"),
        ("o = O(i)\n    if i % 4 == 3: o.f = lambda x: x - 100", "lambda x: o.f(x)"),
        ("if i % 4 == 3: O.f = lambda self, x: x - self.k * i", "lambda x: o.f(x)"),
        ("c.half = i", "lambda x: x * c.k"),
        ("o.k = i\n    if i == 6: o.__class__ = Inherits", "lambda x: o.f(x)"),
        ("q = o if i % 3 else O(i)\n    o.k = i; q.k = -i", "lambda x: o.f(x) + q.k"),
        ("O.k = i\n    if i == 5: o.k = 77\n    if i == 9: del o.k", "lambda x: x * o.k + O.k"),
        ("a.other = i", "lambda x: x * a.k"),
        ("vars(o).update(k=i)\n    if i == 9: O.k = property(lambda self: 55)", "lambda x: x * o.k"),
        ("o = O(i)\n    if i % 3: o.w = [i, i]\n    else: o.w = [1, i]", "lambda x: x * o.w[0] + o.k"),
        ("o = O(i); o.w = np.full(4, i)", "lambda x: o.w[x] + o.k"),
        ("o = O(i); q = o if i % 2 else O(i)", "lambda x: x if o is q else -x"),
        ("o = O(2); q = o if i % 2 else O(2)", "lambda x: x * o.k if o is q else -q.k"),
        ("o = O(2); q = o if i % 2 else O(3)", "lambda x: (o if x > 1 else q).k"),
        ("o.k = i; q = (o,)", "lambda x: x * o.k + q[0].k"),
        ("o.k = i", "lambda x, o=o: x * o.k"),
        ("outer.part = O(i); outer.same = outer.part", "lambda x: x * outer.part.k + outer.same.k"),
        ("outer.itself = outer; outer.k = i", "lambda x: x * outer.itself.k + outer.k"),
    ],
)
@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
def test_what_else_may_change(assigned, function):
    code = f"""
ys = []
for i in range({TURNS}):
    {assigned}
    try:
        ys.append(XS |> map({function}) |> to_list)
    except Exception as error:
        ys.append((type(error), str(error)))
"""
    found = by_session(code, [1, 2, 3]).namespace["ys"]
    expected = by_python(
        code.replace("XS |> map(", "list(map(").replace(") |> to_list)", ", XS)))"), [1, 2, 3]
    )["ys"]
    assert [[(type(each), each) for each in ys] for ys in found] == [
        [(type(python(each)), each) for each in ys] for ys in expected
    ]


def test_attributes_of_modules(tmp_path, monkeypatch):
    """A function of the module reads the number too, which it has by another name."""
    (tmp_path / "changed_in_turns.py").write_text("k = 1\ndef f(x):\n    return x * k\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    code = cell("m.k = i", "lambda x: m.f(x) + m.k")
    try:
        session = by_session(code, [1, 2, 3], "import changed_in_turns as m")
    finally:
        sys.modules.pop("changed_in_turns", None)
    assert session.namespace["ys"] == [9 * i for i in range(TURNS)]
    assert compiled() < 4


def test_functions_of_one_code_with_objects_of_their_own():
    code = """
def times(o):
    return lambda x: x * o.k
ys = []
for i in range(12):
    o, p = O(i), O(i + 1)
    ys.append(XS |> map(times(o)) |> map(times(p)) |> sum)
"""
    assert by_session(code, [1, 2, 3]).namespace["ys"] == [6 * i * (i + 1) for i in range(12)]


def test_a_cell_that_runs_again_with_another_attribute():
    session = by_session("", [1, 2, 3])
    for i in range(5):
        session.namespace["o"].k = i
        session.run_cell("y = XS |> map(lambda x: x * o.k) |> sum")
        assert session.namespace["y"] == 6 * i
    assert session.last is not None
    [pipeline] = session.last.report.pipelines
    assert any("`o.k` kept changing" in each for each in pipeline.why)
    assert compiled() < 3


def test_objects_are_let_go_of():
    code = """
import weakref
gone = []
for i in range(6):
    o = O(i)
    gone.append(weakref.ref(o))
    XS |> map(lambda x: x * o.k) |> sum
"""
    session = by_session(code, [1, 2, 3])
    assert [each() for each in session.namespace["gone"][:-1]] == [None] * 5
