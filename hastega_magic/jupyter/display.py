"""What stands under a cell: the value as the shell shows values, then the report in one bundle."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from IPython.core.display_functions import (
    publish_display_data,  # pyright: ignore[reportUnknownVariableType]
)

from hastega_magic.jupyter.streams import Readers, flushing_what_waits
from hastega_magic.report import MIME, Report
from hastega_magic.report.writable import writable

if TYPE_CHECKING:
    from hastega_magic.jupyter.shell import Shell
    from hastega_magic.report.model import PipelineReport


def show_value(value: object, readers: Readers) -> None:
    """Show the value as the shell shows a last expression: Out[n], `_`; nothing for None."""
    if value is not None:
        readers.wait()
    with flushing_what_waits():
        sys.displayhook(value)


def show_report(report: Report, shell: Shell) -> None:
    """Display the report: a front end takes JSON or HTML, a terminal the text."""
    data = {
        MIME: report.published(),
        "text/html": report.to_html(),
        "text/plain": writable(report.to_text(_columns(shell))),
    }
    with flushing_what_waits():
        publish_display_data(data)


def show_sections(report: Report, names: Sequence[str]) -> None:
    """Print sections of the report as text, for each of its pipelines."""
    for pipeline in report.pipelines:
        for name in names:
            text = "\n".join(_SECTIONS[name](pipeline)) or _nothing(name, pipeline)
            print(writable(f"── {pipeline.name or 'pipeline'}: {name}\n{text}\n"))  # noqa: T201  what was asked for


def _nothing(name: str, pipeline: PipelineReport) -> str:
    """What stands in a section that has nothing."""
    if name == "baselines":
        return "(nothing: none was timed)"
    return "(nothing)" if pipeline.loops else "(nothing: no loop was compiled)"


def ran(report: Report) -> bool:
    """Whether a pipeline of the report came so far as to run, or Python's part of one did."""
    return any(each.backend or (each.barriers and each.raised) for each in report.pipelines)


def _columns(shell: Shell) -> int:
    """The width for text: the terminal's where the shell has one, 100 at most."""
    if getattr(shell, "kernel", None) is not None:
        return 100
    return min(100, shutil.get_terminal_size((100, 24)).columns)


def _written(pipeline: PipelineReport) -> Iterable[str]:
    from hastega_magic.report.written import as_written

    return as_written(pipeline)


def _passes(pipeline: PipelineReport) -> Iterable[str]:
    for step in pipeline.code.passes:
        yield f"{step.name}: {step.doc}"
        yield from (f"    {line}" for line in step.text.splitlines())


def _phases(pipeline: PipelineReport) -> Iterable[str]:
    from hastega_magic.report.text import phase_lines

    return phase_lines(pipeline)


def _baselines(pipeline: PipelineReport) -> Iterable[str]:
    from hastega_magic.report.text import baseline_lines

    return baseline_lines(pipeline)


_SECTIONS: Mapping[str, Callable[[PipelineReport], Iterable[str]]] = {
    "opencl": lambda pipeline: pipeline.code.opencl.splitlines(),
    "pipeline": _written,
    "fused": lambda pipeline: pipeline.code.fused.splitlines(),
    "passes": _passes,
    "llvm": lambda pipeline: pipeline.code.llvm.splitlines(),
    "asm": lambda pipeline: pipeline.code.asm.splitlines(),
    "phases": _phases,
    "baselines": _baselines,
}
