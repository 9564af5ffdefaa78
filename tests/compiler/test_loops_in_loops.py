"""Loops inside loops: elements that make no more turns of the outer one make none of the inner one either.

What they would meet there, a division by zero or a loop without an end, is no trouble of the elements beside them.
"""

from __future__ import annotations

import battery
import pytest

FUNCTIONS = {
    "divides by zero": (
        "t = 0\nfor i in range(v):\n    for j in range(i):\n        t += 60 // (v + 1 - i) + j\nreturn t",
        [1, 3, 2, 5] * 20,
    ),
    "leaves 64 bits": (
        "t = 0\nfor i in range(v % 7):\n    t += pow(v, i, 2**40 + 15)\nreturn t",
        [2**42, 3, 6, 2**42] * 20,
    ),
    "never ends": (
        "t = 0\nfor i in range(v):\n    w = i - v\n    while w:\n        w += 1\n        t += w\nreturn t",
        [1, 3, 2, 6] * 20,
    ),
}


@pytest.mark.parametrize("form", ["parallel", "items", "groups"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_elements_that_are_done_make_no_turns(name: str, form: str) -> None:
    body, source = FUNCTIONS[name]
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    with battery.in_form(form):
        ran = battery.assert_like_python(
            f"def f(v):\n{lines}y = source |> map(f) |> to_list\ny", {"source": source}
        )
    assert battery.one_loop(ran).recovered == 0
