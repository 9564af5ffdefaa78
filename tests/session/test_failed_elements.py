"""Elements that have failed leave loops: theirs would never end, nor need those of the elements behind them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hastega_magic.session import Options, Session

pytest.importorskip("pyopencl")

HALVED = "y = math.sqrt(v)\nn = 0\nwhile not y < 1:\n    y /= 2\n    n += 1\nreturn n"
NESTED = (
    "s = 0\nfor i in range(3):\n    y = math.sqrt(v - 2 * i)\n    while not y < 1:\n        y /= 2\n"
    "        s += 1\nreturn s"
)


@pytest.mark.parametrize("on", ["parallel", "opencl"])
@pytest.mark.parametrize(
    ("body", "source"),
    [
        ("n = v - 3\ns = 1 << n\nwhile n:\n    n >>= 1\n    s += 1\nreturn s", [4, 1, 9]),
        (HALVED, [4.0, -1.0, math.inf]),
        (HALVED, [*[4.0] * 300, -1.0, *[4.0] * 300, math.inf]),
        ("y = table[v]\nwhile y != 6:\n    y = y + 3 if y < 6 else 9\nreturn y", [1, 0, 99]),
        (NESTED, [9.0, 2.0, 5.0]),
        ("k = 10 // (v - 5)\nwhile k != v:\n    k += 1 if k < v else -1\nreturn math.gcd(k, 6)", [7, 5, 2]),
        ("return pow(3, v, 7), pow(v, -1, 11), pow(v, -1, v * v + 1)", [1, 2, -3, 10, 9]),
        ("return pow(v, -1, 6)", [1, 5, 3]),
    ],
)
def test_what_has_failed_makes_no_turns(body, source, on):
    names = {"np": np, "math": math, "table": np.arange(50) * 3, "xs": source}
    text = "def f(v):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    exec(text, names)
    session = Session(names)
    cell = f"{text}y = xs |> map(f) |> to_list"
    wanted, raised = [], None
    try:
        wanted = [names["f"](v) for v in source]
    except (ArithmeticError, LookupError, ValueError) as error:
        raised = error
    if raised is None:
        session.run_cell(cell, options=Options(on=on, baseline=False))
        assert session.namespace["y"] == wanted
    else:
        with pytest.raises(type(raised)) as caught:
            session.run_cell(cell, options=Options(on=on, baseline=False))
        assert str(caught.value) == str(raised)
    (pipeline,) = session.last.report.to_dict()["pipelines"]
    assert pipeline["barriers"] == []


@pytest.mark.parametrize("on", ["simd", "parallel", "opencl"])
@pytest.mark.parametrize(
    "cell",
    [
        "range(20000) |> map(lambda x: 1 // (x - 5)) |> sum",
        "xs = range(20000) |> map(lambda x: 1 // (x - 5))\nxs |> sum",
        "t = 0\n[1, 2, 0] |> map(lambda x: 1 // x)",
    ],
)
def test_the_report_has_the_code_of_the_loop_that_met_it(cell, on):
    session = Session({}, Options(on=on, baseline=False))
    with pytest.raises(ZeroDivisionError):
        session.run_cell(cell)
    report = session.last.report
    (pipeline,) = (each for each in report.to_dict()["pipelines"] if each["loops"])
    code = pipeline["code"]
    assert not [each for each in ("pipeline", "fused", "passes", "llvm") if not code[each]]
    assert pipeline["vector"]["lanes"] > 0
    assert pipeline["links"]
    assert "✗ raised ZeroDivisionError" in report.to_text()
    assert "ZeroDivisionError" in report.to_html()
