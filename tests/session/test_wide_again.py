"""Lists and tuples that hold ints beyond 64 bits: converted no further than to the first, and not again."""

import pytest

from hastega_magic.errors import BeyondInt64, IntegerOverflowWarning
from hastega_magic.lru import LruCache
from hastega_magic.runtime.objects import wide
from hastega_magic.runtime.python_calls import Noted
from hastega_magic.runtime.sources import Column, of_list
from hastega_magic.session import Options, Session

QUIET = Options(on="parallel", baseline=False, quiet=True)
COUNT = 20_000
BODIES = {
    "sum": sum,
    "map(lambda x: x + 1) |> sum": lambda xs: sum(x + 1 for x in xs),
    "filter(lambda x: x % 3 == 0) |> map(lambda x: x * 2) |> sum": lambda xs: sum(x * 2 for x in xs if x % 3 == 0),
    "map(lambda x: x - 2**70) |> max": lambda xs: max(x - 2**70 for x in xs),
}  # fmt: skip


@pytest.fixture
def converted(monkeypatch):
    """How many elements each conversion took, or had looked at when it failed."""
    counts, convert, read = [], Column._converted, Column._read

    def noted(self, part, first):
        counts.append(len(part))
        return convert(self, part, first)

    def noting(self, start, stop):
        found = read(self, start, stop)
        counts.extend([stop - start] if isinstance(self.data, (list, tuple)) else [])
        return found

    monkeypatch.setattr(wide, "_places", LruCache(64))  # other tests' sources have the same name
    monkeypatch.setattr(Column, "_converted", noted)
    monkeypatch.setattr(Column, "_read", noting)
    return counts


def value(session, text):
    with pytest.warns(IntegerOverflowWarning, match="`xs` holds integers beyond 64 bits") as told:
        session.run_cell(text)
    assert len(told) == 1
    return session.namespace["out"]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("make", [list, tuple])
@pytest.mark.parametrize("place", [0, 5000, COUNT - 1])
def test_what_failed_is_not_tried_again(converted, body, make, place):
    xs = [2**62 + number for number in range(COUNT)]
    xs[place] = 2**70
    session = Session({"xs": make(xs)}, QUIET)
    text = f"out = xs |> {body}"
    assert value(session, text) == BODIES[body](xs)
    assert len(converted) == 2  # native code's, then NumPy's, of the group; none of the statement alone
    converted.clear()
    assert value(session, text) == BODIES[body](xs)
    assert not converted
    # Somewhere else, and nowhere.
    xs[place], xs[place - 7] = 5, -(2**64)
    session.namespace["xs"] = make(xs)
    assert value(session, text) == BODIES[body](xs)
    assert len(converted) == 2
    xs[place - 7] = 5
    session.namespace["xs"] = make(small := [each % 1000 for each in xs])
    converted.clear()
    session.run_cell(text)
    assert converted
    assert session.namespace["out"] == BODIES[body](small)


@pytest.mark.parametrize("make", [list, tuple])
def test_numpy_looks_no_further_than_it_must(monkeypatch, make):
    monkeypatch.setattr(Column, "_read", lambda self, start, stop: None)
    looked, data = [], make([2**70, *range(COUNT)])

    class Row(type(data)):
        def __getitem__(self, key):
            found = super().__getitem__(key)
            looked.extend([len(found)] if isinstance(key, slice) else [])
            return found

    with pytest.raises(BeyondInt64, match="`few` holds integers beyond 64 bits"):
        of_list(data, "few")._converted(Row(data), 0)
    assert looked == [4096]


def test_functions_are_called_by_c_unless_one_raises(monkeypatch):
    noted, mapped = [], Noted.mapped
    monkeypatch.setattr(Noted, "mapped", lambda *given: noted.append(1) or mapped(*given))
    session = Session({"xs": [2**70, 2**70 + 5, 2**71]}, QUIET)
    text = "out = xs |> map(lambda x: 2**80 // (x - 2**69)) |> sum"
    assert value(session, text) == sum(2**80 // (x - 2**69) for x in session.namespace["xs"])
    assert not noted
    session.namespace["xs"] = [2**70, 2**69, 2**71]
    with pytest.warns(IntegerOverflowWarning), pytest.raises(ZeroDivisionError) as raised:
        session.run_cell(text)
    assert any("element 1" in note for note in raised.value.__notes__)
    assert raised.value.__context__ is None
    assert noted == [1]


@pytest.mark.parametrize("on", ["parallel", "simd", "auto"])
def test_checked_raises_again(on):
    session = Session({"xs": [2**70] * 5000}, Options(on=on, int_mode="checked", baseline=False, quiet=True))
    for _ in range(2):
        with pytest.raises(OverflowError, match="`xs` holds integers beyond 64 bits"):
            session.run_cell("xs |> sum")
