"""The course of a cell that may await something: a generator, gone through with an event loop or without."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Generator
from types import CodeType
from typing import Any

Course = Generator[Awaitable[object], object, None]
"""Hands out what the cell awaits, and is sent what became of it."""


def evaluated(code: CodeType, namespace: dict[str, Any]) -> Generator[Awaitable[object], object, object]:
    """What code gives; awaited where it was compiled to be."""
    found: Any = eval(code, namespace)
    return (yield found) if code.co_flags & inspect.CO_COROUTINE else found


def gone_through(course: Course) -> None:
    """Go through a course that awaits nothing."""
    for _ in course:
        raise AssertionError("the cell was compiled to await nothing")


async def awaited(course: Course) -> None:
    """Go through a course, and await what it asks for."""
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


__all__ = ["Course", "awaited", "evaluated", "gone_through"]
