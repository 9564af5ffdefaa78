"""Running values that stages behind never ask for: Python computes none of them, and `--int checked` lets them be."""

import re
import warnings

import numpy as np
import pytest

from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.runtime.python_calls import Noted
from hastega_magic.session import Options, Session

SHIFTED = "scan(lambda a, x: a * 2**40 + x, 1)"
BACKENDS = ["python", "numpy", "simd", "parallel", "opencl"]


def run(text, on, mode="exact", **names):
    options = Options(on=on, int_mode=mode, baseline=False, quiet=True)
    session = Session({"xs": list(range(1, 200_001)), **names}, options)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        session.run_cell(f"out = {text}")
    told = [str(each.message) for each in said if each.category is IntegerOverflowWarning]
    return session.namespace["out"], told


@pytest.mark.parametrize("on", BACKENDS)
@pytest.mark.parametrize("mode", ["exact", "checked"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"xs |> {SHIFTED} |> first", 2**40 + 1),  # all of them would be of 100 GB
        (f"xs |> {SHIFTED} |> take_while(lambda a: a < 2) |> count", 0),
        (f"xs |> {SHIFTED} |> map(lambda a: a + 1) |> any", True),
        ("xs |> map(lambda x: x * 2**60) |> cumsum |> first", 2**60),
        ("xs |> map(lambda x: x * 2**61) |> cumsum |> take(2) |> to_list", [2**61, 3 * 2**61]),
        ("xs |> map(lambda x: x * 2**62) |> filter(lambda x: noted(x) > 5) |> first", 2**62),
    ],
)  # fmt: skip
def test_what_is_not_asked_for_is_not_computed(on, mode, text, expected):
    noted = []
    found, said = run(text, on, mode, noted=lambda x: noted.append(x) or x)
    assert found == expected
    assert type(found) is type(expected)
    assert noted == ([2**62] if "noted" in text else [])
    assert said == [] or noted  # a loop goes over all elements before a stage of Python's


@pytest.mark.parametrize("on", ["simd", "parallel", "opencl"])
def test_what_is_asked_for_is_told(on):
    text = f"xs |> {SHIFTED} |> take(2) |> to_list"
    words = f"an integer that no int64 holds in `{SHIFTED}`: {2**80 + 2**40 + 2}"
    assert run(text, on) == (
        [2**40 + 1, 2**80 + 2**40 + 2],
        [f"{words}; the stages were computed by Python, exactly"],
    )
    with pytest.raises(OverflowError) as caught:
        run(text, on, "checked")
    assert str(caught.value) == words


@pytest.mark.parametrize("on", BACKENDS)
def test_a_source_is_asked_for_as_much_as_by_python(on):
    values = iter(range(1, 100))
    assert run(f"xs |> {SHIFTED} |> take_while(lambda a: a < 2**100) |> count", on, xs=values)[0] == 2
    assert next(values) == 4


@pytest.mark.parametrize("on", BACKENDS)
def test_captured_integers_of_numpys_are_pythons(on):
    table = np.array([2**40])
    found, _ = run("xs |> scan(lambda a, x: a * table[0] + x, 1) |> take(2) |> to_list", on, table=table)
    if on != "python":
        assert found == [2**40 + 1, 2**80 + 2**40 + 2]


def test_in_a_loop_it_may_be_one_turn_alone():
    text = "[xs |> scan(lambda a, x: (a * k + x) % 2**61, 1) |> first for k in (1, 2, 2**40, 3)]"
    assert run(text, "parallel", "checked")[0] == [2, 3, 2**40 + 1, 4]


@pytest.mark.parametrize("on", ["numpy", "simd", "parallel", "opencl"])
@pytest.mark.parametrize("mode", ["exact", "checked"])
@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("", ""),
        ("map(_ + 1) |> ", ""),
        ("map(lambda x: x * 2**61) |> ", "`map(lambda x: x * 2**61)`: element 3 of xs"),
    ],
)
def test_steps_are_taken_once(monkeypatch, on, mode, before, told):
    """Not once more for what is to be told of them."""
    taken, scanned = [], Noted.scanned

    def counted(self, values, *init):
        return scanned(self, (taken.append(each) or each for each in values), *init)

    monkeypatch.setattr(Noted, "scanned", counted)
    text = f"xs |> {before}{SHIFTED} |> take_while(lambda a: a < 2**200) |> count"
    told = told or f"`{SHIFTED}`: "
    if mode == "checked":
        with pytest.raises(OverflowError, match=re.escape(told)):
            run(text, on, mode)
    else:
        found, said = run(text, on, mode)
        assert found == 4
        assert [told in each for each in said] == [True] * (on != "numpy")
    assert len(taken) == len(set(taken)) == 5


@pytest.mark.parametrize("on", ["simd", "parallel", "opencl"])
def test_what_is_told_is_what_a_loop_tells(on):
    shown = f"xs |> {SHIFTED} |> take(5) |> to_list", f"xs |> take(5) |> {SHIFTED} |> to_list"
    assert run(shown[0], on) == run(shown[1], on)
    behind = "scan(lambda s, x: (s[0] * 2**30, s[1] + x), (1, 0))"
    shown = f"xs |> {behind} |> take(5) |> to_list", f"xs |> take(5) |> {behind} |> to_list"
    assert run(shown[0], on) == run(shown[1], on)
    assert run(shown[0], on)[1]


BEYOND = [1, 2, 3, 2**70]
ASKED_FOR = {
    "take_while(lambda x: x < 3) |> to_list": [1, 2],
    "map(lambda x: x - 1) |> any": True,
    "filter(lambda x: x > 1) |> first": 2,
    "map(lambda x: x < 3) |> all": False,
    "take(3) |> sum": 6,
    "map(lambda x: x * 2) |> take(2) |> to_list": [2, 4],
}


@pytest.mark.parametrize("on", [*BACKENDS, "auto"])
@pytest.mark.parametrize("copies", [1, 2000])
@pytest.mark.parametrize("stages", ASKED_FOR)
def test_checked_is_about_items_of_a_list_that_are_asked_for(on, copies, stages):
    options = Options(on=on, int_mode="checked", baseline=False)
    session = Session({"xs": BEYOND * copies}, options)
    for _ in range(3):
        assert session.run_cell(f"xs |> {stages}").value == ASKED_FOR[stages]


@pytest.mark.parametrize("on", ["numpy", "simd", "parallel", "auto"])
@pytest.mark.parametrize("copies", [1, 2000])
@pytest.mark.parametrize(
    "stages",
    [
        "take_while(lambda x: x < 4) |> to_list",
        "filter(lambda x: x > 3) |> first",
        "map(lambda x: x % 7)",
        "count",
    ],
)
def test_checked_raises_for_items_of_a_list_that_are_asked_for(on, copies, stages):
    with pytest.raises(OverflowError, match="`xs` holds integers beyond 64 bits"):
        run(f"xs |> {stages}", on, "checked", xs=BEYOND * copies)


@pytest.mark.parametrize("on", BACKENDS)
@pytest.mark.parametrize("before", ["", "map(lambda x: x + 0) |> "])
def test_running_values_that_nobody_asks_for_are_not_computed(on, before):
    """Squares of squares: the fiftieth has more digits than anybody could hold."""
    text = f"range(100) |> {before}scan(lambda a, x: a * a, 3) |> take(3) |> to_list"
    assert run(text, on) == ([9, 81, 6561], [])
    assert run("xs |> cumsum |> first", on, xs=[1, 2**62, 2**62, 2**62]) == (1, [])


@pytest.mark.parametrize("on", ["simd", "numpy", "opencl"])
@pytest.mark.parametrize("behind", ["cumsum", "scan(lambda a, x: a * 2 + x, 1)"])
def test_running_values_of_the_first_elements_of_a_list_with_wide_ones(on, behind):
    """They come last: what goes by is to be an array."""
    if on == "opencl":
        pytest.importorskip("pyopencl")
    for stages in ("take(2)", "take_while(lambda x: x < 9)"):
        with pytest.raises(OverflowError, match="holds integers beyond 64 bits"):
            run(f"[2**63, 1, 2] |> {stages} |> {behind}", on, "checked")
    text = f"[5, 1, {2**63 - 1}, 2**63] |> take(2) |> {behind}"
    assert run(text, on, "checked")[0].tolist() == run(text, "python")[0].tolist()
