"""Methods of short parts of arrays, `a[i:i + 5].mean()`: value and type are NumPy's, to the last bit."""

import itertools
import linecache
from typing import Any

import numpy as np
import pytest
from battery import some

from hastega_magic import hastega

Array = np.ndarray[Any, Any]

METHODS = ("sum()", "mean()", "max()", "min()", "var()", "std()", "std(ddof=1)", "var(ddof=0)")
LENGTHS = (1, 2, 3, 7, 8, 9, 15, 16, 17, 40, 64)
_RANDOM = np.random.default_rng(7)
_FLOATS = _RANDOM.standard_normal(700) * 10.0 ** _RANDOM.integers(-6, 7, 700)
_HOLES = np.where(_RANDOM.random(700) < 0.05, np.nan, _FLOATS)
ARRAYS: dict[str, Array] = {
    "floats": _FLOATS,
    "not a number": _HOLES,
    "infinite": np.where(_RANDOM.random(700) < 0.02, np.inf, _HOLES),
    "zeros of both signs": np.where(_RANDOM.random(700) < 0.5, 0.0, -0.0),
    "ints": _RANDOM.integers(-1000, 1000, 700),
    "large": _RANDOM.integers(-(2**63), 2**63 - 1, 700),
    "every second": np.repeat(_FLOATS, 2)[::2],
    "backwards": _FLOATS[::-1],
}
OTHERS: dict[str, Array] = {
    "float32": _FLOATS.astype("f4"),
    "int32": ARRAYS["ints"].astype("i4"),
    "bools": _FLOATS > 0,
    "uint64": ARRAYS["ints"].astype("u8"),
    "big-endian": _FLOATS.astype(">f8"),
}


def bits(values: Any) -> list[object]:
    """NaN's sign aside, which an addition takes from either operand."""
    return [(type(each), "nan" if each != each else repr(each)) for each in values]


def function_of(text: str) -> Any:
    lines, names = ["def f(a, m):\n", f"    return {text}\n"], dict[str, Any]()
    linecache.cache["<the test>"] = (0, None, lines, "<the test>")
    exec(compile("".join(lines), "<the test>", "exec"), names)
    return names["f"]


def rolling(part: str, length: int) -> str:
    return f"[{part.format(f'a[i:i + {length}]')} for i in range(len(a) - {length - 1})]"


def outcome(function: Any, *given: Array) -> Any:
    try:
        return bits(function(*given))
    except (ValueError, IndexError) as error:
        return type(error), str(error)


def told_of(text: str, a: Array) -> str:
    """The report, where value and types are those of Python."""
    function = function_of(text)
    decorated, rows = hastega(function), np.resize(a, (len(a), 5))
    with np.errstate(all="ignore"):
        expected = outcome(function, a, rows)
        for _ in range(2):
            assert outcome(decorated, a, rows) == expected
    return str(decorated.explain())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("method", "length", "name"), some(itertools.product(METHODS, LENGTHS, ARRAYS), every=36)
)
def test_bits_and_types_are_numpys(method: str, length: int, name: str) -> None:
    told_of(rolling(f"{{}}.{method}", length), ARRAYS[name])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("call", "name"), some(itertools.product(["max", "min", "sum"], [*ARRAYS, *OTHERS]), every=3)
)
def test_so_are_pythons_own_functions(call: str, name: str) -> None:
    told_of(rolling(f"{call}({{}})", 5), (ARRAYS | OTHERS)[name])


@pytest.mark.parametrize("name", ["floats", "ints"])
@pytest.mark.parametrize("method", METHODS[:-1])
def test_it_is_one_loop(method: str, name: str) -> None:
    assert "fused loop" in told_of(rolling(f"{{}}.{method}", 8), ARRAYS[name])
    assert "fused loop" in told_of(f"[m[i].{method} for i in range(len(m))]", ARRAYS[name])


SHORT = (
    "a[i:i + 5]", "a[i - 2:i + 3]", "a[max(0, i - 3):i + 4]", "a[max(i - 1, 0):min(len(a), i + 2)]", "a[i:i + 7]",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("part", "call", "name"),
    some(
        itertools.product(
            SHORT,
            ["{}.sum()", "{}.mean()", "{}.max()", "{}.min()", "sum({})", "max({})", "min({})"],
            ARRAYS,
        ),
        every=18,
    ),
)
def test_short_parts_may_be_cut_off(part: str, call: str, name: str) -> None:
    told_of(f"[{call.format(part)} for i in range(len(a))]", ARRAYS[name])


@pytest.mark.parametrize("name", ["floats", "ints"])
@pytest.mark.parametrize("call", ["{}.sum()", "{}.mean()", "{}.max()", "sum({})", "max({})"])
def test_so_they_are_one_loop(call: str, name: str) -> None:
    text = call.format("a[max(0, i - 2):i + 3]")
    assert "fused loop" in told_of(f"[{text} for i in range(len(a))]", ARRAYS[name])


@pytest.mark.parametrize("call", ["max", "min"])
def test_so_are_extremes_by_python(call: str) -> None:
    assert "fused loop" in told_of(rolling(f"{call}({{}})", 5), ARRAYS["floats"])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("method", "name"), some(itertools.product(METHODS, OTHERS), every=4))
def test_arrays_whose_sums_have_another_type_are_numpys(method: str, name: str) -> None:
    assert "fused loop" not in told_of(rolling(f"{{}}.{method}", 5), OTHERS[name])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "text",
    [
        "[a[i:i + 9].mean() for i in range(len(a))]",  # cut off at the end
        "[a[i:i - 2].mean() for i in range(3, len(a))]",  # of nothing
        "[a[max(0, i - 20):i + 21].sum() for i in range(len(a))]",
        "[a[i:i + 65].sum() for i in range(len(a) - 64)]",
        "[a[i:i + 1].var() for i in range(len(a))]",
        "[a[i:i + 5].sum(axis=0) for i in range(len(a) - 4)]",
        "[a[i:i + 5].std(ddof=2) for i in range(len(a) - 4)]",
        "[a[i:i + 5].std(ddof=True) for i in range(len(a) - 4)]",
        "[a[i:i + 4:2].max() for i in range(len(a) - 4)]",
        "[m[i, 1:3].sum() for i in range(len(m))]",
        "[m[i:i + 2].sum() for i in range(len(m) - 1)]",
        "[m[-i - 1].max() - a[i] for i in range(len(m))]",
        "[(a[i] - a[i:i + 9].mean()) / a[i:i + 9].std() for i in range(len(a) - 8)]",
        "[a[i] for i in range(len(a) - 4) if a[i] == a[i:i + 5].max()]",
        "[v for v in (a[i:i + 3].min() for i in range(len(a) - 2)) if v > 0]",
    ],
)
def test_other_forms_give_what_python_gives(text: str) -> None:
    told_of(text, ARRAYS["floats"])


@pytest.mark.parametrize("text", ["m[i].max()", "m[i + 1].sum()", "a[i:i + 5].min()"])
def test_what_raises_raises(text: str) -> None:
    function = function_of(f"[{text} for i in range(len(a) + 1)]")
    given = ARRAYS["ints"], np.empty((len(ARRAYS["ints"]), 0))
    expected = outcome(function, *given)
    assert isinstance(expected, tuple)
    assert outcome(hastega(function), *given) == expected


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", ["prod()", "std(ddof=5)", "sum(axis=0)", "argmax()"])
def test_of_other_methods_the_reason_is_told(method: str) -> None:
    name = method.partition("(")[0]
    told = told_of(rolling(f"{{}}.{method}", 5), ARRAYS["floats"])
    assert f"`.{name}(...)` of a part of an array is left to NumPy" in " ".join(told.split())
