"""Expressions that nest deeply."""

import sys
import threading

import pytest

from hastega_magic.compiler import loops
from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.session import Options, Session
from hastega_magic.syntax.reading.depth import with_deeper_stack


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n = range(4) |> sum\n" + " + ".join(["n"] * 2800), 6 * 2800),
        ("range(4) |> map(lambda x: " + " + ".join(["x"] * 2800) + ") |> sum", 6 * 2800),
        ("n = range(4) |> sum\nn" + ".real" * 2800, 6),
        ("n = range(4) |> sum\n" + " if n else ".join(["n"] * 2800), 6),
    ],
    ids=["terms", "terms of a function", "attributes", "choices"],
)
def test_expressions_nest_as_deeply_as_python_lets_them(text, expected):
    assert Session({}, Options(baseline=False)).run_cell(text).value == expected


def left_to_python(found):
    """Whether a function is: a sum of what it gives is a loop all the same."""
    return bool(found.report.pipelines[0].barriers)


def test_functions_of_many_terms_are_compiled():
    text = "range(4) |> map(lambda x: " + " + ".join(f"x * {k}" for k in range(400)) + ") |> sum"
    found = Session({}, Options(on="simd", baseline=False, quiet=True)).run_cell(text)
    assert found.value == 6 * sum(range(400))
    assert not left_to_python(found)


def test_what_is_too_deep_for_the_compiler_is_analysed_once(monkeypatch):
    analysed, usual, limit = [], loops._analyse, sys.getrecursionlimit()
    monkeypatch.setattr(loops, "_analyse", lambda *args: analysed.append(1) or usual(*args))
    text = "[0, 1, 2, 3] |> map(lambda x: " + " + ".join(f"x * {k}" for k in range(2, 622)) + ") |> to_list"

    def deep(calls):
        if calls:
            return deep(calls - 1)
        before = len(analysed)
        found = Session({}, Options(on="simd", baseline=False, quiet=True)).run_cell(text)
        assert found.value == [x * sum(range(2, 622)) for x in range(4)]
        return left_to_python(found), len(analysed) > before

    assert [deep(calls) for calls in (150, 150, 200)] == [(True, True), (True, False), (True, False)]
    assert [deep(calls) for calls in (0, 0)] == [(True, True), (True, False)]
    sys.setrecursionlimit(limit + 2000)  # what has failed may succeed where there is more room
    try:
        assert deep(0) == (False, True)
    finally:
        sys.setrecursionlimit(limit)


def test_threads_share_the_room_for_calls():
    limit, inside, left, found = sys.getrecursionlimit(), threading.Barrier(2), threading.Event(), []

    def calls(count):
        return 1 + calls(count - 1) if count else 0

    def needing(behind):
        tries = iter([True])

        def read():
            if next(tries, False):
                raise RecursionError
            inside.wait(10)
            return behind()

        found.append(with_deeper_stack(read))
        left.set()

    def after_the_other():
        left.wait(10)
        return calls(2000)

    threads = [threading.Thread(target=needing, args=(each,)) for each in (int, after_the_other)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [0, 2000]
    assert sys.getrecursionlimit() == limit


def test_sentences_do_not_hold_all_of_a_long_stage():
    session = Session({"seen": []}, Options(baseline=False, strict=False))
    terms = " + ".join(f"x * {k}" for k in range(60))
    with pytest.warns(IntegerOverflowWarning) as warned:
        report = session.run_cell(f"y = [2**60, 1] |> map(lambda x: {terms}) |> tap(seen.append)").report
    with pytest.raises(ZeroDivisionError) as raised:
        session.run_cell(f"[1, 0] |> map(lambda x: {terms} + 1 // x) |> sum")
    slow = f"time.sleep(0.002) or {terms}"
    told = (
        session.run_cell(f"import time\n[1, 0] |> map(lambda x: {slow}) |> tap(len)").report.pipelines[0].why
    )
    assert any(each.startswith("Python took") for each in told)
    said = [str(warned[0].message), *report.pipelines[0].why, *told, *raised.value.__notes__[:1]]
    assert max(map(len, said)) < 400


@pytest.mark.parametrize("element", ["len(xs)", "[*xs][0]", "xs[1][1][0] + x", "named['d']['a'] + x"])
@pytest.mark.parametrize("turns", [1, 4])
def test_lists_and_dicts_that_contain_themselves(element, turns):
    xs, named = [1], {"a": 5}
    xs.append(xs)
    named["d"] = named
    expected = [eval(element, {"xs": xs, "x": x, "named": named}) for x in (1, 2, 3)]
    session = Session({"xs": xs, "named": named}, Options(on="simd", baseline=False, quiet=True))
    session.run_cell(f"for k in range({turns}):\n    out = [1, 2, 3] |> map(lambda x: {element}) |> to_list")
    assert session.namespace["out"] == expected


def test_a_list_may_begin_to_contain_itself():
    session = Session({"xs": [1, 2]}, Options(on="simd", baseline=False, quiet=True))
    session.run_cell(
        "found = []\nfor k in range(5):\n"
        "    found.append([7] |> map(lambda x: x + len(xs)) |> sum)\n    xs.append(xs)"
    )
    assert session.namespace["found"] == [9, 10, 11, 12, 13]
