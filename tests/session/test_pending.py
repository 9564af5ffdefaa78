"""Statements of one cell: functions, operators and Python's stages see what is assigned before them."""

import pytest

from hastega_magic.session import Options, Session

ADD = "def g(x): return x + a\n"
CLASS = "class K:\n    rate = 1\n    def f(self, x): return x + a\no = K()\n"
READING = {
    "method": CLASS + "def h(x): return o.f(x)",
    "partial": "def g(c, x): return x + a\nh = functools.partial(g, 1)",
    "default": ADD + "def h(x, f=g): return f(x)",
    "attribute": ADD + "m = types.SimpleNamespace(f=g)\ndef h(x): return m.f(x)",
    "static method": ADD + "class K: f = staticmethod(g)\ndef h(x): return K.f(x)",
    "tuple": ADD + "t = (g, abs)\ndef h(x): return t[0](x)",
    "closures of one code": (
        "def mk(f): return lambda x: f(x)\nw0 = mk(abs); w1 = mk(lambda x: x + a)\ndef h(x): return w0(x) + w1(x)"
    ),
    "property": "class K:\n    @property\n    def v(self): return a\no = K()\ndef h(x): return o.v + x",
    "any name": "def h(x): return x + globals()['a']",
    "callable": "class K:\n    def __call__(self, x): return x + a\nh = K()",
}


def session(on: str, *cells: str) -> Session:
    made = Session({}, Options(on=on, quiet=True, baseline=False))
    made.run_cell(
        "import functools, types\nimport numpy as np\nxs = np.arange(3000)\nys = xs[::-1].copy()\na = 0"
    )
    for each in cells:
        made.run_cell(each)
    return made


@pytest.mark.parametrize("on", ["simd", "auto"])
@pytest.mark.parametrize("name", READING)
def test_functions_that_read_what_is_pending(name, on):
    names = session(on, READING[name], "a = xs |> sum\nb = xs |> map(h) |> sum").namespace
    assert names["a"] == sum(range(3000))
    assert names["b"] == sum(names["h"](x) for x in range(3000))


OBJECT = """\
class S:
    def __getitem__(self, i): return [a, 1]
    def __len__(self): return a % 1000
    def __add__(self, other): return a % 1000 + other
    def __index__(self): return a % 1000
    def __bool__(self): return a == 0
    def __format__(self, spec): return str(a)
s = S()
several = [s]
"""


@pytest.mark.parametrize(
    "statement",
    [
        "s[0] |> sum",
        "range(len(s)) |> sum",
        "range(0, s + 1) |> sum",
        "range(s) |> sum",
        "ys |> take(s + 1) |> sum",
        "ys |> take(s) |> sum",
        "ys |> take(1 if s else 2) |> sum",
        "ys |> take(not s) |> sum",
        "ys |> take(several[0] + 1) |> sum",
        "ys |> map(lambda x, m=f'{s}': m) |> first",
        "[s + 1, 2] |> sum",
    ],
)
def test_operators_of_the_users_classes(statement):
    cell = f"a = xs |> sum\nb = {statement}"
    found = [session(on, OBJECT, cell).namespace["b"] for on in ("python", "simd", "auto")]
    assert found[1:] == found[:1] * 2


def test_what_runs_no_code_is_fused():
    made = session("simd")
    cell = (
        "a = xs |> sum\nb = xs |> map(lambda x, m=n - 1: x * m) |> max\n"
        "c = xs |> map(lambda x, k=t[0] + n: x * k) |> min"
    )
    made.run_cell("n, t = 3000, (2, 3)")
    made.run_cell(cell, options=Options(on="simd", baseline=False))
    (pipeline,) = made.last_report.pipelines
    assert pipeline.name == "a, b, c"


IN_STEP = [
    (CLASS + "def h(x): return o.f(x)\ndef noted(x):\n    global a\n    a = x\n    return x", 9900),
    (CLASS + "def h(x): return x * K.rate\ndef noted(x):\n    K.rate = x\n    return x", 328350),
    (CLASS + "def h(x): return x * o.rate\ndef noted(x):\n    K.rate = x\n    return x", 328350),
    (
        CLASS + "def h(x): return o.f(x)\ndef noted(x):\n    if x == 50: K.f = lambda s, x: 0\n    return x",
        1225,
    ),
    (
        (
            "def g(x): return x\ndef h(x): return g(x)\n"
            "def noted(x):\n    global g\n    if x == 50: g = float\n    return x"
        ),
        4950.0,
    ),
]


@pytest.mark.parametrize("on", ["simd", "auto"])
@pytest.mark.parametrize(("defined", "expected"), IN_STEP)
def test_what_stages_of_python_assign(defined, expected, on):
    names = session(on, defined, "b = range(100) |> map(noted) |> map(h) |> sum").namespace
    assert (names["b"], type(names["b"])) == (expected, type(expected))


@pytest.mark.parametrize(("defined", "expected"), IN_STEP)
def test_what_generators_assign(defined, expected):
    again = "def drawn():\n    for x in range(100):\n        yield noted(x)"
    names = session("simd", defined, again, "b = drawn() |> map(h) |> sum").namespace
    assert names["b"] == expected
