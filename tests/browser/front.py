"""A Jupyter server of its own, with nothing of the user's settings, and a browser that looks at it.

`HASTEGA_FRONT` names an environment's `bin` folder whose `jupyter` is to be tried; without it, this
interpreter's. With `HASTEGA_INSTALLED` it has the package itself, which is then what is tried; else it is given this
working tree. `HASTEGA_BROWSER` names a Chromium; without it, the PATH's, then playwright's own.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ASSETS = ROOT / "hastega_magic" / "labextension"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def bin_folder() -> Path:
    """The folder with the `jupyter` that is tried."""
    return Path(os.environ.get("HASTEGA_FRONT") or Path(sys.executable).parent)


def browser_path() -> str | None:
    """The system's Chromium; None: playwright's own, if it has one."""
    return os.environ.get("HASTEGA_BROWSER") or next(filter(None, map(shutil.which, _BROWSERS)), None)


@dataclass
class Front:
    """A running server. `kind`: "lab" or "notebook"; `folder`: where its notebooks lie."""

    kind: str
    folder: Path
    port: int
    token: str
    process: subprocess.Popen[bytes]

    def address(self, notebook: str) -> str:
        """Where a notebook opens, in a workspace of its own, so that nothing else is restored."""
        page = f"lab/workspaces/{secrets.token_hex(4)}/tree" if self.kind == "lab" else "notebooks"
        return f"http://127.0.0.1:{self.port}/{page}/{notebook}?token={self.token}"

    def stop(self) -> None:
        """End the server and its kernels."""
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start(kind: str, home: Path) -> Front:
    """Start a server in a new folder; raise RuntimeError with its last words if it does not answer."""
    folder, settings = home / "notebooks", home / "settings" / "@jupyterlab"
    labextensions = home / "jupyter" / "labextensions"
    for each in (folder, labextensions, settings / "apputils-extension", home / "runtime"):
        each.mkdir(parents=True, exist_ok=True)
    installed = "HASTEGA_INSTALLED" in os.environ
    if not installed:
        # The assets of this working tree, whatever an earlier installation left elsewhere.
        (labextensions / "hastega-magic").symlink_to(ASSETS, target_is_directory=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "apputils-extension" / "notification.jupyterlab-settings").write_text(json.dumps(quiet))
    port, token = _free_port(), secrets.token_hex(16)
    app = "LabApp" if kind == "lab" else "JupyterNotebookApp"
    environment = {
        **os.environ,
        "PATH": f"{bin_folder()}{os.pathsep}{os.environ['PATH']}",
        "JUPYTER_PATH": str(home / "jupyter"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
    }
    if not installed:
        environment["PYTHONPATH"] = str(ROOT)
    command = [
        str(bin_folder() / "jupyter"), kind, "--no-browser", "--allow-root", "--ip=127.0.0.1",
        f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={folder}", f"--{app}.expose_app_in_browser=True",
    ]  # fmt: skip
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    front = Front(kind, folder, port, token, process)
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api?token={token}", timeout=2).close()
        except OSError:
            time.sleep(0.2)
        else:
            return front
    front.stop()
    raise RuntimeError((home / "server.log").read_text(errors="replace")[-3000:])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
