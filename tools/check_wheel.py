"""Build the wheel, look into it, install it alone into a new environment and run a first cell there.

This finds what an editable install hides: files left out of the package, and imports that only a development
dependency satisfies. On the oldest Python it takes the oldest versions that pyproject.toml allows.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_ASSETS = "hastega_magic/labextension/"
_SHARED = re.compile(r"^.*\.data/data/share/jupyter/(labextensions/hastega-magic|kernels/hastega)/")
_PLACES = {"labextensions/hastega-magic": _ASSETS, "kernels/hastega": "kernelspec/"}

FIRST_CELL = r"""
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "hastega_magic")
shell.run_cell("%%hastega\nsquares = range(1000) |> map(_ * _) |> sum").raise_error()
assert shell.user_ns["squares"] == sum(x * x for x in range(1000)), shell.user_ns["squares"]

import json, pathlib, sys
extension = pathlib.Path(sys.prefix, "share", "jupyter", "labextensions", "hastega-magic")
entry = json.loads((extension / "package.json").read_text(encoding="utf-8"))["jupyterlab"]["_build"]["load"]
assert (extension / entry).is_file(), entry
assert (extension / "install.json").is_file()
kernel = pathlib.Path(sys.prefix, "share", "jupyter", "kernels", "hastega", "kernel.json")
assert "hastega_magic.jupyter.kernel" in json.loads(kernel.read_text(encoding="utf-8"))["argv"]
"""


def main() -> int:
    """Return 0 if the wheel is complete and works alone."""
    with tempfile.TemporaryDirectory(prefix="hastega-wheel-") as scratch:
        folder = Path(scratch)
        _run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder))
        [wheel] = folder.glob("*.whl")
        wrong = _contents(wheel)
        if wrong:
            print("\n".join(wrong), file=sys.stderr)
            return 1
        env = folder / "env"
        venv.create(env, with_pip=True)
        python = str(env / "bin" / "python")
        pip = (python, "-m", "pip", "--disable-pip-version-check")
        oldest = folder / "oldest.txt"
        oldest.write_text("\n".join(_oldest_versions()), encoding="utf-8")
        _run(*pip, "install", "-qq", "--constraint", str(oldest), str(wheel))
        _run(*pip, "check")
        _run(python, "-I", "-c", FIRST_CELL)
        print(f"{wheel.name}: complete, and its first cell runs with the declared dependencies alone")
    return 0


def _contents(wheel: Path) -> list[str]:
    """Return what is missing from the wheel, and what should not be in it."""
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "hastega_magic", "kernelspec"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    packed = {
        # The front end's assets are packed where Jupyter looks for them, not where they lie in the tree.
        _SHARED.sub(lambda found: _PLACES[found[1]], name)
        for name in zipfile.ZipFile(wheel).namelist()
        if ".dist-info/" not in name
    }
    packed.discard(_ASSETS + "install.json")
    wrong = [f"not in the wheel: {name}" for name in sorted(set(tracked) - packed)]
    wrong += [f"in the wheel, but not in the package: {name}" for name in sorted(packed - set(tracked))]
    return wrong


def _oldest_versions() -> list[str]:
    """Return pip constraints: dependencies at their lower bounds on the oldest Python, none on others."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if project["requires-python"] != f">={sys.version_info.major}.{sys.version_info.minor}":
        return []
    return [requirement.replace(">=", "==") for requirement in project["dependencies"]]


def _run(*command: str) -> None:
    """Run a command in the repository; end this program with a message if it fails."""
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        sys.exit(f"error: this failed: {' '.join(command)}")


if __name__ == "__main__":
    sys.exit(main())
