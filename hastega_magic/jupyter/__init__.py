"""The notebook's side: the magics, what they display, and how errors look. Thin: the work is the session's."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from IPython.core.getipython import get_ipython
from traitlets import TraitError

from hastega_magic.errors import UsageError
from hastega_magic.frames import SHOWN
from hastega_magic.gc_paused import uncollected
from hastega_magic.interrupts import put_off
from hastega_magic.runtime import warmup

if TYPE_CHECKING:
    from hastega_magic.jupyter.magics import HastegaMagics
    from hastega_magic.jupyter.shell import Shell
    from hastega_magic.report import Report


def load(shell: Shell) -> None:
    """Register the magics in the shell; once, however often it is called."""
    # NumPy, imported by half, would be of no use to anybody any more.
    put_off(lambda: uncollected(_import))
    from hastega_magic.jupyter import bodiless, completer, help_requests, lines, tracebacks
    from hastega_magic.jupyter.everywhere import hint
    from hastega_magic.jupyter.magics import HastegaMagics, leave_out_refused

    if tracebacks.show_in_shell not in SHOWN:
        SHOWN.append(tracebacks.show_in_shell)
    if _magics(shell) is not None:
        return
    warmup.load_library()  # not beside NumPy's libraries, which would wait for it, and the interpreter with them
    try:
        shell.register_magics(HastegaMagics)
    except TraitError:  # a kernel that loads the extension when it starts would not start
        leave_out_refused(shell)
        shell.register_magics(HastegaMagics)
    completer.install(shell)
    lines.install(shell)
    help_requests.install(shell)
    bodiless.install(shell)
    tracebacks.install(shell)
    shell.events.register("post_run_cell", hint)
    if getattr(getattr(shell, "kernel", None), "pipes_everywhere", False):
        shell.run_line_magic("hastega", "on")


def _import() -> None:
    for name in ("help_requests", "bodiless", "completer", "lines", "magics"):
        importlib.import_module(f"{__name__}.{name}")


def unload(shell: Shell) -> None:
    """Remove the magics from the shell, and from what `%config` and `c.HastegaMagics` reach."""
    magics = _magics(shell)
    if magics is None:
        return
    from hastega_magic.jupyter import bodiless, completer, help_requests, lines, tracebacks
    from hastega_magic.jupyter.everywhere import hint

    completer.remove(shell)
    lines.remove(shell)
    help_requests.remove(shell)
    bodiless.remove(shell)
    tracebacks.remove(shell)
    shell.events.unregister("post_run_cell", hint)
    magics.everywhere.off()
    manager = shell.magics_manager
    for kind, names in magics.known().items():
        for name in names:
            manager.magics[kind].pop(name, None)
    manager.registry.pop("HastegaMagics", None)
    shell.configurables[:] = [each for each in shell.configurables if each is not magics]


def last_report() -> Report:
    """The report of the last cell of the running shell; UsageError where there is none."""
    shell = cast("Shell | None", get_ipython())
    if shell is None:
        raise UsageError("last_report() works in IPython and Jupyter alone")
    magics = _magics(shell)
    if magics is None:
        raise UsageError("the extension is not loaded: %load_ext hastega_magic")
    return magics.report()


def _magics(shell: Shell) -> HastegaMagics | None:
    return shell.magics_manager.registry.get("HastegaMagics")


__all__ = ["last_report", "load", "unload"]
