"""A step of a checked product of integers, in any language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.ir.kernel import Product


class _Writer(Protocol):
    place: int


class _Body(Protocol):
    values: dict[Expr, list[str]]
    places: Mapping[Expr, int]

    @property
    def writer(self) -> _Writer: ...

    def emit(self, roots: list[Expr], /) -> None: ...

    def __getitem__(self, node: Expr, /) -> list[str]: ...


def times(body: _Body, step: Product | None, state: Sequence[str], factor: str) -> tuple[list[str], str]:
    """A product, in two words, times an int64, and the lanes in which it may be none that 128 bits hold.

    `body` has as many lanes as the vectors that are named, and forgets what it has emitted before.
    """
    assert step is not None
    names = zip((step.low, step.excess, step.factor), (*state, factor), strict=True)
    roots, place = step.roots(), body.writer.place
    body.values = {leaf: [name] for leaf, name in names}
    body.places = dict.fromkeys(postorder(roots), place)
    body.emit(roots)
    body.writer.place = place
    low, excess, trouble = (body[node][0] for node in roots)
    return [low, excess], trouble


__all__ = ["times"]
