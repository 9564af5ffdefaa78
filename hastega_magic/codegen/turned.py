"""What a loop inside the body leaves, in any language."""

from __future__ import annotations

from hastega_magic.records import dataclass


@dataclass
class Turned:
    """A loop's outcome by vector in flight: lanes in which Python is needed, and parts of the state by number."""

    trouble: list[str]
    state: dict[int, list[str]]
