"""Cells that once went wrong, each as small as it gets."""

import math
import re
import sys

import numpy as np
import pytest

from hastega_magic.compiler.comparing.difference import difference
from hastega_magic.errors import CellSyntaxError, IntegerOverflowWarning
from hastega_magic.session import Options, Session

PLAIN = Options(baseline=False, quiet=True)


def run(text, options=PLAIN, **names):
    session = Session(dict(names), options)
    return session.run_cell(text)


def test_extremes_of_a_stored_float_result_are_fused_with_it():
    result = run("v = xs |> map(lambda x: x + 1)\nm = v |> map(_ * 2) |> min\n(m, list(v))", xs=[1.5, -2.0])
    assert result.value == (-2.0, [2.5, -1.0])
    assert [each.loops for each in result.report.pipelines] == [1]


def test_the_first_nan_and_the_first_zero_count_in_a_stored_result_too():
    result = run("v = xs |> map(_ * 1.0)\nm = v |> min\nn = v |> max\n(m, n)", xs=[float("nan"), 1.0])
    assert all(np.isnan(result.value))
    zero = run("v = xs |> map(_ * 1.0)\nm = v |> min\nm", xs=[0.0, -0.0]).value
    assert str(zero) == "0.0"


def test_a_baseline_that_cannot_hold_wrapped_integers_does_not_fail_the_cell():
    result = run("v = xs |> map(lambda x: x * 4)\nv.tolist()", Options(int_mode="wrap"), xs=[1, 2**62])
    assert result.value == [4, 0]
    equal = {each.backend: each.equal for each in result.report.pipelines[0].baselines}
    assert equal == {"python": False, "numpy": True}


def test_a_list_that_iterates_in_its_own_way_is_iterated():
    class Odd(list):
        def __iter__(self):
            return iter([7, 8])

    assert run("xs |> sum", xs=Odd([1, 2])).value == 15


def test_neighbouring_barriers_take_turns_element_by_element():
    log = []
    run("range(3) |> map(lambda x: log.append(x) or x) |> map(lambda x: log.append(-x) or x)", log=log)
    assert log == [0, 0, 1, -1, 2, -2]


@pytest.mark.parametrize("text", ["range(10**19, 10**19 + 3) |> map(_ + 1)", "[3] |> map(lambda x: 1 << 64)"])
def test_checked_mode_lets_no_wider_integer_through(text):
    with pytest.raises(OverflowError, match=r"64 bits|no int64"):
        run(text, Options(baseline=False, quiet=True, int_mode="checked"))


def test_checked_mode_leaves_an_unsigned_element_that_nothing_is_done_with():
    xs = np.array([2**64 - 1], np.uint64)
    value = run(
        "xs |> map(lambda x: x)", Options(baseline=False, quiet=True, int_mode="checked"), xs=xs
    ).value
    assert value.dtype == np.uint64
    assert value.tolist() == [2**64 - 1]


def test_a_barrier_names_the_element_that_raised():
    with pytest.raises(TypeError) as raised:
        run("[1, 'a', 3] |> map(lambda x: x + 1)")
    element, place = raised.value.__notes__
    assert element == "hastega: element 1, which is 'a', in `map(lambda x: x + 1)` (cell line 1)"
    assert place.endswith("^" * len("map(lambda x: x + 1)"))


def test_a_pipeline_in_a_loop_is_reported_once_and_counted():
    report = run("for k in range(50): w = range(100) |> sum\nw", Options(baseline=False)).report
    assert len(report.pipelines) == 1
    assert any("ran 50 times" in each for each in report.pipelines[0].why)


def test_compared_back_ends_are_measured_without_baselines_too():
    report = run("range(1000) |> sum", Options(baseline=False, compare=("simd",))).report
    assert [each.backend for each in report.pipelines[0].baselines] == ["parallel, run again", "simd"]


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="whose parser takes it")
def test_a_pipeline_too_long_for_a_parser_is_refused_with_a_sentence():
    with pytest.raises(CellSyntaxError, match=r"nest(s|ed) too deeply"):
        run("range(3)" + " |> map(_ + 1)" * 20_000)


def test_a_function_of_the_notebook_shadows_a_stage_and_a_number_does_not():
    names = {}
    exec("def count(xs): return 'mine'", names)
    session = Session(names, PLAIN)
    assert session.run_cell("[1, 2] |> count").value == "mine"
    assert run("[1, 2] |> sum", sum=0).value == 3


@pytest.mark.parametrize("stride", [2, 8, 9, 64])
def test_a_product_that_overflows_only_between_vectors_is_exact(stride):
    xs = np.ones(8 * stride, np.int64)
    xs[::stride] = 2**16
    assert run("xs |> prod", xs=xs).value == 2**128
    assert run("xs |> reduce(lambda a, b: a * b)", xs=xs).value == 2**128


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("take(3) |> to_list", [0, 1, 2]),
        ("first", 0),
        ("last", 10**19 - 1),
        ("map(lambda x: x + 1) |> enumerate |> take(n=2) |> to_list", [(0, 1), (1, 2)]),
        ("drop(5) |> reverse |> take(2) |> to_list", [10**19 - 1, 10**19 - 2]),
        ("step(4 * 10**18) |> map(_ + 1)", [1, 4 * 10**18 + 1, 8 * 10**18 + 1]),
        ("drop(10**19 - 2)", [10**19 - 2, 10**19 - 1]),
        ("filter(_ > 5) |> take(2) |> sum", 13),
        ("take_while(_ < 5) |> count", 5),
        ("map(_ > 7) |> any", True),
        ("zip(range(2)) |> to_list", [(0, 0), (1, 1)]),
        ("take(10**19) |> sum", "`sum` asks for all of them: begin with"),
        ("map(_ + 1)", "has 10000000000000000000 elements"),
        ("drop(1) |> count", "`count` asks for all of them"),
    ],
)
@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("on", ["auto", "python", "numpy"])
def test_a_range_that_len_cannot_count(text, wanted, on):
    session = Session({}, Options(on=on))
    if isinstance(wanted, str):
        with pytest.raises(OverflowError, match=wanted):
            session.run_cell(f"range(10**19) |> {text}")
        return
    found = session.run_cell(f"range(10**19) |> {text}")
    assert (found.value.tolist() if isinstance(found.value, np.ndarray) else found.value) == wanted
    assert found.report.to_text()
    assert found.report.to_dict()


def test_ordinary_code_over_a_range_that_len_cannot_count():
    assert run("any(x > 500 for x in range(10**19)), [x for x in range(10**19)[:300]] == [*range(300)]").value == (
        True, True,
    )  # fmt: skip


def test_what_a_difference_by_rounding_is_relative_to():
    xs = np.random.default_rng(1).normal(size=20_000)
    for text, scale in [("scan(lambda a, x: a * 0.5 + x, 0.0)", " of the largest element"), ("sum", "")]:
        report = run(f"xs |> {text}", Options(), xs=xs).report
        (note,) = {each.note for each in report.pipelines[0].baselines if each.backend == "python"}
        assert re.fullmatch(rf"equal to \de-1\d{scale}", note)


def test_why_numpys_scalars_are_left_to_python():
    names = {
        "xs": [np.int32(3), np.int32(4)],
        "half": np.ones(3, np.float16),
        "z": np.array([3 + 4j, 8], np.complex64),
    }
    for text, value, reason in [
        ("xs |> map(lambda x: x * 3) |> to_list", [9, 12], "those of a NumPy array are compiled"),
        ("half |> sum", 3.0, "float16 are not compiled"),
        ("z |> max", 8, "NumPy's complex64 are compared by their real parts first, and left to Python"),
        ("[1j, 2j] |> max", None, "complex numbers have no order: Python raises TypeError for `max`"),
    ]:
        session = Session(dict(names), PLAIN)
        if value is None:
            with pytest.raises(TypeError):
                session.run_cell(text)
        else:
            assert session.run_cell(text).value == value
        assert reason in session.last.report.pipelines[0].barriers[0].reason


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "bool"])
@pytest.mark.parametrize("condition", ["int(not (x < x))", "int(True ^ (x < x))"])
def test_a_filter_that_turns_out_to_keep_everything(kind, condition):
    xs = np.arange(1, 700).astype(kind)
    session = Session({"xs": xs}, Options(on="simd", baseline=False))
    session.run_cell(f"ys = xs |> filter(lambda x: {condition})\nzs = [x for x in xs if {condition}]")
    assert np.array_equal(session.namespace["ys"], xs)
    assert session.namespace["zs"] == list(xs)


@pytest.mark.parametrize("sink", ["sum", "mean", "var", "std", "cumsum", "map(_ * 2) |> sum", "max"])
def test_sums_of_float32_are_equal_up_to_its_own_roundings(sink):
    """Python adds float32 one after the other; extremes are equal to the bit, and a wrong sum is none."""
    xs = np.random.default_rng(5).random(50_000).astype(np.float32)
    report = Session({"xs": xs}, Options(on="simd")).run_cell(f"xs |> {sink}").report
    notes = {each.backend: each.note for each in report.pipelines[0].baselines}
    assert notes.keys() == {"python", "numpy"}
    for note in notes.values():
        assert note == "" if sink == "max" else re.match(r"equal to \de-0[5-9]|equal to \de-1|$", note)
    assert difference(1.0, 1.02, tolerance=1e-2) is None


@pytest.mark.parametrize("k", [0, 0.0, 1, True])
def test_complex_values_whose_parts_are_alike_are_summed(k):
    """Both parts are the same constant, and one accumulation."""
    assert run("xs |> map(lambda x: x * k * 1j) |> sum", xs=list(range(20)), k=k).value == 190j * k
    assert run(
        "xs |> map(lambda x: (x * k) * (1 + 1j)) |> mean", xs=list(range(20)), k=k
    ).value == 9.5 * k * (1 + 1j)


@pytest.mark.parametrize("power", [0.5, -0.5, 1.5])
def test_a_power_of_a_constant_may_be_complex(power):
    value = run(
        "xs |> map(lambda x: -0.5) |> map(lambda x: (x, x ** p)) |> to_list", xs=[1, 2], p=power
    ).value
    assert value == [(-0.5, (-0.5) ** power)] * 2


def test_functions_of_math_take_pairs_apart_as_python_does():
    assert run("xs |> zip(ys) |> map(math.gcd) |> to_list", xs=[4, 6], ys=[2, 9], math=math).value == [2, 3]
    assert run("xs |> enumerate |> map(math.gcd) |> to_list", xs=[4, 6], math=math).value == [4, 1]


@pytest.mark.parametrize("ufunc", [np.floor, np.ceil, np.trunc, np.rint, np.sqrt, np.abs, np.negative])
@pytest.mark.parametrize("xs", [[1, 5], [1.5, 2.5], np.array([1, 2], np.int8)])
def test_ufuncs_of_ints_are_ints_where_numpy_says_so(ufunc, xs):
    found = run("xs |> map(ufunc)", xs=xs, ufunc=ufunc).value
    expected = ufunc(np.array(xs, np.int64 if np.asarray(xs).dtype.kind == "i" else None))
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()


def test_a_function_that_is_called_again_with_ints_beyond_64_bits():
    session = Session({}, PLAIN)
    session.run_cell("def f(xs): return xs |> map(lambda x: float(x)) |> argmin\n")
    f = session.namespace["f"]
    assert f([3, 1, 2] * 7) == 1
    with pytest.warns(IntegerOverflowWarning):
        assert f([2**64, 5, 1]) == 2


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("stages", ["window(3) |> map(sum)", "chunk(2) |> map(max)"])
@pytest.mark.parametrize("xs", [range(0), range(2), [], range(100, -(2**65), -(2**62))])
def test_windows_of_few_elements_in_a_function(stages, xs):
    session = Session({}, PLAIN)
    session.run_cell(f"def f(xs): return xs |> {stages} |> to_list\n")
    plain = Session({"xs": xs}, Options(on="python", quiet=True))
    plain.run_cell(f"r = xs |> {stages} |> to_list")
    for _ in range(2):
        assert session.namespace["f"](xs) == plain.namespace["r"]


def test_types_of_elements_stay_where_a_cell_runs_again():
    session = Session({"xs": np.arange(20), "i4": np.int32}, PLAIN)
    session.run_cell("r = []\nfor i in range(4):\n    t = xs |> astype(i4)\n    r.append(t.dtype)\n")
    assert session.namespace["r"] == [np.dtype(np.int32)] * 4
    for _ in range(4):
        session.run_cell("t = xs |> astype('int16')")
        assert session.namespace["t"].dtype == np.int16


TWICE = {
    "tuples": "xs |> map(lambda x: (x, x + 1))", "numbered": "xs |> enumerate |> to_list",
    "complex": "xs |> map(lambda x: x * 1j)", "mixed": "xs |> clip(None, 5.5)", "counted": "xs |> bincount",
    "folded": "xs |> reduce(lambda a, x: a // 2 - x)", "mixed least": "xs |> clip(-5, 5.5) |> min",
    "mixed most": "xs |> map(lambda x: x if x > 2 else 0.5) |> max", "zipped": "xs |> zip(xs)",
}  # fmt: skip


@pytest.mark.parametrize("name", TWICE)
@pytest.mark.parametrize("size", [20, 5000, 70_000])
def test_quiet_cells_that_run_again(name, size):
    for xs in (np.arange(size) % 100, range(size)):
        session = Session({"xs": xs}, PLAIN)
        plain = Session({"xs": xs}, Options(on="python", quiet=True))
        plain.run_cell(f"r = {TWICE[name]}")
        for _ in range(3):
            session.run_cell(f"r = {TWICE[name]}")
            found, expected = session.namespace["r"], plain.namespace["r"]
            if isinstance(expected, np.ndarray):
                assert found.dtype == expected.dtype
                found, expected = found.tolist(), expected.tolist()
            assert found == expected


@pytest.mark.parametrize(
    "numbers", [(2**63, 2**64, 4, 5), (3, 4, 2**64, 5, 2.5, 6), (2, 3, 4, 2**64, 2**65, 7)]
)
@pytest.mark.parametrize(
    "stages",
    ["map(lambda x: x * k) |> sum", "filter(lambda x: x < k) |> count", "map(lambda x: x + k) |> std"],
)
def test_numbers_that_keep_changing_and_leave_64_bits(numbers, stages):
    """What no parameter holds is a constant of its form."""
    session = Session({"xs": [1.0, 2.0, 9.0]}, PLAIN)
    session.run_cell(f"def f(k): return xs |> {stages}\n")
    found = [session.namespace["f"](k) for k in numbers]
    session.run_cell(f"t = []\nfor k in {numbers}:\n    r = xs |> {stages}\n    t.append(r)")
    plain = Session({"xs": [1.0, 2.0, 9.0]}, Options(on="python", quiet=True))
    plain.run_cell(f"t = []\nfor k in {numbers}:\n    r = xs |> {stages}\n    t.append(r)")
    assert found == session.namespace["t"] == pytest.approx(plain.namespace["t"], rel=1e-12)


@pytest.mark.parametrize(
    "xs", [[1.0, math.nan, 2.0], [math.nan, 1.0], [0.0, -0.0], [-0.0, 0.0], [3, 1], [True], []]
)
@pytest.mark.parametrize("stages", ["max", "min", "argmax", "argmin", "bincount(minlength=5)", "reduce(max)"])
def test_numpy_is_asked_only_where_it_says_what_python_says(xs, stages):
    found = []
    for on in ("numpy", "python"):
        try:
            found.append(
                repr(run(f"xs |> {stages}", Options(on=on, baseline=False, quiet=True), xs=xs).value)
            )
        except (ValueError, TypeError) as error:
            found.append(type(error))
    assert found[0] == found[1]


@pytest.mark.parametrize("end", ["map(str) |> count", "len"])
def test_a_loop_that_python_goes_on_from_is_not_compared_alone(end):
    """Its elements are no value of the statement's."""
    session = Session({"xs": np.arange(30_000)}, Options(on="parallel"))
    report = session.run_cell(f"y = xs |> filter(lambda x: x > 3) |> {end}\n").report
    assert report.pipelines[0].loops == 1
    assert not report.pipelines[0].baselines


def test_numbers_of_32_bits_in_chunks_stay_what_they_are_beside_a_shorter_one():
    xs = np.linspace(0, 1, 98, dtype=np.float32)
    cell = "y = xs |> chunk(4) |> scan(lambda s, x: s + x[0], 0)\nz = xs |> chunk(4)\n"
    for on in ("parallel", "python"):
        session = Session({"xs": xs}, Options(on=on, baseline=False))
        session.run_cell(cell)
        sums, chunks = session.namespace["y"], session.namespace["z"]
        assert sums.dtype == np.float32
        assert sums[-1] == np.float32(12.371133)
        assert {type(each) for chunk in chunks for each in chunk} == {np.float32}


@pytest.mark.parametrize(
    "body",
    ["(x == y, x + 1)", "(x == x + 0.25, x * 2)", "(x == y, math.exp(0.1), x + 1)", "(x >= y, -x - 2)"],
)
@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
def test_comparisons_with_floats_are_exact_beside_what_leaves_64_bits(body):
    names = {"xs": [2**63 - 1, 3, -(2**63)], "y": 2.0**63, "math": math}
    result = run(f"f = lambda x: {body}\nr = xs |> map(f) |> to_list\nr == [f(x) for x in xs]", **names)
    assert result.value is True


@pytest.mark.parametrize("terms", [300, 340, 400, 900, 1400])
def test_expressions_may_nest_as_python_has_them(terms):
    more = "+1" * terms
    text = f"before = 1\nz = 1{more}\nr = range(5) |> map(_{more}) |> to_list\n"
    text += f"w = range(2) |> filter(_ > 0{more}) |> sum"
    session = Session({}, Options(baseline=False))
    session.run_cell(text)
    found = session.namespace
    assert (found["before"], found["z"], found["w"]) == (1, terms + 1, 0)
    assert found["r"] == [terms + each for each in range(5)]
    assert sys.getrecursionlimit() < 5000


def test_elements_that_a_mask_hides_are_what_python_has():
    masked = np.ma.array([1, 2, 3], mask=[0, 1, 0])
    expected = [x * 2 + 1 for x in masked]
    found = run("r = m |> map(lambda x: x * 2 + 1) |> to_list\nr", m=masked).value
    assert [each is np.ma.masked for each in found] == [False, True, False]
    assert (found[0], found[2]) == (expected[0], expected[2])
    assert run("m |> sum", m=masked).value is np.ma.masked
    assert run("m |> map(_ + 1) |> sum", m=np.ma.array([1, 2, 3])).value == 9


@pytest.mark.parametrize(
    ("text", "under"),
    [
        ("x = range(5) |> map(_ + nope) |> sum", "nope"),
        ("x = range(5) |> map(nope)", "nope"),
        ("a = 1\nx = (range(5)\n     |> map(lambda x: x + yy))", "yy"),
        ("x = source |> sum", "source"),
        ("for i in range(2):\n    y = nn |> sum", "nn"),
        ("def f(x):\n    if x > 100:\n        y = 1\n    return y\nx = range(5) |> map(f)", "map(f)"),
    ],
)
def test_a_caret_stands_under_an_unknown_name(text, under):
    with pytest.raises(NameError) as caught:
        run(text)
    line, caret = caught.value.__notes__[-1].splitlines()
    assert line[caret.index("^") : caret.rindex("^") + 1] == under


def test_a_name_that_is_unknown_beside_a_pipeline_has_none():
    with pytest.raises(NameError) as caught:
        run("x = range(5) |> sum\nb = nope + 1")
    assert not hasattr(caught.value, "__notes__")
