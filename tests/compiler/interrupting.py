"""Ctrl-C before an operation of one's choice: Python notices where it looks next, behind a call or where one begins.

for place in itertools.count():
    if interrupted(do, place) is None:  # it has no more operations
        break
"""

import ctypes
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any


class _Comes:
    """Ctrl-C comes where an item is read: behind a call, Python would look for it at once."""

    __getitem__ = staticmethod(
        ctypes.PYFUNCTYPE(None, ctypes.py_object)(("PyErr_SetInterrupt", ctypes.pythonapi))
    )


_comes: Any = _Comes()

if sys.version_info >= (3, 12):
    _watch, _TOOL = sys.monitoring, 4

    def _begin(each: Callable[[], object]) -> None:
        _watch.use_tool_id(_TOOL, "interrupting")
        _watch.register_callback(_TOOL, _watch.events.INSTRUCTION, lambda code, place: each())
        _watch.set_events(_TOOL, _watch.events.INSTRUCTION)

    def _end() -> None:
        _watch.set_events(_TOOL, 0)
        _watch.free_tool_id(_TOOL)

else:

    def _begin(each: Callable[[], object]) -> None:
        def went(frame: FrameType, event: str, _: object) -> Any:
            if event == "opcode":
                each()
            return went

        def began(frame: FrameType, event: str, _: object) -> Any:
            frame.f_trace_opcodes = True
            return went

        sys.settrace(began)

    def _end() -> None:
        sys.settrace(None)


def interrupted(do: Callable[[], object], place: int) -> KeyboardInterrupt | None:
    """What came out of `do`, or right behind it; None where it has no operation of that number.

    Who keeps it keeps what it came through, as IPython does with the last error.
    """
    left, mine, runs = place, threading.get_ident(), True

    def each() -> None:
        nonlocal left, runs
        if runs and threading.get_ident() == mine:
            left -= 1
            if left < 0:
                runs = False
                _end()  # else this function would be where Python looks
                _comes[0]

    try:
        _begin(each)
        try:
            do()
        finally:
            if runs:
                runs = False
                _end()
        abs(0)  # here it looks at the latest
    except KeyboardInterrupt as error:
        return error
    assert left >= 0, f"lost at operation {place}"
    return None


__all__ = ["interrupted"]
