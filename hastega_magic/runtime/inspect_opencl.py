"""OpenCL as it is found here: loaders in this process, platforms, and all that is known of each device."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any, cast

from hastega_magic.records import dataclass
from hastega_magic.runtime.signals import held_back

_MAPS = Path("/proc/self/maps")


@dataclass(frozen=True)
class PlatformFacts:
    """A platform: a driver that the loader accepted. `trouble`: why its devices cannot be listed."""

    name: str
    vendor: str
    version: str
    devices: int
    trouble: str = ""


@dataclass(frozen=True)
class DeviceFacts:
    """A device. `number`: as in `opencl:1`; `memory` and `allocation` (of one buffer) in bytes."""

    number: int
    name: str
    kind: str
    platform: str
    driver: str
    version: str
    units: int
    memory: int
    allocation: int
    float64: bool
    unified: bool


@dataclass(frozen=True)
class OpenClFacts:
    """What pyopencl sees. `loaders`: paths of the libOpenCL in this process, empty where the system hides them."""

    pyopencl: str
    loaders: tuple[str, ...]
    platforms: tuple[PlatformFacts, ...]
    devices: tuple[DeviceFacts, ...]


def inspect() -> OpenClFacts:
    """Ask pyopencl; raises what its import and the drivers raise, but not for want of a platform."""
    import pyopencl

    cl = cast(Any, pyopencl)
    loaders = mapped_libraries("libOpenCL")  # before the drivers: some bring a loader of their own
    platforms: list[PlatformFacts] = []
    drivers: list[str] = []
    try:
        found: list[Any] = held_back(cl.get_platforms)  # drivers begin threads
    except cl.LogicError:  # PLATFORM_NOT_FOUND_KHR
        found = []
    for platform in found:
        trouble = ""
        handles: list[Any] = []
        try:
            handles = platform.get_devices()
        except cl.Error as error:
            trouble = str(error)
        drivers += [str(_fact(handle, "driver_version")) for handle in handles]
        words = (str(_fact(platform, name)).strip() for name in ("name", "vendor", "version"))
        platforms.append(PlatformFacts(*words, devices=len(handles), trouble=trouble))
    return OpenClFacts(str(cl.VERSION_TEXT), loaders, tuple(platforms), _devices(drivers) if found else ())


def _devices(drivers: list[str]) -> tuple[DeviceFacts, ...]:
    """The devices as `--on opencl:NUMBER` counts them."""
    from hastega_magic.runtime import opencl

    return tuple(
        DeviceFacts(
            number=each.number, name=each.name, kind=each.kind, platform=each.platform, driver=driver,
            version=each.version, units=each.units, memory=each.memory, allocation=each.allocation,
            float64=each.float64, unified=each.unified,
        )
        for each, driver in zip(opencl.devices(), drivers, strict=True)
    )  # fmt: skip


def _fact(thing: Any, name: str) -> Any:
    """A property that drivers may fail to answer, each in its own way."""
    try:
        return getattr(thing, name)
    except Exception:
        return ""


def mapped_libraries(name: str, maps: Path = _MAPS) -> tuple[str, ...]:
    """Paths of the shared objects in this process whose file name holds `name`; empty where no system tells."""
    try:
        lines = maps.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    paths = (fields[5] for line in lines if len(fields := line.split(None, 5)) == 6)
    return tuple(dict.fromkeys(path for path in paths if name in path.rpartition("/")[2]))


def load_driver(library: str) -> str:
    """Load a driver's library into this process, as a loader would: "", or why that cannot be done.

    Drivers get in each other's way: call this in a process of its own.
    """
    try:
        loaded = ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    # A loader asks an .icd file's library for its functions through this one.
    return "" if hasattr(loaded, "clGetExtensionFunctionAddress") else "it is not an OpenCL driver"


__all__ = [
    "DeviceFacts", "OpenClFacts", "PlatformFacts", "inspect", "load_driver", "mapped_libraries",
]  # fmt: skip
