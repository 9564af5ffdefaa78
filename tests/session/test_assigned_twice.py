"""Names that several statements of one loop assign: each has its own values, in reports and in what is measured."""

import numpy as np
import pytest

from hastega_magic.compiler.comparing.measure import measure
from hastega_magic.compiler.options import Options
from hastega_magic.session import Session

CELLS = {
    "the source itself": "xs = xs |> map(_ + 1)\nxs = xs |> map(_ + 1)\nb = xs |> sum",
    "a sum in place of its array": "a = xs |> map(_ + 1)\na = a |> map(_ * 2)\na = a |> sum",
    "with another between": "a = xs |> map(_ + 1)\nb = a |> filter(_ % 2)\na = b |> sum",
    "sums of floats": "a = xs |> map(_ * 0.1) |> sum\na = xs |> map(_ * 0.3) |> sum",
}


@pytest.mark.parametrize("on", ["parallel", "opencl"])
@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_baselines_give_the_same(cell, on):
    session, plain = Session({"xs": np.arange(5000)}), Session({"xs": np.arange(5000)})
    session.run_cell(cell, options=Options(on=on))
    plain.run_cell(cell, options=Options(on="python", baseline=False))
    for name in ("a", "b"):
        found, wanted = (each.namespace.get(name) for each in (session, plain))
        assert np.allclose(found, wanted, rtol=1e-12, atol=0) if found is not None else wanted is None
    (pipeline,) = session.last.report.pipelines
    told = {each.backend: each.equal for each in pipeline.baselines}
    told.pop("empty", None)  # a device that copies tells of a kernel that does nothing
    assert told == {"python": True, "numpy": True}


def test_what_is_measured_again_is_equal():
    session = Session({"xs": np.arange(5000)})
    session.run_cell(CELLS["the source itself"], options=Options(baseline=False))
    for on in ("python", "numpy", "simd"):
        assert measure(session.kept, on=on, repeat=1).equal, on


@pytest.mark.parametrize(
    "cell",
    [
        "a = 3\na = xs |> map(_ + a)",
        "a = xs |> max\na = xs |> map(lambda x: x + a)",
        "a = 3\na = xs |> map(_ + a)\nb = a |> sum",
    ],
)
def test_python_is_not_called_wrong_where_it_would_read_what_was_assigned(cell):
    session = Session({"xs": np.arange(5000)})
    session.run_cell(cell, options=Options(on="simd"))
    assert session.namespace["a"][0] in (3, 4999)
    for pipeline in session.last.report.pipelines[-1:]:
        rows = {each.backend: each for each in pipeline.baselines}
        assert rows["numpy"].equal
        assert rows["python"].note.startswith("did not run: its functions read `a`")
    assert "another result" not in session.last.report.to_text(100)
