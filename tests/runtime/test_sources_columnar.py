"""Series and Arrow arrays described for the compiler: whose memory it is, how many are missing, what is no number."""

from __future__ import annotations

import array
import ctypes
import gc
import weakref

import numpy as np
import pytest

from hastega_magic.errors import NotCompilable
from hastega_magic.runtime import arrow
from hastega_magic.runtime.columnar import NullsError, Part, Pieces, numbers
from hastega_magic.runtime.python_calls import elements
from hastega_magic.runtime.sources import described
from hastega_magic.session import Session
from hastega_magic.types import BOOL, FLOAT64, INT

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float64"]
LARGE = 3000


def values(dtype):
    return np.arange(LARGE).astype(dtype)


MAKERS = {
    "pandas": pd.Series,
    "pandas, a column": lambda xs: pd.DataFrame({"a": xs, "b": xs})["b"],
    "pandas, missing allowed": lambda xs: pd.Series(xs, dtype=xs.dtype.name.title().replace("Ui", "UI")),
    "pandas over Arrow": lambda xs: pd.Series(xs, dtype=pd.ArrowDtype(pa.from_numpy_dtype(xs.dtype))),
    "pandas, an index": pd.Index,
    "pandas, an array": lambda xs: pd.array(xs, dtype=xs.dtype.name.title().replace("Ui", "UI")),
    "pandas, NumPy's array": lambda xs: pd.Series(xs).array,
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow, one chunk": lambda xs: pa.chunked_array([xs]),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("maker", MAKERS)
def test_nothing_is_copied(maker, dtype):
    made = MAKERS[maker](values(dtype))
    column = described(made, "xs")
    assert (column.source.kind, column.source.layout, column.source.length) == ("array", "dense", LARGE)
    assert column.source.type is (FLOAT64 if dtype == "float64" else INT)
    assert column.data.dtype == dtype
    assert column.data.tolist() == values(dtype).tolist()
    again = described(made, "xs").array(0, LARGE)
    assert again.ctypes.data == column.data.ctypes.data
    assert not column.data.flags.writeable or np.shares_memory(column.data, made.to_numpy())


@pytest.mark.parametrize(
    "made",
    [
        pd.Series(values("int64")), pl.Series(values("int64")), pa.array(values("int64")),
        pd.Series(values("int64"), dtype="Int64"), pd.Series(values("int64"), dtype="int64[pyarrow]"),
    ],
    ids=["pandas", "polars", "pyarrow", "pandas, missing allowed", "pandas over Arrow"],
)  # fmt: skip
@pytest.mark.parametrize("part", [slice(5, None), slice(3, 100), slice(0, 0), slice(LARGE, None)])
def test_slices_are_views_of_the_whole(made, part):
    whole, cut = described(made, "xs").data, described(made[part], "xs").data
    assert cut.tolist() == list(range(LARGE))[part]
    if len(cut):
        assert cut.ctypes.data == whole.ctypes.data + 8 * part.start


def test_the_very_memory_of_the_others():
    xs = values("int64")
    assert np.shares_memory(described(pa.array(xs), "xs").data, xs)
    series = pd.Series(xs, copy=False)
    assert np.shares_memory(described(series, "xs").data, xs)
    own = pl.Series(xs)
    assert np.shares_memory(described(own, "xs").data, own.to_numpy(allow_copy=False))


def test_strides_of_pandas_are_kept():
    table = pd.DataFrame(np.arange(40).reshape(10, 4), copy=False)
    column = described(table[1], "xs")
    assert column.source.layout == "4 apart"
    assert column.data.tolist() == list(range(1, 40, 4))


CHUNKED = {
    "pyarrow": pa.chunked_array([[1, 2, 3], [], [4], [5, 6]]),
    "polars": pl.concat([pl.Series([1, 2, 3]), pl.Series([], dtype=pl.Int64), pl.Series([4, 5, 6])], rechunk=False),
    "pandas": pd.Series(pa.chunked_array([[1, 2], [3, 4, 5, 6]]), dtype="int64[pyarrow]"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHUNKED)
def test_chunks(name):
    column = described(CHUNKED[name], "xs")
    assert (column.source.kind, column.source.type, column.source.length) == ("list", INT, 6)
    for start in range(7):
        for stop in range(start, 7):
            assert column.array(start, stop).tolist() == list(range(1, 7))[start:stop]
    assert np.shares_memory(column.array(0, 2), column.array(1, 2))
    for step in (1, 2, -1, -4):
        view = column.view(0 if step > 0 else 5, step, -(-6 // abs(step)))
        assert list(view.data) == list(range(1, 7))[::step]
        assert view.source.length == len(view.data)
    assert column.data[-1] == 6
    assert type(column.data[0]) is int
    with pytest.raises(IndexError):
        column.data[6]


def test_a_chunk_of_none():
    assert described(pa.chunked_array([], pa.int32()), "xs").array(0, 0).tolist() == []
    assert described(pl.Series([], dtype=pl.Float32), "xs").source.length == 0


@pytest.mark.parametrize("offset", [0, 1, 7, 8, 9, 30])
@pytest.mark.parametrize("make", [pa.array, pl.Series, lambda xs: pd.Series(xs, dtype="bool[pyarrow]")])
def test_bits(make, offset):
    truth = [number % 3 == 0 for number in range(100)]
    column = described(make(truth)[offset:77], "xs")
    assert (column.source.type, column.source.length) == (BOOL, 77 - offset)
    assert column.array(0, 77 - offset).tolist() == truth[offset:77]
    assert column.array(3, 14).tolist() == truth[offset:77][3:14]
    assert column.data[5:40][2:11].tolist() == truth[offset:77][7:16]


@pytest.mark.parametrize(
    "made",
    [
        pd.Series([0.1, 0.2], dtype="float32"), pl.Series([0.1, 0.2], dtype=pl.Float32),
        pa.array([0.1, 0.2], pa.float32()), array.array("f", [0.1, 0.2]), (ctypes.c_float * 2)(0.1, 0.2),
        memoryview(np.array([0.1, 0.2], np.float32)),
    ],
    ids=["pandas", "polars", "pyarrow", "array", "ctypes", "memoryview"],
)  # fmt: skip
def test_floats_of_32_bits_are_pythons(made):
    column = described(made, "xs")
    assert column.source.type is FLOAT64
    python = made.to_pylist() if hasattr(made, "to_pylist") else list(made)
    assert column.array(0, 2).tolist() == python
    assert list(elements(made)) == python


MISSING = {
    "pandas": (pd.Series([1, None, None, 4], dtype="Int64"), 2, "xs.fillna(0)"),
    "pandas over Arrow": (pd.Series([1.5, None], dtype="double[pyarrow]"), 1, "xs.fillna(0)"),
    "polars": (pl.Series([1, None, 3, None, None]), 3, "xs.fill_null(0)"),
    "pyarrow": (pa.array([1, None]), 1, "xs.fill_null(0)"),
    "a slice": (pa.array([None, 1, None, 3, None, None] * 20)[1:50], 32, "xs.fill_null(0)"),
    "chunks": (pa.chunked_array([[1, None], [2], [None]]), 2, "xs.fill_null(0)"),
    "bits": (pl.Series([True, None]), 1, "xs.fill_null(False)"),
    "Arrow's bits": (pa.array([True, None, None]), 2, "xs.fill_null(False)"),
    "pandas, bools": (pd.Series([True, None], dtype="boolean"), 1, "xs.fillna(False)"),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_elements_are_counted(name):
    made, count, form = MISSING[name]
    with pytest.raises(NullsError) as caught:
        described(made, "xs")
    assert str(caught.value).startswith(f"`xs` holds {count} null")
    assert f"write `{form}`" in str(caught.value)
    filled = eval(form, {"xs": made})
    python = made.to_pylist() if hasattr(made, "to_pylist") else list(made)
    numbers = [0 if each is None or each is pd.NA else each for each in python]
    assert described(filled, "xs").array(0, len(filled)).tolist() == numbers


def test_nan_is_a_number():
    assert described(pd.Series([1.0, np.nan]), "xs").source.type is FLOAT64
    assert described(pl.Series([1.0, float("nan")]), "xs").source.type is FLOAT64


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (pd.Series(["a"]), "type str"), (pl.Series(["a"]), "strings"), (pa.array(["a"]), "strings"),
        (pd.Series([1, "a"], dtype=object), "object"), (pl.Series([[1]]), "lists"), (pa.array([{"a": 1}]), "records"),
        (pd.Series(pd.date_range("2020", periods=2)), "datetime64"), (pa.array([b"a"]), "bytes"),
        (pl.Series(["2020-01-01"]).str.to_date(), "dates"), (pl.Series(["a"], dtype=pl.Categorical), "categories"),
        (pd.Series(["a"], dtype="category"), "category"), (pa.array([1]).dictionary_encode(), "categories"),
        (pa.array([None]), "nulls"), (pa.array([1.0], pa.float16()), "float16"),
        (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8())), "arrow.bool8"),
        (pl.Series(["1.5"]).cast(pl.Decimal(10, 2)), "decimals"), (pd.DataFrame({"a": [1]}), "DataFrame"),
        (pl.DataFrame({"a": [1]}), "DataFrame"), (pa.table({"a": [1]}), "Table"),
    ],
)  # fmt: skip
def test_what_is_no_number_has_its_reason(made, words):
    with pytest.raises(NotCompilable, match=words):
        described(made, "xs")
    python = made.to_pylist() if isinstance(made, pa.Array) else list(made)
    assert list(map(str, elements(made))) == list(map(str, python))


class Foreign:
    """An array of a library of which nobody knows but that it exports Arrow's memory."""

    type = "int64"

    def __init__(self, made):
        self.made = made

    def __len__(self):
        return len(self.made)

    def __arrow_c_array__(self, requested_schema=None):
        return self.made.__arrow_c_array__(requested_schema)


def test_any_library_that_exports_arrow_memory():
    xs = values("int64")
    column = described(Foreign(pa.array(xs)), "xs")
    assert np.shares_memory(column.data, xs)
    with pytest.raises(NullsError, match="fill it first"):
        described(Foreign(pa.array([1, None])), "xs")


@pytest.mark.parametrize("make", [pa.array, lambda xs: pa.chunked_array([xs]), pl.Series])
def test_memory_lives_as_long_as_its_array(make):
    data = described(make(values("int64")), "xs").data[5:]
    gc.collect()
    assert data.tolist() == list(range(5, LARGE))


def test_memory_is_let_go_of():
    xs = values("int64")
    alive = weakref.ref(xs)
    column = described(pa.chunked_array([xs]), "xs")
    del xs
    gc.collect()
    assert alive() is not None
    del column
    gc.collect()
    assert alive() is None


def test_pieces_are_a_sequence_of_python_numbers():
    pieces = Pieces([Part(np.arange(3, dtype=np.uint8), 3), Part(np.arange(2, dtype=np.uint8), 2)], np.uint8)
    assert list(pieces) == pieces.tolist() == [0, 1, 2, 0, 1]
    assert all(type(each) is int for each in pieces)
    assert len(pieces[1:4]) == 3
    assert pieces[4:1].tolist() == []
    assert pieces[::-2].tolist() == [1, 2, 0]
    assert pieces[4:4:2].tolist() == []


@pytest.mark.parametrize("data", [[1], (1,), range(3), {1: 2}, "abc", np.arange(3), 5, None])
def test_other_objects_are_left_alone(data):
    assert numbers(data) is data


CTYPES = {
    "int": ((ctypes.c_int * 3)(1, -2, 3), [1, -2, 3]),
    "unsigned": ((ctypes.c_uint8 * 3)(1, 2, 255), [1, 2, 255]),
    "double": ((ctypes.c_double * 2)(0.5, -1.5), [0.5, -1.5]),
    "bool": ((ctypes.c_bool * 2)(True, False), [True, False]),
}


@pytest.mark.parametrize("name", CTYPES)
def test_ctypes_arrays_are_read_in_place(name):
    made, expected = CTYPES[name]
    column = described(made, "xs")
    assert column.data.tolist() == expected
    assert column.data.ctypes.data == ctypes.addressof(made)


@pytest.mark.parametrize(
    "made", [(ctypes.c_char * 2)(b"a", b"b"), (ctypes.c_void_p * 1)(5), (ctypes.c_int * 2 * 2)()]
)
def test_ctypes_arrays_of_other_things(made):
    with pytest.raises(NotCompilable):
        described(made, "xs")


def test_an_index_of_tuples_is_gone_through_by_python():
    index = pd.MultiIndex.from_tuples([(1, 2), (3, 4)])
    session = Session({"index": index})
    assert session.run_cell("index |> map(lambda a, b: a * b) |> sum").value == 14
    assert "compiled" in session.last.report.pipelines[0].barriers[0].reason


def test_a_frame_may_have_columns_of_any_name():
    frame = pd.DataFrame({"array": [1, 2], "dtype": [3, 4]})
    assert Session({"frame": frame}).run_cell("frame |> map(len) |> to_list").value == [5, 5]


@pytest.mark.parametrize(
    ("frame", "gives"),
    [
        (pd.DataFrame({"a": [1, 2]}), "goes through the names of its columns"),
        (pl.DataFrame({"a": [1, 2]}), "goes through its columns, one Series after the other"),
    ],
)
def test_what_of_a_frame_is_read(frame, gives):
    session = Session({"df": frame})
    session.run_cell("ys = df |> map(_ * 2) |> to_list")
    [barrier] = session.last.report.pipelines[0].barriers
    assert barrier.reason == f"a DataFrame {gives}: `df['name'] |> ...` goes through the values of one"
    session.run_cell("ys = df['a'] |> map(_ * 2) |> to_list")
    assert session.namespace["ys"] == [2, 4]
    assert not session.last.report.pipelines[0].barriers


def test_columns_of_python_objects_are_called_that():
    with pytest.raises(NotCompilable, match="its elements are Python objects"):
        arrow.read(pl.Series([object(), object()], dtype=pl.Object))
