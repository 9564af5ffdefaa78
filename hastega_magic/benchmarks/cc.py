"""The system's C compiler as a peer: text in, a callable shared library out."""

from __future__ import annotations

import atexit
import ctypes
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FLAGS = ("-O3", "-march=native", "-fopenmp", "-shared", "-fPIC")
_PRELUDE = "#include <stdint.h>\n"


class CompilerError(Exception):
    """There is no C compiler, or it refused the program; the message is one line."""


@functools.cache
def _folder() -> Path:
    # Private to the process: -march=native makes the library good for this machine only.
    folder = tempfile.mkdtemp(prefix="hastega-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def compiler() -> list[str]:
    """The compiler's command: `$CC` where set, else `cc`.  CompilerError where it is not installed."""
    command = shlex.split(os.environ.get("CC", "")) or ["cc"]
    if shutil.which(command[0]) is None:
        raise CompilerError(f"no C compiler: {command[0]} is not installed")
    return command


@functools.cache
def _build(command: tuple[str, ...], text: str) -> Path:
    key = hashlib.sha256("\0".join((*command, text)).encode()).hexdigest()[:16]
    source = _folder() / f"{key}.c"
    library = source.with_suffix(".so")
    source.write_text(_PRELUDE + text, encoding="utf-8")
    done = subprocess.run(
        [*command, *FLAGS, str(source), "-o", str(library)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
        raise CompilerError(f"{command[0]} failed: {lines[0].removeprefix(str(source) + ':')}")
    return library


class Program:
    """A compiled `void run(int64_t n, int threads, const void **in, void *out)`."""

    def __init__(self, text: str) -> None:
        """Compile `text`; CompilerError where that is not possible."""
        self._run = ctypes.CDLL(str(_build(tuple(compiler()), text))).run
        self._run.restype = None
        self._run.argtypes = (ctypes.c_int64, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def __call__(
        self, n: int, threads: int, inputs: Sequence[NDArray[np.generic]], out: NDArray[np.generic]
    ) -> None:
        """Run it over C-contiguous `inputs` of `n` elements into `out` (`n` elements, or one)."""
        for array in (*inputs, out):
            if not array.flags.c_contiguous:
                raise ValueError("the C program takes contiguous arrays only")
        pointers = (ctypes.c_void_p * max(1, len(inputs)))(*(a.ctypes.data for a in inputs))
        self._run(n, threads, pointers, out.ctypes.data)
