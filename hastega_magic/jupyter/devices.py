"""What may stand behind `opencl:`: the number of each device, its kind, and words of its name.

No context is made. Drivers may take long to be loaded: they are, beside what the user types on.
"""

from __future__ import annotations

import re
import time

from hastega_magic.runtime.background import Later

_PATIENCE = 1.0
"""Seconds that a front end is made to wait for drivers."""
_TICK = 0.01

_PREFIX = "opencl:"

Offered = list[tuple[str, str]]
"""Texts, each with what it is."""


def _found() -> Offered:
    from hastega_magic.runtime import opencl

    try:
        there = opencl.devices()
    except Exception as error:  # drivers fail in ways of their own
        return [(_PREFIX, f"no device: {error}")]
    offered = {f"{_PREFIX}{each.number}": f"{each.name} ({each.kind}, {each.platform})" for each in there}
    for words in ([(each.kind,) for each in there], [re.findall(r"[\w-]{3,}", each.name) for each in there]):
        for word in (word.lower() for of_one in words for word in of_one):
            if not word.isdigit():  # which would be a device's number
                chosen = opencl.select(f"{_PREFIX}{word}", there)
                offered[f"{_PREFIX}{word}"] = offered[f"{_PREFIX}{chosen.number}"]
    return list(offered.items()) or [(_PREFIX, "no device was found")]


_FOUND: Later[Offered] = Later(_found)


def devices() -> Offered:
    """What `--on` takes here; of one that is still being looked for, that it is."""
    until = time.monotonic() + _PATIENCE
    while (found := _FOUND.ask()) is None and time.monotonic() < until:
        time.sleep(_TICK)
    return [(_PREFIX, "devices are being looked for")] if found is None else found


__all__ = ["devices"]
