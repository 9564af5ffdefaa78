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
