"""Edited OpenCL kernels: the rules on their text, and trials on a device."""

import re

import numpy as np
import pytest

from hastega_magic.compiler.editing.edited import KernelError, _place, run_edited, text_of
from hastega_magic.compiler.editing.kernel_rules_opencl import TEXT_RULES, check_opencl
from hastega_magic.compiler.options import Options
from hastega_magic.session import Session
from tests.compiler import battery

pytest.importorskip("pyopencl")

COLLATZ = """\
def f(x):
    n = 0
    while x > 1:
        x, n = x // 2 if x % 2 == 0 else 3 * x + 1, n + 1
    return n

"""
CELL = "ys = xs |> map(lambda x: x * 3 + 1) |> filter(lambda y: y % 2 == 0)"


def ran():
    session = Session({"xs": np.arange(50_001)})
    session.run_cell(CELL, options=Options(on="opencl", baseline=False, quiet=True))
    return session.kept[0]


@pytest.fixture(scope="module")
def kept():
    return ran()


@pytest.fixture(scope="module")
def text(kept):
    return text_of(kept, "opencl")


@pytest.fixture(scope="module")
def text_for_gpus():
    with battery.as_gpu():
        return text_of(ran(), "opencl")


def first_statement(text, statement):
    place = text.index("{", text.index("void hastega")) + 1
    return f"{text[:place]}\n    {statement}{text[place:]}"


BREAKS = [
    ("kernels", lambda t: t.replace("const long origin", "const int origin", 1), "void hastega("),
    ("kernels", lambda t: t.replace("void hastega(", "void other(", 1), None),
    ("kernels", lambda t: t + "\n__kernel void more(const long n) {\n}\n", "void more"),
    ("directives", lambda t: '#include "secret.h"\n' + t, "#include"),
    ("directives", lambda t: "#define long int\n" + t, "#define"),
    ("no assembly", lambda t: first_statement(t, '__asm__("hlt");'), "__asm__"),
    (
        "attributes",
        lambda t: t.replace("__kernel ", "__kernel __attribute__((vec_type_hint(int)))\n", 1),
        "vec_type_hint",
    ),
    ("attributes", lambda t: first_statement(t, "int x __attribute((aligned(f((8)))));"), "aligned"),
    ("no output", lambda t: first_statement(t, 'printf("%d", 1);'), "printf"),
    ("addresses come from arguments", lambda t: first_statement(t, "*(__global long *)64 = 1;"), "64 = 1"),
    ("addresses come from arguments", lambda t: first_statement(t, "*( long*) 64 = 1;"), "64 = 1"),
    ("compiler's own functions", lambda t: first_statement(t, "__builtin_trap();"), "__builtin_trap"),
    ("file scope", lambda t: "int puts(const char *);\n" + t, "puts"),
    ("file scope", lambda t: "__global int state;\n" + t, "state"),
    ("file scope", lambda t: "long state[2] = {1, 2};\n" + t, "state"),
]


SENTENCE = re.compile(r"a (kernel|text) may not |there is no kernel |the arguments of .* are others than")


@pytest.mark.parametrize(("rule", "change", "words"), BREAKS)
def test_what_breaks_a_rule_is_refused_with_its_line(text, text_for_gpus, rule, change, words):
    for original in (text, text_for_gpus):
        broken = change(original)
        found = check_opencl(broken, original)
        assert found is not None
        lines = [n for n, each in enumerate(broken.splitlines(), 1) if words and words in each]
        assert (found.rule, found.line) == (rule, lines[0] if lines else 0), found
        assert SENTENCE.match(found.text)


def test_every_rule_is_tried_and_has_a_reason():
    assert {rule.name for rule in TEXT_RULES} == {name for name, *_ in BREAKS}
    assert all(rule.reason.endswith(".") for rule in TEXT_RULES)


def test_what_may_be_written(text, text_for_gpus):
    comment = "/* printf, asm\n(__global int *) */ // __builtin_trap\n"
    helper = "__constant long two = 2;\ninline long twice(const long x) { return two * x; }\n"
    for original in (text, text_for_gpus):
        unrolled = original.replace("    for (", "    #pragma unroll\n    for (", 1)
        for changed in (original, comment + original, helper + original, unrolled):
            assert check_opencl(changed, original) is None


def test_the_same_kernel_gives_the_same(kept, text):
    run = run_edited(kept, "opencl", text)
    assert run.equal, run.difference
    assert (run.backend, run.elements) == ("opencl", 50_001)
    assert run.values["ys"].tolist() == [x * 3 + 1 for x in range(50_001) if (x * 3 + 1) % 2 == 0]


def test_another_kernel_is_the_first_difference(kept, text):
    stores = re.sub(r"(vstore\d+\(v\d+)(?=, 0, r0 \+)|(?<=r0\[)(at\d*\] = v\d+)", r"\1\2 + 10", text)
    assert stores != text
    run = run_edited(kept, "opencl", stores)
    assert run.difference == "`ys`: element 0 is 14, the original's is 4"


def test_a_build_failure_shows_the_line_and_the_log(kept, text):
    broken = first_statement(text, "const long wrong = nobody_knows_this + 1;")
    with pytest.raises(KernelError, match="refused the kernel") as found:
        run_edited(kept, "opencl", broken)
    shown = "\n".join(found.value._render_traceback_())
    assert "nobody_knows_this" in found.value.log
    line = next(n for n, each in enumerate(broken.splitlines(), 1) if "nobody_knows_this" in each)
    assert f"Cell line {line + 1}\n        const long wrong" in shown
    assert f"cell line {line + 1}, column " in found.value.log
    assert shown.count("undeclared") <= 1
    for around in ("clBuildProgram", "pyopencl", "failed to build", "tempfile", "0x"):
        assert around not in shown


def test_a_line_that_the_compiler_shows_too_is_shown_once():
    text, said = "void f() {\n    int a = b;\n}", "use of undeclared identifier 'b'"
    log = f"cell line 3, column 13: error: {said}\n    int a = b;\n            ^"
    error = KernelError(f"refused: {said}", text, 2, 12, log)
    shown = ["  Cell line 3", "        int a = b;", "                ^", f"KernelError: refused: {said}"]
    assert error._render_traceback_() == shown
    more = KernelError(f"refused: {said}", text, 2, 12, f"{log}\nand another")
    assert len(more._render_traceback_()) == len(shown) + 4


def test_a_function_that_only_a_linker_misses_is_found_in_the_text():
    log = "error   : Unresolved extern function 'nobody'"
    assert _place(log, "void f() {\n    // nobody\n    nobody(1);\n}\n") == (
        3,
        -1,
        "there is no function `nobody`",
    )
    assert _place(log, "void f() {\n}\n")[0] == 0


def test_a_wild_store_kills_the_trial_and_nothing_else(kept, text):
    wild = re.sub(r"(?<=, r0 \+ )at\d+|(?<=r0\[)at\d*", r"\g<0> * 1000000", text)
    assert wild != text
    with pytest.raises(KernelError, match=r"crashed \(SIG\w+\)|failed while it ran"):
        run_edited(kept, "opencl", wild)
    assert run_edited(kept, "opencl", text).equal


@pytest.mark.parametrize("language", ["llvm", "opencl"])
@pytest.mark.parametrize("sink", ["sum", "max", "filter(_ > 20)"])
def test_functions_with_loops_of_their_own(language, sink):
    session = Session({})
    session.run_cell(f"{COLLATZ}t = range(1, 9_000) |> map(f) |> {sink}", options=Options(baseline=False))
    (kept,) = session.kept
    run = run_edited(kept, language, text_of(kept, language))
    assert run.equal, run.difference


def test_a_cell_that_ran_elsewhere_has_a_kernel_in_either_language():
    session = Session({})
    session.run_cell("t = range(20_000) |> sum", options=Options(on="simd", baseline=False))
    (kept,) = session.kept
    for language, backend in (("llvm", "simd"), ("opencl", "opencl")):
        run = run_edited(kept, language, text_of(kept, language))
        assert (run.equal, run.backend, run.values) == (True, backend, {"t": sum(range(20_000))})
