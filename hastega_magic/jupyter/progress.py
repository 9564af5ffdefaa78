"""Progress as tqdm shows it: a widget in notebooks, a line in a terminal. Imported when there is something to show."""

from __future__ import annotations

import importlib
import sys
import threading
from typing import TYPE_CHECKING, Any, cast

from hastega_magic.interrupts import begin

if TYPE_CHECKING:
    from hastega_magic.jupyter.shell import Shell
    from hastega_magic.progress import Task

_PARTS = 1000
_FORM = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}"


class Bar:
    """One bar for a cell, gone when the cell is done: a saved notebook must not hold widgets that cannot be loaded."""

    def __init__(self, shell: Shell) -> None:
        """Nothing is imported or shown yet."""
        self._in_notebook = getattr(shell, "kernel", None) is not None
        self._kind: Any = None
        self._importing: threading.Thread | None = None
        self._bar: Any = None
        self._handle: Any = None
        self._task: Task | None = None
        self._label = ""

    def show(self, task: Task) -> None:
        """Draw the bar at the task's place; the next task begins it anew."""
        try:
            self._show(task)
        except KeyboardInterrupt as interrupt:  # where tqdm was just then is nobody's concern
            raise interrupt.with_traceback(None) from None

    def _show(self, task: Task) -> None:
        if self._kind is None:
            # In a thread: an interrupt in the middle of an import would leave half a module behind.
            if self._importing is None:
                self._importing = threading.Thread(target=self._import, name="hastega-tqdm", daemon=True)
                begin(self._importing)
            return
        bar: Any = self._open() if self._bar is None else self._bar
        # Short pipelines in a loop have one label, and the parts of a task labels of their own.
        if self._task is not task and self._label != task.label:
            bar.reset()
        self._task, self._label = task, task.label
        bar.set_description_str(task.path, refresh=False)
        bar.n = int(_PARTS * task.fraction)
        bar.refresh()

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.n = _PARTS  # tqdm leaves bars that did not reach their end
            self._bar.close()
        if self._handle is not None:
            # An output stays where it was made: with nothing in it.
            self._handle.update({"text/plain": ""}, raw=True)

    def _import(self) -> None:
        # `tqdm.auto` silences a warning of its own for a moment: warnings are of all threads, and it may come out then.
        module: Any = importlib.import_module("tqdm.notebook" if self._in_notebook else "tqdm")
        if self._in_notebook and module.IProgress is None:  # ipywidgets cannot be imported: a line has to do
            self._in_notebook, module = False, importlib.import_module("tqdm")
        tqdm = module.tqdm
        tqdm.get_lock()  # which takes its time the first time
        # tqdm's own thread, which looks for bars that stand still, is not needed. Of a bar that an interrupt left half
        # made there is nothing to be taken away.
        self._kind = type("Quiet", (tqdm,), {"monitor_interval": 0, "disable": True})

    def _open(self) -> Any:
        options: dict[str, Any] = {"total": _PARTS, "leave": False, "bar_format": _FORM}
        if self._in_notebook:
            from IPython.core.display_functions import (
                display,  # pyright: ignore[reportUnknownVariableType]
            )

            self._bar = self._kind(display=False, **options)
            self._handle = cast("Any", display)(self._bar.container, display_id=True)
            self._bar.displayed = True
        else:
            self._bar = self._kind(file=sys.stderr, dynamic_ncols=True, **options)
        return self._bar


__all__ = ["Bar"]
