"""Hastega for Python notebooks: pipelines fused into one loop, compiled to SIMD code, and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hastega_magic.jupyter.shell import Shell
    from hastega_magic.report import Report

__version__ = "0.1.0"

__all__ = ["__version__", "last_report", "load_ipython_extension", "unload_ipython_extension"]

# Imports stand in the functions: `import hastega_magic` alone loads neither NumPy nor the compiler.


def load_ipython_extension(shell: Shell) -> None:
    """Make `%%hastega` and `%hastega` known: what `%load_ext hastega_magic` calls."""
    from hastega_magic.jupyter import load

    load(shell)


def unload_ipython_extension(shell: Shell) -> None:
    """Take back what `load_ipython_extension` did: what `%unload_ext hastega_magic` calls."""
    from hastega_magic.jupyter import unload

    unload(shell)


def last_report() -> Report:
    """The report of the last `%%hastega` cell of this shell, also of one that failed.

    UsageError outside IPython, where the extension is not loaded, and before the first cell.
    """
    from hastega_magic.jupyter import last_report as of_this_shell

    return of_this_shell()
