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


def test_functions_of_many_terms_are_compiled():
    text = "range(4) |> map(lambda x: " + " + ".join(f"x * {k}" for k in range(400)) + ") |> sum"
    found = Session({}, Options(on="simd", baseline=False, quiet=True)).run_cell(text)
    assert found.value == 6 * sum(range(400))
    assert found.report.to_dict()["pipelines"][0]["loops"] == 1


@pytest.mark.parametrize("element", ["len(xs)", "[*xs][0]", "xs[1][1][0] + x", "named['d']['a'] + x"])
@pytest.mark.parametrize("turns", [1, 4])
def test_lists_and_dicts_that_contain_themselves(element, turns):
    xs, named = [1], {"a": 5}
    xs.append(xs)
    named["d"] = named
    expected = [eval(element, {"xs": xs, "x": x, "named": named}) for x in (1, 2, 3)]
    session = Session({"xs": xs, "named": named}, Options(on="simd", baseline=False, quiet=True))
    session.run_cell(f"for k in range({turns}):\n    out = [1, 2, 3] |> map(lambda x: {element}) |> to_list")
    assert session.namespace["out"] == expected


def test_a_list_may_begin_to_contain_itself():
    session = Session({"xs": [1, 2]}, Options(on="simd", baseline=False, quiet=True))
    session.run_cell(
        "found = []\nfor k in range(5):\n"
        "    found.append([7] |> map(lambda x: x + len(xs)) |> sum)\n    xs.append(xs)"
    )
    assert session.namespace["found"] == [9, 10, 11, 12, 13]
