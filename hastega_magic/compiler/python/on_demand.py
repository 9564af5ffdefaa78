"""A statement of which a loop does not give all elements, while the stages behind it may not ask for all.

    xs |> map(lambda x: 1 // x) |> filter(noted) |> first              `noted` may hold before there is a 0
    xs |> cumsum |> take_while(lambda total: total < 100)              later sums may leave 64 bits, or fill the memory

Python takes one element after the other, as far as they are asked for. What `--int checked` raises, and what is warned
of, is about these: running values are looked at as they go by, and where each fits, the loop runs again over as many
of the source as they took, for what is on the way to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hastega_magic.compiler import scan_values
from hastega_magic.compiler.execute import Unasked
from hastega_magic.compiler.python.barriers import may_end_early
from hastega_magic.compiler.python.elements import of_check
from hastega_magic.compiler.python.empty import like
from hastega_magic.compiler.python.first_error import first_elements, raise_first
from hastega_magic.compiler.python.lockstep import one_by_one
from hastega_magic.compiler.run import run_loops
from hastega_magic.errors import BeyondInt64, StrictError, WideConstant
from hastega_magic.frames import reraise_signal
from hastega_magic.interval import INT64_MAX, INT64_MIN
from hastega_magic.report.escape import quoted
from hastega_magic.runtime.buffers import is_no_room
from hastega_magic.runtime.python_calls import elements
from hastega_magic.runtime.python_stages import Counted
from hastega_magic.syntax.loops.build import BoundStage

if TYPE_CHECKING:
    from hastega_magic.compiler.driver import Driver
    from hastega_magic.compiler.statement_run import StatementRun


def as_asked(driver: Driver, run: StatementRun, error: Exception, stages: Sequence[BoundStage]) -> object:
    """The statement's value, or the error where that is the answer. `stages`: the loop's, as Python is to run them."""
    early = may_end_early(run.rest)
    if early and (isinstance(error, Unasked) or of_check(error)):
        return _looked_at(driver, run, [*stages, *run.rest[len(stages) :]], len(stages))
    if driver.options.int_mode == "checked" and not early and _gives_running_values(stages, len(stages)):
        raise_first(driver, run, run.value)
    # What wraps around raises for other elements than Python's integers, which are no answer where all are asked for.
    if of_check(error) or (driver.options.int_mode == "wrap" and not early):
        raise error
    what = "an element raised"
    if is_no_room(error):
        if not early:  # all elements are asked for
            raise error
        what = "the memory does not hold all elements"
    why = f"{what}, which the stages behind may never reach: Python takes one after the other"
    try:
        return driver.left.lazily(run.bound, run.given, run.rest, why)
    except Exception as again:
        if type(again) is not type(error) or again.args != error.args:
            raise
    raise error  # it has the notes


def beyond(
    driver: Driver, run: StatementRun, error: BeyondInt64, stages: Sequence[BoundStage], compiled: bool
) -> None:
    """Go on by Python where a source holds integers, or there are constants, that 64 bits do not. `stages`: as above.

    `--int checked` raises for those of a source that are asked for. `compiled`: as in `UncompiledStages.beyond`.
    """
    options = driver.options
    if driver.tentative:
        raise StrictError(f"{quoted(run.bound.site.source_text)} is not compiled: {error}") from error
    if options.int_mode == "checked" and not options.strict and may_end_early(run.rest):
        found = _looked_at(driver, run, [*stages, *run.rest[len(stages) :]], len(stages))
        run.goes_on(found, [], of_python=True)
    else:
        driver.left.beyond(run, stages, str(error), compiled)


def _looked_at(driver: Driver, run: StatementRun, stages: Sequence[BoundStage], count: int) -> object:
    """What Python computes, and a look at the elements that it took. `count`: of the stages that the loop has."""
    value, asked = run.value, Counted(elements(run.given))
    mode = driver.options.int_mode
    seen = _Seen(count, asked) if mode != "wrap" and _gives_running_values(stages, count) else None
    why = "an integer may be beyond 64 bits that the stages behind never reach: Python takes one after the other"
    found: object = None
    failed: Exception | None = None
    try:
        found = driver.left.lazily(run.bound, asked, stages, why, seen)
    except Exception as error:
        reraise_signal(error)
        failed = error
    try:
        if mode == "checked" and seen is not None:
            raise_first(
                driver, run, first_elements(value, asked.count if seen.before is None else seen.before)
            )
        if seen is None or seen.beyond is None or failed is not None:
            _look(driver, run, first_elements(value, asked.count), run.rest)
        elif count == 1 or not _look(driver, run, first_elements(value, asked.count), run.rest[: count - 1]):
            _tell(driver, run, scan_values.beyond_told(stages[count - 1].site.text, seen.beyond, mode))
        if failed is not None:
            raise failed
    finally:
        del failed  # its traceback leads back to this frame
    return like(found, value, stages)


def _gives_running_values(stages: Sequence[BoundStage], count: int) -> bool:
    """Whether so many stages give running values, which those behind take one by one."""
    running_one = count > 0 and stages[count - 1].site.name in ("scan", "cumsum")
    return running_one and all(map(one_by_one, stages[: count + 1]))


def _tell(driver: Driver, run: StatementRun, text: str) -> None:
    if driver.options.on != "numpy":  # which tells of no running values
        driver.trace.add("warning", text=text)
        driver.warned(text, run.bound)


def _look(driver: Driver, run: StatementRun, first: object, stages: Sequence[BoundStage]) -> bool:
    """Raise and warn as a loop over the first elements does, of what they need beyond 64 bits; whether it warned."""
    execution, too_large = None, ""
    try:
        loop, _, workspace = driver.longest(run.bound, first, stages, run.bound.varying)
        if loop is None:
            return False
        if driver.options.on == "numpy":
            driver.left.by_numpy(run.bound, loop, workspace, first)
            return False
        try:
            execution = run_loops([loop], workspace, driver.options, driver.trace)
        except WideConstant as error:
            if driver.options.int_mode != "checked":
                return False
            too_large = str(error)
        if execution is None:
            driver.left.checked(loop, workspace, too_large)
            return False
    except BeyondInt64 as error:
        too_large = str(error)
    except Exception as error:  # Python has its own to say of everything else
        reraise_signal(error)
        if of_check(error):
            raise
        return False
    if execution is None:
        if driver.options.int_mode == "checked":
            raise OverflowError(too_large)
        return False
    for text in execution.warnings:
        driver.trace.add("warning", text=text)
    driver.warn(execution, run.bound)
    return bool(execution.warnings)


class _Seen:
    """What sees running values go by, and keeps the first that no int64 holds: no loop has to look for it.

    before  how many elements of the source had been asked for before the one that led to it
    """

    def __init__(self, count: int, asked: Counted) -> None:
        """`count`: of the stages that give them."""
        self.count, self._asked = count, asked
        self.beyond: int | None = None
        self.before: int | None = None

    def __call__(self, values: Iterator[object]) -> Iterator[object]:
        for value in values:
            if (type(value) is not int or not INT64_MIN <= value <= INT64_MAX) and self.beyond is None:
                self.beyond = scan_values.beyond_int64(value)
                self.before = None if self.beyond is None else self._asked.count - 1
            yield value


__all__ = ["as_asked", "beyond"]
