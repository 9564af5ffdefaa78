"""Run a notebook in a real kernel, print its reports, write the last one as a web page: `make demo`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError

from hastega_magic.errors import UsageError
from hastega_magic.runtime import opencl
from notebook_runner import add_code, drop_tagged, execute, load, reports

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Execute the notebook named on the command line; return the process's exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebook", type=Path, nargs="?", default=ROOT / "notebooks" / "logistic.md")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build", help="folder to write into (default: build)"
    )
    args = parser.parse_args()
    source: Path = args.notebook
    out: Path = args.out.resolve()
    if not source.is_file():
        print(f"error: no notebook {source}", file=sys.stderr)
        return 2

    out.mkdir(parents=True, exist_ok=True)
    page = out / f"{source.stem}.html"
    notebook = load(source)
    lacking = no_opencl()
    if lacking:
        drop_tagged(notebook, "opencl")
        print(f"without the cells on OpenCL: {lacking}")
    # The page is written by the kernel that holds the report, as a user would write it.
    add_code(
        notebook,
        "from pathlib import Path\n"
        "from hastega_magic import last_report\n"
        f"_ = Path({str(page)!r}).write_text(last_report().to_page(), encoding='utf-8')",
    )
    print(
        f"executing {source} in a kernel of {Path(sys.executable).name} {sys.version.split()[0]} ...",
        flush=True,
    )
    page.unlink(missing_ok=True)
    try:
        execute(notebook, cwd=source.resolve().parent)
    except CellExecutionError as error:
        print(f"error: a cell of {source} failed\n{error}", file=sys.stderr)
        return 1
    notebook.cells.pop()
    executed = out / f"{source.stem}.ipynb"
    nbformat.write(notebook, executed)  # pyright: ignore[reportUnknownMemberType]

    shown = reports(notebook)
    if not shown:
        print(f"error: {source} showed no report", file=sys.stderr)
        return 1
    for bundle in shown:
        print("", bundle["text/plain"].rstrip(), sep="\n")
    print(f"\nreport page       {_near(page)}\nexecuted notebook {_near(executed)}")
    return 0


def no_opencl() -> str:
    """Why cells on OpenCL cannot run here, in one line; empty where they can."""
    try:
        opencl.device("opencl")
    except UsageError as error:
        return str(error)
    return ""


def _near(path: Path) -> str:
    """Return a path as the person in the current folder would write it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


if __name__ == "__main__":
    sys.exit(main())
