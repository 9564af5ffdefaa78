"""Commands that mend: what to type into a shell, for this very Python."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from hastega_magic.doctor.files import nearest
from hastega_magic.doctor.host import POCL_EXTRA, Interpreter


def pip(python: Interpreter, *words: str) -> tuple[str, ...]:
    """A command of this Python's pip, after one that brings pip where it is missing."""
    executable = python.executable or "python"
    command = shlex.join([executable, "-m", "pip", *words])
    return (command,) if python.pip else (shlex.join([executable, "-m", "ensurepip"]), command)


def install(python: Interpreter, *requirements: str) -> tuple[str, ...]:
    """Install these."""
    return pip(python, "install", *requirements)


def reinstall_wheel(python: Interpreter, package: str) -> tuple[str, ...]:
    """Install a package's wheel over what is there, and touch nothing else."""
    return pip(python, "install", "--force-reinstall", "--no-deps", "--only-binary", ":all:", package)


def requirement(name: str) -> str:
    """A package of the extra `pocl` as a requirement."""
    return f"{name}>={POCL_EXTRA[name]}"


def has_pocl_wheel(python: Interpreter) -> bool:
    """Whether PoCL comes from PyPI for this platform."""
    return python.system == "linux" and python.machine == "x86_64"


def install_opencl(python: Interpreter) -> tuple[str, ...]:
    """Install pyopencl with a driver, as the extra `pocl` does."""
    if has_pocl_wheel(python):
        return install(python, *map(requirement, POCL_EXTRA))
    return (*install(python, requirement("pyopencl")), *install_driver(python, wheel_loader=True))


def install_driver(python: Interpreter, *, wheel_loader: bool) -> tuple[str, ...]:
    """Install PoCL where the loader that is used finds it; nothing where no package of it is known."""
    if python.conda and not wheel_loader:
        return (shlex.join(["conda", "install", "-y", "-p", python.prefix, "-c", "conda-forge", "pocl"]),)
    if has_pocl_wheel(python):
        # A pyopencl that was built here uses the system's loader, which does not look into the wheel.
        first = () if wheel_loader else reinstall_wheel(python, "pyopencl")
        return (*first, *install(python, requirement("pocl-binary-distribution")))
    return (as_root("apt-get install -y pocl-opencl-icd"),) if python.apt else ()


def write_icd(folder: Path, name: str, library: str) -> str:
    """Write an .icd file."""
    target = shlex.quote(str(folder / name))
    line = f"mkdir -p {shlex.quote(str(folder))} && echo {shlex.quote(library)} > {target}"
    return line if writable(folder) else f"sudo sh -c {shlex.quote(line)}"


def put_aside(file: Path) -> str:
    """Rename an .icd file, so that no loader reads it."""
    line = shlex.join(["mv", str(file), f"{file}.off"])
    return line if writable(file.parent) else f"sudo {line}"


def remove(file: Path) -> str:
    """Delete a file."""
    line = shlex.join(["rm", str(file)])
    return line if writable(file.parent) else f"sudo {line}"


def as_root(command: str) -> str:
    """The command with sudo, unless this is root."""
    return command if hasattr(os, "geteuid") and os.geteuid() == 0 else f"sudo {command}"


def writable(folder: Path) -> bool:
    """Whether files can be made in the folder, or the folder itself where it does not exist."""
    return os.access(nearest(folder), os.W_OK)


__all__ = [
    "as_root", "has_pocl_wheel", "install", "install_driver", "install_opencl", "pip", "put_aside", "reinstall_wheel",
    "remove", "requirement", "writable", "write_icd",
]  # fmt: skip
