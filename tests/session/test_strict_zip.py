"""The stage `zip` with `strict`: Python compares the lengths, in its order."""

import re

import pytest

from hastega_magic.session import Options, Session


def run(text, **names):
    return Session(dict(names), Options(baseline=False, quiet=True)).run_cell(text)


@pytest.mark.parametrize(
    ("text", "raised", "said"),
    [
        (
            "[1, 2, 3] |> zip([1, 2], strict=True) |> map(lambda a, b: a * b) |> sum",
            ValueError,
            "zip() argument 2 is",
        ),
        (
            "[1, 2, 3] |> zip([1, 0], strict=True) |> map(lambda a, b: a // b) |> sum",
            ZeroDivisionError,
            "by zero",
        ),
        ("[1, 2] |> zip([1, 2, 3], strict=True) |> to_list", ValueError, "zip() argument 2 is longer"),
        ("[1, 2, 3] |> zip([1, 2], strict=k) |> to_list", ValueError, "zip() argument 2 is shorter"),
    ],
)
def test_zip_is_strict_where_it_is_to_be(text, raised, said):
    with pytest.raises(raised, match=re.escape(said)) as found:
        run(text, k=1)
    if raised is ValueError:
        assert found.value.__notes__[0] == "hastega: without `strict` it ends with the shortest"
        assert found.value.__notes__[1].endswith("^" * text[text.index("zip") :].index(" |>"))


def test_zip_of_one_length_may_be_strict():
    for text, wanted in (
        ("[1, 2, 3] |> zip([1, 2, 5], strict=True) |> map(lambda a, b: a * b) |> sum", 20),
        ("[1, 2, 3] |> zip([1, 4], strict=True) |> take(2) |> map(lambda a, b: a // b) |> to_list", [1, 0]),
        ("[1, 2, 3] |> zip([1, 4], strict=False) |> map(lambda a, b: a * b) |> to_list", [1, 8]),
        ("range(9) |> filter(_ > 5) |> zip(range(3), strict=True) |> map(lambda a, b: a - b) |> sum", 18),
    ):
        result = run(text)
        assert result.value == wanted
    with pytest.raises(ValueError, match="shorter"):
        run("for n in (3, 3, 3, 2): range(3) |> zip(range(n), strict=True) |> map(lambda a, b: a * b) |> sum")
