"""Where OpenCL's loaders look for drivers, the .icd files there, and PoCL's cache folder.

An .icd file is one line: the shared library of a driver. `libOpenCL` (the loader) reads those of its vendor
folder: the one that it was compiled for, `OPENCL_VENDOR_PATH`, or the folder that `OCL_ICD_VENDORS` names. The
loader in pyopencl's wheel reads those beside itself too, where PoCL from PyPI puts its file. Where
`OCL_ICD_VENDORS` names one .icd file, or a library, nothing else is read.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hastega_magic.doctor.files import is_file, is_folder, nearest, read
from hastega_magic.records import dataclass

SYSTEM_FOLDER = Path("/etc/OpenCL/vendors")

_COMPILED_IN = re.compile(rb"/[\x21-\x7e]{0,4000}OpenCL/vendors/?(?=\x00)")
_COUNTING = 0.2
"""Seconds after which the files of a cache are counted no further."""


@dataclass(frozen=True)
class IcdFile:
    """An .icd file, the library it names, whether the loader reads it, and "" or why the library cannot be loaded.

    `path` is empty for a library that OCL_ICD_VENDORS itself names.
    """

    path: str
    library: str
    is_read: bool
    trouble: str = ""

    @property
    def pocl(self) -> bool:
        """Whether it stands for PoCL."""
        return "pocl" in Path(self.library).name.lower()

    @property
    def nvidia(self) -> bool:
        """Whether it stands for NVIDIA's driver."""
        return "nvidia" in Path(self.library).name.lower()


@dataclass(frozen=True)
class Search:
    """What the loader reads: `folders` of .icd files, or single `files`; `library`, loaded with no .icd file.

    missing  what OCL_ICD_VENDORS names, where there is no such thing; the loader then finds nothing at all
    vendors  the vendor folder, where a new .icd file belongs
    """

    folders: tuple[Path, ...]
    files: tuple[Path, ...] = ()
    library: str = ""
    missing: str = ""
    vendors: Path = SYSTEM_FOLDER


def search(environ: Mapping[str, str], loader: Path | None, wheel: Path | None) -> Search:
    """What the loader (None: not known) reads. `wheel`: the folder of libraries in pyopencl's wheel."""
    own = (wheel,) if wheel is not None and loader is not None and loader.parent == wheel else ()
    asked = environ.get("OCL_ICD_VENDORS", "")
    if not asked:
        default = environ.get("OPENCL_VENDOR_PATH", "")
        folders = (Path(default),) if default else compiled_in(loader)
        return Search((*folders, *own), vendors=folders[0])
    path = Path(asked)
    if is_folder(path):
        return Search((path, *own), vendors=path)
    if path.suffix == ".icd":
        file = path if "/" in asked else compiled_in(loader)[0] / path
        return Search((), (file,)) if is_file(file) else Search((), missing=str(file))
    if ".so" in path.name and ("/" not in asked or is_file(path)):
        return Search((), library=asked)
    return Search((), missing=asked)


def compiled_in(loader: Path | None) -> tuple[Path, ...]:
    """The vendor folder that the loader's file names; the system's where that cannot be read."""
    try:
        found = _COMPILED_IN.search(loader.read_bytes()) if loader is not None else None
    except OSError:
        found = None
    return (Path(os.fsdecode(found[0])) if found else SYSTEM_FOLDER,)


def icd_files(reads: Search, others: Sequence[Path]) -> tuple[IcdFile, ...]:
    """The .icd files that the loader reads, then those in `others`, which another loader may read."""
    found: dict[str, IcdFile] = {}
    for folder in (*reads.folders, *others):
        for path in _listed(folder):
            if os.path.realpath(path) not in found:
                found[os.path.realpath(path)] = IcdFile(str(path), _library(path), folder in reads.folders)
    for path in reads.files:
        found[os.path.realpath(path)] = IcdFile(str(path), _library(path), is_read=True)
    direct = (IcdFile("", reads.library, is_read=True),) if reads.library else ()
    return (*direct, *found.values())


def loadable(file: IcdFile) -> str:
    """The library of an .icd file as `dlopen` wants it: beside the file, if it is there and no path is given."""
    beside = Path(file.path).parent / file.library
    return str(beside) if file.path and "/" not in file.library and is_file(beside) else file.library


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".icd")
    except OSError:  # most machines have not all of the folders
        return []


def _library(path: Path) -> str:
    return read(path).strip().partition("\n")[0].strip()


# ---------------------------------------------------------------------------------------- PoCL's cache


@dataclass(frozen=True)
class CacheFolder:
    """Where PoCL keeps compiled kernels; `bytes` of files in it, of all if `whole`; "" or why PoCL cannot use it."""

    path: str
    exists: bool
    bytes: int
    trouble: str = ""
    whole: bool = True


def pocl_cache(environ: Mapping[str, str]) -> Path:
    """The folder that PoCL takes, by its own rules."""
    if folder := environ.get("POCL_CACHE_DIR"):
        return Path(folder)
    if folder := environ.get("XDG_CACHE_HOME"):
        return Path(folder, "pocl", "kcache")
    if folder := environ.get("HOME"):
        return Path(folder, ".cache", "pocl", "kcache")
    return Path("/tmp", "pocl", "kcache")  # noqa: S108  PoCL's choice, not ours


def inspect_cache(path: Path) -> CacheFolder:
    """Try to write there. A folder that does not exist yet is not made: its nearest parent is looked at."""
    exists = is_folder(path)
    total, whole = _size(path) if exists else (0, True)
    return CacheFolder(str(path), exists, total, _unusable(nearest(path)), whole)


def _unusable(folder: Path) -> str:
    """Why kernels cannot be kept in the folder, or in one below it that has to be made first."""
    if not is_folder(folder):
        return f"{folder} is not a folder"
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
        if os.statvfs(folder).f_flag & getattr(os, "ST_NOEXEC", 0):
            return f"{folder} is mounted with noexec, and what is kept there are shared libraries"
    except OSError as error:
        return f"{folder} cannot be written: {error.strerror}"
    return ""


def _size(folder: Path) -> tuple[int, bool]:
    """Bytes of the files below, as far as they can be counted in `_COUNTING` seconds, and whether these are all."""
    total, folders, end = 0, [os.fspath(folder)], time.monotonic() + _COUNTING
    while folders:
        if time.monotonic() > end:
            return total, False
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for each in entries:
                with suppress(OSError):  # PoCL removes what it no longer needs
                    if each.is_dir(follow_symlinks=False):
                        folders.append(each.path)
                    else:
                        total += each.stat(follow_symlinks=False).st_size
    return total, True


__all__ = [
    "SYSTEM_FOLDER", "CacheFolder", "IcdFile", "Search", "compiled_in", "icd_files", "inspect_cache", "loadable",
    "pocl_cache", "search",
]  # fmt: skip
