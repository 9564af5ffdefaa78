"""`@hastega` on functions of every kind: equal in value and type to the function as it was, and reported."""

import asyncio
import functools
import inspect
import operator
import re
import textwrap
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.errors import UsageError
from hastega_magic.session import Options, Session

XS = list(range(-300, 700))
K = 3


@hastega
def both(xs, t=1):
    """Two results."""
    ys = [x * K + t for x in xs if x % 2 == 0]
    return ys, sum(y * y for y in ys)


def test_value_and_type(same):
    assert same(both(XS), both.__wrapped__(XS))
    assert same(both(XS, 0.5)[0], both.__wrapped__(XS, 0.5)[0])
    assert same(both(XS, t=True), both.__wrapped__(XS, t=True))


def test_the_report_of_the_last_call():
    both(XS, 7)
    first, second = both.explain().pipelines
    assert (first.loops, second.loops) == (1, 1)
    assert first.elements == len(XS)
    assert "define void @hastega" in first.code.llvm
    assert any(link["text"] == "x * K + t" for link in both.explain().to_dict()["pipelines"][0]["links"])
    both([1, 2])
    [barrier] = both.explain().pipelines[0].barriers
    assert "fewer than" in barrier.reason


def test_before_the_first_call():
    made = hastega(lambda xs: [x + 1 for x in xs])
    assert made.explain().pipelines == ()


def test_too_much_for_explain_is_told_by_its_name():
    made = hastega(lambda xs: sum(x + 1 for x in xs))
    with pytest.raises(
        TypeError, match=r"<lambda>\.explain\(\) takes 0 positional arguments but 1 was given"
    ):
        made.explain(3)


def test_a_changed_global_is_noticed(monkeypatch, same):
    for value in (5, 6, 0.5, 2**70, 5, True):
        monkeypatch.setitem(globals(), "K", value)
        assert same(both(XS)[0], both.__wrapped__(XS)[0])


def helper(x):
    return x * K


@hastega
def through_a_helper(xs):
    return [helper(x) for x in xs]


def test_a_function_that_is_called_is_followed(monkeypatch):
    assert through_a_helper(XS)[-1] == 699 * 3
    monkeypatch.setitem(globals(), "K", 4)
    assert through_a_helper(XS)[-1] == 699 * 4
    monkeypatch.setitem(globals(), "helper", lambda x: x - 1)
    assert through_a_helper(XS)[-1] == 698


def test_closures_are_shared_with_the_original_scope():
    count = 0

    @hastega
    def scaled(xs):
        nonlocal count
        count += 1
        return [x * scale for x in xs]

    for scale in (2, 3, 4, 0.5):
        assert scaled(XS) == [x * scale for x in XS]
    assert count == 4


class Shape:
    size = 2

    def __init__(self, size):
        self.__size = size

    @hastega
    def areas(self, xs):
        size = self.__size
        return [x * size for x in xs]

    @staticmethod
    @hastega
    def shifted(xs):
        return [x + 1 for x in xs]

    @hastega
    @classmethod
    def scaled(cls, xs):
        size = cls.size
        return [x * size for x in xs]


class Square(Shape):
    @hastega
    def areas(self, xs):
        return [x * 2 for x in super().areas(xs)]


def test_methods():
    assert Shape(5).areas(XS) == [x * 5 for x in XS]
    assert Square(5).areas(XS) == [x * 10 for x in XS]
    assert Shape.shifted(XS) == [x + 1 for x in XS]
    assert Square.scaled(XS) == [x * 2 for x in XS]


def test_generators_and_coroutines():
    @hastega
    def rows(xs):
        for k in range(3):
            yield [x * k for x in xs]

    @hastega
    async def total(xs):
        await asyncio.sleep(0)
        return sum(x * 2 for x in xs)

    assert inspect.isgeneratorfunction(rows)
    assert [row[-1] for row in rows(XS)] == [0, 699, 1398]
    with ThreadPoolExecutor(1) as pool:  # browser tests of the same run leave a loop running in this thread
        assert pool.submit(asyncio.run, total(XS)).result() == 2 * sum(XS)


def test_recursion():
    @hastega
    def halved(xs):
        return xs if len(xs) < 300 else halved([x + 1 for x in xs][: len(xs) // 2])

    assert halved(XS) == [x + 2 for x in XS[:250]]


def test_what_raises_names_the_users_line():
    @hastega
    def inverse(xs):
        return [1 // x for x in xs]

    with pytest.raises(ZeroDivisionError) as caught:
        inverse(XS)
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert lines[-1] == "return [1 // x for x in xs]"


def test_a_function_stays_what_it_was():
    assert both.__name__ == "both"
    assert both.__doc__ == "Two results."
    assert both.__module__ == __name__
    assert str(inspect.signature(both)) == "(xs, t=1)"
    assert inspect.getsource(both).startswith("@hastega")
    assert Shape.areas.__qualname__ == "Shape.areas"


def test_without_a_pipeline_or_a_text_it_runs_as_it_is():
    @hastega
    def plain(x):
        return x + 1

    assert plain(1) == 2
    assert "no pipeline" in plain.explain().cell.warnings[0]
    names = {}
    exec("def f(xs): return [x + 1 for x in xs]", names)
    made = hastega(names["f"])
    assert made([1]) == [2]
    # The text of `python -c`, which Python 3.13 knows, goes by the same name.
    assert re.search("is not known|has changed", made.explain().cell.warnings[0])


def test_why_ordinary_code_is_no_pipeline():
    @hastega
    def several(xs):
        pairs = [x * y for x in xs for y in list(xs)]
        texts = [f"{x}" for x in xs]
        return pairs, texts, [x + 1 for x in xs]

    assert several([1, 2]) == ([1, 2, 2, 4], ["1", "2"], [2, 3])
    told = {each.stage: each.reason for p in several.explain().pipelines for each in p.barriers}
    reason = "Python evaluates `list(xs)` for each outer element, which may be noticed"
    assert told["[x * y for x in xs for y in list(xs)]"] == reason
    assert "a string is made" in told['[f"{x}" for x in xs]']
    assert "fewer than" in told["[x + 1 for x in xs]"]
    assert "evaluates `list(xs)`" in several.explain().to_text()


def test_options():
    @hastega(on="simd", threads=1)
    def total(xs):
        return sum(x * 2 for x in xs)

    assert total(XS) == 2 * sum(XS)
    assert total.explain().pipelines[0].backend == "simd"
    with pytest.raises(TypeError, match=r"no option 'thread': did you mean threads\?"):
        hastega(thread=2)
    with pytest.raises(TypeError, match="a function written in Python"):
        hastega(len)
    with pytest.raises(UsageError, match=r"ordinary code keeps Python's integers.*pipe\(xs, int_mode="):
        hastega(lambda xs: [x * 4 for x in xs], int_mode="checked")


def test_a_partial_of_it_and_a_lambda():
    assert functools.partial(both, t=0)([1, 2])[0] == [6]
    assert hastega(lambda xs: [x * 2 for x in xs])(XS) == [x * 2 for x in XS]


CELL = textwrap.dedent("""
    from hastega_magic import hastega

    @hastega
    def total(xs, k):
        "The sum."
        return xs |> map(lambda x: x * k) |> filter(_ % 2 == 0) |> sum

    total(range(100), 3)
""")


def test_pipes_in_a_function_of_a_cell():
    session = Session({}, Options(baseline=False))
    assert session.run_cell(CELL).value == sum(x * 3 for x in range(100) if x * 3 % 2 == 0)
    total = session.namespace["total"]
    assert total(range(10), 2) == 90
    [pipeline] = total.explain().pipelines
    assert pipeline.loops == 1
    assert pipeline.stages == ("xs", "map(lambda x: x * k)", "filter(_ % 2 == 0)", "sum")


def test_an_integer_mode_is_for_pipes():
    session = Session({}, Options(baseline=False))
    session.run_cell(
        CELL.replace("@hastega", '@hastega(int_mode="checked")').replace(
            '"The sum."', "ys = [x + 1 for x in xs]"
        )
    )
    total = session.namespace["total"]
    with pytest.raises(OverflowError, match="no int64 holds"):
        total([2**62] * 1000, 4)
    assert total([2**62] * 1000, 1) == 2**62 * 1000
    told = [sentence for each in total.explain().pipelines for sentence in each.why]
    assert "int_mode is for `|>` alone: ordinary code keeps Python's integers, which have no limit." in told


def test_many_runs_of_one_form_compile_once():
    session = Session({}, Options(baseline=False))
    session.run_cell(CELL)
    total = session.namespace["total"]

    def compiled():
        return sum(phase.name == "compile" for p in total.explain().pipelines for phase in p.phases)

    for _ in range(50):
        assert total(range(20), 3) == total.__wrapped__(range(20), 3)
    assert compiled() <= 1


class Board:
    cells = np.arange(9) * 10**18
    step = np.int64(3)
    root = np.sqrt

    def at(self, i):
        return self.cells[i % 9] * 10


BOARD, BY_PLACE, FACTORS = Board(), {0: Board.cells}, {0: np.float64(2), 1: np.float64(3)}
BYTES = np.array([100, 90], np.int8)
TIMES = functools.partial(operator.mul, np.int64(3))
PART = functools.partial(lambda cells, i: cells[i % 9], Board.cells)


@pytest.mark.parametrize(
    "function",
    [
        lambda: [BOARD.cells[i % 9] * 10 for i in range(3000)],
        lambda: sum(Board.cells[i % 9] for i in range(3000)),
        lambda: [BOARD.step * i for i in range(3000)],
        lambda: [BOARD.step < i for i in range(3000)],
        lambda: [BOARD.at(i) for i in range(3000)],
        lambda: sum(BOARD.root(i) for i in range(3000)),
        lambda: [BY_PLACE[0][i % 9] for i in range(3000)],
        lambda: [FACTORS[i % 2] * i for i in range(3000)],
        lambda: [TIMES(i) for i in range(3000)],
        lambda: max(PART(i) for i in range(3000)),
        lambda: [sum(BOARD.cells[j] for j in range(2)) for i in range(3000)],
        lambda: functools.reduce(lambda a, i: a + BYTES[i % 2] * i, [1] * 300),
        lambda: functools.reduce(lambda a, i: BYTES[i % 2] + BYTES[0], range(300)),
        lambda: functools.reduce(lambda a, i: max(a, BYTES[i % 2] + i % 20), range(300), 0),
        lambda: functools.reduce(lambda a, i: min(a, BYTES[i % 2]), range(300), 1000),
        lambda: functools.reduce(lambda a, i: i if BYTES[i % 2] * 2 < 300 else a, range(300), 1000),
    ],
)
def test_numpys_numbers_stay_numpys_wherever_they_are_held(function):
    with np.errstate(over="ignore"):
        expected, compiled = function(), hastega(function)
        for _ in range(3):
            found = compiled()
            assert repr(found) == repr(expected)
            assert type(found) is type(expected)


def test_a_reduce_is_compiled_where_the_value_so_far_stays_pythons():
    compiled = hastega(lambda xs: functools.reduce(lambda a, x: x if Board.cells[x % 9] > a else a, xs, 0))
    assert type(compiled(XS)) is int
    assert compiled.explain().pipelines[0].loops == 1


def test_lists_of_numpys_scalars_are_left_to_python():
    halves = np.arange(300, dtype=np.float32) / 2
    complexes = halves.astype(np.complex64)

    def several(xs):
        ys = [x * 1.5 for x in xs]
        return (
            [y for y in ys if y],
            sum(y for y in ys),
            [y + 1 for y in tuple(ys)],
            [a for a, _ in zip(ys, xs, strict=True)],
        )

    made = hastega(several)
    for xs in (halves, halves.tolist(), list(halves), list(complexes), halves.astype(float)):
        assert repr(made(xs)) == repr(several(xs))


def test_a_chain_of_comparisons_gives_the_operand_that_decides():
    def chained(xs, k):
        return [x < k < 10 - k for x in xs], sum(x < k < 10 - k for x in xs)

    made = hastega(chained)
    few = np.array([0, 1, 4, 7] * 100, np.uint16)
    for xs, k in ((XS, 1), (XS, 2), (few, 3), (few, 2), (few / 2, 2), (few > 3, 1)):
        assert repr(made(xs, k)) == repr(chained(xs, k))


def test_as_many_keys_as_python_has_where_some_are_nan():
    nan = float("nan")
    xs = [nan, 1.0, -0.0, nan, 0.0, float("nan")] * 50

    def keyed(xs):
        return (
            {x for x in xs if x != 1.5},
            {x: x * 2 for x in xs},
            {(x, 3): 1 for x in xs},
            frozenset(-x for x in xs),
        )

    made = hastega(keyed)
    for each in (xs, np.array(xs), tuple(xs), [x for x in xs if x == x] * 2, xs):
        for _ in range(2):
            assert list(map(len, made(each))) == list(map(len, keyed(each)))


def test_no_warning_of_ours():
    def inverse(xs, k):
        return any(x / k for x in xs)

    made = hastega(inverse)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in (0, 2, 0j):
            for xs in ([1 + 2j] * 300, [0j] * 300):
                found, wanted = (_raised(function, xs, k) for function in (made, inverse))
                assert found == wanted
    assert caught == []


def _raised(function, *args):
    try:
        return function(*args)
    except ArithmeticError as error:
        return type(error), str(error)
