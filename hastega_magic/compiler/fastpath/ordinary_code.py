"""What runs a piece of ordinary code, by what it is, and with which options."""

from __future__ import annotations

from dataclasses import replace

from hastega_magic.compiler.fastpath.for_statements import ForStatement
from hastega_magic.compiler.fastpath.ordinary import OrdinaryCode
from hastega_magic.compiler.fastpath.repeated import Repeated
from hastega_magic.compiler.fastpath.searching import Search
from hastega_magic.compiler.fastpath.stores import Storing
from hastega_magic.compiler.options import Options
from hastega_magic.syntax.ordinary.parts import Ordinary
from hastega_magic.syntax.reading.text import Text


def options_for(options: Options) -> Options:
    """The options with which ordinary code is tried: all or nothing, exactly, and once."""
    return replace(options, strict=True, quiet=True, int_mode="exact", fast_math=False, repeat=1)


def ordinary_code(
    code: Ordinary, options: Options, filename: str, places: Text, registry: dict[int, Repeated] | None = None
) -> OrdinaryCode:
    """What runs a piece of ordinary code."""
    hands = code.hands_on
    kind = (
        Search if code.seeks else OrdinaryCode if hands is None else Storing if hands.stores else ForStatement
    )
    return kind(code.site, options, filename, registry=registry, code=code, places=places)


__all__ = ["options_for", "ordinary_code"]
