"""What the cost model expects of a loop on back ends that run together: the rates that its shares begin with."""

from __future__ import annotations

from collections.abc import Sequence

from hastega_magic.compiler.backend_opencl import OpenCl
from hastega_magic.compiler.choice import costs
from hastega_magic.compiler.choice.auto import Costs, case_of, costs_of, device_model
from hastega_magic.compiler.choice.shares import Predict, Rate
from hastega_magic.compiler.loops import CompiledLoop
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.statement import Loop
from hastega_magic.cost.predict import Model
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.schedule import BLOCK


def predicted_rates(
    compiled: CompiledLoop, kernel: Kernel, loops: Sequence[Loop], options: Options, devices: Sequence[OpenCl]
) -> Predict:
    """The rates of the CPU and of the devices, in this order, for a number of elements.

    None where the machine was not measured, or a device was not there then: assumed figures know nothing of it.
    """

    def rates(length: int) -> Sequence[Rate] | None:
        if not costs.machine().calibrated:
            return None
        known = costs_of(compiled, kernel, loops, options)
        found = [known.model("parallel"), *(_device(compiled, known, each) for each in devices)]
        models = [model for model in found if model is not None]
        if len(models) < len(found):
            return None
        return [_rate(known, kernel, model, length) for model in models]

    return rates


def _device(compiled: CompiledLoop, known: Costs, backend: OpenCl) -> Model | None:
    number = backend.device.info.number
    device = next((each for each in known.machine.devices if each.number == number), None)
    return None if device is None else device_model(compiled, known, device)


def _rate(known: Costs, kernel: Kernel, model: Model, length: int) -> Rate:
    """A line through what is predicted for all of the elements and for half of them."""
    half = max(BLOCK, length // 2)
    some, every = (known.seconds(model, case_of(kernel, known.features, n)) for n in (half, length))
    if length <= half or every <= some:
        return Rate(every / length)
    each = (every - some) / (length - half)
    return Rate(each, max(0.0, every - each * length))


__all__ = ["predicted_rates"]
