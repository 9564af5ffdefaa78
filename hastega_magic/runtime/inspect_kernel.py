"""What a module of LLVM IR consists of, as plain data: for rules about kernels that somebody has edited."""

from __future__ import annotations

import re
from typing import Any

import llvmlite.binding as llvm

from hastega_magic.records import dataclass
from hastega_magic.runtime import cpu
from hastega_magic.runtime.background import undisturbed

THROUGH_POINTER = "?"
"""The callee of a call that names no function."""

_FUNCTION = 5
"""What llvmlite calls a value that is a function, declared or defined."""

_PLACE = re.compile(r"<string>:(\d+):(\d+): error: (.*)")
_MENTIONED = re.compile(r"^\s*(%[\w.]+ = .*|(?:store|call|br|ret)\b.*)$", re.MULTILINE)


class Unreadable(Exception):
    """LLVM does not accept the text. `line` from 1 (0: not known), `column` from 0."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        """`message`: LLVM's own words."""
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(frozen=True)
class Instruction:
    """`callee`: the function that a call names; `entry`: whether it stands in the function's first block."""

    opcode: str
    callee: str
    entry: bool
    text: str


@dataclass(frozen=True)
class Function:
    """`signature` as LLVM writes types: `void (ptr, ptr)`; `attributes` in one line."""

    name: str
    signature: str
    attributes: str
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True)
class Module:
    """Functions with a body, names of those without, and global variables as LLVM prints them."""

    defined: tuple[Function, ...]
    declared: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]


def inspect(text: str) -> Module:
    """Read the text; Unreadable where LLVM's parser or verifier refuses it."""
    cpu.host()
    return undisturbed(lambda: _inspected(text))


def _inspected(text: str) -> Module:
    try:
        parsed: Any = llvm.parse_assembly(text)
    except RuntimeError as error:
        found = _PLACE.search(str(error))
        if found is None:
            raise Unreadable(_first_line(str(error))) from None
        raise Unreadable(found[3], int(found[1]), max(0, int(found[2]) - 1)) from None
    try:
        parsed.verify()
    except RuntimeError as error:
        raise Unreadable(_first_line(str(error)), _line_of(str(error), text)) from None
    functions = list(parsed.functions)
    return Module(
        tuple(_function(each) for each in functions if not each.is_declaration),
        tuple(each.name for each in functions if each.is_declaration),
        tuple((each.name, str(each).strip()) for each in parsed.global_variables),
    )


def _function(value: Any) -> Function:
    instructions: list[Instruction] = []
    for number, block in enumerate(value.blocks):
        for each in block.instructions:
            callee = ""
            if each.opcode == "call":
                *_, target = each.operands
                is_function = int(target.value_kind) == _FUNCTION
                callee = target.name if is_function else THROUGH_POINTER
            instructions.append(Instruction(each.opcode, callee, number == 0, str(each).strip()))
    attributes = " ".join(each.decode("utf-8", "replace") for each in value.attributes)
    return Function(value.name, str(value.global_value_type), attributes, tuple(instructions))


def _first_line(message: str) -> str:
    return next((line for line in message.splitlines() if line.strip()), "no reason given")


def _line_of(message: str, text: str) -> int:
    """The line of an instruction that the verifier's message shows."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for shown in _MENTIONED.findall(message):
        wanted = " ".join(shown.split())
        for number, line in enumerate(lines, 1):
            if line == wanted or (" = " in wanted and line.startswith(wanted.partition(" = ")[0] + " = ")):
                return number
    return 0


__all__ = ["THROUGH_POINTER", "Function", "Instruction", "Module", "Unreadable", "inspect"]
