"""Pipelines in loops over sources of which some are empty: Python's value of nothing, at once, and no other form."""

import itertools
import warnings

import numpy as np
import pytest
from battery import some

from hastega_magic.compiler.fastpath.repeated import Repeated
from hastega_magic.session import Options, Session

MIDDLE = [
    "map(lambda x: x * 3)", "filter(lambda x: x > 2)", "take(2)", "window(2) |> map(sum)", "zip(ys)", "cumsum",
    "enumerate", "where(lambda x: x > 1, 0)", "scan(lambda a, x: a + x, 0)", "map(note)", "take_while(lambda x: x < 4)",
]  # fmt: skip
ENDS = [
    "sum", "sum(start=1.5)", "sum(start=np.int64(3))", "prod", "min(default=7)", "max(default=None)", "min", "count",
    "mean", "any", "all", "first", "last(default=np.float32(2))", "dot(ys)", "bincount(minlength=3)", "to_list",
    "reduce(lambda a, x: a + x)", "reduce(lambda a, x: a + x, 5)", "tap(note) |> sum", "sorted",
]  # fmt: skip
FULL = {
    "lists": [1, 2, 3, 4], "tuples": (1, 2, 3), "ranges": range(1, 5), "int64": np.arange(1, 6),
    "float32": np.arange(1, 6, dtype=np.float32), "floats": [1.5, 2.5], "complex numbers": np.arange(1, 4) * 1j,
}  # fmt: skip
CASES = [*itertools.product(FULL, MIDDLE, ENDS)]


def turns(body, rows, on, names=None):
    """What each turn gives: its type and text, or those of what it raises; and what was noted."""
    noted = []
    given = {
        "np": np,
        "rows": rows,
        "out": [],
        "ys": [3, 4],
        "note": lambda x: noted.append(np.shape(x)) or x,
    }
    cell = f"for xs in rows:\n    try: out.append(xs |> {body})\n    except Exception as error: out.append(error)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = Session({**given, **(names or {})}, Options(on=on, baseline=False, quiet=True))
        session.run_cell(cell)
    return [(type(each), repr(each)) for each in session.namespace["out"]], noted


@pytest.mark.parametrize(("kind", "middle", "end"), some(CASES, every=17))
def test_they_give_what_python_gives(kind, middle, end):
    empty = FULL[kind][:0]
    rows = [FULL[kind], empty, FULL[kind], empty, empty]
    (found, noted), (expected, python) = (turns(f"{middle} |> {end}", rows, on) for on in ("simd", "python"))
    assert found[1::2] == expected[1::2]
    assert noted == python


@pytest.mark.parametrize("body", ["map(lambda x: x * x) |> sum", "to_list", "map(lambda x: x + 1)"])
def test_forms_stay_and_values_are_not_built(body, monkeypatch):
    built, usual = [], Repeated._first
    monkeypatch.setattr(
        Repeated, "_first", lambda self, source, given: built.append(source) or usual(self, source, given)
    )
    rows = [[1, 2], *[[]] * 10, [3], [], [4]]
    found, _ = turns(body, rows, "simd")
    assert not any(built)  # nothing for [3] and [4]
    assert len(built) == (11 if body == "map(lambda x: x + 1)" else 0)  # whose arrays' type loops know
    assert [text for _, text in found] == [text for _, text in turns(body, rows, "python")[0]]


def test_a_second_source_that_shows_it_is_asked_once():
    class Other:
        asked = 0

        def __iter__(self):
            Other.asked += 1
            raise RuntimeError("not now")

    turns("zip(other) |> sum", [[], [], []], "simd", {"other": Other()})
    assert Other.asked == 3


@pytest.mark.parametrize("body", ["prod(start=2**70 + 3)", "sum(2**64 + 5)", "reduce(min, 2**64 - 1)"])
def test_wrapped_beginnings_are_wrapped_in_every_turn(body):
    options = Options(on="simd", int_mode="wrap", baseline=False, quiet=True)
    session = Session({"rows": [[1, 2], [], [3], []], "out": []}, options)
    session.run_cell(f"for xs in rows: out.append(xs |> {body})\nalone = [] |> {body}")
    assert session.namespace["out"][1::2] == [session.namespace["alone"]] * 2
