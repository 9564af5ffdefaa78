"""What a signal's handler raises, as one that limits time does, comes out wherever it comes in: it comes once."""

from __future__ import annotations

import contextlib
import itertools
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from hastega_magic import hastega, pipe
from hastega_magic.compiler.fastpath import clauses as clauses_of
from hastega_magic.frames import reraise_signal, suppressed
from hastega_magic.session import Options, Session
from hastega_magic.syntax.stages import Stage

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers"),
    pytest.mark.usefixtures("signals_answered"),
]


class Late(Exception):
    pass


def stop(number: int, frame: object) -> None:
    raise Late


def anything(*given: object) -> None:
    stop(*given)  # type: ignore[arg-type]


class Limit:
    def __call__(self, number: int, frame: object) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        raise Late


HANDLERS = {"a function": stop, "of anything": anything, "an object": Limit(), "a part": partial(stop)}


@hastega
def total(n: int, k: int) -> int:
    return sum([x * k + n for x in range(n)])


@hastega
def clauses(n: int, k: int) -> int:
    return sum(x * y + k for x in range(60) for y in range(x + n))


def lazily(n: int, k: int) -> int:
    return pipe(range(n)).map(lambda x: x * k + n).sum()


def in_a_cell(n: int, k: int) -> int:
    session = Session({}, Options(baseline=False, quiet=True))
    session.run_cell(
        f"y = range({n}) |> map(lambda x: x * {k} + {n}) |> sum\nz = sum(x * {k} for x in range({n}))"
    )
    return session.namespace["y"]


def run_on(function: Callable[[int, int], int], numbers: Iterator[int], seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        function(next(numbers), 3)


@pytest.mark.filterwarnings(
    "ignore:unclosed file:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("function", [total, clauses, lazily, in_a_cell])
@pytest.mark.parametrize("handler", HANDLERS.values(), ids=HANDLERS)
def test_it_comes_out(handler: Any, function: Callable[[int, int], int]) -> None:
    before, numbers, lost = signal.getsignal(signal.SIGALRM), itertools.count(3000), 0
    run_on(function, numbers, 0.1)
    try:
        for number in range(8):
            signal.signal(signal.SIGALRM, handler)
            with contextlib.suppress(Late):  # a machine that pauses may be late before the function runs
                signal.setitimer(signal.ITIMER_REAL, 0.004 * (number + 1))
                run_on(function, numbers, 0.5)
                lost += 1
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert lost <= 1  # in a finaliser or an import Python swallows it
    assert total(5000, 3) == sum(x * 3 + 5000 for x in range(5000))


def test_what_elements_raise_does_not() -> None:
    def given_its_own(frame: object) -> None:
        raise Late

    for raising in (lambda: stop(14, None), lambda: 1 // 0, lambda: given_its_own(sys)):
        with suppressed():
            raising()
    try:
        total.__wrapped__("", 3)  # type: ignore[attr-defined]
    except TypeError as error:
        reraise_signal(error)


def test_functions_may_give_the_name_of_all_their_arguments_to_something_else() -> None:
    """As any function whose frame is looked at for a signal's number."""

    def first(*given: Any) -> int:
        given = given[0]
        return 10 // given  # type: ignore[operator, no-any-return]

    def endless(*given: Any) -> int:
        given = itertools.count()  # type: ignore[assignment]
        return 1 // (given is None)

    for function in (first, endless):
        session = Session({"function": function}, Options(baseline=False, quiet=True))
        with pytest.raises(ZeroDivisionError):
            session.run_cell("[2, 1, 0] |> map(function) |> sum")

    @hastega
    def total(numbers: list[int]) -> int:
        return sum([first(x) for x in numbers])

    with pytest.raises(ZeroDivisionError):
        total([2, 1, 0] * 100)


def test_what_it_raises_is_no_bound_that_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds of inner ranges may raise ValueError for elements that a condition leaves out."""

    class Stopped(ValueError):
        pass

    def handler(number: int, frame: object) -> None:
        raise Stopped

    def pairs(xs: range, n: int) -> int:
        return sum(x * y + n for x in xs for y in range(x + n))

    rung: list[int] = []
    ranges = clauses_of.__dict__["_ranges"]

    def ringing(function: Callable[..., Any], read: Any) -> Any:
        turns = itertools.count()

        def bounds(*given: int) -> Any:
            if next(turns) == 59 and not rung:
                rung.append(1)
                signal.raise_signal(signal.SIGALRM)
            return function(*given)

        return ranges(bounds, read)

    decorated = hastega(on="parallel")(pairs)
    decorated(range(60), 50)
    monkeypatch.setattr(clauses_of, "_ranges", ringing)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(Stopped):
            decorated(range(60), 51)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert rung
    assert decorated(range(60), 51) == pairs(range(60), 51)


def test_what_it_raises_is_not_of_the_element_that_python_computes() -> None:
    def handler(number: int, frame: object) -> None:
        raise ValueError("late")

    def asked(text: str) -> int:
        if text == "7":
            signal.raise_signal(signal.SIGALRM)
        return int(text)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(ValueError, match="late") as told:
            Session({"asked": asked}, Options(baseline=False, quiet=True)).run_cell(
                "[str(n) for n in range(9)] |> map(asked) |> sum"
            )
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not any("element" in each for each in getattr(told.value, "__notes__", ()))


@pytest.mark.parametrize("kind", [TypeError, ValueError, ArithmeticError, LookupError])
def test_what_it_raises_is_no_fault_of_a_stage(
    monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    def handler(number: int, frame: object) -> None:
        raise kind("late")

    rung: list[int] = []
    complaint = Stage.complaint

    def ringing(stage: Stage, *given: Any) -> str | None:
        if not rung:
            rung.append(1)
            signal.raise_signal(signal.SIGALRM)
        return complaint(stage, *given)

    @hastega(on="parallel")
    def doubled(xs: list[int]) -> list[int]:
        return [x * 2 for x in xs]

    monkeypatch.setattr(Stage, "complaint", ringing)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(kind, match="late"):
            doubled(list(range(3000)))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert rung
    assert doubled([1, 2] * 300) == [2, 4] * 300
