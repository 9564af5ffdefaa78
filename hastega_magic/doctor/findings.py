"""Everything looked at, gathered: the only part of the doctor that depends on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from hastega_magic.cost.store import damaged, last_calibration
from hastega_magic.cost.store import folder as store_folder
from hastega_magic.doctor import host, icd
from hastega_magic.doctor.ask import Answer, ask
from hastega_magic.doctor.files import is_file
from hastega_magic.doctor.host import Interpreter, Package, Threads
from hastega_magic.doctor.icd import CacheFolder, IcdFile, Search
from hastega_magic.doctor.model import CPU_BACKENDS
from hastega_magic.records import dataclass
from hastega_magic.runtime.inspect_cpu import CpuFacts
from hastega_magic.runtime.inspect_opencl import DeviceFacts, OpenClFacts, PlatformFacts

NVIDIA = "libnvidia-opencl.so.1"
_NVIDIA_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/local/nvidia/lib64",
    "/usr/local/cuda/compat",
)  # fmt: skip


@dataclass(frozen=True)
class Findings:
    """What was found.

    needed           back ends that have to work
    cpu, opencl      what the processes said that tried them; `opencl` is None without pyopencl
    wheel            the folder of libraries in pyopencl's wheel, if there is one
    nvidia_gpu       there is a GPU of NVIDIA's
    nvidia_library   their OpenCL library as an .icd file would name it, where there is one and no .icd file does
    calibration      when the cost model's figures were measured; "" where they were not
    damaged          files of such figures that cannot be used, and why
    devices_here     how many OpenCL devices this process sees; None where it has not asked
    """

    needed: tuple[str, ...]
    python: Interpreter
    packages: Mapping[str, Package]
    threads: Threads
    cpu_model: str
    labextension: str
    cpu: Answer
    opencl: Answer | None
    wheel: Path | None
    reads: Search
    icd: tuple[IcdFile, ...]
    cache: CacheFolder
    vendors_variable: str = ""
    nvidia_gpu: bool = False
    nvidia_library: str = ""
    devices_here: int | None = None
    calibration: str = ""
    damaged: tuple[tuple[Path, str], ...] = ()

    @property
    def cpu_facts(self) -> CpuFacts | None:
        """What llvmlite said."""
        found = self.cpu.of("facts")
        return CpuFacts(**{name: _frozen(value) for name, value in found[0].items()}) if found else None

    @property
    def opencl_facts(self) -> OpenClFacts:
        """What pyopencl said; nothing, where it did not."""
        found = self.opencl.of("facts") if self.opencl is not None else ()
        if not found:
            return OpenClFacts("", (), (), ())
        return OpenClFacts(
            pyopencl=found[0]["pyopencl"],
            loaders=tuple(found[0]["loaders"]),
            platforms=tuple(PlatformFacts(**each) for each in found[0]["platforms"]),
            devices=tuple(DeviceFacts(**each) for each in found[0]["devices"]),
        )

    @property
    def loader(self) -> Path | None:
        """The libOpenCL that pyopencl uses."""
        return _loader(self.opencl_facts)

    @property
    def wheel_loader(self) -> bool:
        """Whether it is the one in pyopencl's wheel, which reads .icd files beside it."""
        return self.loader is not None and self.loader.parent == self.wheel

    @property
    def read(self) -> tuple[IcdFile, ...]:
        """The .icd files that the loader reads."""
        return tuple(file for file in self.icd if file.is_read)


def gather(needed: Sequence[str] | None = None) -> Findings:
    """Look at everything. `needed` None: what is installed; the CPU's back ends have to work in any case."""
    there, environ = host.folder_of("pyopencl"), os.environ
    if needed is None:
        needed = (*CPU_BACKENDS, *(("opencl",) if there is not None else ()))
    with ThreadPoolExecutor(1) as pool:
        cpu = pool.submit(ask, "cpu")
        opencl = ask("opencl", needed=opencl_specs(needed)) if there is not None else None
        wheel = _wheel_folder(there)
        found = Findings(
            needed=tuple(needed), python=host.interpreter(), packages=host.packages(), threads=host.threads(),
            cpu_model=host.cpu_model(), labextension=host.labextension(), cpu=cpu.result(), opencl=opencl,
            wheel=wheel, reads=Search(()), icd=(), cache=icd.inspect_cache(icd.pocl_cache(environ)),
            vendors_variable=environ.get("OCL_ICD_VENDORS", ""), nvidia_gpu=any(Path("/dev").glob("nvidia[0-9]*")),
            devices_here=_devices_here(), calibration=last_calibration(store_folder(), host.cpu_model()),
            damaged=tuple(damaged(store_folder())),
        )  # fmt: skip
    reads = icd.search(environ, found.loader or _only_loader(wheel), wheel)
    others = [
        folder for folder in (wheel, Path(sys.prefix, "etc/OpenCL/vendors"), icd.SYSTEM_FOLDER) if folder
    ]
    files = tuple(_tried(file) for file in icd.icd_files(reads, others))
    library = "" if any(file.nvidia for file in files) else _nvidia_library()
    return replace(found, reads=reads, icd=files, nvidia_library=library)


def opencl_specs(needed: Sequence[str]) -> list[str]:
    """Those of the back ends that are OpenCL's."""
    return [each for each in needed if each.partition(":")[0] == "opencl"]


def load_trouble(library: str) -> str:
    """Why a driver's library cannot be loaded, tried in a process of its own; "" if it can."""
    answer = ask("library", 20, library=library)
    said = answer.of("library")
    return str(said[0]) if said else f"the process that loaded it {answer.ended or 'said nothing'}"


def _tried(file: IcdFile) -> IcdFile:
    trouble = load_trouble(icd.loadable(file)) if file.library else "the file names no library"
    return replace(file, trouble=trouble)


def _nvidia_library(
    load: Callable[[str], str] = load_trouble, folders: Sequence[str] = _NVIDIA_FOLDERS
) -> str:
    """NVIDIA's OpenCL library by name, if the system finds it so, else by path; "" where there is none."""
    if not load(NVIDIA):
        return NVIDIA
    paths = (Path(folder, NVIDIA) for folder in folders)
    return next((str(path) for path in paths if is_file(path) and not load(str(path))), "")


def _wheel_folder(pyopencl: Path | None) -> Path | None:
    """Where pyopencl's wheel keeps the libraries that it brings."""
    if pyopencl is None:
        return None
    folders = (pyopencl / ".libs", pyopencl.parent / "pyopencl.libs")
    # Without links, as the system names what it has loaded.
    return next((folder.resolve() for folder in folders if any(folder.glob("libOpenCL*"))), None)


def _only_loader(wheel: Path | None) -> Path | None:
    """The wheel's loader, where no process could tell which one it uses."""
    return next(iter(sorted(wheel.glob("libOpenCL*"))), None) if wheel is not None else None


def _loader(facts: OpenClFacts) -> Path | None:
    return Path(facts.loaders[0]) if facts.loaders else None


def _devices_here() -> int | None:
    if "pyopencl" not in sys.modules:
        return None
    try:
        from hastega_magic.runtime import opencl

        return len(opencl.devices())
    except Exception:  # the other process will have met it too
        return 0


def _frozen(value: Any) -> Any:
    return tuple(cast(Any, value)) if isinstance(value, list) else value


__all__ = ["NVIDIA", "Findings", "gather", "load_trouble", "opencl_specs"]
