"""What the cost model says of a loop that ran: predictions for all back ends, what bounds it, why it was chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.choice.auto import Choice, Costs, Curves, case_of, clearly, costs_of, lowered
from hastega_magic.compiler.choice.learning import model_there, teaches
from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.statement import Loop
from hastega_magic.cost.choose import sentence
from hastega_magic.cost.curve import Points, corrected, crossings, sampled
from hastega_magic.cost.predict import Case, Model, Prediction
from hastega_magic.ir.kernel import Kernel
from hastega_magic.report import units
from hastega_magic.report.costs import Crossing, Predicted, PredictedCurve
from hastega_magic.report.model import Phase
from hastega_magic.runtime import cpu
from hastega_magic.runtime.buffers import fresh_bytes

_ASSUMED = "these are assumed figures: `%hastega calibrate` measures this machine in a few seconds"

_TWENTIETH = 0.05

_FAR = 1.5
"""A run that takes so many times what was predicted, or that part of it, is worth a remark."""


def cost_of(execution: Execution, loops: Sequence[Loop], options: Options) -> dict[str, object]:
    """Predictions beside the measured time, as the report's JSON has them; {} of a loop over no elements."""
    if not execution.length:
        return {}
    kernel = cpu_kernel(execution)
    choice = execution.choice
    known = choice.costs if choice is not None else costs_of(execution.compiled, kernel, loops, options)
    ran = f"opencl:{_device(execution)}" if execution.backend.language == "opencl" else execution.ran
    if choice is None and ran.startswith("opencl:"):
        # The kernel that ran, in place of what the CPU's tells of it.
        own = model_there(execution.compiled, _device(execution))
        known.devices |= {} if own is None else {own.device.number: own}
    case = choice.case if choice is not None else replace(
        case_of(kernel, known.features, execution.length), fresh=_fresh(execution)
    )  # fmt: skip
    models: list[Model] = [known.interpreted, *_distinct(known, ran)]
    models += [known.devices.get(each.device.number) or each for each in known.outlines]
    # What this run has taught is no part of what was predicted.
    before = choice.factors if choice is not None else execution.factors
    predicted = [
        model.predict(case).corrected(
            before.get(model.backend, 1.0),
            execution.kernels.get(model.backend, before.get(model.backend, 1.0)),
        )
        for model in models
    ]
    chosen = next((each for each in predicted if each.backend == ran), None)
    because = (
        "" if choice is None or chosen is None else _because(execution, choice, predicted, chosen, options)
    )
    return {
        "operations": round(known.features.per_element, 2), "bytes": known.features.bytes,
        "bound": chosen.bound if chosen is not None else "", "chosen": ran, "because": because,
        "calibrated": known.machine.calibrated, "measured": execution.seconds,
        "predicted": [_told(each) for each in predicted], **_curves(models, case, ran, execution, known, before),
    }  # fmt: skip


def _because(
    execution: Execution,
    choice: Choice,
    predicted: Sequence[Prediction],
    chosen: Prediction,
    options: Options,
) -> str:
    """Why the back end was chosen, and how far the run was from what was predicted."""
    known = choice.costs
    others = [
        each
        for each in predicted
        if each is not chosen and not _twin(each, chosen) and choice.barred.get(each.backend) != ""
    ]
    barred, threads = _barred(choice), options.threads
    text = sentence(
        chosen, others, known.features, choice.case, known.machine, units.seconds, barred, threads
    )
    if choice.waits is not None:
        name, spent = choice.waits.device.name, units.seconds(choice.waits.device.compile)
        text = f"{text[:-1]}; {name} would be faster, once its compiler's {spent} are worth it."
    took = execution.seconds / max(chosen.seconds, 1e-12)
    if execution.cached and took > 0 and not 1 / _FAR < took < _FAR:
        # Predictions count what the phases leave out.
        taught = _taught(execution) if teaches(options, execution.on) else ""
        text += f" With its call it took {units.seconds(execution.seconds)}{taught}."
    if execution.on == "python":
        text += " The compiled loop is shown, and was not run."
    return text if known.machine.calibrated else f"{text[:-1]} ({_ASSUMED})."


def _distinct(known: Costs, ran: str) -> list[Model]:
    """The CPU's models; where one thread is all that may run, one of the two, by the name of what ran."""
    twin = "simd" if ran == "parallel" else "parallel"
    return [each for each in reversed(known.models) if known.threads > 1 or each.backend != twin]


def _curves(
    models: Sequence[Model],
    case: Case,
    ran: str,
    execution: Execution,
    known: Costs,
    before: Mapping[str, float],
) -> dict[str, object]:
    """Predictions for other numbers of elements, with the run as it was measured. `before`: corrections before it."""

    def corrections(backend: str, sizes: Sequence[int]) -> list[float]:
        # What the run has taught moves a back end's curve as a whole; here it is moved back.
        taught = before[backend] / known.factor(backend, case.n) if backend in before else 1.0
        return [taught * each for each in known.factors(backend, sizes)]

    # A cell that runs again would wait for them: each follows corrections of a twentieth and more.
    made_for = (
        case.resident,
        case.fresh > 0,
        case.n.bit_length(),
        *((type(each), each.backend) for each in models),
    )
    factors = {
        name: math.log(before[name] if name in before else known.factor(name, case.n))
        for name in (model.backend for model in models)
    }
    last = known.curves
    if last is None or last.made_for != made_for:
        last = Curves(made_for, sampled(models, case), {}, {}, ())
    moved = [
        name for name, now in factors.items() if abs(last.factors.get(name, math.inf) - now) > _TWENTIETH
    ]
    if moved:
        points = {**last.points, **corrected({name: last.bare[name] for name in moved}, corrections)}
        points = _with_twins({name: points[name] for name in factors}, last.bare)
        now = {**last.factors, **{name: factors[name] for name in moved}}
        met = tuple(Crossing(*each) for each in crossings(points))
        last = known.curves = Curves(made_for, last.bare, now, points, met)
    measured = {ran: ((float(execution.length), execution.seconds),)} if execution.seconds > 0 else {}
    rows = [PredictedCurve(name, points, measured.get(name, ())) for name, points in last.points.items()]
    return {"curves": rows, "crossings": last.crossings}


def _with_twins(points: dict[str, Points], bare: Mapping[str, Points]) -> dict[str, Points]:
    """One line for both of the CPU's back ends over so few elements that one thread runs them in any case."""
    one, several = points.get("simd"), points.get("parallel")
    if one is not None and several is not None:
        alike = (mine == theirs for mine, theirs in zip(bare["simd"], bare["parallel"], strict=True))
        both = zip(alike, one, several, strict=True)
        points["parallel"] = tuple(mine if twins else theirs for twins, mine, theirs in both)
    return points


def _barred(choice: Choice) -> dict[str, str]:
    """Why back ends were not chosen that are predicted to be faster."""
    words = {
        f"opencl:{each.number}": f"not clearly less: a device has to fall below {100 * clearly(each):.0f} %"
        for each in choice.costs.machine.devices
    }
    if choice.waits is not None:
        words[choice.waits.backend] = ""
    return words | {name: why for name, why in choice.barred.items() if why}


def _taught(execution: Execution) -> str:
    """What a run that took another time than was predicted is worth."""
    if execution.learned:
        return ", which corrects the prediction"
    if execution.recovered or execution.choice is None or execution.on != execution.choice.on:
        return ""
    return ", too far from the prediction to be believed once; a second run like it corrects it"


def cpu_kernel(execution: Execution) -> Kernel:
    """The loop as the CPU runs it, or would."""
    compiled = execution.compiled
    if execution.backend.language == "llvm" and compiled.first in compiled.bodies:
        return compiled.bodies[compiled.first].kernel
    return lowered(compiled, cpu.host())


def _told(prediction: Prediction) -> Predicted:
    """A prediction as the report has it."""
    phases = tuple(Phase(each.name, each.seconds) for each in prediction.phases)
    return Predicted(prediction.backend, prediction.seconds, prediction.threads, prediction.bound, phases)


def _twin(one: Prediction, other: Prediction) -> bool:
    """Whether two back ends do the same: few blocks run on one thread, whatever is asked for."""
    return {one.backend, other.backend} == {"simd", "parallel"} and one.threads == other.threads


def _device(execution: Execution) -> int:
    return cast(Any, execution.backend).device.info.number


def _fresh(execution: Execution) -> float:
    return float(
        sum(fresh_bytes(cast("Any", each)) for each in execution.values if isinstance(each, np.ndarray))
    )


__all__ = ["cost_of", "cpu_kernel"]
