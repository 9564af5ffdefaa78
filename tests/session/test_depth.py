"""Expressions that nest deeply."""

import pytest

from hastega_magic.session import Options, Session


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n = range(4) |> sum\n" + " + ".join(["n"] * 2800), 6 * 2800),
        ("range(4) |> map(lambda x: " + " + ".join(["x"] * 2800) + ") |> sum", 6 * 2800),
        ("n = range(4) |> sum\nn" + ".real" * 2800, 6),
        ("n = range(4) |> sum\n" + " if n else ".join(["n"] * 2800), 6),
    ],
    ids=["terms", "terms of a function", "attributes", "choices"],
)
def test_expressions_nest_as_deeply_as_python_lets_them(text, expected):
    assert Session({}, Options(baseline=False)).run_cell(text).value == expected
