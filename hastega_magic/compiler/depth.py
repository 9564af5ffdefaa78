"""Reading texts whose expressions nest very deeply: what is too deep for us is said in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hastega_magic.errors import CellSyntaxError, Span
from hastega_magic.syntax.reading.depth import with_deeper_stack

T = TypeVar("T")


def deeply(read: Callable[[], T], text: str, filename: str) -> T:
    """What `read` makes of a cell's text; CellSyntaxError with a sentence, in place of a recursion error."""
    try:
        return with_deeper_stack(read)
    except RecursionError:
        sentence = (
            "an expression of this cell nests too deeply; assign a part of the pipeline to a name first"
        )
        raise CellSyntaxError(sentence, text, Span(1, 0, 1, 1), filename) from None


__all__ = ["deeply"]
