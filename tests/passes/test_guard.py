"""Guards hold wherever Python raises or an integer leaves 64 bits, and ranges are sound."""

from __future__ import annotations

import battery
import grammar
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hastega_magic.interval import INT64
from hastega_magic.ir.interpreter import element_values


def variants(text, **names):
    ran = battery.run(f"xs |> map(lambda x: {text})", {"table": [3, 1, 2, 5, 7, 11, 13, 17], **names})
    assert ran.error is None
    return ran.executions[0].compiled.variants


@battery.examples(80)
@given(grammar.int_expressions(), st.integers(-60, 60), st.integers(1, 60))
@example("(x and (x // x))", 0, 1)
def test_a_node_lies_in_its_range_unless_it_overflows(text, start, size):
    xs = range(start, start + size)
    ran = battery.run(f"xs |> map(lambda x: {text})", {"xs": xs, "table": [3, 1, 2, 5, 7, 11, 13, 17]})
    if ran.error is not None or not ran.executions:
        return
    fused, tables = ran.executions[0].compiled.fused, ran.tables[0]
    for index, x in enumerate(xs):
        # Of a branch that an element does not take, nothing is evaluated.
        values, error = element_values(fused, [x], tables, index)
        assert error is None
        for node, found in values.items():
            if isinstance(found, bool) or not isinstance(found, int):
                continue
            if found not in INT64:
                return  # what follows is not computed by the machine
            assert found in fused.ranges[node], (node, found)


PROVED = {"x * x % 7": range(1000), "22 * x * (x + 1) % 6700417": range(1, 0x2000001), "x & 255": np.arange(5),
          "x + 1": np.arange(5, dtype=np.int32), "x // 3": np.arange(5),
          "abs(x) % 10": np.arange(5, dtype=np.uint8)}  # fmt: skip
GUARDED = {
    "x + 1": np.arange(5),
    "x * x": np.arange(5),
    "-x": np.arange(5),
    "x << 3": [1, 2],
    "x ** 5": range(10**5),
}


@pytest.mark.parametrize("text", PROVED)
def test_proved(text):
    found = variants(text, xs=PROVED[text])
    assert found.proved
    assert found.bodies[-1].guards == ()


@pytest.mark.parametrize("text", GUARDED)
def test_guarded_by_the_source_first(text):
    found = variants(text, xs=GUARDED[text])
    assert not found.proved
    assert found.bodies[-1].guards
    if not isinstance(GUARDED[text], range):
        assert found.bodies[0].assumes
        assert found.bodies[0].guards == ()


def test_no_guard_against_zero_where_the_range_excludes_it():
    assert variants("100 // (x * x % 7 + 1)", xs=np.arange(5, dtype=np.int32)).bodies[-1].guards == ()
    assert variants("100 // (x % 7)", xs=np.arange(1, 5)).bodies[-1].guards != ()


@pytest.mark.parametrize("protected", ["6 // x if x else 0", "x and 6 // x", "0 if x == 0 else 6 % x"])
def test_a_guard_counts_only_where_python_evaluates(protected):
    ran = battery.run(f"xs |> map(lambda x: {protected})", {"xs": np.arange(-5000, 5000)})
    execution = battery.one_loop(ran)
    assert not execution.fell_back
    assert execution.warnings == []
