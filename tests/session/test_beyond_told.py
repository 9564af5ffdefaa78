"""What the report says of integers that Python recomputed."""

import numpy as np
import pytest

from hastega_magic.session import Session

pytestmark = pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")


def entry(cell, **given):
    return Session(given).run_cell(cell).report.pipelines[0]


def test_baselines_are_measured_and_held_against_it():
    found = entry("a = xs |> map(lambda x: x * 3)", xs=np.full(5000, 2**62))
    by_name = {each.backend: each for each in found.baselines}
    assert by_name["python"].equal
    assert by_name["python"].seconds > 0
    assert not by_name["numpy"].equal  # which wraps


def test_what_was_recomputed_was_not_proved_to_fit():
    found = entry("a = xs |> map(lambda x: int(x * 4.0))", xs=np.array([1, 2**62] * 1000))
    assert found.integers.fell_back
    assert found.integers.guarded
    assert not found.integers.proved
    assert not any("proved" in each for each in found.why)
