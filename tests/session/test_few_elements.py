"""Ordinary code over few elements, and over what is never compiled: Python runs it where it stands."""

import sys
import threading

import pytest

from hastega_magic.compiler.fastpath import handoff
from hastega_magic.decorator import hastega
from hastega_magic.session import Session

TREES = """
class Tree:
    def __init__(self, below):
        self.below = below

def chain(n):
    tree = Tree([])
    for _ in range(n):
        tree = Tree([tree])
    return tree

def of_an_attribute(tree): return 1 + max([of_an_attribute(each) for each in tree.below], default=0)
def of_a_call(tree): return 1 + sum(of_a_call(each) for each in list(tree.below))
def of_a_variable(tree):
    below = tree.below
    return 1 + sum(of_a_variable(each) for each in below)
def of_a_map(tree):
    below = tree.below
    return 1 + sum(map(of_a_map, below))
def of_a_dict(tree):
    below = dict.fromkeys(tree.below)
    return 1 + sum([of_a_dict(each) for each in below.keys()])
def of_a_display(tree):
    below, = tree.below or (None,)
    return 1 + sum(of_a_display(each) for each in (below,) if each)
"""
FUNCTIONS = ("of_a_display", "of_an_attribute", "of_a_call", "of_a_variable", "of_a_map", "of_a_dict")


def _cell(text):
    names = {}
    Session(names).run_cell(text)
    return names


def _python(text):
    names = {}
    exec(text, names)
    return names


def _deepest(function, made):
    """How deep a chain may be."""
    low, high = 1, sys.getrecursionlimit()
    while low < high:
        middle = (low + high + 1) // 2
        try:
            function(made(middle))
        except RecursionError:
            high = middle - 1
        else:
            low = middle
    return low


@pytest.mark.parametrize("name", FUNCTIONS)
def test_recursion_goes_as_deep_as_in_python(name):
    ours, theirs = _cell(TREES), _python(TREES)
    deepest = _deepest(theirs[name], theirs["chain"])
    # What looks at the elements needs some frames at the end, where there are none left.
    assert deepest - 10 <= _deepest(ours[name], ours["chain"]) <= deepest


def test_so_do_decorated_functions():
    class Tree:
        def __init__(self, below):
            self.below = below

    def depth(tree):
        return 1 + max([depth(each) for each in tree.below], default=0)

    def chain(n):
        return Tree([] if n == 0 else [chain(n - 1)])

    made = chain(300)
    assert depth(made) == 301
    plain = depth
    depth = hastega(plain)
    assert depth(made) == 301


EVENTS = """
def noted(value, text):
    events.append(text)
    return value

class Noting:
    def __init__(self, values):
        self.values = values
    def __iter__(self):
        events.append("iter")
        return iter(self.values)

def step(x):
    events.append(x)
    return x + 1

{}
"""

OBSERVED = [
    "found = [step(x) for x in noted([1, 2], 'xs')]",
    "found = sum(step(x) for x in noted([1, 2], 'xs'))",
    "found = sum((step(x) for x in noted(Noting([1, 2]), 'xs')), noted(3, 'start'))",
    "found = [step(x) + y for x, y in zip(noted(Noting([1, 2]), 'xs'), noted([3, 4], 'ys'))]",
    "found = [i + step(x) for i, x in enumerate(noted(Noting([1, 2]), 'xs'), noted(5, 'from'))]",
    "found = list(map(noted(step, 'f'), noted([1, 2], 'xs')))",
    "found = list(map(step, noted(Noting([1, 2]), 'xs')))",
    "found = {step(x): [step(y) for y in noted([x], 'ys')] for x in noted((1, 2), 'xs')}",
    "found = sorted((step(x) for x in noted({2, 1}, 'xs')), key=noted(None, 'key'))",
    "found = max([step(x) for x in noted([1, 2], 'xs')], default=noted(0, 'default'))",
    "sum = noted(max, 'sum')\nfound = sum(step(x) for x in noted([1, 2], 'xs'))",
    "def other():\n    global sum\n    sum = max\n    return [1, 2]\nfound = sum(step(x) for x in other())",
    "def other():\n    raise LookupError('xs')\nfound = [step(x) for x in other()]",
    "found = [step(x) for x in noted(5, 'no iterable')]",
    "found = sum(x for x in missing if x)",
    "found = missing_too(step(x) for x in missing)",
    "found = list(map(missing, missing_too))",
    "found = sum(filter(missing, missing_too))",
    "from functools import reduce\nfound = reduce(missing, missing_too, missing_as_well)",
    "xs = [1, 2]\nfound = sum(map(missing, xs))",
]


@pytest.mark.parametrize("text", OBSERVED)
def test_everything_is_evaluated_once_and_in_python_s_order(text):
    seen, before = [], len(handoff._LAID.values)  # what a test's interrupt left lies below
    for run in (Session, None):
        names = {"events": []}
        try:
            if run is None:
                exec(EVENTS.format(text), names)
            else:
                run(names).run_cell(EVENTS.format(text))
        except Exception as error:
            names["found"] = type(error), str(error)
        seen.append((names["found"], type(names["found"]), names["events"]))
    assert seen[0] == seen[1]
    assert len(handoff._LAID.values) == before


def test_many_elements_are_still_compiled_whatever_they_come_from():
    names = _cell(
        "def xs():\n    return list(range(1000))\nfound = [x * 3 for x in xs()], sum(x * x for x in xs())"
    )
    assert names["found"] == ([x * 3 for x in range(1000)], sum(x * x for x in range(1000)))
    session = Session(names)
    session.run_cell("[x * 5 for x in xs()]")
    assert [each.loops for each in session.last_report.pipelines] == [1]


def test_what_is_laid_down_is_each_thread_s_own():
    names = _cell("def total(n):\n    return sum(each(x) for x in tuple(range(n)))\ndef each(x): return x")
    found = {}

    def run(n):
        found[n] = {names["total"](n) for _ in range(2000)}

    threads = [threading.Thread(target=run, args=(n,)) for n in (3, 5, 7)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == {n: {sum(range(n))} for n in (3, 5, 7)}


def test_generators_inside_one_another():
    text = (
        "def f(ys):\n    return [sum(sum(sum(z for z in ys if z) + y for y in ys) for x in ys) for w in ys]"
    )
    assert _cell(text)["f"]([1, 2]) == _python(text)["f"]([1, 2])


@pytest.mark.parametrize("text", [
    "kind = type('', (), {'__iter__': __iter__})",
    "kind = type('S', (), {'__iter__': __iter__, '__module__': None})",
    "kind = type('S', (), {'__iter__': __iter__, '__module__': property(lambda self: 'pandas.core')})",
    "class M(type):\n    __name__ = property(lambda _: events.append(0))\nkind = M('S', (), {'__iter__': __iter__})",
    "class M(type):\n    def __getattribute__(_, name): events.append(0)\nkind = M('', (), {'__iter__': __iter__})",
])  # fmt: skip
def test_classes_are_asked_for_nothing(text):
    names = _cell(
        f"events = []\ndef __iter__(self): return iter((1, 2))\n{text}\n"
        "xs = kind()\nevents.clear()\n"
        "found = [x + 1 for x in xs], sum(x + 1 for x in kind()), list(map(abs, xs))"
    )
    assert names["found"] == ([2, 3], 5, [1, 2])
    assert names["events"] == []


def test_a_namespace_of_the_user_s_is_asked_once():
    text = """
class Counted(dict):
    def __missing__(self, name):
        if name not in ("xs", "f"):
            raise KeyError(name)
        asked.append(name)
        return [len(asked)] if name == "xs" else abs

class Meta(type):
    @classmethod
    def __prepare__(cls, name, bases):
        return Counted()

asked = []
class Made(metaclass=Meta):
    ys = [x + 1 for x in xs]
    total = sum(x + 1 for x in xs)
    pairs = [x + y for x, y in zip(xs, xs)]
    mapped = list(map(f, xs))
    plain = sum(xs)
found = Made.plain, Made.ys, Made.total, Made.pairs, Made.mapped, asked
"""
    assert _cell(text)["found"] == _python(text)["found"]


def test_many_elements_are_compiled_in_classes_too():
    session = Session({})
    session.run_cell("class A:\n    xs = list(range(1000))\n    ys = [x * 7 for x in xs]\nfound = A.ys")
    assert session.namespace["found"] == [x * 7 for x in range(1000)]
    assert [each.loops for each in session.last_report.pipelines] == [1]


def test_many_values_are_not_lost_where_other_code_runs_in_between():
    names = ", ".join(f"x{n}" for n in range(70))
    sources = ", ".join(f"xs({n})" for n in range(70))
    text = f"def f(xs):\n    return [x0 + x69 for {names} in zip({sources})]\n"
    ours = _cell(text + "def other():\n    return [x + 1 for x in list((1, 2))]")
    ran = 0

    def traced(frame, event, _):
        nonlocal ran
        if frame.f_code is ours["f"].__code__:
            if not frame.f_trace_opcodes:
                frame.f_trace_opcodes = True
                sys.settrace(traced)  # Python 3.12 asks there alone whether single instructions are traced
            ran += ours["other"]() == [2, 3]
            return traced
        return None

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        found = ours["f"](lambda n: [n])
    finally:
        sys.settrace(before)
    assert found == [69]
    assert ran > 70
