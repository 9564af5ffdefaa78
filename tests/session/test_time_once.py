"""Times of what is done once, and of what was interrupted."""

from __future__ import annotations

import math
import os
import signal
import threading
import time

import pytest

from hastega_magic.report.verdict import verdict
from hastega_magic.runtime import cpu
from hastega_magic.runtime.objects import boxes
from hastega_magic.session import Options, Session


def spent(pipeline):
    return {phase.name: phase.seconds for phase in pipeline.phases}


@pytest.mark.parametrize(
    "cell", ["t = range(5000) |> map(_ * 3) |> to_list", "t = [x * 3 for x in range(5000)]"]
)
def test_code_that_makes_a_list_is_compiled_and_not_converted(cell, monkeypatch):
    compiled = cpu._compiled

    def slow(text):
        time.sleep(0.2)
        return compiled(text)

    session = Session({}, Options(on="simd", baseline=False))
    session.run_cell("s = range(5000) |> map(_ * 3) |> sum")
    monkeypatch.setattr(cpu, "_compiled", slow)
    boxes._maker.cache_clear()
    session.run_cell(cell)
    (pipeline,) = session.last.report.pipelines
    assert session.namespace["t"] == [x * 3 for x in range(5000)]
    assert spent(pipeline)["compile"] >= 0.2
    assert 0 < spent(pipeline)["convert_out"] < 0.15


@pytest.mark.parametrize("on", ["parallel", "opencl"])
def test_a_report_says_how_long_it_ran_until_it_was_interrupted(on):
    text = (
        "y = range(10**12) |> map(lambda x: math.sin(x) * math.cos(x)) |> map(lambda x: math.exp(-x)) |> sum"
    )
    session = Session({"math": math}, Options(on=on, baseline=False))
    session.run_cell("y = range(10) |> map(math.sin) |> sum")  # a driver's start is no part of it
    asked = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    asked.start()
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        session.run_cell(text)
    took = time.perf_counter() - began
    asked.join()
    (pipeline,) = session.last.report.pipelines
    assert verdict(pipeline)[0].text == "✗ interrupted"
    assert sum(spent(pipeline).values()) == pytest.approx(took, abs=0.4)
    assert pipeline.seconds() > 0.2
