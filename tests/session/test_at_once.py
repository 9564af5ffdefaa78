"""Cells of one namespace that run at once, in threads or where they await something: each is computed as if alone."""

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from hastega_magic.compiler.fastpath.hooks import Hooks, Running
from hastega_magic.session import Options, Session

QUIET = Options(quiet=True, baseline=False)


@pytest.fixture(autouse=True)
def often() -> Iterator[None]:
    """Threads take turns far more often than they would."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def length(k: int) -> int:
    return 500 * (k + 1)


CELLS: list[tuple[str, Callable[[int], object]]] = [
    (
        "r{n}_{k} = x{k} |> map(lambda v: v * 3 + {k}) |> sum",
        lambda k: sum(v * 3 + k for v in range(length(k))),
    ),
    (
        "r{n}_{k} = x{k} |> filter(lambda v: v % {k} == 0) |> to_list\ns{k} = x{k} |> sum",
        lambda k: [v for v in range(length(k)) if v % k == 0],
    ),
    (
        "r{n}_{k} = [v * 2 for v in x{k} if v % 3 == 1]",
        lambda k: [v * 2 for v in range(length(k)) if v % 3 == 1],
    ),
    ("r{n}_{k} = (x{k} |> count) + (x{k} |> map(_ + {k}) |> max)", lambda k: 2 * length(k) - 1 + k),
    (
        "def f{k}(w):\n    return w |> map(lambda v: v + {k}) |> sum\nr{n}_{k} = f{k}(x{k}) + (x{k} |> count)",
        lambda k: sum(v + k + 1 for v in range(length(k))),
    ),
    ("r{n}_{k} = f{k}(x{k})", lambda k: sum(v + k for v in range(length(k)))),
]


def together(work: Callable[[int], None], numbers: list[int]) -> None:
    """Do the work for each number in a thread of its own; raises what any of them raised."""
    raised: list[BaseException] = []

    def one(k: int) -> None:
        try:
            work(k)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=one, args=(k,)) for k in numbers]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if raised:
        raise raised[0]


@pytest.mark.parametrize("numbers", [[1, 2, 3, 4], [2, 2, 2, 2]], ids=["others", "the same"])
def test_in_threads(numbers: list[int]) -> None:
    session = Session({f"x{k}": np.arange(length(k)) for k in numbers})

    def work(k: int) -> None:
        for _ in range(5):
            for n, (text, wanted) in enumerate(CELLS):
                for options in (QUIET, Options()):
                    cell = text.format(k=k, n=n)
                    result = session.run_cell(cell, options=options)
                    assert session.namespace[f"r{n}_{k}"] == wanted(k), cell
                    assert result.report.cell.source == cell, "each has its own report"

    together(work, numbers)
    session.run_cell(f"r = f{numbers[0]}(x{numbers[0]})", options=QUIET)
    assert session.namespace["r"] == CELLS[-1][1](numbers[0])


def test_nothing_of_ours_stays_in_the_namespace() -> None:
    session = Session({f"x{k}": np.arange(length(k)) for k in (1, 2, 3)} | {"__hastega_bind__": "mine"})

    def work(k: int) -> None:
        for text, _ in CELLS[:3]:
            for _ in range(5):
                session.run_cell(text.format(k=k, n=0), options=QUIET)

    together(work, [1, 2, 3])
    assert {name: each for name, each in session.namespace.items() if name.startswith("__hastega")} == {
        "__hastega_bind__": "mine"
    }


def test_one_that_is_over_before_another_begins_and_told_so_after_it_has_ended_takes_nothing_away() -> None:
    hooks, namespace = Hooks(), {"__hastega_bind__": "mine"}
    first, second = Running(), Running()
    hooks.begin(namespace, first)
    first.over = True
    hooks.begin(namespace, second)
    second.over = True
    hooks.end(namespace, second)
    hooks.end(namespace, first)
    assert namespace == {"__hastega_bind__": "mine"}


def test_where_they_await_something() -> None:
    session = Session({"x": np.arange(100), "asyncio": asyncio})
    first = "a = x |> sum\nawait asyncio.sleep(0.05)\nb = (x |> map(_ + 1) |> sum) + 1\nc = x |> max"
    second = "d = (x |> count) + 1\nawait asyncio.sleep(0.01)\ne = x |> min"

    async def both() -> None:
        await asyncio.gather(*(session.run_cell_async(text, options=QUIET) for text in (first, second)))

    asyncio.run(both())
    found = [session.namespace[name] for name in "abcde"]
    assert found == [4950, 5051, 99, 101, 0]


def test_one_that_fails_leaves_the_others_alone() -> None:
    session = Session({"x": np.arange(1000)})

    def work(k: int) -> None:
        for _ in range(20):
            if k == 0:
                with pytest.raises(ZeroDivisionError) as caught:
                    session.run_cell("y = x |> map(lambda v: 1 // v) |> sum", options=QUIET)
                assert "element 0" in "".join(caught.value.__notes__)
            else:
                result = session.run_cell(
                    f"z{k} = (x |> filter(lambda v: v > {k}) |> sum) + 1", options=QUIET
                )
                assert result.failed_at is None
                assert session.namespace[f"z{k}"] == sum(range(k + 1, 1000)) + 1

    together(work, [0, 1, 2])


def test_a_cell_that_runs_another() -> None:
    session = Session({"x": np.arange(1000)})
    session.namespace["inner"] = lambda: session.run_cell("b = (x |> sum) + 1", options=QUIET)
    session.run_cell("a = x |> sum\ninner()\nc = x |> max\nd = (x |> min) + 2", options=QUIET)
    assert [session.namespace[name] for name in "abcd"] == [499500, 499501, 999, 2]
    assert "__hastega_bind__" not in session.namespace
