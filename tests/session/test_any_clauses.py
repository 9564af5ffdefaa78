"""Any comprehension with several `for` clauses that a generator makes up: Python's value, type and exception."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outcomes import evaluated, outcome

from hastega_magic.session import Options, Session
from hastega_magic.syntax.ordinary import comprehension

SMALL = """
import array
xs, ys, fs = list(range(-5, 9)), (3, 4, 7, 1, 0, 12), [0.25 * x for x in range(-3, 9)]
bs, ws, n, k = [True, False, True], array.array("i", range(8)), 11, 7
"""


def by_a_session(text):
    session = Session({}, Options(baseline=False))
    session.run_cell(SMALL)
    return session.run_cell(text).value


SOURCES = [
    "xs", "ys", "fs", "bs", "ws", "range(n)", "range(2, n, 3)", "range(9, -9, -2)", "reversed(xs)", "xs[2:n]",
    "(1, 2, 5)", "[0.5, 2.0]", "range(0)",
]  # fmt: skip
PAIRS = ["enumerate(xs)", "enumerate(fs, k)", "zip(ys, xs)", "zip(fs, range(4, 99))"]
RANGES = ["range({0})", "range({0}, n)", "range({0}, {0} * 2 + 3)", "range(n, {0}, -4)", "range(n // {0})",
          "range(len(xs) - {0})", "range(abs({0}) % 7)", "range({0} - 2, {0} + 2)"]  # fmt: skip
CONDITIONS = [
    "{0} > 2",
    "{0} % 3 != 1",
    "{0} < {1}",
    "({0} + {1}) % 2 == 0",
    "{1}",
    "1 // {0} < 1",
    "not {0}",
]
ELEMENTS = ["{0} * {1}", "{0} - {1} * 0.5", "({0}, {1})", "{0} // ({1} + 100)", "{0} % {1}", "k", "{1}",
            "{0} if {1} > 3 else {1}", "{0} * {1} * 2**60"]  # fmt: skip
CONSUMERS = ["[{0}]", "[{0}]", "list({0})", "{{{0}}}", "sorted({0})", "tuple({0})", "len([{0}])", "sum({0})",
             "min({0})", "max({0})", "any({0})", "all({0})"]  # fmt: skip


@st.composite
def comprehensions(draw):
    names, clauses = [], []
    for number in range(draw(st.integers(2, 3))):
        kind = draw(st.sampled_from(["plain", "plain", "pairs", "range"]))
        new = [f"a{number}"]
        if kind == "range" and names:
            source = draw(st.sampled_from(RANGES)).format(draw(st.sampled_from(names)))
        elif kind == "pairs":
            source, new = draw(st.sampled_from(PAIRS)), [f"a{number}", f"b{number}"]
        else:
            source = draw(st.sampled_from(SOURCES))
        names += new
        clauses.append(f"for {', '.join(new)} in {source}")
        if draw(st.booleans()):
            clauses.append("if " + draw(st.sampled_from(CONDITIONS)).format(*two(draw, names)))
    element = draw(st.sampled_from(ELEMENTS)).format(*two(draw, names))
    return draw(st.sampled_from(CONSUMERS)).format(f"{element} {' '.join(clauses)}")


def two(draw, names):
    return draw(st.sampled_from(names)), draw(st.sampled_from(names))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(comprehensions())
def test_any_comprehension(same, monkeypatch, text):
    monkeypatch.setattr(comprehension, "few_places", lambda bodies: 1)
    expected = outcome(lambda: evaluated(SMALL, text))
    found = outcome(lambda: by_a_session(text))
    if text.startswith("sum") and isinstance(expected, float):
        assert type(found) is float
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-9)
    else:
        assert same(found, expected), text
