"""Comparisons that the other operand's class decides: NumPy's, the user's, or an error of Python's."""

from fractions import Fraction

import numpy as np
import pytest

from hastega_magic.session import Options, Session


class Any:
    """Greater than, and equal to, whatever it is held against."""

    def __gt__(self, other):
        return True

    def __eq__(self, other):
        return True

    __hash__ = None


NAMES = {
    "zs": np.arange(300) * 1j,
    "xs": np.arange(5),
    "ps": [(1, 2), (3, 4)],
    "array": np.array([1, 2]),
    "some": Any(),
    "half": Fraction(1, 2),
    "singles": np.arange(3, dtype=np.float32),
    "numbers": [1, 2],
}


def outcome(text: str, on: str) -> str:
    session = Session(dict(NAMES), Options(on=on, quiet=True, baseline=False))
    try:
        session.run_cell(f"t = {text}")
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return repr(session.namespace["t"])


@pytest.mark.parametrize(
    "text",
    [
        "zs |> filter(lambda x: x < some) |> count",
        "zs |> filter(lambda x: x > half) |> count",
        "zs |> filter(lambda x: x > 'a') |> count",
        "zs |> filter(lambda x: None >= x) |> count",
        "zs |> filter(lambda x: x > [1]) |> count",
        "ps |> filter(lambda p: p == array) |> count",
        "ps |> filter(lambda p: p != array) |> count",
        "xs |> enumerate |> filter(lambda p: p == array) |> count",
        "ps |> filter(lambda p: p == some) |> count",
        "ps |> filter(lambda p: p == (1, 2)) |> count",
        "ps |> filter(lambda p: p == half) |> count",
        "ps |> filter(lambda p: p == numbers) |> count",
        "ps |> filter(lambda p: p == 'a') |> count",
        "singles |> map(lambda x: x == (1, 2)) |> to_list",
    ],
)
def test_as_python_does(text):
    assert outcome(text, "simd") == outcome(text, "auto") == outcome(text, "python")
