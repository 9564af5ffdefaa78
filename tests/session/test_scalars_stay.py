"""NumPy's scalars in lists, object arrays and what hides elements: they stay NumPy's up to the end of a pipeline."""

from collections import deque, namedtuple
from types import SimpleNamespace

import numpy as np
import pytest

from hastega_magic.session import Options, Session
from hastega_magic.syntax.closures import attributes
from hastega_magic.syntax.values.values import HOLDS_NUMPYS


def run(text, on="parallel", **space):
    return Session(space, Options(baseline=False, on=on)).run_cell(text)


def _elements(*elements):
    found = np.empty(len(elements), object)
    found[:] = elements
    return found


HIGH = np.int64(2**62)
WITH_SCALARS = (
    [HIGH, 1], [1, HIGH], (2.5, np.float64(1)), _elements(1, HIGH), [(HIGH, 1)], [(1, HIGH), (1, HIGH)],
    {1: 0, HIGH: 1},
    np.ma.array([1, 2**62], mask=[True, False]), np.ma.array([(1, 2)], "i4,i4", mask=[(True, False)]),
)  # fmt: skip


@pytest.mark.parametrize(
    "stages",
    ["reverse |> to_list", "map(lambda x: x) |> map(lambda x: x * 4) |> to_list", "filter(_ * 4 != 1)"],
)
@pytest.mark.parametrize("xs", WITH_SCALARS, ids=lambda xs: type(xs).__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scalars_of_numpy_stay_what_they_are_wherever_they_stand(xs, stages):
    ours, python = (run(f"xs |> {stages}", on, xs=xs).value for on in ("parallel", "python"))
    assert repr(ours) == repr(python)


@pytest.mark.parametrize(
    "stages",
    ["map(lambda a, b: b) |> reverse |> map(_ * 4) |> to_list", "map(lambda a, b: a * b) |> sum", "to_list"],
)
@pytest.mark.parametrize("xs", [[1, HIGH], _elements(1, HIGH), (HIGH, 1)], ids=str)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_so_do_those_that_stand_beside_the_source(xs, stages):
    for first in ("range(2)", "range(2) |> map(_ + 1)"):
        ours, python = (run(f"{first} |> zip(xs) |> {stages}", on, xs=xs) for on in ("parallel", "python"))
        assert repr(ours.value) == repr(python.value)


@pytest.mark.parametrize("mask", [None, "none", len, np.array([None])], ids=str)
def test_other_classes_call_other_things_a_mask(mask):
    xs = np.arange(5).view(type("Own", (np.ndarray,), {"mask": mask}))
    for on in ("parallel", "python"):
        assert run("xs |> map(_ + 1) |> to_list", on, xs=xs).value == [1, 2, 3, 4, 5]
        assert run("xs |> map(str) |> reverse |> to_list", on, xs=xs).value == ["4", "3", "2", "1", "0"]


def test_they_do_beside_a_source_whose_stages_ran_over_pythons_numbers_before():
    names = {"ys": [True, 1] * 10}
    Session(names, Options(baseline=False, quiet=True)).run_cell(
        "def run():\n    return range(20) |> zip(ys) |> map(lambda x, y: y) |> to_list\n"
    )
    for ys in ([True, 1] * 10, [np.int64(3)] * 20, [1, np.int64(3)] * 10, [True, 1] * 10, [np.int64(3)] * 20):
        names["ys"] = ys
        assert [*map(type, names["run"]())] == [*map(type, ys)]


_Pair = namedtuple("_Pair", "a b")  # noqa: PYI024
READ = {
    "ints": [np.int64(1), HIGH, np.int64(3)], "mixed": [1, HIGH, 2.5], "floats": [np.float64(0), np.float64(2.5)] * 40,
    "bools": (np.bool_(True), np.bool_(False), np.bool_(True)), "small": [np.uint8(200)] * 3000,
    "dict": {0: HIGH, 1: 2, 2: 3},
    "array": _elements(HIGH, 2, 3), "deque": deque([HIGH, HIGH, HIGH]), "complex": [np.complex128(1j)] * 3,
    "pair": _Pair(HIGH, np.float64(2)),
}  # fmt: skip


def _same(text, **space):
    """Whether a cell gives what Python says, in type too."""
    ours, python = (run(text, on, **space).value for on in ("parallel", "python"))
    assert repr(ours) == repr(python)
    kinds = [[*map(type, each if isinstance(each, list) else [each])] for each in (ours, python)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize(
    "what",
    [
        "t[i % 2]",
        "t[0] + i",
        "t[1] * 4",
        "t[i % 2] / 2",
        "t[0] > i",
        "(i, t[1])",
        "len(t)",
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_so_do_items_of_what_functions_read(name, what):
    for sink in ("to_list", "last", "reverse |> map(lambda v: v) |> to_list"):
        _same(f"range(9) |> map(lambda i: i) |> map(lambda i: {what}) |> {sink}", t=READ[name])


@pytest.mark.parametrize(
    "body",
    [
        "a, *_ = t\n    return a * 4 + i", "s = 0\n    for v in t:\n        s += v\n    return s",
        "return sum(t)", "return rows[i % 2][1]", "return p.a if i % 2 else p.b", "return i in t",
        "return min(t)", "return (t + t)[i % 6]", "return t[i % 3 :][0]", "return next(iter(t))",
        "return (lambda a=t: a[1])()",
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_so_do_those_that_statements_read(body):
    text = f"def f(i):\n    {body}\nrange(9) |> map(f) |> to_list"
    _same(text, t=READ["ints"], rows=[[1, HIGH]] * 2, p=READ["pair"])


def test_arithmetic_with_them_is_numpys_with_its_warnings():
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert run("range(2) |> map(lambda i: t[i] * 4) |> to_list", t=[HIGH, HIGH]).value == [0, 0]
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert run("range(1) |> map(lambda i: t[i] / 0) |> sum", t=[np.float64(1)]).value == np.inf


@pytest.mark.parametrize("code", ["xs |> map(lambda i: t[i % n]) |> to_list", "[t[i % n] for i in xs]"])
@pytest.mark.parametrize("numbers", [[1, 2, 3], list(range(300)), [1.5, 2.5], [True] * 80], ids=len)
@pytest.mark.parametrize("inside", [True, False])
def test_they_do_in_a_list_that_held_pythons_numbers_before(code, numbers, inside):
    scalars = list(np.array(numbers))
    session = Session({"xs": range(300), "n": len(numbers)}, Options(baseline=False, quiet=True))
    for first, second in ((numbers, scalars), (scalars, numbers), (numbers, [*numbers[:-1], scalars[-1]])):
        t = session.namespace["t"] = [*first]
        for _ in range(3):
            session.run_cell("y = " + code)
        if inside:
            t[:] = second
        else:
            session.namespace["t"] = second
        session.run_cell("y = " + code)
        expected = [second[i % len(second)] for i in range(300)]
        assert [*map(type, session.namespace["y"])] == [*map(type, expected)]
        assert session.namespace["y"] == expected


def test_they_do_in_an_object_that_a_function_of_pythons_reads():
    session = Session({"o": SimpleNamespace(t=[1, 2, 3]), "said": []}, Options(baseline=False, quiet=True))
    session.run_cell("def f(i):\n    said.append(i)\n    return o.t[i % 3]")
    for scalar in (2, np.int64(2), 2, np.int64(2)):
        session.namespace["o"].t[1] = scalar
        for _ in range(3):
            session.run_cell("y = range(3) |> map(f) |> to_list")
            assert [*map(type, session.namespace["y"])] == [int, type(scalar), int]


def test_the_report_says_that_they_are_why_python_ran():
    outcome = run("range(2) |> map(lambda i: t[i]) |> sum", t=[HIGH, np.int64(1)])
    (barrier,) = outcome.report.pipelines[0].barriers
    assert barrier.reason == HOLDS_NUMPYS


def test_beside_the_elements_of_an_array_they_count_as_these_do():
    xs = np.linspace(0.0, 1.0, 1000)
    ran = run("xs |> map(lambda x: (x - t[0]) / (t[1] - t[0]))", xs=xs, t=(xs.min(), xs.max()))
    assert np.array_equal(ran.value, xs)
    (pipeline,) = ran.report.pipelines
    assert not pipeline.barriers


FAR_BACK = {
    "t[-1]": (
        [1] * 100 + [HIGH], [1] * 5000 + [HIGH], (*[1.5] * 5000, HIGH), ["a"] * 3000 + [HIGH], [1, 2.5] * 1500 + [HIGH],
    ),
    "t[300]": ({**dict.fromkeys(range(300), 1), 300: HIGH},),
    "t[-1][-1]": ([[1, 2]] * 100 + [[1] * 20 + [HIGH]],),
}  # fmt: skip


@pytest.mark.parametrize(("item", "t"), [(item, t) for item, tables in FAR_BACK.items() for t in tables])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_so_do_items_far_back_in_what_functions_of_pythons_read(item, t):
    _same(f"xs |> map(lambda x: (str(x), {item} * 4)[1]) |> to_list", t=t, xs=[1, 2, 3])


@pytest.mark.parametrize("on", ["parallel", "numpy", "python"])
@pytest.mark.parametrize("kind", [list, tuple, set, frozenset, deque, dict.fromkeys])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_behind_a_tap_the_source_is_what_it_was(kind, on):
    session = Session(
        {"xs": kind([HIGH, np.int64(3)]), "seen": []}, Options(on=on, baseline=False, quiet=True)
    )
    for stages, expected in (
        ("to_list", [*session.namespace["xs"]]),
        ("map(lambda x: x * 4) |> to_list", [HIGH * 4, 12]),
    ):
        for _ in range(3):
            found = session.run_cell(f"xs |> tap(seen.append) |> tap(len) |> {stages}").value
            assert sorted(found) == sorted(expected)
            assert {*map(type, found)} == {np.int64}


@pytest.mark.parametrize("on", ["parallel", "numpy", "python"])
def test_behind_a_tap_a_set_tells_of_changes(on):
    text = "xs |> tap(len) |> map(lambda x: xs.add(x + 10)) |> to_list"
    session = Session({"xs": set()}, Options(on=on, baseline=False, quiet=True))
    for _ in range(3):
        session.namespace["xs"] = {1, 2, 3}
        with pytest.raises(RuntimeError, match="changed size"):
            session.run_cell(text)


@pytest.mark.parametrize(
    "text",
    [
        "range(3) |> map(lambda i: [i] * int(df.a.sum()))",
        "range(3) |> map(lambda i: pd.Series([i, 2]).sum()) |> sum",
        "for _ in range(3):\n    range(3) |> map(lambda i: [i] * int(df.a.sum()))",
        "df.a |> map(lambda i: (df.a |> sum) + i)",
    ],
)
def test_what_a_library_reads_is_not_gone_through(text, monkeypatch):
    """A method of pandas leads to thousands of functions, and these to half a million attributes."""
    pd = pytest.importorskip("pandas")
    asked: list[str] = []
    plain = attributes.plain
    monkeypatch.setattr(attributes, "plain", lambda owner, name: asked.append(name) or plain(owner, name))
    space = {"pd": pd, "df": pd.DataFrame({"a": [1, 2, 3]})}
    Session(space, Options(baseline=False, quiet=True)).run_cell(text)
    assert len(asked) < 1000
