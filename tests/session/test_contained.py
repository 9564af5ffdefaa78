"""`in` over lists, sets and dicts that functions capture, which may change from run to run."""

import pytest

from hastega_magic.compiler.fastpath.repeated import Repeated
from hastega_magic.session import Options, Session

NAMES = {
    "L": [3, 1, 4.0], "S": {3, 7, 9.0}, "F": frozenset({2, True}), "D": {1: 2, 5: 6}, "T": [(1, 2), (3, 4)], "E": [],
    "N": [None, 2], "nan": [float("nan"), 2.5],
}  # fmt: skip


@pytest.mark.parametrize("on", ["parallel", "opencl", "numpy"])
@pytest.mark.parametrize(
    "xs", [list(range(-5, 300)), [1.0, 2.5, -0.0, 9.0, float("inf")] * 70], ids=["ints", "floats"]
)
@pytest.mark.parametrize(
    "condition", [*(f"x in {name}" for name in NAMES if name != "T"), "x not in L", "(x, 4) in T"]
)
def test_it_is_what_python_says(on, xs, condition):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    session = Session({"xs": xs, **NAMES}, Options(on=on, baseline=False, quiet=True))
    session.run_cell(f"t = xs |> filter(lambda x: {condition}) |> to_list")
    assert session.namespace["t"] == eval(f"[x for x in xs if {condition}]", {"xs": xs, **NAMES})
    assert session.last_report.pipelines[0].barriers == () or on == "numpy"


def test_large_ones_are_pythons():
    names = {"xs": list(range(50)), "many": list(range(0, 1000, 3))}
    session = Session(dict(names), Options(on="parallel", baseline=False, quiet=True))
    session.run_cell("t = xs |> filter(lambda x: x in many) |> to_list")
    assert session.namespace["t"] == list(range(0, 50, 3))
    (barrier,) = session.last_report.pipelines[0].barriers
    assert "`in` looks into `many`, 334 items: into up to 64 it is compiled" in barrier.reason


def test_what_changes_is_seen(monkeypatch):
    firsts, usual = [], Repeated._first
    monkeypatch.setattr(Repeated, "_first", lambda self, *given: firsts.append(given) or usual(self, *given))
    session = Session(
        {"L": [3, 1, 4], "S": {1, 2}, "xs": list(range(20))},
        Options(on="parallel", baseline=False, quiet=True),
    )
    session.run_cell(
        "def f(): return xs |> filter(lambda x: x in L or x in S) |> map(lambda x: L[x % 3]) |> sum\n"
        "def g(): return sum(L[x % 3] for x in xs if x in L or x in S)\n"
    )
    f, g = session.namespace["f"], session.namespace["g"]
    for _ in range(3):
        assert f() == g()
    assert len(firsts) == 1
    changes = (
        "L.append(5)",
        "S.add(7)",
        "L[0] = True",
        "L[0] = 1.5",
        "L = [9, 8, 7]",
        "L[:] = [9, 8, 7.5]",
        "S.clear()",
    )
    for change in (*changes, "xs = xs[3:]", "L[0] = 2**70", "L = [0] * 100"):
        session.run_cell(change)
        assert (f(), type(f())) == (g(), type(g()))
