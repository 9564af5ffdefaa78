"""Stages whose functions Python calls: what they give, call and raise is what itertools makes of them."""

import itertools
import sys

import pytest

from hastega_magic.runtime import python_calls
from hastega_magic.session import Options, Session

CALLS = []


def add(total, x):
    CALLS.append(("add", x))
    return total + len(str(x)) * x


def odd(x):
    CALLS.append(("odd", x))
    return str(x)[-1] in "13579"


def below(x):
    CALLS.append(("below", x))
    return str(x) < "4"


def ends(x):
    """StopIteration ends what goes through it."""
    CALLS.append(("ends", x))
    if str(x) == "3":
        raise StopIteration
    return str(x)


def chosen(holds, instead):
    """What `where` is to Python: one function for `map`, which ends where that raises StopIteration."""

    def choose(x):
        return x if holds(x) else instead(x)

    return lambda xs: map(choose, xs)


STAGES = [
    ("scan(add)", lambda xs: itertools.accumulate(xs, add)),
    ("scan(add, 3)", lambda xs: itertools.islice(itertools.accumulate(xs, add, initial=3), 1, None)),
    ("scan(add, init=3)", lambda xs: itertools.islice(itertools.accumulate(xs, add, initial=3), 1, None)),
    ("take_while(below)", lambda xs: itertools.takewhile(below, xs)),
    ("take_while(ends)", lambda xs: itertools.takewhile(ends, xs)),
    ("drop_while(below)", lambda xs: itertools.dropwhile(below, xs)),
    ("drop_while(ends)", lambda xs: itertools.dropwhile(ends, xs)),
    ("where(odd, 0)", chosen(odd, lambda x: 0)),
    ("where(odd, ends)", chosen(odd, ends)),
    ("where(ends, odd)", chosen(ends, odd)),
    ("scan(add) |> take(2)", lambda xs: itertools.islice(itertools.accumulate(xs, add), 2)),
]
NAMES = {"add": add, "odd": odd, "below": below, "ends": ends}


@pytest.mark.parametrize("xs", [[], [5], list(range(1, 9))])
@pytest.mark.parametrize(("stages", "python"), STAGES)
def test_values_and_calls(stages, python, xs):
    CALLS.clear()
    expected = list(python(iter(xs))), CALLS.copy()
    CALLS.clear()
    session = Session({**NAMES, "xs": xs}, Options(on="simd", baseline=False, quiet=True))
    session.run_cell(f"found = xs |> {stages} |> to_list")
    assert (session.namespace["found"], CALLS) == expected


@pytest.mark.parametrize(
    ("stage", "number"),
    [
        ("scan(fails)", 3),
        ("scan(fails, 0)", 3),
        ("take_while(f)", 3),
        ("drop_while(f)", 3),
        ("where(f, 0)", 3),
    ],
)
def test_who_calls_them_and_what_is_noted(stage, number):
    callers = set()

    def f(x):
        callers.add(sys._getframe(1).f_code.co_filename)
        if str(x) == "4":
            raise ValueError("four")
        return stage != "drop_while(f)" or str(x)

    names = {"xs": [1, 2, 3, 4, 5], "f": f, "fails": lambda total, x: f(x)}
    with pytest.raises(ValueError, match="four") as caught:
        Session(names, Options(on="simd", baseline=False, quiet=True)).run_cell(f"y = xs |> {stage} |> count")
    assert callers == {python_calls.__file__ if "fails" not in stage else __file__}
    assert any(f"element {number}, which is 4" in note for note in caught.value.__notes__)


def test_steps_whose_ints_are_looked_at_for_64_bits():
    session = Session(
        {"xs": [2**40, 3, 4]}, Options(on="simd", baseline=False, quiet=True, int_mode="checked")
    )
    with pytest.raises(OverflowError):
        session.run_cell("y = xs |> scan(lambda a, x: a * x * a // 7)")
