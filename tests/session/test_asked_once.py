"""An object that stands for a number of elements is asked for it once, as Python does."""

import pytest

from hastega_magic.session import Options, Session


class Number:
    """Of elements, and how often it was asked."""

    asked = 0

    def __index__(self):
        self.asked += 1
        return 2


@pytest.mark.parametrize("on", ["python", "simd", "opencl"])
@pytest.mark.parametrize("stage", ["take(k)", "drop(k)", "step(k)", "window(k)", "chunk(k)", "enumerate(k)"])
def test_each_run_asks_once(stage, on):
    pytest.importorskip("pyopencl")
    session = Session({}, Options(on=on, baseline=False, quiet=True))
    for _ in range(3):
        session.namespace["k"] = Number()
        session.run_cell(f"found = range(9) |> {stage}")
        assert session.namespace["k"].asked == 1
