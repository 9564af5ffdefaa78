"""OpenCL C from kernels: what must be in the text, whatever the device."""

import itertools
import math
import re
import struct

import pytest

from hastega_magic.codegen.opencl import generate
from hastega_magic.codegen.opencl.text import literal, widened
from hastega_magic.interval import Interval
from hastega_magic.ir.device import bus_storages
from hastega_magic.ir.expr import const, leaf, make
from hastega_magic.ir.fused import Fused, Output
from hastega_magic.ir.pipeline import Sink, Source
from hastega_magic.ir.target import Target
from hastega_magic.ops import OPS
from hastega_magic.passes.infer import Leaves
from hastega_magic.passes.schedule import make_kernel
from hastega_magic.passes.variants import variants
from hastega_magic.types import BOOL, FLOAT, FLOAT32, FLOAT64, INT, STORAGES

CPU = frozenset({"float64", "exact_float32", "builtins"})
GPU = frozenset({"groups", "float64", "exact_float32", "narrow"})
X, F, S = leaf("load", INT, 0), leaf("load", FLOAT64, 1), leaf("load", FLOAT32, 2)
SOURCES = (
    Source("x", "array", INT, Interval(0, 1000), STORAGES["int64"]),
    Source("f", "array", FLOAT64, None, STORAGES["float64"]),
    Source("s", "array", FLOAT32, None, STORAGES["float32"]),
)


def target(features):
    return Target("opencl", "a device", frozenset(features), 512, "OpenCL", "opencl")


def kernel(value, sink="array", mask=None, features=CPU, sources=SOURCES):
    loop = Fused(sources, (), (Output("y", Sink(sink), value, mask),))
    leaves = Leaves(tuple(source.interval for source in sources))
    body = variants(loop, leaves, "exact").bodies[0]
    return make_kernel(body, leaves, target(features))


def text(value, sink="array", mask=None, features=CPU):
    return generate(kernel(value, sink, mask, features), target(features))


@pytest.mark.parametrize("features", [CPU, GPU])
def test_contraction_is_off_unless_asked_for(features):
    made = kernel(make("mul", F, F), "sum", features=features)
    assert generate(made, target(features)).startswith("#pragma OPENCL FP_CONTRACT OFF\n")
    assert "FP_CONTRACT" not in generate(made, target(features), contract=True)


@pytest.mark.parametrize("features", [CPU, GPU])
@pytest.mark.parametrize("element", [F, S])
def test_a_choice_of_zero_is_no_minimum(element, features):
    """Which compilers make of it, whose zero may have the other sign."""
    for number, order in itertools.product((0.0, -0.0), ("lt", "ge")):
        test, zero = make(order, element, const(0.0, element.type)), const(number, element.type)
        for arms in ((element, zero), (zero, element)):
            for written in (
                text(make("select", each, *arms), features=features) for each in (test, make("not", test))
            ):
                assert "(length < 0)" in written
                assert ("(length < 0) | 0x8" in written) == (str(number) == "-0.0")
        assert "(length < 0)" not in text(
            make("select", test, element, const(1.0, element.type)), features=features
        )


@pytest.mark.parametrize("features", [CPU, GPU])
def test_a_statement_holds_one_floating_point_operation(features):
    written = text(make("add", make("mul", F, F), make("truediv", F, const(3.0))), features=features)
    statements = re.findall(r"const double\d* v\d+ = ([^;]*);", written)
    assert len(statements) >= 3
    for statement in statements:
        without_memory = re.sub(r"vload\d*\([^)]*\)|\w+\[[^]]*\]|0x[\w.+-]+", "", statement)
        assert len(re.findall(r" [-+*/] ", without_memory)) <= 1, statement


def test_forms():
    assert "get_global_id(0)" in text(F, "sum")
    assert "double8" in text(F, "sum")
    grouped = text(F, "sum", features=GPU)
    assert "reqd_work_group_size(64, 1, 1)" in grouped
    assert "double8" not in grouped
    assert "__local double" in grouped


@pytest.mark.parametrize(
    ("name", "arity"), [("fma", 3), ("rint", 1), ("floor", 1), ("ceil", 1), ("trunc", 1)]
)
def test_what_pocl_would_call_is_an_instruction(name, arity):
    value = make(name, *[F] * arity)
    assert f"__builtin_{name}(" in text(value)
    assert f"each_{name}_double8(" in text(value)
    assert re.search(rf"\b{name}\(", text(value, features=GPU))
    assert "__builtin" not in text(value, features=GPU)


def test_so_it_is_for_float32():
    assert "__builtin_truncf(" in text(make("trunc", S))


def test_float32_alone_asks_for_no_float64():
    single, features = leaf("load", FLOAT32, 0), {"groups", "exact_float32"}
    for value, sink in ((make("mul", single, single), "array"), (single, "sum")):
        made = kernel(value, sink, features=features, sources=SOURCES[2:])
        assert "double" not in generate(made, target(features))


def test_inexact_float32_division_goes_through_float64():
    value = make("fdiv", S, make("add", S, S))
    assert "convert_double" in text(value, features={"groups", "float64"})
    assert "convert_double" not in text(value, features={"groups", "float64", "exact_float32"})


def test_no_integer_division_and_no_signed_overflow():
    written = text(make("mod", make("mul", X, const(1 << 60)), const(1000)), features=GPU)
    assert "%" not in written
    body = written[written.index("begin") :]
    assert not re.search(r"= v\d+ \* \d+L;", body)


@pytest.mark.parametrize("features", [CPU, GPU])
def test_modulo_by_a_constant_stays_in_float64(features):
    value = X
    for _ in range(3):
        value = make("mod", make("mul", value, make("add", value, const(1))), const(6_700_417))
    written = text(value, features=features)
    main = written[: written.rindex("for (")]
    assert main.count("convert_long") <= 4 * 2, "residues are converted at the end alone"
    assert "fma" in written
    assert "rint" not in written


def test_packing_follows_the_element_sizes():
    mask = make("gt", X, const(5))
    assert "pack8(" in text(F, mask=mask)
    assert "pack4(" in text(S, mask=mask)
    assert "pack1(" in text(make("gt", F, const(0.0)), mask=mask)
    assert "pack" not in text(F, "sum", mask=mask)


@pytest.mark.parametrize(
    ("limits", "mask", "name"),
    [
        ((0, 1000), None, "int16"),
        ((0, 100), None, "int8"),
        ((0, 200), None, "uint8"),
        ((0, 40_000), None, "uint16"),
        ((0, 1 << 31), None, "uint32"),
        ((-1, 1 << 31), None, "int64"),
        ((0, 1000), make("gt", F, const(0.0)), "int32"),  # packed elements have 1, 4 or 8 bytes
    ],
)
def test_results_are_narrowed_by_their_range(limits, mask, name):
    found = kernel(X, mask=mask, features=GPU)
    found.ranges[X] = Interval(*limits)
    assert [storage.name for storage in bus_storages(found, narrow=True)] == [name]
    assert [storage.name for storage in bus_storages(found, narrow=False)] == ["int64"]


@pytest.mark.parametrize("value", [0.0, -0.0, 1 / 3, 5e-324, 1.7976931348623157e308, -2.5])
def test_float_literals_keep_every_bit(value):
    written = literal(value, FLOAT, 1).strip("()")
    assert struct.pack("<d", float.fromhex(written)) == struct.pack("<d", value)


def test_other_literals():
    assert literal(-(1 << 63), INT, 1) == "(-9223372036854775807L - 1)"
    assert literal(math.inf, FLOAT, 1) == "as_double(0x7ff0000000000000UL)"
    assert literal(math.inf, FLOAT32, 1) == "as_float(0x7f800000u)"
    assert literal(True, BOOL, 8) == "(long8)(-1L)"
    assert literal(True, BOOL, 1) == "1"


def test_spellings_are_widened():
    assert widened("as_long(convert_ulong({0}))", 8) == "as_long8(convert_ulong8({0}))"
    assert widened("convert_double({0})", 1) == "convert_double({0})"


def test_every_row_has_a_spelling_or_an_expansion():
    unspelled = [
        row.name for row in OPS.values() if not row.opencl and row.expand is None and row.name != "gather"
    ]
    assert [name for name in unspelled if OPS[name].llvm] == []


def test_the_same_kernel_gives_the_same_text():
    assert text(make("mul", F, F), "sum") == text(make("mul", F, F), "sum")
