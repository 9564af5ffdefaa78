"""The host CPU through llvmlite: its target, and machine code from LLVM IR text."""

from __future__ import annotations

import ctypes
import itertools
import math
import re
import threading
import time
import weakref
from dataclasses import field
from functools import cache, lru_cache
from typing import Any

import llvmlite.binding as llvm

from hastega_magic.forking import free_when_forking, held_while_forking
from hastega_magic.interrupts import others_answered, put_off
from hastega_magic.ir.abi import ENTRY
from hastega_magic.ir.target import Target, describe
from hastega_magic.records import cached_property, dataclass
from hastega_magic.runtime import warmup
from hastega_magic.runtime.background import made_aside, undisturbed

KernelFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


_FURTHER = 4
"""A pace is known for up to so many times the blocks that it was seen over: more of them find fewer pages in caches."""

_EASING = 0.8

_NEW_PAGES = 4
"""A run that writes to pages for the first time takes up to so many times as long."""


@dataclass
class Pace:
    """How long a program takes for a block, on one thread (seconds); inf before it has run.

    That of the last run of `blocks`, or of one before that was slower and is forgotten bit by bit: the elements of
    some data are dearer than those of others.
    """

    block: float = math.inf
    blocks: int = 0

    def expected(self, blocks: int, threads: int, new: bool) -> float:
        """Seconds that so many blocks take at most; inf where that is not known. `new`: pages are new to it."""
        if blocks > _FURTHER * self.blocks:
            return math.inf
        return self.block * blocks / threads * (_NEW_PAGES if new else 1)

    def note(self, seconds: float, blocks: int, threads: int) -> None:
        """A run over one block or more."""
        before = self.block * _EASING if self.blocks else 0.0
        self.block, self.blocks = max(seconds * threads / blocks, before), blocks


@dataclass(frozen=True)
class Program:
    """Loaded machine code. `function(words, scratch)` releases the GIL while it runs."""

    text: str
    function: ctypes._CFunctionType  # pyright: ignore[reportPrivateUsage]
    code_bytes: int
    pace: Pace = field(default_factory=Pace, compare=False)
    kept: dict[int, Any] = field(default_factory=dict[int, Any], compare=False)
    """What runs it with words and scratch that stay, by the number of threads (`runtime/cpu/threaded.py`)."""

    @cached_property
    def address(self) -> int:
        """Of its code."""
        return ctypes.cast(self.function, ctypes.c_void_p).value or 0


@cache
def host() -> Target:
    """The CPU this process runs on."""
    return undisturbed(_described)


def _described() -> Target:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    features = frozenset(name for name, has in llvm.get_host_cpu_features().items() if has)
    return describe(llvm.get_default_triple(), llvm.get_host_cpu_name(), features)


@cache
def _machine(target: Target) -> llvm.TargetMachine:
    # A hypervisor may hide what the CPU's name promises: what is not there is said, too, and first, since it takes
    # along what builds on it.
    absent = sorted(llvm.get_host_cpu_features().keys() - target.features)
    features = ",".join([*(f"-{name}" for name in absent), *(f"+{name}" for name in sorted(target.features))])
    found = llvm.Target.from_triple(target.triple)
    return found.create_target_machine(
        cpu=target.cpu, features=features, opt=2, reloc="pic", codemodel="small", jit=True
    )


@cache
def _jit() -> llvm.LLJIT:
    # JITLink puts a kernel's sections into one allocation. The older linker asks for each alone, and aborts the
    # process where the holes of a fragmented address space leave code and constants more than 2 GiB apart.
    return llvm.create_lljit_compiler(_machine(host()), use_jit_link=True)


_LOCK = held_while_forking(threading.RLock())
_NUMBERS = itertools.count()

_llvms: Any = getattr(getattr(getattr(llvm, "ffi", None), "lib", None), "_lock", None)
_llvms = getattr(_llvms, "_lock", _llvms)
if _llvms is not None:
    free_when_forking(_llvms)  # finalisers of its objects take it without ours


def _let_go_of_llvms() -> None:
    """Release llvmlite's lock where this thread has it and is not in LLVM.

    Ctrl-C in a finaliser of its objects, as the lock is taken or given back, leaves it taken: another thread that is
    to compile would wait for ever.
    """
    ours: Any = _LOCK
    if hasattr(_llvms, "_is_owned") and not ours._is_owned():  # noqa: SLF001  no other way to ask a lock
        while _llvms._is_owned():  # noqa: SLF001
            _llvms.release()


def _parsed(text: str) -> llvm.ModuleRef:
    module = llvm.parse_assembly(text)
    module.verify()
    return module


@cache
def _stripping(target: Target) -> tuple[llvm.ModulePassManager, llvm.PassBuilder]:
    passes = llvm.create_new_module_pass_manager()
    passes.add_strip_symbols_pass()
    return passes, llvm.create_pass_builder(_machine(target), llvm.create_pipeline_tuning_options(0))


def image_of(text: str) -> bytes:
    """The object file of a module's text, without debug information, which serves listings."""
    if _LOCATED in text and host().triple.startswith("x86_64"):
        # The listing is wanted, too, and is made first: to assemble it takes a tenth of what making code again takes.
        lines = map(_assembled, _listing(text, host()).text.splitlines())
        return _machine(host()).emit_object(llvm.parse_assembly("\n".join(lines)))
    module = _parsed(text)
    if _LOCATED in text:
        passes, builder = _stripping(host())
        passes.run(module, builder)
    return _machine(host()).emit_object(module)


_spent = threading.local()


def compiled() -> float:
    """Seconds that this thread has compiled in all: what is only done once is no part of what surrounds it."""
    return getattr(_spent, "seconds", 0.0)


def compile_text(text: str) -> Program:
    """Machine code for the host from a module's text; RuntimeError with LLVM's words if the text is not valid."""
    began = time.perf_counter()
    _let_go_of_llvms()
    try:
        # LLVM cannot be interrupted.
        aside = len(text) >= _LONG or others_answered()
        return made_aside(lambda: _compiled(text)) if aside else _compiled(text)
    finally:
        _spent.seconds = compiled() + time.perf_counter() - began


_LONG = 100_000
"""Texts of so many characters take LLVM a tenth of a second and more, up to seconds."""


_LIBRARIES: dict[int, tuple[weakref.ref[Program], object]] = {}
"""LLVM's part of each program, by the identity of the reference to that."""
_OVER: list[weakref.ref[Program]] = []
"""Programs that nobody holds any more. LLVM lets go of their parts when it makes the next: Ctrl-C is put off there, and
in a finaliser that runs just anywhere it would leave llvmlite's lock taken."""


def _compiled(text: str) -> Program:
    def made() -> Program:
        warmup.compiling()
        while _OVER:
            del _LIBRARIES[id(_OVER.pop())]
        image = image_of(text)
        builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process().export_symbol(ENTRY)
        library = builder.link(_jit(), f"kernel{next(_NUMBERS)}")
        program = Program(text, KernelFunction(library[ENTRY]), len(image))
        whole = weakref.ref(program, _OVER.append)
        _LIBRARIES[id(whole)] = whole, library
        return program

    with _LOCK:
        return put_off(made)


@dataclass(frozen=True)
class Listing:
    """Assembly, and for each of its lines the line that debug information says it comes from (0: none)."""

    text: str
    places: tuple[int, ...]


def assembly(text: str) -> str:
    """The assembly that `compile_text` makes machine code of, without what debug information adds to it."""
    return listing(text).text


def listing(text: str) -> Listing:
    """The same with the places of its lines."""
    target = host()
    return undisturbed(lambda: _listing(text, target))


@lru_cache(8)
def _listing(text: str, target: Target) -> Listing:
    with _LOCK:
        emitted = put_off(lambda: _machine(target).emit_assembly(_parsed(text)))
    if _LOCATED not in text:
        return Listing(emitted, (0,) * emitted.count("\n"))
    lines: list[str] = []
    places: list[int] = []
    place = 0
    for line in emitted.splitlines(keepends=True):
        if (found := _LOCATION.match(line)) is not None:
            place = int(found[1])
        elif not _DEBUG.match(line):
            lines.append(line)
            places.append(place if _INSTRUCTION.match(line) else 0)
    return Listing("".join(lines), tuple(places))


def _assembled(line: str) -> str:
    """A line of assembly as one of LLVM IR."""
    return 'module asm "' + line.replace("\\", "\\5C").replace('"', "\\22").replace("\t", "\\09") + '"'


_LOCATED = "!llvm.dbg.cu"
_LOCATION = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
_DEBUG = re.compile(r"\s*\.(file\s+\d|cfi_)|\.?L(tmp\d+|func_begin\d+):")
_INSTRUCTION = re.compile(r"\s+[a-z]")
