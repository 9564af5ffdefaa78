"""OpenCL devices: listed, chosen by name, and kept with their context, programs and lanes.

`opencl` is the first GPU, else the first device; `opencl:1` the device of that number; `opencl:gpu` the first
of that kind; `opencl:geforce` the first whose name or platform has this in it.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, cast

from hastega_magic.errors import HastegaError, UsageError
from hastega_magic.forking import held_while_forking
from hastega_magic.interrupts import put_off
from hastega_magic.ir.target import Target
from hastega_magic.records import dataclass
from hastega_magic.runtime.signals import held_back

_KINDS = ("gpu", "cpu", "accelerator")
_LOG_LINES = 12
_INSTALL = "`pip install hastega-magic[pocl]` installs one that runs on the CPU"
_FORKED = (
    "OpenCL was in use when this process was forked, and its drivers' threads are not here: start processes with "
    "`spawn`, or choose `parallel`"
)


class DeviceError(HastegaError):
    """A device failed, or has too little memory; one sentence, and the device's own words below it."""

    def __init__(self, text: str, log: str = "") -> None:
        """`log`: what the device or its compiler said."""
        super().__init__(text)
        self.log = log

    def _render_traceback_(self) -> list[str]:
        lines = [line for line in self.log.splitlines() if line.strip()]
        shown = [f"    {line}" for line in lines[:_LOG_LINES]]
        if len(lines) > _LOG_LINES:
            shown.append(f"    ... and {len(lines) - _LOG_LINES} more lines in the exception's `log`")
        return [f"{type(self).__name__}: {self}", *shown]


class BuildError(DeviceError):
    """The device's compiler refused a program."""


@dataclass(frozen=True)
class DeviceInfo:
    """What there is to know of a device. `memory` and `allocation` (of one buffer) in bytes.

    `unified`: it computes in the host's memory, so that nothing has to be copied. `vector_bits`: of the widest vectors
    that its code may hold.
    """

    number: int
    platform: str
    name: str
    kind: str
    version: str
    units: int
    memory: int
    allocation: int
    float64: bool
    denormals: bool
    exact_float32: bool
    unified: bool
    vector_bits: int = 512

    @property
    def pocl(self) -> bool:
        """Whether its platform is PoCL, whose `fma` is a slow call."""
        return "portable computing language" in self.platform.lower()

    def shares_memory(self, limit: int) -> bool:
        """Whether kernels compute in the host's arrays: never where `limit`, bytes of the device's own, is not 0."""
        return self.unified and not limit

    def target(self, narrow: bool) -> Target:
        """What a code generator may rely on; `narrow`: results cross a bus."""
        facts = {
            "groups": self.kind != "cpu", "float64": self.float64, "exact_float32": self.exact_float32,
            "builtins": self.pocl, "narrow": narrow, "denormals": self.denormals,
        }  # fmt: skip
        features = frozenset(name for name, holds in facts.items() if holds)
        return Target("opencl", self.name, features, self.vector_bits, "OpenCL", "opencl")


@dataclass
class _Drivers:
    """Whether drivers were begun in this process, or in one that it was forked from."""

    begun: bool = False
    left_behind: bool = False
    seconds: float = 0.0
    """What that took in this process, with the import of pyopencl."""


_DRIVERS = _Drivers()


def _opencl() -> Any:
    if "pyopencl" not in sys.modules and not _is_kept():
        os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
    try:
        import pyopencl
    except ImportError as error:
        raise UsageError(f"OpenCL needs pyopencl, which cannot be imported ({error}); {_INSTALL}") from None
    return cast(Any, pyopencl)


def _is_kept() -> bool:
    """Whether there is room for what PyOpenCL keeps between processes: in a read-only home it fails, unless told so."""
    try:
        import platformdirs
    except ImportError:  # then there is no PyOpenCL
        return True
    folder = platformdirs.user_cache_dir("pytools", "pytools")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _found() -> list[tuple[Any, Any]]:
    """Platforms with their devices; an empty list where no driver is installed."""
    if _DRIVERS.left_behind:
        raise UsageError(_FORKED)
    started, cl = time.perf_counter(), _opencl()
    begun, _DRIVERS.begun = _DRIVERS.begun, True
    found = held_back(lambda: _listed(cl))  # drivers begin threads
    if not begun:
        _DRIVERS.seconds = time.perf_counter() - started
    return found


def seconds_to_begin() -> float:
    """What the start of the drivers took in this process; 0 before it."""
    return _DRIVERS.seconds


def _listed(cl: Any) -> list[tuple[Any, Any]]:
    pairs: list[tuple[Any, Any]] = []
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:  # PLATFORM_NOT_FOUND_KHR
        return []
    for platform in platforms:
        try:
            pairs += [(platform, device) for device in platform.get_devices()]
        except cl.Error:  # a platform without devices
            continue
    return pairs


def devices() -> list[DeviceInfo]:
    """All devices of all platforms in their order; UsageError without pyopencl, or where drivers were left behind."""
    return [_described(number, *pair) for number, pair in enumerate(_found())]


def _described(number: int, platform: Any, device: Any) -> DeviceInfo:
    cl = _opencl()
    kinds = {cl.device_type.GPU: "gpu", cl.device_type.CPU: "cpu"}
    kind = next((name for flag, name in kinds.items() if device.type & flag), "accelerator")
    single = device.single_fp_config
    return DeviceInfo(
        number=number, platform=platform.name.strip(), name=device.name.strip(), kind=kind,
        version=device.opencl_c_version, units=device.max_compute_units, memory=device.global_mem_size,
        allocation=device.max_mem_alloc_size, float64=bool(_fact(device, "double_fp_config")),
        denormals=bool(single & cl.device_fp_config.DENORM),
        exact_float32=bool(single & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT),
        unified=kind == "cpu" and bool(_fact(device, "host_unified_memory")),
        vector_bits=_vector_bits(str(_fact(device, "version"))),
    )  # fmt: skip


_POCL_ON_X86 = re.compile(r"PoCL HSTR: \S*x86_64-\S*-gnu-(\S+)")
_WITH_AVX512 = re.compile("avx512|icelake|(cascade|cooper|cannon|tiger|rocket)lake|rapids|knl|knm|znver[45]")


def _vector_bits(version: str) -> int:
    """As wide as the CPU has registers that PoCL builds for, which may be an older one than there is.

    Wider vectors go to PoCL's functions in another way than these expect them, and results are wrong.
    """
    found = _POCL_ON_X86.search(version)
    return 256 if found and not _WITH_AVX512.search(found[1]) else 512


def _fact(device: Any, name: str) -> Any:
    """A property that a device need not have."""
    try:
        return getattr(device, name)
    except Exception:  # drivers answer unknown questions each in its own way
        return 0


def select(spec: str, there: Sequence[DeviceInfo]) -> DeviceInfo:
    """The device that `opencl` or `opencl:WHICH` names; UsageError, with the list of those there are."""
    if not there:
        raise UsageError(f"no OpenCL device was found; {_INSTALL}; if it is, see `%hastega doctor`")
    _, named, which = spec.partition(":")
    which = which.strip().lower()
    known = "; ".join(f"opencl:{each.number} is {each.name} ({each.kind}, {each.platform})" for each in there)
    if named and not which:
        raise UsageError(f"{spec.strip()!r} names no device; {known}")
    if not named:
        return min(there, key=lambda each: (_KINDS.index(each.kind), each.number))
    if which.isdigit():
        matching = [each for each in there if each.number == int(which)]
    elif which in _KINDS:
        matching = [each for each in there if each.kind == which]
    else:
        matching = [each for each in there if which in f"{each.name} {each.platform}".lower()]
    if not matching:
        raise UsageError(f"there is no OpenCL device {which!r}; {known}")
    return matching[0]


def program_of(context: Any, text: str, options: list[str]) -> Any:
    """The program that the context's own compiler makes of OpenCL C; raises what pyopencl does."""
    with warnings.catch_warnings(action="ignore"):  # what a compiler says is no fault
        return _opencl().Program(context, text).build(options=options)


class Device:
    """A device with its context; what is built and allocated there is kept until it fails."""

    def __init__(self, info: DeviceInfo, handle: Any) -> None:
        """Nothing is created yet."""
        self.info = info
        self._handle = handle
        self.lock = threading.RLock()
        """Held while anything is created or compiled."""
        self._context: Any = None
        self._programs: dict[tuple[str, bool], Any] = {}
        self._seen: set[tuple[str, str, bool]] = set()
        self.kept: list[Any] = []
        """Lanes that no launch uses (runtime/opencl/lane.py)."""
        self.shape: Hashable = None
        """Of the last launch: what staging memory its lanes needed."""
        self.resident: dict[Hashable, Any] = {}
        """Inputs that are on the device already (runtime/opencl/resident.py)."""
        self.patience: dict[str, int] = {}
        """By kernel text, the limit of a launch within which blocks came to their end (`time_slices.py`)."""
        self.chunk_bytes = 0
        """The size of a transfer, as measured; 0: not yet."""

    @property
    def context(self) -> Any:
        """The OpenCL context."""
        with self.lock:
            if _DRIVERS.left_behind:
                raise DeviceError(_FORKED)
            if self._context is None:
                try:
                    self._context = held_back(lambda: _opencl().Context([self._handle]))
                except _opencl().Error as error:
                    raise DeviceError(f"{self.info.name} cannot be used", str(error)) from None
            return self._context

    def queue(self) -> Any:
        """A new in-order queue that measures its commands."""
        cl = _opencl()
        measured = cl.command_queue_properties.PROFILING_ENABLE
        return held_back(lambda: cl.CommandQueue(self.context, properties=measured))

    def options(self, contract: bool) -> list[str]:
        """The compiler's options."""
        version = self.info.version.split()[2] if len(self.info.version.split()) > 2 else "1.2"
        found = [f"-cl-std=CL{version}", "-w"]  # PoCL's compiler counts warnings where the user reads
        if self.info.exact_float32:
            found.append("-cl-fp32-correctly-rounded-divide-sqrt")
        return [*found, "-cl-mad-enable"] if contract else found

    def built(self, text: str, contract: bool = False) -> Any:
        """The program, built once per context; BuildError with the compiler's log."""
        with self.lock:
            key = (text, contract)
            if key not in self._programs:
                try:  # warnings would stay ignored where Ctrl-C comes as that ends
                    self._programs[key] = put_off(
                        lambda: held_back(lambda: program_of(self.context, text, self.options(contract)))
                    )
                except _opencl().Error as error:
                    from hastega_magic.runtime.opencl.build_log import compilers_words

                    sentence = f"the OpenCL compiler of {self.info.name} refused the kernel"
                    raise BuildError(sentence, compilers_words(str(error))) from None
            return self._programs[key]

    def is_first(self, text: str, name: str, contract: bool) -> bool:
        """Whether nobody has asked for this kernel of the program before."""
        with self.lock:
            key = (text, name, contract)
            known = key in self._seen
            self._seen.add(key)
            return not known

    def forget(self) -> None:
        """Inputs may have changed: the next launch sends them again."""
        self.resident.clear()

    def release(self) -> None:
        """Let go of all lanes, with their memory on the device and their staging."""
        with self.lock:
            self.forget()
            self.kept.clear()

    def reset(self) -> None:
        """After a failure: forget the context, so that the next launch starts afresh."""
        with self.lock:
            self.release()
            self._programs.clear()
            self._seen.clear()
            self._context, self.chunk_bytes = None, 0

    def leave_behind(self) -> None:
        """In a forked process: keep all that is the driver's and touch none of it, as even letting go would wait."""
        _LEFT.append((self._context, self._programs, self.kept, self.resident))
        self._context, self._programs, self.kept, self.resident = None, {}, [], {}
        self.lock = threading.RLock()  # the thread that held the old one may not be here


_DEVICES: dict[int, Device] = {}
_DEVICES_LOCK = held_while_forking(threading.Lock())
_LEFT: list[object] = []


def _forked() -> None:
    _DRIVERS.left_behind = _DRIVERS.begun
    for each in _DEVICES.values():
        each.leave_behind()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def device(spec: str) -> Device:
    """The device that `opencl` or `opencl:WHICH` names, kept from call to call; UsageError if there is none."""
    pairs = _found()
    info = select(spec, [_described(number, *pair) for number, pair in enumerate(pairs)])
    with _DEVICES_LOCK:
        if info.number not in _DEVICES:
            _DEVICES[info.number] = Device(info, pairs[info.number][1])
        return _DEVICES[info.number]


def known_device(number: int) -> Device | None:
    """The device if it was asked for before."""
    return _DEVICES.get(number)


def driver_version(number: int) -> str:
    """The version of the driver of device `number`."""
    _, handle = _found()[number]
    return str(_fact(handle, "driver_version"))


def forget_inputs() -> None:
    """Arrays of the host may have changed: nothing of them is kept on any device."""
    for each in _DEVICES.values():
        each.forget()


__all__ = [
    "BuildError", "Device", "DeviceError", "DeviceInfo", "device", "devices",
    "driver_version", "forget_inputs", "known_device", "seconds_to_begin", "select",
]  # fmt: skip
