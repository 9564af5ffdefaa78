"""Methods that ints have: of elements, and of captured NumPy integers, which count as Python's and may lack them."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest

from hastega_magic.session import Options, Session

pytestmark = pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")

K, TABLE, XS = 37, [5, -6, 700], [1, 2, 3]
ON = ("simd", "numpy", "opencl", "auto")

READ = (
    "bit_length()", "bit_count()", "conjugate()", "real", "imag", "numerator", "denominator", "as_integer_ratio()[0]",
)  # fmt: skip


def run(stages: str, on: str, xs: Any = XS) -> Any:
    names = {
        "xs": xs,
        "k": np.int64(K),
        "table": np.array(TABLE, "int32"),
        "of": lambda number: number.bit_length(),
    }
    session = Session(names, Options(on=on, baseline=False, quiet=True))
    session.run_cell(f"out = xs |> {stages}")
    return session.namespace["out"]


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("xs", [[1, -5, 2**40], [True, False], np.array([1, -5, 7], "int8"), [1, 2**80]])
@pytest.mark.parametrize("read", READ)
def test_elements_have_what_pythons_ints_have(on: str, xs: Any, read: str) -> None:
    numbers = xs.tolist() if isinstance(xs, np.ndarray) else xs
    found = run(f"map(lambda x: x.{read}) |> to_list", on, xs)
    expected = [eval(f"x.{read}", {"x": x}) for x in numbers]
    assert [(type(each), each) for each in found] == [(type(each), each) for each in expected]


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize(
    "element",
    [
        "k.bit_length()", "k.bit_length() + x * 2**62", "(k + x * 2**62).bit_length()", "of(k) + x * 2**62",
        "table[x - 1].bit_length() + x * 2**62", "k.bit_count() + x * 2**62", "k.real + x * 2**62",
        "k.conjugate() + x * 2**62", "(k.bit_length() + x, x * 2**62)",
    ],
)  # fmt: skip
def test_captured_ones_count_as_pythons_also_where_python_computes(on: str, element: str) -> None:
    """Of 64 bits and more Python computes the elements, whose function calls NumPy's method, or finds none."""
    names = {"k": K, "table": TABLE, "of": int.bit_length}
    expected = [eval(element, {**names, "x": x}) for x in XS]
    assert run(f"map(lambda x: {element}) |> to_list", on) == expected


@pytest.mark.parametrize("on", ON)
def test_in_steps(on: str) -> None:
    steps = itertools.accumulate(XS, lambda a, x: a * 2**40 + K.bit_length() * x, initial=1)
    assert run("scan(lambda a, x: a * 2**40 + k.bit_length() * x, 1) |> to_list", on) == list(steps)[1:]
    expected = functools.reduce(lambda a, x: a * 2**40 + K.bit_length() * x, XS)
    assert run("reduce(lambda a, x: a * 2**40 + k.bit_length() * x)", on) == expected


@pytest.mark.parametrize("on", ON)
def test_what_raises_is_told_all_the_same(on: str) -> None:
    with pytest.raises(ZeroDivisionError):
        run("map(lambda x: k.bit_length() + 1 // (x - 2))", on)
    with pytest.raises(ZeroDivisionError):
        run("scan(lambda a, x: k.bit_length() + a // (x - 2))", on)
    with pytest.raises(AttributeError, match="no attribute 'bit_lenght'"):
        run("map(lambda x: k.bit_lenght() + x)", on)
