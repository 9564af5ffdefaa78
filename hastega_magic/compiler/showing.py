"""Which values of a cell are displayed."""

from __future__ import annotations

from collections.abc import Callable

from hastega_magic.records import dataclass


class Nothing:
    """No value to display."""


@dataclass(frozen=True)
class Showing:
    """Which expressions of a cell are displayed (`plan`), and who displays those before the last one."""

    which: str = "last_expr"
    show: Callable[[object], None] = lambda _: None

    @property
    def usual(self) -> bool:
        """Whether it is the last one, as everywhere."""
        return self.which in ("last", "last_expr")


USUAL = Showing()

__all__ = ["USUAL", "Nothing", "Showing"]
