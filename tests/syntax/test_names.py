import ast
import builtins

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.syntax.cell import plan
from hastega_magic.syntax.reading.names import binds, is_pure_source, reads
from hastega_magic.syntax.reading.pipe import parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b.c[d]", "a b d"),
        ("lambda x, y=k: x + y + z", "k z"),
        ("[x + y for x in xs if x > k]", "xs y k"),
        ("[x for x in x]", "x"),
        ("{k: v for k in ks for v in k}", "ks"),
        ("xs |> map(lambda x: x * p) |> sum", "xs p"),
        ("xs |> zip(ys |> map(f)) |> take(n)", "xs ys f n"),
        ("xs |> other(k)", "xs other k"),
        ("x = y", "y"),
        ("x += y", "x y"),
        ("def f(a, b=c):\n  d = a + e\n  return d", "c e"),
        ("def f():\n  global g\n  g = h", "h"),
        ("lambda: (y := 3) + y", ""),
        ("@d\ndef f(): pass", "d"),
        ("f'{a + b!r:{c}}'", "a b c"),
    ],
)
def test_reads(text, expected):
    assert reads(parse(text).body[0]) == set(expected.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, (b, *c) = d", "a b c"),
        ("a.b = c[d] = 3", ""),
        ("for i in x: j = 1", "i j"),
        ("import a.b, c as d\nfrom e import f as g", "a d"),
        ("def f(x): y = 1", "f"),
        ("class C:\n  z = 1", "C"),
        ("with a as b, c as (d, e): pass", "b d e"),
        ("try: pass\nexcept E as e: k = 1", "e k"),
        ("print(y := 3)", "y"),
        ("[z := i for i in x]", "z"),
        ("lambda: (w := 3)", ""),
        ("del a", "a"),
        ("match x:\n  case [a, *b] | {'k': a, **b}: c = 1\n  case C(y=d) as e: pass", "a b c d e"),
        ("if x: a = 1\nelse: b = 2", "a b"),
        ("x: int = 3", "x"),
        ("while (n := f()): pass", "n"),
    ],
)
def test_binds(text, expected):
    assert binds(ast.parse(text).body[0]) == set(expected.split())


_names = st.sampled_from("abcde")
_statements = st.sampled_from(
    [
        "{0} = {1} + {2}",
        "{0} = (lambda {1}: {1} + {2})({0})",
        "{0} = sum([{1} * {2} for {1} in [{0}]])",
        "def f({0}={1}):\n  {2} = {0}\n  return {2}\n{0} = f()",
        "{0} += {1}",
        "{0} = ({1} := {2}) + 1",
        "for {0} in range({1}): {2} = {0}",
    ]
)


@given(_statements, _names, _names, _names)
def test_reads_and_binds_hold_all_that_running_reads_and_binds(statement, first, second, third):
    class Watched(dict):
        def __init__(self):
            super().__init__(dict.fromkeys("abcde", 2), __builtins__=builtins)
            self.read, self.bound = set(), set()

        def __getitem__(self, name):
            self.read.add(name)
            return super().__getitem__(name)

        def __setitem__(self, name, value):
            self.bound.add(name)
            super().__setitem__(name, value)

    tree = ast.parse(statement.format(first, second, third))
    names = Watched()
    exec(compile(tree, "<test>", "exec"), {"__builtins__": builtins, **dict.fromkeys("abcde", 2)}, names)
    allowed_reads = {name for node in tree.body for name in reads(node)} | binds(tree)
    assert names.read & set("abcdef") <= allowed_reads
    assert names.bound <= binds(tree)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("xs", True),
        ("range(10)", True),
        ("range(1, n + 1)", True),
        ("[1, 2, x]", True),
        ("(1, 2)", True),
        ("a[1:n]", True),
        ("a[::-1]", True),
        ("range(len(xs))", True),
        ("'abc'", True),
        ("-3", True),
        ("f(x)", False),
        ("range(f())", False),
        ("a.b", False),
        ("x + y", False),
        ("a[f()]", False),
        ("np.arange(3)", False),
        ("(yield)", False),
        ("[f()]", False),
        ("a[b[0]]", False),
        ("range(x |> sum)", False),
        ("range(*x)", False),
        ("(x := 3)", False),
    ],
)
def test_pure_sources(text, expected):
    assert is_pure_source(parse(text).body[0].value) is expected


def test_of_a_plan():
    (item,) = plan("total = xs |> map(lambda x: x % p) |> sum").items
    assert reads(item.site.bind_expression) - {"__hastega_bind__"} == {"xs", "p"}
    assert is_pure_source(item.site.source)


def test_a_dictionary_that_unpacks_its_elements():
    """`{**d for d in ds}`, which Python has since 3.15: a comprehension without a value."""
    made = ast.parse("{d: d for d in ds}", mode="eval")
    made.body.value = None
    assert reads(made.body) == {"ds"}
