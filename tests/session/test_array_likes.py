"""Objects that give an array of their numbers: Python has the elements that loops read, also where some are missing."""

import numpy as np
import pytest

from hastega_magic.runtime.columnar import NullsError
from hastega_magic.session import Options, Session

STAGES = (
    "map(lambda x: x * 3 + 1)", "filter(lambda x: x > 2)", "sum", "max", "cumsum", "reverse |> to_list",
    "enumerate |> map(lambda i, x: i - x)", "zip(xs) |> map(lambda a, b: a * b) |> mean", "chunk(3) |> map(sum)",
    "map(lambda x: 1 / (x - 1))", "tap(len) |> map(lambda x: x * 2)", "map(lambda x: x * 2**60) |> sum",
)  # fmt: skip


def outcome(xs, stage, on):
    try:
        return Session({"xs": xs}, Options(baseline=False, on=on)).run_cell(f"xs |> {stage}").value
    except ArithmeticError as error:
        return type(error), str(error)


def same(ours, python):
    if isinstance(ours, np.ndarray) and isinstance(python, np.ndarray):
        return ours.dtype == python.dtype and ours.tolist() == python.tolist()
    return type(ours) is type(python) and ours == python


class ArrayLike:
    """What gives its numbers as an array, and has an iteration of its own."""

    def __init__(self, array):
        self.array, self.dtype = array, array.dtype

    def __len__(self):
        return len(self.array)

    def __array__(self, dtype=None, copy=None):
        return self.array

    def __getitem__(self, index):
        return self.array[index]


@pytest.mark.parametrize("stage", STAGES)
def test_what_gives_an_array_has_its_elements_wherever_they_are_read(stage):
    pd = pytest.importorskip("pandas")
    narrow = np.array([100, 1, 127, -128], np.int8)
    expected = outcome(narrow, stage, "python")
    for xs in (
        ArrayLike(narrow),
        pd.Series(narrow).array,
        pd.array(narrow, "Int8"),
        pd.arrays.SparseArray(narrow),
    ):
        for on in ("parallel", "python"):
            assert same(outcome(xs, stage, on), expected), (type(xs), on)


def test_missing_elements_of_pandas_arrays():
    pd = pytest.importorskip("pandas")
    for made in (pd.array, pd.Series):
        xs = made([100, None], dtype="Int8")
        with pytest.raises(NullsError, match=r"holds 1 null\b.*`xs.fillna\(0\)`"):
            outcome(xs, "map(lambda x: x * 2)", "parallel")
        found = outcome(xs, "to_list", "python")
        assert found == [100, pd.NA]
        assert type(found[0]) is int


RECORD = np.array([(1, 2.5)], "i4,f8")[0]


@pytest.mark.parametrize("on", ["python", "simd", "opencl"])
@pytest.mark.parametrize(
    ("xs", "stage", "wanted"),
    [
        (np.str_("ab"), "map(lambda c: c * 2) |> to_list", ["aa", "bb"]),
        (np.str_("ab"), "zip([1, 2]) |> map(lambda c, n: c * n) |> to_list", ["a", "bb"]),
        (np.bytes_(b"ab"), "map(lambda c: c + 1) |> to_list", [98, 99]),
        (RECORD, "sum", 3.5),
        (RECORD, "map(lambda x: x * 2) |> to_list", [2, 5.0]),
    ],
)
def test_scalars_of_numpy_that_have_elements(xs, stage, wanted, on):
    session = Session({"xs": xs}, Options(baseline=False, on=on))
    assert session.run_cell(f"xs |> {stage}").value == wanted


@pytest.mark.parametrize("on", ["python", "simd"])
def test_such_a_scalar_beside_elements(on):
    assert Session({"xs": RECORD}, Options(baseline=False, on=on)).run_cell("[1, 2] |> dot(xs)").value == 6.0
