"""`--on auto`: the predicted best of plain Python, one thread, all threads and the devices, for a compiled loop.

What does not depend on the number of elements is kept with the loop, so that choosing for one that is known takes
some microseconds. A device's own form of the loop is lowered only where a lower bound of its time is less than what
the CPU needs, and its compiler is asked only when it is chosen: what that costs has to be earned first, by the runs so
far.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from hastega_magic.compiler.choice import costs
from hastega_magic.compiler.loops import CompiledLoop, cached_loops
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.python.by_python import alike, fits
from hastega_magic.compiler.statement import Loop
from hastega_magic.cost.curve import Points
from hastega_magic.cost.features import KEPT, Features, features_of, python_features
from hastega_magic.cost.learned import Phase
from hastega_magic.cost.machine import Device, Machine
from hastega_magic.cost.predict import Case, CpuModel, DeviceModel, Model, PythonModel
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.kernel import Assume, Kernel, Store
from hastega_magic.ir.target import Target
from hastega_magic.passes.pipelines import CPU
from hastega_magic.records import cached_property, dataclass
from hastega_magic.report.costs import Crossing
from hastega_magic.runtime.buffers import needs_fresh
from hastega_magic.runtime.sources import Column
from hastega_magic.runtime.threads import default_threads
from hastega_magic.types import RESULT_STORAGE

_KEY = "cost"
_CASES = 64
"""So many predictions of a loop are remembered."""

_Asked = tuple[str, int, float, float]
"""A back end, and the parts of a case."""

_CLEAR, _CLEARER = 0.9, 0.75
"""A device has to take at most this part of the time: not all that it costs is predicted. The second for a device that
is the CPU, which has nothing that threads have not."""


@dataclass(frozen=True)
class Curves:
    """Predictions over the number of elements, what they were made for, and with what corrections (logarithms)."""

    made_for: object
    bare: Mapping[str, Points]
    """Before the corrections."""
    factors: Mapping[str, float]
    points: Mapping[str, Points]
    crossings: Sequence[Crossing]


@dataclass
class Costs:
    """The models of a compiled loop, best first where they predict the same."""

    machine: Machine
    loop: str
    """The hash of its structure, the same on all back ends."""
    features: Features
    threads: int
    models: list[Model]
    interpreted: PythonModel
    """Plain Python, to be compared with."""
    python: PythonModel | None
    """The same where Python gives the same values, as long as the sources are as `assumes` has it."""
    assumes: tuple[Assume, ...] = ()
    devices: dict[int, DeviceModel | None] = field(default_factory=dict[int, DeviceModel | None])
    """By number, with the device's own kernel; None where it has no form for the loop, or failed."""
    outlines: list[DeviceModel] = field(default_factory=list[DeviceModel])
    """Devices with the CPU's kernel: a lower bound of their time is all that it is good for."""
    curves: Curves | None = None
    """As they were last shown."""
    missed: dict[int, float] = field(default_factory=dict[int, float])
    """Seconds that runs would have been shorter on a device whose compiler has not been asked yet."""
    bare: dict[_Asked, float] = field(default_factory=dict[_Asked, float])
    """What models say of cases that were asked of lately."""

    @cached_property
    def names(self) -> list[str]:
        """All back ends that predictions are made for."""
        return ["python", "simd", "parallel", *(each.backend for each in self.outlines)]

    def factor(self, backend: str, n: int) -> float:
        """What was learned of the loop."""
        return costs.factor(self.loop, backend, n)

    def factors(self, backend: str, sizes: Sequence[int]) -> list[float]:
        """The same for several numbers of elements."""
        return costs.factors(self.loop, backend, sizes)

    def seconds(self, model: Model, case: Case, factor: float | None = None) -> float:
        """The prediction, as corrected by what was learned; `factor`: that correction, where it is known."""
        bare = self._bare(model.backend, case, model.seconds)
        return bare * (self.factor(model.backend, case.n) if factor is None else factor)

    def least(self, outline: DeviceModel, case: Case) -> float:
        """A time that a device cannot fall below, before that is corrected."""
        return self._bare(outline.least, case, outline.at_least)

    def _bare(self, what: str, case: Case, ask: Callable[[Case], float]) -> float:
        key = what, case.n, case.fresh, case.resident
        found = self.bare.get(key)
        if found is None:
            if len(self.bare) >= _CASES:
                self.bare.clear()
            found = self.bare[key] = ask(case)
        return found

    def model(self, on: str) -> Model | None:
        """The model of a back end."""
        if on == "python":
            return self.python
        if on.startswith("opencl:"):
            return self.devices.get(int(on.partition(":")[2]))
        return next((each for each in self.models if each.backend == on), None)


@dataclass(frozen=True)
class Choice:
    """What computes: `on` as `--on` has it ("opencl:0"), and what decided.

    factors  by back end, the corrections with which its times were compared: what this run teaches comes later
    here     the best of the CPU's own back ends
    waits    the device that is to be asked later
    barred   back ends that were not to be had, and why; "" where Python might give another value
    """

    on: str
    case: Case
    costs: Costs
    factors: Mapping[str, float]
    here: str = "parallel"
    waits: DeviceModel | None = None
    barred: Mapping[str, str] = field(default_factory=dict[str, str])

    def instead(self, why: str) -> Choice:
        """The CPU, as what was chosen is not to be had."""
        return replace(self, on=self.here, waits=None, barred={**self.barred, self.on: why})


def costs_of(compiled: CompiledLoop, kernel: Kernel, loops: Sequence[Loop], options: Options) -> Costs:
    """The models of the loop, kept with it. `kernel`: the CPU's form of the variant that runs first."""
    machine, threads = costs.machine(), options.threads or default_threads()
    key = f"{_KEY} {threads} {compiled.first}"
    found = compiled.pictures.get(key)
    if isinstance(found, Costs) and found.machine is machine:
        return found
    features = features_of(kernel, sum(output.sink.kind == "to_list" for output in compiled.fused.outputs))
    models: list[Model] = [
        CpuModel("parallel", features, machine, threads), CpuModel("simd", features, machine, 1),
    ]  # fmt: skip
    assumes = alike(compiled, options.int_mode)
    interpreted = PythonModel(python_features([loop.pipeline for loop in loops]), machine)
    python = None if assumes is None else interpreted
    outlines = [DeviceModel(f"opencl:{each.number}", features, machine, each) for each in machine.devices]
    made = Costs(
        machine, compiled.structure, features, threads, models, interpreted, python, assumes or (), outlines=outlines
    )  # fmt: skip
    compiled.pictures[key] = made
    return made


def all_factors(loop: str, length: int, phase: Phase = "run") -> dict[str, float]:
    """What was learned so far of a loop over so many elements, for every back end of this machine."""
    devices = [f"opencl:{each.number}" for each in costs.machine().devices]
    return costs.factors_of(loop, ["python", "simd", "parallel", *devices], length, phase)


def case_of(kernel: Kernel, features: Features, length: int) -> Case:
    """What the run begins with."""
    fresh = 0.0
    if features.outward or features.packed:
        for store in kernel.of(Store):
            size = RESULT_STORAGE[store.type].size * length
            if needs_fresh(size):
                fresh += size if store.mask is None else KEPT * size
    return Case(length, fresh)


def choose(
    compiled: CompiledLoop, kernel: Kernel, loops: Sequence[Loop], columns: Sequence[Column], length: int,
    options: Options,
) -> Choice:  # fmt: skip
    """What is to compute the loop over so many elements."""
    known = costs_of(compiled, kernel, loops, options)
    case = case_of(kernel, known.features, length)
    factors = costs.factors_of(known.loop, known.names, length)
    if costs.auto() == "python":  # wherever it gives the same values
        there = (
            known.python is not None and length > 0 and fits(known.assumes, columns, loops, options.int_mode)
        )
        return Choice("python" if there else "parallel", case, known, factors)
    times = [known.seconds(model, case, factors[model.backend]) for model in known.models]
    seconds = min(times)
    chosen: Model = known.models[times.index(seconds)]
    here, barred = chosen.backend, dict[str, str]()
    python = known.python if length else None
    if python is None:
        barred["python"] = ""
    elif (interpreted := known.seconds(python, case, factors["python"])) < seconds:
        if fits(known.assumes, columns, loops, options.int_mode):
            chosen, seconds = python, interpreted
        else:
            barred["python"] = ""
    waits: DeviceModel | None = None
    for outline in known.outlines:
        resident = resident_part(outline.device, columns, length)
        there = replace(case, resident=resident) if resident else case
        clear, factor = clearly(outline.device), factors[outline.backend]
        if known.least(outline, there) * min(1.0, factor) > clear * seconds:
            continue
        model = device_model(compiled, known, outline.device)
        if model is None:
            barred[outline.backend] = "which cannot run this loop here"
            continue
        if (gain := seconds - known.seconds(model, there, factor)) < (1 - clear) * seconds:
            continue
        if not _paid(compiled, known, outline.device, gain):
            waits = waits or model
            continue
        return Choice(model.backend, there, known, factors, here, barred=barred)
    return Choice(chosen.backend, case, known, factors, here, waits, barred)


def spared(
    compiled: CompiledLoop, loops: Sequence[Loop], columns: Sequence[Column], options: Options, seconds: float
) -> bool:
    """Whether plain Python gives the same, and takes less than compiling for this run alone: so many seconds."""
    length, assumes = min(len(column.data) for column in columns), alike(compiled, options.int_mode)
    if compiled.bodies or not length or assumes is None:
        return False
    if not fits(assumes, columns, loops, options.int_mode):
        return False
    python = PythonModel(python_features([loop.pipeline for loop in loops]), costs.machine())
    return python.seconds(Case(length, 0.0)) * costs.factor(compiled.structure, "python", length) < seconds


def host_anyway(known: Costs, case: Case) -> str:
    """The CPU's back end that `choose` would choose whatever the sources hold; "" where it would look further."""
    factors = costs.factors_of(known.loop, known.names, case.n)
    times = [known.seconds(model, case, factors[model.backend]) for model in known.models]
    seconds = min(times)
    if known.python is not None and known.seconds(known.python, case, factors["python"]) < seconds:
        return ""
    for outline in known.outlines:
        model = known.devices.get(outline.device.number, outline)
        there = case if _holder(outline.device) is None else replace(case, resident=1.0)
        least = known.least(outline, there) * min(1.0, factors[outline.backend])
        if model is not None and least <= clearly(outline.device) * seconds:
            return ""
    return known.models[times.index(seconds)].backend


def clearly(device: Device) -> float:
    """The part of the CPU's time that a device has to take at most, to be chosen."""
    return _CLEARER if device.kind == "cpu" else _CLEAR


def sooner_again(choice: Choice | None) -> bool:
    """Whether all threads would take less than a chosen device for a list, from the second run on.

    As predicted: what was learned is of runs that did one thing after the other.
    """
    if choice is None or not choice.on.startswith("opencl") or not choice.costs.features.unlisted:
        return False
    there = choice.costs.model(choice.on)
    here = next(each for each in choice.costs.models if each.backend == "parallel")
    assert isinstance(here, CpuModel)
    return there is None or here.again(choice.case) < there.seconds(choice.case)


def refused(known: Costs, on: str) -> None:
    """The device failed, or has no words for the loop: it is not chosen for it again."""
    known.devices[int(on.partition(":")[2])] = None


def device_model(compiled: CompiledLoop, known: Costs, device: Device) -> DeviceModel | None:
    """The loop as the device would run it."""
    if device.number not in known.devices:
        known.devices[device.number] = None
        target = _target(device)
        if target is not None:
            kernel = lowered(compiled, target)
            features = features_of(kernel, known.features.unlisted)
            known.devices[device.number] = DeviceModel(
                f"opencl:{device.number}", features, known.machine, device
            )
    return known.devices[device.number]


def lowered(compiled: CompiledLoop, target: Target) -> Kernel:
    """The form of the first variant for another target."""
    state = replace(compiled.state, target=target, variant=compiled.first)
    for each in CPU:
        state = each.run(state)
    assert state.kernel is not None
    return state.kernel


def _target(device: Device) -> Target | None:
    """What the device can say; None where it is not what was measured, or not there."""
    try:
        from hastega_magic.runtime import opencl

        info = opencl.device(f"opencl:{device.number}").info
        if (info.name, info.platform) != (device.name, device.platform):
            return None
        if opencl.driver_version(device.number) != device.driver:
            return None
        return info.target(narrow=not info.unified)
    except Exception as error:  # no pyopencl, no such device: it is not chosen
        reraise_signal(error)
        return None


def _paid(compiled: CompiledLoop, known: Costs, device: Device, gain: float) -> bool:
    """Whether the runs so far, this one included, would have saved what the device's compiler takes."""
    if compiled.pictures.get(f"built {device.number}"):
        return True
    if _known_there(compiled, device.number):
        is_built(compiled, device.number)
        return True
    known.missed[device.number] = known.missed.get(device.number, 0.0) + gain
    return known.missed[device.number] >= device.compile


def _known_there(compiled: CompiledLoop, number: int) -> bool:
    """Whether the device has compiled the loop for somebody who named it."""
    for each in cached_loops():
        if each.structure == compiled.structure and each.backend.language == "opencl" and each.bodies:
            device: Any = each.backend
            if device.device.info.number == number and each.state.large == compiled.state.large:
                return True
    return False


def is_built(compiled: CompiledLoop, number: int) -> None:
    """The device has compiled the loop: nothing has to be earned any more."""
    compiled.pictures[f"built {number}"] = True


def _holder(device: Device) -> Any:
    """The device, where it may hold sources already; else None."""
    if device.shared or "hastega_magic.runtime.opencl.resident" not in sys.modules:
        return None
    from hastega_magic.runtime.opencl import known_device

    handle = known_device(device.number)
    return None if handle is None or not handle.resident else handle


def resident_part(device: Device, columns: Sequence[Column], length: int) -> float:
    """The part of the sources' bytes that the device holds already."""
    handle = _holder(device)
    if handle is None:
        return 0.0
    from hastega_magic.runtime.opencl import resident

    there = total = 0
    for column in columns:
        storage = column.source.storage
        if storage is not None and column.source.layout != "scalar":
            total += storage.size
            found = (
                column.source.kind == "array" and resident.known(handle, column.array(0, length)) is not None
            )
            there += storage.size if found else 0
    return there / total if total else 0.0


__all__ = [
    "Choice", "Costs", "Curves", "all_factors", "case_of", "choose", "clearly", "costs_of", "device_model",
    "host_anyway", "is_built", "lowered", "refused", "resident_part", "spared",
]  # fmt: skip
