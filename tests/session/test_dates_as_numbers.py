"""Dates and durations become the numbers that NumPy has them as."""

import numpy as np
import pytest

from hastega_magic.session import Options, Session


@pytest.mark.parametrize("on", ["python", "simd", "numpy"])
@pytest.mark.parametrize("dtype", ["int", "'int64'", "'int32'"])
@pytest.mark.parametrize(
    "source", ["np.array([3, -7], 'M8[D]')", "np.array([3, -7], 'm8[s]')", "np.array([3, -7], 'M8[ns]')"]
)
def test_numbers_of_units(source, dtype, on):
    session = Session({"np": np}, Options(on=on, baseline=False, quiet=True))
    found = session.run_cell(f"{source} |> astype({dtype})").value
    assert found.dtype == (np.int32 if "32" in dtype else np.int64)
    assert found.tolist() == [3, -7]


def test_what_no_date_is():
    session = Session({"np": np}, Options(on="simd", baseline=False, quiet=True))
    assert session.run_cell("np.array(['NaT'], 'M8[s]') |> astype(int)").value.tolist() == [-(2**63)]
    with pytest.raises(OverflowError, match="out of bounds for int8"):
        session.run_cell("np.array([300], 'm8[s]') |> astype('int8')")
