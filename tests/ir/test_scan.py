"""The fixed shape of running float sums."""

import itertools
import math

import numpy as np
import pytest

from hastega_magic.ir.scan import ROW, running_sums
from hastega_magic.ir.schedule import BLOCK


@pytest.mark.parametrize(
    "length", [0, 1, 2, ROW - 1, ROW, ROW + 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exact_where_no_sum_is_rounded(length, dtype):
    values = np.random.default_rng(length).integers(-8, 9, length).astype(dtype)
    found = running_sums(values)
    assert found.dtype == dtype
    assert found.tolist() == list(itertools.accumulate(values.tolist()))


def test_close_to_the_true_sums():
    values = np.random.default_rng(0).normal(size=3 * BLOCK + 77)
    true = [math.fsum(values[: end + 1]) for end in range(0, len(values), 997)]
    assert np.allclose(running_sums(values)[::997], true, rtol=1e-13, atol=1e-12)


def test_a_row_is_summed_by_lanes_1_2_and_4_apart():
    x = np.random.default_rng(1).normal(size=ROW) * 10.0 ** np.arange(ROW)
    found = running_sums(x)
    assert found[7] == ((x[7] + x[6]) + (x[5] + x[4])) + ((x[3] + x[2]) + (x[1] + x[0]))
    assert found[4] == ((x[4] + x[3]) + (x[2] + x[1])) + x[0]


def test_a_sum_begins_at_zero():
    assert math.copysign(1, running_sums(np.array([-0.0]))[0]) == 1.0


def test_infinities_and_nan_stay():
    found = running_sums(np.array([1.0, math.inf, 2.0, -math.inf, 3.0]))
    assert found[:3].tolist() == [1.0, math.inf, math.inf]
    assert np.isnan(found[3:]).all()
