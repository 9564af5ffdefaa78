"""The text that is compiled: valid, of known functions alone, and without scalar work on data."""

from __future__ import annotations

import re

import battery
import llvmlite.binding as llvm
import numpy as np
import pytest

from hastega_magic.codegen.llvm.text import INTRINSICS

CELLS = {
    "logistic": "ys = xs |> map(lambda x: 22 * x * (x + 1) % 6700417)\nt = ys |> filter(lambda y: y % 2 == 0) |> sum",
    "constants": "xs |> map(lambda x: (x % 7, x // 7, x % -7, x // -7, x % 8, x // 8, x % 10**17))",
    "variables": "xs |> zip(zs) |> map(lambda x, z: (x % z, x // z))",
    "floats": "fs |> map(lambda x: (x % 2.5, x // (x + 3.0), math.sqrt(abs(x)), math.floor(x), round(x), x / 3))",
    "filter": "fs |> filter(lambda x: x > 0) |> map(lambda x: (x, x > 0.5, int(x)))",
    "table": "xs |> map(lambda x: table[x % 4])",
    "small": "bs |> map(lambda x: x * x)",
    "reversed": "rs |> map(lambda x: x - 1) |> sum",
    "swapped": "ss |> min",
    "sums": "a = fs |> sum\nb = fs |> min\nc = fs |> map(lambda x: x > 0) |> all",
    "product": "xs |> prod",
    "float32": "hs |> map(lambda x: x * x + 1)",
    "shifts": "xs |> map(lambda x: (x << 3, x >> 70, 1 << (x & 7), x ** 3))",
}
NAMES = {
    "xs": np.arange(1, 9000), "zs": np.arange(3, 9500), "fs": np.linspace(-1, 1, 5000), "table": [1, 2, 3, 4],
    "bs": np.arange(200, dtype=np.uint8), "rs": np.arange(5000)[::-1], "ss": np.arange(5000).astype(">i4"),
    "hs": np.linspace(0, 1, 5000).astype(np.float32),
}  # fmt: skip


def texts(name: str, **options) -> list[str]:
    ran = battery.run(CELLS[name], NAMES, **options)
    assert ran.error is None
    assert ran.executions
    return [body.program.text for execution in ran.executions for body in execution.compiled.bodies.values()]


@pytest.mark.parametrize("target", battery.FEATURE_SETS)
@pytest.mark.parametrize("name", CELLS)
def test_the_text_is_sound(name, target):
    with battery.on_target(target):
        found = texts(name)
    for text in found:
        llvm.parse_assembly(text).verify()
        called = set(re.findall(r"@(llvm\.[\w.]+)", text))
        assert all(each.startswith(INTRINSICS) for each in called), called
        assert not re.search(r"\b(sdiv|udiv|srem|urem|frem)\b", text)
        if target != "host":
            assert "avx512.vpmadd52" not in text


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32, 64])
def test_multiply_add_of_52_bits_only_in_sizes_that_exist(width):
    for text in texts("logistic", width=width):
        sizes = set(re.findall(r"vpmadd52[lh]\.uq\.(\d+)", text))
        assert sizes <= {"128", "256", "512"}


def main_loop(text: str) -> list[str]:
    start = text.index("\nmain:")
    return text[start : text.index("\nmain.done:")].splitlines()[2:]


def test_the_hot_loop_works_on_vectors():
    scalar = [
        line
        for line in main_loop(texts("logistic")[0])
        if re.search(r"= (mul|sdiv|srem|fmul|fdiv|and|or|xor|icmp|select) i64 ", line)
    ]
    # Addresses and the loop's own counter are scalar; whatever is computed of data is not.
    assert [line for line in scalar if "%i" not in line] == []


def test_every_float_operation_is_written_as_it_stands():
    for text in texts("floats"):
        assert not re.search(r"\b(fast|contract|reassoc|nnan|ninf|arcp|afn)\b", text)


def test_the_same_kernel_gives_the_same_text():
    first = texts("filter")
    with battery.on_target("host"):
        assert texts("filter") == first


def test_an_index_that_counts_from_the_end_needs_no_assumption():
    xs = np.array([-(2**63), 2**63 - 1, -2, 3, *[1] * 5000])
    ran = battery.run("xs[2:] |> map(lambda x: table[x])", {"xs": xs, "table": [1, 2, 3, 4]})
    assert ran.value[:3].tolist() == [3, 4, 2]
    assert "assume" not in ran.report["pipelines"][0]["code"]["passes"][-1]["text"]
    for place in (0, 1):
        ran = battery.run("xs |> map(lambda x: table[x])", {"xs": xs[place:], "table": [1, 2, 3, 4]})
        assert type(ran.error) is IndexError
