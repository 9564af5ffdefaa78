"""What the report says that a loop checks: in the words of the cell, not by the names of the compiler's operators."""

import builtins
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from hastega_magic.compiler.reporting.checks import checked
from hastega_magic.ir.expr import const
from hastega_magic.ir.kernel import TURN_NEEDS_PYTHON, Guard
from hastega_magic.ops import OPS
from hastega_magic.session import Options, Session

TRUE = const(True)
NAMES = {
    "xs": [x / 2 + 1 for x in range(500)],
    "ks": np.arange(1, 500),
    "zs": [1j] * 300,
    "math": math,
    "np": np,
}


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("xs |> map(lambda x: math.exp(x) % x)", "operands of `%` and `exp` that are left to Python"),
        ("xs |> map(lambda x: x ** 2)", "operands of `**` that are left to Python"),
        ("ks |> map(lambda x: 1 / x)", "operands of `/` that are left to Python"),
        ("xs |> map(lambda x: math.floor(x))", "operands of `floor` that are left to Python"),
        ("zs |> map(lambda x: 1 / x)", "operands of `/` that are left to Python"),
        ("ks |> map(lambda k: (1, 2)[k % 2])", ""),
        (
            "xs |> map(lambda x: NAMES[int(x) % 3])",
            "operands of `int` that are left to Python, indices out of range",
        ),
    ],
)
def test_as_the_cell_writes_it(cell, said):
    session = Session({**NAMES, "NAMES": [1, 2, 3]})
    why = session.run_cell(cell, options=Options(on="simd", baseline=False)).report.pipelines[0].why
    checks = [each for each in why if each.startswith("Checked for each element: ")]
    assert (
        checks == [f"Checked for each element: {said}; Python evaluates a block that has such."][: len(said)]
    )


def test_no_operator_is_told_by_a_name_of_the_compilers():
    reasons = {
        row.name: row.reason or f"operands of `{row.as_written}`" for row in OPS.values() if row.trouble
    }
    over = {row.name: f"`{row.as_written}` beyond 64 bits" for row in OPS.values() if row.overflow}
    for reason in [*reasons.values(), *over.values(), TURN_NEEDS_PYTHON]:
        sentence = checked([Guard(TRUE, reason)])
        for name in re.findall(r"`([^`]*)`", sentence):
            known = any(hasattr(each, name.removeprefix("np.")) for each in (math, np, builtins))
            assert known or not name.isidentifier()
        assert not any(each in sentence for each in OPS if "_" in each and not hasattr(np, each[3:]))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"written": "np.dawsn"}, "operands of `np.dawsn` that are left to Python"),
        ({"reason": "numbers of a new kind"}, "numbers of a new kind"),
    ],
)
def test_a_new_row_needs_no_line_elsewhere(monkeypatch, fields, said):
    monkeypatch.setitem(OPS, "math_exp", replace(OPS["math_exp"], **fields))
    cell = f"xs |> map(lambda x: math.exp(x) + {len(said)})"  # which no other test has compiled
    report = Session(NAMES).run_cell(cell, options=Options(on="simd", baseline=False)).report
    assert (
        f"Checked for each element: {said}; Python evaluates a block that has such."
        in report.pipelines[0].why
    )


@pytest.mark.parametrize("operator", ["//", "%", "<<", ">>", "&", "|", "^"])
def test_operators_that_complex_numbers_have_not_are_told_as_they_are_written(operator):
    session = Session({"zs": [1j] * 300})
    with pytest.raises(TypeError):
        session.run_cell(f"zs |> map(lambda z: z {operator} 2)", options=Options(baseline=False))
    (barrier,) = session.last_report.pipelines[0].barriers
    assert f"`{operator}` of complex numbers" in barrier.reason
