"""Branches, loops and returns in functions: what cells compute against what CPython does, on every back end."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from battery import examples, some
from hypothesis import given
from programs import programs

from hastega_magic.runtime import opencl
from hastega_magic.runtime.opencl import time_slices as opencl_patience
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
    "gcd of math": ("wide", "return math.gcd(v, 360, v // 3)"),
    "lcm": ("small", "return math.lcm(v, 12)"),
    "comb": ("small", "return math.comb(abs(v), 5)"),
    "factorial": ("small", "return math.factorial(abs(v) % 23)"),
    "isqrt": ("wide", "return math.isqrt(abs(v)), math.isqrt(v & 0xFFFFF)"),
    "hypot": ("x", "return math.hypot(v, 0.75 * v - 1)"),
    "hypot of large": ("wide", "return math.hypot(v, v >> 20)"),
    "power": ("small", "return v ** (abs(v) % 7), 3 ** abs(v)"),
    "power with a modulus": ("n", "return pow(3, v, 97), pow(v, 5, -31), pow(v, 3, v + 2)"),
    "bits": ("wide", "return v.bit_length(), v.bit_count()"),
    "membership": (
        "small",
        "return v in (1, 2, 3), v not in {4, 5}, v in range(-20, 50, 7), v / 2 in range(9)",
    ),
    "NaN in tuples": (
        "x",
        "w = v if v > 0 else math.nan\nreturn w in (w, 1.0), (w, 1) == (v, 1), (w, 1) < (v, 2)",
    ),
    "match": (
        "small",
        (
            "match v, v % 3:\n    case (1 | 2, _):\n        return 1\n    case (w, 0) if w > 5:\n        return w\n"
            "    case (_, w) if w:\n        pass\n    case w:\n        return w[0] * 10\nreturn w"
        ),
    ),
    "reversed": ("n", "s = 0\nfor i in reversed(range(3, v % 50, 4)):\n    s = (s * 3 + i) % 1009\nreturn s"),
    "zipped": (
        "n",
        "s = 0\nfor a, (i, w) in zip(range(v % 30), enumerate(reversed(table), 2)):\n    s += a * w - i\nreturn s",
    ),
    "best of none": (
        "small",
        (
            "best = None\nfor i in range(v):\n    d = (i * 7 - v) % 31\n    if best is None or d < best:\n"
            "        best = d\n"
            "return -1 if best is None else best"
        ),
    ),
    "best of inf": (
        "small",
        "best = math.inf\nfor i in range(30):\n    best = min(best, (i * 7 - v) % 31)\nreturn best",
    ),
    "nothing for some": ("n", "for i in range(v):\n    k = i * i\n    if k > 90:\n        break\nreturn k"),
    "the turn before": (
        "n",
        "s = 0\nfor i in range(v % 20):\n    if i:\n        s += last\n    last = i * v\nreturn s",
    ),
    "None from a function": (
        "small",
        "def root(w):\n    if w >= 0:\n        return math.isqrt(w)\nr = root(v)\nreturn 0 if r is None else r + 1",
    ),
    "generators": (
        "small",
        (
            "return (sum(i * v for i in range(abs(v)) if i % 3), any(i * i == v for i in range(20)),\n"
            "        max(((i * v) % 17, i) for i in range(12)), min((i for i in range(v)), default=-1),\n"
            "        all(v % i for i in range(2, 9)), math.prod(i + 1 for i in range(abs(v) % 9)), sum(range(abs(v))))"
        ),
    ),
    "sum of floats": ("x", "return sum(v / (i + 1) for i in range(40)), sum([v, 0.1, 0.2, 0.3 * v])"),
    "walrus in a condition": (
        "small",
        (
            "if v > 3 and (w := v % 7) > 2:\n    return w\n"
            "if (u := v + 1) < 0 or (u := u * 2) > 20:\n    return u\nreturn -u"
        ),
    ),
    "raise": ("n", "if v < 0:\n    raise ValueError(v)\nassert v, 'zero'\nt = v * 2\ndel t\nreturn v"),
    "item of a tuple": ("small", "t = (5, v, -7)\nreturn t[v % 3 - 1] + (2, 3)[v > 0]"),
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
    session, options = Session(dict(names)), Options(baseline=False, quiet=True, **options)
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
    assert [str(each) for each in found] == [str(each) for each in wanted]
    return session


def outcome(run):
    """What running gives, or the exception that it raises."""
    try:
        return run()
    except Exception as error:
        return error


@pytest.mark.parametrize(
    ("name", "on"),
    [*((name, "simd") for name in FUNCTIONS), *some(itertools.product(FUNCTIONS, ["parallel", "opencl"]))],
)
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
        text + "y = xs |> filter(lambda v: v > 0) |> map(f) |> sum",
        options=Options(on=on, baseline=False, quiet=True),
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
        ("for i in range(v - 9):\n    k = i\nreturn k", UnboundLocalError),
        ("if v > 30:\n    raise KeyError(v)\nreturn v", KeyError),
        ("assert v < 40, v\nreturn v", AssertionError),
        ("return math.isqrt(20 - v)", ValueError),
        ("return pow(3, v, 40 - v)", ValueError),
        ("best = None\nfor i in range(v - 5):\n    best = i\nreturn best + 1", TypeError),
        ("return max(i for i in range(40 - v))", ValueError),
        ("return (1, 2, 3)[v // 10]", IndexError),
        ("b = 1\ndef g():\n    b = b + v\n    return b\nreturn g()", UnboundLocalError),
        (
            "b = 1\ndef g():\n    if v < 4:\n        return v\n    b += v\n    return b\nreturn g()",
            UnboundLocalError,
        ),
        ("def g(w=table[v]):\n    return w\nreturn v", IndexError),
        ("def g(a=(v := v - 9), b=1 // v):\n    return a\nreturn v", ZeroDivisionError),
        ("return 1 if table[v] is None else v", IndexError),
        ("return v if (v, table[v]) == (0, 3) else 1", IndexError),
        ("b = 1\ng = lambda w: b + (b := w)\nreturn g(v)", UnboundLocalError),
    ],
)
def test_what_a_turn_raises_is_raised(body, error, on):
    text = function(body)
    names = {"table": TABLE, "math": math}
    exec(text, names)
    assert type(outcome(lambda: [names["f"](v) for v in range(1, 60)])) is error
    compare(text, np.arange(1, 60), on=on)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("if v > 6:\n    return v", "returns None for some elements"),
        ("y = 0\nif v > 6:\n    y = 0.5\nif v > 7:\n    y = v > 3\nreturn y", "`y` depends on the element"),
        ("y = 0\nif v > 6:\n    y = (v, 2)\nreturn y", "a tuple for some elements"),
        ("return v in [1, 'a']", "a string takes part"),
        ("w = 5000\nreturn v is w", "write `==`"),
        ("match v:\n    case int():\n        return 1\nreturn 0", "asks for a class"),
        ("for w in v:\n    pass\nreturn v", "over a number"),
        ("for i in range(1, 9, v):\n    pass\nreturn v", "step of a `range`"),
    ],
)
def test_what_is_left_to_python_says_why(body, reason):
    session = Session({"xs": np.arange(5, 9), "math": math})
    text = function(body)
    names = {"math": math}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `is` with a number
        exec(text, names)
    try:
        wanted = [names["f"](v) for v in range(5, 9)]
    except TypeError:
        with pytest.raises(TypeError):
            session.run_cell(text + "y = xs |> map(f)", options=Options(baseline=False, quiet=True))
    else:
        session.run_cell(text + "y = xs |> map(f)", options=Options(baseline=False, quiet=True))
        assert session.namespace["y"].tolist() == wanted
    (pipeline,) = session.last.report.to_dict()["pipelines"]
    assert reason in pipeline["barriers"][0]["reason"]


@pytest.mark.parametrize("name", ["collatz", "nested", "smallest divisor", "overflow for some"])
def test_blocks_that_are_late_run_again(name, monkeypatch):
    """A launch ends after so many turns; what did not come to its end runs again with a higher limit, which is kept."""
    begun = []

    def parts(device, text, blocks, limit, parts=opencl_patience.parts):
        begun.append((blocks, limit))
        return parts(device, text, blocks, limit)

    monkeypatch.setattr(opencl_patience, "FIRST", 50)
    monkeypatch.setattr(opencl.device("opencl"), "patience", {})  # what other tests' runs have needed
    monkeypatch.setattr(opencl_patience, "parts", parts)
    source, body = FUNCTIONS[name]
    compare(function(body), np.tile(SOURCES[source], 3), on="opencl")
    assert begun[0][1] == 50
    assert begun[-1][1] > 50
    assert begun[-1][0] <= begun[0][0]
    if name == "overflow for some":
        return
    del begun[:]
    compare(function(body), np.tile(SOURCES[source], 3), on="opencl")
    assert begun[0][1] > 50


@pytest.mark.parametrize("on", ["parallel", "opencl"])
@pytest.mark.parametrize(
    ("body", "source"),
    [
        ("s = 0\nfor i in range(9):\n    s += v\nreturn s", np.arange(1, 300)),
        ("while True:\n    pass", np.arange(0)),
        ("for i in range(10**30):\n    if i * i > v:\n        break\nreturn v + i", np.arange(20)),
        ("q = 0\nwhile q < 4:\n    q += 1\n    v += pow(q, -1, 7)\nreturn v", np.arange(9)),
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
    session.run_cell(cell, options=Options(on=on, baseline=False, quiet=True))
    assert session.namespace["y"] == [names["f"](names["f"](v)) for v in source.tolist()]


# Programs from a grammar

INTS = np.concatenate([np.arange(-20, 20), [2**31, -(2**40), 10**12]])
FLOATS = np.array([0.0, -0.0, 0.5, -1.5, 2.0, 1e3, -1e-3, math.inf, math.nan, 7.25] * 5)


@examples(24)
@given(programs("int"))
def test_random_programs_over_ints(body):
    compare(function(body), INTS)


@examples(24)
@given(programs("float"))
def test_random_programs_over_floats(body):
    compare(function(body), FLOATS)


@examples(5)
@given(programs("int"))
def test_random_programs_on_opencl(body):
    compare(function(body), INTS, on="opencl")
