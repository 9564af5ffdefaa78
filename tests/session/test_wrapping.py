"""`--int wrap` where a function raises because of what wrapped around, or makes ints of floats."""

import math

import numpy as np
import pytest

from hastega_magic.session import Options, Session


def wrapped(value):
    return (value + 2**63) % 2**64 - 2**63


XS = np.array([1, 2, 3, 2**62, 5] * 2000)


def value(cell):
    return (
        Session({"xs": XS, "math": math}, Options(int_mode="wrap", baseline=False, quiet=True))
        .run_cell(cell)
        .value
    )


@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("10 // (x * 4)", ZeroDivisionError),
        ("(x * 4) / (x * 4)", ZeroDivisionError),
        ("math.sqrt(x * 2)", ValueError),
        ("(x * 2) ** 0.5", TypeError),
    ],
)
def test_what_is_raised_names_the_element(function, error):
    with pytest.raises(error) as caught:
        value(f"xs |> map(lambda x: {function})")
    assert any(
        "element 3 of xs, which is 4611686018427387904, in `map" in note for note in caught.value.__notes__
    )


@pytest.mark.parametrize("function", ["int(x * 4.0)", "math.floor(x * 4.0)", "math.ceil(x * 4.0)"])
def test_ints_made_of_floats_wrap_as_others_do(function):
    found = value(f"xs |> map(lambda x: {function})")
    assert found.dtype == np.int64
    assert found[:5].tolist() == [4, 8, 12, 0, 20]
    assert value(f"xs |> map(lambda x: {function}) |> sum") == int(found.sum())


POWERS = [
    (3, 5),
    (87, 88),
    (3, 70),
    (-3, 2**40 + 1),
    (7, 2**63 - 1),
    (2, 64),
    (2, 2**62),
    (-1, 77),
    (0, 0),
    (6, 63),
]


@pytest.mark.parametrize("on", ["simd", "opencl", "numpy"])
def test_powers_with_large_exponents(on):
    """All bits of an exponent count: modulo 2^64 there are powers of odd numbers that only the highest tell apart."""
    if on == "opencl":
        pytest.importorskip("pyopencl")
    options = Options(on=on, int_mode="wrap", baseline=False, quiet=True)
    cell = "xs |> map(lambda x, n: x ** n) |> to_list"
    found = Session({"xs": POWERS}, options).run_cell(cell).value
    assert found == [wrapped(pow(x, n, 2**64)) for x, n in POWERS]


@pytest.mark.parametrize("on", ["simd", "opencl"])
@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("pow(x, 50, 2**40 + 15)", lambda x: pow(x, 50, 2**40 + 15)),
        (
            "pow(x * 2**62 + x, 7, 2**40 + 15) * 2**60",
            lambda x: pow(wrapped(x * 2**62 + x), 7, 2**40 + 15) << 60,
        ),
        ("math.comb(x, x // 2)", lambda x: math.comb(x, x // 2)),
        ("math.comb(x, x // 2) // 3", lambda x: wrapped(math.comb(x, x // 2)) // 3),
        ("math.lcm(x, 2**62 + 1)", lambda x: math.lcm(x, 2**62 + 1)),
        ("math.gcd(6, x * 2**62)", lambda x: math.gcd(6, wrapped(x * 2**62))),
        ("math.lcm(6, x * 2**62)", lambda x: math.lcm(6, wrapped(x * 2**62))),
        ("math.perm(x, 30) // 3", lambda x: wrapped(math.perm(x, 30)) // 3),
    ],
)
def test_functions_that_divide_what_they_have_multiplied(text, function, on):
    """What Python's function gives wraps around, and nothing on the way to it."""
    if on == "opencl":
        pytest.importorskip("pyopencl")
    names = {"math": math, "xs": list(range(1, 90))}
    options = Options(on=on, int_mode="wrap", baseline=False, quiet=True)
    found = Session(names, options).run_cell(f"xs |> map(lambda x: {text}) |> to_list").value
    assert found == [wrapped(function(x)) for x in range(1, 90)]


LARGE = [3, 2**53 + 1, 2**62 + 12345, 5]


@pytest.mark.parametrize("sink", ["var", "mean", "max", "first", "argmin", "reduce(lambda a, x: a + x)"])
@pytest.mark.parametrize("on", ["simd", "numpy"])
def test_where_nothing_is_left_of_what_wrapped_around_the_sink_says_so(sink, on):
    """Python's integers are all kept, and would give a value."""
    options = Options(on=on, int_mode="wrap", baseline=False, quiet=True)
    cell = f"[2**62 - 1, 2**62] |> filter(lambda x: x * 2**31 > 2**31) |> {sink}"
    with pytest.raises((ValueError, TypeError), match=r"empty|no elements|at least one"):
        Session({}, options).run_cell(cell)


@pytest.mark.parametrize("on", ["simd", "numpy"])
def test_running_sums_of_elements_that_python_computes(on):
    """No float holds some of them, so that Python compares them."""
    options = Options(on=on, int_mode="wrap", baseline=False, quiet=True)
    cell = "large |> map(lambda x: x * 4 // 3 if x > 5.0 else x) |> cumsum"
    found = Session({"large": LARGE}, options).run_cell(cell).value
    elements = [(x * 4 + 2**63) % 2**64 - 2**63 for x in LARGE[1:3]]
    assert found.tolist() == np.cumsum([3, elements[0] // 3, elements[1] // 3, 5]).tolist()


@pytest.mark.parametrize("behind", ["take(1)", "first", "any"])
def test_an_element_that_raises_is_not_asked_for(behind):
    text = f"large |> map(lambda x: 6 // (x * 4 + 4) + 1) |> cumsum |> {behind}"
    found = Session({"large": [1, 2**62 - 1]}, Options(int_mode="wrap", baseline=False)).run_cell(text).value
    assert np.all(found == 1)


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize(
    "stages", ["map(lambda x: k * 2) |> map(lambda x: x // 2)", "map(lambda x: k * 2) |> map(_ > 0)"]
)
def test_a_wide_constant_that_a_stage_hands_on_is_refused(stages, fuse):
    options = Options(on="simd", int_mode="wrap", fuse=fuse, baseline=False)
    with pytest.raises(Exception, match="the constant 9223372036854775808 does not fit in 64 bits"):
        Session({"k": 2**62}, options).run_cell(f"range(3) |> {stages} |> to_list")
