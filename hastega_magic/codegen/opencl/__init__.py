"""OpenCL C from a Kernel.

    CPU device: a work-item per block of 4096, explicit vectors     GPU: a work-group of 64 per block, scalars

The arguments are described in ir/device.py. Neither form leaves the driver a choice that could change a bit:
no contraction, one operation per statement, the reduction tree spelled out.
"""

from __future__ import annotations

from hastega_magic.codegen.opencl import groups as opencl_groups
from hastega_magic.codegen.opencl import items as opencl_items
from hastega_magic.codegen.opencl import pack as opencl_pack
from hastega_magic.codegen.opencl.frame import Frame
from hastega_magic.codegen.opencl.text import BUILTIN, builtin, suffix
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.target import Target


def generate(kernel: Kernel, target: Target, contract: bool = False) -> str:
    """The program's text: the kernel `hastega`, and `pack1`, `pack4`, `pack8` where filters need them.

    `contract` lets the compiler fuse multiplications and additions (`--fast-math`).
    """
    return located(kernel, target, contract)[0]


def located(kernel: Kernel, target: Target, contract: bool = False) -> tuple[str, list[int]]:
    """The text, and for each of its lines the line of the printed kernel that it belongs to (0: none)."""
    frame = Frame(kernel, target)
    groups = target.has("groups")
    writer = (opencl_groups if groups else opencl_items).emit(frame)
    text = "\n".join(writer.lines) + "\n"
    head = [] if contract else ["#pragma OPENCL FP_CONTRACT OFF"]
    if "double" in text:
        head.append("#pragma OPENCL EXTENSION cl_khr_fp64 : enable")
    sizes = {frame.bus[slot].size for slot, group in enumerate(frame.layout.groups) if group is not None}
    before = "\n".join(["\n".join(head) + "\n", *_helpers(text, frame.lanes), ""])
    places = [0] * before.count("\n") + writer.places
    packing = "\n" + opencl_pack.emit(sizes, groups) if sizes else ""
    return before + text + packing, places + [0] * packing.count("\n")


def _helpers(text: str, lanes: int) -> list[str]:
    """Functions through the compiler's own ones, one component after the other."""
    found: list[str] = []
    for function, arity in BUILTIN.items():
        for element in ("double", "float"):
            name, vector = builtin(function, element, lanes), f"{element}{suffix(lanes)}"
            if f"{name}(" not in text:
                continue
            own = f"__builtin_{function}{'' if element == 'double' else 'f'}"
            parts = [""] if lanes == 1 else [f".s{lane:x}" for lane in range(lanes)]
            names = "abc"[:arity]
            calls = ", ".join(f"{own}({', '.join(each + part for each in names)})" for part in parts)
            given = ", ".join(f"const {vector} {each}" for each in names)
            found.append(f"inline {vector} {name}({given}) {{\n    return ({vector})({calls});\n}}\n")
    return found
