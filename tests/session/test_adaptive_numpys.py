"""Numbers of NumPy's that keep changing are parameters, as Python's are: `for rate in np.linspace(0, 1, 9)`."""

import warnings

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler import loops
from hastega_magic.session import Options, Session

QUIET = Options(baseline=False, quiet=True, on="simd")
TYPES = [np.float64, np.int64, np.int8, np.uint64, np.longlong]
NUMBERS = [3, 5, 2, 0, 7, 1, 9, 4]
XS = [2, -3, 5, 0, 8]


def plain(number):
    """What one of NumPy's numbers counts as."""
    return float(number) if isinstance(number, np.floating) else int(number)


@pytest.mark.parametrize("source", [list, np.array, lambda xs: np.array(xs, float)])
@pytest.mark.parametrize("type_", TYPES)
def test_each_turn_costs_no_compilation(type_, source):
    loops.clear_cache()
    space = {"xs": source(XS), "found": []}
    session = Session(space, QUIET)
    session.run_cell("def scaled(xs, k): return xs |> map(lambda x: x * k - k) |> sum")
    loop = "for k in ks:\n    found.append((xs |> map(lambda x: x * k + 1) |> to_list, scaled(xs, k)))"
    counts = []
    for part in (NUMBERS[:3], NUMBERS[3:], NUMBERS):
        space["ks"], space["found"][:] = [type_(k) for k in part], []
        session.run_cell(loop)
        own = [
            float(x) if space["xs"] is not XS and np.asarray(space["xs"]).dtype == float else x for x in XS
        ]
        expected = [([x * k + 1 for x in own], sum(x * k - k for x in own)) for k in map(plain, space["ks"])]
        assert repr(space["found"]) == repr(expected)
        counts.append(len(loops.cached_loops()))
    assert counts[0] == counts[1] == counts[2]


@pytest.mark.parametrize("type_", TYPES)
def test_one_that_changes_its_type(type_):
    space = {"xs": XS}
    session = Session(space, QUIET)
    for number in (type_(3), 3, type_(5), 5.0, np.float32(2), type_(2), np.int64(2**62), type_(7), 2**70):
        space["k"] = number
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = session.run_cell("xs |> map(lambda x: x * k) |> sum").value
        known = number if isinstance(number, int | float | np.float32) else int(number)
        assert found == sum(x * (float(known) if isinstance(number, np.float64) else known) for x in XS)


@pytest.mark.parametrize("type_", TYPES)
def test_ordinary_code_keeps_their_types(type_):
    xs = [abs(x) for x in XS] * 99
    scaled = hastega(lambda k: [x * k for x in xs])
    for number in map(type_, NUMBERS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert repr(scaled(number)) == repr([x * number for x in xs])


def test_an_equal_one_is_the_same():
    """Each element of an array is another object."""
    space = {"xs": XS}
    session = Session(space, QUIET)
    counts = []
    for _ in range(4):
        space["k"] = np.int64(3)
        session.run_cell("xs |> map(lambda x: x * k) |> sum")
        assert session.last_report is not None
        (pipeline,) = session.last_report.to_dict()["pipelines"]
        counts.append(len(loops.cached_loops()))
        assert not any("kept changing" in why for why in pipeline["why"])
    assert len(set(counts)) == 1


@pytest.mark.parametrize("expression", ["x * k", "k", "x + k // 2", "k / 3", "x < k"])
@pytest.mark.parametrize("sink", ["", "|> to_list", "|> sum"])
@pytest.mark.parametrize("type_", [np.float32, np.complex64, np.float64, np.int8])
def test_float64_is_what_it_is_beside_other_elements(type_, sink, expression):
    """It does not round to float32, as a Python float does."""
    if type_ is np.complex64 and "<" in expression:
        return
    numbers = [np.float64(each) for each in (0.1, 0.7, 2.5, 0.1)]
    pipeline = f"xs |> map(lambda x: {expression}) {sink}"
    space = {"xs": np.arange(50, dtype=type_), "ks": numbers, "found": []}
    Session(space, QUIET).run_cell(f"for k in ks: found.append({pipeline})")
    for k, found in zip(numbers, space["found"], strict=True):
        alone = Session({"xs": space["xs"], "k": k}, QUIET).run_cell(pipeline).value
        assert repr(found) == repr(alone)
        assert getattr(found, "dtype", None) == getattr(alone, "dtype", None)


def test_float64_beside_equal_floats():
    """Two variables of one name, for functions of one code."""
    space = {"xs": np.arange(5, dtype=np.float32), "np": np, "found": []}
    Session(space, QUIET).run_cell(
        "def times(k): return lambda x: x * k\n"
        "for i in range(4):\n"
        "    found.append(xs |> map(times(i + 0.1)))\n"
        "    found.append(xs |> map(times(np.float64(i + 0.1))))\n"
        "    found.append(xs |> map(times(np.float64(i + 0.1))) |> map(times(i + 0.1)))\n"
        "    found.append(xs |> map(times(i + 0.1)) |> map(times(np.float64(i + 0.1))))\n"
    )
    assert [each.dtype.name for each in space["found"]] == ["float32", "float64", "float64", "float64"] * 4
    for i in range(4):
        one, other = space["xs"] * (i + 0.1), space["xs"] * np.float64(i + 0.1)
        for found, known in zip(
            space["found"][4 * i :],
            (one, other, other * (i + 0.1), one * np.float64(i + 0.1)),
            strict=False,
        ):
            assert found.tolist() == known.tolist()


@pytest.mark.parametrize("type_", [*TYPES, np.float32, int, float])
@pytest.mark.parametrize("what", ["k", "abs(k)", "(k if x else k)", "(x + k)", "x"])
def test_isinstance_of_one(what, type_):
    space = {"xs": list(range(5)), "ks": [type_(k) for k in NUMBERS], "np": np, "found": []}
    classes = ("int", "float", "np.integer", "np.floating", "np.float64", "(int, np.int8)")
    body = ", ".join(f"isinstance({what}, {each})" for each in classes)
    Session(space, QUIET).run_cell(
        f"def f(x): return {body}\nfor k in ks: found.append(xs |> map(f) |> to_list)"
    )
    expected = eval(f"lambda x, k: ({body})", {"np": np})
    assert space["found"] == [[expected(x, k) for x in range(5)] for k in space["ks"]]
