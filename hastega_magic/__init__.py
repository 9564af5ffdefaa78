"""Hastega for Python notebooks: pipelines fused into one loop, compiled to SIMD code, and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hastega_magic.forking  # noqa: F401  # pyright: ignore[reportUnusedImport]  (before threads import more)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hastega_magic.compiler.comparing.measure import Run
    from hastega_magic.jupyter.shell import Shell
    from hastega_magic.lazy import Pipe
    from hastega_magic.report import Report

__version__ = "0.1.0"

__all__ = [
    "__version__", "hastega", "last_report", "load_ipython_extension", "measure", "pipe", "unload_ipython_extension",
]  # fmt: skip


def __dir__() -> list[str]:
    """What completion offers behind `hastega_magic.`: no modules of the package, and nothing imported here."""
    return __all__


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


def measure(
    what: str | Report | None = None,
    *,
    on: str | None = None,
    threads: int | None = None,
    width: int | None = None,
    fuse: bool | None = None,
    int_mode: str | None = None,
    n: int | None = None,
    repeat: int = 5,
    within: float = 2.0,
    namespace: Mapping[str, object] | None = None,
) -> Run:
    """Run the compiled pipelines of a cell again with other choices, and say what that took.

    what       nothing: the last `%%hastega` cell of this shell, on the sources it had. The text of a cell, or the
               report of an earlier one: it is run first, in a copy of the variables
    on, threads, width, fuse, int_mode   as the magic's options; what is not given is as in the cell
    n          so many elements, from the first on (default: all)
    repeat     so many runs, of which the median is told, after one that compiles
    within     seconds for `python` and `numpy`, which may be timed on a part of the elements
    namespace  the variables of a text (default: those of the shell, or none)

    Nothing is assigned, and results are let go of, compared with those of the cell's own choices (`Run.equal`).
    UsageError for choices that cannot be, and where no pipeline was compiled as a whole; whatever running raises.
    """
    from hastega_magic.jupyter.measure import measure as of_this_shell

    return of_this_shell(
        what, namespace=namespace, on=on, threads=threads, width=width, fuse=fuse, int_mode=int_mode, n=n,
        repeat=repeat, within=within,
    )  # fmt: skip


def pipe(source: object, /, **options: Any) -> Pipe:
    """A pipeline over the elements of `source`, with a method for each stage; it runs when a sink is called.

        pipe(range(10)).map(lambda x: x * x).filter(lambda x: x % 2 == 0).sum()

    Options are those of `%%hastega`, as keywords: `pipe(xs, on="simd", int_mode="checked", threads=2)`. TypeError for
    an option that does not exist, UsageError for a value that one cannot have. `pipe(...).explain()` is the report.
    """
    from hastega_magic.lazy import pipe as lazy_form

    return lazy_form(source, **options)


def hastega(function: Any = None, /, **options: Any) -> Any:
    """Compile the pipelines in a function: written with `|>` in a notebook, as comprehensions and their like anywhere.

        @hastega
        def total(xs, k):
            return sum(x * k for x in xs if x % 2 == 0)

    Its results are those of the function as it was, in value and type; `total.explain()` is the report of its last
    call. It is compiled when it is first called, for the types that it is called with. Options are those of
    `%%hastega`, as keywords: `@hastega(on="simd")`. A function that is decorated already is decorated anew with other
    options, and without any is itself: `hastega(total).explain()` is of its calls.

    TypeError for an option that does not exist and for what is no Python function; UsageError for an `int_mode` where
    there is no `|>`: ordinary code keeps Python's integers.
    """
    from hastega_magic.decorator import hastega as decorator

    return decorator(**options) if function is None else decorator(function, **options)
