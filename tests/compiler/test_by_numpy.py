"""`--on numpy` gives what Python gives: the same cells beside the compiled loop, in every integer mode."""

import math
import warnings

import numpy as np
import pytest

from hastega_magic.session import Options, Session


class Counting:
    """A stage's function that no loop can have."""

    calls = 0

    def __call__(self, x):
        self.calls += 1
        return x


NAMES = {"math": math, "t": np.array([10, 20, 30]), "big": np.array([2**63, 3], np.uint64)}
CELLS = [
    "range(-500, 500) |> window(70) |> map(sum) |> last",
    "range(-500, 500) |> chunk(100) |> map(sum) |> var",
    "range(17) |> enumerate |> map(lambda t: t[0]) |> take(0) |> std",
    "[2**62, 2**62, 1] * 2 |> map(_ * 4) |> to_list",
    "[2**62, 2**62, 1] * 2 |> map(_ * 4) |> sum",
    "range(3) |> map(1 // _) |> to_list",
    "[2**62, 2**62, 1] * 2 |> sum",
    "[2**62, 2**62, -1] |> mean",
    "[-(2**62)] * 3 |> cumsum",
    "[-0.0, -0.0, 1.0, -1.0, -0.0] |> cumsum |> to_list",
    "[3, -5] * 25 |> prod",
    "[2**62, 3] |> reduce(lambda a, b: a + b, 2**62)",
    "[1.5, -1.0] |> map(lambda x: math.sqrt(x)) |> to_list",
    "[0, 1, 2, 5] |> map(lambda x: t[x] if x < 3 else 0) |> to_list",
    "[0, 1, 2, 5] |> map(lambda x: t[x]) |> to_list",
    "[2**62, 5] |> filter(lambda x: x * 4 > 3) |> map(_ * 2) |> to_list",
    "[5, 2**62, 0] |> map(lambda x: 10 // x) |> to_list",
    "[5, 0] |> map(lambda x: 10 // x) |> any",
    "[0, 5] |> map(lambda x: 10 // x) |> any",
    "big |> map(lambda x: x + 1) |> to_list",
    "[2**70, 1] |> map(lambda x: x + 1) |> to_list",
    "[1, 2, 3] |> map(lambda x: 2 ** (x - 2)) |> to_list",
    "[1, 2, 70] |> map(lambda x: 1 << x) |> to_list",
    "[2**63 - 1, 5] |> map(lambda x: x + x - 7) |> to_list",
    "[-(2**63), 5] |> map(lambda x: (-x, x // -1)) |> to_list",
    "range(10) |> filter(_ > 20) |> min",
    "range(10) |> filter(_ > 20) |> reduce(lambda a, x: a * x)",
    "range(10) |> filter(_ > 20) |> reduce(lambda a, x: a | x)",
    "range(10) |> filter(_ > 20) |> reduce(lambda a, x: a + x, 5)",
    "[] |> reduce(lambda a, x: a + x)",
    "[1e300, 2.0] |> map(lambda x: x**2) |> to_list",
    "[1.0, 0.0] |> map(lambda x: 1 / x) |> to_list",
    "range(9000) |> map(lambda x: x % 7 - 3 if x > 4 else -x) |> filter(_ != 0) |> sum",
]


DECIDED = [
    "range(688782, 3550292585000, 39457090000) |> map(lambda x: x * (2**31 - 1) < x) |> any",
    "range(688782, 3550292585000, 39457090000) |> filter(lambda x: x * (2**31 - 1) > x) |> count",
    "range(688782, 3550292585000, 39457090000) |> map(lambda x: x * (2**31 - 1) < x) |> to_list",
]
"""Comparisons that ranges decide, of products that no int64 holds."""


def ran(cell, **options):
    """The value, or what was raised; and whether there was a warning."""
    session = Session(dict(NAMES))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = session.run_cell(cell, options=Options(baseline=False, **options)).value
        except Exception as error:
            return type(error), str(error), False
    return type(found), str(found), bool(caught)


@pytest.mark.parametrize("mode", ["exact", "checked", "wrap"])
def test_as_the_compiled_loop(mode):
    for cell in CELLS:
        found, wanted = (ran(cell, on=on, int_mode=mode) for on in ("numpy", "simd"))
        assert (cell, *found[:2]) == (cell, *wanted[:2])
        if mode == "exact" and "sum" not in cell:  # what is summed needs no 128 bits there
            assert (cell, found[2]) == (cell, wanted[2])


@pytest.mark.parametrize("mode", ["exact", "checked"])
@pytest.mark.parametrize("cell", DECIDED)
def test_numpy_computes_what_ranges_have_decided(cell, mode):
    found, wanted = (ran(cell, on=on, int_mode=mode) for on in ("numpy", "simd"))
    assert found[:2] == wanted[:2]


def test_it_is_numpy_that_computed():
    session = Session({"xs": np.arange(10_000), "y": np.linspace(1, 2, 10_000)})
    cell = "(xs |> map(lambda x: x * x % 1000 // (x + 1)) |> to_list), (y |> map(lambda v: 1 / v) |> max)"
    session.run_cell(cell, options=Options(on="numpy", baseline=False))
    assert [(each["backend"], each["barriers"]) for each in session.last.report.to_dict()["pipelines"]] == [
        ("numpy", []), ("numpy", []),
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["checked", "wrap"])
def test_what_python_computes_has_no_mode_and_says_so(mode):
    session = Session({"f": eval("lambda x: x * 4")})
    cell = "[2**62] * 2 |> map(lambda x: x * 4) |> to_list"
    found = session.run_cell(cell, options=Options(on="python", int_mode=mode))
    assert found.value == [2**64] * 2
    (pipeline,) = found.report.pipelines
    assert [each for each in pipeline.warnings if f"`--int {mode}` does not reach" in each]
    found = session.run_cell("[2**62] * 2 |> map(f) |> to_list", options=Options(int_mode=mode))
    assert found.value == [2**64] * 2
    assert f"`--int {mode}` does not reach" in found.report.pipelines[0].barriers[0].reason


def test_elements_of_as_many_numbers_are_not_taken_for_each_other():
    made = [
        "",
        "|> window(1)",
        "|> map(lambda x: ((x,),))",
        "|> zip(xs)",
        "|> zip(xs) |> map(lambda a, b: complex(a, b))",
    ]
    made += ["|> zip(xs) |> map(lambda a, b: ((a,), b))", "|> map(lambda x: x + 0)"]
    for stages in made * 2:
        cells = (f"xs = [1.5, -2.5]\nxs {stages} |> {end}" for end in ("to_list", "last", "take(5)"))
        for cell in cells:
            found, wanted = (ran(cell, on=on) for on in ("numpy", "python"))
            assert (cell, found[1]) == (cell, wanted[1])


INF = "float('inf')"
ASKED = [
    f"[1.0, {INF}] |> take_while(lambda t: t // 2 > 3)",
    f"[1.0, {INF}] |> drop_while(lambda t: t // 2 < 3)",
    f"[1.0, {INF}, 3.0] |> take_while(lambda t: t % 2 == 1) |> to_list",
    f"[1.5] * 70_000 + [{INF}, 2.0] |> take_while(lambda t: t // 0.5 == 3) |> sum",
    f"[1.5] * 70_000 + [{INF}, 2.0] |> drop_while(lambda t: t // 0.5 == 3) |> to_list",
    "[1, 4, 3, 0] |> take_while(lambda t: 12 // t > 3) |> to_list",
    "[1, 0, 3, 0] |> take_while(lambda t: 12 // t > 3) |> to_list",
    "[1, 2**62, 3] |> drop_while(lambda t: t * 4 > 0) |> to_list",
    "[1, 0, 5] |> filter(lambda t: t and 7 // t == 1) |> first",
    "[1.0, 1e300, 3.0] |> filter(lambda t: t // 2 > 1) |> last",
    "[1.0, 4.0, 1e300, 3.0] |> max(key=lambda t: t // 2)",
    "[1.0, 1e300] |> map(lambda t: t // 1e299) |> var",
    "[1.0, 2.0, 30.0] |> take_while(lambda t: t ** -1 > 0.1) |> to_list",
]
"""Loops that are asked first, at some elements of which a check fires, or which NumPy has no calls for."""


@pytest.mark.parametrize("cell", ASKED)
@pytest.mark.parametrize("mode", ["exact", "wrap"])
def test_what_is_asked_first_is_python_s_where_checks_fire(cell, mode):
    found, wanted = (ran(cell, on=on, int_mode=mode) for on in ("numpy", "simd"))
    assert found[:2] == wanted[:2]


@pytest.mark.parametrize("cell", ASKED[:2])
def test_the_baseline_agrees_where_checks_fire_in_what_is_asked_first(cell):
    session = Session({})
    session.run_cell(cell, options=Options(on="simd", compare=("numpy",)))
    (pipeline,) = session.last.report.to_dict()["pipelines"]
    assert [each["equal"] for each in pipeline["baselines"] if each["backend"] == "numpy"] == [True]


UNREACHED = [
    "[1, 0] |> filter(lambda x: 3 % x) |> zip([5, 6]) |> take(0) |> map(lambda x, y: x) |> sum",
    "range(300) |> map(lambda x: 1 // (x - 7)) |> map(str) |> take(3) |> len",
    "[1.0, 0.0] |> map(lambda x: 1 / x) |> filter(lambda x: ~x)",
    "[0.0, 1.0] |> map(lambda x: 1 / x) |> filter(lambda x: ~x)",
    "[2.0, 0.0] |> map(lambda x: x ** -1) |> map(str) |> take(1) |> to_list",
]


@pytest.mark.parametrize("cell", UNREACHED)
def test_elements_that_python_does_not_draw_raise_nothing(cell):
    assert ran(cell, on="numpy") == ran(cell, on="python")


def test_functions_are_called_as_often_as_by_python():
    counting = Counting()
    session = Session({"counting": counting})
    cell = "range(300) |> map(lambda x: 1 // (x - 7)) |> map(counting) |> sum"
    with pytest.raises(ZeroDivisionError):
        session.run_cell(cell, options=Options(on="numpy", baseline=False))
    assert counting.calls == 7


@pytest.mark.parametrize("on", ["numpy", "simd"])
def test_what_checked_finds_is_told_also_before_stages_of_python(on):
    cell = "[2**62] |> map(_ * 4) |> map(str) |> to_list"
    assert ran(cell, on=on, int_mode="checked")[0] is OverflowError


@pytest.mark.parametrize(
    ("cell", "mode"),
    [
        ("[] |> min", "exact"),
        ("range(9) |> filter(_ > 20) |> max", "exact"),
        ("range(9) |> filter(_ > 20) |> mean", "exact"),
        ("[2**70, 1] |> map(lambda x: x + 1) |> to_list", "checked"),
        ("[1.0, 0.0] |> map(lambda x: 1 / x) |> filter(lambda x: ~x)", "exact"),
        ("[2, 0] |> map(lambda x: x ** -1) |> to_list", "exact"),
    ],
)
def test_errors_have_no_context_of_ours(cell, mode):
    with pytest.raises((ArithmeticError, TypeError, ValueError)) as caught:
        Session({}).run_cell(cell, options=Options(on="numpy", baseline=False, int_mode=mode))
    assert caught.value.__context__ is None


@pytest.mark.parametrize("sink", ["to_list", "sum"])
def test_the_element_is_named_where_python_computes(sink):
    cell = f"[2, 0] |> map(lambda x: x ** -1) |> {sink}"
    with pytest.raises(ZeroDivisionError) as caught:
        Session({}).run_cell(cell, options=Options(on="numpy", baseline=False))
    assert (
        "hastega: element 1 of [2, 0], which is 0, in `map(lambda x: x ** -1)` (cell line 1)"
        in caught.value.__notes__
    )


def test_what_numpy_has_no_call_for_names_the_stages():
    session = Session({"xs": np.arange(1000)})
    session.run_cell(
        "xs |> map(lambda x: x / 2) |> astype('int32')", options=Options(on="numpy", baseline=False)
    )
    assert session.last is not None
    (barrier,) = session.last.report.pipelines[0].barriers
    assert barrier.stage == "map(lambda x: x / 2) |> astype('int32')"
    assert list(barrier.span) == [1, 6, 1, 45]


@pytest.mark.parametrize("exponent", ["0.5", "k"])
def test_powers_of_a_half_are_no_roots(exponent: str) -> None:
    """As NumPy's own are: of -0.0 and of -inf these are others."""
    session = Session({"math": math, "k": 0.5}, Options(on="numpy", baseline=False, quiet=True))
    session.run_cell(f"out = [-0.0, float('-inf'), 4.0] |> map(lambda x: math.pow(x, {exponent})) |> to_list")
    assert repr(session.namespace["out"]) == "[0.0, inf, 2.0]"
