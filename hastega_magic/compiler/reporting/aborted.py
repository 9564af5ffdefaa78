"""What the report says of a loop whose elements raised, or that was interrupted: what ran it, and over how many."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from hastega_magic.compiler.options import Options
from hastega_magic.errors import HastegaError
from hastega_magic.ir.fused import is_product
from hastega_magic.trace import Trace

if TYPE_CHECKING:
    from hastega_magic.compiler.execute import Execution


@contextmanager
def told_if_it_raises(execution: Execution, options: Options, trace: Trace) -> Generator[None]:
    """Tell the trace of the execution if what is done here raises; the report has no use for it if another run ends."""
    began, before = time.perf_counter(), len(trace.events)
    try:
        yield
    except HastegaError:  # it is run otherwise
        raise
    except (Exception, KeyboardInterrupt) as error:
        trace.raised(error)
        told = [each.data for each in trace.events[before:] if each.kind == "phase"]
        if all(each["name"] != "kernel" for each in told):  # which is told at its end, and was interrupted
            rest = time.perf_counter() - began - sum(cast("float", each["seconds"]) for each in told)
            trace.add("phase", name="kernel", seconds=max(0.0, rest), bytes=0)
        trace.add("broken_off", run=run_of(execution, 1), int=integers_of(execution, options))
        raise


def run_of(execution: Execution, loops: int) -> dict[str, Any]:
    """Where and over how many elements it ran."""
    backend = execution.backend
    name, device = backend.name, backend.place
    if execution.on == "python":  # chosen, for a loop that is compiled all the same
        name, device = "python", "CPython"
    elif name == "parallel":  # which `--on auto` may leave to the calling thread
        name = execution.ran
    return {
        "backend": name, "device": device, "threads": execution.threads, "elements": execution.length, "loops": loops,
        "cached": execution.cached,
    }  # fmt: skip


def integers_of(execution: Execution, options: Options) -> dict[str, Any]:
    """How its integers were kept within 64 bits."""
    variants = execution.compiled.variants
    products = any(map(is_product, execution.fused.outputs))
    checked = products or (execution.compiled.checks_carried and options.int_mode != "wrap")
    # Of floats that become ints ranges prove nothing: these are looked at one by one.
    proved = variants.proved and not execution.fell_back
    return {
        "mode": options.int_mode,
        "proved": proved and not checked and options.int_mode != "wrap",
        "guarded": not proved or checked,
        "fell_back": execution.fell_back,
    }


__all__ = ["integers_of", "run_of", "told_if_it_raises"]
