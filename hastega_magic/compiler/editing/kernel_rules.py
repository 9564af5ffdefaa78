"""What an edited kernel must keep to, as a table: each rule with its reason, and how it is looked for.

The rules keep an edited kernel a kernel: its name and signature, nothing called but arithmetic, no state, a small
stack. They do not prove that its addresses are right, which nothing can do for arithmetic on pointers: that is why it
runs in a process of its own (compiler/editing/trial.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from hastega_magic.codegen.llvm.text import INTRINSICS
from hastega_magic.compiler.editing.kernel_text import KernelText, word
from hastega_magic.ir.abi import ENTRY
from hastega_magic.records import dataclass
from hastega_magic.runtime.inspect_kernel import (
    THROUGH_POINTER,
    Function,
    Instruction,
    Module,
    Unreadable,
    inspect,
)

STACK = 64 << 10
"""Bytes of stack that a kernel may take; threads have little, and nothing tells of an overflow."""

HARMLESS = (
    "llvm.minnum.", "llvm.maxnum.", "llvm.minimum.", "llvm.maximum.", "llvm.fmuladd.", "llvm.round.",
    "llvm.roundeven.", "llvm.nearbyint.", "llvm.ctlz.", "llvm.cttz.", "llvm.bitreverse.", "llvm.fshl.", "llvm.fshr.",
    "llvm.sadd.with.overflow.", "llvm.uadd.with.overflow.", "llvm.ssub.with.overflow.", "llvm.usub.with.overflow.",
    "llvm.umul.with.overflow.", "llvm.sadd.sat.", "llvm.uadd.sat.", "llvm.ssub.sat.", "llvm.usub.sat.",
    "llvm.vector.reduce.", "llvm.vector.extract.", "llvm.vector.insert.", "llvm.vector.reverse.",
    "llvm.vector.splice.", "llvm.masked.compressstore.", "llvm.masked.expandload.", "llvm.masked.scatter.",
    "llvm.is.fpclass.", "llvm.expect.", "llvm.scmp.", "llvm.ucmp.",
)  # fmt: skip
"""Intrinsics that generated code does not use, and that become instructions, not calls."""

OPCODES = frozenset({
    "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor", "fneg",
    "fadd", "fsub", "fmul", "fdiv", "icmp", "fcmp", "select", "phi", "br", "switch", "ret", "call", "load",
    "store", "getelementptr", "alloca", "atomicrmw", "cmpxchg", "fence", "trunc", "zext", "sext",
    "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp", "bitcast", "ptrtoint", "freeze",
    "extractelement", "insertelement", "shufflevector", "extractvalue", "insertvalue",
})  # fmt: skip
"""Instructions that a kernel may have."""

ATTRIBUTES = frozenset({
    "nounwind", "norecurse", "mustprogress", "nofree", "nosync", "noinline", "optsize", "minsize", "cold",
    "hot", "prefer-vector-width", "min-legal-vector-width",
})  # fmt: skip
"""What may stand behind a function's parameters."""

_VARIABLE = re.compile(r'@[\w.$-]+ = (private|internal) ((local_)?unnamed_addr )?constant [^@"]*$')
_TOP = re.compile(
    r"\s*$|define\b|declare\b|\}|attributes #\d+ = |!\d+ = (distinct )?!\{|target triple = |source_filename = |"
    r"%[\w.]+ = type |@[\w.$-]+ = "
)
_ALLOCA = re.compile(r"alloca (?P<type>[^,]+)(?:, i\d+ (?P<count>\d+))?(?:, align \d+)?$")
_ARRAY = re.compile(r"[\[<](\d+) x (.*)[\]>]$")
_SCALARS = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8, "ptr": 8, "half": 2}


@dataclass(frozen=True)
class Refusal:
    """A rule that a kernel breaks: where (line from 1 of its text, 0 if not known), what, and why that is a rule."""

    rule: str
    line: int
    text: str
    reason: str
    column: int = -1


@dataclass(frozen=True)
class Checked:
    """What rules about LLVM IR look at; `triple`: the line of the original that names the machine."""

    text: KernelText
    module: Module
    triple: str


Finding = tuple[int, str]
"""A line, and a sentence, without its full stop, on what is wrong there."""


@dataclass(frozen=True)
class Rule:
    """`found` gives every place that breaks the rule."""

    name: str
    reason: str
    found: Callable[[Checked], Iterator[Finding]]


def check_llvm(text: str, original: str) -> Refusal | None:
    """The first rule that a module breaks; None if it may be compiled. `original`: the generated module."""
    lines = KernelText.of("llvm", text)
    for rule in RULES[:_BEFORE_READING]:  # on the text alone: what LLVM should not even see
        checked = Checked(lines, Module((), (), ()), _triple(original))
        for line, what in rule.found(checked):
            return Refusal(rule.name, line, what, rule.reason)
    try:
        module = inspect(text)
    except Unreadable as error:
        return Refusal("readable", error.line, f"LLVM says: {error}", "", error.column)
    for rule in RULES[_BEFORE_READING:]:
        for line, what in rule.found(Checked(lines, module, _triple(original))):
            return Refusal(rule.name, line, what, rule.reason)
    return None


def _triple(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.startswith("target triple")), "")


def _words(*names: str) -> Callable[[Checked], Iterator[Finding]]:
    """Every one of the words."""

    def found(checked: Checked) -> Iterator[Finding]:
        for name in names:
            if line := checked.text.line_of(word(name)):
                yield line, f"a kernel may not have `{name}`"

    return found


def _top_level(checked: Checked) -> Iterator[Finding]:
    inside = False
    for number, line in enumerate(checked.text.bare.splitlines(), 1):
        if not inside and not _TOP.match(line):
            yield number, f"a kernel may not have `{checked.text.line(number).strip()}`"
        if line.startswith("target triple") and checked.text.line(number).strip() != checked.triple:
            yield number, f"a kernel may not be for another machine than `{checked.triple}`"
        if "{" in line and line.startswith("define"):
            inside = True
        if line.startswith("}"):
            inside = False


def _quoted(checked: Checked) -> Iterator[Finding]:
    if line := checked.text.line_of(r'[@%$!]"'):
        yield line, "a kernel may not have a name in quotation marks"


def _entry(checked: Checked) -> Iterator[Finding]:
    names = [each.name for each in checked.module.defined]
    for name in names:
        if name != ENTRY:
            yield (
                checked.text.line_of(rf"^define\b.*@{re.escape(name)}\b"),
                f"a kernel may not have a function `@{name}`",
            )
    if ENTRY not in names:
        yield 0, f"there is no function `@{ENTRY}`"
        return
    line = checked.text.line_of(rf"^define\b[^\n]*@{ENTRY}\b")
    own = next(each for each in checked.module.defined if each.name == ENTRY)
    if own.signature != "void (ptr, ptr)":
        yield line, f"`@{ENTRY}` is a `{own.signature}`, not a `void (ptr, ptr)`"
    head = checked.text.bare.splitlines()[line - 1] if line else ""
    parameter = r"ptr( (noalias|nonnull|noundef|readonly|align \d+))*( %[\w.]+)?"
    if not re.match(rf"define (dso_local )?void @{ENTRY}\({parameter}, {parameter}\) [^()]*\{{\s*$", head):
        yield line, f"a kernel may not begin with `{head.strip()}`"


def _attributes(checked: Checked) -> Iterator[Finding]:
    for function in checked.module.defined:
        for name in re.findall(r'"([^"]+)"(?:="[^"]*")?|([\w-]+)', function.attributes):
            said = name[0] or name[1]
            if said not in ATTRIBUTES:
                yield _line_of_attribute(checked.text, said), f"a kernel may not have the attribute `{said}`"


def _line_of_attribute(text: KernelText, name: str) -> int:
    found = [number for number, line in enumerate(text.text.splitlines(), 1) if name in line]
    return found[0] if found else 0


def _calls(checked: Checked) -> Iterator[Finding]:
    allowed = (*INTRINSICS, *HARMLESS)
    for each in _instructions(checked):
        if each.callee == THROUGH_POINTER:
            yield (
                checked.text.line_of(rf"{word('call')}[^@\n]*%[\w.]+\("),
                "a kernel may not have a call through a pointer",
            )
        elif each.callee and not _is_allowed(each.callee, allowed):
            yield (
                checked.text.line_of(rf"\bcall\b[^\n]*@{re.escape(each.callee)}\("),
                f"a kernel may not have a call of `@{each.callee}`",
            )
    for name in checked.module.declared:
        if not _is_allowed(name, allowed):
            yield (
                checked.text.line_of(rf"^declare\b[^\n]*@{re.escape(name)}\("),
                f"a kernel may not have a declaration of `@{name}`",
            )


def _is_allowed(name: str, allowed: Sequence[str]) -> bool:
    return f"{name}.".startswith(tuple(allowed))


def _instructions(checked: Checked) -> Iterator[Instruction]:
    for function in checked.module.defined:
        yield from function.instructions


def _opcodes(checked: Checked) -> Iterator[Finding]:
    for each in _instructions(checked):
        if each.opcode not in OPCODES:
            yield checked.text.line_of(word(each.opcode)), f"a kernel may not have `{each.opcode}`"


def _variables(checked: Checked) -> Iterator[Finding]:
    for name, text in checked.module.variables:
        one_line = " ".join(text.split())
        if not _VARIABLE.match(one_line) or re.search(r"\bptr\b|\bsection\b|\bthread_local\b", one_line):
            yield (
                checked.text.line_of(rf"^@{re.escape(name)}\b"),
                f"a kernel may not have the global `@{name}`",
            )


def _stack(checked: Checked) -> Iterator[Finding]:
    for function in checked.module.defined:
        yield from _stack_of(function, checked.text)


def _stack_of(function: Function, text: KernelText) -> Iterator[Finding]:
    total = 0
    for each in function.instructions:
        if each.opcode != "alloca":
            continue
        name = each.text.partition(" = ")[0]
        line = text.line_of(rf"{re.escape(name)} = alloca\b") or text.line_of(word("alloca"))
        if not each.entry:
            yield line, "a kernel may not have `alloca` outside the first block"
        size = _bytes(each.text.partition(" = ")[2])
        if size is None:
            yield line, "a kernel may not have `alloca` of a size that is not a constant"
            return
        total += size
        if total > STACK:
            yield line, f"a kernel may not take {total} bytes of stack"


def _bytes(alloca: str) -> int | None:
    found = _ALLOCA.match(alloca)
    return None if found is None else _size(found["type"].strip(), int(found["count"] or 1))


def _size(type_: str, count: int) -> int | None:
    while (array := _ARRAY.match(type_)) is not None:
        count, type_ = count * int(array[1]), array[2]
    return count * _SCALARS[type_] if type_ in _SCALARS else None


RULES = (
    Rule("top level", "A module holds one function, the intrinsics that it calls, constants, and this machine's name.",
         _top_level),
    Rule("plain names", "Names in quotation marks could hide what the other rules look for.", _quoted),
    Rule("no assembly", "Nothing can be said of instructions that LLVM does not know.", _words("asm")),
    Rule("addresses come from arguments",
         "An address made of a number, or of code, points at memory that is not the kernel's.",
         _words("inttoptr", "addrspacecast", "blockaddress", "dso_local_equivalent", "no_cfi")),
    Rule("no stand-ins", "Another name for a function, or data of the linker's, would reach outside the kernel.",
         _words("alias", "ifunc", "comdat", "section", "thread_local", "prefix", "prologue", "personality", "gc")),
    Rule("entry", f"The runtime calls `void @{ENTRY}(ptr words, ptr scratch)` and nothing else.", _entry),
    Rule("attributes", "They change how a function is compiled or called: for another CPU, or with calls of its own.",
         _attributes),
    Rule("calls", "A kernel computes: it calls intrinsics that become instructions, and `sched_yield` while it waits.",
         _calls),
    Rule("instructions", "Kernels are made of arithmetic, memory and branches; others call, jump or trap elsewhere.",
         _opcodes),
    Rule("constants", "A kernel keeps no state: globals are private constants of numbers.", _variables),
    Rule("stack", f"Threads have little stack: at most {STACK} bytes, all taken in the first block.", _stack),
)  # fmt: skip
"""In the order in which they are looked at."""

_BEFORE_READING = 5

__all__ = ["ATTRIBUTES", "HARMLESS", "OPCODES", "RULES", "STACK", "Checked", "Refusal", "Rule", "check_llvm"]
