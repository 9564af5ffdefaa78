"""Findings of a machine on which all is well, to be spoilt by the tests; real drivers that misbehave."""

import os
import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from hastega_magic.doctor.ask import Answer
from hastega_magic.doctor.findings import Findings
from hastega_magic.doctor.host import POCL_EXTRA, REQUIRED, Interpreter, Package, Threads
from hastega_magic.doctor.icd import CacheFolder, IcdFile, Search
from hastega_magic.doctor.model import CPU_BACKENDS
from hastega_magic.runtime.inspect_cpu import CpuFacts
from hastega_magic.runtime.inspect_opencl import DeviceFacts, OpenClFacts, PlatformFacts

WHEEL = Path("/env/lib/pyopencl/.libs")
CPU = CpuFacts(
    "0.50.0", "22.1.0", "x86_64-unknown-linux-gnu", "skylake", "AVX2", ("avx2", "fma", "sahf"), ("x86-64",)
)
POCL = PlatformFacts("Portable Computing Language", "The pocl project", "OpenCL 3.0 PoCL 3.0", 1)
DEVICE = DeviceFacts(
    0, "pthread-cpu", "cpu", POCL.name, "3.0", "OpenCL C 1.2", 4, 8_000_000_000, 2_000_000_000, True, True
)


def works(backend):
    return {"trial": {"backend": backend, "state": "works", "text": "here"}}


def cpu_answer(**facts):
    return Answer(({"begin": "asking llvmlite"}, {"facts": asdict(CPU) | facts}, *map(works, CPU_BACKENDS)))


def opencl_answer(
    devices=(DEVICE,), platforms=(POCL,), trials=None, chosen="opencl:0", loader=None, **changes
):
    loader = WHEEL / "libOpenCL.so.1" if loader is None else loader
    facts = asdict(OpenClFacts("2026.1", (str(loader),), tuple(platforms), tuple(devices)))
    said = (
        {"chosen": {"opencl": chosen}} if devices else {"refused": {"opencl": "no OpenCL device was found"}}
    )
    if trials is None:
        trials = [works(f"opencl:{device.number}") for device in devices]
    events = ({"begin": "listing OpenCL devices"}, {"facts": facts}, said, *trials)
    return replace(Answer(events), **changes)


HEALTHY = Findings(
    needed=(*CPU_BACKENDS, "opencl"),
    python=Interpreter(
        "/env/bin/python", "3.11.7", "/env", "/env/lib/hastega_magic", conda=False, pip=True, apt=True, system="linux",
        machine="x86_64",
    ),
    packages={name: Package(name, oldest, oldest) for name, oldest in (REQUIRED | POCL_EXTRA).items()},
    threads=Threads(4, 4, None, 4), cpu_model="A CPU", labextension="",
    cpu=cpu_answer(), opencl=opencl_answer(), wheel=WHEEL, reads=Search((Path("/etc/OpenCL/vendors"), WHEEL)),
    icd=(IcdFile(str(WHEEL / "pocl.icd"), "libpocl-1.so", True),),
    cache=CacheFolder("/env/cache", True, 1000),
)  # fmt: skip


class Machine:
    """What the tests of rules need, under one name."""

    healthy = HEALTHY
    wheel = WHEEL
    pocl = POCL
    device = DEVICE
    cpu_answer = staticmethod(cpu_answer)
    opencl_answer = staticmethod(opencl_answer)

    @staticmethod
    def but(**changes) -> Findings:
        """Return the healthy machine with something else."""
        return replace(HEALTHY, **changes)

    @classmethod
    def without_devices(cls, **changes) -> Findings:
        """Return a machine whose loader finds nothing."""
        return cls.but(**({"opencl": opencl_answer((), ()), "icd": ()} | changes))


@pytest.fixture(scope="session")
def machine() -> type[Machine]:
    return Machine


@pytest.fixture
def compiled(tmp_path):
    """A function that compiles C to a shared library in a folder of its own."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")

    def build(name: str, code: str) -> Path:
        folder = tmp_path / "lib"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.c").write_text(code)
        library = folder / name
        command = [compiler, "-shared", "-fPIC", "-o", str(library), str(folder / f"{name}.c")]
        subprocess.run(command, check=True)
        return library

    return build


@pytest.fixture
def vendors(tmp_path):
    """A function that makes a folder of .icd files, given as name=library."""

    def make(**libraries) -> Path:
        folder = tmp_path / "vendors"
        folder.mkdir(exist_ok=True)
        for name, library in libraries.items():
            (folder / f"{name}.icd").write_text(f"{library}\n")
        return folder

    return make


@pytest.fixture(scope="session")
def doctor():
    """A function that runs `python -m hastega_magic doctor` with variables set."""

    def run(*arguments, python=(sys.executable, "-m", "hastega_magic"), **variables):
        environ = {
            name: value
            for name, value in os.environ.items()
            if name not in ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")
        }
        environ |= {name: str(value) for name, value in variables.items()}
        command = [*python, "doctor", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environ, timeout=120, check=False)

    return run
