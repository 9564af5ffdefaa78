"""Baselines of a loop behind stages that Python runs: they are held against the whole statement."""

from __future__ import annotations

import numpy as np
import pytest

from hastega_magic.session import Options, Session

SLOW = "import time\ndef h(x):\n    time.sleep(0.0005)\n    return x\n"
RECURSIVE = "def h(x):\n    return h(x - 1) + 1 if x > 0 else 0\n"


@pytest.mark.parametrize("on", ["parallel", "simd", "auto"])
@pytest.mark.parametrize(("defined", "n"), [(SLOW, 100), (RECURSIVE, 400)])
def test_they_count_what_python_ran_before(defined: str, n: int, on: str) -> None:
    session = Session({}, Options(on=on, threads=2))
    for again in range(2):
        report = session.run_cell(f"{defined}r = range({n}) |> map(h) |> map(_ * 2) |> sum").report.to_dict()
        (pipeline,) = report["pipelines"]
        assert session.namespace["r"] == 2 * sum(range(n))
        assert pipeline["barriers"], again
        (kernel,) = [each["seconds"] for each in pipeline["phases"] if each["name"] == "kernel"]
        baselines = {each["backend"]: each["seconds"] for each in pipeline["baselines"] if each["equal"]}
        assert {"python", "numpy"} <= baselines.keys()
        # The loop behind takes microseconds: nearly all of the kernel's time is the function's.
        assert all(seconds > kernel / 2 for seconds in baselines.values())
        if defined is SLOW:
            assert any(why.startswith("Baselines begin behind") for why in pipeline["why"])


@pytest.mark.parametrize("sink", ["max", "var", "sum"])
def test_the_first_elements_may_give_nothing(sink: str) -> None:
    session = Session({"xs": np.linspace(-1, 1, 30_001)}, Options(on="parallel"))
    session.run_cell(f"a = xs |> filter(_ > 0) |> {sink}")
    (pipeline,) = session.last.report.pipelines
    assert [(each.backend, each.equal) for each in pipeline.baselines] == [("python", True), ("numpy", True)]
