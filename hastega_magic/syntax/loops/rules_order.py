"""How stages join a loop that ask which elements there are, or for several at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, flatten, make, postorder, structure
from hastega_magic.ir.pipeline import Stage
from hastega_magic.syntax.functions.lower import lower
from hastega_magic.syntax.loops.loop import Cut, Loop, count, ends, positive
from hastega_magic.syntax.site import StageSite

WIDEST = 64
"""Elements of a window or chunk that are handled side by side."""


def take(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """The first elements."""
    number = count("take", given["n"])
    loop.needs_position()
    loop.view, loop.taken = loop.view.at_most(number), True


def drop(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """All but the first elements."""
    number = count("drop", given["n"])
    loop.needs_position()
    if loop.fallible and number:
        raise Cut  # Python evaluates the dropped elements too, and may raise there
    loop.drop(number)


def step(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """Every n-th element."""
    number = positive("step", given["n"])
    loop.needs_position()
    if loop.fallible and number > 1:
        raise Cut
    if number > 1:
        loop.every(number)


def reverse(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """The last element first."""
    loop.needs_position()
    if loop.fallible:
        raise Cut  # the first element that raises is the first of the source
    loop.turn()


def take_while(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """A first loop finds the first element that fails; the loop ends before it."""
    found = _first_failing(loop, site, given["f"])
    if found is not None:
        loop.view = loop.view.at_most(found)


def drop_while(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """The same; the loop begins with it."""
    found = _first_failing(loop, site, given["f"])
    if found is None and loop.view.open:
        loop.view = loop.view.at_most(0)
    else:
        loop.drop(loop.length() if found is None else found)


def _first_failing(loop: Loop, site: StageSite, function: Any) -> int | None:
    """The number of the first element that there is and for which the function does not hold."""
    fn = lower(bool if function is None else function, loop.element, loop.env, predicate=True)
    fails = replace(fn, result=make("not", cast(Expr, fn.result)))
    stages = (Stage("filter", site.text, site.span, fails), Stage("index", site.text, site.span))
    found = loop.asked(stages, "first_index", early=True)
    loop.fallible = loop.fallible or bool(fn.effects)
    return cast("int | None", found)


# Neighbours


def window(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """Neighbours, side by side."""
    size = positive("window", given["n"])
    loop.needs_position()
    _neighbours(loop, site, size)
    loop.view = loop.view.windows(size)


def chunk(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """Neighbours, each in one tuple; what is left at the end is Python's."""
    size = positive("chunk", given["n"])
    loop.needs_position()
    loop.most()
    if loop.view.open and loop.view.count != loop.whole.count:
        raise Cut  # elements that are left out are not in the last, shorter chunk
    chunks, rest = loop.view.chunks(size)
    if rest and any(stage.kind in ("zip", "enumerate", "window") for stage in loop.stages):
        raise Cut
    if any(stage.kind == "enumerate" for stage in loop.stages):
        raise Cut
    _neighbours(loop, site, size)
    loop.view, loop.tail = chunks, rest


def _neighbours(loop: Loop, site: StageSite, size: int) -> None:
    """An element becomes a tuple of those from it on."""
    if size > WIDEST:
        more = f"{WIDEST} are compiled, and more where `map` follows"
        raise NotCompilable(f"`{site.name}` of {size} elements is left to Python: {more}")
    if loop.view.open and loop.fallible:
        raise Cut
    if loop.most() < size and loop.fallible:
        raise NotCompilable("Python evaluates elements of which there are too few")
    nodes = [
        node for stage in loop.stages if stage.fn is not None for node in postorder(flatten(stage.fn.result))
    ]
    if len([node for node in nodes if node.args]) * size > _AGAIN:
        raise Cut  # computing each neighbour again would cost more than to keep them
    stage = Stage("window", site.text, site.span, number=size, stride=loop.view.step)
    loop.bespoke = True
    loop.add(stage, (structure(loop.element),) * size)


_AGAIN = 96
"""Operations in all neighbours."""


def first(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """The first element alone; behind a filter, a first loop finds its number."""
    if loop.tail:
        raise Cut
    if not loop.filtered:
        loop.view = loop.view.at_most(1)
        loop.bespoke = True
    else:
        index = (Stage("index", site.text, site.span),)
        only(loop, loop.asked(index, "first_index", early=True))
    ends(loop, site, "first")


def last(loop: Loop, site: StageSite, given: Mapping[str, Any]) -> None:
    """The last element alone."""
    if loop.tail:
        raise Cut
    if loop.filtered or loop.fallible:
        index = (Stage("index", site.text, site.span),)
        only(loop, loop.asked(index, "last_index"))
    else:
        only(loop, loop.length() - 1)
        loop.bespoke = True
    ends(loop, site, "last")


def only(loop: Loop, number: object) -> None:
    """The element of this number, or none where there is no number."""
    if not isinstance(number, int) or number < 0:
        loop.view = loop.view.at_most(0)
        return
    loop.drop(number)
    loop.view = loop.view.at_most(1)
