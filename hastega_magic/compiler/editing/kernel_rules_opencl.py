"""The rules of kernel_rules.py for OpenCL C, on the text alone: the device's compiler does the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from hastega_magic.compiler.editing.kernel_rules import Refusal
from hastega_magic.compiler.editing.kernel_text import KernelText
from hastega_magic.records import dataclass

_ATTRIBUTE = r"\b__attribute(?:__)?\b(?:\s*\(\((?:[^()]|\([^()]*\))*\)\))?"
_KERNEL = re.compile(rf"\b(?:__)?kernel\s+(?:{_ATTRIBUTE}\s*)*void\s+(\w+)\s*\(([^)]*)\)")
_POINTER_CAST = (
    r"\(\s*(?:(?:__)?(?:global|local|private|constant|generic|const|volatile|restrict|unsigned|signed)\s+)*"
    r"[A-Za-z_]\w*(?:\s+(?:__)?(?:const|volatile|restrict|global|local|private))*\s*\*+\s*\)"
)
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)

Finding = tuple[int, str]


@dataclass(frozen=True)
class TextRule:
    """`found` gives every place of the text that breaks the rule, beside the original."""

    name: str
    reason: str
    found: Callable[[KernelText, KernelText], Iterator[Finding]]


def check_opencl(text: str, original: str) -> Refusal | None:
    """The first rule that the text breaks; None if it may be built. `original`: the generated text."""
    edited, generated = KernelText.of("opencl", text), KernelText.of("opencl", original)
    for rule in TEXT_RULES:
        for line, what in rule.found(edited, generated):
            return Refusal(rule.name, line, what, rule.reason)
    return None


def _directives(edited: KernelText, generated: KernelText) -> Iterator[Finding]:
    known = {" ".join(each.split()) for each in _DIRECTIVE.findall(generated.bare)}
    for found in _DIRECTIVE.finditer(edited.bare):
        said = " ".join(found[0].split())
        if said not in known and not said.startswith("#pragma unroll"):
            yield _line(edited, found), f"a kernel may not have `{said}`"
    if line := edited.line_of(r"\\\s*$|\?\?/|%:"):
        yield line, "a text may not have a line that the preprocessor would join or rewrite"


def _kernels(edited: KernelText, generated: KernelText) -> Iterator[Finding]:
    wanted = {found[1]: _types(found[2]) for found in _KERNEL.finditer(generated.bare)}
    there = {found[1]: found for found in _KERNEL.finditer(edited.bare)}
    for name, types in wanted.items():
        if name not in there:
            yield 0, f"there is no kernel `{name}`"
        elif _types(there[name][2]) != types:
            shown = ", ".join(types)
            yield _line(edited, there[name], 1), f"the arguments of `{name}` are others than ({shown})"
    for name in there.keys() - wanted.keys():
        yield _line(edited, there[name], 1), f"a text may not have a kernel `{name}`, which nobody runs"


def _types(parameters: str) -> tuple[str, ...]:
    """Types of the parameters, without their names and what does not change how they are passed."""
    found: list[str] = []
    for parameter in parameters.split(","):
        words = re.findall(r"\w+|\*", parameter)
        kept = [
            word.removeprefix("__") for word in words[:-1] if word not in ("const", "restrict", "volatile")
        ]
        found.append(" ".join(kept))
    return tuple(found)


def _words(*names: str) -> Callable[[KernelText, KernelText], Iterator[Finding]]:
    def found(edited: KernelText, generated: KernelText) -> Iterator[Finding]:
        for name in names:
            if line := edited.line_of(rf"\b{name}\b"):
                yield line, f"a kernel may not have `{name}`"

    return found


def _new(pattern: str) -> Callable[[KernelText, KernelText], Iterator[Finding]]:
    """What matches, unless the original says the same."""

    def found(edited: KernelText, generated: KernelText) -> Iterator[Finding]:
        known = set(re.findall(pattern, generated.bare))
        for each in re.finditer(pattern, edited.bare):
            if each[0] not in known:
                yield _line(edited, each), f"a kernel may not have `{' '.join(each[0].split())}`"

    return found


def _line(text: KernelText, found: re.Match[str], group: int = 0) -> int:
    return 1 + text.bare.count("\n", 0, found.start(group))


def _file_scope(edited: KernelText, generated: KernelText) -> Iterator[Finding]:
    """What ends with a semicolon outside of every function: declarations and variables, but for constants."""
    without = _DIRECTIVE.sub(lambda each: " " * len(each[0]), edited.bare)
    depth = start = 0
    for place, char in enumerate(without):
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0 and "=" not in without[start:place].partition("{")[0]:
                start = place + 1
        elif char == ";" and depth == 0:
            said = without[start:place].strip()
            if said and not re.match(r"(__)?constant\b|(const\s+)?(__)?constant\b|typedef\b", said):
                first = place - len(without[start:place].lstrip())
                yield (
                    1 + without.count("\n", 0, first),
                    f"a text may not have `{' '.join(said.split())[:60]};`",
                )
            start = place + 1


TEXT_RULES = (
    TextRule("directives", "What it stands for could not be seen; those of the original may stay.", _directives),
    TextRule("kernels", "The runtime runs the original's kernels, with the original's arguments.", _kernels),
    TextRule("no assembly", "Nothing can be said of instructions that the compiler does not know.",
             _words("asm", "__asm", "__asm__")),
    TextRule("attributes", "They may say what the runtime does not know; those of the original may stay.",
             _new(_ATTRIBUTE)),
    TextRule("no output", "Every work-item would print.", _words("printf")),
    TextRule("file scope", "Functions have a body here, and a kernel keeps no state between runs.", _file_scope),
    TextRule("addresses come from arguments", "An address made of something else is not the kernel's.",
             _new(_POINTER_CAST)),
    TextRule("compiler's own functions", "They may trap, or take stack; those of the original may be used.",
             _new(r"\b__builtin_\w+")),
)  # fmt: skip
"""In the order in which they are looked at."""

__all__ = ["TEXT_RULES", "TextRule", "check_opencl"]
