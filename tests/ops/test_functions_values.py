"""The elementary functions as the oracle computes them: at most 1 ulp from the truth, and IEEE's special values."""

import math
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hastega_magic.ops import OPS
from hastega_magic.session import Options, Session

mpmath = pytest.importorskip("mpmath")
mp = mpmath.mp.clone()
mp.prec = 300

ONE = {
    "exp": mp.exp, "expm1": mp.expm1, "exp2": lambda x: mp.mpf(2) ** x, "log": mp.log, "log1p": mp.log1p,
    "log2": lambda x: mp.log(x) / mp.log(2), "log10": lambda x: mp.log(x) / mp.log(10),
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "asin": mp.asin, "acos": mp.acos, "atan": mp.atan,
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
}  # fmt: skip
TWO = {"atan2": (mp.atan2, math.atan2), "power": (mp.power, None)}
NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
         "atanh": "arctanh"}  # fmt: skip
SPECIAL = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2e-308, 1e-200, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1e300,
           1.7976931348623157e308, -1e300, math.inf, -math.inf, math.nan]  # fmt: skip

anything = st.floats(allow_nan=False, allow_infinity=False)
ordinary = st.floats(-10, 10)


def ulps(found, true, dtype=np.float64):
    """The error in units in the last place of the true value."""
    info = np.finfo(dtype)
    if true == 0:
        return 0.0 if found == 0 else math.inf
    exponent = max(int(mp.frexp(true)[1]) - 1, int(info.minexp)) - int(info.nmant)
    return float(abs(mp.mpf(float(found)) - true) / mp.mpf(2) ** exponent)


def by_numpy(name, x, y):
    """NumPy's value of a pair, as elements of arrays: a lone exponent of 0.5 makes it a square root."""
    return float({"atan2": np.arctan2, "power": np.power}[name](np.full(2, x), np.array([y, 3.0]))[0])


def ufunc(name):
    return getattr(np, NUMPY.get(name, name))


@pytest.mark.parametrize("name", ONE)
@given(x=anything | ordinary | st.floats(-750, 750) | st.floats(-0.01, 0.01))
@example(x=1.5707963267948966)
@example(x=6381956970095103 * 2.0**-33)
@example(x=-745.1332191019411)
@example(x=709.782712893384)
@example(x=0.7071067811865475)
@example(x=1 - 2.0**-53)
def test_one_ulp(name, x):
    found = OPS[name].python(x)
    with np.errstate(all="ignore"):
        reference = float(ufunc(name)(x))
    if not math.isfinite(reference):
        assert found == reference or (math.isnan(found) and math.isnan(reference))
    else:
        assert ulps(found, ONE[name](mp.mpf(x))) <= 1.0


@pytest.mark.parametrize("name", ONE)
@given(x=st.floats(width=32, allow_nan=False, allow_infinity=False) | st.floats(-10, 10, width=32))
def test_float32_stays_float32(name, x):
    found = OPS[name].python(np.float32(x))
    assert type(found) is np.float32
    if np.isfinite(found):
        assert ulps(found, ONE[name](mp.mpf(x)), np.float32) <= 0.501


@pytest.mark.parametrize("name", TWO)
@given(x=anything | ordinary | st.floats(0, 3), y=anything | ordinary | st.integers(-30, 30).map(float))
@example(x=1 + 2.0**-40, y=7e14)
@example(x=5e-324, y=0.5)
@example(x=5e-324, y=3e-310)
@example(x=1e-320, y=1e300)
@example(x=1e300, y=1.5e308)
@example(x=-3.0, y=41.0)
def test_one_ulp_of_two_operands(name, x, y):
    found = OPS[name].python(x, y)
    with np.errstate(all="ignore"):
        reference = by_numpy(name, x, y)
    if name == "atan2" and x == 0:  # mpmath has no signed zero: the result is a zero or ±π
        assert found == reference
    elif not math.isfinite(reference) or not reference:
        assert found == reference or (math.isnan(found) and math.isnan(reference))
        assert math.isnan(found) or math.copysign(1, found) == math.copysign(1, reference)
    else:
        assert ulps(found, TWO[name][0](mp.mpf(x), mp.mpf(y))) <= 1.0


@pytest.mark.parametrize("name", ONE)
def test_special_values(name, same):
    """Where C's libm is exact (zeros, infinities, NaN, poles), so are we, the sign of zero included."""
    for x in SPECIAL:
        found = OPS[name].python(x)
        with np.errstate(all="ignore"):
            reference = float(ufunc(name)(x))
        if reference == 0 or not math.isfinite(reference):
            assert same(found, reference), x
        elif abs(x) < 1e-300:  # NumPy's libm is an ulp off there itself, on some machines
            assert ulps(found, ONE[name](mp.mpf(x))) <= 1.0, x
        else:
            assert found == pytest.approx(reference, rel=4e-16), x


@pytest.mark.parametrize("x", SPECIAL)
@pytest.mark.parametrize("name", TWO)
def test_special_pairs(name, x, same):
    for y in [*SPECIAL, 4.0, 5.0, 2.0**53, 2.0**53 - 1, 0.25]:
        found = OPS[name].python(x, y)
        with np.errstate(all="ignore"):
            reference = by_numpy(name, x, y)
        if reference in (0, 1) or not math.isfinite(reference):
            assert same(found, reference), y
        else:
            assert found == pytest.approx(reference, rel=4e-16), y


@pytest.mark.parametrize("name", ONE)
def test_the_math_module_raises_as_ever(name):
    function = getattr(math, name)
    for x in SPECIAL:
        try:
            expected = function(x)
        except (ValueError, OverflowError) as error:
            said = str(error) if sys.version_info < (3, 14) else None  # since then it says what is expected
            with pytest.raises(type(error), match=said):
                OPS[f"math_{name}"].python(x)
        else:
            assert OPS[f"math_{name}"].python(x) == pytest.approx(expected, rel=4e-16, nan_ok=True), x


def test_exact_logarithms():
    assert [OPS["log2"].python(2.0**n) for n in range(-1074, 1024)] == [float(n) for n in range(-1074, 1024)]
    assert [OPS["log10"].python(10.0**n) for n in range(23)] == [float(n) for n in range(23)]


@pytest.mark.parametrize("x", [0.0, -0.0, 5e-324, -5e-324, math.inf, -math.inf])
def test_the_error_function_has_the_sign_of_its_argument(x, same):
    compiled = Session({"math": math, "xs": [x] * 9}, Options(on="simd", baseline=False))
    for found in (OPS["math_erf"].python(x), *compiled.run_cell("xs |> map(math.erf) |> to_list").value):
        assert same(found, math.erf(x))


@pytest.mark.parametrize("name", ["erf", "erfc"])
@given(x=st.floats(-30, 30) | st.floats(0.4, 0.6) | st.floats(26, 27.3) | st.floats(-1e-300, 1e-300))
@example(x=26.6)
@example(x=5e-324)
@example(x=0.5)
def test_one_ulp_of_the_error_function(name, x):
    assert ulps(OPS[f"math_{name}"].python(x), getattr(mp, name)(mp.mpf(x))) <= 1.0


@pytest.mark.parametrize("x", SPECIAL)
@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_special_values_of_the_error_function(name, x, same):
    found, expected = OPS[f"math_{name}"].python(x), getattr(math, name)(x)
    close = bool(expected) and found == pytest.approx(expected, rel=1e-15, abs=0)
    assert same(found, expected) or close


@given(x=anything | ordinary, y=anything | ordinary)
@example(x=5e-324, y=5e-324)
@example(x=1e308, y=1.2e308)
@example(x=3e-310, y=2.2e-308)
def test_one_ulp_of_the_hypotenuse(x, y):
    found, true = OPS["np_hypot"].python(x, y), mp.hypot(mp.mpf(x), mp.mpf(y))
    assert ulps(found, true) <= 1.0 if true < 2 ** mp.mpf(1024) - 2**970 else found == math.inf


@pytest.mark.parametrize("x", SPECIAL)
def test_special_pairs_of_hypot_and_logaddexp(x, same):
    for y in SPECIAL:
        for name, ufunc_ in (
            ("np_hypot", np.hypot),
            ("logaddexp", np.logaddexp),
            ("logaddexp2", np.logaddexp2),
        ):
            with np.errstate(all="ignore"):
                found, expected = OPS[name].python(x, y), float(ufunc_(x, y))
            assert same(found, expected) or found == pytest.approx(expected, rel=1e-15, abs=1e-15), (name, y)
