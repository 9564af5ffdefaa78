"""Pipelines that run again over tuples that are in no list: the items of a dict, a set, a deque."""

from __future__ import annotations

import collections
from typing import Any

import pytest

from hastega_magic.session import Options, Session

SOURCES = {
    "items": [{k: k * turn for k in range(20)}.items() for turn in range(6)],
    "sets": [{(k, turn) for k in range(20)} for turn in range(6)],
    "deques": [collections.deque((k, turn / 2) for k in range(20)) for turn in range(6)],
    "counters": [collections.Counter(dict.fromkeys(range(3 + turn), turn)).items() for turn in range(6)],
}
STAGES = {
    "map(lambda a, b: a * 2 + b) |> sum": lambda xs: sum(a * 2 + b for a, b in xs),
    "filter(lambda t: t[0] % 3 == 1) |> map(lambda t: t[0] - t[1]) |> to_list": lambda xs: [
        t[0] - t[1] for t in xs if t[0] % 3 == 1
    ],
}
TEXT = "for xs in turns:\n    found.append((xs |> {}))"


@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("kind", SOURCES)
def test_they_are_python_s_and_looked_at_once(
    looked_for: list[Any], same: Any, kind: str, stages: str
) -> None:
    session = Session({"turns": SOURCES[kind], "found": []}, Options(baseline=False, quiet=True))
    session.run_cell(TEXT.format(stages))
    assert same(session.namespace["found"], [STAGES[stages](xs) for xs in SOURCES[kind]])
    assert len(looked_for) == 1


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
def test_others_come_between(same: Any) -> None:
    turns = [
        {1: 2}.items(), {1: 2}.items(), {}.items(), {1: 2.5}.items(), [(1, 2)], {2**70: 1}.items(), {(1, 2)},
        {1: 2, 3: 4.5}.items(), frozenset({(5, 6)}), {True: 2}.items(), {1: 2}.items(), {(1, 2, 3): 4}.keys(),
    ]  # fmt: skip
    session = Session({"turns": turns[:-1], "found": []}, Options(baseline=False, quiet=True))
    session.run_cell(TEXT.format("map(lambda a, b: a + b) |> to_list"))
    assert same(session.namespace["found"], [[a + b for a, b in xs] for xs in turns[:-1]])
    session.namespace["turns"] = [turns[0], turns[0], turns[-1]]
    with pytest.raises(TypeError, match="missing 1 required"):
        session.run_cell(TEXT.format("map(lambda a, b: a + b) |> to_list"))


def test_what_gives_its_elements_as_it_likes_is_gone_through_once_a_turn() -> None:
    class Pairs:
        def __init__(self) -> None:
            self.times = 0

        def __iter__(self) -> Any:
            self.times += 1
            return iter([(self.times, 1), (2, 3)])

    source = Pairs()
    session = Session({"turns": [source] * 5, "found": []}, Options(baseline=False, quiet=True))
    session.run_cell(TEXT.format("map(lambda a, b: a + b) |> to_list"))
    assert session.namespace["found"] == [[turn + 1, 5] for turn in range(1, 6)]
    assert source.times == 5
