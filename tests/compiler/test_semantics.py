"""CPython's semantics at the edges, as tables: division, shifts, powers, conversions and rounding, value by value."""

import itertools
import math
import warnings

import pytest

from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.session import Options, Session

INTS = sorted(
    {sign * each for each in (0, 1, 2, 3, 7, 10, 2**31, 2**32 + 1, 2**52 + 1, 2**62, 2**63 - 1) for sign in (1, -1)}
    | {-(2**63)}
)  # fmt: skip
SMALL = [-70, -64, -63, -2, -1, 0, 1, 2, 3, 31, 32, 62, 63, 64, 70]
EXPONENTS = [-3, -2, -1, 0, 1, 2, 3, 5, 20, 63]
DIGITS = [-20, -3, -2, -1, 0, 1, 2, 3, 17]
FLOATS = [
    0.0, -0.0, 0.1, 0.5, -0.5, 1.0, 1.5, 2.5, -2.5, 3.7, -3.7, 1e-310, 5e-324, 2.0**52 + 0.5, 2.0**63, -(2.0**63),
    1e300, -1.7976931348623157e308, math.inf, -math.inf, math.nan,
]  # fmt: skip

PAIRS = [
    (INTS, INTS, "a // b", "a % b", "a / b", "divmod(a, b)", "a & b", "a | b", "a ^ b", "a * b", "a - b"),
    (INTS, SMALL, "a << b", "a >> b"),
    (INTS, EXPONENTS, "a ** b"),
    (INTS, FLOATS, "(a < b, a == b, a >= b)"),
    (
        FLOATS,
        FLOATS,
        "a // b + 0.0",
        "(a // b, a % b)",
        "a / b",
        "math.copysign(a, b)",
        "(min(a, b), max(a, b))",
    ),
    (FLOATS, INTS, "a % b", "bool(a) + bool(b)"),
    (FLOATS, DIGITS, "round(a, b)"),
    (INTS, DIGITS, "round(a, b)"),
    (FLOATS, [0], "round(a) + b", "int(a) + b", "math.floor(a) + b", "math.ceil(a) + b", "math.trunc(a) + b"),
    (INTS, [1.0], "float(a) * b"),
    (INTS, [0], "(abs(a), -a, b)"),
]
CASES = [(text, left, right) for left, right, *texts in PAIRS for text in texts]
"""Expressions of a and b, and the values of these."""

PYTHON = {"a ** b", "round(a, b)", "a * b"}
"""Expressions that are left to Python, or of which most values go beyond 64 bits."""

LEFT = {"round(a, b)"}
"""Expressions of which Python computes all the values."""

GROUP = 64
"""So many pairs are tried at once."""


def python(function, a, b):
    """The value, or the exception."""
    try:
        return function(a, b)
    except Exception as error:
        return error


def shown(value):
    """A value with its type, so that -0.0 and nan, 1 and 1.0 and True are what they are."""
    return f"{type(value).__name__}: {value!r}"


def run(text, a, b, on):
    """The list of the values of the expression."""
    names = {"a": a, "b": b, "math": math}
    session = Session(names)
    cell = f"out = a |> zip(b) |> map(lambda a, b: {text}) |> to_list"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegerOverflowWarning)
        session.run_cell(cell, options=Options(on=on, baseline=False, quiet=True))
    return names["out"], session.last_report.pipelines[0]


def check(text, pairs, on):
    """Whether native code computed all the values; they are Python's in any case."""
    found, report = run(text, [a for (a, _), _ in pairs], [b for (_, b), _ in pairs], on)
    for (pair, value), own in zip(pairs, found, strict=True):
        assert shown(own) == shown(value), pair
    return (
        bool(report.loops) and not report.barriers and not any("Python computed" in why for why in report.why)
    )


def beyond(value):
    """Whether 64 bits do not hold the value."""
    parts = value if isinstance(value, tuple) else (value,)
    return any(type(each) is int and not -(2**63) <= each < 2**63 for each in parts)


def groups(cases):
    """Pairs with their values, to be tried at once; those that native code cannot compute are among themselves."""
    for own in (False, True):
        alike = [case for case in cases if beyond(case[1]) is own]
        yield from (alike[start : start + GROUP] for start in range(0, len(alike), GROUP))


def computed(text, group, on):
    """How many of the values native code computed.

    Where Python computed a block because of one pair, the others have not been tried: halves of it are.
    """
    if check(text, group, on):
        return len(group)
    if len(group) == 1 or beyond(group[0][1]) or text in LEFT:
        return 0
    half = len(group) // 2
    return computed(text, group[:half], on) + computed(text, group[half:], on)


@pytest.mark.parametrize("on", ["parallel", "opencl"])
@pytest.mark.parametrize(
    ("text", "left", "right"), CASES, ids=[f"{text}-{type(left[0]).__name__}" for text, left, _ in CASES]
)
def test_every_pair(text, left, right, on):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    function = eval(f"lambda a, b: {text}")
    pairs = list(itertools.product(left, right))
    expected = [python(function, a, b) for a, b in pairs]
    fine = [
        (pair, value) for pair, value in zip(pairs, expected, strict=True) if not isinstance(value, Exception)
    ]
    native = sum(computed(text, group, on) for group in groups(fine))
    assert not native or text not in LEFT
    assert native >= len(fine) // 3 or text in PYTHON, f"{native} of {len(fine)} pairs by native code"
    raising = [
        (pair, value) for pair, value in zip(pairs, expected, strict=True) if isinstance(value, Exception)
    ]
    for (a, b), error in raising[:: max(1, len(raising) // 12)]:
        with pytest.raises(type(error)) as raised:
            run(text, [a], [b], on)
        assert str(raised.value) == str(error), (a, b)
