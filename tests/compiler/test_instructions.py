"""The instruction set is read from the instructions, not from the width of their registers."""

import pytest

from hastega_magic.compiler.reporting.instructions import instruction_set, mix
from hastega_magic.runtime import cpu
from hastega_magic.session import Options, Session


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("vaddpd\t%zmm1, %zmm2, %zmm3", ("AVX-512", 512)),
        ("vpmadd52luq\t%xmm1, %xmm2, %xmm3", ("AVX-512", 128)),
        ("vpmadd52huq\t%ymm1, %ymm2, %ymm3", ("AVX-512", 256)),
        ("vpaddq\t%ymm17, %ymm2, %ymm3", ("AVX-512", 256)),
        ("vpaddq\t(%rax){1to4}, %ymm2, %ymm3", ("AVX-512", 256)),
        ("vmovapd\t%xmm1, %xmm2 {%k1}", ("AVX-512", 128)),
        ("vpmullq\t%ymm1, %ymm2, %ymm3", ("AVX-512", 256)),
        ("vcvttpd2qq\t%ymm1, %ymm2", ("AVX-512", 256)),
        ("vpaddq\t%ymm1, %ymm2, %ymm3", ("AVX2", 256)),
        ("vfmadd213pd\t%ymm1, %ymm2, %ymm3", ("AVX2", 256)),
        ("vpmuludq\t%ymm1, %ymm2, %ymm3", ("AVX2", 256)),
        ("vpcmpgtq\t%ymm1, %ymm2, %ymm3", ("AVX2", 256)),
        ("vpermpd\t$78, %ymm1, %ymm2", ("AVX2", 256)),
        ("vmulpd\t%ymm1, %ymm2, %ymm3", ("AVX", 256)),
        ("vpaddq\t%xmm1, %xmm2, %xmm3", ("AVX", 128)),
        ("paddq\t%xmm1, %xmm2", ("SSE2", 128)),
        ("mulpd\t%xmm11, %xmm2", ("SSE2", 128)),
        ("pmovsxdq\t%xmm1, %xmm2", ("SSE4", 128)),
        ("fmul\tv0.2d, v1.2d, v2.2d", ("NEON", 128)),
        ("imulq\t%rax, %rcx", ("scalar", 64)),
    ],
)
def test_the_set_that_an_instruction_needs(line, expected):
    assert instruction_set([line]) == expected


def test_the_newest_instruction_decides():
    lines = ["vmulpd\t%ymm1, %ymm2, %ymm3", "vpaddq\t%ymm1, %ymm2, %ymm3"]
    assert instruction_set(lines) == ("AVX2", 256)
    assert instruction_set([*lines, "vpternlogq\t$15, %ymm1, %ymm1, %ymm1"]) == ("AVX-512", 256)


def test_scalar_code_is_the_loop_and_not_vectorised():
    text = (
        "f:\n"
        + "\tmovq\t%rax, %rbx\n" * 20
        + ".LBB0_1:\n\tvmulsd\t%xmm1, %xmm2, %xmm3\n\tjne\t.LBB0_1\n\tretq\n"
    )
    found = mix(text, scalar=True)
    assert (found.isa, found.bits, found.scalar_ops) == ("scalar", 64, ["vmulsd"])
    assert found.instructions == {"vector": 0, "memory": 0, "branch": 2, "scalar": 1}


def vector(cell, width):
    report = Session({}).run_cell(cell, options=Options(baseline=False, width=width)).report
    return report.to_dict()["pipelines"][0]["vector"]


CELL = "ys = range(9000) |> map(lambda x: 22 * x * (x + 1) % 6700417)"


def test_width_one_is_scalar_and_says_which_operations():
    found = vector(CELL, 1)
    assert (found["lanes"], found["isa"], found["bits"]) == (1, "scalar", 64)
    assert "mul" in found["scalar_ops"]


@pytest.mark.parametrize(("width", "bits"), [(2, 128), (4, 256)])
def test_narrow_vectors_are_labelled_by_what_they_use(width, bits):
    if not cpu.host().has("avx512f", "avx512vl", "avx512ifma"):
        pytest.skip("the modulo is of 52-bit multiply-adds only there")
    found = vector(CELL, width)
    assert (found["lanes"], found["isa"], found["bits"]) == (width, "AVX-512", bits)


def test_a_loop_that_needs_no_vectors_is_scalar():
    found = vector("n = range(1000) |> map(lambda x: x > 5 and x < 10) |> count", 0)
    assert (found["lanes"], found["isa"]) == (1, "scalar")
