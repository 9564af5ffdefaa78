"""`reduce` and `scan` whose value so far, or whose elements, are tuples: one loop, and what Python gives."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.session import Options, Session
from tests.compiler.battery import assert_interpreted, assert_like_python, examples, on_target, one_loop, run

R = np.random.default_rng(5)
N = 4096 + 177  # two blocks: the interpreter, to which they are given too, takes its time over each element
NAMES = {
    "xs": R.integers(-100, 100, N),
    "fs": R.normal(size=N),
    "narrow": R.normal(size=N).astype(np.float32),
    "bits": R.random(N) < 0.5,
    "pairs": [(int(x), 1 + float(x) / 1e6) for x in R.integers(-99, 99, 5000)],
    "zs": R.normal(size=N) + 1j * R.normal(size=N),
    "k": 7,
}
LOOPS = [
    "xs |> reduce(lambda s, x: (s[0] + 1, s[1] + x), (0, 0))",
    "fs |> reduce(lambda s, x: (s[0] + 1, s[1] + x, s[2] + x * x), (0, 0.0, 0.0))",
    "fs |> reduce(lambda s, x: (s[0] + 1, s[1] + x), (0, 0))",  # the second begins with an int, and is a float
    "xs |> reduce(lambda s, x: (min(s[0], x), max(s[1], x)), (10**9, -10**9))",
    "range(90) |> reduce(lambda s, i: (s[1], s[0] + s[1]), (0, 1))",
    "range(90) |> scan(lambda s, i: (s[1], s[0] + s[1]), (0, 1))",
    "xs |> zip(fs) |> reduce(lambda a, b: a if a[1] >= b[1] else b)",
    "xs |> enumerate |> reduce(lambda a, b: a if a[1] >= b[1] else b)",
    "xs |> zip(fs) |> reduce(lambda a, p: a + p[0] * p[1], 0.0)",
    "xs |> zip(fs) |> scan(lambda a, p: a * 0.5 + p[0] * p[1], 0.0)",
    "fs |> scan(lambda s, x: (s[0] + 1, s[1] + (x - s[1]) / (s[0] + 1)), (0, 0.0))",
    "xs |> scan(lambda s, x: ((s[1], x), s[0][0]), ((0, 0), 0))",
    "xs |> reduce(lambda s, x: (s[0] or x > 90, s[1] + 1), (False, 0))",
    "bits |> scan(lambda s, b: (b, s[0] != b), (True, False))",
    "xs |> filter(lambda x: x % 2 == 0) |> scan(lambda s, x: (s[0] + 1, s[1] + x), (0, 0))",
    "xs |> filter(lambda x: x > 10**6) |> reduce(lambda s, x: (s[0] + 1, s[1] + x), (0, 0))",
    "xs |> scan(lambda s, x: (s[0] + k, s[1] * 0.5 + x), (0, 0.0))",
    "xs |> reduce(lambda s, x: (x,), (1,))",
    "xs |> map(lambda x: (x, x * 0.5)) |> scan(lambda s, p: (s[0] + p[0], s[1] + p[1]))",
    "xs |> map(lambda x: ((x, 1), x * 0.5)) |> scan(lambda s, p: s + p[0][0] * p[1], 0.0)",
    "zs |> reduce(lambda s, z: (s[0] + z, s[1] + 1), (0j, 0))",
]


@pytest.mark.parametrize("cell", LOOPS)
def test_they_are_one_loop_and_equal_to_python(cell):
    ran = assert_like_python(f"{cell}\n", NAMES, on="parallel", threads=3)
    one_loop(ran)
    assert_interpreted(ran)


@pytest.mark.parametrize(
    ("cell", "options"),
    [
        *((cell, {"on": "simd", "width": 1}) for cell in LOOPS),
        *((cell, {"on": "opencl"}) for cell in LOOPS[::2]),
        *((cell, {"on": "numpy"}) for cell in LOOPS[1::2]),
    ],
)
def test_elsewhere_too(cell, options):
    assert_like_python(f"{cell}\n", NAMES, quiet=True, **options)


@pytest.mark.parametrize("name", ["avx2", "sse2"])
def test_on_every_target(name):
    for cell in LOOPS[:9]:
        with on_target(name):
            assert_like_python(f"{cell}\n", NAMES, on="simd", quiet=True)


@pytest.mark.parametrize(
    "cell",
    [
        "range(200) |> reduce(lambda s, i: (s[1], s[0] + s[1]), (0, 1))",
        "range(200) |> scan(lambda s, i: (s[1], s[0] + s[1]), (0, 1))",
        "xs |> reduce(lambda s, x: (s[0], s[1] // (x - x)), (1, 0))",
        "xs |> filter(lambda x: x > 10**6) |> enumerate |> reduce(lambda s, x: s)",
        "xs |> zip(fs) |> filter(lambda x, f: x > 10**6) |> reduce(lambda s, x: s)",
        "xs |> reduce(lambda s, x: [s[0], x], (1, 2))",
        "xs |> reduce(lambda s, x: (s[1], s[0]), (1, 2.0))",
        "xs |> reduce(lambda s, x: (s[0], x), (2**70, 1))",
        "xs |> reduce(lambda s, x: s + (x,), ())",
        "xs |> reduce(lambda s, x: (s[0], 'a'), (1, 'b'))",
        "xs |> take(9) |> reduce(lambda s, x: s + (x,), (1,))",
        "fs |> reduce(lambda s, x: (s[0] + 1, s[5]), (1, 2))",
    ],
)
@pytest.mark.parametrize("on", ["parallel", "numpy"])
def test_what_python_has_to_do(cell, on):
    assert_like_python(f"{cell}\n", NAMES, on=on, quiet=True)


def test_integers_beyond_64_bits_are_told_of():
    fib = "range(200) |> scan(lambda s, i: (s[1], s[0] + s[1]), (0, 1))\n"
    assert any("no int64 holds" in text for text in run(fib, NAMES).warnings)
    assert isinstance(run(fib, NAMES, int_mode="checked").error, OverflowError)
    a, b = 0, 1
    for _ in range(200):
        a, b = b, (a + b + 2**63) % 2**64 - 2**63
    last = run(f"{fib.strip()} |> last\n", NAMES, int_mode="wrap").value
    assert tuple(last) == (a, b)


def test_numbers_of_32_bits_stay():
    found = run("narrow |> reduce(lambda s, x: (s[0] + x, x), (narrow[0], narrow[0]))\n", NAMES).value
    assert list(map(type, found)) == [np.float32, np.float32]


def test_in_functions_that_run_again():
    names = {"data": None, "k": 1}
    session = Session(names, Options(on="parallel", threads=2, baseline=False))
    session.run_cell("def f(xs, k): return xs |> reduce(lambda s, x: (s[0] + k, max(s[1], x)), (0, -1e9))\n")
    for size in (5, 100, 3, 5000, 70_000, 0, 1, 200_000, 12):
        for k in (1, 2, 3, 3, 1):
            names["data"], names["k"] = np.random.default_rng(size + k).normal(size=size), k
            session.run_cell("y = f(data, k)\n")
            step = lambda s, x, k=k: (s[0] + k, max(s[1], x))  # noqa: E731
            wanted = functools.reduce(step, names["data"].tolist(), (0, -1e9))
            assert names["y"] == wanted
            assert list(map(type, names["y"])) == list(map(type, wanted))


def test_a_result_is_a_source_again():
    cell = "fs |> scan(lambda s, x: (s[0] + 1, s[1] + x), (0, 0.0)) |> map(lambda n, total: total / n) |> to_list\n"
    assert_like_python(cell, NAMES, on="parallel", quiet=True)


LEAVES = ["s[0]", "s[1]", "x", "1", "2.5", "k", "(s[0] if x > 0 else s[1])", "abs(x)"]
PARTS = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*"]), inner, inner).map(lambda t: f"({t[1]} {t[0]} {t[2]})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        st.tuples(inner, inner).map(lambda t: f"({t[0]} % 7 if {t[1]} > 1 else {t[1]})"),
    ),
    max_leaves=4,
)


@examples(150)
@given(
    first=PARTS,
    second=PARTS,
    stage=st.sampled_from(["reduce", "scan"]),
    start=st.sampled_from(["(0, 0)", "(0, 0.0)", "(1.5, 2)", "(1.0, 2.0)"]),
    source=st.sampled_from(["xs |> take(40)", "fs |> take(40)", "range(9)", "range(0)", "bits |> take(20)"]),
)
def test_random_steps(first, second, stage, start, source):
    assert_like_python(
        f"{source} |> {stage}(lambda s, x: ({first}, {second}), {start})\n", NAMES, on="simd", quiet=True
    )
