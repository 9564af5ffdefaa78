"""`hastega_magic.measure`: a cell's loops run again with other choices, as the panel does it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from IPython.core.getipython import get_ipython

from hastega_magic.errors import UsageError
from hastega_magic.frames import leaves
from hastega_magic.jupyter.progress import Bar
from hastega_magic.jupyter.tracebacks import put_below_the_statement
from hastega_magic.progress import listening

if TYPE_CHECKING:
    from hastega_magic.compiler.comparing.kept import Kept
    from hastega_magic.compiler.comparing.measure import Run
    from hastega_magic.jupyter.magics import HastegaMagics
    from hastega_magic.jupyter.shell import Shell
    from hastega_magic.report import Report


def measure(
    what: str | Report | None = None, *, namespace: Mapping[str, object] | None = None, **choices: Any
) -> Run:
    """Measure a cell; `hastega_magic.measure` says how."""
    try:
        from hastega_magic.compiler.comparing import measure as compiled

        shell = cast("Shell | None", get_ipython())
        loops = _loops(what, shell, namespace)
        with listening(None if shell is None else Bar(shell)):
            return compiled.measure(loops, **choices)
    except BaseException as error:
        leaves(error)
        raise


def _loops(
    what: str | Report | None, shell: Shell | None, namespace: Mapping[str, object] | None
) -> Sequence[Kept]:
    magics: HastegaMagics | None = None
    if shell is not None:
        magics = shell.magics_manager.registry.get("HastegaMagics")
    if what is None:
        if magics is None:
            raise UsageError("outside IPython, measure() takes the text of a cell")
        return magics.kept()
    if not isinstance(what, str) and not hasattr(what, "cell"):
        raise UsageError(f"measure() takes the text of a cell or a report, not {what!r}")
    if not isinstance(what, str) and magics is not None and magics.is_last(what):
        return magics.kept()
    names = namespace if namespace is not None else {} if shell is None else shell.user_ns
    return _run_again(what, names, shows=magics is not None)


def _run_again(what: str | Report, names: Mapping[str, object], shows: bool) -> Sequence[Kept]:
    """The loops of a cell that is run again, in a copy of the variables: what it assigns stays there.

    `shows`: its exceptions come with the frames of the user alone.
    """
    from hastega_magic.compiler.options import Options
    from hastega_magic.session import Session

    if isinstance(what, str):
        text, options = what, Options()
    else:
        text = what.cell.source
        known = Options.__dataclass_fields__.keys() & what.cell.options.keys()
        options = Options(**{name: _listed(what.cell.options[name]) for name in known})
    session = Session(dict(names))
    changed: Any = {**options.to_dict(), "baseline": False, "quiet": True, "compare": (), "show": ()}
    filename = f"<measure {zlib.crc32(text.encode()):08x}>"
    try:
        session.run_cell(text, filename, Options(**changed))
    except BaseException as error:
        if shows:
            span = None if session.last is None else session.last.failed_at
            put_below_the_statement(error, filename, None if span is None else span.line, session.namespace)
        raise
    return replace(session.kept, cell="the text" if isinstance(what, str) else "the cell of the report")


def _listed(value: object) -> Any:
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


__all__ = ["measure"]
