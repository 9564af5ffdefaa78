"""What a run teaches the cost model: its time, and its kernel's, beside what was predicted of them.

expected = named(ready, backend)        before it, as it changes what memory is in use and what a device holds
teach(expected, execution, events)      after it; False where it tells nothing: a first run, a clock that jumped
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from hastega_magic.compiler.backend_opencl import OpenCl
from hastega_magic.compiler.backends import Backend, Cpu
from hastega_magic.compiler.choice import costs
from hastega_magic.compiler.choice.auto import Choice, case_of, costs_of, resident_part
from hastega_magic.compiler.loops import CompiledLoop
from hastega_magic.compiler.options import Options
from hastega_magic.cost.features import features_of
from hastega_magic.cost.predict import Case, DeviceModel, Model
from hastega_magic.records import dataclass
from hastega_magic.runtime.threads import default_threads
from hastega_magic.trace import Event

if TYPE_CHECKING:
    from hastega_magic.compiler.execute import Execution, Ready


_RUNS = "runs on a named back end"
SELDOM = 8
"""After so many runs of a loop every eighth teaches: noting one takes some 40 µs, and they say the same."""


@dataclass(frozen=True)
class Expected:
    """A run that is to come: its loop's hash, its back end, and what the bare model will say of the case."""

    loop: str
    model: Model
    case: Case


def teaches(options: Options, on: str) -> bool:
    """Whether runs with these options say something of those without: what the user decides is no measure of ours."""
    if options.repeat > 1 or options.width:
        return False
    return on != "parallel" or options.threads in (0, default_threads())


def chosen(choice: Choice) -> Expected | None:
    """Of a run as it was chosen; None where the model knows nothing of it."""
    model = choice.costs.model(choice.on)
    return None if model is None else Expected(choice.costs.loop, model, choice.case)


def named(ready: Ready, backend: Backend) -> Expected | None:
    """Of a run on a back end that the user named; None where it would teach nothing."""
    compiled, options = ready.compiled, ready.options
    body = compiled.bodies.get(compiled.first)
    if body is None or not ready.cached or not teaches(options, backend.name) or not costs.learning():
        return None
    runs = compiled.pictures.get(_RUNS, 0)
    assert isinstance(runs, int)
    compiled.pictures[_RUNS] = runs + 1
    if runs >= SELDOM and runs % SELDOM:
        return None
    columns = [ready.workspace.column(source) for source in ready.fused.sources]
    length = min(len(column.data) for column in columns)
    if isinstance(backend, Cpu):
        known = costs_of(compiled, body.kernel, ready.loops, options)
        model = known.model(backend.name)
        return (
            None
            if model is None
            else Expected(known.loop, model, case_of(body.kernel, known.features, length))
        )
    if not isinstance(backend, OpenCl) or options.device_memory:
        return None
    model = model_there(compiled, backend.device.info.number)
    if model is None:
        return None
    case = case_of(body.kernel, model.features, length)
    case = replace(case, resident=resident_part(model.device, columns, length))
    return Expected(compiled.structure, model, case)


def model_there(compiled: CompiledLoop, number: int) -> DeviceModel | None:
    """The model of a loop that a device has compiled; None of a device that was not measured."""
    machine = costs.machine()
    key, body = f"cost there {number}", compiled.bodies.get(compiled.first)
    found = compiled.pictures.get(key)
    if isinstance(found, DeviceModel) and found.machine is machine:
        return found
    device = next((each for each in machine.devices if each.number == number), None)
    if device is None or body is None:
        return None
    features = features_of(body.kernel, sum(each.sink.kind == "to_list" for each in compiled.fused.outputs))
    compiled.pictures[key] = made = DeviceModel(f"opencl:{number}", features, machine, device)
    return made


def teach(expected: Expected, execution: Execution, events: Sequence[Event]) -> bool:
    """A run took so long. `events`: what it left in the trace."""
    if not execution.cached or not execution.length or execution.recovered or not costs.learning():
        return False
    model, case = expected.model, expected.case
    predicted = model.predict(case)
    kernel = sum(
        cast("float", each.data["seconds"])
        for each in events
        if each.kind == "phase" and each.data["name"] == "kernel"
    )
    both = (0.0, 0.0) if model.backend == "python" else (predicted.phase("kernel"), kernel)
    return costs.note(expected.loop, model.backend, case.n, predicted.seconds, execution.seconds, both)


__all__ = ["SELDOM", "Expected", "chosen", "model_there", "named", "teach"]
