"""A kernel whose work-group of 64 runs a block, an element per work-item and row: for GPUs.

A work-item is a virtual lane of the reduction tree; at the block's end the lanes are combined in local memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hastega_magic.codegen.opencl.body import Body
from hastega_magic.codegen.opencl.fold import Fold
from hastega_magic.codegen.opencl.frame import Frame
from hastega_magic.codegen.opencl.text import Writer
from hastega_magic.ir.device import ENTRY, GROUP

_BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"


def emit(frame: Frame) -> Writer:
    """The whole function."""
    w = frame.writer
    w.line(f"__kernel __attribute__((reqd_work_group_size({GROUP}, 1, 1)))")
    with w.block(f"void {ENTRY}(\n        {frame.parameters()})"):
        w.line("const int lane = get_local_id(0);")
        w.line("const long turn = first + get_group_id(0);")
        frame.begin()
        _Groups(frame).emit()
    return w


class _Groups:
    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.w = frame.writer
        self.flight = frame.kernel.schedule.in_flight

    def emit(self) -> None:
        w, frame = self.w, self.frame
        frame.declare_checks()
        for fold in frame.folds:
            frame.at(fold.statement)
            for state in range(fold.states):
                start = frame.own(fold.identity(state), fold.vector())
                w.line(f"{fold.vector()} f{fold.number}_{state} = {start};")
        frame.at(None)
        for group in range(frame.layout.group_count):
            w.line(f"ulong column{group} = 0;")
        w.line("long at = begin + lane;")
        step = GROUP * self.flight
        with w.block(f"for (; at + {step - GROUP} < whole; at += {step})"):
            self._turn([w.let("long", f"at + {k * GROUP}", "at") for k in range(self.flight)])
        with w.block(f"for (; at < begin + size; at += {GROUP})"):
            self._turn(["at"])
        self._end()

    def _turn(self, positions: list[str]) -> None:
        body = self.frame.body(positions)
        for fold in self.frame.folds:
            self.frame.at(fold.statement)
            for k in range(len(positions)):
                states = [f"f{fold.number}_{state}" for state in range(fold.states)]
                fold.take(body, k, states, "trouble")
        self.frame.at(None)
        self.frame.checks(body)
        self.frame.stores(body)
        self._columns(body)

    def _columns(self, body: Body) -> None:
        for group in range(self.frame.layout.group_count):
            for position, mask in zip(body.positions, body[self.frame.group_mask(group)], strict=True):
                self.w.line(f"column{group} |= (ulong)({mask}) << (({position} - begin) >> 6);")
        self.frame.at(None)

    # The end of the block

    def _end(self) -> None:
        w, frame = self.w, self.frame
        for fold in frame.folds:
            frame.at(fold.statement)
            names = self._across(fold)
            with w.block("if (lane == 0)"):
                fold.store(w, names, "size")
        frame.at(None)
        marks = "0"
        if frame.bounds or frame.troubled:
            w.line("uint mine = 0;")
            for number in range(len(frame.bounds)):
                w.line(f"mine |= {frame.outside(number)} ? {1 << number}u : 0u;")
            if frame.troubled:
                w.line(f"mine |= trouble ? {1 << len(frame.bounds)}u : 0u;")
            if frame.turns:
                w.line(f"mine |= late ? {2 << len(frame.bounds)}u : 0u;")
            (marks,) = self._tree([("marks", "uint", "mine")], _joining("{0} | {1}"))
        with w.block("if (lane == 0)"):
            frame.status(marks)
        for group in range(frame.layout.group_count):
            w.line(f"c{group}[number * {GROUP} + lane] = column{group};")
            mine = f"counts{group}", "long", f"(long)popcount(column{group})"
            (count,) = self._tree([mine], _joining("{0} + {1}"))
            w.line(f"if (lane == 0) kept{group}[number] = {count};")

    def _across(self, fold: Fold) -> list[str]:
        nowhere = self.frame.nowhere()
        states = [
            (f"lanes{fold.number}_{state}", fold.vector(), f"f{fold.number}_{state}")
            for state in range(fold.states)
        ]
        return self._tree(states, lambda left, right: fold.joined(nowhere, left, right))

    def _tree(self, states: Sequence[tuple[str, str, str]], joined: _Joined) -> list[str]:
        """One value of each state from the work-items' values: lanes h apart for h = 32, 16, ..., 1.

        `states`: of each the name of its local memory, its type, and the work-item's value.
        """
        w = self.w
        for name, type_, value in states:
            w.line(f"__local {type_} {name}[{GROUP}];")
            w.line(f"{name}[lane] = {value};")
        w.line(_BARRIER)
        with w.block(f"for (int apart = {GROUP // 2}; apart > 0; apart /= 2)"):
            with w.block("if (lane < apart)"):
                left = [w.let(type_, f"{name}[lane]", "left") for name, type_, _ in states]
                right = [w.let(type_, f"{name}[lane + apart]", "right") for name, type_, _ in states]
                both, over = joined(left, right)
                if over:
                    w.line(f"trouble |= {over};")
                for (name, _, _), value in zip(states, both, strict=True):
                    w.line(f"{name}[lane] = {value};")
            w.line(_BARRIER)
        return [f"{name}[0]" for name, _, _ in states]


_Joined = Callable[[list[str], list[str]], tuple[list[str], str]]
"""From two states to one, and the mask of what overflows on the way ("": nothing)."""


def _joining(text: str) -> _Joined:
    return lambda left, right: ([text.format(left[0], right[0])], "")
