"""What can compute in this process, as a table: the CPU's back ends and each OpenCL device."""

from __future__ import annotations

import os

from hastega_magic.doctor import mend
from hastega_magic.doctor.child import message
from hastega_magic.doctor.host import folder_of, interpreter
from hastega_magic.doctor.model import Table
from hastega_magic.doctor.tables import DEVICE_HEAD, device_row
from hastega_magic.report.units import size
from hastega_magic.runtime.threads import default_threads


def devices() -> tuple[Table, str]:
    """The table, and "" or one line that says why it has no OpenCL device."""
    rows, note = _opencl_rows()
    return Table("Devices", (*_cpu_rows(), *rows), DEVICE_HEAD), note


def _cpu_rows() -> tuple[tuple[str, ...], ...]:
    from hastega_magic.runtime.inspect_cpu import inspect

    facts = inspect()
    last = (size(_memory()) if _memory() else "unknown", "yes", f"llvmlite {facts.llvmlite}")
    platform = f"LLVM {facts.llvm}, {facts.isa}"
    return tuple(
        (name, "cpu", facts.name, platform, str(units), *last)
        for name, units in (("parallel", default_threads()), ("simd", 1))
    )


def _memory() -> int:
    """The machine's memory in bytes; 0 where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0


def _opencl_rows() -> tuple[tuple[tuple[str, ...], ...], str]:
    if folder_of("pyopencl") is None:
        commands = " && ".join(mend.install_opencl(interpreter()))
        return (
            (),
            f"opencl: none, pyopencl is not installed. To install it, with a driver for the CPU: {commands}",
        )
    from hastega_magic.runtime.inspect_opencl import inspect

    try:
        found = inspect().devices
    except Exception as error:  # drivers fail in ways of their own
        return (), f"opencl: none ({message(error)}); %hastega doctor says more"
    return tuple(
        map(device_row, found)
    ), "" if found else "opencl: no device was found; %hastega doctor says why"


__all__ = ["devices"]
