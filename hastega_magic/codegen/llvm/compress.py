"""Compaction: the elements of a register that a mask keeps, moved to its beginning in their order.

AVX-512 has an instruction for it, to which LLVM's own intrinsic becomes. For AVX2 that intrinsic stores element by
element. There the order is worked out from the mask's bits, for 32-bit parts of the register:

    kept 1010     pdep, times 255      00 00 00 00 ff ff 00 00 ff ff ...   a byte for each part
                  pext of 0 1 2 3 ...  the numbers of the parts that are kept, first ones first
                  permd                the parts in that order

After the answer to "AVX2 what is the most efficient way to pack left based on a mask?" (Stack Overflow 36932240, 2016).
"""

from __future__ import annotations

from collections.abc import Callable

from hastega_magic.codegen.llvm.text import Writer, mangled
from hastega_magic.ir.target import Target

_PARTS = 8
"""Parts of 32 bits in a register of AVX2."""

_NUMBERS = 0x0706050403020100

Compress = Callable[[str, str], str]
"""Element type and name of a vector to the name of the vector whose first elements are those that are kept."""


def compressing(w: Writer, target: Target, mask: str, size: int) -> Compress:
    """What compresses vectors of `size` elements, which fill a register, by the mask; others follow behind these."""
    if size == 1:  # a single lane is stored as it is: what is not kept will be overwritten
        return lambda element, name: name
    if target.permutes and size in (_PARTS // 2, _PARTS):
        return _by_parts(w, mask, size)
    # LLVM 22 takes some masks that it finds to be always true for false, and leaves only what comes behind the kept
    # elements: let that be the elements. AVX-512 compresses in place, so it costs nothing.
    in_place = target.has("avx512f")

    def compress(element: str, name: str) -> str:
        type_ = f"<{size} x {element}>"
        return w.let(
            f"call {type_} @llvm.experimental.vector.compress.{mangled(element, size)}({type_} {name}, "
            f"<{size} x i1> {mask}, {type_} {name if in_place else 'poison'})"
        )

    return compress


def _by_parts(w: Writer, mask: str, size: int) -> Compress:
    """Elements have one or two parts each, and `size` elements fill a register."""
    bits = 64 // size
    ones = sum(1 << bits * place for place in range(size))
    kept = w.let(f"bitcast <{size} x i1> {mask} to i{size}")
    kept = w.let(f"zext i{size} {kept} to i64")
    spread = w.let(f"call i64 @llvm.x86.bmi.pdep.64(i64 {kept}, i64 {ones})")
    spread = w.let(f"mul i64 {spread}, {(1 << bits) - 1}")
    numbers = w.let(f"call i64 @llvm.x86.bmi.pext.64(i64 {_NUMBERS}, i64 {spread})")
    numbers = w.let(f"bitcast i64 {numbers} to <{_PARTS} x i8>")
    order = w.let(f"zext <{_PARTS} x i8> {numbers} to <{_PARTS} x i32>")

    def ordered(type_: str, name: str) -> str:
        parts = f"<{_PARTS} x i32>"
        name = w.let(f"bitcast {type_} {name} to {parts}")
        name = w.let(f"call {parts} @llvm.x86.avx2.permd({parts} {name}, {parts} {order})")
        return w.let(f"bitcast {parts} {name} to {type_}")

    def compress(element: str, name: str) -> str:
        type_ = f"<{size} x {element}>"
        if size == _PARTS or element not in ("float", "i32"):
            return ordered(type_, name)
        # 32 bits in as many lanes as 64-bit elements have fill half a register: they are widened meanwhile.
        half, whole = f"<{size} x i32>", f"<{size} x i64>"
        name = w.let(f"bitcast {type_} {name} to {half}")
        name = w.let(f"zext {half} {name} to {whole}")
        name = ordered(whole, name)
        name = w.let(f"trunc {whole} {name} to {half}")
        return w.let(f"bitcast {half} {name} to {type_}")

    return compress


__all__ = ["Compress", "compressing"]
