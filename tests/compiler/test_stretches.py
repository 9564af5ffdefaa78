"""Slices of captured lists and tuples from a number on: `sum(xs[i:i + 5])`; Python cuts them off at the ends."""

import itertools
import random

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath.ordinary import OrdinaryCode
from tests.compiler.battery import assert_interpreted, assert_like_python, run, some

R = random.Random(5)
LISTS = {
    "ints": [R.randrange(-(10**6), 10**6) for _ in range(70)],
    "floats": [R.uniform(-5, 5) for _ in range(70)],
    "large": [R.randrange(2**61, 2**62) for _ in range(70)],
    "bools": [R.random() > 0.5 for _ in range(70)],
    "a tuple": tuple(R.uniform(-5, 5) for _ in range(70)),
    "short": [4, 5, 6],
    "few in a tuple": (4, 5, 6),
    "empty": [],
}
INSIDE = {
    "sum": "sum(t[i:i + 5])",
    "mean": "sum(t[i:i + 5]) / 5",
    "largest around": "max(t[i + 2 - 1:i + 2 + 2])",
    "length": "len(t[i:3 + i])",
    "sorted": "sorted(t[i:i + 3])[1]",
    "an item": "t[i:i + 4][-1] - t[i:i + 4][0]",
    "a slice of it": "sum(t[i:i + 6][::2])",
    "gone through": "sum(v * v for v in t[i:i + 3])",
    "zipped": "sum(a * b for a, b in zip(t[i:i + 3], (1, 2, 3)))",
    "doubled": "sum(t[i:i + 2] * 2)",
    "added": "len([1] + [*t[i:i + 2]])",
    "one": "t[i:i + 1][0]",
    "by a product": "sum(t[2 * i:2 * i + 2]) if 2 * i < 60 else 0",
    "unpacked": "(lambda a, b: a - b)(*t[i:i + 2])",
}
CUT = {
    "at the end": ("sum(t[i:i + 5])", 70),
    "beyond the end": ("len(t[i:i + 5])", 80),
    "before the start": ("len(t[i - 2:i + 1])", 66),
    "from the end": ("len(t[i - 70:i - 67])", 66),
    "the first at the end": ("(t[i:i + 2] or (9,))[0]", 75),
}


@pytest.mark.parametrize(
    ("held", "on"),
    [*((each, "parallel") for each in ("ints", "large", "bools", "a tuple")), ("floats", "opencl")],
)
@pytest.mark.parametrize("name", INSIDE)
def test_inside(name, held, on):
    text = f"range(60) |> map(lambda i: {INSIDE[name]})"
    ran = assert_like_python(text, {"t": LISTS[held]}, on=on)
    if ran.error is None:
        assert [each["barriers"] for each in ran.report["pipelines"]] == [[]]
        assert_interpreted(ran)


@pytest.mark.parametrize("held", LISTS)
@pytest.mark.parametrize("name", CUT)
def test_cut_off(name, held):
    expression, count = CUT[name]
    assert_like_python(f"range({count}) |> map(lambda i: {expression})", {"t": LISTS[held]}, quiet=True)


BOUNDS = (
    "i:i + 5", "i:", ":i", "i:2 * i", "i:i", "i + 2:i", "i:i - 1", "i:i + 80", "i > 2:(i > 2) + 2", "i - 3:i + 3",
    "-i:", ":-i", "-i:-2", "max(0, i - 2):i + 3", "i:len(t)", "i * 2**60:", ":i * i * i - 9",
)  # fmt: skip
GONE_THROUGH = (
    "len(t[{}])", "sum(t[{}])", "max(t[{}], default=-1)", "min(t[{}], default=0)", "any(t[{}])", "all(t[{}])",
    "sum(v * v for v in t[{}] if v > 0)", "sum(k * v for k, v in enumerate(t[{}]))",
    "sum(a - b for a, b in zip(t[{}], t[i:]))", "sum(k * v for k, v in enumerate(reversed(t[{}])))", "last(t[{}])",
)  # fmt: skip
HELD = {**LISTS, "an array": np.array(LISTS["floats"]), "narrow": np.array([3, -4, 5, 6], np.int8)}
FUNCTIONS = """
def last(items):
    found = -5
    for found in items:
        if found == 77:
            break
    else:
        found += 1
    return found
"""


@pytest.mark.parametrize(
    ("through", "bounds", "held", "on"),
    some(itertools.product(GONE_THROUGH, BOUNDS, HELD, ["parallel", "simd", "opencl"]), every=90),
)
def test_what_is_gone_through_may_have_any_length(through, bounds, held, on):
    if "narrow" in held and "last" in through:
        pytest.skip("an int8 or an int, by what the elements are")
    text = f"range(75) |> map(lambda i: {through.format(bounds)}) |> to_list"
    names = {"t": HELD[held]}
    exec(FUNCTIONS, names)
    assert_like_python(text, names, on=on, quiet=True)


@pytest.mark.parametrize(("through", "bounds"), some(itertools.product(GONE_THROUGH[:8], BOUNDS), every=12))
def test_none_of_these_is_pythons(through, bounds):
    ran = run(f"range(60) |> map(lambda i: {through.format(bounds)}) |> to_list", {"t": LISTS["ints"]})
    assert [each["barriers"] for each in ran.report["pipelines"]] == [[]]


def test_code_does_not_grow_without_end():
    text = "range(400) |> map(lambda i: sum(sum(x * y for y in a[i:i + 40]) for x in a[i:i + 40])) |> sum"
    ran = assert_like_python(text, {"a": np.arange(500)})
    assert ran.report["pipelines"][0]["barriers"]


def test_lists_are_filled_from_stretches():
    text = """
def middle(i):
    found = []
    for item in t[i:i + 3]:
        found.append(item * 2)
    return sorted(found)[1] + sum([v % 7 for v in t[i + 1:i + 4]])
y = range(60) |> map(middle)"""
    ran = assert_like_python(text, {"t": LISTS["ints"]})
    assert [each["barriers"] for each in ran.report["pipelines"]] == [[]]


@pytest.mark.parametrize(
    "expression",
    [
        "len(t[i:i + 4:2])",
        "len(t[i / 2:i / 2 + 1])",
        "sum(sorted(t[:i]))",
        "a[i:i + 2].prod()",
        "len(a[i:i + 2] * 2)",
    ],
)
def test_others_are_pythons(expression):
    names = {"t": LISTS["ints"], "a": np.arange(70)}
    ran = assert_like_python(f"range(60) |> map(lambda i: {expression}) |> to_list", names)
    assert ran.error is not None or ran.report["pipelines"][0]["barriers"]


def cut_off(xs):
    return [sum(xs[i : i + 5]) / len(xs[i : i + 5]) for i in range(len(xs))]


def before(xs):
    return [sum(xs[max(0, i - 20) : i]) for i in range(len(xs))]


def moving(xs):
    return [sum(xs[i : i + 5]) / 5 for i in range(len(xs) - 4)]


def best(xs, n=3):
    return max(range(len(xs) - n), key=lambda i: sum(xs[i : i + n]))


def wide(xs):
    return [sum(xs[i : i + 20]) / 20 for i in range(len(xs) - 19)]


def behind(xs):
    return [sum(xs[i + 1 : i + 4]) for i in range(len(xs))]


ARRAYS = {
    "floats": np.linspace(-3, 3, 900), "ints": np.arange(900) * 7 % 101, "narrow": (np.arange(900) % 9).astype(np.int8),
    "float32": np.linspace(-3, 3, 900).astype(np.float32), "complex": np.linspace(-3, 3, 900) * 1j,
}  # fmt: skip


@pytest.mark.parametrize("held", ARRAYS)
@pytest.mark.parametrize("function", [moving, cut_off, wide, behind])
def test_numpys_numbers_are_what_they_are(function, held):
    """Also those of the last slice, which has none: the sum is Python's 0."""
    decorated = hastega(function, on="simd")
    for array in (ARRAYS[held], ARRAYS[held][::-1].copy()):
        found, expected = decorated(array), function(array)
        assert list(map(type, found)) == list(map(type, expected))
        assert np.allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("function", [moving, wide])
def test_slices_of_arrays_are_compiled(function):
    decorated = hastega(function, on="simd")
    decorated(ARRAYS["floats"])
    assert "fused loop" in str(decorated.explain())


@pytest.mark.parametrize("function", [moving, best, cut_off, before])
def test_other_lists_of_ordinary_code_are_given_to_the_same_loop(function, monkeypatch):
    compiled = []
    original = OrdinaryCode._compile
    monkeypatch.setattr(
        OrdinaryCode, "_compile", lambda self, *given: compiled.append(1) or original(self, *given)
    )
    decorated = hastega(function, on="simd")
    for seed in range(12):
        given = [random.Random(seed).randrange(-99, 99) for _ in range(900)]
        assert decorated(given) == function(given)
    assert len(compiled) == 1


def test_lists_of_other_lengths_are_looked_at_anew():
    def stretches(xs, n):
        return [sum(xs[i : i + 5]) for i in range(n)]

    decorated = hastega(stretches, on="simd")
    for length in (1000, 2000, 500, 902, 904, 905, 10, 0, 1000):
        given = [R.randrange(100) for _ in range(length)]
        assert decorated(given, 900) == stretches(given, 900)
