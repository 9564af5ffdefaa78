"""`hastega doctor`: what works here, what does not, and the command that mends it.

findings (what is there: doctor/findings.py) → problems (what that means: doctor/diagnose.py) → text, HTML, JSON.
Drivers are loaded, and loops tried, in processes of their own, so that nothing found here can raise or crash.
"""

from __future__ import annotations

from dataclasses import asdict

from hastega_magic.compiler.options import no_back_end
from hastega_magic.doctor.diagnose import failing, problems, trials
from hastega_magic.doctor.findings import Findings, gather
from hastega_magic.doctor.model import CPU_BACKENDS, Examination
from hastega_magic.doctor.tables import fact_tables


def examine(asked: str = "") -> Examination:
    """Look at everything, in a second or two. `asked`: back ends that have to work, between commas.

    By default these are those of the CPU, and `opencl` where pyopencl is installed. UsageError for a name that
    is no back end.
    """
    needed = [_backend(word.strip()) for word in asked.split(",") if word.strip()]
    return judge(gather(needed or None))


def judge(findings: Findings) -> Examination:
    """What the findings mean."""
    return Examination(
        needed=findings.needed, ok=not failing(findings), problems=problems(findings), trials=trials(findings),
        tables=fact_tables(findings), facts=_facts(findings),
    )  # fmt: skip


def _backend(name: str) -> str:
    if name == "auto":
        return "parallel"
    if name in CPU_BACKENDS or name == "opencl" or name.startswith("opencl:"):
        return name
    raise no_back_end(name, (*CPU_BACKENDS, "opencl"))


def _facts(findings: Findings) -> dict[str, object]:
    """Plain data for JSON."""
    from hastega_magic import __version__

    cpu, opencl = findings.cpu_facts, findings.opencl_facts
    return {
        "version": __version__,
        "python": asdict(findings.python),
        "packages": {each.name: each.version for each in findings.packages.values()},
        "labextension": findings.labextension,
        "cpu": {"model": findings.cpu_model} | (asdict(cpu) if cpu is not None else {}),
        "threads": asdict(findings.threads),
        "opencl": asdict(opencl) if findings.opencl is not None else None,
        "vendors_variable": findings.vendors_variable,
        "folders": [str(folder) for folder in findings.reads.folders],
        "icd": [asdict(file) for file in findings.icd],
        "pocl_cache": asdict(findings.cache),
        "nvidia": {"gpu": findings.nvidia_gpu, "library": findings.nvidia_library},
    }


__all__ = ["examine", "judge"]
