"""What has PoCL compile sooner in tests: its header of OpenCL C, cut to what a program names, and less optimisation.

PoCL has clang read `opencl-c.h`, 14 500 declarations, in front of every program: 120 of the 150 ms that a small one
takes (PoCL 3.0, AMD EPYC, 2026-11-28).  The header's guard is defined for it here, and the program begins with the
lines of the header that it needs: all directives, and the declarations of functions that the program names.

LLVM's optimisations, half of what is left, are spared for two programs in three, always the same ones; with
`HASTEGA_TEST_EFFORT` all are compiled as users have them (from 24 to 14 s of 83 tests, Zen 4, 2026-11-29).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from battery import EFFORT

_GUARD = "_OPENCL_H_"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PART = re.compile(r"[ \t]*#[^\n]*|[^;#]+;")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)")
_FUNCTION = re.compile(r"(\w+)\s*\(")
_WORD = re.compile(r"[A-Za-z_]\w*")

Parts = list[tuple[str, str]]
"""Directives, with no name, and declarations, each with the name of its function."""


def program_of(whole: Callable[..., Any], context: Any, text: str, options: list[str]) -> Any:
    """What `whole` makes of the program, sooner where the context is PoCL's and its header is found."""
    platforms = {each.platform.name for each in getattr(context, "devices", ())}
    folder = _folder() if platforms == {"Portable Computing Language"} else None
    if folder is None:
        return whole(context, text, options)
    quick = ["-cl-opt-disable"] if EFFORT == 1 and zlib.crc32(text.encode()) % 3 else []
    return whole(context, _shortened(folder, text), [*options, *quick, f"-D{_GUARD}", "-I", str(folder)])


@cache
def _folder() -> Path | None:
    package = find_spec("pocl_binary_distribution")
    places = [Path(each) for each in (package.submodule_search_locations or ())] if package else []
    found = [each / ".libs/share/pocl/include" for each in places]
    return next((each for each in found if (each / "opencl-c.h").exists()), None)


@cache
def _parts(folder: Path) -> Parts:
    text = _COMMENT.sub("", (folder / "opencl-c.h").read_text()).replace("\\\n", "")
    return [_named(" ".join(part.split())) for part in _PART.findall(text)]


def _named(part: str) -> tuple[str, str]:
    function = None if part.startswith("#") else _FUNCTION.search(_ATTRIBUTE.sub("", part))
    return (function[1] if function else "", part)


def _shortened(folder: Path, text: str) -> str:
    words, kept = set(_WORD.findall(text)), [f"#undef {_GUARD}"]
    for name, part in _parts(folder):
        if part.startswith("#endif") and kept[-1].startswith("#if"):
            kept.pop()  # nothing stands in between
        elif not name or name in words:
            kept.append(part)
    return "\n".join([*kept, "#line 1", text])
