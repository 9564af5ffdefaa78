"""What a function raises for the last chunk, which may be shorter than the others."""

import numpy as np
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


LARGE = [1, 2, 3, 2**62, 5]


def by_mode(text, mode, on):
    session = Session({"np": np, "LARGE": LARGE}, Options(on=on, baseline=False, quiet=True, int_mode=mode))
    return session.run_cell(text).value


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("np.array(LARGE) |> chunk(3) |> map(lambda c: c[0] * 4)", 3),
        ("[9, 1, 2, 2**62] |> drop(1) |> chunk(2) |> map(sum) |> map(_ * 4) |> sum", 3),
        ("[2**62, 7, 6, 5, 4, 3, 2, 1] |> reverse |> map(_ * 4) |> chunk(5) |> map(sum)", 0),
        ("[1, 1, 1, 2**62] |> chunk(3) |> filter(lambda c: c[0] * 4 > 0) |> to_list", 3),
    ],
)
@pytest.mark.parametrize("on", ["simd", "opencl", "numpy"])
def test_checked_integers_of_the_last_chunk(text, number, on):
    with pytest.raises(OverflowError, match=f"an integer that no int64 holds in .*: element {number} of "):
        by_mode(text, "checked", on)


@pytest.mark.parametrize("on", ["simd", "opencl"])
def test_integers_of_the_last_chunk_wrap_around(on):
    found = by_mode("np.array(LARGE) |> chunk(3) |> map(lambda c: sum(c) * 4)", "wrap", on)
    assert found.dtype == np.int64
    assert found.tolist() == [24, 20]


@pytest.mark.parametrize("mode", ["checked", "wrap"])
def test_the_last_chunk_of_a_loop_that_runs_again(mode):
    text = """
ys = np.array(LARGE)
for exponent in range(55, 61):
    ys[3] = 2**exponent
    zs = ys |> chunk(3) |> map(lambda c: sum(c) * 16)
zs
"""
    if mode == "wrap":
        assert by_mode(text, mode, "simd").tolist() == [96, 80]
    else:
        with pytest.raises(OverflowError, match="element 3 of ys"):
            by_mode(text, mode, "simd")


def test_integers_of_the_last_chunk_of_a_stream():
    factor = -(-(2**63) // 5_000_000)
    text = f"range(5_000_001) |> filter(_ > 1) |> chunk(2) |> map(lambda c: c[0] * {factor}) |> sum"
    assert by_mode(text, "wrap", "simd") == sum(range(2, 5_000_001, 2)) * factor % 2**64
    with pytest.raises(OverflowError, match=r"given to it as \(5000000,\)"):
        by_mode(text, "checked", "simd")
