"""The course of a cell that may await something: a generator, gone through with an event loop or without."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial
from types import CodeType, CoroutineType, coroutine
from typing import Any, TypeVar

T = TypeVar("T")

Course = Generator[Awaitable[object], object, None]
"""Hands out what the cell awaits, and is sent what became of it."""


class Stopped(Exception):
    """Carries a StopIteration of the cell through its course, a generator, which would make a RuntimeError of it."""

    def __init__(self, error: StopIteration) -> None:
        super().__init__(error)
        self.error = error


@contextmanager
def carried() -> Generator[None]:
    """Around what a course runs of the user's."""
    try:
        yield
    except StopIteration as error:
        raise Stopped(error) from None


def evaluated(code: CodeType, namespace: dict[str, Any]) -> Generator[Awaitable[object], object, object]:
    """What code gives; awaited where it was compiled to be."""
    with carried():
        found: Any = eval(code, namespace)
    return (yield found) if code.co_flags & inspect.CO_COROUTINE else found


def run_to_end(course: Course) -> None:
    """Go through a course that awaits nothing."""
    try:
        for _ in course:
            raise AssertionError("the cell was compiled to await nothing")
        return
    except Stopped as stopped:
        left = [stopped.error]
    raise left.pop()  # out here it keeps its own context, and no name holds it and with it this frame


async def awaited(course: Course) -> None:
    """Go through a course, and await what it asks for. A StopIteration is a RuntimeError, as in any coroutine."""
    try:
        asked = next(course)
        while True:
            try:
                found = await asked
            except BaseException as error:
                asked = course.throw(error)
            else:
                asked = course.send(found)
    except StopIteration:
        return
    except Stopped as stopped:
        left = [stopped.error]
    raise left.pop()


@coroutine
def stepped(
    cell: CoroutineType[Any, Any, T], run: Callable[[Callable[[], object]], object]
) -> Generator[Any, Any, T]:
    """What the cell gives. `run` calls its steps, each up to where it waits; what it raises is raised in the cell."""
    step: Callable[[], object] = partial(cell.send, None)
    while True:
        try:
            asked = run(step)
        except StopIteration as done:
            return done.value
        except BaseException as error:
            if cell.cr_frame is None:  # the cell has raised it
                raise
            step = partial(cell.throw, error)
            continue
        try:
            sent = yield asked
        except BaseException as error:
            step = partial(cell.throw, error)
        else:
            step = partial(cell.send, sent)


__all__ = ["Course", "awaited", "carried", "evaluated", "run_to_end", "stepped"]
