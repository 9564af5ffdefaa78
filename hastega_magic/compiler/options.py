"""What a user can choose, with the names of the magic's options."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, cast

from hastega_magic.errors import UsageError
from hastega_magic.frames import leaving
from hastega_magic.records import dataclass

BACKENDS = ("auto", "python", "numpy", "simd", "parallel", "opencl", "all")
"""Names that `--on` and `--compare` take; `opencl` also as `opencl:DEVICE`."""

INT_MODES = ("exact", "checked", "wrap")

SECTIONS = ("pipeline", "fused", "passes", "llvm", "asm", "opencl", "phases", "baselines")
"""What `--show` takes."""

_HEADINGS: Mapping[str, str] = {
    **dict.fromkeys(("assembly", "assembler"), "asm"),
    **dict.fromkeys(("times", "timing", "timings", "transfers"), "phases"),
    **dict.fromkeys(("stages", "graph"), "pipeline"),
}
"""What a report or others call a section."""

_MEANT: Mapping[str, str] = {
    **dict.fromkeys(
        ("gpu", "gpus", "device", "cuda", "nvidia", "rocm", "hip", "amd", "metal", "vulkan", "sycl"), "opencl"
    ),
    **dict.fromkeys(
        ("cpu", "cpus", "cores", "threads", "multithreaded", "openmp", "omp", "prange"), "parallel"
    ),
    **dict.fromkeys(
        ("vector", "vectors", "vectorized", "avx", "avx2", "avx512", "sse", "neon", "llvm"), "simd"
    ),
    **dict.fromkeys(("np", "array", "arrays"), "numpy"),
    **dict.fromkeys(("py", "cpython", "pure"), "python"),
    **dict.fromkeys(("best", "fastest", "default"), "auto"),
    **dict.fromkeys(("both", "hybrid", "everything"), "all"),
}
"""What others call a back end."""

_SWITCHES = ("baseline", "fast_math", "fuse", "strict", "quiet", "widgets", "tune")


@dataclass(frozen=True)
class Options:
    """Choices for a cell or a decorated function.

    on        back end; "auto": what is predicted to be the fastest; "all": the CPU and OpenCL devices at once
    compare   back ends measured beside it
    baseline  whether pure Python and NumPy are timed
    int_mode  "exact" (Python's integers), "checked" (OverflowError beyond 64 bits), "wrap" (two's complement)
    fast_math lets multiplications and additions of floats contract
    fuse      False: every stage runs as a loop of its own
    threads   at most so many (0: all CPUs); width: lanes of a vector (0: what the CPU has)
    device_memory  MiB of an OpenCL device that may be used (0: most of them)
    repeat    how often the loop is run, to report the median
    strict    a barrier is an error
    tune      a search for the fastest schedule, of about `tune_seconds` for each loop
    show      sections of the report alone, in notebooks
    widgets   a panel under the report, in notebooks
    """

    on: str = "auto"
    compare: tuple[str, ...] = ()
    baseline: bool = True
    int_mode: str = "exact"
    fast_math: bool = False
    fuse: bool = True
    threads: int = 0
    width: int = 0
    device_memory: int = 0
    repeat: int = 1
    strict: bool = False
    quiet: bool = False
    show: tuple[str, ...] = ()
    widgets: bool = False
    tune: bool = False
    tune_seconds: float = 2.0

    def __post_init__(self) -> None:
        """One line for each value that cannot be."""
        self._check_names()
        for name in _SWITCHES:
            given: object = getattr(self, name)
            if not isinstance(given, int):  # of a text, "no" would be on
                raise _refused(name, f"takes True or False, not {given!r}")
        for name, least in (("threads", 0), ("width", 0), ("device_memory", 0), ("repeat", 1)):
            given = getattr(self, name)
            if not isinstance(given, int) or isinstance(given, bool):
                raise _refused(name, f"takes a whole number, not {given!r}")
            if name != "width" and given < least:
                raise _refused(name, f"takes {('zero', 'one')[least]} or more, not {given}")
        if self.width not in (0, 1, 2, 4, 8, 16, 32, 64):
            raise _refused("width", f"takes a power of two from 1 to 64, not {self.width}")
        if not isinstance(cast(object, self.tune_seconds), (int, float)):
            raise _refused("tune_seconds", f"takes a number, not {self.tune_seconds!r}")
        if not 0 < self.tune_seconds < 3600:
            raise _refused(
                "tune_seconds", f"takes up to an hour, and more than nothing, not {self.tune_seconds}"
            )

    def _check_names(self) -> None:
        for name in ("on", "int_mode"):
            if not isinstance(getattr(self, name), str):
                raise _refused(name, f"takes a name, not {getattr(self, name)!r}")
        for name in (self.on, *self.compare):
            if name not in BACKENDS and not name.startswith("opencl:"):
                raise no_back_end(name)
        for name in self.show:
            if name not in SECTIONS:
                raise UsageError(
                    f"there is no section {name!r}{did_you_mean(_HEADINGS.get(name.lower(), name), SECTIONS)}"
                )
        if self.int_mode not in INT_MODES:
            near = did_you_mean(self.int_mode, INT_MODES)
            raise _refused("int_mode", f"has no mode {self.int_mode!r}{near}")

    def to_dict(self) -> dict[str, object]:
        """The options as the report's JSON has them."""
        own: dict[str, object] = dict(vars(self))
        return own | {"compare": list(self.compare), "show": list(self.show)}


def _refused(option: str, sentence: str) -> UsageError:
    """Why the option, which the keyword names, cannot have the value."""
    error = UsageError(f"{option} {sentence}")
    error.option = option
    return error


@lru_cache(64)
def placed(options: Options, on: str) -> Options:
    """The options with another back end."""
    return replace(options, on=on)


_NEAR = 0.65
"""How near a name has to be; `nope` and `opencl` have 0.6, which is by chance."""


def did_you_mean(name: str, names: Collection[str]) -> str:
    """`: did you mean --fuse?` where one of the names is near, else the names there are."""
    bare = {each.lstrip("-"): each for each in names}  # the dashes alone would make options near
    near = difflib.get_close_matches(name.lstrip("-").lower(), bare, 1, _NEAR)
    there = f"; there are {', '.join(names)}" if names else ""
    return f": did you mean {bare[near[0]]}?" if near else there


def no_back_end(name: str, names: Collection[str] = BACKENDS) -> UsageError:
    """What says that there is no such back end, with the one that is meant (`gpu:1`: opencl:1), or those there are."""
    if "," in name:
        return UsageError(
            f"there is no back end {name!r}: one computes, and `--compare` measures others beside it"
        )
    word, colon, device = name.partition(":")
    meant = _MEANT.get(word.lower(), word)
    near = did_you_mean(meant, names)
    if colon and meant == "opencl":
        near = f": did you mean opencl:{device}?"
    return UsageError(f"there is no back end {name!r}{near}")


@leaving
def options_of(caller: str, given: Mapping[str, Any], **defaults: Any) -> Options:
    """Options from keywords; TypeError, with the nearest one, for a name that is none."""
    known = [each.name for each in fields(Options)]
    for name in given:
        if name not in known:
            raise TypeError(f"{caller} has no option {name!r}{did_you_mean(name, known)}")
    several: dict[str, Any] = {
        name: _names(name, given[name]) for name in ("compare", "show") if name in given
    }
    alone = {name: _alone(value) for name, value in given.items()}
    return Options(**{**defaults, **alone, **several})


def _alone(value: Any) -> Any:
    """Python's own number for one of NumPy's."""
    return value.item() if getattr(value, "shape", None) == () else value


def _names(option: str, given: Any) -> tuple[str, ...]:
    """One name, or several."""
    one = not isinstance(given, (list, tuple))
    names = (given,) if one else tuple(cast("list[object]", given))
    if not all(isinstance(each, str) for each in names):
        raise UsageError(f"{option} takes names, not {given!r}")
    return cast("tuple[str, ...]", names)
