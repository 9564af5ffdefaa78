"""Execute a notebook in a kernel of this very interpreter, untouched by the user's own Jupyter set-up."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, cast

import jupytext  # pyright: ignore[reportMissingTypeStubs]
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

REPORT_MIME = "application/vnd.hastega.report+json"


class _OwnKernel(AsyncKernelManager):
    """Starts ipykernel in this interpreter, whatever kernel the user has installed as python3."""

    def __init__(self, **kwargs: Any) -> None:
        # Without folders to look in, python3 is the native kernel.
        specs = KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)
        super().__init__(kernel_spec_manager=specs, **kwargs)


def load(path: Path) -> NotebookNode:
    """Read a notebook from a jupytext source (`.md`, MyST) or an `.ipynb` file."""
    return cast("NotebookNode", jupytext.read(path))  # pyright: ignore[reportUnknownMemberType]


def execute(notebook: NotebookNode, *, cwd: Path, timeout: int = 300) -> NotebookNode:
    """Run every cell in a fresh kernel, in place, and return the notebook with its outputs.

    `cwd` is the kernel's working directory; `timeout` is in seconds, per cell.
    Raises nbclient's CellExecutionError where a cell raises.
    """
    with tempfile.TemporaryDirectory(prefix="hastega-") as scratch:
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            kernel_manager_class=_OwnKernel,
            timeout=timeout,
            # Jupyter warns of unencrypted messages even on the loopback interface.
            config=Config(KernelManager={"transport_encryption": "auto"}),
            resources={"metadata": {"path": str(cwd)}},
        )
        # An empty IPYTHONDIR: neither profiles nor start-up files of the user.
        return client.execute(env={**os.environ, "IPYTHONDIR": scratch})


def reports(notebook: NotebookNode) -> list[dict[str, Any]]:
    """Return the MIME bundles of all hastega reports that an executed notebook shows, in order."""
    bundles: list[dict[str, Any]] = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if REPORT_MIME in data:
                bundles.append(data)
    return bundles


def add_code(notebook: NotebookNode, source: str) -> None:
    """Append a code cell to a notebook."""
    from nbformat.v4 import new_code_cell  # pyright: ignore[reportUnknownVariableType]

    notebook.cells.append(new_code_cell(source))


def drop_tagged(notebook: NotebookNode, tag: str) -> None:
    """Remove the cells that have the tag."""
    notebook.cells = [cell for cell in notebook.cells if tag not in cell.metadata.get("tags", [])]
