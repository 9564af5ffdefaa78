"""The text of a loop's variant in the languages of other back ends: what would run there, for the report alone.

    ran as LLVM IR     OpenCL C for the device that it is compared with, else for any GPU
    ran as OpenCL C    LLVM IR and assembly for this CPU

It is made from the same variant by the same passes, so that the places of its lines are known as well. Nothing here
is compiled by a driver or run; a text that did not run in the cell says so in its first line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from hastega_magic.compiler.backends import Backend, Cpu, backend_of
from hastega_magic.compiler.choice.split import Split, name_of
from hastega_magic.compiler.options import Options
from hastega_magic.errors import HastegaError, NotCompilable
from hastega_magic.ir.expr import postorder
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.schedule import UNTUNED
from hastega_magic.ir.target import Target
from hastega_magic.passes.pipelines import CPU, State
from hastega_magic.records import dataclass
from hastega_magic.runtime import cpu
from hastega_magic.runtime.threads import default_threads

ANY_GPU = Target(
    "opencl",
    "any GPU",
    frozenset({"groups", "float64", "exact_float32", "denormals"}),
    512,
    "OpenCL",
    "opencl",
)
"""What kernels are spelled for where no device was named: a work-group per block, one element for each work-item."""

_MOST = 2000
"""Nodes of a kernel beyond which nobody reads a text that nobody asked for."""

_COMMENT = {"llvm": ";", "asm": "#", "opencl": "//"}
_LOCATION = re.compile(r"^!(\d+) = !DILocation\(line: (\d+),", re.MULTILINE)
_ATTACHED = re.compile(r", !dbg !(\d+)$")


@dataclass(frozen=True)
class Listing:
    """A text, and for each of its lines the line of the printed kernel that it belongs to (0: none)."""

    text: str
    places: Sequence[int]

    def headed(self, language: str, sentence: str) -> Listing:
        """The listing with a comment above it."""
        return Listing(f"{_COMMENT[language]} {sentence}\n{self.text}", (0, *self.places))


@dataclass(frozen=True)
class Spelling:
    """A variant for a target: its kernel, and listings by the names that the report's code has for them."""

    kernel: Kernel
    listings: dict[str, Listing]


@dataclass(frozen=True)
class Others:
    """The spellings that a report shows beside the one of the cell; `not_run`: those of back ends that ran nothing."""

    spellings: tuple[Spelling, ...]
    not_run: tuple[str, ...]

    @property
    def texts(self) -> dict[str, str]:
        """All texts, by name."""
        return {name: each.text for spelling in self.spellings for name, each in spelling.listings.items()}


def llvm_listings(text: str) -> dict[str, Listing]:
    """LLVM IR with debug locations, and the assembly that it becomes."""
    known = {int(number): int(line) for number, line in _LOCATION.findall(text)}
    places = [
        known.get(int(found[1]), 0) if (found := _ATTACHED.search(line)) else 0 for line in text.splitlines()
    ]
    machine = cpu.listing(text)
    return {"llvm": Listing(text, places), "asm": Listing(machine.text, machine.places)}


def opencl_listings(kernel: Kernel, target: Target, fast_math: bool) -> dict[str, Listing]:
    """OpenCL C."""
    from hastega_magic.codegen import opencl

    text, places = opencl.located(kernel, target, fast_math)
    return {"opencl": Listing(text, places)}


def others(state: State, ran: Backend, options: Options) -> Others:
    """The variant of `state` for the back ends that did not run it in the cell."""
    if ran.language == "llvm":
        beside = [name_of(each) for each in ran.devices] if isinstance(ran, Split) else []
        asked = next((name for name in (*beside, *options.compare) if name.partition(":")[0] == "opencl"), "")
        target = backend_of(replace(options, on=asked)).target if asked else ANY_GPU
        if not asked and _vast(state):
            return Others((), ())
        sentence = f"for {target.cpu}; not run in this cell (--on opencl would, --compare opencl too)"
    else:
        asked = next((name for name in options.compare if name in ("auto", "simd", "parallel")), "")
        target = cpu.host()
        sentence = f"for this CPU ({target.cpu}); not run in this cell, which ran on {ran.target.cpu}"
    try:
        found = _spelled(replace(state, target=target, tuned=UNTUNED), options)
    except (NotCompilable, HastegaError):  # the language has no words for it
        return Others((), ())
    if asked:
        return Others((found,), ())
    listings = {name: each.headed(name, sentence) for name, each in found.listings.items()}
    return Others((replace(found, listings=listings),), tuple(listings))


def _vast(state: State) -> bool:
    return next(islice(postorder(state.loop.roots()), _MOST, None), None) is not None


def _spelled(state: State, options: Options) -> Spelling:
    for each in CPU:
        state = each.run(state)
    kernel = state.kernel
    assert kernel is not None
    if state.target.spelling == "opencl":
        return Spelling(kernel, opencl_listings(kernel, state.target, options.fast_math))
    text = Cpu("parallel", default_threads()).generate(replace(kernel, located=True), options.fast_math)
    return Spelling(kernel, llvm_listings(text))


__all__ = ["ANY_GPU", "Listing", "Others", "Spelling", "llvm_listings", "opencl_listings", "others"]
