"""What stages that Python ran are given in another run, where `--int` asks for other integers than Python's.

xs |> sum(True)                  Python's, as `True` is no int; from an int on, `--int wrap` has it wrap around
floats |> reduce(max, 1)         Python's, as `max` gives ints and floats; from 2**70 on, `--int checked` raises
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from hastega_magic.compiler.fastpath.guards import Display
from hastega_magic.compiler.options import Options
from hastega_magic.interval import INT64
from hastega_magic.ops.convert import NUMPY_INTEGERS
from hastega_magic.records import dataclass
from hastega_magic.syntax.site import StageSite


@dataclass(frozen=True)
class Limits:
    """The types of what the stages were given."""

    types: tuple[type, ...]
    checked: bool

    def fit(self, sites: Sequence[StageSite], displays: Sequence[Display]) -> bool:
        """Whether Python is to run these stages for this, too."""
        if _types(displays) != self.types:
            return False
        pairs = zip(sites, displays, strict=False)
        return not (self.checked and any(_begins_beyond(*each) for each in pairs))


def limits(displays: Sequence[Display], options: Options) -> Limits | None:
    """Those of stages that Python ran; None where integers are Python's in any case."""
    return None if options.int_mode == "exact" else Limits(_types(displays), options.int_mode == "checked")


def _types(displays: Sequence[Display]) -> tuple[type, ...]:
    given: list[object] = []
    for _, args, kwargs in displays:
        given += (*args, *kwargs.values())
    return tuple(map(type, given))


def _begins_beyond(site: StageSite, display: Display) -> bool:
    """Whether its steps begin with an integer that no int64 holds."""
    callee, args, kwargs = display
    if callee is not None or site.name not in ("scan", "reduce"):
        return False
    return _beyond(kwargs.get("init", args[1] if len(args) > 1 else 0))


def _beyond(start: object) -> bool:
    if isinstance(start, tuple):
        return any(map(_beyond, cast("tuple[object, ...]", start)))
    return isinstance(start, (int, *NUMPY_INTEGERS)) and int(cast(int, start)) not in INT64


__all__ = ["Limits", "limits"]
