"""This Python, its packages, and the CPUs that it may use: what can be found out without loading anything."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from hastega_magic.doctor.files import is_file, read
from hastega_magic.records import dataclass

REQUIRED = {
    "numpy": "2.0", "llvmlite": "0.50", "ipython": "8.18", "ipykernel": "6.29", "ipywidgets": "8.1", "orjson": "3.10",
    "tqdm": "4.66",
}  # fmt: skip
"""Packages that have to be there, with the oldest version that will do."""

COMPUTING = ("numpy", "llvmlite")
"""Those of them that back ends need; the others serve the notebook."""

POCL_EXTRA = {"pyopencl": "2025.1", "pocl-binary-distribution": "3.0"}
"""What the extra `pocl` installs."""

_ALSO = ("jupyterlab", "notebook")


@dataclass(frozen=True)
class Package:
    """A package of this Python: `version` is empty where it is not installed, `oldest` where any will do."""

    name: str
    version: str
    oldest: str

    @property
    def enough(self) -> bool:
        """Whether it is there and not too old."""
        return bool(self.version) and numbers(self.version) >= numbers(self.oldest)


@dataclass(frozen=True)
class Interpreter:
    """This Python, and what it runs on: `sys.platform` and the machine's architecture.

    conda  its environment is conda's
    pip    it has pip, without which pip installs nothing
    apt    the system has apt-get
    """

    executable: str
    version: str
    prefix: str
    package: str
    conda: bool
    pip: bool
    apt: bool
    system: str
    machine: str


@dataclass(frozen=True)
class Threads:
    """CPUs of the machine, those this process may run on, the cgroup's limit in CPUs, and how many threads we start."""

    cpus: int
    affinity: int
    quota: float | None
    used: int


def interpreter() -> Interpreter:
    """This process's Python."""
    return Interpreter(
        executable=sys.executable, version=platform.python_version(), prefix=sys.prefix,
        package=str(Path(__file__).parent.parent), conda=Path(sys.prefix, "conda-meta").is_dir(),
        pip=importlib.util.find_spec("pip") is not None, apt=shutil.which("apt-get") is not None,
        system=sys.platform, machine=platform.machine(),
    )  # fmt: skip


def packages() -> dict[str, Package]:
    """What is installed of the packages that matter here, by name."""
    wanted = REQUIRED | POCL_EXTRA | dict.fromkeys(_ALSO, "")
    return {name: Package(name, _version(name), oldest) for name, oldest in wanted.items()}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except Exception:  # not there, or its metadata is damaged, which is no better
        return ""


def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: 2.0.1rc1 gives (2, 0, 1)."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()


def folder_of(package: str) -> Path | None:
    """The folder of a package, found without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except Exception:  # what stands in sys.modules under that name may be anything
        return None
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def labextension(roots: Sequence[Path] | None = None) -> str:
    """The folder of our extension of JupyterLab; "" where it is not installed."""
    for root in _data_folders() if roots is None else roots:
        for pattern in ("labextensions/*hastega*", "labextensions/@*/*hastega*"):
            for folder in sorted(root.glob(pattern)):
                if is_file(folder / "package.json"):
                    return str(folder)
    return ""


def _data_folders() -> list[Path]:
    try:
        from jupyter_core.paths import jupyter_path  # pyright: ignore[reportUnknownVariableType]

        return [Path(folder) for folder in jupyter_path()]
    except Exception:  # without Jupyter, where pip would put it
        return [Path(sys.prefix, "share", "jupyter")]


def cpu_model(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The CPU's name as its maker has it."""
    found = re.search(r"^model name\s*:\s*(.+)$", read(cpuinfo), re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()


def threads() -> Threads:
    """The CPUs that this process has."""
    from hastega_magic.runtime.threads import default_threads

    cpus = os.cpu_count() or 1
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cpus
    return Threads(cpus, affinity, cpu_quota(), default_threads())


def cpu_quota(root: Path = Path("/")) -> float | None:
    """CPUs' worth of time that cgroups (version 2 or 1) leave to this process; None where there is no limit."""
    found: list[float] = []
    for line in read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if not controllers:
            mounts = [root / "sys/fs/cgroup", root / "sys/fs/cgroup/unified"]
        elif "cpu" in controllers.split(","):
            mounts = [root / "sys/fs/cgroup" / name for name in (controllers, "cpu")]
        else:
            continue
        # A limit of any group above holds too; inside a container the path may not exist, and the mount is the group.
        groups = [Path(path.lstrip("/")), *Path(path.lstrip("/")).parents]
        found += [
            limit for mount in mounts for group in groups if (limit := _limit(mount / group)) is not None
        ]
    return min(found, default=None)


def _limit(group: Path) -> float | None:
    words = read(group / "cpu.max").split()
    if not words:
        words = [*read(group / "cpu.cfs_quota_us").split(), *read(group / "cpu.cfs_period_us").split()]
    try:
        quota, period = (int(word) for word in words)
    except ValueError:  # "max", or no such files
        return None
    return quota / period if quota > 0 and period > 0 else None


__all__ = [
    "COMPUTING", "POCL_EXTRA", "REQUIRED", "Interpreter", "Package", "Threads", "cpu_model", "cpu_quota", "folder_of",
    "interpreter", "labextension", "numbers", "packages", "threads",
]  # fmt: skip
