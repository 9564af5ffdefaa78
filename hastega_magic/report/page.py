"""A report as a document of its own, for saving and sharing."""

from __future__ import annotations

from hastega_magic.report.escape import markup, one_line
from hastega_magic.report.html import render_html
from hastega_magic.report.model import Report
from hastega_magic.report.verdict import title

_STYLE = """
:root { color-scheme: light dark; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 1040px; padding: 0 1em;
       background: #ffffff; color: #1a1a1a; }
pre, code { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
@media (prefers-color-scheme: dark) { body { background: #161616; color: #e8e8e4; } }
"""


def render_page(report: Report) -> str:
    """A complete HTML document: the cell's source, then the report, nothing cut. It loads nothing else."""
    names = ", ".join(title(pipeline) for pipeline in report.pipelines) or "no pipeline"
    heading = markup(one_line(f"Hastega: {names}"))
    source = f"<pre>{markup(report.cell.source)}</pre>" if report.cell.source else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{heading}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{heading}</h1>\n{source}\n{render_html(report, full=True)}\n</body></html>\n"
    )
