"""Lists of numbers that functions capture, and that change between runs: kept loops read what is there."""

import random

import numpy as np
import pytest
from outcomes import written

from hastega_magic import hastega
from hastega_magic.session import Options, Session

DICE = random.Random(11)
MANY = 3000


def session(names, **options):
    return Session(
        names, Options(**{"on": "parallel", "threads": 2, "baseline": False, "quiet": True} | options)
    )


def ints(n):
    return [DICE.randrange(50) for _ in range(n)]


@pytest.mark.parametrize("n", [20, MANY, 70_000])
@pytest.mark.parametrize(
    ("body", "same"),
    [
        ("table[k % n] = k * 3", lambda table, n: sum(table[x] * 2 for x in range(n))),
        ("table = [x + k for x in table]", lambda table, n: sum(table[x] * 2 for x in range(n))),
        ("table.append(k)", lambda table, n: sum(table[x] * 2 for x in range(n))),
    ],
)
def test_turns_need_no_compiler(n, body, same, looked_for):
    names = {"table": ints(n), "n": n, "found": []}
    expected, table = [], names["table"].copy()
    cell = (
        f"for k in range(12):\n    {body}\n    found.append(range(n) |> map(lambda x: table[x] * 2) |> sum)\n"
    )
    session(names).run_cell(cell)
    given = {"table": table, "n": n, "same": same, "expected": expected}
    exec(f"for k in range(12):\n    {body}\n    expected.append(same(table, n))", given)
    assert names["found"] == expected
    assert len(looked_for) <= 3


def test_each_turn_reads_what_the_one_before_made(looked_for):
    names = {"xs": list(range(30)), "best": [0] * 30}
    session(names).run_cell(
        "for turn in range(20):\n    best = xs |> map(lambda x: max(best[x - 1], best[x] + x)) |> to_list\n"
    )
    best = [0] * 30
    for _ in range(20):
        best = [max(best[x - 1], best[x] + x) for x in range(30)]
    assert names["best"] == best
    assert len(looked_for) <= 3


KINDS = [
    ints(50), ints(50), ints(40), ints(2000), [x + 0.5 for x in range(50)], [True, False] * 25,
    [2**62] * 50, [2**64] * 50, [-(2**63)] * 50, [], [[1, 2]] * 50, [np.float64(2.0)] * 50, [None] * 50,
    tuple(ints(50)), np.array(ints(50)), None, "a" * 50, [np.int64(3)] * 50, [float("nan"), -0.0] * 25,
]  # fmt: skip
STAGES = [
    "map(lambda i: table[i]) |> to_list",
    "map(lambda i: table[i] * 2 + len(table)) |> sum",
    "filter(lambda i: table[i] > 3) |> mean",
    "map(lambda i: table[-i] + other[i]) |> max",
    "take_while(lambda i: table[i] < 8) |> count",
    "map(lambda i: table[i] + (i in table)) |> to_list",
    "map(lambda i: table[i] + table[1]) |> cumsum |> last",
    "map(lambda i: table[1:3][0] + table[i]) |> to_list",
    "map(lambda i: held(table, i) + table[i]) |> to_list",
    "map(lambda i: table[i]) |> window(3) |> map(max) |> to_list",
    "map(lambda i: [t[i] for t in (table, other)][0]) |> to_list",
    "map(lambda i: table[i] if table is other else -table[i]) |> to_list",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stages", STAGES)
def test_lists_of_other_kinds_have_code_of_their_own(stages):
    """In any order, every kind after every other; beside each the same by a session that has seen nothing."""
    cell = f"def held(t, i): return t[i] * 10 + t[0]\ndef run():\n    return range(1, 40) |> {stages}\n"
    names = {"table": KINDS[0], "other": KINDS[1]}
    session(names).run_cell(cell)
    order = [*range(len(KINDS)), *random.Random(5).sample(range(len(KINDS)), len(KINDS)), 0, 1, 0, 1]
    for number, other in zip(order, [*order[3:], *order[:3]], strict=True):
        fresh = {"table": KINDS[number], "other": KINDS[other]}
        names |= fresh
        session(fresh).run_cell(cell)
        assert written(names["run"]) == written(fresh["run"])


def test_one_list_under_two_names_may_become_two():
    a, b = ints(30), ints(30)
    names = {"a": a, "b": a}
    session(names).run_cell(
        "def run():\n    return range(30) |> map(lambda i: a[i] * 10 + b[i]) |> to_list\n"
    )
    for one, other in [(a, a), (a, b), (b, b), (b, a), (a, a)] * 2:
        names |= {"a": one, "b": other}
        assert names["run"]() == [x * 10 + y for x, y in zip(one, other, strict=True)]
        one[3] += 1


def test_a_list_that_something_else_holds_too():
    a, b = ints(30), ints(30)

    class Holder:
        pass

    names = {"a": a, "holder": Holder(), "pair": (a, 3)}
    names["holder"].table = a
    session(names).run_cell(
        "def kept(i, t=a):\n    return t[i]\n"
        "def one():\n    return range(30) |> map(lambda i: a[i] * 10 + holder.table[i]) |> to_list\n"
        "def two():\n    return range(30) |> map(lambda i: a[i] * 10 + pair[0][i]) |> to_list\n"
        "def three():\n    return range(30) |> map(lambda i: a[i] * 10 + kept(i)) |> to_list\n"
        "def four():\n    return a |> map(lambda x: x + a[x % 30]) |> to_list\n"
    )
    for one in [a, b, a, b] * 3:
        names["a"] = one
        for run in ("one", "two", "three"):
            assert names[run]() == [x * 10 + y for x, y in zip(one, a, strict=True)]
        assert names["four"]() == [x + one[x % 30] for x in one]
        a[2] += 1


def test_functions_that_are_made_anew_and_decorated_ones(looked_for):
    @hastega(on="simd", quiet=True)
    def total(table, scale):
        return sum(table[i] * scale for i in range(20))

    names = {}
    session(names).run_cell(
        "def made(table, scale):\n    return range(20) |> map(lambda i: table[i] * scale + table[0]) |> sum\n"
    )
    for scale in range(40):
        table = ints(20 + scale)
        assert names["made"](table, scale) == sum(table[:20]) * scale + 20 * table[0]
        assert total(table, scale) == sum(table[:20]) * scale
    assert len(looked_for) < 10


def test_beyond_the_end_python_raises_when_it_has_become_shorter():
    names = {"table": ints(30)}
    session(names).run_cell("def run(): return range(30) |> map(lambda i: table[i]) |> sum\n")
    for _ in range(40):
        assert names["run"]() == sum(names["table"])
    names["table"].pop()
    with pytest.raises(IndexError, match="list index out of range"):
        names["run"]()
    names["table"].append(4)
    assert names["run"]() == sum(names["table"])
