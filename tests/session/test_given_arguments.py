"""Errors of arguments are the stages' own, whatever the arguments make of being looked at."""

from __future__ import annotations

import numpy as np
import pytest

from hastega_magic.session import Options, Session


class Silent:
    """Raises where it is written out."""

    def __repr__(self) -> str:
        raise LookupError


@pytest.mark.parametrize(
    ("stage", "kind", "said"),
    [
        ("take(few)", TypeError, "take takes a whole number of elements, not array"),
        ("chunk(few)", TypeError, "chunk takes a whole number of elements, not array"),
        ("drop(three)", TypeError, "drop takes a whole number of elements, not array"),
        ("take(few > 0)", TypeError, "take takes a whole number of elements, not array"),
        ("bincount(minlength=few)", TypeError, "integer scalar arrays"),
        ("enumerate(silent)", TypeError, "cannot be interpreted as an integer"),
        ("zip(silent)", TypeError, "is not iterable"),
    ],
)
@pytest.mark.parametrize("on", ["simd", "python"])
def test_arguments_of_no_use(stage: str, kind: type[Exception], said: str, on: str) -> None:
    names = {"few": np.arange(3) * 0.5, "three": np.arange(3), "silent": Silent()}
    session = Session(names, Options(on=on, baseline=False, quiet=True))
    with pytest.raises(kind) as caught:
        session.run_cell(f"range(5) |> {stage}")
    assert said in str(caught.value)


HUGE = [
    "clip(0, huge) |> sum",
    "clip(-huge, None) |> sum",
    "map(_ * 0.5) |> clip(0, huge) |> sum",
    "where(_ > 2, huge) |> max",
    "window(huge) |> count",
    "chunk(huge) |> count",
    "chunk(-huge)",
    "step(-huge)",
]


@pytest.mark.parametrize("stage", HUGE)
def test_integers_of_more_digits_than_python_writes(stage: str) -> None:
    told: list[object] = []
    for on in ("python", "simd"):
        session = Session({"huge": 10**5000}, Options(on=on, baseline=False, quiet=True))
        try:
            told.append(session.run_cell(f"range(5) |> {stage}").value)
        except (ArithmeticError, ValueError) as error:
            told.append((type(error), str(error)))
    assert told[0] == told[1]


def test_nobody_writes_an_argument_out_that_python_takes() -> None:
    session = Session({"silent": Silent()}, Options(on="simd", baseline=False, quiet=True))
    assert session.run_cell("range(500) |> where(lambda x: x < 500, silent) |> count").value == 500
    assert session.run_cell("range(500) |> reduce(lambda s, x: x, silent)").value == 499
