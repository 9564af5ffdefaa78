"""Elements beyond 64 bits whose functions compute nothing, or one integer: Python's values tell what is to be told."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from hastega_magic.compiler.python.by_python import _ends
from hastega_magic.ir.columns import Columns
from hastega_magic.session import Options, Session

BIG = np.arange(2**63 - 3, 2**63 + 5000, dtype=np.uint64)
INTS = [10**9 * (-1) ** k + k for k in range(-3, 5000)]
CELLS = {
    "BIG |> to_list": BIG.tolist(),
    "BIG |> map(lambda x: x) |> to_list": BIG.tolist(),
    "BIG |> map(lambda x: (x, 1)) |> to_list": [(x, 1) for x in BIG.tolist()],
    "BIG |> map(lambda x: x - 1) |> to_list": [x - 1 for x in BIG.tolist()],
    "BIG |> map(lambda x: x > 2**63) |> to_list": [x > 2**63 for x in BIG.tolist()],
    "BIG |> filter(lambda x: x % 3 == 0) |> to_list": [x for x in BIG.tolist() if x % 3 == 0],
    "INTS |> map(lambda x: x * x * x) |> to_list": [x * x * x for x in INTS],
    "INTS |> map(lambda x: x ** 3) |> to_list": [x**3 for x in INTS],
    "INTS |> map(lambda x: x ** 3) |> filter(lambda x: x > 5) |> to_list": [x**3 for x in INTS if x**3 > 5],
    "INTS |> map(lambda x: x * x) |> map(lambda x: (x, x * x)) |> to_list": [(x * x, x**4) for x in INTS],
}


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("on", ["parallel", "python"])
@pytest.mark.parametrize("text", CELLS)
def test_values(same: Any, text: str, on: str) -> None:
    session = Session({"BIG": BIG, "INTS": INTS}, Options(on=on, baseline=False))
    session.run_cell(f"y = {text}")
    assert same(session.namespace["y"], CELLS[text])


@pytest.mark.parametrize("mode", ["exact", "checked"])
@pytest.mark.parametrize("function", ["x * 10", "x * 5 * 2", "x ** 2"])
def test_the_first_element_beyond_is_told(function: str, mode: str) -> None:
    xs = [1] * 5000 + [-(10**18), 2, 10**18]
    session = Session({"xs": xs}, Options(on="parallel", baseline=False, int_mode=mode))
    text = f"y = xs |> map(lambda x: {function}) |> to_list"
    if mode == "checked":
        with pytest.raises(OverflowError, match="element 5000"):
            session.run_cell(text)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session.run_cell(text)
    (warning,) = caught
    assert "element 5000 of xs, which is -1000000000000000000, needs" in str(warning.message)
    assert session.namespace["y"] == [eval(function, {"x": x}) for x in xs]


def test_no_graph_is_gone_through_for_elements_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> Any:
        raise AssertionError("columns were asked")

    monkeypatch.setattr(Columns, "of", refused)
    session = Session({"BIG": BIG, "INTS": INTS}, Options(on="parallel", baseline=False))
    session.run_cell("y = BIG |> map(lambda x: x) |> to_list")
    assert session.namespace["y"] == BIG.tolist()


@pytest.mark.parametrize("data", [np.array([3, -5, 7]), np.arange(9, dtype=np.uint64)[::-2], range(5, -9, -3),
                                  [4, 2, 9], range(3, 4)])  # fmt: skip
def test_ends(data: Any) -> None:
    assert tuple(map(int, _ends(data))) == (min(data), max(data))
