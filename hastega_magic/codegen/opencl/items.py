"""A kernel whose work-item runs a block with vectors: for OpenCL devices that are CPUs.

for part of the 64 virtual lanes -> for row: in_flight vectors side by side; then the last, shorter row;
then partial results, status and the masks' columns.
"""

from __future__ import annotations

from collections.abc import Callable

from hastega_magic.codegen.opencl.body import Body
from hastega_magic.codegen.opencl.fold import Fold
from hastega_magic.codegen.opencl.frame import Frame
from hastega_magic.codegen.opencl.text import Writer
from hastega_magic.ir.device import ENTRY
from hastega_magic.ir.schedule import VIRTUAL_LANES


def emit(frame: Frame) -> Writer:
    """The whole function."""
    w = frame.writer
    with w.block(f"__kernel void {ENTRY}(\n        {frame.parameters()})"):
        w.line("const long turn = first + get_global_id(0);")
        frame.begin()
        _Items(frame).emit()
    return w


class _Items:
    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.w = frame.writer
        self.lanes = frame.lanes
        self.vectors = VIRTUAL_LANES // frame.lanes
        self.flight = min(frame.kernel.schedule.in_flight, self.vectors)
        # Rows are needed where a vector's virtual lane matters; else elements are taken in their order.
        self.rows = any(fold.tree for fold in frame.folds) or frame.layout.group_count > 0
        self.parts = self.vectors // self.flight if self.rows else 1
        self.stride = VIRTUAL_LANES if self.rows else self.flight * frame.lanes

    def emit(self) -> None:
        w = self.w
        if self.lanes > 1:
            numbers = ", ".join(map(str, range(self.lanes)))
            w.line(f"const long{self.frame.n} iota = (long{self.frame.n})({numbers});")
            for slot, source in enumerate(self.frame.kernel.sources):
                if source.storage is None:
                    steps = f"as_ulong{self.frame.n}(iota) * as_ulong(s{slot}_step)"
                    w.line(f"const ulong{self.frame.n} s{slot}_steps = {steps};")
        self.frame.declare_checks()
        for name, vector, start in self._arrays():
            w.line(f"{vector} {name}[{self.vectors}];")
            w.line(f"for (int i = 0; i < {self.vectors}; ++i) {name}[i] = {start};")
        with w.block(f"for (int part = 0; part < {self.parts}; ++part)"):
            self._main()
        with w.block(f"for (int part = 0; part * {self.lanes} < size - (size & -64L); ++part)"):
            self._tail()
        self._end()

    def _arrays(self) -> list[tuple[str, str, str]]:
        """Name, type and start of every array of accumulators, one vector for each stretch of virtual lanes."""
        found = [
            (f"f{fold.number}_{state}", fold.vector(), fold.identity(state))
            for fold in self.frame.folds
            for state in range(fold.states)
        ]
        columns = f"ulong{self.frame.n}"
        return found + [(f"column{group}", columns, "0") for group in range(self.frame.layout.group_count)]

    def _main(self) -> None:
        w = self.w
        for name, vector, _ in self._arrays():
            for k in range(self.flight):
                w.line(f"{vector} {name}_{k} = {name}[part * {self.flight} + {k}];")
        head = f"begin + part * {self.flight * self.lanes}"
        with w.block(f"for (long at = {head}; at < whole; at += {self.stride})"):
            positions = [w.let("long", f"at + {k * self.lanes}", "at") for k in range(self.flight)]
            self._turn(self.frame.body(positions), "(at - begin) >> 6", lambda name, k: f"{name}_{k}")
        for name, _, _ in self._arrays():
            for k in range(self.flight):
                w.line(f"{name}[part * {self.flight} + {k}] = {name}_{k};")

    def _tail(self) -> None:
        w = self.w
        w.line(f"const long at = whole + part * {self.lanes};")
        live = "1"
        if self.lanes > 1:
            self.frame.at_source()
            live = w.let(f"long{self.frame.n}", "iota < length - at", "live")
        body = self.frame.body(["at"], live if self.lanes > 1 else None)
        self._turn(body, "(whole - begin) >> 6", lambda name, _: f"{name}[part]")

    def _turn(self, body: Body, row: str, name: Callable[[str, int], str]) -> None:
        w = self.w
        for fold in self.frame.folds:
            self.frame.at(fold.statement)
            for k in range(len(body.positions)):
                states = [name(f"f{fold.number}_{state}", k) for state in range(fold.states)]
                fold.take(body, k, states, "trouble")
        self.frame.at(None)
        self.frame.checks(body)
        self.frame.stores(body)
        if self.frame.layout.group_count:
            bit = w.let("ulong", f"1UL << ({row})", "bit")
            for group in range(self.frame.layout.group_count):
                for k, mask in enumerate(body[self.frame.group_mask(group)]):
                    live = "" if body.live is None else f" & {body.live}"
                    bits = f"as_ulong{self.frame.n}({mask}{live})" if self.lanes > 1 else f"(ulong)-{mask}"
                    w.line(f"{name(f'column{group}', k)} |= {bits} & {bit};")
            self.frame.at(None)

    # The end of the block

    def _end(self) -> None:
        w = self.w
        for fold in self.frame.folds:
            self.frame.at(fold.statement)
            fold.store(w, self._across(fold), "size")
        self.frame.at(None)
        if self.frame.bounds or self.frame.troubled:
            w.line("uint marks = 0;")
            for number in range(len(self.frame.bounds)):
                w.line(f"marks |= {self._any(self.frame.outside(number))} ? {1 << number}u : 0u;")
            if self.frame.troubled:
                w.line(f"marks |= {self._any('trouble')} ? {1 << len(self.frame.bounds)}u : 0u;")
            if self.frame.turns:
                w.line(f"marks |= late ? {2 << len(self.frame.bounds)}u : 0u;")
        self.frame.status("marks")
        for group in range(self.frame.layout.group_count):
            w.line(f"long count{group} = 0;")
            with w.block(f"for (int i = 0; i < {self.vectors}; ++i)"):
                where = f"c{group} + number * 64 + i * {self.lanes}"
                if self.lanes == 1:
                    w.line(f"*({where}) = column{group}[i];")
                    w.line(f"count{group} += popcount(column{group}[i]);")
                else:
                    w.line(f"vstore{self.frame.n}(column{group}[i], 0, {where});")
                    w.line(f"const ulong{self.frame.n} counts = popcount(column{group}[i]);")
                    total = " + ".join(f"counts.s{lane:x}" for lane in range(self.lanes))
                    w.line(f"count{group} += {total};")
            w.line(f"kept{group}[number] = count{group};")

    def _any(self, mask: str) -> str:
        return f"({mask} != 0)" if self.lanes == 1 else f"any({mask} != 0)"

    def _across(self, fold: Fold) -> list[str]:
        """One scalar from each array of vectors: halves together until one vector, then halves of lanes."""
        w, half, nowhere = self.w, self.vectors // 2, self.frame.nowhere()
        names = [f"f{fold.number}_{state}" for state in range(fold.states)]
        while half:
            left, right = [f"{name}[i]" for name in names], [f"{name}[i + {half}]" for name in names]
            with w.block(f"for (int i = 0; i < {half}; ++i)"):
                both, over = fold.joined(nowhere, left, right)
                if over:
                    w.line(f"trouble |= {over};")
                for into, name in zip(left, both, strict=True):
                    w.line(f"{into} = {name};")
            half //= 2
        found, lanes = [f"{name}[0]" for name in names], self.lanes
        while lanes > 1:
            lanes //= 2
            low, high = (
                [w.let(fold.vector(lanes), f"{name}.{side if lanes > 1 else one}", "part") for name in found]
                for side, one in (("lo", "s0"), ("hi", "s1"))
            )
            both, over = fold.joined(nowhere.at_lanes(lanes), low, high)
            if over:
                w.line(f"trouble |= {f'any({over})' if lanes > 1 else over} ? -1L : 0L;")
            found = [w.let(fold.vector(lanes), name, "both") for name in both]
        return found
