"""Which element an error is of, and which stage, where Python runs the stages."""

from datetime import date
from fractions import Fraction

import pytest

from hastega_magic.session import Options, Session


def run(text, **names):
    return Session(dict(names), Options(baseline=False, quiet=True)).run_cell(text)


ELEMENTS = {
    "['1', '2', 'x'] |> map(int) |> sum": ("2, which is 'x'", "map(int)"),
    "[1.5, None, 2] |> map(float) |> to_list": ("1, which is None", "map(float)"),
    "iter(['1', 'x']) |> map(int) |> to_list": ("1, which is 'x'", "map(int)"),
    "{'1': 2, 'x': 3} |> map(float) |> filter(_ > 1) |> count": ("1, which is 'x'", "map(float)"),
    "[' 1', 'x '] |> map(str.strip) |> map(int) |> sum": ("1, which is 'x'", "map(int)"),
    "['1', 'x'] |> map(int) |> map(lambda n: print(n)) |> count": ("1, which is 'x'", "map(int)"),
    "['1', 5] |> map(tuple) |> to_list": ("1, which is 5", "map(tuple)"),
    "['1', 'x'] |> map(Fraction) |> sum": ("1, which is 'x'", "map(Fraction)"),
    "for k in range(3): ['1', 'x' if k == 2 else '3'] |> map(int) |> sum": ("1, which is 'x'", "map(int)"),
    "[1, date(2020, 1, 1)] |> map(float) |> sum": ("1, which is datetime.date(2020, 1, 1)", "map(float)"),
    "[1, (1, 'x')] |> map(int) |> sum": ("1, which is (1, 'x')", "map(int)"),
    "[(1, 2), (2, 3)] |> map(int) |> sum": ("0, which is (1, 2)", "map(int)"),
    "[{'a': 1}, 2] |> map(int) |> sum": ("0, which is {'a': 1}", "map(int)"),
    "[Fraction(1, 2), huge] |> map(float) |> sum": ("1, which is Fraction(1000...0000000000, 1)", "map(float)"),
    "[1, 10**400] |> map(lambda x: float(x))": ("1, which is a number of 1329 bits", "map(lambda x: float(x))"),
    "[1, 10**400] |> map(_ * 1.5) |> to_list": ("1, which is a number of 1329 bits", "map(_ * 1.5)"),
    "[10**400, 1] |> map(float)": ("0, which is a number of 1329 bits", "map(float)"),
    "[1, date(2020, 1, 1)] |> map(list) |> count": ("0, which is 1", "map(list)"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("text", ELEMENTS)
def test_classes_name_the_element_too(text):
    with pytest.raises((TypeError, ValueError, OverflowError)) as raised:
        run(text, Fraction=Fraction, date=date, huge=Fraction(10**400))
    element, *_, place = raised.value.__notes__
    which, stage = ELEMENTS[text]
    assert element == f"hastega: element {which}, in `{stage}` (cell line 1)"
    assert place.splitlines()[0].strip() == text
    assert place.splitlines()[1].endswith("^" * len(stage))


class Counted:
    """An int of its own, which may not be asked again."""

    def __init__(self):
        self.asked = 0

    def __int__(self):
        self.asked += 1
        return 1


def test_no_element_is_asked_again_for_the_note():
    seen = Counted()
    with pytest.raises(ValueError, match="'x'"):
        run("xs |> map(int) |> sum", xs=[seen, "x"])
    assert seen.asked == 1


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("tap(lambda x: x + 'a')", "`tap` gives its function the whole value, not each element"),
        ("tap(lambda x: x.real_part)", "`tap` gives its function the whole value, not each element"),
        ("tap(lambda x: 1 // 0)", None),
    ],
)
def test_what_tap_gives_its_function(stage, words):
    with pytest.raises((TypeError, AttributeError, ZeroDivisionError)) as raised:
        run(f"[1, 2] |> {stage} |> sum")
    *said, place = raised.value.__notes__
    assert any(words in each for each in said) if words else not said
    assert place.splitlines()[1].endswith("^" * len(stage))


@pytest.mark.parametrize("taps", ["tap(lambda v: 1 // (1 - i))", "tap(len) |> tap(lambda v: 1 // i)"])
def test_the_tap_that_raised_is_marked(taps):
    text = f"for i in range(3): y = range(1000) |> {taps} |> sum"
    with pytest.raises(ZeroDivisionError) as raised:
        run(text)
    (place,) = raised.value.__notes__
    stage = taps.rpartition("|> ")[2]
    assert place.splitlines()[1] == " " * (4 + text.index(stage)) + "^" * len(stage)
