"""Machine code: in a fragmented address space, in a process forked while a thread compiles, and on hidden features."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hastega_magic.ir.target import describe
from hastega_magic.runtime import cpu

# Fills every small hole of the address space, then leaves holes of one page, each 3 GiB from the next.
_FRAGMENTED = """
import ctypes
from hastega_magic.session import Options, Session
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
RESERVED, PAGE = 0x4022, 4096  # MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, with PROT_NONE
def reserve(size):
    return libc.mmap(None, size, 0, RESERVED, -1, 0)
xs = [0.5, 1.5, 2.5]
session = Session({"xs": xs}, Options(baseline=False, strict=True))
def run(step):
    session.run_cell(f"y = xs |> map(lambda x: x * 1.{step}5 + 0.1{step})")
    assert list(session.namespace["y"]) == [x * float(f"1.{step}5") + float(f"0.1{step}") for x in xs]
run(0)
for _ in range(20_000):
    reserve(PAGE)
for block in [reserve(3 << 30) for _ in range(40)]:
    libc.munmap(block + (1 << 30), PAGE)
for step in range(1, 121):
    run(step)
print("equal")
"""

_FORKS = """
import os, signal, threading
from hastega_magic.runtime import cpu

text = "define void @hastega(ptr %words, ptr %scratch) {\\n  ret void\\n}\\n"
over, kept = threading.Event(), []

def compiles():
    while not over.is_set():
        kept.append(cpu.compile_text(text))

thread = threading.Thread(target=compiles)
thread.start()
try:
    for _ in range(5):
        child = os.fork()
        if not child:
            signal.alarm(10)
            cpu.compile_text(text)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
finally:
    over.set()
    thread.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reserves address space with Linux's mmap flags")
def test_code_and_constants_stay_within_reach_of_each_other():
    done = subprocess.run(
        [sys.executable, "-c", _FRAGMENTED], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "equal"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_that_is_forked_while_a_thread_compiles_can_compile():
    # in a process of its own: others that may be imported here, as JAX, warn of a fork
    subprocess.run([sys.executable, "-c", _FORKS], check=True, timeout=120)


_PRODUCT = """
define <4 x i64> @product(<4 x i64> %0, <4 x i64> %1) {
  %3 = mul <4 x i64> %0, %1
  ret <4 x i64> %3
}
"""
_AVX2 = frozenset({"sse2", "avx", "avx2", "fma"})
_AVX512 = frozenset({"avx512f", "avx512dq", "avx512vl", "avx512bw"})


@pytest.mark.skipif(not cpu.host().triple.startswith("x86_64"), reason="instructions of x86")
@pytest.mark.parametrize(("features", "instruction"), [(_AVX2, "vpmuludq"), (_AVX2 | _AVX512, "vpmullq")])
def test_what_a_hypervisor_hides_is_not_used(features: frozenset[str], instruction: str) -> None:
    """A Zen 4 by its name, whose AVX-512 is switched off: its instructions would end the process."""
    others = {each for each in cpu.host().features if not each.startswith(("avx512", "avx10", "amx"))}
    target = describe(cpu.host().triple, "znver4", features | others)
    written = cpu._listing(_PRODUCT, target).text
    assert instruction in written
    assert ("vpmullq" in written) == ("avx512dq" in features)
