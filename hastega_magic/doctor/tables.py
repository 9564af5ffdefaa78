"""Findings as tables of text, and tables as aligned lines and as HTML that needs no style element."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hastega_magic.doctor.findings import Findings
from hastega_magic.doctor.icd import IcdFile
from hastega_magic.doctor.model import Table
from hastega_magic.report.escape import columns, markup, one_line
from hastega_magic.report.units import plural, size
from hastega_magic.runtime.inspect_cpu import CpuFacts
from hastega_magic.runtime.inspect_opencl import DeviceFacts

DEVICE_HEAD = ("--on", "kind", "device", "platform", "units", "memory", "float64", "driver")

_NOTABLE = (
    "sse4.2", "avx", "avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512ifma", "avx512vbmi2",
    "avx512fp16", "amx-int8", "neon", "sve", "sve2", "bf16",
)  # fmt: skip
"""The features that decide on vectors and on how integers are multiplied."""

_CELL = "text-align:left;vertical-align:top;padding:1px 12px 1px 0;border:0"
_NAME = f"{_CELL};white-space:nowrap"
_VALUE = f"{_CELL};overflow-wrap:anywhere"
# Said, because some viewers' tables would not inherit it.
_TABLE = "border-collapse:collapse;margin:2px 0;color:inherit;font-size:inherit"


def fact_tables(findings: Findings) -> tuple[Table, ...]:
    """All facts, for people."""
    found = [
        Table("Python", tuple(_python(findings))),
        Table("CPU", tuple(_cpu(findings))),
        Table("OpenCL", tuple(_opencl(findings))),
    ]
    devices = findings.opencl_facts.devices
    if devices:
        found.append(Table("OpenCL devices", tuple(map(device_row, devices)), DEVICE_HEAD))
    return tuple(found)


def device_row(device: DeviceFacts) -> tuple[str, ...]:
    """What `DEVICE_HEAD` names."""
    return (
        f"opencl:{device.number}", device.kind, device.name, device.platform, str(device.units), size(device.memory),
        "yes" if device.float64 else "no", device.driver or "unknown",
    )  # fmt: skip


def _python(findings: Findings) -> Iterable[tuple[str, str]]:
    python = findings.python
    yield "interpreter", f"{python.version}, {python.executable}{' (conda)' if python.conda else ''}"
    yield "hastega-magic", f"{_own_version()}, {python.package}"
    for package in findings.packages.values():
        oldest = f" (needs {package.oldest})" if package.version and not package.enough else ""
        yield package.name, (package.version or "not installed") + oldest
    yield "labextension", findings.labextension or "not installed"


def _own_version() -> str:
    from hastega_magic import __version__

    return __version__


def _cpu(findings: Findings) -> Iterable[tuple[str, str]]:
    yield "model", findings.cpu_model
    facts = findings.cpu_facts
    if facts is not None:
        yield "vectors", f"{facts.isa}, on what LLVM calls {facts.name}"
        yield "features", ", ".join(notable(facts)) or "none that matters"
    threads = findings.threads
    limit = (
        "no limit of a control group" if threads.quota is None else f"control group: {threads.quota:g} CPUs"
    )
    yield "threads", f"{threads.used} of {plural(threads.cpus, 'CPU')} (affinity {threads.affinity}, {limit})"
    measured = f"measured {findings.calibration}" if findings.calibration else "assumed figures"
    yield "cost model", f"{measured} (`%hastega calibrate` measures this machine)"
    if facts is not None:
        yield "llvmlite", f"{facts.llvmlite}, LLVM {facts.llvm}; targets {', '.join(facts.targets)}"
    else:
        yield "llvmlite", str((findings.cpu.of("trouble") or (findings.cpu.ended or "said nothing",))[0])


def notable(facts: CpuFacts) -> tuple[str, ...]:
    """Of the CPU's features, those that decide what code is made."""
    return tuple(name for name in _NOTABLE if name in facts.features)


def _opencl(findings: Findings) -> Iterable[tuple[str, str]]:
    if findings.opencl is None:
        yield "pyopencl", "not installed"
    else:
        where = " (pyopencl's own)" if findings.wheel_loader else ""
        yield "loader", f"{findings.loader or 'not known'}{where}"
    variable = findings.vendors_variable
    yield "OCL_ICD_VENDORS", variable or "not set"
    yield "reads", ", ".join(map(str, findings.reads.folders)) or "no folder"
    for file in findings.icd:
        yield ".icd file" if file.path else "library", _icd(file)
    for platform in findings.opencl_facts.platforms:
        yield "platform", f"{platform.name}, {platform.version}, {plural(platform.devices, 'device')}"
    cache = findings.cache
    more = "" if cache.whole else "more than "
    state = f"{more}{size(cache.bytes)}, can be written" if cache.exists else "not made yet"
    yield "PoCL's cache", f"{cache.path}: {cache.trouble or state}"


def _icd(file: IcdFile) -> str:
    read = "" if file.is_read else "; not read"
    names = f"{file.path} → " if file.path else ""
    return f"{names}{file.library or 'nothing'}: {file.trouble or 'can be loaded'}{read}"


# ------------------------------------------------------------------------------------------- rendering


def lines(table: Table, indent: str = "  ") -> list[str]:
    """The rows with their columns aligned, the last one free."""
    rows = [tuple(map(one_line, row)) for row in ((table.head,) if table.head else ()) + table.rows]
    if not rows:
        return []
    widths = [max(columns(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
    return [indent + "  ".join((*_padded(row, widths), row[-1])).rstrip() for row in rows]


def _padded(row: Sequence[str], widths: Sequence[int]) -> Iterable[str]:
    for text, width in zip(row, widths, strict=False):
        yield text + " " * (width - columns(text))


def html(table: Table) -> str:
    """A table with inline styles alone; its text has the page's colour."""
    head = "".join(f'<th scope="col" style="{_NAME}">{markup(one_line(text))}</th>' for text in table.head)
    body = "".join(f"<tr>{''.join(_cells(row, bool(table.head)))}</tr>" for row in table.rows)
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f'<table style="{_TABLE}">{top}<tbody>{body}</tbody></table>'


def _cells(row: Sequence[str], headed: bool) -> Iterable[str]:
    for at, text in enumerate(row):
        tag, scope = ("td", "") if at or headed else ("th", ' scope="row"')
        yield f'<{tag}{scope} style="{_VALUE if at else _NAME}">{markup(one_line(text))}</{tag}>'


__all__ = ["DEVICE_HEAD", "device_row", "fact_tables", "html", "lines", "notable"]
