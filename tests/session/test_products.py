"""Products of floats whose parts overflow or vanish side by side, and of ints from a number on, as Python has them."""

import math

import numpy as np
import pytest

from hastega_magic import hastega, pipe
from hastega_magic.compiler.driver import Driver
from hastega_magic.compiler.fastpath import gathering
from hastega_magic.compiler.fastpath.prepared import Prepared
from hastega_magic.compiler.sources.iterators import CHUNK
from hastega_magic.runtime.cpu.direct import MOST
from hastega_magic.session import Options, Session

FACTORS = {
    "counted": [x * 1.0 for x in range(1000)],
    "a zero first": [0.0, *([1e10] * 5000)],
    "in turns": [1e200, 1e-200] * 300,
    "the other way round": [1e-200, 1e200] * 40,
    "NaN": [1.0, math.nan, 0.0] * 50,
    "vanishing": [0.5] * 3000,
    "none": [],
    "negative zero": [-0.0, 5.0],
    "many": [0.0] + [1e10] * (MOST + 7),
}


@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("stages", ["", "map(lambda x: x * 1.0) |> ", "filter(lambda x: x != 3.0) |> "])
@pytest.mark.parametrize("make", [list, np.array])
def test_they_are_pythons(name, stages, make):
    factors = FACTORS[name]
    expected = repr(math.prod(x for x in factors if x != 3.0 or "filter" not in stages))
    others = ("simd", "opencl") if make is list and len(factors) < MOST else ()
    for on in ("parallel", *others):
        if on == "opencl":
            pytest.importorskip("pyopencl")
        session = Session({"xs": make(factors)}, Options(on=on, baseline=False))
        session.run_cell(f"t = xs |> {stages}prod")
        assert repr(session.namespace["t"]) == expected
    session = Session({}, Options(on="parallel", baseline=False, quiet=True))
    session.run_cell(f"def f(xs): return xs |> {stages}prod\n")
    for _ in range(3):
        assert repr(session.namespace["f"](make(factors))) == expected


@pytest.mark.parametrize("on", ["simd", "parallel", "opencl"])
@pytest.mark.parametrize(
    "factors", [([1e-30] * 100 + [1e30] * 100) * 30, [1e-30] * 40, [0.5] * 200, [-0.0, 3.0]]
)
def test_those_of_float32_too(on, factors):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    xs = np.array(factors, np.float32)
    with np.errstate(all="ignore"):
        expected = repr(math.prod(xs))
    session = Session({"xs": xs}, Options(on=on, baseline=False, quiet=True))
    session.run_cell("ts = []\nfor turn in range(3):\n    ts.append(xs |> prod)")
    session.run_cell("ts.append(xs |> filter(_ < 1e35) |> prod)")
    assert list(map(repr, session.namespace["ts"])) == [expected] * 4


def test_beside_other_statements_and_in_ordinary_code():
    @hastega
    def product(xs):
        return math.prod(x * 1.0 for x in xs)

    assert product(range(1000)) == 0.0
    assert product(range(1, 400)) == math.inf
    session = Session({"xs": FACTORS["counted"]}, Options(on="parallel", baseline=False))
    session.run_cell("a = xs |> map(_ * 2) |> sum\nb = xs |> map(_ * 2) |> prod")
    assert (session.namespace["a"], session.namespace["b"]) == (999000.0, 0.0)


def test_blocks_that_python_evaluates():
    xs = [0, *([2**62 + 1] * 40), -3]  # no float64 holds them, so that `//` is Python's
    expected = repr(math.prod(x // 0.5 for x in xs))
    for on in ("simd", "parallel", "numpy"):
        assert repr(pipe(xs, on=on).map(lambda x: x // 0.5).prod()) == expected
    assert math.isnan(pipe([*xs, 2**63 - 1]).map(lambda x: x // 0.5 if x else math.nan).prod())


@pytest.mark.parametrize(
    ("before", "behind"), [(1e200, 1e-200), (1e-200, 1e200), (1e300, -1e-100), (2.0, -0.0)]
)
def test_chunks_of_an_iterator_are_one_after_the_other(before, behind):
    factors = [before, before, *([1.0] * (CHUNK - 2)), *([behind] * 4)]
    session = Session({"xs": factors}, Options(on="parallel", baseline=False))
    session.run_cell("t = (x for x in xs) |> map(lambda x: x * 1.0) |> prod")
    assert repr(session.namespace["t"]) == repr(math.prod(factors))


def test_products_with_a_zero_are_ready_too(monkeypatch):
    """Python multiplies few elements in order; nothing is looked at anew."""
    names = {"k": 2.0}
    session = Session(names, Options(on="parallel", threads=2, baseline=False))
    session.run_cell(
        "def f(xs, k): return xs |> map(lambda x: x * k) |> prod\n"
        "def g(xs): return xs |> prod\n"
        "def h(xs): return xs |> take(3) |> prod\n"
    )
    sources = [
        np.array([1.0, 0.0, -3.0]),
        np.array([1e308, 1e308, 0.0]),
        np.array([0.0, np.inf]),
        np.array([-1e-200, 1e-200, 5.0]),
        [2.0, -0.0, 4.0],
        np.array([1.5, 2.5]),
    ]
    for turn in range(4):
        for xs in sources:
            names["xs"], names["k"] = xs, 2.0 + turn
            if turn == 3:
                monkeypatch.setattr(Driver, "run_alone", None)
            session.run_cell("a = f(xs, k)\nb = g(xs)\n")
            numbers = list(map(float, xs))
            for found, wanted in ((names["a"], [x * names["k"] for x in numbers]), (names["b"], numbers)):
                assert repr(found) == repr(math.prod(wanted))
    monkeypatch.undo()
    session.run_cell("c = [h([0.0, 1.0, 2.0, 3.0]) for _ in range(5)]\n")
    assert names["c"] == [0.0] * 5


@pytest.mark.parametrize(
    "source", [list(range(-4, 9)), np.arange(-4, 9), range(1, 14), np.arange(20) % 2 > 0]
)
@pytest.mark.parametrize(
    ("stages", "product"),
    [
        ("prod(start={k})", lambda xs, k: math.prod(xs, start=k)),
        ("filter(_ > 3) |> prod(start={k})", lambda xs, k: math.prod((x for x in xs if x > 3), start=k)),
        ("map(_ * 1) |> reduce(lambda a, x: a * x, {k})", lambda xs, k: math.prod(xs, start=k)),
        ("map(_ * 1) |> reduce(lambda a, x: a * x)", lambda xs, k: math.prod(xs)),
    ],
)
@pytest.mark.parametrize("start", ["-3", "turn", "turn + 2**63"])
def test_products_from_a_start_are_put_together_at_once(stages, product, source, start, monkeypatch):
    """Of elements that are left, and of none, from what partial results say."""
    monkeypatch.setattr(gathering, "Recovery", None)
    space = {"xs": source, "found": []}
    text = f"for turn in range(9): found.append((xs |> {stages.format(k=start)}))"
    Session(space, Options(baseline=False, quiet=True, on="simd")).run_cell(text)
    xs = source.tolist() if isinstance(source, np.ndarray) else source
    expected = [product(xs, eval(start, {"turn": turn})) for turn in range(9)]
    assert [*map(repr, space["found"])] == [*map(repr, expected)]


OWN = {
    "list": [*range(1, 60)],
    "negative": [-7] * 301,
    "a zero": [3] * 100 + [0],
    "array": np.arange(1, 60),
    "bytes": np.full(200, 200, np.uint8),
    "unsigned": np.full(5, 2**64 - 1, np.uint64),
    "range": range(1, 9000, 7),
    "tuple": (9, 8) * 40,
}


@pytest.mark.parametrize("source", OWN)
@pytest.mark.parametrize(
    "stages",
    [
        "prod",
        "prod(start={k})",
        "take(57) |> prod",
        "reverse |> step(2) |> prod",
        "reduce(lambda a, x: a * x)",
    ],
)
def test_products_of_own_elements_beyond_128_bits(stages, source, monkeypatch):
    """They are found without the way of every loop."""
    launched, usual = [], Prepared._launched
    monkeypatch.setattr(
        Prepared, "_launched", lambda self, *given, **how: launched.append(self) or usual(self, *given, **how)
    )
    text = f"for turn in range(40): found.append((xs |> {stages.format(k='turn - 3')}))"
    found, expected = [], []
    Session({"xs": OWN[source], "found": found}, Options(baseline=False, quiet=True, on="simd")).run_cell(
        text
    )
    many = len(launched)
    Session(
        {"xs": OWN[source], "found": expected}, Options(baseline=False, quiet=True, on="python")
    ).run_cell(text)
    assert [*map(type, found)] == [*map(type, expected)]
    assert found == expected
    assert not many
