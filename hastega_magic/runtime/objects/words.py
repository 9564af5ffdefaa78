"""How the native code of this room reads the words that it is given.

%count = word i64 of %words at 1        the place of the word, as %count.at, and what is there
"""

from __future__ import annotations

import re

_WORD = re.compile(r"(%[\w.]+) = word (i64|ptr) of (%[\w.]+) at (\d+)")
_READ = r"\1.at = getelementptr i64, ptr \3, i64 \4\n  \1 = load \2, ptr \1.at"


def written_out(text: str) -> str:
    """LLVM's text for one in which words are read so."""
    return _WORD.sub(_READ, text)


__all__ = ["written_out"]
