"""Debug locations: they change no machine code, and lead every instruction to a line of the printed kernel."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import battery
import llvmlite.binding as llvm
import numpy as np
import pytest

from hastega_magic.codegen import opencl
from hastega_magic.codegen.llvm import generate
from hastega_magic.ir.printer import kernel_lines, kernel_places
from hastega_magic.ir.schedule import UNTUNED
from hastega_magic.ir.target import describe
from hastega_magic.passes.pipelines import CPU
from hastega_magic.runtime import cpu

make = cpu.image_of  # not what other tests have had made

CELLS = {
    "logistic": "ys = xs |> map(lambda x: 22 * x * (x + 1) % 6700417)\nt = ys |> filter(lambda y: y % 2 == 0) |> sum",
    "range": "range(20000) |> map(lambda x: x * x % 1009) |> sum",
    "large": "range(2000000) |> map(lambda x: x * 3)",
    "constants": "xs |> map(lambda x: (x % 7, x // 7, x % -7, x // -7, x % 8, x // 8, x % 10**17))",
    "variables": "xs |> zip(zs) |> map(lambda x, z: (x % z, x // z))",
    "floats": "fs |> map(lambda x: (x % 2.5, x // (x + 3.0), math.sqrt(abs(x)), round(x), x / 3, math.exp(x)))",
    "filter": "fs |> filter(lambda x: x > 0) |> map(lambda x: (x, x > 0.5, int(x)))",
    "two filters": "a = fs |> filter(lambda x: x > 0)\nb = fs |> filter(lambda x: x < 0.5) |> count",
    "table": "xs |> map(lambda x: table[x % 4])",
    "reversed": "rs |> map(lambda x: x - 1) |> sum",
    "swapped": "ss |> min",
    "sums": "a = fs |> sum\nb = fs |> min\nc = fs |> map(lambda x: x > 0) |> all\nd = fs |> mean",
    "product": "xs |> map(lambda x: x % 2) |> prod",
    "float32": "hs |> map(lambda x: x * x + 1)",
}
NAMES = {
    "xs": np.arange(1, 9000), "zs": np.arange(3, 9500), "fs": np.linspace(-1, 1, 5000), "table": [1, 2, 3, 4],
    "rs": np.arange(5000)[::-1], "ss": np.arange(5000).astype(">i4"),
    "hs": np.linspace(0, 1, 5000).astype(np.float32),
}  # fmt: skip


def bodies(name: str):
    ran = battery.run(CELLS[name], NAMES)
    assert ran.error is None
    return [body for execution in ran.executions for body in execution.compiled.bodies.values()]


def without(text: str) -> str:
    """The text with all debug information taken out."""
    text = re.sub(r",? !dbg !\d+", "", text)
    lines = [line for line in text.splitlines() if not re.match(r"!(llvm\.|\d+ = .*(!DI|Debug Info))", line)]
    return "\n".join(lines).rstrip()


@pytest.mark.parametrize(
    ("name", "target"),
    [
        *((name, "host") for name in CELLS),
        *battery.some(itertools.product(CELLS, battery.FEATURE_SETS[1:]), every=3),
    ],
)
def test_machine_code_is_the_same(name, target):
    with battery.on_target(target) as machine:
        for body in bodies(name):
            located, plain = (generate(replace(body.kernel, located=each), machine) for each in (True, False))
            assert located == body.program.text
            assert "!dbg" not in plain
            assert without(located) == without(plain)
            assert cpu.listing(located).text == cpu.assembly(plain)


def sections(image: bytes) -> dict[bytes, bytes]:
    """Code, and the constants that it reads, by the names of their sections."""
    found = llvm.ObjectFileRef.from_data(image)
    named = ((each.name() or b"", each.data()) for each in found.sections())
    return {name: data for name, data in named if name.startswith((b".text", b".rodata"))}


AVX512 = ("f", "bw", "cd", "dq", "vl", "ifma", "vbmi", "vbmi2", "vpopcntdq", "bitalg", "vnni")


def lowered(state, machine):
    """The kernel of a variant for another CPU."""
    state = replace(state, target=machine, tuned=UNTUNED)
    for each in CPU:
        state = each.run(state)
    return state.kernel


@pytest.mark.skipif(not cpu.host().triple.startswith("x86_64"), reason="assembled on x86-64 alone")
@pytest.mark.parametrize("cpu_name", ["host", "avx2", "sse2", "sapphirerapids"])
@pytest.mark.parametrize("name", CELLS)
def test_what_is_assembled_is_the_same_to_the_byte(name, cpu_name, monkeypatch):
    ran = battery.run(CELLS[name], NAMES)
    assert ran.error is None
    if cpu_name == "sapphirerapids":
        features = frozenset(f"avx512{each}" for each in AVX512) | {"avx", "avx2", "fma", "f16c"}
        machine = describe(cpu.host().triple, cpu_name, cpu.host().features | features)
    else:
        machine = battery.target(cpu_name)
    monkeypatch.setattr(cpu, "host", lambda: machine)
    for compiled in (execution.compiled for execution in ran.executions):
        for number in compiled.bodies:
            kernel = lowered(replace(compiled.state, variant=number), machine)
            located, plain = (generate(replace(kernel, located=each), machine) for each in (True, False))
            own, bare = sections(make(located)), sections(make(plain))
            assert own == bare
            assert len(own[b".text"]) > 300
            assert ("zmm" in cpu.listing(located).text) == (machine.vector_bits >= 512)


@pytest.mark.parametrize("name", CELLS)
def test_locations_are_lines_of_the_printed_kernel(name):
    for body in bodies(name):
        text = body.program.text
        lines = [line for line, _ in kernel_lines(body.kernel)]
        locations = dict(re.findall(r"^!(\d+) = !DILocation\(line: (\d+), ", text, re.MULTILINE))
        assert all(place in ("0", number) for number, place in locations.items())
        assert {int(place) for place in locations.values()} <= set(range(len(lines) + 1))
        used = set(re.findall(r", !dbg !(\d+)$", text, re.MULTILINE))
        assert used == set(locations)
        madds = [line for line in text.splitlines() if "vpmadd52h" in line and " = call" in line]
        for line in madds:
            place = int(locations[re.search(r"!dbg !(\d+)$", line)[1]])
            assert "madd52hi" in lines[place - 1]


@pytest.mark.parametrize("name", CELLS)
def test_places_are_those_of_the_printer(name):
    for body in bodies(name):
        places = kernel_places(body.kernel)
        lines = kernel_lines(body.kernel)
        assert places.nodes == {node: number for number, (_, node) in enumerate(lines, 1) if node is not None}
        starts = ("    assume", "    guard", "    accumulate", "    store")
        assert [places.statements[each] for each in body.kernel.body] == [
            number for number, (line, _) in enumerate(lines, 1) if line.startswith(starts)
        ]


def test_a_listing_of_a_text_without_locations():
    text = re.sub(
        r"(?s)attributes.*", "attributes #0 = { nounwind }\n", without(bodies("range")[0].program.text)
    )
    found = cpu.listing(text)
    assert found.text == cpu.assembly(text)
    assert set(found.places) == {0}
    assert len(found.places) == len(found.text.splitlines())


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("name", [name for name in CELLS if name not in ("swapped", "reversed")])
def test_lines_of_opencl(name, groups):
    """A pure function of the kernel: no device is needed."""
    features = frozenset({"float64", "exact_float32", *(["groups"] if groups else [])})
    target = replace(cpu.host(), features=features, spelling="opencl")
    with battery.on_target("avx2"):
        ran = battery.run(CELLS[name], NAMES)
    for execution in ran.executions:
        state = replace(execution.compiled.state, target=target)
        for each in CPU:
            state = each.run(state)
        text, places = opencl.located(state.kernel, target)
        assert text == opencl.generate(state.kernel, target)
        lines = text.splitlines()
        assert len(lines) == len(places)
        printed = [line for line, _ in kernel_lines(state.kernel)]
        assert set(places) <= set(range(len(printed) + 1))
        assert set(kernel_places(state.kernel).statements.values()) <= set(places)
        for line, place in zip(lines, places, strict=True):
            if re.search(r"r\d+\[(at\d*)\] = |vstore\d+\(\w+, 0, r\d", line):
                assert printed[place - 1].strip().startswith("store")
            if re.search(r"= fused_\w+\(", line):
                assert " fma " in printed[place - 1]
            if line.startswith(("__kernel", "#pragma", "}")):
                assert place == 0
