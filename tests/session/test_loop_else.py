"""`else` of loops whose first turns change types, and are written out: who makes no turn goes through it as well."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hastega_magic.session import Options, Session

SOURCES = {"small": np.arange(-60, 60), "few": np.arange(12)}
FUNCTIONS = {
    "else after other types": (
        "small",
        "a = 0\nfor i in range(v % 5):\n    a = 0.5\nelse:\n    if v % 5 < 3:\n        return 5\nreturn 7",
    ),
    "else after other types, broken": (
        "small",
        (
            "a = 0\nfor d in range(2, v % 9):\n    if d == 5:\n        break\n    a = a + 1.0 / d\n"
            "else:\n    if v % 9 < 2:\n        return -1\n    a = a * 2\nreturn a + 0.5"
        ),
    ),
    "else of a while after other types": (
        "small",
        "a = 0\nwhile a < v:\n    a = a + 1.0\nelse:\n    if v < 9:\n        return 5\nreturn 7",
    ),
    "else that breaks an outer loop": (
        "small",
        (
            "a = n = 0\nfor j in range(3):\n    for i in range(v % 4):\n        a = 0.5\n    else:\n"
            "        if v % 4 < 2:\n            break\n        if v % 4 == 2:\n            continue\n"
            "    n = n + 1\nreturn n"
        ),
    ),
    "tuples": (
        "few",
        "a = 0\nfor i in range(v):\n    a = 0.5\nelse:\n    if v < 9:\n        return a, 5\nreturn a, 7",
    ),
    "bools first": (
        "few",
        "a = False\nfor i in range(v):\n    a = i\nelse:\n    if v < 9:\n        return 5\nreturn 7",
    ),
    "complex": (
        "few",
        "a = 1\nfor i in range(v):\n    a = 1j\nelse:\n    if v < 2:\n        return 5\nreturn 7",
    ),
}


@pytest.mark.parametrize("on", ["simd", "parallel", "opencl", "numpy"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_in_python(name: str, on: str) -> None:
    if on == "opencl":
        pytest.importorskip("pyopencl")
    source, body = FUNCTIONS[name]
    text = "def f(v):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    namespace: dict[str, Any] = {"xs": SOURCES[source]}
    Session(namespace, Options(on=on, threads=2, baseline=False)).run_cell(
        f"{text}r = xs |> map(f) |> to_list"
    )
    expected = [namespace["f"](v) for v in SOURCES[source].tolist()]
    assert namespace["r"] == expected
    assert [type(each) for each in namespace["r"]] == [type(each) for each in expected]
