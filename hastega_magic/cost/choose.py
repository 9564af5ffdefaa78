"""Why the best of what is predicted was chosen, in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hastega_magic.cost.features import Features
from hastega_magic.cost.machine import Machine
from hastega_magic.cost.predict import SHORT, Case, Prediction
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass

Factor = Callable[[str, int], float]
"""A back end and a number of elements -> by what the model's seconds are to be multiplied, as was learned."""


@dataclass(frozen=True)
class Names:
    """How a sentence calls things: a device by its own name."""

    devices: dict[str, str]

    def of(self, prediction: Prediction, first: bool = False) -> str:
        """The back end of a prediction; `first`: it begins the sentence."""
        match prediction.backend:
            case "python":
                return "Plain Python" if first else "plain Python"
            case "simd" | "parallel" if prediction.threads == 1:
                return "One thread" if first else "one thread"
            case "simd" | "parallel":
                return f"{prediction.threads} threads"
            case name:
                return self.devices.get(name, name)


def sentence(
    chosen: Prediction,
    others: Sequence[Prediction],
    features: Features,
    case: Case,
    machine: Machine,
    said: Callable[[float], str],
    barred: Mapping[str, str] | None = None,
    threads: int = 0,
) -> str:
    """Why the chosen back end, with the figures. `said`: seconds in words.

    `barred`: by back end, what kept it from being chosen; told where it is predicted to take less. `threads`: at most
    so many, where the user says so.
    """
    names = Names({f"opencl:{each.number}": each.name for each in machine.devices})
    first = f"{names.of(chosen, first=True)}: predicted {said(chosen.seconds)}"
    why = _why(chosen, features, case, machine, said, threads)
    rest: list[str] = []
    for each in _apart(sorted(others, key=lambda each: each.seconds)):
        why_not = (barred or {}).get(each.backend, "") if each.seconds < chosen.seconds else ""
        rest.append(_against(each, names, said) + (f" ({why_not})" if why_not else ""))
    transfer = None
    if not chosen.backend.startswith("opencl"):
        slower = [each for each in others if each.seconds > chosen.seconds]
        transfer = next((each for each in slower if each.bound == "transfer"), None)
    more = f"; {_break_even(transfer, features, case, machine)}" if transfer is not None else ""
    return f"{first}{why}{'; ' if rest else ''}{', '.join(rest)}{more}."


def _apart(predictions: Sequence[Prediction]) -> list[Prediction]:
    """Without the second of two that do the same: few blocks run on one thread, whatever is asked for."""
    found: list[Prediction] = []
    for each in predictions:
        twins = each.backend in ("simd", "parallel") and any(one.threads == each.threads for one in found
                                                             if one.backend in ("simd", "parallel"))  # fmt: skip
        found += [] if twins else [each]
    return found


def _why(
    chosen: Prediction,
    features: Features,
    case: Case,
    machine: Machine,
    said: Callable[[float], str],
    most: int,
) -> str:
    if chosen.backend == "python":
        call = machine.cpu.call + machine.cpu.setup
        less = ", less than a call of compiled code" if chosen.seconds < call else ""
        return f" for {_elements(case.n)}{less}"
    threads = machine.cpu.all
    several = min(threads.count, most or threads.count)
    if chosen.backend in ("simd", "parallel") and chosen.threads < several and case.n <= SHORT * BLOCK:
        return f", too few elements for {several} threads, which take {said(threads.start)} to start"
    if chosen.bound != "launch":
        return f" ({_BOUNDS[chosen.bound]})"
    if chosen.backend.startswith("opencl"):
        return " (bound by its launch)"
    return f" (bound by {_BEGINNING if chosen.threads == 1 else f'starting {chosen.threads} threads'})"


_BOUNDS = {
    "arithmetic": "bound by arithmetic", "memory": "bound by memory", "transfer": "bound by transfers",
    "conversion": "bound by conversion",
}  # fmt: skip
_BEGINNING = "the call and the kernel's start"


def _elements(n: int) -> str:
    return f"{n} element{'' if n == 1 else 's'}"


def _against(other: Prediction, names: Names, said: Callable[[float], str]) -> str:
    """`NVIDIA H200 35 ms, 33 ms of it for transfers`."""
    text = f"{names.of(other)} {said(other.seconds)}"
    moving = other.phase("to_device") + other.phase("from_device")
    if other.bound == "transfer" and moving > 0:
        return f"{text}, its kernel {said(other.phase('kernel'))} and its transfers {said(moving)}"
    return text


def _break_even(device: Prediction, features: Features, case: Case, machine: Machine) -> str:
    """From how many operations an element the transfers would be worth it."""
    each = sum(machine.cpu.classes.get(name, 0.0) for name in ("simple", "float", "multiply")) / 3
    speed = machine.cpu.all.speed
    operations = device.seconds * speed * features.lanes / (max(case.n, 1) * max(each, 1e-15))
    return f"break-even only from about {_two_digits(operations)} operations an element"


def _two_digits(number: float) -> str:
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}".replace(",", " ")


__all__ = ["Factor", "Names", "sentence"]
