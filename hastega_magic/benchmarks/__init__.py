"""Benchmarks: the same work by hastega and by its peers, interleaved in one process.

`python -m hastega_magic.benchmarks --help` lists the workloads; README.md beside this file
explains every row.  Adding a workload is one `Workload` entry (see `workloads.py`): the cell
text for hastega and, per peer, the text of a program in that peer's own language.
"""

from __future__ import annotations

from hastega_magic.benchmarks.model import Row, Workload
from hastega_magic.benchmarks.workloads import WORKLOADS

__all__ = ["WORKLOADS", "Row", "Workload"]
