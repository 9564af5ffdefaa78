"""Looks at ordinary code before it is tried: often ones become native code, as Python is faster over few elements.

In a loop there is a look for each run, and over three elements Python takes no longer than a few calls.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from hastega_magic.compiler.fastpath import handoff
from hastega_magic.runtime.objects.look_words import MOST_PLACES, STATE
from hastega_magic.syntax.ordinary.parts import FEW, Ordinary

Look = Callable[..., bool]
"""Whether the code is to be tried, told of what it calls and goes through."""

Known = tuple[Ordinary, "array[int]", Look]
"""The code, the count of its runs over few elements that is not added to the others, and the look by Python."""

FIRST, LATER = 4096, 64
"""After so many looks at one piece of code that found nothing worth trying the native code is made; once there is some,
the next pieces take it after so many."""


class Looks(dict[int, Look]):
    """Looks by the number of their code, each made when it is first asked for.

    `known`: what is known of a piece of code; None where there is none, as in another process. `laying`: what they are
    told of is laid down, too.
    """

    def __init__(self, known: Callable[[int], Known | None], laying: bool = False) -> None:
        super().__init__()
        self._known, self._laying = known, laying

    def __missing__(self, number: int) -> Look:
        found = self._known(number)
        if found is None:
            return _laying(_never) if self._laying else _never
        look = self[number] = self._by_python(number, found)
        return look

    def _by_python(self, number: int, known: Known) -> Look:
        worth, vainly = known[2], 0

        def look(*given: object) -> bool:
            nonlocal vainly
            if worth(*given):
                return True
            vainly += 1
            if vainly in (LATER, FIRST):
                self._become_native(number, known, vainly)
            return False

        return _laying(look) if self._laying else look

    def _become_native(self, number: int, known: Known, vainly: int) -> None:
        code, few, worth = known
        # The words know one look by Python, which lives as long as the native one.
        if few[STATE] or code.nest is not None or code.depth or not code.asked:
            return
        found = handoff.native(make=vainly >= FIRST)
        if found is not None and len(code.asked) <= MOST_PLACES:
            self[number] = found.look(few, FEW, code.asked, worth, self._laying)


def _never(*given: object) -> bool:
    return False


def _laying(look: Look) -> Look:
    def laid(*given: Any) -> bool:
        found = look(*given)
        handoff.lay(given)
        return found

    return laid


__all__ = ["FIRST", "LATER", "Known", "Look", "Looks"]
