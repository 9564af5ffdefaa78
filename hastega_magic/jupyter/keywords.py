"""Completion of the options that `pipe(...)` and `@hastega(...)` take as keywords.

pipe(xs, int⇥        int_mode=    beyond 64 bits: exact, checked, wrap
pipe(xs, on="si⇥     simd
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hastega_magic.compiler.options import BACKENDS, INT_MODES, SECTIONS
from hastega_magic.jupyter.arguments import NAMES, cell_options
from hastega_magic.syntax.reading.text import Token, scan

_VALUES: Mapping[str, Sequence[str]] = {
    "on": BACKENDS,
    "compare": BACKENDS,
    "int_mode": INT_MODES,
    "show": SECTIONS,
}
_BEGUN = re.compile("[\"'](\\w*)")


def keywords(before: str) -> tuple[str, list[tuple[str, str]], bool] | None:
    """What stands at the end of a text, and all that may stand there, in a call of one of the two; else None.

    Then whether nothing else may: `hastega` takes a function as well.
    """
    if "pipe" not in before and "hastega" not in before:
        return None
    tokens = [token for token in scan(before) if token.kind not in ("space", "joined")]
    if tokens and tokens[-1].kind == "comment":
        return None
    tokens = [token for token in tokens if token.kind not in ("newline", "comment")]
    fragment = ""
    if tokens and tokens[-1].kind in ("word", "string") and before.endswith(tokens[-1].text):
        fragment = tokens.pop().text
    if not tokens:
        return None
    if (begun := _BEGUN.fullmatch(fragment)) is not None:
        name = tokens[-2].text if len(tokens) > 1 and tokens[-1].text == "=" else ""
        values = [(each, "option") for each in _VALUES.get(name, ())]
        return (begun[1], values, True) if values and _call(tokens) else None
    called, last = _call(tokens), tokens[-1].text
    if called is None or not (last == "," or (last == "(" and called == "hastega")):
        return None
    told = {
        option.dest: f"{'False: ' if name.startswith('--no-') else ''}{option.help}"
        for name, option in cell_options().items()
    }
    return fragment, [(f"{name}=", told.get(name, "option")) for name in NAMES], last == ","


def _call(tokens: Sequence[Token]) -> str | None:
    """`pipe` or `hastega`, where the tokens end among the arguments of its call."""
    depth = 0
    for at in range(len(tokens) - 1, -1, -1):
        depth += (tokens[at].kind == "close") - (tokens[at].kind == "open")
        if depth < 0:
            named = [each.text for each in tokens[:at]]
            ours = named[-2:-1] != ["."] or named[-3:-2] == ["hastega_magic"]
            called = named[-1] if named else ""
            return called if called in ("pipe", "hastega") and tokens[at].text == "(" and ours else None
    return None


__all__ = ["keywords"]
