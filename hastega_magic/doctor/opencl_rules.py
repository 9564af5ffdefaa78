"""What is wrong with OpenCL: one rule for each trap that its users fall into."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path

from hastega_magic.doctor import mend
from hastega_magic.doctor.findings import NVIDIA, Findings, opencl_specs
from hastega_magic.doctor.icd import IcdFile
from hastega_magic.doctor.model import Problem

_UNSET = "unset OCL_ICD_VENDORS"


def _problem(name: str, text: str, *commands: str) -> Problem:
    return Problem(name, "opencl", text, commands)


def pyopencl(findings: Findings) -> Iterable[Problem]:
    """It is not installed, too old, or cannot be imported."""
    if findings.opencl is None:
        if opencl_specs(findings.needed):
            text = "pyopencl is not installed, which --on opencl needs"
            yield _problem("pyopencl-missing", text, *mend.install_opencl(findings.python))
        return
    package = findings.packages["pyopencl"]
    if package.version and not package.enough:
        text = f"pyopencl {package.version} is older than {package.oldest}"
        commands = mend.install(findings.python, mend.requirement("pyopencl"))
        yield _problem("pyopencl-old", text, *commands)
    for trouble in findings.opencl.of("trouble"):
        commands = mend.reinstall_wheel(findings.python, "pyopencl")
        yield _problem("pyopencl-broken", f"pyopencl cannot be used: {trouble}", *commands)


def crash(findings: Findings) -> Iterable[Problem]:
    """A driver takes the process with it."""
    answer = findings.opencl
    if answer is None or not answer.ended:
        return
    drivers = ", ".join(Path(file.library).name for file in findings.read) or "none known"
    last = f"; its last words: {answer.errors.splitlines()[-1]}" if answer.errors else ""
    yield _problem(
        "driver-crash",
        f"the process that tried OpenCL {answer.ended} at: {answer.step}. A driver does this (here: {drivers}), "
        f"and would do it to the notebook too{last}",
    )


def vendors(findings: Findings) -> Iterable[Problem]:
    """OCL_ICD_VENDORS names nothing, which hides every driver."""
    if findings.reads.missing:
        text = (
            f"OCL_ICD_VENDORS is {findings.vendors_variable!r}, and there is no {findings.reads.missing}: "
            "the loader then finds no driver at all"
        )
        yield _problem("vendors-missing", text, _UNSET)


def libraries(findings: Findings) -> Iterable[Problem]:
    """An .icd file names a library that cannot be loaded; stale, where other drivers can be."""
    ended = findings.opencl is not None and findings.opencl.ended
    others = any(not file.trouble for file in findings.read) and not ended
    name = "icd-stale" if others else "icd-library"
    for file in findings.read:
        if not file.trouble:
            continue
        if not file.path:
            text = f"OCL_ICD_VENDORS names the library {file.library}, which cannot be loaded: {file.trouble}"
            yield _problem(name, text, _UNSET)
            continue
        text = f"{file.path} names {file.library or 'no library'}, which cannot be loaded: {file.trouble}"
        if file.nvidia:
            text += ". In a container, start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility"
        yield _problem(name, text, *_mend_library(findings, file))


def _mend_library(findings: Findings, file: IcdFile) -> tuple[str, ...]:
    if file.pocl and Path(file.path).parent == findings.wheel:
        return mend.reinstall_wheel(findings.python, "pocl-binary-distribution")
    return (mend.put_aside(Path(file.path)),)


def blind(findings: Findings) -> Iterable[Problem]:
    """A driver is there, and the loader that pyopencl uses does not look where its .icd file is."""
    facts = findings.opencl_facts
    if findings.opencl is None or findings.reads.missing or (findings.vendors_variable and facts.devices):
        return
    read = {Path(file.library).name for file in findings.read if not file.trouble}
    has_pocl = any(file.pocl for file in findings.read if not file.trouble)
    for file in findings.icd:
        hidden = not file.is_read and not file.trouble and Path(file.library).name not in read
        if not hidden or (file.pocl and has_pocl):
            continue
        loader = findings.loader or "the OpenCL loader"
        folder = Path(file.path).parent
        text = f"{loader}, which pyopencl uses, does not read {file.path}: that driver is not seen"
        if folder == findings.wheel:
            commands = mend.install_driver(findings.python, wheel_loader=False)
        elif findings.vendors_variable:
            commands = (_UNSET,)
        else:
            # The loader's own folder, too, may have drivers: one more file there hides none of them.
            name = Path(file.path).name
            commands = (mend.write_icd(findings.reads.vendors, name, file.library),)
        yield _problem("loader-blind", text, *commands)


def cache(findings: Findings) -> Iterable[Problem]:
    """PoCL cannot write its cache folder, and then has no devices."""
    if not findings.cache.trouble or not any(file.pocl for file in findings.read):
        return
    path = Path(findings.cache.path)
    text = f"PoCL cannot use its cache folder {path}, and then has no devices: {findings.cache.trouble}"
    denied = _is_ours_and_shut(path)
    command = f"chmod -R u+rwX {shlex.quote(str(path))}" if denied else 'export POCL_CACHE_DIR="$(mktemp -d)"'
    yield _problem("pocl-cache", text, command)


def _is_ours_and_shut(folder: Path) -> bool:
    try:
        found = folder.stat()
    except OSError:
        return False
    return found.st_uid == os.geteuid() and found.st_mode & 0o300 != 0o300


def twice(findings: Findings) -> Iterable[Problem]:
    """PoCL of two makes, conda's and pip's or the system's and pip's, in one process: two LLVMs that clash."""
    files = [
        file
        for file in findings.icd
        if file.pocl and not file.trouble and (file.is_read or _ours(findings, file))
    ]
    platforms = [
        each for each in findings.opencl_facts.platforms if "portable computing" in each.name.lower()
    ]
    if len(files) < 2 and len(platforms) < 2:
        return
    names = f" ({' and '.join(file.path or file.library for file in files)})" if len(files) > 1 else ""
    text = f"PoCL is there more than once{names}: its devices are listed twice, or their LLVMs clash"
    yield _problem("pocl-twice", text, *_drop_one(findings, files))


def _drop_one(findings: Findings, files: list[IcdFile]) -> tuple[str, ...]:
    """Uninstall the one that is not read; where both are, pip's, whose place only one loader knows."""
    files = sorted(files, key=lambda file: (file.is_read, not _pips(findings, file)))
    if len(files) < 2 or findings.vendors_variable:
        return (_UNSET,) if findings.vendors_variable else ()
    if _pips(findings, files[0]):
        return mend.pip(findings.python, "uninstall", "-y", "pocl-binary-distribution")
    if findings.python.conda and _ours(findings, files[0]):
        return (shlex.join(["conda", "remove", "-y", "-p", findings.python.prefix, "pocl"]),)
    return (mend.put_aside(Path(files[0].path)),)


def _pips(findings: Findings, file: IcdFile) -> bool:
    return bool(file.path) and Path(file.path).parent == findings.wheel


def _ours(findings: Findings, file: IcdFile) -> bool:
    """Whether the file belongs to this environment, conda's or pip's, so that both were installed into it."""
    return Path(os.path.realpath(file.path)).is_relative_to(os.path.realpath(findings.python.prefix))


def nvidia(findings: Findings) -> Iterable[Problem]:
    """NVIDIA's driver is there, and OpenCL does not know it."""
    if findings.opencl is None or any(file.nvidia for file in findings.icd):
        return
    if findings.nvidia_library:
        text = f"NVIDIA's {NVIDIA} is there, but no .icd file names it: its GPUs are not seen"
        command = mend.write_icd(findings.reads.vendors, "nvidia.icd", findings.nvidia_library)
        yield _problem("nvidia-no-icd", text, command)
    elif findings.nvidia_gpu:
        text = (
            f"there is a GPU of NVIDIA's, but not {NVIDIA}, the OpenCL part of its driver: install that part of "
            "the same version as the driver; in a container, start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility"
        )
        yield _problem("nvidia-no-opencl", text)


def empty_platforms(findings: Findings) -> Iterable[Problem]:
    """A driver was loaded and offers no device, for no reason found above."""
    for platform in findings.opencl_facts.platforms:
        if not platform.devices and not any(cache(findings)):
            why = f": {platform.trouble}" if platform.trouble else ""
            yield _problem("no-devices", f"the platform {platform.name} has no devices{why}")


def precision(findings: Findings) -> Iterable[Problem]:
    """A device without float64."""
    for device in findings.opencl_facts.devices:
        if not device.float64:
            yield _problem(
                "no-float64",
                f"opencl:{device.number} ({device.name}) has no float64: float64 data is refused there, and functions "
                "that divide integers run in Python; use float32 arrays, or --on parallel",
            )


def restart(findings: Findings) -> Iterable[Problem]:
    """This process loaded OpenCL before what it would find now was installed."""
    now = len(findings.opencl_facts.devices)
    if findings.devices_here is not None and findings.devices_here < now:
        text = f"this process sees {findings.devices_here} OpenCL devices, and a new one would see {now}"
        yield _problem("restart", f"{text}: restart the kernel")


def driver(findings: Findings) -> Iterable[Problem]:
    """There is no device because there is no driver that could be loaded."""
    answer = findings.opencl
    if answer is None or answer.ended or answer.of("trouble") or findings.opencl_facts.platforms:
        return
    pips = any(_pips(findings, file) for file in findings.icd)
    if (
        pips
        or findings.nvidia_library
        or findings.reads.missing
        or any(not file.trouble for file in findings.icd)
    ):
        return  # the rules above say what hinders them
    if findings.packages["pocl-binary-distribution"].version and findings.wheel_loader:
        text = "PoCL from PyPI is installed, but not its .icd file (PLATFORM_NOT_FOUND_KHR)"
        commands = mend.reinstall_wheel(findings.python, "pocl-binary-distribution")
    else:
        text = "no OpenCL driver is installed (PLATFORM_NOT_FOUND_KHR); PoCL runs OpenCL on the CPU"
        commands = mend.install_driver(findings.python, wheel_loader=findings.wheel_loader)
    yield _problem("no-driver", text, *commands)


OPENCL_RULES: tuple[Callable[[Findings], Iterable[Problem]], ...] = (
    pyopencl, crash, vendors, libraries, blind, cache, nvidia, empty_platforms, driver, twice, precision, restart,
)  # fmt: skip

__all__ = ["OPENCL_RULES"]
