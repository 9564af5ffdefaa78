"""What a finished loop tells the trace: its texts, and a verdict read from the emitted code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.links import shown
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.statement import Bound, Loop
from hastega_magic.errors import Reason
from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.passes.pipelines import CPU
from hastega_magic.trace import Trace
from hastega_magic.types import INT

_SCALAR_FLOAT = re.compile(
    r"^v?(add|sub|mul|div|sqrt|fmadd\d*|fnmadd\d*|max|min|round|cvtsi2|cvttsd2|ucomi|comi)\w*s[ds]\w*$"
)
_BRANCH = re.compile(r"^(j\w+|b|bl|b\.\w+|cb\w+|tb\w+|ret|call\w*)$")
_REGISTERS = (("zmm", "AVX-512", 512), ("ymm", "AVX2", 256), ("xmm", "SSE2", 128))


@dataclass(frozen=True)
class Mix:
    """Kinds of instructions in a loop, its instruction set and register width in bits, and what stayed scalar."""

    instructions: dict[str, int]
    isa: str
    bits: int
    scalar_ops: list[str]


def describe_loop(execution: Execution, loops: Sequence[Loop], options: Options, trace: Trace) -> None:
    """Passes, code and verdicts of a loop that ran (not with `--quiet`, where nobody looks)."""
    compiled = execution.compiled
    body = compiled.bodies[compiled.first]
    cell = next((str(event.data.get("source", "")) for event in trace.of("cell")), "")
    found = shown(compiled, body, execution.fused, [loop.pipeline for loop in loops], cell)
    for each in found.passes:
        trace.add("pass", name=each.name, doc=each.doc, text=each.text)
    trace.add("group", links=found.links)
    trace.add(
        "code",
        pipeline=found.passes[0].text,
        fused=found.passes[-1 - len(CPU)].text,
        asm=body.assembly,
        **{execution.backend.language: body.program.text},
    )
    mixed = mix(body.assembly)
    lanes = body.kernel.schedule.lanes
    bits = mixed.bits or (64 if body.assembly else 0)
    if execution.backend.target.has("groups"):
        lanes = 0  # the device, not the code, decides how many work-items go together
    trace.add(
        "vector", lanes=lanes, bits=bits, in_flight=body.kernel.schedule.in_flight, scalar_ops=mixed.scalar_ops,
        instructions=mixed.instructions, isa=mixed.isa,
    )  # fmt: skip
    variants = compiled.variants
    trace.add(
        "int",
        mode=options.int_mode,
        proved=variants.proved and options.int_mode != "wrap",
        guarded=variants.guarded,
        fell_back=execution.fell_back,
    )
    for text in execution.warnings:
        trace.add("warning", text=text)
    for sentence in _why(execution, options):
        trace.add("why", text=sentence)


def describe_run(execution: Execution, options: Options, loops: int, trace: Trace) -> None:
    """Where and over how many elements the statement ran."""
    backend = execution.backend
    trace.add(
        "run", backend=backend.name, device=backend.target.cpu, threads=execution.threads, elements=execution.length,
        loops=loops, cached=execution.cached,
    )  # fmt: skip


def describe_group(bounds: Sequence[Bound], trace: Trace) -> None:
    """Names, spans and stages of the statements."""
    spans = [bound.site.span for bound in bounds]
    first, last = min(spans), max(spans, key=lambda span: (span.end_line, span.end_col))
    stages = [
        text
        for bound in bounds
        for text in (bound.site.source_text, *(stage.site.text for stage in bound.stages))
    ]
    span = [first.line, first.col, last.end_line, last.end_col]
    trace.add("group", name=", ".join(bound.name for bound in bounds), span=span, stages=stages)


def describe_barrier(stage: str, reason: Reason, trace: Trace) -> None:
    """A stage that Python runs, and why."""
    trace.add("barrier", stage=stage, reason=reason.text, span=reason.span.to_list())


@lru_cache(64)
def mix(assembly: str) -> Mix:
    """Kinds of instructions in the loop with the most vector instructions: counts, registers, what stayed scalar."""
    best: list[str] = []
    block: list[str] = []
    for line in [*assembly.splitlines(), "end:"]:
        text = line.split("#", 1)[0].strip()
        if not text or (text.startswith(".") and not text.endswith(":")):
            continue
        if text.endswith(":"):
            if _vectors(block) > _vectors(best):
                best = block
            block = []
        else:
            block.append(text)
    counts = {"vector": _vectors(best), "memory": 0, "branch": 0, "scalar": 0}
    stayed: dict[str, None] = {}
    for text in best:
        name = text.split(None, 1)[0]
        if _BRANCH.match(name):
            counts["branch"] += 1
            if name.startswith("call"):
                stayed[text.replace("\t", " ")] = None
        elif not _is_vector(text):
            counts["scalar"] += 1
            if _SCALAR_FLOAT.match(name) or name.startswith(("idiv", "div")):
                stayed[name] = None
        if "(" in text or "[" in text:
            counts["memory"] += 1
    joined = "\n".join(best)
    for register, isa, bits in _REGISTERS:
        if register in joined:
            return Mix(counts, isa, bits, list(stayed))
    isa = "NEON" if re.search(r"\bv\d+\.", joined) else ""
    return Mix(counts, isa, 128 if isa else 0, list(stayed))


def _is_vector(text: str) -> bool:
    name = text.split(None, 1)[0]
    registers = (
        any(register in text for register, _, _ in _REGISTERS) or re.search(r"\bv\d+\.", text) is not None
    )
    return registers and not _SCALAR_FLOAT.match(name)


def _vectors(block: Sequence[str]) -> int:
    return sum(map(_is_vector, block))


def _why(execution: Execution, options: Options) -> list[str]:
    variants = execution.compiled.variants
    sentences: list[str] = []
    if not any(node.type is INT and node.args for node in postorder(execution.compiled.fused.roots())):
        pass  # nothing is computed with integers
    elif options.int_mode == "wrap":
        sentences.append("Integers wrap around at 64 bits, as asked for with --int wrap.")
    elif variants.proved:
        sentences.append("Integers proved to fit: with these sources, no intermediate value leaves 64 bits.")
    elif variants.bodies[execution.compiled.first].assumes:
        assumed = "; ".join(
            f"{_leaf(each.load, execution)} in {each.interval}"
            for each in variants.bodies[execution.compiled.first].assumes
        )
        sentences.append(
            f"Integers guarded at the source: where {assumed}, nothing can overflow; "
            "other blocks check every operation."
        )
    else:
        sentences.append("Integers guarded: every operation that could leave 64 bits is checked.")
    checks = sorted({guard.reason for guard in variants.bodies[execution.compiled.first].guards})
    if checks:
        sentences.append(
            f"Checked for each element: {', '.join(checks)}; Python evaluates a block where that holds."
        )
    return sentences


def _leaf(node: Expr, execution: Execution) -> str:
    assert isinstance(node.value, int)
    return execution.columns[node.value].source.name
