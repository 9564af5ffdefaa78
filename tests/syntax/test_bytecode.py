"""Which global names code reads, read off its instructions, as `dis` says."""

from __future__ import annotations

import ast
import asyncio.base_events
import dis
import inspect
import statistics
import typing

import pytest

from hastega_magic.syntax.closures.bytecode import codes, global_names

READS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}


@pytest.mark.parametrize(
    "module", [ast, asyncio.base_events, inspect, statistics, typing], ids=lambda m: m.__name__
)
def test_as_dis_says(module):
    whole = compile(inspect.getsource(module), module.__name__, "exec")
    for code in codes(whole):
        expected = {each.argval for each in dis.get_instructions(code) if each.opname in READS}
        assert set(global_names(code)) == expected


def test_attributes_are_none():
    def function(x):
        return math.sqrt(x.real) + abs(x.y.z)  # noqa: F821

    assert global_names(function.__code__) == ("math", "abs")
    assert global_names((lambda x: x.real).__code__) == ()


def test_more_names_than_a_byte_counts():
    text = "lambda: [" + ", ".join(f"name{number}.attribute{number}" for number in range(400)) + "]"
    assert global_names(eval(text).__code__) == tuple(f"name{number}" for number in range(400))
