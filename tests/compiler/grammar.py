"""Hypothesis strategies for texts of cells: expressions over an int or a float, and stages over them."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

_INT_CONSTANTS = (
    "0",
    "1",
    "-1",
    "2",
    "3",
    "-3",
    "7",
    "10",
    "61",
    "6700417",
    "2**31",
    "2**62",
    "-2**63",
    "(2**63-1)",
)
_FLOAT_CONSTANTS = (
    "0.0",
    "-0.0",
    "1.0",
    "0.5",
    "-2.5",
    "0.1",
    "3.0",
    "1e300",
    "5e-324",
    "math.inf",
    "-math.inf",
)

Text = st.SearchStrategy[str]


def _form(pattern: str, *parts: Text) -> Text:
    return st.tuples(*parts).map(lambda found: pattern.format(*found))


def _operators(symbols: str, one: Text, other: Text) -> Text:
    return st.tuples(one, st.sampled_from(symbols.split()), other).map("({0[0]} {0[1]} {0[2]})".format)


def _conditions(term: Text, deeper: Callable[[], Text]) -> Text:
    compared = _operators("< <= > >= == !=", term, term)
    chained = st.tuples(term, term, term).map("({0[0]} < {0[1]} <= {0[2]})".format)
    return st.one_of(
        compared,
        chained,
        _form("bool({0})", term),
        st.deferred(lambda: _operators("and or", deeper(), deeper())),
        st.deferred(lambda: _form("(not {0})", deeper())),
    )


def int_expressions(name: str = "x") -> Text:
    """Ints over one int variable. Shifts and powers stay small enough for CPython."""

    def grow(term: Text) -> Text:
        conditions = _conditions(term, lambda: _operators("< >= ==", term, term))
        return st.one_of(
            _operators("+ - *", term, term),
            _operators("// %", term, term),
            _operators("// %", term, st.sampled_from(_INT_CONSTANTS)),
            _operators("& | ^", term, term),
            _form("({0} << ({1} & 7))", term, term),
            _form("({0} >> ({1} & 127))", term, term),
            _form("({0} >> {1})", term, st.sampled_from(("0", "1", "63", "64", "200"))),
            _form("(-{0})", term),
            _form("(~{0})", term),
            _form("abs({0})", term),
            _form("({0} ** {1})", term, st.sampled_from(("0", "1", "2", "3"))),
            _form("({0} if {2} else {1})", term, term, conditions),
            _form("min({0}, {1})", term, term),
            _form("max({0}, {1})", term, term),
            _form("({0} and {1})", term, term),
            _form("({0} or {1})", term, term),
            _form("int({0} / 4)", term),
            _form("round({0} * 0.5)", term),
            _form("divmod({0}, {1})[1]", term, term),
            _form("table[{0} % 8]", term),
            _form("table[{0}]", term),
        )

    return st.recursive(
        st.one_of(st.just(name), st.just(name), st.sampled_from(_INT_CONSTANTS)), grow, max_leaves=7
    )


def float_expressions(name: str = "x") -> Text:
    """Floats over one float variable, without what may differ from CPython in the last bit."""

    def grow(term: Text) -> Text:
        conditions = _conditions(term, lambda: _operators("< >= ==", term, term))
        return st.one_of(
            _operators("+ - * /", term, term),
            _operators("// %", term, term),
            _form("(-{0})", term),
            _form("abs({0})", term),
            _form("math.fabs({0})", term),
            _form("math.sqrt({0})", term),
            _form("math.sqrt(abs({0}))", term),
            _form("math.copysign({0}, {1})", term, term),
            _form("({0} if {2} else {1})", term, term, conditions),
            _form("({0} if math.isnan({1}) else {1})", term, term),
            _form("min({0}, {1})", term, term),
            _form("max({0}, {1})", term, term),
            _form("({0} or {1})", term, term),
            _form("float(int({0}))", term),
            _form("float(math.floor({0}))", term),
            _form("float(math.ceil({0}))", term),
            _form("float(round({0}))", term),
            _form("round({0}, {1})", term, st.sampled_from(("0", "1", "2", "5", "-1", "-3"))),
            _form("({0} * {1})", term, st.sampled_from(("2", "3", "-1"))),
        )

    return st.recursive(
        st.one_of(st.just(name), st.just(name), st.sampled_from(_FLOAT_CONSTANTS)), grow, max_leaves=7
    )


def predicates(expressions: Text) -> Text:
    """Conditions over such expressions."""
    compared = _operators("< <= > >= == !=", expressions, expressions)
    return st.one_of(
        compared, compared, _operators("and or", compared, compared), _form("(not {0})", compared)
    )


def pipelines(expressions: Text, sinks: tuple[str, ...]) -> Text:
    """A cell over `source`: some element stages, then perhaps a sink."""
    maps = _form("map(lambda x: {0})", expressions)
    stages = st.one_of(
        maps,
        maps,
        _form("filter(lambda x: {0})", predicates(expressions)),
        _form("take({0})", st.integers(0, 30).map(str)),
        _form("drop({0})", st.integers(0, 10).map(str)),
        _form("enumerate |> map(lambda i, x: {0} + i)", expressions),
        _form("zip(other) |> map(lambda x, y: {0} - y)", expressions),
    )
    chain = st.lists(stages, min_size=1, max_size=3)
    ends = st.one_of(st.just(""), st.sampled_from(sinks).map(" |> {}".format))
    return st.tuples(chain, ends).map(lambda found: "source |> " + " |> ".join(found[0]) + found[1])
