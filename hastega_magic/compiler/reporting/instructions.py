"""What a loop's assembly consists of: kinds of instructions, and the instruction set that these really need.

vpmadd52luq %xmm1, %xmm2, %xmm3     128 bits, and AVX-512 all the same: older sets have no such instruction
vmulpd      %ymm1, %ymm2, %ymm3     256 bits, AVX
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from hastega_magic.records import dataclass

_SCALAR_FLOAT = re.compile(
    r"^v?(add|sub|mul|div|sqrt|fmadd\d*|fnmadd\d*|max|min|round|cvtsi2|cvttsd2|ucomi|comi)\w*s[ds]\w*$"
)
_BRANCH = re.compile(r"^(j\w+|b|bl|b\.\w+|cb\w+|tb\w+|ret[lqw]?|call\w*)$")
_X86 = re.compile(r"\b[xyz]mm\d")
_NEON = re.compile(r"\bv\d+\.")
_BITS = (("zmm", 512), ("ymm", 256), ("xmm", 128))

_AVX512 = re.compile(
    r"zmm|%k[0-7]\b|[xy]mm(?:1[6-9]|2\d|3[01])\b|\{1to"
    r"|^v(?:pmadd52|pmull?q\b|pternlog|p(?:max|min)[su]q|psraq|pabsq|compress|pcompress|expand|pexpand|perm[it]2"
    r"|pmov(?:m2|\w2m|[sw]?q[bwd]|us)|cvtt?p[sd]2u?qq|cvtu?qq2p|cvtt?p[sd]2udq|rndscale|fixupimm|getexp|getmant|scalef"
    r"|p?blendm|pcmpu?\w*k|range|reduce|prolq|prorq|broadcast[fi](?:32|64)|[a-z]+(?:32|64)x\d)"
)
"""EVEX encodings: wide or numbered-high registers, masks, embedded broadcasts, and operations that came with them."""

_AVX2 = re.compile(
    r"^v(?:fn?m(?:add|sub)|p\w+\b.*ymm|psllv|psrlv|psravd|pbroadcast|p?gather|perm(?:q|pd|d|ps)\b)"
)
_SSE4 = re.compile(
    r"^(?:round[ps][ds]|p?blendv?\w*|ptest|pcmpgtq|pcmpeqq|pmov[sz]x|pmull?d\b|pmuldq|p(?:max|min)(?:sb|sd|uw|ud)|"
    r"pextr[bdq]|pinsr[bdq])"
)


@dataclass(frozen=True)
class Mix:
    """Kinds of instructions in a loop, its instruction set and register width in bits, and what stayed scalar."""

    instructions: dict[str, int]
    isa: str
    bits: int
    scalar_ops: list[str]


@lru_cache(64)
def mix(assembly: str, scalar: bool = False) -> Mix:
    """The loop with the most vector instructions; `scalar`: of code without vectors, the longest one.

    Scalar code uses single elements of vector registers, which does not make it vectorised.
    """
    if not assembly.strip():
        return Mix(dict.fromkeys(("vector", "memory", "branch", "scalar"), 0), "", 0, [])
    best = _hottest(assembly, scalar)
    counts = {"vector": 0 if scalar else _vectors(best), "memory": 0, "branch": 0, "scalar": 0}
    stayed: dict[str, None] = {}
    for text in best:
        name = _name(text)
        if _BRANCH.match(name):
            counts["branch"] += 1
            if name.startswith("call"):
                stayed[text.replace("\t", " ")] = None
        elif scalar or not _is_vector(text):
            counts["scalar"] += 1
            if _SCALAR_FLOAT.match(name) or name.startswith(("idiv", "div")):
                stayed[name] = None
        if "(" in text or "[" in text:
            counts["memory"] += 1
    if scalar:
        return Mix(counts, "scalar", 64, list(stayed))
    isa, bits = instruction_set([text for text in best if _is_vector(text)])
    return Mix(counts, isa, bits, list(stayed))


def instruction_set(block: Sequence[str]) -> tuple[str, int]:
    """The oldest instruction set that has all vector instructions of a block, and the widest registers' bits."""
    joined = "\n".join(block)
    bits = next((bits for register, bits in _BITS if register in joined), 0)
    if not bits:
        return ("NEON", 128) if _NEON.search(joined) else ("scalar", 64)
    if any(_AVX512.search(text) for text in block):
        return "AVX-512", bits
    if any(_AVX2.search(text) for text in block):
        return "AVX2", bits
    if any(_name(text).startswith("v") for text in block):
        return "AVX", bits
    return ("SSE4" if any(_SSE4.search(text) for text in block) else "SSE2"), bits


def _hottest(assembly: str, scalar: bool) -> list[str]:
    """Straight code between two labels that ends in a jump, as far as it counts for the question."""
    best: list[str] = []
    block: list[str] = []
    label = ""
    for line in [*assembly.splitlines(), "end:"]:
        text = line.split("#", 1)[0].strip()
        if not text or (text.startswith(".") and not text.endswith(":")):
            continue
        if text.endswith(":"):
            if not scalar:
                better = _vectors(block) > _vectors(best)
            else:  # of scalar code, what jumps back to its own beginning
                better = len(block) > len(best) and any(label and text.endswith(label) for text in block)
            if better:
                best = block
            block, label = [], text[:-1]
        else:
            block.append(text)
    return best


def _name(text: str) -> str:
    return text.split(None, 1)[0]


def _is_vector(text: str) -> bool:
    registers = _X86.search(text) is not None or _NEON.search(text) is not None
    return registers and not _SCALAR_FLOAT.match(_name(text))


def _vectors(block: Sequence[str]) -> int:
    return sum(map(_is_vector, block))


__all__ = ["Mix", "instruction_set", "mix"]
