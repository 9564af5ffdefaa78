"""The host CPU through llvmlite: its target, and machine code from LLVM IR text."""

from __future__ import annotations

import ctypes
import itertools
import threading
from dataclasses import dataclass
from functools import cache

import llvmlite.binding as llvm

from hastega_magic.ir.abi import ENTRY
from hastega_magic.ir.target import Target, describe

KernelFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True)
class Program:
    """Loaded machine code. `function(words, scratch)` releases the GIL while it runs."""

    text: str
    function: ctypes._CFunctionType  # pyright: ignore[reportPrivateUsage]
    library: object
    code_bytes: int


@cache
def host() -> Target:
    """The CPU this process runs on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = frozenset(name for name, has in llvm.get_host_cpu_features().items() if has)
    return describe(llvm.get_default_triple(), llvm.get_host_cpu_name(), features)


@cache
def _machine(target: Target) -> llvm.TargetMachine:
    features = ",".join(f"+{name}" for name in sorted(target.features))
    found = llvm.Target.from_triple(target.triple)
    return found.create_target_machine(
        cpu=target.cpu, features=features, opt=2, reloc="pic", codemodel="small", jit=True
    )


@cache
def _jit() -> llvm.LLJIT:
    host()
    return llvm.create_lljit_compiler(_machine(host()))


_LOCK = threading.Lock()
_NUMBERS = itertools.count()


def _parsed(text: str) -> llvm.ModuleRef:
    module = llvm.parse_assembly(text)
    module.verify()
    return module


def compile_text(text: str) -> Program:
    """Machine code for the host from a module's text; RuntimeError with LLVM's words if the text is not valid."""
    with _LOCK:
        image = _machine(host()).emit_object(_parsed(text))
        builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process().export_symbol(ENTRY)
        library = builder.link(_jit(), f"kernel{next(_NUMBERS)}")
        return Program(text, KernelFunction(library[ENTRY]), library, len(image))


def assembly(text: str) -> str:
    """The assembly that `compile_text` makes machine code of."""
    with _LOCK:
        return _machine(host()).emit_assembly(_parsed(text))
