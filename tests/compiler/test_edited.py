"""Edited kernels: what they may be, and what becomes of those that misbehave."""

import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from hastega_magic.compiler.comparing.kept import choose
from hastega_magic.compiler.editing import edited as module
from hastega_magic.compiler.editing.edited import KernelError, run_edited, text_of
from hastega_magic.compiler.editing.kernel_rules import RULES, check_llvm
from hastega_magic.compiler.editing.kernel_text import without_places
from hastega_magic.compiler.options import Options
from hastega_magic.errors import UsageError
from hastega_magic.session import Session

N = 200_003
"""Elements: whole blocks, a part of one, and three elements in the tail."""

CELL = """\
ys = xs |> map(lambda x: x * 3 + 1)
total = ys |> sum
"""


def session_of(cell, on="simd", **options):
    session = Session({"np": np, "xs": np.arange(N)})
    session.run_cell(cell, options=Options(on=on, baseline=False, quiet=True, **options))
    return session


@pytest.fixture(scope="module")
def kept():
    return choose(session_of(CELL).kept, "ys")


@pytest.fixture(scope="module")
def text(kept):
    return text_of(kept, "llvm")


def after(text, pattern, line):
    """The text with a line put behind the first that matches."""
    found = re.search(pattern, text, re.MULTILINE)
    assert found, pattern
    end = text.index("\n", found.end())
    return f"{text[:end]}\n{line}{text[end:]}"


def line_with(text, words):
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


PROGRAMS = [
    ("parallel", "y = range(1000) |> map(lambda x: x % 7) |> filter(lambda x: x > 2)", {}),
    ("simd", "y = xs |> map(lambda x: x * 0.5) |> sum", {"fast_math": True}),
    ("simd", "y = xs |> map(lambda x: np.exp(x * 1e-6))", {}),
    ("simd", "y = xs |> prod", {}),
    ("simd", "y = xs |> map(lambda x: (x, x * 0.5, x + 1))", {}),
    ("parallel", "y = xs |> map(lambda x: complex(x, -1))", {}),
    ("simd", "y = xs[::3] |> map(lambda x: xs[x] // 3) |> max", {"width": 1}),
    ("simd", "y = xs.astype('>i4') |> map(lambda x: x * x) |> min", {"width": 4}),
    ("simd", "y = [1.5, 2.5] |> map(lambda x: x ** 0.5) |> to_list", {}),
    ("simd", "y = (xs > 3) |> map(lambda x: not x) |> all", {"int_mode": "checked"}),
]


@pytest.mark.parametrize(("on", "cell", "options"), PROGRAMS)
def test_what_is_generated_keeps_the_rules(on, cell, options):
    (kept,) = session_of(cell, on, **options).kept
    found = text_of(kept, "llvm")
    assert "!dbg" not in found
    assert check_llvm(found, found) is None


BREAKS = [
    ("entry", lambda t: t.replace("@hastega(", "@other("), "@other("),
    ("entry", lambda t: t.replace("ptr noalias %scratch)", "ptr noalias %scratch, i64 %n)"), "i64 %n)"),
    ("entry", lambda t: t.replace("define void @hastega", "define fastcc void @hastega"), "define fastcc"),
    ("entry", lambda t: t.replace("define void @hastega", "define internal void @hastega"), "define internal"),
    ("entry", lambda t: t + "define void @more() {\n  ret void\n}\n", "@more()"),
    ("calls", lambda t: after(t, "^entry:", "  call void @abort()") + "declare void @abort()\n", "call void @abort"),
    ("calls", lambda t: t + "declare i32 @puts(ptr)\n", "declare i32 @puts"),
    ("calls", lambda t: after(t, "^entry:", "  call void @llvm.trap()") + "declare void @llvm.trap()\n", "call void"),
    ("calls", lambda t: after(t, "^entry:", "  call void @llvm.no.such.thing()") + "declare void @llvm.no.such.thing()",
     "call void @llvm.no"),
    ("calls", lambda t: after(t, "^entry:", "  call void %words()"), "call void %words"),
    ("no assembly", lambda t: after(t, "^entry:", '  call void asm sideeffect "hlt", ""()'), "asm sideeffect"),
    ("top level", lambda t: t + 'module asm "hlt"\n', "module asm"),
    ("top level", lambda t: re.sub('target triple = "[^"]*"', 'target triple = "wasm32"', t), "wasm32"),
    ("top level", lambda t: t + "!llvm.linker.options = !{}\n", "!llvm.linker"),
    ("addresses come from arguments",
     lambda t: after(t, "^entry:", "  store i64 1, ptr inttoptr (i64 64 to ptr)"), "inttoptr"),
    ("no stand-ins", lambda t: t + "@second = alias void (ptr, ptr), ptr @hastega\n", "@second"),
    ("plain names", lambda t: after(t, "^entry:", '  %"a b" = add i64 1, 2'), '"a b"'),
    ("constants", lambda t: t + "@state = private global i64 0\n", "@state"),
    ("constants", lambda t: t + "@outside = external constant i64\n", "@outside"),
    ("constants", lambda t: t + "@there = private constant ptr @hastega\n", "@there"),
    ("stack", lambda t: after(t, "^entry:", "  %big = alloca [9000 x i64]"), "%big"),
    ("stack", lambda t: after(t, "^start:\n.*phi.*", "  %grows = alloca i64"), "%grows"),
    ("stack", lambda t: after(t, "%blocks[0-9]+ = load", "  %vla = alloca i64, i64 %blocks4"), "%vla"),
    ("instructions", lambda t: t.replace("ret void", "unreachable", 1), "unreachable"),
    ("instructions", lambda t: after(t, "^entry:", "  %r = frem double 1.0, 2.0"), "frem"),
    ("attributes", lambda t: t.replace("nounwind ", 'nounwind "target-cpu"="znver4" ', 1), "target-cpu"),
    ("attributes", lambda t: t.replace("nounwind ", "nounwind sspreq ", 1), "sspreq"),
    ("readable", lambda t: after(t, "^entry:", "  %x = frobnicate i64 1"), "frobnicate"),
    ("readable", lambda t: after(t, "^entry:", "  %x = add i64 %nobody, 1"), "%nobody"),
    ("readable", lambda t: "", ""),
]  # fmt: skip


SENTENCE = re.compile(
    r"a (kernel|text) may not |LLVM says: |there is no |`@hastega` is a |the arguments of .* are others than"
)


@pytest.mark.parametrize(("rule", "change", "words"), BREAKS)
def test_what_breaks_a_rule_is_refused_with_its_line(text, rule, change, words):
    broken = change(text)
    assert broken != text
    found = check_llvm(broken, text)
    assert found is not None
    if not broken:
        assert (found.rule, found.text) == ("entry", "there is no function `@hastega`")
        return
    assert (found.rule, found.line) == (rule, line_with(broken, words)), found
    assert SENTENCE.match(found.text)


def test_every_rule_is_tried_and_has_a_reason():
    assert {rule.name for rule in RULES} == {name for name, *_ in BREAKS} - {"readable"}
    assert all(rule.reason.endswith(".") for rule in RULES)


def test_what_a_comment_says_breaks_no_rule(text):
    assert check_llvm(after(text, "^entry:", "  ; inttoptr, asm and call @puts()"), text) is None


def test_a_private_table_of_constants_may_be_used(kept, text):
    changed = text + "@factors = private constant [2 x i64] [i64 3, i64 5]\n"
    changed = after(changed, "^entry:", "  %factor = load i64, ptr @factors, align 8")
    assert run_edited(kept, "llvm", changed).equal


def test_the_same_kernel_gives_the_same(kept, text):
    run = run_edited(kept, "llvm", text)
    assert run.equal
    assert run.difference == ""
    assert (run.elements, run.of, run.by_python) == (N, N, 0)
    assert np.array_equal(run.values["ys"], np.arange(N) * 3 + 1)
    assert run.values["total"] == sum(x * 3 + 1 for x in range(N))
    assert run.runs >= 1
    assert run.spread[0] <= run.seconds <= run.spread[1]


def test_another_constant_is_the_first_difference(kept, text):
    changed, count = re.subn(r"(add <\d+ x i64> %v\d+, splat \(i64) 1\)", r"\1 2)", text)
    assert count
    run = run_edited(kept, "llvm", changed)
    assert not run.equal
    assert run.difference == "`ys`: element 0 is 2, the original's is 1"
    assert np.array_equal(run.values["ys"], np.arange(N) * 3 + 2)


def test_a_difference_in_the_tail_alone_is_found(kept, text):
    """The last three elements go through the tail loop; the others are equal."""
    head, tail = text.split("\ntail:", 1)
    changed, count = re.subn(r"(add <\d+ x i64> %v\d+, splat \(i64) 1\)", r"\1 7)", tail)
    assert count == 1
    run = run_edited(kept, "llvm", f"{head}\ntail:{changed}")
    assert run.difference == "`ys`: element 200000 is 600007, the original's is 600001"


def far_away(text):
    return re.sub(r"getelementptr i64(, ptr %result\d+, i64 %v\d+)", r"getelementptr [99999 x i64]\1", text)


def into_the_source(text):
    """Statuses go to the source, which the trial maps without the right to write."""
    return re.sub(r"ptr %status\d+, i64 %number", f"ptr {source_of(text)}, i64 %number", text)


@pytest.mark.parametrize("change", [far_away, into_the_source])
def test_a_wild_store_kills_the_trial_and_nothing_else(kept, text, change):
    before = kept.workspace.columns.copy()
    changed = change(text)
    assert changed != text
    with pytest.raises(KernelError, match=r"crashed \(SIG(SEGV|BUS)\) while it ran over the first") as found:
        run_edited(kept, "llvm", changed)
    assert "this notebook is as it was" in str(found.value)
    assert kept.workspace.columns == before
    assert np.array_equal(next(iter(before.values())).data, np.arange(N))


def source_of(text):
    return re.search(r"%source\d+", text)[0]


def test_a_store_just_behind_a_result_is_caught():
    """512 elements of 8 bytes end with a page: one element further is the next page's first."""
    (own,) = session_of("ys = range(512) |> map(lambda x: x * 3 + 1)").kept
    found = text_of(own, "llvm")
    assert run_edited(own, "llvm", found).equal
    changed, count = re.subn(
        r"(%v\d+) = (getelementptr i64, ptr %result\d+, i64 %v\d+)",
        r"\1.first = \2\n  \1 = getelementptr i64, ptr \1.first, i64 1",
        found,
    )
    assert count
    with pytest.raises(KernelError, match="crashed"):
        run_edited(own, "llvm", re.sub(r", align \d+, !nontemporal !0", ", align 8", changed))


def endless(text):
    """The text, with a first block that never ends."""
    changed = text.replace("br label %claim", "br label %again", 1).replace("%entry ]", "%again ]")
    return changed.replace("claim:", "again:\n  br i1 false, label %claim, label %again\nclaim:", 1)


def test_an_endless_kernel_is_ended(kept, text, monkeypatch):
    monkeypatch.setattr(module, "_LEAST", 1.0)
    with pytest.raises(KernelError, match=r"did not end within \d+ s while it ran over the first"):
        run_edited(kept, "llvm", endless(text))


def test_an_interrupt_ends_the_trial(kept, text, monkeypatch):
    started = []
    popen = subprocess.Popen

    class Watched(popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            started.append(self)
            threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

    monkeypatch.setattr(subprocess, "Popen", Watched)
    with pytest.raises(KeyboardInterrupt):
        run_edited(kept, "llvm", endless(text))
    (process,) = started
    assert process.returncode == -signal.SIGKILL


def test_what_a_kernel_reports_is_looked_at(kept, text):
    changed = re.sub(r"store i8 \S+, ptr %status.at", "store i8 9, ptr %status.at", text)
    assert changed != text
    with pytest.raises(KernelError, match="the edited kernel ran, but a block has the status 9"):
        run_edited(kept, "llvm", changed)


def test_counts_of_packed_elements_are_looked_at():
    (kept,) = session_of("ys = xs |> filter(lambda x: x % 2 == 0)").kept
    text = text_of(kept, "llvm")
    changed = re.sub(r"(getelementptr i64, ptr %kept\d+, i64 %v\d+\n  store i64) %\S+,", r"\1 9999,", text)
    assert changed != text
    with pytest.raises(KernelError, match="kept 9999 of its 4096 elements"):
        run_edited(kept, "llvm", changed)


def test_blocks_left_to_python_are_counted_and_exact(kept, text):
    (own,) = session_of("ys = xs |> map(lambda x: x * 3 + 1)").kept
    found = text_of(own, "llvm")
    changed = re.sub(r"store i8 \S+, ptr %status.at", "store i8 2, ptr %status.at", found)
    assert changed != found
    run = run_edited(own, "llvm", changed)
    assert run.equal
    assert run.by_python == -(-N // 4096)


def test_variants_after_the_edited_one_are_the_originals():
    """Sources beyond what the first body assumes: its blocks are run again by the next one."""
    session = Session({"xs": np.array([5, 2**40, -(2**61)] * 3000)})
    session.run_cell("ys = xs |> map(lambda x: x * 3 % 1000)", options=Options(on="simd", baseline=False))
    (kept,) = session.kept
    assert run_edited(kept, "llvm", text_of(kept, "llvm")).equal


@pytest.mark.parametrize(
    "cell",
    [
        "ys = [1, 2, 3] * 5000 |> map(lambda x: x + 1)",
        "ys = xs[::-2] |> map(lambda x: x + 1)",
        "ys = xs.astype('>i2') |> map(lambda x: x + 1)",
        "ys = range(5, 90_000, 7) |> map(lambda x: xs[x] * 0.1) |> sum",
        "ys = xs |> zip(xs * 2) |> map(lambda a, b: a * b) |> filter(lambda v: v % 3 == 0)",
        "ys = xs[:0] |> map(lambda x: x + 1)",
        "ys = xs |> map(lambda x: (x, x * 0.5))",
        "ys = xs |> drop(5) |> take(9000) |> map(lambda x: x // 3) |> to_list",
    ],
)
def test_sources_and_results_of_all_kinds(cell):
    (kept,) = session_of(cell, "parallel").kept
    run = run_edited(kept, "llvm", text_of(kept, "llvm"))
    assert run.equal, run.difference


def test_larger_sources_are_tried_in_part(kept, text, monkeypatch):
    monkeypatch.setattr(module, "COPIED", 80_000)
    run = run_edited(kept, "llvm", text)
    assert (run.elements, run.of) == (10_000, N)
    assert run.equal
    assert len(run.values["ys"]) == 10_000


def test_what_cannot_be_chosen(kept):
    with pytest.raises(UsageError, match="llvm and opencl, not in 'ptx'"):
        text_of(kept, "ptx")
    with pytest.raises(UsageError, match="has no result 'zs' of a compiled pipeline; there are ys, total"):
        choose([kept], "zs")
    with pytest.raises(UsageError, match="ran no pipeline that became one loop"):
        choose([])


def test_what_is_kept_are_references_and_only_until_the_next_cell():
    session = session_of(CELL)
    (kept,) = session.kept
    (column,) = kept.workspace.columns.values()
    assert column.data is session.namespace["xs"]
    session.run_cell("y = 1\n")
    assert not session.kept


@pytest.mark.parametrize("cell", ["ys = xs |> map(str)", "ys = xs |> tap(len) |> sum", "y = len(xs)"])
def test_only_what_was_compiled_as_a_whole_is_kept(cell):
    assert not session_of(cell).kept


def test_an_endless_trial_does_not_outlive_the_notebook(tmp_path):
    program = """
import os, re, subprocess, sys, threading
from hastega_magic.compiler.editing.edited import run_edited, text_of
from hastega_magic.compiler.options import Options
from hastega_magic.session import Session
session = Session({})
session.run_cell("y = range(10) |> map(lambda x: x + 1)", options=Options(on="simd", baseline=False))
text = text_of(session.kept[0], "llvm").replace("br label %claim", "br label %again", 1).replace("%entry ]", "%again ]")
text = text.replace("claim:", "again:\\n  br i1 false, label %claim, label %again\\nclaim:", 1)
popen = subprocess.Popen
class Watched(popen):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        print(self.pid, flush=True)
        threading.Timer(1.5, lambda: os._exit(0)).start()
subprocess.Popen = Watched
run_edited(session.kept[0], "llvm", text)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""
    ends = time.monotonic() + 20
    while Path(f"/proc/{int(done.stdout)}").exists() and time.monotonic() < ends:
        time.sleep(0.05)
    assert not Path(f"/proc/{int(done.stdout)}").exists()


def test_the_listing_of_a_report_is_taken_too():
    session = Session({"np": np, "xs": np.arange(N)})
    # A loop of its own: code made for a quiet cell has no locations.
    session.run_cell("ys = xs |> map(lambda x: x * 3 + 577)", options=Options(on="simd", baseline=False))
    text = text_of(choose(session.kept, "ys"), "llvm")
    listing = session.last_report.pipelines[0].code.llvm
    assert "!dbg" in listing
    plain = without_places(listing)
    assert "!dbg" not in plain
    assert "!DI" not in plain
    assert [line for line in plain.splitlines() if line] == [line for line in text.splitlines() if line]
    assert run_edited(choose(session.kept, "ys"), "llvm", listing).equal


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("stage", ["map(abs) |> sum", "map(lambda z: z * z)", "map(lambda z: z.imag)"])
def test_complex_numbers_are_read_in_pairs(dtype, stage):
    session = Session({"zs": np.arange(20_001).astype(dtype) * (1 + 2j)})
    session.run_cell(f"out = zs |> {stage}", options=Options(on="simd", baseline=False, quiet=True))
    kept = session.kept[0]
    assert run_edited(kept, "llvm", text_of(kept, "llvm")).equal


def test_parts_of_complex_numbers_are_compared_each():
    nan = complex(math.nan, math.nan)
    assert module._first(np.array([1j, nan]), np.array([1j, nan])) is None
    assert module._first(np.array([0j, 0j]), np.array([0j, complex(0.0, -0.0)])) == 1
    assert module._first(np.array([math.nan]), np.array([-math.nan])) is None
