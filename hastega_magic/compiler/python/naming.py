"""Stages and values as the sentences of exceptions name them."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence

from hastega_magic.errors import Span
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.pipeline import Pipeline
from hastega_magic.report.escape import quoted
from hastega_magic.syntax.site import StageSite

BEYOND = "an integer that no int64 holds in "
"""What begins the sentence of an integer that has left 64 bits; a stage follows."""

_LONGEST = 80
"""Characters of a value that are shown as they are."""


def short(value: int) -> str:
    """An int of any size in a sentence."""
    text = str(value) if value.bit_length() < 400 else ""
    return text if text and len(text) <= 40 else f"a number of {value.bit_length()} bits"


def shown(value: object) -> str:
    """What the value is, in a sentence: on one line."""
    if type(value) is int:
        return short(value)
    try:
        text = repr(value)
        text = text if len(text) <= _LONGEST else reprlib.repr(value)
        return " ".join(text.split()) if "\n" in text else text  # those of rows and Series have several lines
    except Exception as error:  # as of a tuple with an int of thousands of digits
        reraise_signal(error)
        return f"a {type(value).__name__}"


def which(element: str, value: object) -> str:
    """An element and its value, in a sentence: "element 2 of xs, which is 0"."""
    return f"{element}, which is {shown(value)}"


def placed(text: str, span: Span, stages: Iterable[StageSite]) -> str:
    """A stage among those of its statement: "`map(f)` (cell line 2)", with its column if the line has two such."""
    name = quoted(text)
    if not span.line:
        return name
    alike = sum(quoted(each.text) == name and each.span.line == span.line for each in stages)
    column = f", column {span.col + 1}" if alike > 1 else ""
    return f"{name} (cell line {span.line}{column})"


def named(text: str, span: Span, stages: Sequence[StageSite]) -> str:
    """The same in few words: its place is told only if the statement has another stage of this text."""
    name = quoted(text)
    return placed(text, span, stages) if sum(quoted(each.text) == name for each in stages) > 1 else name


def origin(pipeline: Pipeline, stages: Iterable[StageSite]) -> str:
    """What gives a loop its elements: the source, or the stage before it."""
    before = next((each.text for each in stages if each.span == pipeline.source_span), None)
    return pipeline.source.name if before is None else f"what {quoted(before)} gives"


__all__ = ["BEYOND", "named", "origin", "placed", "short", "shown", "which"]
