"""The panel under a cell with `--widgets`: choose a back end and a size, measure, see all runs side by side.

It comes after the static report, as an output of its own, and only adds to it: without a kernel the report is
still there. It drives `compiler.comparing.measure.measure`, as `hastega_magic.measure` does, in a thread, so that
"Cancel" works.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from IPython.core.display_functions import (
    publish_display_data,  # pyright: ignore[reportUnknownVariableType]
)

from hastega_magic.compiler.comparing.kept import why_nothing
from hastega_magic.compiler.comparing.measure import Run, measure
from hastega_magic.compiler.options import INT_MODES
from hastega_magic.errors import HastegaError
from hastega_magic.jupyter import runs
from hastega_magic.jupyter.worker import Worker
from hastega_magic.progress import Cancelled
from hastega_magic.report.escape import markup, one_line
from hastega_magic.runtime.threads import default_threads

if TYPE_CHECKING:
    from hastega_magic.compiler.comparing.kept import Kept
    from hastega_magic.progress import Task
    from hastega_magic.report import Report

widgets: Any = importlib.import_module("ipywidgets")

_WIDTHS = (("as the CPU has", 0), *((str(1 << k), 1 << k) for k in range(7)))
_STYLE = {"description_width": "90px"}
_PLAIN = (
    "A panel to measure this cell again. It lives as long as its kernel: run the cell again for a new one. "
    "The same in Python: hastega_magic.measure()"
)
_LOOK = "hastega-widgets"
"""The class by which the labextension finds panels whose kernel is gone, to say so."""
_RUNNING = "Where this bar stands still for long, the kernel may be gone: then run the cell again."
"""Said beforehand, as a kernel that died can say nothing."""


class Panel:
    """Widgets over the loops of one cell. `widget` is the whole; `lines` are the runs so far, oldest first.

    on, threads, width, fuse, int_mode, n   the choices
    start, stop                             "Measure" and "Cancel"
    """

    def __init__(self, kept: Sequence[Kept], report: Report | None) -> None:
        """Make the widgets; `report`: the cell's, whose figures come first."""
        self._kept: Sequence[Kept] = kept
        self._why = ""
        self._worker: Worker | None = None
        self.lines = [] if report is None else runs.of_report(report)
        own = kept[0].options if kept else None
        of = max((each.length for each in kept), default=1)
        backend = "parallel" if own is None or own.on == "auto" else own.on
        self.on = widgets.Dropdown(options=_backends(backend), value=backend, **_described("back end"))
        most = default_threads()
        threads = own.threads if own and own.threads else most
        self.threads = widgets.IntSlider(value=min(threads, most), min=1, max=most, **_described("threads"))
        self.width = widgets.Dropdown(options=_WIDTHS, value=own.width if own else 0, **_described("lanes"))
        self.fuse = widgets.Checkbox(value=own is None or own.fuse, description="fuse stages into one loop")
        mode = own.int_mode if own else "exact"
        self.int_mode = widgets.Dropdown(options=INT_MODES, value=mode, **_described("integers"))
        self.n = widgets.BoundedIntText(value=of, min=1, max=max(1, of), **_described("elements"))
        self.start = widgets.Button(description="Measure", button_style="primary", icon="play")
        self.stop = widgets.Button(description="Cancel", disabled=True, icon="stop")
        self.bar = widgets.FloatProgress(min=0.0, max=1.0, layout={"visibility": "hidden", "width": "160px"})
        self.said = widgets.HTML()
        self.warned = widgets.HTML()
        self.chart = widgets.HTML()
        self.table = widgets.HTML()
        self.start.on_click(self._start)
        self.stop.on_click(self._stop)
        self.on.observe(self._follow, "value")
        self.widget = widgets.VBox([
            widgets.HTML("<b>Measure this cell again</b>"),
            _row([self.on, self.threads, self.width, self.int_mode, self.n, self.fuse]),
            _row([self.start, self.stop, self.bar, self.said]),
            self.warned,
            self.chart,
            self.table,
        ])  # fmt: skip
        self.widget.add_class(_LOOK)
        self._follow()
        self._draw()
        if not kept:
            self.release(f"There is nothing to measure: {why_nothing(kept)}.")

    def display(self) -> None:
        """Show the panel as an output of its own."""
        found = self.widget._repr_mimebundle_()
        publish_display_data({**found, "text/plain": _PLAIN})

    @property
    def running(self) -> bool:
        """Whether a measurement is under way."""
        return self._worker is not None and self._worker.running

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the measurement under way; False if it has not ended by then."""
        return self._worker is None or self._worker.wait(seconds)

    def cancel(self) -> None:
        """End the measurement under way, if there is one; its run does not count."""
        if self._worker is not None:
            self._worker.cancel()

    def release(self, why: str = "Another panel has taken over: run this cell again to measure.") -> None:
        """Let go of the cell's sources; what was measured stays."""
        self._kept, self._why = (), why
        self.cancel()
        for each in (
            self.on,
            self.threads,
            self.width,
            self.fuse,
            self.int_mode,
            self.n,
            self.start,
            self.stop,
        ):
            each.disabled = True
        self._say(why)

    # The listener's part: compiler and runtime tell how far they are

    def show(self, task: Task) -> None:
        """Move the bar."""
        self.bar.layout.visibility = "visible"
        self.bar.value = task.fraction
        self.warned.value = _RUNNING
        self._say(task.path)

    def close(self) -> None:
        """Take the bar away."""
        self.bar.layout.visibility = "hidden"
        self.warned.value = ""

    # What the buttons do

    def _stop(self, *_: object) -> None:
        self.cancel()

    def _start(self, *_: object) -> None:
        if self.running or not self._kept:
            return
        kept = self._kept
        choices: dict[str, Any] = {
            "on": self.on.value,
            "threads": self.threads.value if self.threads.value < self.threads.max else 0,
            "width": self.width.value,
            "fuse": self.fuse.value,
            "int_mode": self.int_mode.value,
            "n": self.n.value,
        }
        found: list[Run] = []
        self.start.disabled, self.stop.disabled = True, False
        self._say("")

        def work() -> None:
            found.append(measure(kept, **choices))

        self._worker = Worker(work, self, lambda error: self._done(found, choices, error))

    def _done(self, found: Sequence[Run], choices: dict[str, Any], error: BaseException | None) -> None:
        self.close()
        self.start.disabled, self.stop.disabled = not self._kept, True
        if isinstance(error, Cancelled):
            self._end("Cancelled.")
            return
        if error is not None:
            first = one_line(str(error)) or "no reason given"
            note = first if isinstance(error, HastegaError) else f"{type(error).__name__}: {first}"
            self.lines.append(runs.Line(choices["on"], choices["n"], 0.0, note=note))
            self._end("It did not run.")
        else:
            self.lines.append(runs.of_run(found[0]))
            self._end("")
        self._draw()

    def _follow(self, *_: object) -> None:
        """What the chosen back end has no use for cannot be chosen."""
        compiled = self.on.value not in ("python", "numpy")
        self.threads.disabled = self.on.value not in ("parallel", "opencl")
        for each in (self.width, self.fuse):
            each.disabled = not compiled

    def _draw(self) -> None:
        self.chart.value = runs.picture(self.lines)
        self.table.value = runs.table(self.lines) if self.lines else ""

    def _end(self, text: str) -> None:
        """Say how it ended; of a panel that was let go of meanwhile, why it measures no more."""
        self._say(text if self._kept else self._why)

    def _say(self, text: str) -> None:
        self.said.value = markup(text)


def _backends(own: str) -> list[str]:
    """What can be chosen; OpenCL where pyopencl is installed (which driver there is shows when it is used)."""
    found = ["parallel", "simd"]
    if importlib.util.find_spec("pyopencl") is not None:
        found += ["opencl", "all"]
    return list(dict.fromkeys([*found, own, "numpy", "python"]))


def _row(children: Sequence[Any]) -> Any:
    """Side by side where there is room, below each other in a narrow notebook."""
    return widgets.HBox(children, layout={"flex_flow": "row wrap"})


def _described(name: str) -> dict[str, Any]:
    return {"description": name, "style": _STYLE, "layout": {"width": "230px"}}


__all__ = ["Panel"]
