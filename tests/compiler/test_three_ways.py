"""Pipelines made by hypothesis over values made by hypothesis: CPython, the interpreter and the machine agree."""

from __future__ import annotations

import contextlib

import battery
import grammar
import pytest
from hypothesis import given

TABLE = [3, -1, 4, 1, -5, 9, 2, 6]  # an array's elements would be np.int64 to CPython, which wraps
OTHER = list(range(100, 130))
INT_SINKS = ("sum", "prod", "min", "max", "count", "any", "all", "mean", "to_list", "reduce(lambda a, b: a ^ b)",
             "reduce(lambda a, b: a + b, 5)", "reduce(max)")  # fmt: skip
FLOAT_SINKS = ("min", "max", "count", "any", "all", "to_list")


def agree(text, source):
    names = {"source": source, "table": TABLE, "other": OTHER}
    ran = battery.assert_like_python(text, names)
    whole = len(ran.executions) == 1 and ran.error is None and not ran.report["pipelines"][0]["barriers"]
    if whole and "5)" not in text.rpartition("|>")[2]:  # a reduce's first value is kept outside of the loop
        battery.assert_interpreted(ran)


@battery.examples(100)
@given(grammar.pipelines(grammar.int_expressions(), INT_SINKS), battery.int_sources)
def test_ints(text, source):
    agree(text, source)


@battery.examples(100)
@given(grammar.pipelines(grammar.float_expressions(), FLOAT_SINKS), battery.float_sources)
def test_floats(text, source):
    agree(text, source)


@battery.examples(40)
@given(grammar.pipelines(grammar.float_expressions(), FLOAT_SINKS), battery.float32_sources)
def test_float32(text, source):
    agree(text, source)


@pytest.mark.parametrize(("form", "count"), [("items", 12), ("groups", 6)])
def test_opencl(form, count):
    pytest.importorskip("pyopencl")

    @battery.examples(count)
    @given(grammar.pipelines(grammar.int_expressions(), INT_SINKS), battery.int_sources)
    def ints(text, source):
        agree(text, source)

    @battery.examples(count // 2)
    @given(grammar.pipelines(grammar.float_expressions(), FLOAT_SINKS), battery.float_sources)
    def floats(text, source):
        agree(text, source)

    @battery.examples(max(2, count // 4))
    @given(grammar.pipelines(grammar.float_expressions(), FLOAT_SINKS), battery.float32_sources)
    def float32(text, source):
        agree(text, source)

    with battery.on_backend("opencl"), battery.as_gpu() if form == "groups" else contextlib.nullcontext():
        ints()
        floats()
        float32()


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@battery.examples(12)
@given(grammar.pipelines(grammar.int_expressions(), INT_SINKS), battery.int_sources)
def test_ints_at_every_width(width, text, source):
    battery.assert_like_python(
        text, {"source": source, "table": TABLE, "other": OTHER}, width=width, quiet=True
    )


@pytest.mark.parametrize("name", battery.FEATURE_SETS[1:])
def test_every_target(name):
    @battery.examples(20)
    @given(grammar.pipelines(grammar.int_expressions(), INT_SINKS), battery.int_sources)
    def ints(text, source):
        battery.assert_like_python(text, {"source": source, "table": TABLE, "other": OTHER}, quiet=True)

    @battery.examples(20)
    @given(grammar.pipelines(grammar.float_expressions(), FLOAT_SINKS), battery.float_sources)
    def floats(text, source):
        battery.assert_like_python(text, {"source": source, "table": TABLE, "other": OTHER}, quiet=True)

    with battery.on_target(name):
        ints()
        floats()
