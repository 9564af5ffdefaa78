"""Code with several `for` clauses that went through few places lately: it is not tried over as short a first source.

How many places there are shows when all clauses have been looked at, which takes longer than Python does over few.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from hastega_magic.compiler.fastpath.places import FewPlaces
from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.parts import FEW_PLACES, too_few

_RUNS = 3
"""After so many runs over few places the next ones are expected to be such."""

_MOST = 64
"""One in so many of those is looked at all the same; at first one in eight."""

_SIZED = frozenset({range, list, tuple, bytes, bytearray})


@dataclass
class FewLately:
    """What runs so far have shown."""

    seen: int = 0
    """Runs over few places that were looked at, one after the other."""
    longest: int = 0
    """Elements of the longest first source in these runs."""
    skipped: int = 0
    """Runs since the last one that was looked at."""

    def again(self, first: object, few: int) -> str:
        """Why nothing is tried over this first source, as there are few places again; "" if it is to be looked at.

        `few`: how many are too few.
        """
        if self.seen < _RUNS or _length(first) > self.longest:
            return ""
        self.skipped += 1
        if self.skipped < min(1 << min(self.seen, 30), _MOST):
            return too_few(few)
        self.skipped = 0
        return ""

    @contextmanager
    def told(self, first: object) -> Generator[None]:
        """Meanwhile the places are looked at and, if there are many, gone through."""
        length = _length(first)
        try:
            yield
        except FewPlaces:
            self.seen += 1
            self.longest = max(self.longest, length)
            raise
        if length <= self.longest:
            self.seen = self.longest = 0


def _length(source: object) -> int:
    """How many elements there are; more than few where nobody can tell without being noticed."""
    if type(source) is range:
        return FEW_PLACES if source[FEW_PLACES:] else len(source)
    return len(source) if type(source) in _SIZED else FEW_PLACES  # pyright: ignore[reportArgumentType]


__all__ = ["FewLately"]
