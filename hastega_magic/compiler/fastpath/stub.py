"""A statement over few elements that has run often: its checks and its call, written out as one Python function.

What decides is the way through `RunGuards` and `SmallLoop`. A stub goes the common case of it, and leaves every other
to it: it only ever says that the loop fits where they say so, too. (After the inline caches of Deutsch and Schiffman,
Efficient Implementation of the Smalltalk-80 System, 1984.)
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import CodeType

from hastega_magic.compiler.fastpath.direct_result import DirectResult
from hastega_magic.compiler.fastpath.guards import Display, RunGuards
from hastega_magic.compiler.fastpath.reading import Given, Varying, Whole
from hastega_magic.compiler.fastpath.slots import DoesNotFit, Number, Slot, equal_ranges
from hastega_magic.compiler.fastpath.small_loop import NOTHING, Before, SmallLoop
from hastega_magic.runtime.cpu.direct import MOST
from hastega_magic.runtime.objects.lists import SHORT

USUAL = object()
"""What a stub gives where the usual way has to be gone."""

Stub = Callable[[object, Sequence[Display]], object]
"""From a source and the stages' arguments to the value, or `USUAL`; raises what an element raises."""


class _Text:
    """The function's text, and the objects that it names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, object] = {}

    def name(self, value: object) -> str:
        """A name for an object."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def add(self, depth: int, *lines: str) -> None:
        self.lines += ("    " * depth + line for line in lines)

    def unless(self, depth: int, *conditions: str) -> None:
        """Leave it to the usual way unless all of these hold."""
        if conditions:
            self.add(depth, f"if not ({' and '.join(conditions)}):", "    return USUAL")

    def made(self) -> Stub:
        # With the module's name, tracebacks know its frames as ours.
        names = {
            **self.names,
            "USUAL": USUAL,
            "DoesNotFit": DoesNotFit,
            "DirectResult": DirectResult,
            "__name__": __name__,
        }
        exec(_compiled("\n".join(self.lines)), names)
        return names["stub"]  # pyright: ignore[reportReturnType]


@lru_cache(256)
def _compiled(text: str) -> CodeType:
    """Addresses are named in the text, as all objects are: it is the same when the cell runs again."""
    return compile(text, "<hastega stub>", "exec", dont_inherit=True)


def stub(
    guards: RunGuards, small: SmallLoop, before: Sequence[Before], operands: Sequence[object]
) -> Stub | None:
    """A stub for sources of the types of these; None where it is of many elements, or stages have named arguments."""
    if guards.stretches or (guards.simple and guards.large) or any(names for _, _, names in guards.shape):
        return None
    text = _Text()
    text.add(0, "def stub(source, displays):")
    sources, arguments = _arguments(text, guards)
    text.unless(1, *guards.captured.conditions(arguments, text.name))
    for first, second in guards.twins:
        one, other = sources[first], sources[second]
        text.unless(1, f"({one} is {other} or {text.name(equal_ranges)}({one}, {other}))")
    kinds = {name: type(operand) for name, operand in zip(sources, operands, strict=True)}
    text.add(1, "try:", f"    sources, arguments = {_tuple(sources)}, {_tuple(arguments)}")
    _lengths(text, guards, kinds)
    _places(text, small, before)
    text.unless(2, f"{text.name(small.direct.lock.acquire)}(False)")
    text.add(2, "try:", "    alive = []")
    words = _words(text, small, kinds)
    for each in small.arrays:
        text.add(3, f"alive.append({text.name(each.enter)}({text.name(small.direct)}, arguments))")
    text.add(3, f"arrays = {text.name(small.direct.run)}({words}, length)")
    text.unless(3, "arrays is not None")
    left = f"DirectResult({text.name(small.direct)}, arrays, sources, displays, view, tail)"
    text.add(3, f"return {text.name(small.gather)}({left})")
    text.add(2, "finally:", f"    {text.name(small.direct.lock.release)}()")
    text.add(1, "except DoesNotFit:", "    return USUAL")
    return text.made()


def _tuple(items: Iterable[str]) -> str:
    return f"({''.join(f'{each}, ' for each in items)})"


def _arguments(text: _Text, guards: RunGuards) -> tuple[list[str], list[str]]:
    """Take apart what the stages are given: the variables of the sources, and of the other arguments."""
    operands, arguments, conditions, taken = ["source"], list[str](), list[str](), list[str]()
    stages = range(len(guards.shape))
    text.add(1, f"{''.join(f'(c{each}, a{each}, n{each}), ' for each in stages)}= displays")
    for stage, (zips, count, _) in enumerate(guards.shape):
        conditions.append(f"c{stage} is None and not n{stage} and len(a{stage}) == {count}")
        places, letter = (operands, "s") if zips else (arguments, "f")
        found = [f"{letter}{len(places) + each}" for each in range(count)]
        places += found
        if found:
            taken.append(f"{', '.join(found)}, = a{stage}")
    text.unless(1, *conditions)
    text.add(1, *taken)
    return operands, arguments


def _lengths(text: _Text, guards: RunGuards, kinds: Mapping[str, type]) -> None:
    """Look at the kinds of the sources, and find the number of elements."""
    names = list(kinds)
    for number, slot in enumerate(guards.slots):
        data = names[slot.operand]
        if slot.intake is None:
            text.add(2, f"length{number} = {text.name(slot.length)}({data})")
        else:
            kind, element = text.name(kinds[data]), text.name(slot.intake.type)
            text.unless(2, f"type({data}) is {kind} and (head := {data}[:1]) and type(head[0]) is {element}")
            text.add(2, f"length{number} = len({data})")
    text.add(2, "length = length0")
    for number in range(1, len(guards.slots)):
        if guards.even:
            text.unless(2, f"length{number} == length")
        else:
            text.add(2, f"if length{number} < length:", f"    length = length{number}")
    text.unless(2, "length")


def _places(text: _Text, small: SmallLoop, before: Sequence[Before]) -> None:
    """Run the loops that go before, and find out which elements are used."""
    known = text.name(NOTHING)
    if before:
        known = "known"
        text.add(2, "known = {}")
    for each in before:
        text.add(
            2,
            f"known[{each.stage}] = {text.name(each.small.run)}(sources, arguments, length, displays, known)",
        )
    if small.view_rule is None:
        text.add(2, "view, tail = None, 0")
    else:
        text.add(
            2,
            f"view, tail = {text.name(small.view_rule.at)}(sources, {known}, arguments)",
            "length = view.count",
        )
        text.unless(2, "tail" if small.tailed else "not tail")
    text.unless(2, f"length <= {MOST}")
    if not all(isinstance(each, (Whole, Varying)) for each in small.words):
        text.add(2, f"run = {text.name(Given)}(sources, arguments, length, view, {known}, [])")


def _words(text: _Text, small: SmallLoop, kinds: Mapping[str, type]) -> str:
    """Get the sources of the loop ready; their words."""
    words: list[str] = []
    for number, each in enumerate(small.words):
        if isinstance(each, Varying):
            words += _number(text, each.number)
        elif isinstance(each, Whole):
            words += _whole(text, each.slot, kinds)
        else:
            text.add(3, f"start{number}, step{number} = {text.name(each.given)}(run)")
            words += f"start{number}", f"step{number}"
    return _tuple(words)


def _whole(text: _Text, slot: Slot, kinds: Mapping[str, type]) -> tuple[str, str]:
    data = list(kinds)[slot.operand]
    name, given = text.name(slot.read), f"({data}, length, alive)"
    start, step = f"start{name}", f"step{name}"
    if slot.intake is None:
        text.add(3, f"{start}, {step} = {name}{given}")
        return start, step
    lines, condition = slot.intake.written(data, kinds[data], text.name)
    text.add(3, f"if length > {SHORT}:", f"    {start}, {step} = {name}{given}", "else:")
    text.add(4, *lines)
    text.unless(4, condition)
    text.add(4, f"{start}, {step} = {text.name(slot.intake.address)}, {slot.intake.size}")
    return start, step


def _number(text: _Text, number: Number) -> tuple[str, str]:
    """A captured number, in memory of the stub's own."""
    assert number.free is not None
    room = type(number.room)()
    text.add(3, f"number = {text.name(number.free.read)}(arguments)")
    conditions = [f"type(number) is {text.name(number.free.type)}"]
    if number.interval is not None:
        conditions.append(f"number in {text.name(number.interval)}")
    text.unless(3, *conditions)
    plain = number.interval is None or number.free.type is int
    taken = f"number.{number.part}" if number.part else "number"
    # Memory of C's takes no integer of NumPy's.
    given = taken if plain else f"{text.name(int)}(number)"
    text.add(3, f"{text.name(room)}.value = {given}")
    return text.name(ctypes.addressof(room)), "0"


__all__ = ["USUAL", "Stub", "stub"]
