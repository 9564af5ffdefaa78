"""LLVM made ready beside the imports of a first cell, which hold the interpreter, and more imports beside LLVM.

Measured on two cores of an AMD EPYC (2026-11-26): loading its library takes 14 to 25 ms, the first code that it makes
13 ms more than the same code later, and importing what shows a report 16 ms.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hastega_magic.forking import held_while_forking
from hastega_magic.interrupts import begin

_LOCK = held_while_forking(threading.Lock())


def load_library() -> None:
    """Begin to load the library; returns at once. Where it cannot be found or loaded, who imports it will say so."""
    if os.name == "posix":
        _begin(_load)


def make_ready() -> None:
    """Begin to import what drives LLVM, and to let it make some code; returns at once."""
    _begin(_make_some)


_LATER: list[str] = []


def import_while_compiling(*names: str) -> None:
    """Have modules that are needed after the next code is made be imported while that happens."""
    _LATER.extend(names)


def compiling() -> None:
    """Say that LLVM begins to make code, for tens of milliseconds in which the interpreter is free."""
    if _LATER:
        names = [*_LATER]
        _LATER.clear()
        _begin(lambda: [importlib.import_module(name) for name in names])


def _begin(do: Callable[[], object]) -> None:
    def whole() -> None:
        with _LOCK, suppress(Exception):
            do()

    with suppress(RuntimeError):  # no thread can be begun
        # Not a daemon: a process must not end while a compiler works in it.
        begin(threading.Thread(target=whole, name="hastega_ahead"))


def _load() -> None:
    spec = importlib.util.find_spec("llvmlite")
    for path in Path(spec.origin if spec and spec.origin else "").parent.glob("binding/libllvmlite.*"):
        # `ctypes.CDLL(path)` holds the interpreter while it loads; a function that ctypes calls does not.
        ctypes.CDLL(None).dlopen(os.fsencode(path), os.RTLD_NOW | os.RTLD_LOCAL)


def _make_some() -> None:
    import llvmlite.binding as llvm

    # By a machine of its own: `runtime.cpu` has one, and is among what is imported meanwhile.
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = ",".join(f"{'+' if has else '-'}{name}" for name, has in llvm.get_host_cpu_features().items())
    found = llvm.Target.from_triple(llvm.get_default_triple())
    machine = found.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=2, jit=True)
    machine.emit_object(llvm.parse_assembly(_TEXT))


_TEXT = """
define i64 @some(ptr %from, ptr %to, i64 %count) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %sums = phi <8 x i64> [zeroinitializer, %entry], [%more, %loop]
  %at = getelementptr i64, ptr %from, i64 %i
  %x = load <8 x i64>, ptr %at, align 8
  %square = mul <8 x i64> %x, %x
  %known = icmp sgt <8 x i64> %square, %x
  %kept = select <8 x i1> %known, <8 x i64> %square, <8 x i64> zeroinitializer
  %more = add <8 x i64> %sums, %kept
  %into = getelementptr i64, ptr %to, i64 %i
  store <8 x i64> %kept, ptr %into, align 8
  %next = add i64 %i, 8
  %goes = icmp ult i64 %next, %count
  br i1 %goes, label %loop, label %done
done:
  %sum = call i64 @llvm.vector.reduce.add.v8i64(<8 x i64> %more)
  ret i64 %sum
}
declare i64 @llvm.vector.reduce.add.v8i64(<8 x i64>)
"""


__all__ = ["compiling", "import_while_compiling", "load_library", "make_ready"]
