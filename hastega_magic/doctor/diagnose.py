"""From findings to problems, each with the command that mends it: a list of rules, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from hastega_magic.doctor import mend
from hastega_magic.doctor.ask import Answer
from hastega_magic.doctor.findings import Findings, opencl_specs
from hastega_magic.doctor.host import COMPUTING, REQUIRED
from hastega_magic.doctor.model import CPU_BACKENDS, Area, Problem, Trial
from hastega_magic.doctor.opencl_rules import OPENCL_RULES

Rule = Callable[[Findings], Iterable[Problem]]


def trials(findings: Findings) -> tuple[Trial, ...]:
    """What came of trying each back end; a process that ended too early is a failure of what it had in hand."""
    found = list(_finished(findings.cpu, CPU_BACKENDS))
    if findings.opencl is None:
        return (*found, Trial("opencl", "absent", "pyopencl is not installed"))
    there = tuple(f"opencl:{device.number}" for device in findings.opencl_facts.devices)
    if there:
        return (*found, *_finished(findings.opencl, there))
    trouble = findings.opencl.of("trouble")
    text = str(trouble[0]) if trouble else _unfinished(findings.opencl) or "there is no device"
    return (*found, Trial("opencl", "fails", text))


def _finished(answer: Answer, backends: Iterable[str]) -> Iterable[Trial]:
    done = {each["backend"]: Trial(**each) for each in answer.of("trial")}
    for backend in backends:
        if backend in done:
            yield done[backend]
        elif backend == answer.step:
            yield Trial(backend, "fails", _unfinished(answer))
        else:
            yield Trial(backend, "fails", f"not tried: {_unfinished(answer)}")


def _unfinished(answer: Answer) -> str:
    return f"the process that tried it {answer.ended} at: {answer.step}" if answer.ended else ""


def failing(findings: Findings) -> dict[str, str]:
    """Those of the needed back ends that do not work, and why."""
    states = {each.backend: each for each in trials(findings)}
    chosen, refused = _said(findings, "chosen"), _said(findings, "refused")
    found: dict[str, str] = {}
    for name in findings.needed:
        trial = states.get(chosen.get(name, name)) or states.get(name.partition(":")[0])
        if name in refused:
            found[name] = refused[name]
        elif trial is None or trial.state != "works":
            found[name] = trial.text if trial is not None else "it was not tried"
    return found


def _said(findings: Findings, key: str) -> dict[str, str]:
    """What was said of each OpenCL back end that was asked for."""
    events = findings.opencl.of(key) if findings.opencl is not None else ()
    return {name: text for event in events for name, text in event.items()}


def problems(findings: Findings) -> tuple[Problem, ...]:
    """All problems, errors first. A problem is an error where a needed back end of its area does not work."""
    wrong = failing(findings)
    areas: set[Area] = {_area(name) for name in wrong}
    causes = [problem for rule in RULES for problem in rule(findings)]
    found = [
        replace(each, level="error") if each.area in areas and each.id not in ADVICE else each
        for each in causes
    ]
    found += _unexplained(findings, wrong, {each.area for each in causes if each.id not in ADVICE})
    return tuple(sorted(found, key=lambda each: each.level != "error"))


def _unexplained(
    findings: Findings, wrong: Mapping[str, str], explained: Collection[Area]
) -> Iterable[Problem]:
    """Back ends that fail where nothing found says why: above all devices that are listed and do not work."""
    devices = bool(findings.opencl_facts.devices)
    ended = findings.opencl is not None and findings.opencl.ended  # the rule about crashes tells it
    chosen = _said(findings, "chosen")
    told = {chosen.get(name, name) for name in wrong}
    failed = {each.backend: each.text for each in trials(findings) if each.state == "fails"}
    others = {name: why for name, why in failed.items() if name not in told}
    for name, why in (dict(wrong) | others).items():
        area = _area(name)
        if area not in explained or (area == "opencl" and devices and not ended):
            level = "error" if name in wrong else "warning"
            yield Problem("backend", area, f"--on {name} does not work: {why}", level=level)


def _area(backend: str) -> Area:
    return "opencl" if opencl_specs([backend]) else "cpu"


# ----------------------------------------------------------------------------------------------- rules


def packages(findings: Findings) -> Iterable[Problem]:
    """Packages that are missing or too old: those that compute, and those that only notebooks need."""
    others = tuple(each for each in REQUIRED if each not in COMPUTING)
    yield from _missing(findings, "cpu", COMPUTING, "every back end needs that")
    yield from _missing(findings, "packages", others, "notebooks need that")


def _missing(findings: Findings, area: Area, names: Iterable[str], who: str) -> Iterable[Problem]:
    wrong = [findings.packages[name] for name in names if not findings.packages[name].enough]
    if wrong:
        words = (
            f"{each.name} {each.version} is older than {each.oldest}" if each.version else f"{each.name} is missing"
            for each in wrong
        )  # fmt: skip
        commands = mend.install(findings.python, *(f"{each.name}>={each.oldest}" for each in wrong))
        yield Problem(
            "packages" if area == "cpu" else "notebook-packages", area, f"{', '.join(words)}; {who}", commands
        )


def executable(findings: Findings) -> Iterable[Problem]:
    """Nothing could be tried."""
    if findings.cpu.ended.startswith("cannot be started"):
        yield Problem("process", "cpu", f"the process that tries the back ends {findings.cpu.ended}")


def quota(findings: Findings) -> Iterable[Problem]:
    """More threads than the container has CPU time for."""
    threads = findings.threads
    if threads.quota is not None and threads.quota < threads.used - 0.5:
        fit = max(1, round(threads.quota))
        yield Problem(
            "quota",
            "packages",
            f"the control group allows {threads.quota:g} CPUs' time and loops start {threads.used} threads, which then "
            f"wait for each other: give --threads {fit}, or %config HastegaMagics.threads = {fit}",
        )


def calibration(findings: Findings) -> Iterable[Problem]:
    """Files of the cost model that cannot be used: without them its figures are assumed."""
    for file, why in findings.damaged:
        yield Problem(
            "calibration",
            "packages",
            f"the calibration {file} {why} and is ignored, so that predictions are made of assumed figures: take it "
            "away, and `%hastega calibrate` measures this machine anew",
            (mend.remove(file),),
        )


ADVICE = frozenset({"calibration", "icd-stale", "no-float64", "restart", "quota", "pocl-twice"})
"""Problems that keep nothing from working."""

RULES: tuple[Rule, ...] = (packages, executable, quota, calibration, *OPENCL_RULES)


__all__ = ["ADVICE", "RULES", "failing", "problems", "trials"]
