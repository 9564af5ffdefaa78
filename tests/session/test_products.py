"""Products of floats whose parts overflow or vanish side by side: as one factor after the other gives them."""

import math

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler.drawn import CHUNK
from hastega_magic.runtime.direct import MOST
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


def test_beside_other_statements_and_in_ordinary_code():
    @hastega
    def product(xs):
        return math.prod(x * 1.0 for x in xs)

    assert product(range(1000)) == 0.0
    assert product(range(1, 400)) == math.inf
    session = Session({"xs": FACTORS["counted"]}, Options(on="parallel", baseline=False))
    session.run_cell("a = xs |> map(_ * 2) |> sum\nb = xs |> map(_ * 2) |> prod")
    assert (session.namespace["a"], session.namespace["b"]) == (999000.0, 0.0)


@pytest.mark.parametrize(
    ("before", "behind"), [(1e200, 1e-200), (1e-200, 1e200), (1e300, -1e-100), (2.0, -0.0)]
)
def test_chunks_of_an_iterator_are_one_after_the_other(before, behind):
    factors = [before, before, *([1.0] * (CHUNK - 2)), *([behind] * 4)]
    session = Session({"xs": factors}, Options(on="parallel", baseline=False))
    session.run_cell("t = (x for x in xs) |> map(lambda x: x * 1.0) |> prod")
    assert repr(session.namespace["t"]) == repr(math.prod(factors))
