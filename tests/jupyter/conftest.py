"""A real shell, and what a user of it would see."""

import atexit
import gc
import io
import os
import re
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager
from traitlets.config import Config

from hastega_magic.report import MIME


@dataclass
class Seen:
    """What one cell showed: the text of both streams, the bundles displayed, the exception that came out."""

    out: str
    err: str
    bundles: list[dict[str, Any]] = field(default_factory=list)
    error: BaseException | None = None

    @property
    def text(self) -> str:
        return self.out + self.err

    @property
    def reports(self) -> list[dict[str, Any]]:
        return [bundle[MIME] for bundle in self.bundles if MIME in bundle]

    @property
    def refusal(self) -> str:
        """The line behind `UsageError: `, where nothing else is shown."""
        assert isinstance(self.error, UsageError)
        assert self.out == ""
        assert self.bundles == []
        [line] = self.err.splitlines()
        head, _, rest = line.partition(": ")
        assert head == "UsageError"
        return rest


class Notebook:
    """Cells in a shell with the extension loaded."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.ns = shell.user_ns

    def run(self, cell: str, front_end: bool = True) -> Seen:
        """Run a cell. Without a front end, displays are printed, as in a terminal."""
        if front_end:
            with _warnings_as_usual(), capture_output() as captured:
                error = self._error_of(cell)
            bundles = [dict(each.data) for each in captured.outputs]
            return Seen(_plain(captured.stdout), _plain(captured.stderr), bundles, error)
        out, err = io.StringIO(), io.StringIO()
        with _warnings_as_usual(), redirect_stdout(out), redirect_stderr(err):
            error = self._error_of(cell)
        return Seen(_plain(out.getvalue()), _plain(err.getvalue()), [], error)

    def __call__(self, body: str, options: str = "--no-baseline") -> Seen:
        """Run a %%hastega cell."""
        return self.run(f"%%hastega {options}\n{body}")

    def _error_of(self, cell: str) -> BaseException | None:
        result = self.shell.run_cell(cell, store_history=True)
        return result.error_before_exec or result.error_in_exec


class _warnings_as_usual(warnings.catch_warnings):  # noqa: N801
    """Python's own filters and way of showing, which pytest replaces."""

    def __enter__(self):
        super().__enter__()
        warnings.resetwarnings()
        warnings.simplefilter("default")
        warnings.showwarning = lambda *args, **_: sys.stderr.write(warnings.formatwarning(*args[:4]))


def _plain(text: str) -> str:
    """The text without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.fixture
def shell(tmp_path):
    """A fresh shell that knows nothing of the user's profile."""
    config = Config()
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    instance = InteractiveShell.instance(config=config, ipython_dir=str(tmp_path / "ipython"))
    yield instance
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            gc, "collect", lambda: 0
        )  # it would look through all that the tests before have left, twice
        instance.run_line_magic("reset", "-f")
    InteractiveShell.clear_instance()
    atexit.unregister(instance.atexit_operations)  # else it stays until the end, and is reset once more


@pytest.fixture
def notebook(shell) -> Notebook:
    shell.run_line_magic("load_ext", "hastega_magic")
    return Notebook(shell)


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    """A kernel in a process of its own: its manager, and a client that is connected to it."""
    specs = KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)  # this interpreter's, not the user's
    manager = KernelManager(kernel_name="python3", kernel_spec_manager=specs, transport_encryption="auto")
    manager.start_kernel(env={**os.environ, "IPYTHONDIR": str(tmp_path_factory.mktemp("ipython"))})
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)
