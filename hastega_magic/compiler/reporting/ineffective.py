"""Options that change nothing with the back ends that were named, or not all: they would look as if they had worked.

--on simd --threads 3    →    --threads changes nothing with --on simd.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from hastega_magic.compiler.options import Options
from hastega_magic.ir.target import Target
from hastega_magic.report import units

_LOOPS = frozenset(("auto", "simd", "parallel", "opencl", "all"))

_HEEDED = {
    "--threads": ("threads", _LOOPS - {"simd"}),
    "--width": ("width", _LOOPS),
    "--fast-math": ("fast_math", _LOOPS),
    "--no-fuse": ("fuse", _LOOPS),
    "--device-memory": ("device_memory", frozenset(("auto", "opencl", "all"))),
    "--tune": ("tune", _LOOPS),
    "--strict": ("strict", _LOOPS | {"numpy"}),
}
"""By the option its field, and the back ends that it means something to."""

_DEFAULTS = Options()


@lru_cache(64)
def unheeded(options: Options) -> tuple[str, ...]:
    """The options that none of the back ends heeds, those of `--compare` among them."""
    places = {each.partition(":")[0] for each in (options.on, *options.compare)}
    return tuple(
        option
        for option, (name, heeded) in _HEEDED.items()
        if not places & heeded and getattr(options, name) != getattr(_DEFAULTS, name)
    )


def narrowed(width: int, target: Target) -> str:
    """That the device has fewer lanes than were asked for; "" if it has as many, or none were."""
    lanes = target.lanes(width)
    if not width or lanes == width:
        return ""
    if target.has("groups"):
        return f"--width changes nothing on {target.cpu}, which itself makes lanes of work-items."
    return f"--width {width}: {target.cpu} has vectors of {units.plural(lanes, 'lane')} at most, and the loop these."


def options_with_verb(options: Sequence[str], one: str, several: str) -> str:
    """The options in a row, with the verb for one or for several."""
    return f"{units.listed(options)} {one if len(options) == 1 else several}"


__all__ = ["narrowed", "options_with_verb", "unheeded"]
