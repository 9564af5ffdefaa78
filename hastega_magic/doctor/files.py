"""Questions about files that never raise: what may not be looked at is not there."""

from __future__ import annotations

import os
from pathlib import Path


def is_file(path: Path) -> bool:
    """Whether it is a file that can be seen."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether it is a folder that can be seen."""
    try:
        return path.is_dir()
    except OSError:
        return False


def read(path: Path) -> str:
    """Its text; "" where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def nearest(path: Path) -> Path:
    """The path, or its nearest parent that exists, be it a folder or not."""
    whole = path.absolute()
    return next((each for each in (whole, *whole.parents) if os.path.lexists(each)), Path(whole.anchor))


__all__ = ["is_file", "is_folder", "nearest", "read"]
