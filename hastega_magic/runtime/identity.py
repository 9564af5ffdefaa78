"""Which machine this is, found out without loading a driver: the CPU, its threads, and what drivers leave in files."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import platform
import re
import sys
from functools import cache
from pathlib import Path

from hastega_magic.frames import reraise_signal
from hastega_magic.runtime import cpu
from hastega_magic.runtime.threads import default_threads

_HEAD = 4096
_CHOOSING = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "CUDA_VISIBLE_DEVICES", "POCL_DEVICES")
"""Environment variables that say which devices there are."""


def cpu_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The CPU's name as its maker has it, and its vector instructions."""
    found = re.search(r"^model name\s*:\s*(.+)$", _head(cpuinfo), re.MULTILINE)
    target = cpu.host()
    return f"{found[1].strip() if found else platform.machine()} ({target.cpu}, {target.isa})"


def threads() -> int:
    """How many threads loops run on."""
    return default_threads()


@cache
def driver_facts() -> tuple[str, ...]:
    """What tells one set of OpenCL drivers from another: packages, the system's list of drivers, versions in files."""
    found = [f"{name} {_version(name)}" for name in ("pyopencl", "pocl-binary-distribution")]
    found += [f"{name}={os.environ[name]}" for name in _CHOOSING if name in os.environ]
    folders = [Path("/etc/OpenCL/vendors"), Path(sys.prefix, "etc", "OpenCL", "vendors")]
    named = os.environ.get("OCL_ICD_VENDORS")
    folders += [Path(named)] if named else []
    for folder in folders:
        try:
            drivers = sorted(folder.glob("*.icd"))
        except OSError:
            continue
        found += [f"{each.name}: {_head(each).strip()}" for each in drivers]
    nvidia = _head(Path("/proc/driver/nvidia/version")).splitlines()
    found += nvidia[:1]
    with contextlib.suppress(OSError):
        found.append(f"GPUs {sorted(each.name for each in Path('/dev/dri').iterdir())}")
    return tuple(found)


def devices_key() -> tuple[str, ...]:
    """The same as one short word; () where there is no OpenCL."""
    facts = driver_facts()
    if facts[0].endswith(" "):  # no pyopencl
        return ()
    return (hashlib.blake2b("\n".join(facts).encode(), digest_size=8).hexdigest(),)


def _version(name: str) -> str:
    try:
        # As `importlib.metadata.version` finds it, which reads the whole as a mail.
        found = importlib.metadata.distribution(name)
        text = found.read_text("METADATA") or found.read_text("PKG-INFO") or ""
    except Exception as error:  # not there, or damaged
        reraise_signal(error)
        return ""
    version = re.search(r"^Version:\s*(\S+)", text, re.MULTILINE)
    return version[1] if version else ""


def _head(file: Path) -> str:
    try:
        with file.open("rb") as handle:
            return handle.read(_HEAD).decode(errors="replace")
    except OSError:
        return ""


__all__ = ["cpu_name", "devices_key", "driver_facts", "threads"]
