"""NumPy's dates and durations stay what they are: its durations count among its integers, and are no numbers here."""

import functools
import itertools

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.session import Options, Session

# A duration without a unit is a case to be right in, also where NumPy advises against it.
pytestmark = pytest.mark.filterwarnings("ignore:The 'generic' unit:DeprecationWarning")

DAY = np.timedelta64(2, "D")
TICK = np.timedelta64(5, "ns")
FIRST = np.datetime64("2020-01-01")


class Clock:
    tick = TICK


NAMES = {
    "np": np, "day": DAY, "tick": TICK, "first": FIRST, "clock": Clock(), "both": [TICK, TICK],
    "dates": np.arange(300).astype("M8[D]"), "days": np.arange(1, 301).astype("m8[D]"),
    "ticks": list(np.arange(1, 301).astype("m8[ns]")), "table": np.arange(1, 301).astype("m8[ns]"),
}  # fmt: skip


@pytest.mark.parametrize("on", ["python", "parallel", "opencl"])
@pytest.mark.parametrize(
    ("pipeline", "python"),
    [
        ("range(300) |> map(_ * tick)", "[x * tick for x in range(300)]"),
        ("range(300) |> map(_ * day)", "[x * day for x in range(300)]"),
        ("range(300) |> map(lambda x: first + x * day)", "[first + x * day for x in range(300)]"),
        ("range(300) |> map(_ * clock.tick)", "[x * tick for x in range(300)]"),
        ("range(300) |> map(_ * both[_ % 2])", "[x * tick for x in range(300)]"),
        ("range(300) |> map(_ * table[_])", "[x * table[x] for x in range(300)]"),
        ("range(300) |> map(np.timedelta64(_))", "[np.timedelta64(x) for x in range(300)]"),
        ("range(300) |> where(_ > 3, tick)", "[x if x > 3 else tick for x in range(300)]"),
        ("range(300) |> filter(_ * tick > tick)", "[x for x in range(300) if x * tick > tick]"),
        ("range(300) |> scan(lambda a, b: a + b, tick)", "list(accumulate(range(300), initial=tick))[1:]"),
        ("ticks |> map(_ * 2)", "[each * 2 for each in ticks]"),
        ("ticks |> window(2) |> map(lambda a, b: b - a)", "[b - a for a, b in zip(ticks, ticks[1:])]"),
        ("days |> map(_ * 2)", "[each * 2 for each in days]"),
        ("dates |> map(_ - first)", "[each - first for each in dates]"),
        ("dates |> window(2) |> map(lambda a, b: b - a)", "[b - a for a, b in zip(dates, dates[1:])]"),
    ],
)
def test_stages(pipeline, python, on):
    session = Session(dict(NAMES), Options(on=on, baseline=False, quiet=True))
    session.run_cell(f"found = {pipeline}")
    found = session.namespace["found"].tolist()
    wanted = eval(python, NAMES | {"accumulate": itertools.accumulate})
    assert list(map(repr, found)) == list(map(repr, wanted))


@pytest.mark.parametrize("on", ["python", "numpy", "parallel"])
@pytest.mark.parametrize("dtype", ["float", "complex", "'float32'", "int", "bool"])
@pytest.mark.parametrize("source", ["dates", "days", "ticks", "nothing", "first_second"])
def test_conversions(source, dtype, on):
    names = {
        **NAMES,
        "nothing": np.array(["2020-01-01", "NaT"], "M8[D]"),
        "first_second": np.array(["1969-12-31T23:59:59"], "M8[s]"),
    }
    session = Session(names, Options(on=on, baseline=False, quiet=True))
    found = session.run_cell(f"{source} |> astype({dtype})").value
    wanted = np.asarray(names[source]).astype(eval(dtype))
    assert found.dtype == wanted.dtype
    assert found.tolist() == wanted.tolist()
    if dtype == "float":
        assert session.run_cell(f"{source} |> astype(float) |> max").value == wanted.max()


def test_ordinary_code():
    @hastega
    def f(xs, tick):
        return [x * tick for x in xs]

    assert f(range(3000), TICK) == [x * TICK for x in range(3000)]
    assert set(map(type, f(range(3000), TICK))) == {np.timedelta64}


def test_reductions():
    session = Session(dict(NAMES), Options(on="parallel", baseline=False, quiet=True))
    session.run_cell("total = range(300) |> reduce(lambda a, b: a + b * day)\nlast = ticks |> max")
    assert session.namespace["total"] == functools.reduce(lambda a, b: a + b * DAY, range(300))
    assert type(session.namespace["last"]) is np.timedelta64


def test_the_report_says_so():
    session = Session(dict(NAMES), Options(on="parallel", baseline=False))
    session.run_cell("found = ticks |> map(_ * 2)")
    assert "elements of type timedelta64 are not compiled" in " ".join(session.last_report.to_text().split())
