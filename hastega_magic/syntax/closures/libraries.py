"""Whose a class or a function is: Python's, of a library, or the user's."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from hastega_magic.syntax.closures.attributes import is_made

_LIBRARIES = (sys.stdlib_module_names | {"numpy", "pandas", "polars", "pyarrow", "scipy", "hastega_magic"}) - {
    "builtins", "__main__",
}  # fmt: skip
_INSTALLED = f"{Path(np.__file__).parents[1]}{os.sep}"
"""Where packages are."""


def is_library(made: Any) -> bool:
    """Whether a class or a function is Python's own, or of a library that holds nothing of the user's."""
    if isinstance(made, type):
        if not is_made(made):
            return True
        name = made.__dict__.get("__module__", "")
    else:
        name = made.__globals__.get("__name__", "")
    return isinstance(name, str) and name.partition(".")[0] in _LIBRARIES


def is_library_module(module: ModuleType) -> bool:
    """Whether a module is Python's, or of such a library."""
    name = vars(module).get("__name__", "")
    return isinstance(name, str) and sys.modules.get(name) is module and name.partition(".")[0] in _LIBRARIES


def is_installed(function: FunctionType) -> bool:
    """Whether a function is of a library, or of a package that is installed beside NumPy, and none of the user's."""
    return is_library(function) or function.__code__.co_filename.startswith(_INSTALLED)


__all__ = ["is_installed", "is_library", "is_library_module"]
