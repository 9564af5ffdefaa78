"""Arrays without elements have the type that elements would have, whoever found out that there are none."""

from collections import deque

import numpy as np
import pytest

from hastega_magic.session import Options, Session

RAISES_BEHIND = "take_while(lambda x: 1 // (x - 1) > 5)"


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("on", ["parallel", "simd", "auto", "opencl"])
@pytest.mark.parametrize(
    ("xs", "stages", "dtype"),
    [
        ([3, 1, 2], RAISES_BEHIND, "int64"),
        ([3, 1, 2], f"{RAISES_BEHIND} |> map(lambda x: x > 3)", "bool"),
        ([3, 1, 2], f"{RAISES_BEHIND} |> cumsum", "int64"),
        ([3, 1, 2], f"{RAISES_BEHIND} |> scan(lambda a, x: a + x, 0)", "int64"),
        ([2**70, 1], "map(lambda x: x + 1) |> filter(lambda x: x < 0)", "int64"),
        ([3, 5, 1], "map(lambda x: (x, 1 // (x - 1))) |> take_while(lambda a, b: a < 0)", "i8,i8"),
        ([1, 0], "map(lambda x: x / x) |> map(lambda x: 5) |> take_while(lambda x: x < x)", "int64"),
        ([0.5, 1.0], "map(lambda x: 1 / (x - 1)) |> take_while(lambda x: x > 0)", "float64"),
    ],
)
def test_python_found_none(xs, stages, dtype, on):
    for where in ("python", on):
        session = Session({"xs": xs}, Options(on=where, baseline=False, quiet=True))
        for _ in range(3):
            session.run_cell(f"found = xs |> {stages}")
            assert session.namespace["found"].dtype == np.dtype(dtype), where
            assert len(session.namespace["found"]) == 0


def test_a_statement_of_several_loops_is_cached_where_all_are():
    session = Session(
        {"xs": np.arange(300_000)}, Options(on="parallel", baseline=False, quiet=True, fuse=False)
    )
    session.run_cell("t = xs |> map(lambda x: x + 61) |> sum")
    for cached in (False, True):
        session.run_cell("t = xs |> map(lambda x: x + 61) |> map(lambda x: x % 1019 * 23) |> sum")
        assert session.last_report.to_dict()["pipelines"][0]["cached"] is cached
        assert ("to compile, once" in session.last_report.to_text()) is not cached


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex64"])
@pytest.mark.parametrize(
    "stages",
    [
        "take_while(lambda x: x > 0)",
        "drop_while(lambda x: x > 0) |> take_while(lambda x: x)",
        "scan(lambda a, x: a + x)",
        "take_while(lambda x: x > 0) |> map(lambda x: x)",
    ],
)
def test_arrays_without_elements(dtype, stages):
    found = []
    for on in ("python", "parallel", "numpy"):
        session = Session({"xs": np.zeros(0, dtype)}, Options(on=on, baseline=False, quiet=True))
        session.run_cell(f"found = xs |> {stages}")
        found.append(session.namespace["found"].dtype)
    assert len(set(found)) == 1
    assert found[0].itemsize >= np.dtype(dtype).itemsize


@pytest.mark.parametrize("source", ["set()", "frozenset()", "{}", "{}.items()", "deque()", "''", "fields"])
@pytest.mark.parametrize(
    "stage", ["map(lambda v: v)", "reverse", "enumerate", "zip([1, 2])", "filter(lambda v: v)"]
)
def test_sources_without_elements(source, stage):
    found = []
    for on in ("python", "parallel"):
        fields = np.zeros(0, [("a", "i4"), ("b", "f8")])
        session = Session({"deque": deque, "fields": fields}, Options(on=on, baseline=False, quiet=True))
        session.run_cell(f"found = {source} |> {stage}")
        found.append(session.namespace["found"].dtype)
    assert found[0] == found[1] != np.dtype("float64")


@pytest.mark.parametrize(
    ("source", "stages", "dtype"),
    [
        ("iter(())", "map(int)", "int64"),
        ("iter([])", "map(lambda x: x > 1)", "bool"),
        ("(x for x in ())", "drop(1)", "int64"),
        ("iter([1, 2])", "filter(lambda x: x > 9)", "int64"),
        ("iter([1.5, 2.5])", "filter(lambda x: x > 9)", "float64"),
        ("iter([1.5, 2.5])", "take_while(lambda x: x > 9) |> map(lambda x: x * 2)", "float64"),
        ("iter(['a'])", "filter(lambda x: x > 'b')", "float64"),
        ("Own()", "filter(lambda x: x > 9)", "int64"),
    ],
)
def test_an_iterator_is_an_empty_list_or_has_the_type_of_its_first_element(source, stages, dtype):
    class Own:
        def __iter__(self):
            return iter([1])

    for on in ("python", "numpy", "parallel", "auto"):
        session = Session({"Own": Own}, Options(on=on, baseline=False, quiet=True))
        for _ in range(3):
            session.run_cell(f"found = {source} |> {stages}")
            assert session.namespace["found"].dtype == np.dtype(dtype), on
            assert len(session.namespace["found"]) == 0


@pytest.mark.parametrize("on", ["python", "numpy", "parallel"])
def test_no_more_is_drawn_than_the_stages_need(on):
    drawn = []

    def numbers():
        for number in range(10):
            drawn.append(number)
            yield number

    session = Session({"xs": numbers()}, Options(on=on, baseline=False, quiet=True))
    session.run_cell("found = xs |> map(lambda x: x) |> take(2)")
    assert drawn == [0, 1]
    session.run_cell("found = xs |> take(0)")
    assert drawn == [0, 1]
    session.run_cell("found = xs |> take_while(lambda x: x < 4)")
    assert drawn == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("mode", ["exact", "checked", "wrap"])
@pytest.mark.parametrize("on", ["simd", "numpy"])
@pytest.mark.parametrize(
    ("stages", "dtype"),
    [
        ("astype('float32') |> take(0)", "float32"),
        ("map(lambda x: x / 2) |> astype('int64') |> filter(lambda x: False)", "int64"),
        ("map(lambda x: x * 2) |> enumerate |> filter(lambda x: False) |> take(0)", "i8,i8"),
    ],
)
def test_back_ends_and_modes_agree(stages, dtype, on, mode):
    for where in ("python", on):
        options = Options(on=where, baseline=False, quiet=True, int_mode=mode)
        found = Session({"xs": [1, 2, 3]}, options).run_cell(f"xs |> {stages}").value
        assert found.dtype == np.dtype(dtype), where


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("on", ["python", "simd", "numpy"])
@pytest.mark.parametrize(
    ("cell", "dtype"),
    [
        ("[0.5] |> map(lambda x: 2**70) |> drop(99)", "int64"),
        ("range(3) |> scan(lambda a, x: a + x, 2**70) |> take(0)", "int64"),
        ("zs |> scan(lambda a, x: a + x, 2**70) |> take(0)", "complex64"),
    ],
)
def test_nothing_is_left_beyond_64_bits(cell, dtype, on):
    for mode in ("exact", "checked"):
        options = Options(on=on, baseline=False, quiet=True, int_mode=mode)
        session = Session({"zs": np.ones(3, "complex64")}, options)
        assert session.run_cell(cell).value.dtype == np.dtype(dtype), mode


SEEN = """\
def some(x): return print(end='') or True
def none(x): return print(end='') or False
def see(x): print(end='')
"""
"""Functions that Python calls for each element."""


@pytest.mark.parametrize("on", ["python", "simd", "numpy", "opencl"])
@pytest.mark.parametrize(
    ("statement", "dtype"),
    [
        ("[True] |> filter(some) |> take_while(lambda x: False)", "bool"),
        ("[True] |> filter(some) |> drop(9)", "bool"),
        ("[True] |> filter(none)", "bool"),
        ("[1j] |> tap(see) |> drop(9)", "complex128"),
        ("[1] |> filter(none) |> map(lambda x: x / 2)", "float64"),
        ("[1] |> filter(none) |> enumerate", "i8,i8"),
        ("np.arange(3) |> map(lambda x: (x, 0.5)) |> filter(none)", "i8,f8"),
        ("[(1, 2.5)] |> reverse |> drop(9)", "i8,f8"),
        ("[(1, 2.5)] |> filter(none)", "i8,f8"),
        ("[(1, 2.5)] |> filter(some) |> map(lambda a, b: b) |> drop(1)", "float64"),
        ("[np.float32(1)] |> tap(see) |> drop(9)", "float32"),
    ],
)
def test_stages_that_python_runs_leave_elements_as_they_are(statement, dtype, on):
    pytest.importorskip("pyopencl")
    session = Session({"np": np}, Options(on=on, baseline=False, quiet=True))
    session.run_cell(SEEN)
    for _ in range(4):  # later runs go another way
        session.run_cell(f"found = {statement}")
        assert session.namespace["found"].dtype == np.dtype(dtype)
        assert len(session.namespace["found"]) == 0


@pytest.mark.parametrize("on", ["python", "simd", "numpy", "opencl"])
@pytest.mark.parametrize(
    ("statement", "dtype"),
    [
        ("[True] |> map(seen) |> drop(9)", "bool"),
        ("range(3) |> map(seen) |> drop(9) |> map(lambda x: x / 2)", "float64"),
        ("range(3) |> map(seen) |> map(lambda x: x * 1.5) |> filter(none)", "float64"),
        ("[1] |> filter(none) |> map(seen)", "int64"),
        ("np.zeros(0, bool) |> map(seen) |> cumsum", "int64"),
        ("np.zeros(0, bool) |> map(seen) |> scan(lambda a, x: a + x, 0)", "int64"),
        ("np.zeros(0, bool) |> map(seen) |> scan(seen)", "bool"),
        ("[(1, 2.5)] |> enumerate |> drop(1) |> map(lambda n, t: n)", "int64"),
        ("[1, 2.5] |> filter(none)", "float64"),
        ("[1, 2.5] |> filter(none) |> enumerate", "i8,f8"),
        ("[1, 'a'] |> filter(none) |> enumerate", "i8,f8"),
        ("[(1, 2.5), (1,)] |> filter(none)", "i8,f8"),
        ("['a'] |> filter(none) |> map(len) |> bincount", "int64"),
        ("range(3) |> chunk(2) |> drop(4)", "i8,i8"),
        ("range(3) |> chunk(2) |> filter(none)", "i8,i8"),
        ("range(1) |> chunk(2) |> filter(lambda t: False)", "i8,i8"),
        ("range(3) |> chunk(2) |> filter(lambda t: False) |> map(sum)", "int64"),
        ("np.ones(3, 'f4') |> chunk(2) |> map(sum) |> filter(lambda x: False)", "float32"),
        ("range(3) |> map(seen) |> chunk(2) |> drop(4)", "i8,i8"),
    ],
)
def test_stages_behind_those_that_python_runs_have_types_of_their_own(statement, dtype, on):
    pytest.importorskip("pyopencl")
    session = Session({"np": np}, Options(on=on, baseline=False, quiet=True))
    session.run_cell(f"{SEEN}def seen(x): return print(end='') or x\n")
    for _ in range(3):
        session.run_cell(f"found = {statement}")
        assert session.namespace["found"].dtype == np.dtype(dtype)
        assert len(session.namespace["found"]) == 0


@pytest.mark.parametrize("on", ["python", "simd"])
def test_pairs_that_are_counted_or_zipped(on):
    session = Session({}, Options(on=on, baseline=False, quiet=True))
    for stage, dtype in (
        ("enumerate", [("f0", "i8"), ("f1", "i8,f8")]),
        ("zip([7])", [("f0", "i8,f8"), ("f1", "i8")]),
    ):
        assert session.run_cell(f"[(1, 2.5)] |> {stage} |> drop(1)").value.dtype == np.dtype(dtype)


@pytest.mark.parametrize("on", ["python", "simd", "numpy", "opencl"])
@pytest.mark.parametrize(
    ("statement", "dtype"),
    [
        ("['a'] |> map(len) |> drop(3)", "int64"),
        ("['a'] |> map(len) |> filter(lambda n: n > 4)", "int64"),
        ("['1'] |> map(float) |> drop(3)", "float64"),
        ("['a'] |> map(len) |> map(lambda n: n > 1) |> drop(3)", "bool"),
        ("range(130) |> chunk(100) |> drop(4)", ",".join(["i8"] * 100)),
        ("range(130) |> chunk(100) |> filter(lambda t: False)", ",".join(["i8"] * 100)),
        ("range(99) |> chunk(100) |> drop(4)", ",".join(["i8"] * 100)),
        ("range(130) |> map(lambda x: x / 2) |> window(65) |> drop(90)", ",".join(["f8"] * 65)),
        ("range(130) |> chunk(100) |> drop(4) |> map(lambda t: t[0] / 2)", "float64"),
        ("range(3) |> chunk(1_000_000) |> drop(1)", "int64"),
    ],
)
def test_texts_that_are_counted_and_wide_chunks(statement, dtype, on):
    pytest.importorskip("pyopencl")
    session = Session({}, Options(on=on, baseline=False, quiet=True))
    for _ in range(3):
        session.run_cell(f"found = {statement}")
        assert session.namespace["found"].dtype == np.dtype(dtype)
        assert len(session.namespace["found"]) == 0
