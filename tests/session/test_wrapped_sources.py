"""With `--int wrap`, unsigned integers from 2^63 on are what 64 bits hold, in blocks that Python finishes, too."""

from __future__ import annotations

import numpy as np
import pytest

from hastega_magic.compiler.options import Options
from hastega_magic.session import Session

TOP = 2**64


def _place(values, sought):
    return values.index(sought(values))


CASES = {
    "a |> argmin": lambda xs: _place(xs, min),
    "a |> map(_) |> argmax": lambda xs: _place(xs, max),
    "a |> map(lambda x: max(x, 1)) |> argmax": lambda xs: _place([max(x, 1) for x in xs], max),
    "a |> map(lambda x: x // 3) |> argmax": lambda xs: _place([x // 3 for x in xs], max),
    "a |> window(1) |> map(max) |> argmax": lambda xs: _place(xs, max),
    "a |> chunk(2) |> map(max) |> argmin": lambda xs: _place(
        [max(xs[k : k + 2]) for k in range(0, len(xs), 2)], min
    ),
    "a |> zip(a) |> map(lambda x, y: y) |> argmin": lambda xs: _place(xs, min),
    "a |> map(lambda x: x // 3) |> to_list": lambda xs: [x // 3 for x in xs],
}


@pytest.mark.parametrize("on", ["simd", "parallel", "numpy"])
@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize(
    "elements",
    [[TOP - 1], [2**63 + 5] * 5000, [3, TOP - 1, 5, 2**63, 1], [TOP - 1] * 4097 + [7]],
    ids=range(4),
)
@pytest.mark.filterwarnings("ignore")
def test_elements(elements, text, on):
    session = Session({"a": np.array(elements, np.uint64)})
    expected = CASES[text]([each - TOP if each >= 2**63 else each for each in elements])
    for _ in range(2):
        assert session.run_cell(text, options=Options(int_mode="wrap", on=on)).value == expected
