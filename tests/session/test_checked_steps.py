"""`--int checked` among the steps of `scan` and `reduce`: which integer is named, and constants that no int64 holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.session import Options, Session

PLACES = ("simd", "numpy", "opencl")


def run(on: str, text: str, mode: str = "checked") -> Any:
    session = Session({}, Options(on=on, int_mode=mode, baseline=False, quiet=True))
    session.run_cell(f"out = {text}")
    return session.namespace["out"]


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize(
    ("stages", "needs"),
    [  # with constants that no int64 holds
        ("scan(lambda a, x: (a * 2**63 + x) % 10**25 % 1000, 0)", 2**63),
        ("reduce(lambda a, x: (a * 2**62 + x) % 10**25 % 1000, 5)", 5 * 2**62),
        ("reduce(lambda a, x: a + x if x < 7 else (2**80 + x) % 1000)", 2**80 + 7),
        ("scan(lambda a, x: 2**80)", 2**80),
        ("map(lambda x: x + 1) |> scan(lambda a, x: a * 10**25 % 7, 1)", 10**25),
        ("scan(lambda a, x: (a * 2**63 + x) % 10**25 % 1000, 0) |> take(5)", 2**63),
    ],
)
def test_steps_with_wide_constants_raise(on: str, stages: str, needs: int) -> None:
    with pytest.raises(OverflowError, match=rf"no int64 holds in .*: {needs}\n"):
        run(on, f"range(1, 20) |> {stages}")


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize(
    "stages",
    [
        "scan(lambda a, x: (a * 31 + x) % 10**25 % 1000, 0)",
        "reduce(lambda a, x: min(a + x, 2**80))",
        "map(lambda x: x * 2) |> scan(lambda a, x: (a * 31 + x) % 10**25 % 1000)",
        "scan(lambda a, x: (a * 2**63 + x) % 10**25 % 1000) |> take(1)",
        "reduce(lambda a, x: a + x if x < 90 else 2**80, 5)",
    ],
)
def test_wide_constants_that_no_step_needs_do_not(on: str, stages: str) -> None:
    text = f"range(1, 20) |> {stages}"
    assert repr(run(on, text)) == repr(run("python", text, mode="exact"))


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize(
    ("stages", "needs"),
    [
        ("reduce(lambda a, x: a * 1000 + x, 0)", 1002003004005006007000),  # not what all steps come to
        ("reduce(lambda a, x: max(a * 3 - x, 2**62), 0)", 3 * 2**62),
        ("scan(lambda a, x: a * 2**62 + x, 1)", 2**62 * (2**62 + 1)),  # before what is given for it
        ("reduce(lambda a, x: a * 2**50 // (x - 15), 1)", 2**50 * (2**50 // -14)),  # before a step raises
    ],
)
def test_the_first_step_is_named(on: str, stages: str, needs: int) -> None:
    with pytest.raises(OverflowError, match=rf"no int64 holds in .*: {needs}\n"):
        run(on, f"range(1, 20) |> {stages}")


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize(
    ("element", "needs"),
    [("x * x if x < 5000 else x * 2**60 % 7", 2**80 + 2**42), ("x * x + 1 // (x - 5000)", 3 * 2**80 + 2**43)],
)
def test_steps_and_elements_are_looked_at_in_their_order(on: str, element: str, needs: int) -> None:
    """The step after element 3 comes before element 5000 is asked for, that is to say before what it raises."""
    stages = f"map(lambda x: {element}) |> reduce(lambda a, x: a * 2**40 + x, 0)"
    with pytest.raises(OverflowError, match=rf"in `reduce\(.*: {needs}\n"):
        run(on, f"range(1, 9000) |> {stages}")
    with pytest.raises((OverflowError, ZeroDivisionError)) as raised:
        run(on, f"range(1, 9000) |> {stages.replace('2**40', '3 % 1000')}")
    told = str(raised.value) + "".join(getattr(raised.value, "__notes__", ()))
    assert "element 4999 of" in told or "element 4999, which is 5000" in told


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize("sink", ["scan", "reduce"])
def test_steps_behind_the_first_are_not_computed(on: str, sink: str) -> None:
    """Squares of squares: the twentieth has millions of digits, the fiftieth none that anybody could hold."""
    with pytest.raises(OverflowError, match=rf"no int64 holds in .*: {1002004**4}\n"):
        run(on, f"range(1, 101) |> {sink}(lambda a, x: a * a, 1002004)")


@pytest.mark.parametrize("on", PLACES)
def test_running_sums_are_looked_at_in_that_order_too(on: str) -> None:
    with pytest.raises(OverflowError, match=f"in `cumsum`: {2**63}\n"):
        run(on, "range(1, 9000) |> map(lambda x: 2**62 + 0 // (x - 5000)) |> cumsum")


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize(
    ("stages", "where", "needs"),
    [  # each the fourth element behind, where the sums need as much at the eighth
        ("cumsum |> map(lambda x: x * 2**60)", "map", "10, needs 11529215046068469760"),
        ("cumsum |> map(lambda x: x * 2**60) |> take(5)", "map", "10, needs 11529215046068469760"),
        (
            "cumsum |> filter(lambda x: x * 2**60 % 7 > 0) |> sum",
            "filter",
            "10, needs 11529215046068469760",
        ),
        (
            "cumsum |> map(lambda x: x % 9) |> scan(lambda a, x: a * 2**61 + x)",
            "scan",
            str(2**122 + 3 * 2**61),
        ),
        (
            "scan(lambda a, x: a + x, 0) |> window(2) |> map(lambda a, b: b * 2**60)",
            "map",
            "needs 11529215046068469760",
        ),
        # and one that only the sums need
        ("cumsum |> map(lambda x: x % 5)", "cumsum", str(2**63 + 28)),
        (
            "cumsum |> map(lambda x: x % 5) |> reduce(lambda a, x: (a * 3 - x) % 7)",
            "cumsum",
            str(2**63 + 28),
        ),
    ],
)
def test_stages_behind_running_values_are_looked_at_in_that_order(
    on: str, stages: str, where: str, needs: str
) -> None:
    front = "range(1, 20) |> map(lambda x: x if x < 8 else 2**62)"
    with pytest.raises(OverflowError, match=rf"no int64 holds in `{where}.*{needs}(\n|$)"):
        run(on, f"{front} |> {stages}")


@pytest.mark.parametrize("on", PLACES)
def test_what_raises_behind_running_values_is_raised_first(on: str) -> None:
    front = "range(1, 20) |> map(lambda x: x if x < 8 else 2**62) |> cumsum"
    with pytest.raises(ZeroDivisionError):
        run(on, f"{front} |> map(lambda x: 1 // (x - 10))")
    with pytest.raises(
        OverflowError, match="no int64 holds in `map"
    ):  # before what an element in front raises
        run(on, f"{front.replace('2**62', 'x // 0')} |> map(lambda x: x * 2**60)")


@pytest.mark.parametrize("on", PLACES)
def test_what_is_not_asked_for_behind_running_values_is_not_looked_at(on: str) -> None:
    text = "range(1, 20) |> map(lambda x: x if x < 8 else 2**62) |> cumsum |> map(lambda x: x * 2**60) |> take(3)"
    assert repr(run(on, text)) == repr(run("python", text, mode="exact"))


@pytest.mark.parametrize("on", PLACES)
def test_many_elements_before_the_first_such_one(on: str) -> None:
    text = "range(1, 90000) |> map(lambda x: x % 7 if x < 80000 else 2**62) |> cumsum"
    with pytest.raises(OverflowError, match=r"in `map.*: element 70001 of what"):
        run(on, f"{text} |> map(lambda x: x + (2**63 - 210003))")
    with pytest.raises(
        OverflowError, match=r"in `map.*: element 0 of what"
    ):  # which has a constant of its own
        run(on, f"{text} |> map(lambda x: x + 2**63)")


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize(
    "stages",
    ["reduce(lambda a, x: a * 0 + x, 2**70)", "map(lambda x: x + 1) |> scan(lambda a, x: a * 0 + x, 2**70)",
     "filter(lambda x: x > 5) |> reduce(lambda a, x: (1, x + a[1] * 0), (3, 2**70))",
     "scan(lambda a, x: a * 0 + x, 2**70) |> take(2)"],
)  # fmt: skip
def test_steps_that_begin_beyond_64_bits_raise(on: str, stages: str) -> None:
    with pytest.raises(OverflowError, match=rf"begins with {2**70}, which no int64 holds"):
        run(on, f"range(1, 20) |> {stages}")


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize("source", ["[]", "range(1, 20) |> filter(lambda x: x > 50)"])
def test_no_step_needs_what_it_would_begin_with(on: str, source: str) -> None:
    assert run(on, f"{source} |> reduce(lambda a, x: a * 0 + x, 2**70)") == 2**70


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize(
    ("stages", "element", "needs"),
    [
        ("enumerate(2**63 - 4)", "4 of range\\(1, 20\\), which is 5", 2**63),
        (
            "enumerate(2**63 - 4) |> map(lambda i, x: i % 7 + x) |> sum",
            "4 of range\\(1, 20\\), which is 5",
            2**63,
        ),
        ("enumerate(2**63 - 4) |> window(2) |> map(lambda a, b: b[0] - a[0])", "4 of .*, which is 5", 2**63),
        (
            "filter(lambda x: x % 2) |> enumerate(2**63 - 4) |> to_list",
            "4 of what .* gives, which is 9",
            2**63,
        ),
        ("enumerate(2**70)", "0 of range\\(1, 20\\), which is 1", 2**70),
    ],
)
def test_numbers_of_elements_are_integers_too(on: str, stages: str, element: str, needs: int) -> None:
    with pytest.raises(OverflowError, match=rf"in `enumerate.*`: element {element}, needs {needs}\n"):
        run(on, f"range(1, 20) |> {stages}")
    taken = f"range(1, 20) |> take(4) |> {stages.replace('2**70', '3')}"
    assert repr(run(on, taken)) == repr(run("python", taken, mode="exact"))


@pytest.mark.parametrize("on", PLACES)
def test_such_numbers_are_warned_of(on: str) -> None:
    with pytest.warns(IntegerOverflowWarning, match=rf"in `enumerate.*: element 2 of .* needs {2**63};"):
        found = run(on, "range(3) |> enumerate(2**63 - 2)", mode="exact")
    assert found.tolist() == [(2**63 - 2, 0), (2**63 - 1, 1), (2**63, 2)]


@pytest.mark.parametrize("source", ["5", "None", "np.float64(2.5)", "np.array(5)"])
def test_what_has_no_elements_is_told_of_as_ever(source: str) -> None:
    said: set[str] = set()
    for mode in ("exact", "checked"):
        session = Session({"np": np}, Options(on="simd", int_mode=mode, baseline=False, quiet=True))
        with pytest.raises(TypeError) as caught:
            session.run_cell(f"for _ in range(2):\n    {source} |> scan(lambda a, x: a + x, 0)")
        said.add(str(caught.value))
    assert len(said) == 1
    assert "len()" not in said.pop()
