"""Captured numbers are constants; one that keeps changing becomes a parameter, and costs no compilation any more."""

import itertools
import random
import statistics

import pytest
from outcomes import compiled

from hastega_magic.compiler.comparing.measure import measure
from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.runtime.cpu.direct import MOST as DIRECT
from hastega_magic.runtime.objects import lists
from hastega_magic.session import Options, Session

pytestmark = pytest.mark.usefixtures("nothing_compiled")

DEFINED = """
import numpy as np
xs = np.arange(1, 301)
fs = xs * 0.5
k = 3
def helper(x): return x * k
def total(n): return xs |> map(lambda x: x * n + k) |> sum
def through(n): return xs |> map(helper) |> map(lambda x: x - n) |> filter(_ % 2 == 0) |> to_list
def floats(t): return fs |> map(lambda x: x * t - t) |> sum
def pairs(n): return xs |> map(lambda x: x + n) |> zip(fs) |> map(lambda a, b: a * b - n) |> to_list
def powers(n): return xs |> map(lambda x: x ** n) |> sum
def shifted(n): return xs |> map(lambda x: x << n) |> to_list
def divided(n): return xs |> map(lambda x: (x * 7 // n, x % n)[1]) |> sum
def plain(n): return [x * n for x in range(300) if x % 2 == 0]
"""


QUIET = Options(baseline=False, quiet=True)


@pytest.fixture
def names():
    session = Session({}, Options(baseline=False))
    session.run_cell(DEFINED)
    return session.namespace


XS = range(1, 301)
EXPECTED = {
    "total": lambda n, k: sum(x * n + k for x in XS),
    "through": lambda n, k: [y for x in XS if (y := x * k - n) % 2 == 0],
    "pairs": lambda n, k: [(x + n) * (x * 0.5) - n for x in XS],
    "powers": lambda n, k: sum(x**n for x in XS),
    "shifted": lambda n, k: [x << n for x in XS],
    "divided": lambda n, k: sum(x % n for x in XS),
    "plain": lambda n, k: [x * n for x in range(300) if x % 2 == 0],
}


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("name", EXPECTED)
def test_every_value_gives_what_python_gives(names, same, name):
    for n in (2, 3, 4, 5, 2, 61, 9, 1):
        names["k"] = n + 1 if n == 5 else 3
        assert same(names[name](n), EXPECTED[name](n, names["k"]))


@pytest.mark.parametrize("name", ["total", "through", "pairs", "plain"])
def test_the_second_change_and_all_further_ones_compile_nothing(names, name):
    call = names[name]
    call(2)
    call(3)
    before = compiled()
    for n in range(4, 40):
        assert call(n) == EXPECTED[name](n, 3)
    assert compiled() == before


@pytest.mark.parametrize("name", ["total", "through"])
def test_nor_do_they_on_opencl(name):
    pytest.importorskip("pyopencl")
    session = Session({}, Options(baseline=False, on="opencl"))
    session.run_cell(DEFINED)
    call = session.namespace[name]
    call(2)
    call(3)
    before = compiled()
    for n in range(4, 9):
        assert call(n) == EXPECTED[name](n, 3)
    assert compiled() == before


def test_floats(names):
    values = [names["floats"](t) for t in (0.5, 0.25, 1e300, float("inf"), -0.0)]
    assert values[0] == sum(x * 0.5 * 0.5 - 0.5 for x in XS)
    assert values[2] == pytest.approx(sum(x * 0.5 * 1e300 - 1e300 for x in XS))
    assert values[3] != values[3] or values[3] == float("inf")


def test_types_and_sizes_that_change_as_well(names, same):
    for n in (2, 3, 0.5, 3, True, 2**40, 2**62, 2**70, -5, 0):
        assert same(names["plain"](n), [x * n for x in range(300) if x % 2 == 0])


def test_a_changed_global_of_a_function_that_is_called(names):
    for k in range(30):
        names["k"] = k
        assert names["through"](1) == EXPECTED["through"](1, k)


@pytest.mark.parametrize("again", ["cell", "loop", "function"])
@pytest.mark.parametrize("size", [100, 70_000])
@pytest.mark.parametrize(
    "stage",
    [
        "scan(lambda a, x: a + x * k, 1)",
        "scan(lambda a, x: max(a, x * k))",
        "scan(lambda a, x: a * 0.5 + x * k, 0.0)",
        "reduce(lambda a, x: (a * k + x) % 1000003, 7)",
    ],
)
def test_running_values_know_the_number(names, same, stage, size, again):
    names["zs"], names["t"] = range(size), []
    session, values = Session(names, QUIET), [3, 3, 2, 5, 7]
    turn = f"t.append((zs |> {stage}))"
    if again == "loop":
        session.run_cell(f"for k in {values}:\n    {turn}")
    elif again == "function":
        session.run_cell(f"def f(k):\n    {turn}")
        for k in values:
            names["f"](k)
    else:
        for k in values:
            names["k"] = k
            report = session.run_cell(f"u = zs |> {stage}\nt.append(u)").report
            assert (report.pipelines[0].loops, report.pipelines[0].barriers) == (1, ())
    found, names["t"] = names["t"], []
    for k in values:
        Session(names | {"k": k}, Options(on="python", baseline=False, quiet=True)).run_cell(turn)
    assert same(
        [list(map(float, x)) if hasattr(x, "__len__") else x for x in found],
        [list(map(float, x)) if hasattr(x, "__len__") else x for x in names["t"]],
    )


FACTORS = """
def times(k):
    return lambda x: x * k
def kept():
    k = 1
    def scale(x): return x * k
    def put(new):
        nonlocal k
        k = new
    return scale, put
(one, put_one), (two, put_two) = kept(), kept()
"""


@pytest.mark.parametrize("again", ["cell", "loop"])
@pytest.mark.parametrize(
    "stages",
    [
        "map(times(k)) |> map(times(k + 1))",
        "map(times(k)) |> map(times(7))",
        "map(first) |> map(lambda x: second(x))",
        "map(lambda x: first(x) * (k + 1))",
        "map(one) |> map(two)",
        "map(lambda x: one(two(x)))",
    ],
)
def test_functions_of_one_code_have_a_variable_each(names, again, stages):
    names["t"] = []
    Session(names, QUIET).run_cell(FACTORS)
    session = Session(names, QUIET)
    body = (
        "first, second = times(k), times(k + 1)\nput_one(k - k % 2)\nput_two(k + 1)\n"
        f"t.append((xs |> {stages} |> sum))\n"
    )
    values = [2, 3, 3, 5, 8, 9]
    if again == "loop":
        session.run_cell(f"for k in {values}:\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    else:
        for k in values:
            names["k"] = k
            session.run_cell(body)
    first = [k - k % 2 if "one" in stages else k for k in values]
    second = [7 if "7" in stages else k + 1 for k in values]
    assert names["t"] == [sum(XS) * a * b for a, b in zip(first, second, strict=True)]


def test_statements_of_one_loop_with_functions_of_one_code(names):
    session = Session(names, QUIET)
    session.run_cell(FACTORS)
    for k in (2, 3, 5, 8):
        names["k"] = k
        session.run_cell("t = xs |> map(times(k)) |> sum\nu = xs |> map(times(k + 1)) |> sum")
        assert (names["t"], names["u"]) == (sum(XS) * k, sum(XS) * (k + 1))


def test_the_report_says_which(names):
    session = Session(names, Options(baseline=False))
    session.run_cell(
        "from hastega_magic import hastega\n@hastega\ndef f(n):\n    return xs |> map(lambda x: x * n) |> sum\n"
        "for n in range(2, 9):\n    f(n)"
    )
    [pipeline] = names["f"].explain().pipelines
    assert any("`n` kept changing" in sentence for sentence in pipeline.why)
    assert "load n" in pipeline.code.fused


def test_what_raises_has_the_present_value(names):
    session = Session(names, Options(baseline=False))
    session.run_cell("def g(n): return xs |> map(lambda x: x // (x - n)) |> sum")
    for n in (1000, 2000, 3000):
        assert names["g"](n) == sum(x // (x - n) for x in XS)
    with pytest.raises(ZeroDivisionError) as caught:
        names["g"](17)
    assert "element 16 of xs, which is 17" in caught.value.__notes__[0]


def test_on_opencl():
    pytest.importorskip("pyopencl")
    from hastega_magic.runtime import opencl

    if not opencl.devices():
        pytest.skip("there is no OpenCL device")
    session = Session({}, Options(baseline=False, on="opencl"))
    session.run_cell(DEFINED)
    for n in (2, 3, 4, 5):
        assert session.namespace["total"](n) == EXPECTED["total"](n, 3)
        assert session.namespace["pairs"](n) == EXPECTED["pairs"](n, 3)


CELL = """
def helper(x): return x * k + q
y = xs |> map(lambda x: x * k % 1009) |> map(helper)
z = y |> filter(lambda v: v % 2 == 0) |> sum
w = xs |> map(lambda x: x - k) |> take(7) |> to_list
total = sum([xs |> map(lambda x: x + k) |> sum for _ in range(2)])
"""


def of_cell(k, q):
    y = [x * k % 1009 * k + q for x in XS]
    return y, sum(v for v in y if v % 2 == 0), [x - k for x in XS][:7], 2 * sum(x + k for x in XS)


@pytest.mark.parametrize("on", ["parallel", "opencl"])
def test_a_cell_that_runs_again(same, on):
    """Its own statements; `k` is changed by other cells, and `q` once."""
    pytest.importorskip("pyopencl")
    session = Session({}, Options(on=on, compare=("simd",)))
    session.run_cell(DEFINED)
    names = session.namespace
    for number, k in enumerate((3, 4, 5, 6, 100, 4, 2)):
        names["k"], names["q"] = k, 5
        before = compiled()
        session.run_cell(CELL)
        found = names["y"].tolist(), names["z"], names["w"], names["total"]
        assert same(found, of_cell(k, 5))
        pipelines = session.last.report.pipelines
        assert [pipeline.cached for pipeline in pipelines] == [number > 1] * len(pipelines)
        assert all(row.equal for pipeline in pipelines for row in pipeline.baselines)
        work = {phase.name for pipeline in pipelines for phase in pipeline.phases}
        assert ("compile" in work) == (number < 2)
        assert (compiled() == before) == (number > 1)
    fused, _, _ = (pipeline.why for pipeline in pipelines)
    assert any("`q` is a constant" in sentence for sentence in fused)
    assert any("`k` kept changing" in sentence for sentence in fused)
    run = measure(session.kept, on="simd", n=100)
    assert run.on == "simd"


@pytest.mark.parametrize(
    ("line", "python"),
    [
        ("a = xs |> map(lambda x: x ** k) |> sum", lambda k: sum(x**k for x in XS)),
        ("a = fs |> map(lambda x: x ** k) |> to_list", lambda k: [(x * 0.5) ** k for x in XS]),
        ("a = xs |> map(lambda x: x << k) |> max", lambda k: 300 << k),
        ("a = xs |> map(lambda x: sum(x for _ in range(0, 40, k))) |> sum", None),
        ("a = xs |> map(lambda x: (1, x, 3)[k]) |> sum", lambda k: sum((1, x, 3)[k] for x in XS)),
        ("a = xs |> scan(lambda s, x: (s * k + x) % 1009, k) |> last", None),
        (
            "a = fs |> map(lambda x: x / (k + 1)) |> var",
            lambda k: statistics.pvariance([x * 0.5 / (k + 1) for x in XS]),
        ),
        (
            "a = xs |> zip(fs) |> map(lambda x, f: x * f + k) |> enumerate |> map(_[0] * k + _[1]) |> sum",
            None,
        ),
        ("a = xs |> take_while(lambda x: x < 90 * k) |> count", lambda k: min(300, max(0, 90 * k - 1))),
    ],
)
def test_where_a_loop_needs_to_know_the_number(line, python):
    session = Session({}, Options(baseline=False))
    session.run_cell(DEFINED)
    for k in (1, 2, 1, 2, 0, 1, 2):
        session.namespace["k"] = k
        if python is not None:
            expected = python(k)
        elif "scan" in line:
            *_, expected = itertools.accumulate(XS, lambda s, x, k=k: (s * k + x) % 1009, initial=k)
        elif "zip" in line:
            expected = sum(i * k + x * x * 0.5 + k for i, x in enumerate(XS))
        elif k:
            expected = sum(x * len(range(0, 40, k)) for x in XS)
        else:
            continue
        session.run_cell(line)
        assert session.namespace["a"] == pytest.approx(expected, rel=1e-15)
        assert session.last.report.pipelines[0].barriers == ()


def test_a_function_defined_in_another_cell_reads_it(same):
    session = Session({}, Options(baseline=False))
    session.run_cell(DEFINED)
    for k in (7, 8, 9, 10):
        session.namespace["k"] = k
        session.run_cell("a = xs |> map(helper) |> map(lambda x: x - k) |> to_list")
        assert same(session.namespace["a"], [x * k - k for x in XS])


SHORT = lists.SHORT
LENGTHS = (1, SHORT, SHORT + 1, 3, 20_000, 2, DIRECT + 1, DIRECT + 5, 4)


@pytest.mark.skipif(lists.reader(int) is None, reason="this Python's layout of ints is not known")
def test_a_loop_over_lists_of_every_length(same):
    """Memory that lists are read into is that of the turn before."""
    cell = """
found = []
for number, xs in enumerate(sources):
    found.append((xs |> zip(ys) |> map(lambda x, y: x * number - y) |> to_list, xs |> map(_ * 2) |> sum))
"""
    rng = random.Random(2)
    ys = [rng.randrange(-(2**40), 2**40) for _ in range(DIRECT + 3)]
    sources = [tuple(ys[-length:]) if length % 2 else ys[-length:] for length in LENGTHS]
    session = Session({"sources": sources, "ys": ys}, Options(baseline=False))
    session.run_cell(cell)
    for number, (xs, (made, total)) in enumerate(zip(sources, session.namespace["found"], strict=True)):
        assert same(made, [x * number - y for x, y in zip(xs, ys, strict=False)])
        assert same(total, 2 * sum(xs))


def test_another_type_in_a_later_turn(same):
    ys = [[1, 2, 3], [4, 5, 6], [1, True, 2], [1.5, 2.0, 3.0], [2**70, 1, 1], [7, 8, 9]]
    session = Session({"ys": ys}, Options(baseline=False))
    with pytest.warns(IntegerOverflowWarning):
        session.run_cell("found = []\nfor y in ys: found.append(y |> map(lambda x: x * 2 + 1) |> to_list)")
    assert same(session.namespace["found"], [[x * 2 + 1 for x in y] for y in ys])
