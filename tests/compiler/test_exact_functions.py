"""Functions of `math` and NumPy that are computed exactly, in compiled loops and where these give up."""

import itertools
import math

import numpy as np
import pytest

from hastega_magic.session import Options, Session
from tests.compiler.battery import assert_interpreted, one_loop, python, run, same

RANDOM = np.random.default_rng(5)
HARD = [
    0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 7.0, 0.1, 5e-324, -5e-324, 1e-310, 2.0**-1022, -(2.0**-1022), 1e300,
    2.0**53 + 2, 1.7976931348623157e308, -1.7976931348623157e308, math.inf, -math.inf, math.nan, 2.0**-126,
    -(2.0**-149),
]  # fmt: skip
PAIRS = list(itertools.product(HARD, HARD))
EDGES = [0, 1, -1, 2, -2, 3, 7, -10, 63, 2**31, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 1 - 2**63]


def single(values):
    with np.errstate(all="ignore"):
        return np.array(values).astype(np.float32)


def patterns(count, dtype=np.float64):
    word = np.uint64 if dtype is np.float64 else np.uint32
    return RANDOM.integers(0, np.iinfo(word).max, count, word).view(dtype)


FLOATS = np.concatenate([HARD, patterns(80), RANDOM.normal(size=60) * 4])
SINGLES = np.concatenate([single(HARD), patterns(80, np.float32), single(RANDOM.normal(size=60) * 4)])
X = np.concatenate([[x for x, _ in PAIRS], patterns(80), RANDOM.normal(size=60) * 4])
Y = np.concatenate([[y for _, y in PAIRS], patterns(80), RANDOM.normal(size=60)])
INT_PAIRS = np.array(list(itertools.product(EDGES, EDGES)))


def checked(cell, names, on, interpreted=True):
    """One compiled loop, in which Python had to do nothing, gives what Python gives."""
    expected, found = python(cell, names), run(cell, names, on=on)
    assert expected.error is None
    assert not one_loop(found).recovered
    assert same(found.value, expected.value), [
        each for each in zip(found.value, expected.value, strict=True) if not same(*each)
    ]
    if interpreted:
        assert_interpreted(found)


PARTS = (
    "math.degrees(x), math.radians(x), *math.modf(x), *math.frexp(x), math.ulp(x), math.hypot(x), np.degrees(x), "
    "np.radians(x), *np.modf(x), np.signbit(x), np.spacing(x), np.conj(x)"
)
MORE = "np.reciprocal(x), np.nextafter(x, 0), np.heaviside(x, 0.5), np.ldexp(x, 3), np.ldexp(x, -1030)"


def spelled(text):
    """The functions of a tuple, whose starred items are pairs."""
    calls = []
    for call in text.replace("), ", "), |").split(", |"):
        calls += [f"{call[1:]}[{place}]" for place in (0, 1)] if call.startswith("*") else [call]
    return f"({', '.join(calls)})"


@pytest.mark.parametrize("kind", ["float64", "float32", "int64"])
def test_of_one_number(kind):
    xs = {"float64": FLOATS, "float32": SINGLES, "int64": np.array(EDGES)}[kind]
    calls = PARTS if kind == "int64" else f"{PARTS}, {MORE}"
    checked(f"xs |> map(lambda x: {spelled(calls)}) |> to_list", {"xs": xs}, "parallel")


def no_trouble(x, y):
    """Where the quotient is exact, or there is none, and zeros are not of two signs."""
    with np.errstate(all="ignore"):
        limit = 2.0**53 if x.dtype == np.float64 else 2.0**24
        usual = (abs(x / y) < limit) & np.isfinite(y)
    two_zeros = (x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y))
    return (usual | (y == 0) | np.isnan(x) | np.isnan(y)) & ~two_zeros


BOTH = (
    "(np.remainder(x, y), np.floor_divide(x, y), np.fmod(x, y), np.fmax(x, y), np.fmin(x, y), np.heaviside(x, y), "
    "np.nextafter(x, y), np.copysign(x, y), np.logical_and(x, y), np.logical_or(x, y), np.logical_xor(x, y), "
    "np.divmod(x, y)[0], np.divmod(x, y)[1], np.clip(x, y, None), np.clip(x, None, y), "
    "np.clip(x, y, 2), np.clip(x, -9.0, y), math.nextafter(x, y))"
)


@pytest.mark.parametrize(
    ("kind", "on"), [("float64", "parallel"), ("float32", "parallel"), ("float64", "opencl")]
)
def test_of_two_floats(kind, on):
    x, y = (X, Y) if kind == "float64" else (single(X), single(Y))
    kept = no_trouble(x, y)
    assert kept.sum() > 350
    cell = f"xs |> zip(ys) |> map(lambda x, y: {BOTH}) |> to_list"
    checked(cell, {"xs": x[kept], "ys": y[kept]}, on, on == "parallel")


@pytest.mark.parametrize("on", ["parallel", "opencl"])
def test_remainders_and_places(on):
    with np.errstate(all="ignore"):
        kept = (abs(X / Y) < 2.0**53) & np.isfinite(X) & np.isfinite(Y)
        places = RANDOM.integers(-2200, 900, len(X))
        kept &= np.isfinite(np.ldexp(np.where(np.isfinite(X), X, 0.0), places))
    ties = (
        np.array([2.5, -2.5, 0.5, 1.5, 3.5, -7.5, 5e-324, 1.5e-323]),
        np.array([1.0, 1, 1, -1, 1, 5, 1e-323, 1e-323]),
    )
    x, y = (np.concatenate([old[kept], new]) for old, new in zip((X, Y), ties, strict=True))
    names = {"xs": x, "ys": y, "ns": np.resize(places[kept], len(x))}
    call = "(math.remainder(x, y), math.ldexp(x, n), np.ldexp(x, n), np.ldexp(1.0, n - 2000))"
    checked(f"xs |> zip(ys, ns) |> map(lambda x, y, n: {call}) |> to_list", names, on, on == "parallel")


@pytest.mark.parametrize("kind", ["int64", "uint8"])
def test_of_two_ints(kind):
    x, y = INT_PAIRS.T
    if kind != "int64":
        x, y = np.resize(np.arange(256), 300).astype(kind), np.resize(np.arange(23) - 11, 300).astype(kind)
    kept = ~((x == -(2**63)) & (y == -1))
    call = (
        "(np.remainder(x, y), np.floor_divide(x, y), np.fmod(x, y), np.fmax(x, y), np.clip(x, y, 100), *rest)"
    )
    rest = "np.logical_xor(x, y), np.gcd(x // 2, y // 2), np.power(x % 9, y % 20)"
    names = {"xs": x[kept], "ys": y[kept]}
    checked(
        f"xs |> zip(ys) |> map(lambda x, y: {call.replace('*rest', rest)}) |> to_list",
        names,
        "parallel",
        False,
    )


def test_permutations():
    names = {"xs": np.arange(300) % 9, "ys": np.arange(300) % 7}
    checked("xs |> zip(ys) |> map(lambda x, y: (math.perm(x, y), math.perm(x, None)))", names, "parallel")


def test_norms_of_several_numbers():
    kept = [x for x in X.tolist() if 2.0**-1021 <= abs(x) < 2.0**1022 or x == 0 or not math.isfinite(x)]
    names = {"xs": np.array(kept), "ys": np.array(kept[7:] + kept[:7]), "zs": np.array(kept[3:] + kept[:3])}
    calls = (
        "(math.hypot(x, y), math.hypot(x, y, z), math.hypot(x, y, z, 0.25), math.hypot(), math.dist((x,), (1,)), "
        "math.dist((1.0, y / 4), (1, 3)), math.dist((0.0, 0.0, x), (y, z, 0.0)))"
    )
    checked(f"xs |> zip(ys, zs) |> map(lambda x, y, z: {calls}) |> to_list", names, "parallel")


OTHERS = [
    ("xs |> zip(ys) |> map(lambda x, y: np.floor_divide(x, y))", INT_PAIRS),
    ("xs |> zip(ys) |> map(lambda x, y: np.power(x, abs(y) if y > -99 else 3))", INT_PAIRS),
    ("xs |> zip(ys) |> map(lambda x, y: np.power(x, y))", [(2, 3), (5, 0), (2, -1)]),
    ("xs |> zip(ys) |> map(lambda x, y: (np.remainder(x, y), np.floor_divide(x, y), np.fmod(x, y)))", PAIRS),
    (
        "xs |> zip(ys) |> map(lambda x, y: (np.fmax(x, y), np.fmin(x, y), np.clip(x, y, 0), np.clip(x, -0.0, y)))",
        PAIRS,
    ),
    ("xs |> zip(ys) |> map(lambda x, y: math.remainder(x, y))", [(5.0, 3.0), (1e300, 7.0), (5.0, math.inf)]),
    ("xs |> zip(ys) |> map(lambda x, y: math.remainder(x, y))", [(5.0, 3.0), (1.0, 0.0)]),
    ("xs |> zip(ys) |> map(lambda x, y: math.remainder(x, y))", [(5.0, 3.0), (math.inf, 2.0)]),
    ("xs |> zip(ys) |> map(lambda x, y: math.ldexp(x, int(y)))", [(0.75, 4.0), (1.0, 1024.0)]),
    (
        "xs |> zip(ys) |> map(lambda x, y: math.hypot(x, y, 1.0))",
        [(0.75, 4.0), (1e308, 1.2e308), (5e-324, 0.0)],
    ),
    ("xs |> zip(ys) |> map(lambda x, y: math.perm(x, y))", [(5, 2), (3, 9), (-1, 2)]),
    ("xs |> zip(ys) |> map(lambda x, y: math.perm(x) + y)", [(5, 2), (21, 2)]),
    ("xs |> map(math.asinh) |> zip(ys) |> map(lambda x, y: math.acosh(y))", [(0.0, 1.0), (0.0, 0.5)]),
    ("xs |> map(lambda x: math.atanh(x))", [(0.0, 1.0), (-1.0, 0.5)]),
]


@pytest.mark.parametrize(("cell", "pairs"), OTHERS)
def test_where_python_computes_or_raises(cell, pairs):
    names = dict(zip(("xs", "ys"), np.array(pairs).T, strict=True))
    expected, found = python(cell, names), run(cell, names)
    assert type(found.error) is type(expected.error)
    assert str(found.error) == str(expected.error)
    assert same(found.value, expected.value)
    assert (found.error is None) == ("element" not in found.notes)


@pytest.mark.parametrize(
    ("call", "kind", "why"),
    [
        ("np.hypot(x, x)", bool, "float16"),
        ("np.exp(x)", bool, "float16"),
        ("np.clip(x, False, True)", bool, "of bools alone"),
        ("np.clip(x, 1)", int, "with these arguments"),
        ("np.clip(x, 1, 2, out=None)", int, "with these arguments"),
        ("np.reciprocal(x)", int, "of ints is an int"),
        ("np.bitwise_count(x) * 200", int, "np.uint8"),
        ("math.ldexp(x, x)", float, "by a float"),
        ("np.gcd(x, 2.0)", int, "of a float"),
        ("math.hypot(x, x, x, x, x)", float, "more than 4"),
    ],
)
def test_what_is_left_to_python(call, kind, why):
    names = {"xs": np.array([0, 1, 1]).astype(kind)}
    found, expected = (each(f"xs |> map(lambda x: {call})", names) for each in (run, python))
    assert type(found.error) is type(expected.error)
    assert same(found.value, expected.value)
    if expected.error is None:
        assert why in found.report["pipelines"][0]["barriers"][0]["reason"]


@pytest.mark.parametrize("on", ["parallel", "numpy", "opencl"])
def test_not_a_number_has_a_sign_for_copysign(on):
    for sign in (math.nan, -math.nan, math.nan):
        session = Session({"math": math, "sign": sign, "xs": [1.0, 2.0, 3.0]}, Options(baseline=False, on=on))
        total = session.run_cell("xs |> map(lambda x: math.copysign(x, sign)) |> sum").value
        assert total == math.copysign(6.0, sign)
