"""What Python could tell: which elements are drawn, which functions are called and when, what `tap` is given."""

import itertools
import math

import battery
import numpy as np
import pytest

from hastega_magic.session import Options, Session


class Endless:
    def __iter__(self):
        return itertools.count()


class Logged:
    """Gives some numbers, and writes down that it does."""

    def __init__(self, log, count):
        self.log, self.count = log, count

    def __iter__(self):
        for number in range(self.count):
            self.log.append(("drawn", number))
            yield number


class Counting:
    """Gives what it is given, and counts."""

    def __init__(self):
        self.calls = 0

    def __call__(self, value):
        self.calls += 1
        return value


def told(text, on):
    """The value or what is raised, and what was seen meanwhile."""
    log, called = [], Counting()
    names = {"log": log, "called": called, "Endless": Endless, "math": math, "np": np}
    session = Session(
        {**names, "Logged": lambda count: Logged(log, count)}, Options(on=on, baseline=False, quiet=True)
    )
    try:
        session.run_cell(f"t = {text}")
    except Exception as error:
        return type(error), str(error), repr(log), called.calls
    value = session.namespace["t"]
    return type(value), repr(value), repr(log), called.calls


TEXTS = [
    "Endless() |> map(_ * 2) |> take(3) |> to_list",
    "Endless() |> filter(lambda x: x > 7) |> first",
    "Logged(3) |> map(lambda x: log.append(x) or 1) |> take(1) |> sum",
    "Logged(3) |> map(lambda x: log.append(x) or 1) |> count",
    "Logged(100_000) |> map(lambda x: x * 2) |> sum",
    "Logged(5) |> map(lambda x: 6 // (3 - x)) |> sum",
    "'abc' |> tap(log.append) |> str.upper",
    "{1: 2} |> tap(lambda d: d.update({5: 6})) |> sum",
    "{1, 2} |> tap(log.append) |> type",
    "[1, 2, 3] |> tap(log.append) |> sum",
    "np.arange(3) |> tap(log.append) |> sum",
    "zip([1, 2], [3, 4]) |> tap(lambda pairs: log.append(next(pairs))) |> map(lambda a, b: a * b) |> sum",
    "iter([1, 2, 3]) |> tap(lambda it: log.append(next(it))) |> sum",
    "[1, 2, 0] |> map(lambda x: 1 // x) |> zip([1, 2]) |> to_list",
    "[1, 2, 0, 0] |> map(lambda x: 1 // x) |> zip([1]) |> to_list",
    "[1, 2, 0] |> map(lambda x: 1 // x) |> zip([1, 2]) |> take(1) |> to_list",
    "[1, 2, 0] |> zip([1, 2]) |> map(lambda a, b: 1 // a) |> to_list",
    "range(300) |> map(called) |> where(lambda x: x < 5, lambda x: 1 // (x - 7)) |> sum",
    "range(300) |> map(called) |> reduce(lambda a, x: a if a > 9 else 1 // (x - 7))",
    "range(300) |> map(called) |> reduce(lambda a, x: [1, 2, 3][x], 0)",
    "range(300) |> map(called) |> min(key=lambda x: 1 // (x - 7))",
    "range(300) |> map(called) |> max(key=lambda x: math.sqrt(7 - x))",
    "range(-5, 300) |> map(called) |> astype('uint8') |> sum",
    "range(300) |> map(lambda x: math.inf if x == 7 else 1.0) |> map(called) |> astype(int) |> sum",
    "range(300) |> map(called) |> astype(float) |> bincount",
    "[np.uint8(200), np.uint8(100)] |> map(lambda x: x) |> sum",
    "np.arange(5, dtype='f4') |> map(math.trunc) |> sum",
    "[1 << 60] |> bincount",
    "[1, 2] |> bincount(minlength=1 << 62)",
    "[np.uint8(200), np.uint8(100)] |> map(lambda x: x) |> map(lambda x: x + x) |> to_list",
    "[np.uint8(200), np.uint8(100)] |> map(lambda x: x) |> filter(lambda x: x + x > 255) |> count",
    "np.array([7, 4], 'u1') |> sorted |> map(lambda x: x * 100) |> sum",
    "(np.int8(100), np.int8(5)) |> map(lambda x: x * 2) |> tap(log.append) |> map(lambda x: x * 2) |> to_list",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("on", ["auto", "parallel"])
def test_it_is_as_in_python(text, on):
    assert told(text, on) == told(text, "python")


@pytest.mark.parametrize(
    "stages",
    ["max", "reduce(lambda a, b: a + b)", "scan(lambda a, b: a + b) |> sum", "min(key=lambda x: -x)"],
)
def test_what_nobody_can_tell_is_compiled_behind_python(stages):
    session = Session({"called": Counting()}, Options(on="parallel", baseline=False, quiet=True))
    session.run_cell(f"t = range(300) |> map(called) |> {stages}")
    (pipeline,) = session.last_report.pipelines
    assert pipeline.loops >= 1
    assert [barrier.stage for barrier in pipeline.barriers] == ["map(called)"]


def test_sources_of_a_loop_may_be_of_any_kind():
    log = []
    session = Session(
        {"Logged": lambda: Logged(log, 3), "log": log}, Options(on="parallel", baseline=False, quiet=True)
    )
    session.run_cell(
        "for k in range(30):\n"
        "    source = [{1, 2, 3}, [1, 2, 3], Logged()][k % 3]\n"
        "    t = source |> tap(lambda given: log.append(type(given).__name__)) |> map(lambda x: x + 1) |> sum\n"
        "    log.append(t)\n"
    )
    assert log == ["set", 9, "list", 9, "Logged", *(("drawn", number) for number in range(3)), 6] * 10


def test_a_zip_in_a_function_is_looked_at_where_it_is_shorter():
    session = Session({}, Options(on="parallel", baseline=False, quiet=True))
    session.run_cell(
        "def f(a, b): return a |> map(lambda x: 6 // x) |> zip(b) |> map(lambda p, q: p * q) |> sum\n"
    )
    f = session.namespace["f"]
    for _ in range(3):
        assert f([1, 2, 3], [1, 2, 3]) == 18
    with pytest.raises(ZeroDivisionError):
        f([1, 2, 0], [1, 2])
    assert (f([1, 2, 3, 0], [1, 2]), f([1, 2], [1, 2, 3])) == (12, 12)


TUPLES = [
    "range(7) |> window(2)", "range(6) |> chunk(3)", "[1, 2, 3] |> cumsum |> enumerate",
    "[1, 2, 3] |> take(2) |> enumerate", "range(9) |> filter(lambda x: x > 3) |> enumerate",
    "range(9) |> reverse |> zip(range(9))", "range(9) |> chunk(2) |> map(lambda c: (sum(c), len(c)))",
    "[True, False, True] |> window(3) |> map(lambda x: (x, 1.5))",
    "np.arange(600, dtype='u8') |> chunk(3) |> enumerate",
    "[1.0, math.nan, 2.5] |> window(2)", "[1, 2] * 3000 |> window(2) |> enumerate",
]  # fmt: skip


@pytest.mark.parametrize("text", TUPLES)
@pytest.mark.parametrize("on", ["auto", "parallel"])
def test_cells_of_tuples_are_compared(text, on):
    session = Session({"np": np, "math": math}, Options(on=on))
    session.run_cell(f"t = {text}")
    baselines = session.last_report.pipelines[0].baselines
    assert [(each.backend, each.equal, each.note) for each in baselines[:1]] == [("python", True, "")]
    assert all(each.equal for each in baselines)


@pytest.mark.parametrize("on", ["auto", "parallel", "opencl"])
@pytest.mark.parametrize(
    ("text", "expected", "elements"),
    [
        ("range(10**12) |> any", True, 1 << 24),
        ("range(1, 10**12) |> map(lambda x: x < 3) |> all", False, 1 << 24),
        ("range(10**18) |> filter(lambda x: x > 40_000_000) |> any", True, 17 << 24),
        ("range(10**8) |> map(lambda x: x < 0) |> any", False, 10**8),
        ("big |> map(lambda x: x == 19_999_999) |> any", True, 20_000_000),
    ],
)
def test_any_and_all_end_early(text, expected, elements, on):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    session = Session({"big": np.arange(20_000_000)}, Options(on=on, baseline=on == "auto"))
    session.run_cell(f"s = 0\nt = {text}\nu = [t]")
    assert session.namespace["u"] == [expected]
    (pipeline,) = session.last_report.pipelines
    assert (pipeline.loops, pipeline.elements) == (1, elements)
    assert all(each.equal for each in pipeline.baselines)


def test_an_element_far_behind_is_named_by_its_number():
    session = Session({}, Options(on="parallel", baseline=False, quiet=True))
    with pytest.raises(ZeroDivisionError) as caught:
        session.run_cell("t = range(10**12) |> map(lambda x: 1 // (x - 20_000_000) > 2) |> any")
    assert "element 20000000 of range(10**12)" in caught.value.__notes__[0]


@pytest.mark.parametrize("on", ["python", "simd"])
def test_a_tap_is_given_the_source_also_where_it_has_no_elements(on):
    ran = battery.run("x |> tap(seen.append)", {"x": None, "seen": []}, on=on)
    assert (ran.value, ran.error, ran.namespace["seen"]) == (None, None, [None])


@pytest.mark.parametrize("on", ["python", "numpy", "simd"])
def test_what_is_called_behind_astype_is_given_its_dtype(on):
    ran = battery.run("[1.5, 2.0] |> astype(np.int16) |> tap(seen.append) |> list", {"seen": []}, on=on)
    assert ran.namespace["seen"][0].dtype == np.int16
    assert [type(each) for each in ran.value] == [int, int]
