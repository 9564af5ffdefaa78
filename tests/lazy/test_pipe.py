"""The explicit lazy form: a method for each row of the table, run by sinks and by being looked at."""

import copy
import inspect
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

from hastega_magic import pipe
from hastega_magic.compiler.fastpath.repeated import Repeated
from hastega_magic.compiler.options import SECTIONS
from hastega_magic.errors import IntegerOverflowWarning, UsageError
from hastega_magic.syntax.stages import STAGES


def evens(xs):
    return pipe(xs).map(lambda x: x * x).filter(lambda x: x % 2 == 0)


def test_stages_and_a_sink():
    assert evens(range(10)).sum() == 120
    assert evens(range(10)).to_list() == [0, 4, 16, 36, 64]
    assert pipe([3, 1, 2]).reduce(lambda a, b: a + b, 10) == 16


def test_what_looks_at_it_runs_it():
    made = evens(range(10))
    assert list(made) == [0, 4, 16, 36, 64]
    assert [type(each) for each in made] == [int] * 5
    assert isinstance(made.run(), np.ndarray)
    assert made.to_array().dtype == np.int64
    assert np.asarray(made).tolist() == [0, 4, 16, 36, 64]
    assert np.asarray(made, dtype=float).dtype == np.float64


def test_a_pipe_without_stages():
    assert pipe([1, 2, 3]).sum() == 6
    assert list(pipe([1, 2, 3])) == [1, 2, 3]


@pytest.mark.parametrize(
    "made",
    [
        lambda: [2**63, -1], lambda: [True, 2], lambda: [1, 2.5], lambda: [(1, 0.5), (2, -0.0)], lambda: [[1], [2, 3]],
        lambda: range(2**63 - 1, 2**63 + 1), lambda: (x * 2 for x in range(3)), lambda: {3, 4}, {1: 2}.items,
        lambda: "ab", lambda: b"ab", list, lambda: np.array([1, -2], ">i2"), lambda: np.array([0.1, -0.0], "f4"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
def test_without_stages_its_elements_are_those_of_any_pipe(made, same):
    found, other = pipe(made()).run(), pipe(made(), on="python").take(9).run()
    assert found.dtype == other.dtype
    assert same(found.tolist(), other.tolist())
    assert same(list(pipe(made())), found.tolist())


def test_without_stages_nothing_is_iterated_over_that_cannot_be():
    for source in (5, None, np.array(5)):
        with pytest.raises(TypeError, match=r"not iterable|0-d"):
            pipe(source).run()
    xs = np.arange(4)
    assert not np.shares_memory(pipe(xs).run(), xs)
    made = pipe(xs)
    made.run()
    assert made.explain().pipelines[0].elements == 4


def test_copies_also_in_another_process():
    made = pipe([1, -2]).map(abs)
    for _ in range(2):
        for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
            assert repr(other) == repr(made)
            assert other.sum() == 3
        assert made.sum() == 3


def test_stages_leave_the_pipe_they_are_called_on_as_it_is():
    start = pipe(range(5))
    doubled, squared = start.map(lambda x: 2 * x), start.map(lambda x: x * x)
    assert (start.sum(), doubled.sum(), squared.sum()) == (10, 20, 30)


def test_the_source_is_read_anew():
    xs = [1, 2]
    made = pipe(xs).map(lambda x: x + 1)
    assert made.sum() == 5
    xs.append(3)
    assert made.sum() == 9


def test_every_row_of_the_table_is_a_method():
    for row in STAGES.values():
        method = getattr(pipe([1, 2, 3]), row.name)
        assert row.name in dir(pipe([]))
        assert row.doc[1:] in method.__doc__
        assert list(inspect.signature(method).parameters)[: len(row.parameters)] == list(row.parameters)


def test_one_loop_is_reported_with_its_listings():
    made = evens(range(10))
    made.sum()
    [pipeline] = made.explain().pipelines
    assert pipeline.loops == 1
    assert pipeline.barriers == ()
    assert "define void @hastega" in pipeline.code.llvm
    assert pipeline.stages[1:] == ("map(lambda x: x * x)", "filter(lambda x: x % 2 == 0)", "sum")
    lit = {link["text"] for link in made.explain().to_dict()["pipelines"][0]["links"]}
    assert "map(lambda x: x * x)" in lit


def test_explaining_runs_what_has_not_run():
    assert evens(range(10)).explain().pipelines[0].elements == 10


def test_other_callables_and_observers_are_barriers():
    seen = []
    made = pipe([1, 2]).map(lambda x: x + 1).tap(lambda xs: seen.append(len(xs))).apply(sorted, reverse=True)
    assert made.run() == [3, 2]
    assert seen == [2]
    assert len(made.explain().pipelines[0].barriers) == 2


def test_what_raises_in_python_raises_here_with_the_element():
    with pytest.raises(ZeroDivisionError) as caught:
        pipe([1, 0]).map(lambda x: 1 // x).run()
    assert caught.value.__notes__ == [
        "hastega: element 1 of the list, which is 0, in `map(lambda x: 1 // x)`"
    ]


def test_an_overflow_warns_where_the_pipe_is_run():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert pipe([2**63 - 1]).map(lambda x: x + 1).run().tolist() == [2**63]
    [warning] = caught
    assert warning.category is IntegerOverflowWarning
    assert warning.filename == __file__


def test_options_as_keywords():
    with pytest.raises(OverflowError):
        pipe([2**63 - 1], int_mode="checked").map(lambda x: x + 1).run()
    assert pipe(range(9), on="numpy").map(lambda x: x + 1).sum() == 45
    with pytest.raises(TypeError, match=r"no option 'thread': did you mean threads\?"):
        pipe([1], thread=2)
    with pytest.raises(UsageError):
        pipe([1], on="nowhere")


def test_elements_as_complex_are_pythons():
    for on in ("python", "parallel"):
        made = pipe([2, 3], on=on).astype(complex)
        assert type(made.first()) is type(made.to_list()[0]) is complex
        with pytest.raises(ZeroDivisionError):
            made.map(lambda z: z / 0).run()


def test_options_of_other_types():
    for wrong in (
        {"on": None}, {"on": 3}, {"int_mode": None}, {"tune_seconds": "2"}, {"compare": 3}, {"show": [3]},
        {"compare": "n"},
    ):  # fmt: skip
        with pytest.raises(UsageError, match=r"takes|no back end 'n'"):
            pipe([1], **wrong)
    for compare in ("numpy", ["numpy", "simd"], ("simd",)):
        assert pipe([1, 2], compare=compare, show=["llvm"]).map(lambda x: x + 1).sum() == 5


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"int_mode": "x"}, "int_mode has no mode 'x'; there are exact, checked, wrap"),
        ({"threads": -3}, "threads takes zero or more, not -3"),
        ({"repeat": 0}, "repeat takes one or more, not 0"),
        ({"show": "lvm"}, "there is no section 'lvm': did you mean llvm?"),
        ({"show": ["asm", "nope"]}, f"there is no section 'nope'; there are {', '.join(SECTIONS)}"),
        ({"device_memory": -1}, "device_memory takes zero or more, not -1"),
        ({"width": True}, "width takes a whole number, not True"),
        ({"fuse": "no"}, "fuse takes True or False, not 'no'"),
        ({"fast_math": None}, "fast_math takes True or False, not None"),
        ({"width": 3}, "width takes a power of two from 1 to 64, not 3"),
    ],
)
def test_options_are_called_by_their_keywords(wrong, words):
    with pytest.raises(UsageError) as caught:
        pipe([1], **wrong)
    assert str(caught.value) == words


def test_wrong_names_and_arguments_say_what_is_right():
    with pytest.raises(AttributeError, match=r"no stage 'flter': did you mean filter\?"):
        pipe([1]).flter(None)
    with pytest.raises(TypeError, match=r"map needs 'f': map\(f\)"):
        pipe([1]).map()


@pytest.mark.parametrize(
    ("name", "near"),
    [("avg", "mean"), ("fold", "reduce(f, init)"), ("takeWhile", "take_while"), ("count_if", "filter(f).count"),
     ("explian", "explain")],
)  # fmt: skip
def test_names_that_stages_have_elsewhere(name, near):
    with pytest.raises(AttributeError, match=re.escape(f"no stage {name!r}: did you mean {near}?")):
        getattr(pipe([1]), name)


@pytest.mark.parametrize(
    ("run", "kind", "note"),
    [
        (lambda xs: xs.map(3).sum(), TypeError, "`map` takes a function: write `map(lambda x: ...)`"),
        (
            lambda xs: xs.filter(_even).map(3).run(),
            TypeError,
            "`map` takes a function: write `map(lambda x: ...)`",
        ),
        (
            lambda xs: xs.reduce(3),
            TypeError,
            "`reduce` takes a function: write `reduce(lambda total, x: ...)`",
        ),
        (
            lambda xs: xs.max(key=3),
            TypeError,
            "`max` takes a function as key: write `max(key=lambda x: ...)`",
        ),
        (lambda xs: xs.astype("int3").run(), TypeError, "did you mean 'int32'?"),
        (lambda xs: xs.take(-1).run(), ValueError, "at the end it is `reverse().take(1)`"),
        (lambda xs: xs.drop(-2).run(), ValueError, "at the end it is `reverse().drop(2).reverse()`"),
        (
            lambda xs: xs.dot(3),
            TypeError,
            "to multiply all elements by one number, write `map(lambda x: x * ...).sum()`",
        ),
    ],
)
def test_what_a_stage_cannot_take_comes_with_what_it_can(run, kind, note):
    for xs in ([1, 2, 3], np.arange(3)):
        with pytest.raises(kind) as caught:
            run(pipe(xs))
        assert caught.value.__notes__[-1] == f"hastega: {note}"


def _even(x):
    return x % 2 == 0


def test_what_a_function_raises_is_no_advice():
    with pytest.raises(TypeError) as caught:
        pipe(["a"]).map(lambda x: x + 1).run()
    assert [note.split(",")[0] for note in caught.value.__notes__] == ["hastega: element 0"]


def test_no_notebook_is_needed():
    program = "from hastega_magic import pipe\nimport sys\nprint(pipe(range(5)).map(lambda x: x * x).sum())\n"
    program += "print('IPython' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    # `-c` has no text that functions could be found in: Python runs the stage, and says nothing.
    assert ran.stdout.split() == ["30", "False"]


def test_tap_calls_its_function_once_with_the_whole_value_and_says_so():
    seen = []
    assert pipe([1, 2, 3]).map(lambda x: x + 1).tap(seen.append).sum() == 9
    assert [each.tolist() for each in seen] == [[2, 3, 4]]
    assert "called once, with all elements so far" in type(pipe([])).tap.__doc__


def test_a_pipe_that_is_made_anew_at_the_same_place_is_not_read_again(monkeypatch):
    first, read = Repeated._first, []

    def noted(turns, source, displays):
        read.append(source)
        return first(turns, source, displays)

    monkeypatch.setattr(Repeated, "_first", noted)

    def total(xs, k):
        return pipe(xs).map(lambda x: x * k).sum()

    xs = np.arange(5000.0)
    for _ in range(5):
        assert total(xs, 3.0) == 3.0 * xs.sum()
    assert len(read) == 1
    assert [total(xs, k) for k in (1.5, 2.5, 4.0, 8.0)] == [k * xs.sum() for k in (1.5, 2.5, 4.0, 8.0)]
    assert len(read) <= 3
    assert total([1, 2], 3) == 9
    assert total(range(4), 2) == 12
    made = [pipe(np.arange(number)).map(lambda x: x + 1) for number in (3000, 4000)]
    assert [len(each.run()) for each in made] == [3000, 4000]
    assert "ran 2 times; the figures are those of its first run" in str(made[1].explain().to_dict())
    assert total(xs[:3], 1.0) == 3.0


def test_each_pipe_of_a_place_tells_of_its_own_last_run():
    made = [pipe(xs).map(lambda x: x + 1) for xs in (np.arange(3000), np.arange(3000.0))]
    for each in made:
        each.run()
    fused = [each.explain().to_dict()["pipelines"][0]["code"]["fused"] for each in made]
    assert ["float" in text for text in fused] == [False, True]


def test_pipes_of_other_functions_or_options_are_others():
    def run(f, **options):
        return pipe([3, 1, 2], **options).map(f).to_list()

    assert [run(f) for f in (lambda x: x + 1, lambda x: x * 2, abs)] == [[4, 2, 3], [6, 2, 4], [3, 1, 2]]
    with pytest.warns(IntegerOverflowWarning):
        assert run(lambda x: x * 2**62) == [3 * 2**62, 2**62, 2**63]
    assert run(lambda x: x * 2**62, int_mode="wrap") == [-(2**62), 2**62, -(2**63)]


def test_errors_name_no_line_of_a_cell():
    def four(x):
        return x * 4

    with pytest.raises(OverflowError) as beyond:
        pipe([2**61, 3], int_mode="checked").map(four).map(four).sum()
    assert "in `map(four)` (stage 1): element 0" in str(beyond.value)
    with pytest.raises(ZeroDivisionError) as zero:
        pipe([1, 2, 0]).map(lambda x: x + 1).map(lambda x: 1 // (x - 1)).sum()
    (note,) = zero.value.__notes__
    assert note.endswith("in `map(lambda x: 1 // (x - 1))`, which was given 1")


def test_options_may_be_numbers_of_numpys():
    chosen = {"on": "simd", "threads": np.int64(2), "width": np.int8(4), "fuse": np.bool_(False)}
    assert pipe([1, 2], **chosen).map(lambda x: x + 1).sum() == 5
