"""What a function raises for the last chunk, which may be shorter than the others."""

import pytest

from hastega_magic.compiler.options import Options
from hastega_magic.session import Session


@pytest.mark.parametrize(
    ("stage", "rest", "value"),
    [
        ("map(lambda a, b, c: a + b + c)", "", "(9,)"),
        ("map(lambda t: t[2])", "|> sum", "(9,)"),
        ("filter(lambda t: 1 // (9 - t))", "", "9"),
    ],
)
def test_the_last_chunk_is_shorter(stage, rest, value):
    middle = "" if value == "(9,)" else "|> map(sum) "
    text = f"range(10) |> chunk(3) {middle}|> {stage} {rest}".rstrip()
    with pytest.raises((TypeError, IndexError, ZeroDivisionError)) as caught:
        Session({}, Options(on="parallel", baseline=False)).run_cell(text)
    said, *others, caret = caught.value.__notes__
    assert said == f"hastega: the last, shorter chunk, which is {value}, in `{stage}` (cell line 1)"
    spread = "hastega: the elements are tuples: write `map(lambda t: ...)`"
    assert others == ([spread] if "a, b, c" in stage else [])
    assert caret == f"    {text}\n    {' ' * text.index(stage)}{'^' * len(stage)}"


@pytest.mark.parametrize("stage", ["map(lambda t: (t, 1))", "map(lambda t: (len(t), t))"])
def test_tuples_around_chunks_have_fields_in_any_case(stage):
    for source in ("range(5)", "range(9) |> map(lambda x: x * 2**60)"):
        found = []
        for on in ("python", "simd"):
            session = Session({}, Options(on=on, baseline=False, quiet=True))
            found.append(session.run_cell(f"{source} |> chunk(2) |> {stage}").value)
        assert found[0].dtype == found[1].dtype
        assert found[0].tolist() == found[1].tolist()
