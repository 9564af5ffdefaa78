"""`--int wrap` where a function raises because of what wrapped around, or makes ints of floats."""

import math

import numpy as np
import pytest

from hastega_magic.session import Options, Session

XS = np.array([1, 2, 3, 2**62, 5] * 2000)


def value(cell):
    return (
        Session({"xs": XS, "math": math}, Options(int_mode="wrap", baseline=False, quiet=True))
        .run_cell(cell)
        .value
    )


@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("10 // (x * 4)", ZeroDivisionError),
        ("(x * 4) / (x * 4)", ZeroDivisionError),
        ("math.sqrt(x * 2)", ValueError),
        ("(x * 2) ** 0.5", TypeError),
    ],
)
def test_what_is_raised_names_the_element(function, error):
    with pytest.raises(error) as caught:
        value(f"xs |> map(lambda x: {function})")
    assert any("element 3 of xs, 4611686018427387904, in `map" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("function", ["int(x * 4.0)", "math.floor(x * 4.0)", "math.ceil(x * 4.0)"])
def test_ints_made_of_floats_wrap_as_others_do(function):
    found = value(f"xs |> map(lambda x: {function})")
    assert found.dtype == np.int64
    assert found[:5].tolist() == [4, 8, 12, 0, 20]
    assert value(f"xs |> map(lambda x: {function}) |> sum") == int(found.sum())
