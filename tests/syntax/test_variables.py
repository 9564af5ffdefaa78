"""Which of a function's variables have a value before a `for` statement, and are read behind it."""

from __future__ import annotations

import ast
import textwrap

import pytest

from hastega_magic.syntax.ordinary.variables import AROUND, Around, note_variables, read_first


def around(body: str, parameters: str = "xs") -> list[Around | None]:
    """What is known at each `for` statement, in the order of the text."""
    text = f"def f({parameters}):\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    note_variables(function)
    loops = [each for each in ast.walk(function) if isinstance(each, ast.For)]
    return [getattr(each, AROUND, None) for each in sorted(loops, key=lambda each: each.lineno)]


def only(body: str, parameters: str = "xs") -> Around:
    (found,) = around(body, parameters)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("body", "before"),
    [
        ("t = 0\nfor x in xs: pass", "xs t"),
        ("if xs: t = 0\nfor x in xs: pass", "xs"),
        ("if xs: t = 0\nelse: t = 1\nfor x in xs: pass", "xs t"),
        ("if xs: t = 0\nelse: return\nfor x in xs: pass", "xs t"),
        ("if xs:\n    t = 0\nelse:\n    raise\nfor x in xs: pass", "xs t"),
        ("try: t = 0\nexcept E: pass\nfor x in xs: pass", "xs"),
        ("with a: t = 0\nfor x in xs: pass", "xs"),
        ("with a as t:\n    for x in xs: pass", "xs t"),
        ("a, (b, c) = xs\nd: int = 0\ne: int\nfor x in xs: pass", "xs a b c d"),
        ("while xs: t = 0\nfor x in xs: pass", "xs"),
        ("a += 1\nfor x in xs: pass", "xs a"),
        ("match xs:\n    case 1: t = 0\nfor x in xs: pass", "xs"),
        ("t = 0\ndel t\nfor x in xs: pass", "xs"),
    ],
)
def test_what_has_a_value(body: str, before: str) -> None:
    assert only(body).before == {*before.split()}


@pytest.mark.parametrize(
    ("body", "behind"),
    [
        ("for x in xs: t = x", ""),
        ("for x in xs: t = x\nreturn t, x", "t x"),
        ("for x in xs: t = x\nt = 0\nreturn t", ""),
        ("for x in xs: t = x\nt += 1", "t"),
        ("for x in xs: t = x\nif xs: t = 0\nreturn t", "t xs"),
        ("while xs:\n    print(t)\n    for x in xs: t = x", "t xs"),
        ("while xs:\n    t = 0\n    for x in xs: t = x", "xs"),
        ("while xs:\n    for x in xs: t = x\n    if a: break\nreturn t", "t xs"),
        ("while xs:\n    for x in xs: t = x\n    if a: continue\n    t = 0\nreturn t", "t xs"),
        ("try:\n    for x in xs: t = x\nexcept E:\n    return t", "t"),
        ("try:\n    for x in xs: t = x\nfinally:\n    print(t)", "t"),
        ("with a:\n    for x in xs: t = x\n    t = 0\nreturn t", "t"),
        ("match xs:\n    case 1:\n        for x in xs: t = x\n        t = 0\nreturn t", "t"),
        ("for x in xs: t = x\ntry:\n    t = 0\nexcept x: pass", "x"),
        ("for x in xs: t = x\nreturn [t for t in xs]", "xs"),
        ("for x in xs: t = x\nreturn [x for y in xs]", "x xs"),
    ],
)
def test_what_is_read_behind_it(body: str, behind: str) -> None:
    assert only(body).behind == {*behind.split()}


def test_a_loop_in_a_loop() -> None:
    outer, inner = around("for y in xs:\n    s += t\n    for x in xs: t = x\nreturn s", "xs, s, t")
    assert outer is not None
    assert inner is not None
    assert outer.behind == {"s"}
    assert inner.behind == {"s", "t", "xs"}
    assert inner.before == {"xs", "s", "t", "y"}


@pytest.mark.parametrize(
    ("body", "new"),
    [
        ("out = []\nfor x in xs: pass", {"out": "list"}),
        ("out: list = []\nt, d = 0, {}\nfor x in xs: pass", {"out": "list", "d": "dict"}),
        ("out = []\nif xs:\n    for x in xs: pass", {"out": "list"}),
        ("out = []\nwhile xs:\n    for x in xs: pass", {}),
        ("out = []\nprint(out)\nfor x in xs: pass", {}),
        ("out = other = []\nfor x in xs: pass", {}),
        ("out, out = [], xs\nfor x in xs: pass", {}),
        ("out, *out = [], xs\nfor x in xs: pass", {}),
        ("out = []\nfor x in out: pass", {}),
        ("out = [1]\nfor x in xs: pass", {}),
        ("out = []\nlater = lambda: out\nfor x in xs: pass", {}),
        ("global out\nout = []\nfor x in xs: pass", {}),
    ],
)
def test_what_nobody_else_knows_of(body: str, new: dict[str, str]) -> None:
    assert only(body).new == new


@pytest.mark.parametrize(
    ("body", "own"),
    [
        ("for x in xs: pass", "x xs"),
        ("g = lambda x: x + y\ny = 0\nfor x in xs: pass", "x xs g"),
        ("def g():\n    nonlocal y\n    y = 1\ny = 0\nfor x in xs: pass", "x xs g"),
        ("try: pass\nexcept E as e: pass\nfor x in xs: pass", "x xs"),
        ("nonlocal y\ny = 1\nfor x in xs: pass", "x xs"),
        ("class A:\n    z = y\ny = 0\nfor x in xs: pass", "x xs A"),
    ],
)
def test_whose_they_are(body: str, own: str) -> None:
    assert only(body).own == {*own.split()}


@pytest.mark.parametrize("look", ["locals()", "vars()", "dir()", "eval('t')", "exec('t = 1')"])
def test_nothing_is_known_where_all_variables_may_be_looked_at(look: str) -> None:
    assert around(f"for x in xs: t = x\n{look}") == [None]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("t += 1", "t"),
        ("y = x\nt = y", ""),
        ("if y: t = 1\nz = t", "t y"),
        ("for i in range(3): t += i", "t"),
        ("for i in range(3): t = i\nz = t + i", "i t"),
        ("while t: t = 0", "t"),
        ("if z: z = y\nelse: y = 1\ny = 0", "z y"),
    ],
)
def test_what_a_turn_reads_first(body: str, found: str) -> None:
    own = frozenset({"t", "y", "z", "i"})
    assert read_first(ast.parse(body).body, own) == {*found.split()}
