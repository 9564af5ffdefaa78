"""What a device's compiler said of a program, without what stands around it.

clBuildProgram failed: BUILD_PROGRAM_FAILURE - ...
Build on <pyopencl.Device 'cpu' on 'Portable Computing Language' at 0x556e85081730>:
error: .../kcache/tempfile_S8agRC.cl:14:24: use of undeclared identifier 'k'
Device cpu failed to build the program
(options: -cl-std=CL1.2 -I /lib/python/site-packages/pyopencl/cl)

→  error: <kernel>:14:24: use of undeclared identifier 'k'
"""

from __future__ import annotations

import re

KERNEL = "<kernel>"
"""How clang calls a text that comes from memory."""

_BUILD = re.compile(r"^Build on <[^\n]*>:$(.*?)(?=^Build on <|^\(options: |\Z)", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"\S*tempfile\w*\.cl(?=:\d+:\d+)")
_NO_NEWS = re.compile(
    r"Device .* failed to build the program$|^ignoring debug info with an invalid version.*$", re.MULTILINE
)
"""What PoCL says whatever the fault is; the first may stand behind another line."""


def compilers_words(said: str) -> str:
    """The compiler's own lines, of each device; all that was said if it has none."""
    found = [
        line.rstrip()
        for words in _BUILD.findall(said)
        for line in _NO_NEWS.sub("", _FILE.sub(KERNEL, words)).splitlines()
        if line.strip()
    ]
    return "\n".join(found) or said


__all__ = ["KERNEL", "compilers_words"]
