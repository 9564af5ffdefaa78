"""What a code generator may rely on."""

from __future__ import annotations

from hastega_magic.records import dataclass


@dataclass(frozen=True)
class Target:
    """A CPU as LLVM names it: triple, CPU, feature names without sign; `vector_bits` of its widest registers.

    `spelling`: whose texts rows are spelled in, "llvm" or "opencl". An OpenCL device has its name as `cpu`, and
    these features: "groups" (a work-group of 64 per block, else a work-item with vectors), "float64",
    "exact_float32" (float32 division and square root are correctly rounded), "builtins" (`fma`, `rint` and their like
    are slow calls, the compiler's own functions instructions), "narrow" (results go over a bus, in as few bytes as
    their ranges need).
    """

    triple: str
    cpu: str
    features: frozenset[str]
    vector_bits: int
    isa: str
    spelling: str = "llvm"

    def has(self, *names: str) -> bool:
        """Whether the CPU has all these features."""
        return self.features.issuperset(names)

    @property
    def converts(self) -> bool:
        """Whether there are instructions that convert vectors between 64-bit integers and floats, or no vectors."""
        return self.vector_bits != 256 or self.has("avx512dq", "avx512vl")

    @property
    def registers(self) -> int:
        """How many vector registers there are."""
        return 16 if self.triple.startswith("x86_64") and self.vector_bits < 512 else 32

    @property
    def shifts_signed(self) -> bool:
        """Whether an instruction shifts 64-bit lanes right with their sign: SSE2 and AVX2 shift 32-bit ones so."""
        return self.vector_bits >= 512 or not self.triple.startswith("x86_64")

    @property
    def permutes(self) -> bool:
        """Whether a register of 256 bits is put into an order that scatters and gathers of bits give, quickly.

        AMD's Zen and Zen 2 have these, but as microcode, which takes a hundred cycles.
        """
        return self.vector_bits == 256 and self.has("bmi2") and self.cpu not in ("znver1", "znver2")

    @property
    def reads_past_caches(self) -> bool:
        """Whether what is asked for as read once leaves all but the nearest cache alone, and comes as fast.

        AMD's Zen does so: the program goes on with what it had. On an Intel Xeon sums took more than twice as long.
        """
        return self.cpu.startswith("znver")

    @property
    def most_lanes(self) -> int:
        """Lanes of the longest vectors in OpenCL C, masks of longs included.

        Where registers hold less than 512 bits, PoCL gets longer ones wrong.
        """
        return 16 if self.vector_bits >= 512 else self.vector_bits // 64

    def lanes(self, asked: int) -> int:
        """Lanes of vectors where so many are asked for: OpenCL has fewer, and one for each work-item of a group."""
        if self.spelling != "opencl":
            return asked
        return 1 if self.has("groups") else min(asked, self.most_lanes)


def describe(triple: str, cpu: str, features: frozenset[str]) -> Target:
    """The target with its vector registers named: AVX-512, AVX2, SSE2, NEON, or scalar."""
    if features.issuperset({"avx512f", "avx512dq", "avx512vl", "avx512bw"}):
        return Target(triple, cpu, features, 512, "AVX-512")
    if features.issuperset({"avx2", "fma"}):
        return Target(triple, cpu, features, 256, "AVX2")
    if "sse2" in features or triple.startswith("x86_64"):
        return Target(triple, cpu, features, 128, "SSE2")
    if "neon" in features or triple.startswith(("aarch64", "arm64")):
        return Target(triple, cpu, features, 128, "NEON")
    return Target(triple, cpu, features, 64, "scalar")
