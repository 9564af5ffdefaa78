"""Steps of a `reduce` over more elements than a device is to store for the host, which takes them."""

from __future__ import annotations

import functools

import pytest

from hastega_magic.compiler import run
from hastega_magic.session import Options, Session

pytest.importorskip("pyopencl")

COUNT = 20_000


@pytest.mark.parametrize("before", ["", "map(_ + 1) |> ", "filter(_ % 3 == 0) |> "])
def test_the_cpu_runs_such_a_loop(monkeypatch: pytest.MonkeyPatch, before: str) -> None:
    elements = {"": range(COUNT), "m": range(1, COUNT + 1), "f": range(0, COUNT, 3)}[before[:1]]
    expected = [functools.reduce(lambda a, x, k=k: (a * k + x) % 1009, elements, k) for k in (3, 5, 3)]
    session = Session({"xs": range(COUNT)}, Options(on="opencl", baseline=False))
    for most, ran in ((COUNT - 1, "parallel"), (COUNT, "opencl")):
        monkeypatch.setattr(run, "STORED", most)
        for k, value in zip((3, 5, 3), expected, strict=True):
            session.namespace["k"] = k
            assert (
                session.run_cell(f"xs |> {before}reduce(lambda a, x: (a * k + x) % 1009, k)").value == value
            )
            assert session.last_report is not None
            (told,) = session.last_report.to_dict()["pipelines"]
            assert told["backend"] == ran
            assert ("a device would store 20,000 elements: the CPU ran the loop" in repr(told)) == (
                ran == "parallel"
            )


def test_what_has_no_order_and_needs_no_host_is_the_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "STORED", 100)
    session = Session({"xs": range(COUNT)}, Options(on="opencl", baseline=False))
    for text, value in (
        ("reduce(lambda a, x: a + x, 1)", sum(range(COUNT), 1)),
        ("take(90) |> reduce(lambda a, x: x - a)", 45),
    ):
        assert session.run_cell(f"xs |> {text}").value == value
        assert session.last_report is not None
        assert session.last_report.to_dict()["pipelines"][0]["backend"] == "opencl"
