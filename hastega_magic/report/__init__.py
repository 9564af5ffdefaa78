"""Reports: plain data about what a cell did, shown as text, HTML, SVG and JSON. Knows no compiler."""

from __future__ import annotations

from hastega_magic.report.build import build_report
from hastega_magic.report.model import MIME, SCHEMA, Report

__all__ = ["MIME", "SCHEMA", "Report", "build_report"]
