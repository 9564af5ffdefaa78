"""Which way a loop that only reads goes through its parts: in turns from their beginning and from their end.

What was read last lies in the caches still. Who begins at the same end each time finds nothing of it: what is read
first takes its place. Each block's partial results have a place of their own, so that no result depends on the way.
Loops that write as well gained nothing by it on a Xeon, and lost a tenth on Zen 4.
"""

from __future__ import annotations

from hastega_magic.ir import abi

_FEWEST = 64
"""Blocks: smaller sources stay in the caches whole."""

_MOST = 64

_went_back: dict[int, bool] = {}
"""By the address of a first source, or where a range starts, whether the last loop over it went backwards."""


def backwards(plan: abi.Layout, address: int, blocks: int) -> bool:
    """Whether this run of a loop over the source at an address is to go backwards: the next one is to go forwards.

    Threads that run loops at once may lose a turn, which only costs time.
    """
    if plan.stores or blocks < _FEWEST:
        return False
    back = not _went_back.pop(address, False)
    if len(_went_back) >= _MOST:
        _went_back.clear()
    _went_back[address] = back
    return back


__all__ = ["backwards"]
