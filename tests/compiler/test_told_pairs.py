"""What the report says of integers beyond 64 bits: proved to fit pairs of words, or checked."""

from __future__ import annotations

import numpy as np
import pytest

from hastega_magic.compiler import loops
from hastega_magic.compiler.options import Options
from hastega_magic.session import Session

RNG = np.random.default_rng(11)
NAMES = {
    "xs": RNG.integers(-(2**63), 2**63 - 1, 5_003),
    "sm": RNG.integers(-(2**17), 2**17, 5_003),
    "none": np.array([], np.int64),
}
PAIRS = "Integers proved to fit: values need up to 128 bits, and are kept in two 64-bit words, which none can leave."
PARTS = (
    "Integers proved to fit: sums whose elements may leave 64 bits are made of parts that do not, so that they are "
    "exact."
)
REMAINDERS = (
    "Integers proved to fit: remainders are made of smaller ones, so that no value on the way leaves 64 bits."
)
WORD = "Integers proved to fit: with these sources, no intermediate value leaves 64 bits."
HELD = (
    "Integers guarded: values that may need more than 64 bits are kept in two 64-bit words, and those that may leave "
    "these are checked."
)
CHECKED = "Checked for each element: integers beyond 128 bits; Python evaluates a block that has such."


def told(cell: str, on: str = "simd") -> tuple[dict[str, object], list[str]]:
    """The field `int` of the report's JSON, and the sentences of why."""
    session = Session(dict(NAMES), Options(on=on, threads=2, baseline=False))
    session.run_cell(cell)
    assert session.last_report is not None
    (pipeline,) = session.last_report.to_dict()["pipelines"]
    return pipeline["int"], pipeline["why"]


CARRIED = (
    "Integers that go from one element to the next are checked: where one leaves 64 bits, Python computes all of it, "
    "exactly."
)
WORDS = WORD.replace("Integers", "Integers of each element")


@pytest.mark.parametrize("on", ["simd", "opencl"])
@pytest.mark.parametrize(
    ("cell", "sentences"),
    [
        ("t = sm |> cumsum", [CARRIED]),
        ("t = range(1000) |> map(_ * 2) |> cumsum", [WORDS, CARRIED]),
        ("t = sm |> scan(lambda a, x: a + x * 3, 1)", [CARRIED]),
        ("t = range(1000) |> map(_ * 2) |> reduce(lambda a, x: (a * 3 + x) % 1009, 1)", [WORDS, CARRIED]),
        ("t = sm |> scan(lambda a, x: max(a, x))", []),
        ("t = range(1000) |> map(_ * 2) |> scan(lambda a, x: (a ^ x) & 255, 1)", [WORD]),
        ("t = range(1000) |> map(_ / 2) |> cumsum", []),
        ("t = range(1, 1000) |> scan(lambda a, x: (a & 1023) // x, 1000)", []),
    ],
)
def test_integers_that_go_from_element_to_element(cell, sentences, on):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    field, why = told(cell, on)
    assert (field["proved"], field["guarded"]) == (CARRIED not in sentences, CARRIED in sentences)
    assert [each for each in why if each.startswith("Integers")] == sentences


def test_integers_that_wrap_are_not_told_of_as_checked():
    session = Session(dict(NAMES), Options(on="simd", int_mode="wrap", baseline=False))
    report = session.run_cell("t = sm |> map(_ * 2) |> cumsum").report.to_dict()
    (pipeline,) = report["pipelines"]
    assert (pipeline["int"]["proved"], pipeline["int"]["guarded"]) == (False, False)
    assert CARRIED not in pipeline["why"]


@pytest.mark.parametrize("on", ["simd", "opencl"])
@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("t = xs |> map(lambda x: x * x) |> filter(lambda x: x > 10**30) |> count", PAIRS),
        ("t = xs |> map(lambda x: x * x) |> max", PAIRS),
        ("t = xs |> map(lambda x: x * x) |> sum", PARTS),
        ("t = xs |> map(lambda x: x ** 3) |> sum", PARTS),
        ("t = xs |> map(lambda x: x ** 5 % 11) |> sum", REMAINDERS),
        ("t = range(1000) |> map(lambda x: x * x) |> max", WORD),
    ],
)
def test_without_a_check_it_is_proved(cell, sentence, on):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    field, why = told(cell, on)
    assert field == {"mode": "exact", "proved": True, "guarded": False, "fell_back": False}
    assert [each for each in why if each.startswith("Integers")] == [sentence]
    assert CHECKED not in why


@pytest.mark.parametrize(
    ("cell", "fell_back"),
    [
        ("t = sm |> map(lambda x: x ** 7) |> sum", False),
        ("t = xs |> map(lambda x: x ** 3) |> max", True),
        ("t = range(10**6) |> map(lambda x: x ** 6 * 10000) |> max", True),
    ],
)
@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
def test_with_a_check_it_is_not(cell, fell_back):
    loops.clear_cache()
    field, why = told(cell)
    assert field == {"mode": "exact", "proved": False, "guarded": True, "fell_back": fell_back}
    assert next(each for each in why if each.startswith("Integers")) == HELD
    assert CHECKED in why


def test_where_small_sources_need_neither():
    loops.clear_cache()
    field, why = told("t = sm |> map(lambda x: x ** 3 + 1) |> filter(lambda x: x > 5) |> max")
    assert field == {"mode": "exact", "proved": False, "guarded": True, "fell_back": False}
    assert (
        "Integers guarded at the source: where sm in [-2097152, 2097151], nothing can overflow; other blocks keep "
        "values in two 64-bit words, and check those that may leave these." in why
    )
    assert CHECKED not in why


def test_whether_it_is_proved_decides_nothing_else():
    loops.clear_cache()
    session = Session({}, Options(on="simd", threads=2, baseline=False))
    compiled: list[bool] = []
    for count in (999_999, 999_998, 1_000_000):  # ranges with ends alike have one loop, checked or not
        session.run_cell(f"t = range({count}) |> map(lambda x: x ** 6 * 130) |> max")
        assert session.namespace["t"] == (count - 1) ** 6 * 130
        assert session.last_report is not None
        (pipeline,) = session.last_report.to_dict()["pipelines"]
        assert not pipeline["int"]["proved"]
        compiled.append(pipeline["cached"])
    assert compiled == [False, True, True]


def test_wrapped_integers_are_neither():
    session = Session(dict(NAMES), Options(on="simd", int_mode="wrap", baseline=False))
    session.run_cell("t = xs |> map(lambda x: x ** 3) |> max")
    assert session.last_report is not None
    (pipeline,) = session.last_report.to_dict()["pipelines"]
    assert pipeline["int"] == {"mode": "wrap", "proved": False, "guarded": False, "fell_back": False}
