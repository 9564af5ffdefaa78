"""Branches, loops and returns in functions: what cells compute against what CPython does, on every back end."""

from __future__ import annotations

import math
import os
import signal
import threading
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hastega_magic.session import Options, Session

pytest.importorskip("pyopencl")

RNG = np.random.default_rng(5)
SOURCES = {
    "n": np.arange(1, 5_001),
    "small": np.arange(-60, 60),
    "x": np.linspace(-3, 3, 5_001),
    "wide": RNG.integers(-(2**62), 2**62, 4_500),
    "powers": np.array([(1 << bits) + off for bits in range(40, 63) for off in (-3, -1, 0, 1)]),
    "flags": RNG.integers(0, 2, 300).astype(bool),
    "f32": np.linspace(-2, 2, 5_001, dtype=np.float32),
    "nothing": np.arange(0),
}
TABLE = np.arange(50) * 3

FUNCTIONS = {
    "branches": (
        "x",
        "if v > 1.5:\n    return v * 2\nelif v > 0:\n    y = v + 1\nelse:\n    y = -v\nreturn y * 3",
    ),
    "early return": ("n", "if v % 3 == 0:\n    return -1\nif v % 3 == 1:\n    return v * v\nreturn v"),
    "guarded": ("small", "if v:\n    return 100 // v\nreturn 0"),
    "collatz": (
        "n",
        "steps = 0\nwhile v != 1:\n    v = v // 2 if v % 2 == 0 else 3 * v + 1\n    steps += 1\nreturn steps",
    ),
    "mandelbrot": (
        "x",
        (
            "a = b = 0.0\nfor i in range(200):\n    if a * a + b * b > 4:\n        return i\n"
            "    a, b = a * a - b * b + v, 2 * a * b + 0.3\nreturn 200"
        ),
    ),
    "gcd": ("n", "b = 360\nwhile b:\n    v, b = b, v % b\nreturn v"),
    "gcd of wide": ("wide", "b = 123456789012345678\nwhile b:\n    v, b = b, v % b\nreturn v"),
    "newton": (
        "x",
        "v = y = abs(v) + 0.1\nz = 0.0\nwhile abs(z - y) > 1e-9:\n    z = y\n    y = (y + v / y) / 2\nreturn y",
    ),
    "continue and break": (
        "x",
        (
            "s = 0.0\nfor i in range(20):\n    if i % 3 == 0:\n        continue\n    s += v * i\n"
            "    if s > 50:\n        break\nelse:\n    s = -1.0\nreturn s"
        ),
    ),
    "nested": ("n", "t = 0\nfor i in range(v % 10):\n    for j in range(i):\n        t += i * j\nreturn t"),
    "smallest divisor": ("n", "for d in range(2, v):\n    if v % d == 0:\n        return d\nreturn v"),
    "written out": ("n", "k = 0\nfor i in range(3):\n    k = k * v + i\nreturn k"),
    "array": ("n", "s = 0\nfor w in table:\n    if w > v:\n        break\n    s += w\nreturn s"),
    "numbered array": (
        "n",
        "s = 0\nfor i, w in enumerate(table):\n    if i == 7:\n        s += w * v\nreturn s",
    ),
    "tuple": ("x", "s = 0.0\nfor c in (1.5, -2.0, 0.25):\n    s = s * v + c\nreturn s"),
    "pair out": ("n", "a, b = 0, 1\nfor _ in range(v % 40):\n    a, b = b, a + b\nreturn a, b"),
    "type changes": ("x", "s = 0\nfor i in range(30):\n    s += v * i\nreturn s"),
    "type changes later": (
        "x",
        "s = 0\nfor i in range(30):\n    if i % 3 == 0:\n        continue\n    s += v * i\nreturn s",
    ),
    "while else": (
        "n",
        "k = v\nwhile k > 10:\n    k -= 7\n    if k == 21:\n        break\nelse:\n    return -k\nreturn k",
    ),
    "downwards": ("n", "s = 0\nfor i in range(v % 50, 0, -3):\n    s = s * 2 - i\nreturn s"),
    "last item": ("n", "for i in range(20):\n    if i * i > v:\n        break\nreturn i"),
    "bools": ("n", "odd = False\nwhile v:\n    odd = not odd\n    v = v & (v - 1)\nreturn odd"),
    "float32": ("f32", "for _ in range(12):\n    v = v * v - v\n    if v > 100:\n        break\nreturn v"),
    "flags": ("flags", "if v:\n    return 1\nreturn 2"),
    "nothing": ("nothing", "while v:\n    v -= 1\nreturn v"),
    "shift": ("n", "bits = 0\nwhile v:\n    bits += v & 1\n    v >>= 1\nreturn bits"),
    "elementary": ("x", "s = 0.0\nfor i in range(1, 12):\n    s += math.sqrt(abs(v) * i)\nreturn s"),
    "nested function": (
        "n",
        "def half(w, by=2):\n    return w // by + k\nk = 3\nfor i in range(10):\n    k = i\n    v = half(v)\nreturn v",
    ),
    "nested lambda": ("x", "g = lambda w, c=v: w * c + 1\nreturn g(g(2.0), c=3.0)"),
    "walrus": ("n", "s = 0\nwhile (w := v - s * s) > 7:\n    s += 1\nreturn w"),
    "growth that ends within reach": ("powers", "for _ in range(v % 7):\n    v = 3 * v + 1\nreturn v"),
    "growth that falls back": (
        "powers",
        "t = 0\nwhile v > 1:\n    v = 3 * v + 1 if v % 4 == 3 else v >> 2\n    t += v\nreturn t",
    ),
    "overflow": ("n", "p = 1\nfor _ in range(v % 30):\n    p *= 7\nreturn p"),
    "overflow for some": ("small", "p = 1\nfor _ in range(abs(v)):\n    p = p * 3 + 1\nreturn p"),
}


def function(body):
    return "def f(v):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def compare(text, source, **options):
    """The cell's result beside CPython's over the same elements; the error's type and text where it raises."""
    names = {"np": np, "math": math, "table": TABLE, "xs": source}
    python = dict(names)
    exec(text, python)
    session, options = Session(dict(names)), Options(baseline=False, **options)
    cell = text + "\ny = xs |> map(f) |> to_list\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = outcome(
            lambda: [python["f"](v) for v in (source if source.dtype == np.float32 else source.tolist())]
        )
        found = outcome(lambda: session.run_cell(cell, options=options))
    if isinstance(wanted, Exception):
        assert (type(found), str(found)) == (type(wanted), str(wanted))
        return session
    assert not isinstance(found, Exception), found
    found = session.namespace["y"]
    assert [str(each) for each in found] == [
        str(getattr(each, "item", lambda each=each: each)()) for each in wanted
    ]
    return session


def outcome(run):
    """What running gives, or the exception that it raises."""
    try:
        return run()
    except Exception as error:
        return error


@pytest.mark.parametrize("on", ["simd", "parallel", "opencl"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_in_python(name, on):
    source, body = FUNCTIONS[name]
    session = compare(function(body), SOURCES[source], on=on)
    (pipeline,) = session.last.report.to_dict()["pipelines"]
    assert pipeline["barriers"] == []
    assert pipeline["loops"] == 1


@pytest.mark.parametrize("width", [1, 2, 4, 16])
@pytest.mark.parametrize("name", ["collatz", "mandelbrot", "nested", "array", "overflow for some"])
def test_other_widths(name, width):
    source, body = FUNCTIONS[name]
    compare(function(body), SOURCES[source], width=width, threads=3)


@pytest.mark.parametrize("on", ["parallel", "opencl"])
def test_elements_that_are_left_out_make_no_turns(on):
    """For v below one the loop would never end."""
    text = function(
        "steps = 0\nwhile v != 1:\n    v = v // 2 if v % 2 == 0 else 3 * v + 1\n    steps += 1\nreturn steps"
    )
    session = Session({"xs": np.arange(-4_000, 1_000)})
    session.run_cell(
        text + "y = xs |> filter(lambda v: v > 0) |> map(f) |> sum", options=Options(on=on, baseline=False)
    )
    (pipeline,) = session.last.report.to_dict()["pipelines"]
    assert pipeline["barriers"] == []
    names = {}
    exec(text, names)
    assert session.namespace["y"] == sum(map(names["f"], range(1, 1_000)))


@pytest.mark.parametrize("on", ["parallel", "opencl"])
@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("k = 10\nwhile k:\n    k -= 1\n    v = v // (k - 3)\nreturn v", ZeroDivisionError),
        ("for i in range(60):\n    if v > 40:\n        v = table[v]\nreturn v", IndexError),
        ("while v < 100:\n    v = v << (5 - v)\nreturn v", ValueError),
    ],
)
def test_what_a_turn_raises_is_raised(body, error, on):
    text = function(body)
    names = {"table": TABLE}
    exec(text, names)
    assert type(outcome(lambda: [names["f"](v) for v in range(1, 60)])) is error
    compare(text, np.arange(1, 60), on=on)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("if v > 3:\n    return v", "returns None for some elements"),
        ("if v > 3:\n    y = 1\nreturn y", "`y` has a value only for some elements"),
        ("y = 0\nif v > 3:\n    y = 0.5\nreturn y", "an int for some elements and a float"),
        ("for w in v:\n    pass\nreturn v", "over a number"),
        ("for i in range(v):\n    k = i\nreturn k", "`k` has no value where the loop makes no turn"),
        ("for i in range(1, 9, v):\n    pass\nreturn v", "step of a `range`"),
    ],
)
def test_what_is_left_to_python_says_why(body, reason):
    session = Session({"xs": np.arange(5, 9)})
    text = function(body)
    names = {}
    exec(text, names)
    try:
        wanted = [names["f"](v) for v in range(5, 9)]
    except TypeError:
        with pytest.raises(TypeError):
            session.run_cell(text + "y = xs |> map(f)", options=Options(baseline=False))
    else:
        session.run_cell(text + "y = xs |> map(f)", options=Options(baseline=False))
        assert session.namespace["y"].tolist() == wanted
    (pipeline,) = session.last.report.to_dict()["pipelines"]
    assert reason in pipeline["barriers"][0]["reason"]


@pytest.mark.parametrize("count", [3, 40_000])
def test_a_loop_that_never_ends_is_interrupted(count):
    text = function("while v != 0:\n    v = (v ^ 1) | 2\nreturn v")
    session = Session({"xs": np.arange(1, count)})
    asked = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    asked.start()
    with pytest.raises(KeyboardInterrupt):
        session.run_cell(text + "y = xs |> map(f)", options=Options(baseline=False))
    asked.join()
    session.run_cell("z = xs |> sum")
    assert session.namespace["z"] == count * (count - 1) // 2


@pytest.mark.parametrize("on", ["parallel", "opencl"])
@pytest.mark.parametrize(
    ("body", "source"),
    [
        ("s = 0\nfor i in range(9):\n    s += v\nreturn s", np.arange(1, 300)),
        ("while True:\n    pass", np.arange(0)),
        ("for i in range(10**30):\n    if i * i > v:\n        break\nreturn v + i", np.arange(20)),
        (
            "k = 0\nwhile v:\n    v >>= 1\n    k += 1\nreturn k",
            np.array([2**63, 5, 7, 2**64 - 1], dtype=np.uint64),
        ),
    ],
)
def test_what_once_hung_or_broke(body, source, on):
    compare(function(body), source, on=on)
    names = {}
    exec(function(body), names)
    session = Session({"xs": source})
    cell = function(body) + "y = xs |> map(f) |> map(f) |> to_list"
    session.run_cell(cell, options=Options(on=on, baseline=False))
    assert session.namespace["y"] == [names["f"](names["f"](v)) for v in source.tolist()]


# Programs from a grammar

NAMES = ("a", "b", "c")


@st.composite
def expressions(draw, kind, depth=2):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        if draw(st.booleans()):
            return draw(st.sampled_from((*NAMES, "v")))
        return (
            str(draw(st.integers(-9, 9))) if kind == "int" else repr(draw(st.sampled_from((0.5, -1.25, 3.0))))
        )
    left, right = draw(expressions(kind, depth - 1)), draw(expressions(kind, depth - 1))
    choice = draw(st.integers(0, 4))
    if choice < 3:
        return f"({left} {draw(st.sampled_from('+-*'))} {right})"
    if choice == 3:
        return f"({left} if {draw(conditions(kind, depth - 1))} else {right})"
    if kind == "int":
        return f"({left} {draw(st.sampled_from(('//', '%', '&', '|')))} {draw(st.sampled_from(('7', '-3', 'b')))})"
    return f"abs({left})"


@st.composite
def conditions(draw, kind, depth=1):
    if depth > 0 and draw(st.integers(0, 2)) == 0:
        word = draw(st.sampled_from(("and", "or")))
        return f"({draw(conditions(kind, depth - 1))} {word} {draw(conditions(kind, depth - 1))})"
    left, right = draw(expressions(kind, 1)), draw(expressions(kind, 1))
    return f"{left} {draw(st.sampled_from(('<', '<=', '==', '!=', '>')))} {right}"


@st.composite
def blocks(draw, kind, depth, in_loop):
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        choice = draw(st.integers(0, 7))
        if choice < 3 or depth == 0:
            name, value = draw(st.sampled_from(NAMES)), draw(expressions(kind))
            if in_loop and kind == "int":  # else squares of squares take Python for ever
                lines.append(f"{name} = ({value}) % 65521 - 30000")
            else:
                lines.append(f"{name} {draw(st.sampled_from(('=', '+=', '-=')))} {value}")
        elif choice < 5:
            lines.append(f"if {draw(conditions(kind))}:")
            lines += indented(draw(blocks(kind, depth - 1, in_loop)))
            if draw(st.booleans()):
                lines += ["else:", *indented(draw(blocks(kind, depth - 1, in_loop)))]
        elif choice == 5:
            turns = draw(st.sampled_from(("3", "12", "k", "10, 0, -1")))
            lines.append(f"for i{depth} in range({turns}):")
            lines += indented(draw(blocks(kind, depth - 1, True)))
        elif choice == 6:
            lines += [f"w{depth} = 0", f"while w{depth} < {draw(st.sampled_from(('4', '15', 'k')))}:"]
            lines += indented([f"w{depth} += 1", *draw(blocks(kind, depth - 1, True))])
        else:
            word = draw(st.sampled_from(("break", "continue") if in_loop else ("return",)))
            lines.append(f"if {draw(conditions(kind))}:")
            lines += indented([word if word != "return" else f"return {draw(expressions(kind))}"])
    return lines


def indented(lines):
    return ["    " + line for line in lines]


@st.composite
def programs(draw, kind):
    start = "0" if kind == "int" else "0.0"
    size = "k = abs(v) % 13" if kind == "int" else "k = 9"
    body = [f"a = v\nb = {start}\nc = v + v\n{size}", *draw(blocks(kind, 2, False))]
    return "\n".join([*body, f"return {draw(expressions(kind))}"])


INTS = np.concatenate([np.arange(-20, 20), [2**31, -(2**40), 10**12]])
FLOATS = np.array([0.0, -0.0, 0.5, -1.5, 2.0, 1e3, -1e-3, math.inf, math.nan, 7.25] * 5)


@settings(max_examples=70, deadline=None)
@given(programs("int"))
def test_random_programs_over_ints(body):
    compare(function(body), INTS)


@settings(max_examples=50, deadline=None)
@given(programs("float"))
def test_random_programs_over_floats(body):
    compare(function(body), FLOATS)


@settings(max_examples=12, deadline=None)
@given(programs("int"))
def test_random_programs_on_opencl(body):
    compare(function(body), INTS, on="opencl")
