"""The last, shorter chunk: elements that make no whole one are Python's.

range(7) |> chunk(3) |> map(sum)    →    a loop over (0, 1, 2) and (3, 4, 5), and Python's [sum((6,))]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from hastega_magic.compiler.python.barriers import noted
from hastega_magic.compiler.statement import Loop, build_loop, calls_of
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.pipeline import Stage
from hastega_magic.records import changed
from hastega_magic.runtime import python
from hastega_magic.runtime.columnar import numbers
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.runtime.stream import NotProduced, Stream
from hastega_magic.runtime.strided import Paired
from hastega_magic.syntax.loops.build import PLACED, BoundStage

if TYPE_CHECKING:
    from hastega_magic.passes.guard import Variant

_NOT_OF_THE_TAIL = PLACED | {"take_while", "drop_while", "to_list"}


def tail(loop: Loop, workspace: Workspace | None, mode: str) -> AnyArray:
    """What the stages give for the last, shorter chunk, if there is one.

    `mode`: what becomes of integers beyond 64 bits; where it is not "exact", there has to be a workspace.
    """
    rest = _rest(loop)
    found = None if mode == "exact" or workspace is None else _obeying(loop, rest, workspace, mode)
    if found is not None:
        return found
    stages: Sequence[BoundStage] = loop.stages
    if workspace is not None and loop.built.numpys:
        from hastega_magic.compiler.python.numpy_as_python import exactly

        stages = exactly(loop, workspace)
    told = noted(stages, "the last, shorter chunk")
    asked = [_sized(each, _chunk(loop).number) for each in told if each.site.name not in _NOT_OF_THE_TAIL]
    return python.run(rest, calls_of(asked))


def obeyed(loop: Loop, workspace: Workspace, mode: str) -> None:
    """OverflowError where the last, shorter chunk needs an integer beyond 64 bits, and the mode raises for it."""
    if loop.built.tail:
        _obeying(loop, _rest(loop), workspace, mode)


def beyond(loop: Loop, workspace: Workspace, bodies: Sequence[Variant]) -> list[str]:
    """A sentence if the last, shorter chunk needs an integer beyond 64 bits, which Python has computed exactly."""
    from hastega_magic.compiler.python.elements import Elements

    if not loop.built.tail or is_safe(loop, bodies):
        return []
    found = _alone(loop, _rest(loop), workspace)
    if found is None:
        return []
    elements = Elements(*found, "exact")
    elements.at(0)
    return elements.warnings


def is_safe(loop: Loop, bodies: Sequence[Variant]) -> bool:
    """Whether one of the loop's bodies, which checks nothing, is for the numbers of the last, shorter chunk."""
    assumed = [[each.interval for each in body.assumes] for body in bodies if not body.guards_overflow]
    if not all(assumed):  # one of them assumes nothing
        return True
    rest = cast("list[object]", list(python.elements(_rest(loop))))
    values = [int(each) for each in rest if isinstance(each, int)]
    if not values or len(values) < len(rest):
        return False
    least, most = min(values), max(values)
    return any(all(least in each and most in each for each in body) for body in assumed)


def _chunk(loop: Loop) -> Stage:
    return [stage for stage in loop.pipeline.stages if stage.kind == "window"][-1]


def _rest(loop: Loop) -> Any:
    """The elements of the source that are in the chunk."""
    view, source = loop.built.view, cast(Any, numbers(loop.source))
    assert view is not None
    window = _chunk(loop)
    if isinstance(source, (Stream, Paired)):
        return source.last(view.start, window.stride, window.number)
    assert view.count is not None
    return source[view.start + view.step * view.count :: window.stride][: loop.built.tail]


def _obeying(loop: Loop, rest: Any, workspace: Workspace, mode: str) -> AnyArray | None:
    """What a loop over it alone has its element be; None where there is no such loop, or no such chunk."""
    from hastega_magic.compiler.python.elements import Elements

    found = _alone(loop, rest, workspace)
    if found is None:
        return None
    try:
        element = Elements(*found, mode).at(0)
    except Exception as error:
        reraise_signal(error)
        if _is_streamed(loop):  # of which element is told where the elements are there
            raise NotProduced from None
        raise
    return python.as_result([element.value] if element.kept else [], rest)


def _is_streamed(loop: Loop) -> bool:
    return isinstance(numbers(loop.source), (Stream, Paired))


def _alone(loop: Loop, rest: Any, workspace: Workspace) -> tuple[Loop, Workspace] | None:
    """A loop over it alone; None where there is no such loop, or no such chunk."""
    if not len(rest):
        return None
    view = loop.built.view
    assert view is not None
    place = 0 if _is_streamed(loop) else view.start + view.step * cast(int, view.count)
    there = Workspace(workspace.filename, first=workspace.first + place, stride=_chunk(loop).stride)
    there.checked = workspace.checked
    stages = [_whole(each, len(rest)) for each in loop.stages if each.site.name not in _NOT_OF_THE_TAIL]
    alone = build_loop(loop.bound, rest, stages, there).loop
    if alone is None or len(alone.stages) < len(stages):
        return None
    return changed(alone, pipeline=replace(alone.pipeline, source_span=loop.pipeline.source_span)), there


def _sized(stage: BoundStage, size: int) -> BoundStage:
    """The stage; a `chunk` with its size as an int, as an object that gives it is asked once."""
    return replace(stage, args=(size,), kwargs={}) if stage.site.name == "chunk" else stage


def _whole(stage: BoundStage, size: int) -> BoundStage:
    """The stage, for which the elements that are left make one tuple."""
    if stage.site.name != "chunk":
        return stage
    return replace(stage, site=replace(stage.site, name="window"), args=(size,), kwargs={})


__all__ = ["beyond", "is_safe", "obeyed", "tail"]
