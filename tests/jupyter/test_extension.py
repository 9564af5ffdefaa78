"""Loading, unloading, and what the bare import costs."""

import re
import subprocess
import sys

import pytest
from traitlets.config import Config

import hastega_magic
from hastega_magic.errors import UsageError
from tests.jupyter.conftest import Notebook


def configurable(shell):
    """How many magics of ours `%config` reaches."""
    return [type(each).__name__ for each in shell.configurables].count("HastegaMagics")


def test_load_and_unload_leave_the_shell_as_it_was(shell):
    kinds = {kind: set(names) for kind, names in shell.magics_manager.magics.items()}
    for _ in range(2):
        shell.run_line_magic("load_ext", "hastega_magic")
        assert "hastega" in shell.magics_manager.magics["cell"]
        assert "hastega" in shell.magics_manager.magics["line"]
        assert configurable(shell) == 1
        shell.run_line_magic("unload_ext", "hastega_magic")
        assert {kind: set(names) for kind, names in shell.magics_manager.magics.items()} == kinds
        assert configurable(shell) == 0
        assert "HastegaMagics" not in shell.magics_manager.registry


def test_loading_twice_keeps_the_configuration(notebook):
    notebook.run("%config HastegaMagics.quiet = True")
    hastega_magic.load_ipython_extension(notebook.shell)
    assert notebook("y = range(3) |> sum").bundles == []


def test_completion_is_offered_what_is_there_to_be_used():
    assert dir(hastega_magic) == sorted(hastega_magic.__all__)


REFUSED = {"on": "gpu", "threads": -1, "quiet": True, "nothing": 3}


def test_what_is_configured_and_cannot_be_is_left_out(shell, caplog):
    shell.config.HastegaMagics = Config(REFUSED)
    notebook = Notebook(shell)
    notebook.run("%load_ext hastega_magic")
    told = [record.getMessage() for record in caplog.records if record.name == "hastega_magic.jupyter.magics"]
    assert len(told) == 2
    assert (
        told[0]
        == "HastegaMagics.on = 'gpu' is not configured: there is no back end 'gpu': did you mean opencl?"
    )
    assert re.match("HastegaMagics.threads = -1 is not configured: .* should not be less than 0", told[1])
    seen = notebook.run("%%hastega\n[1, 2] |> sum")
    assert (seen.error, seen.bundles) == (None, [])
    assert notebook.run("%config HastegaMagics.on").out.strip().endswith("'auto'")


def test_what_config_refused_does_not_keep_from_loading_again(notebook):
    notebook.run("%config HastegaMagics.threads = -1")
    assert notebook.run("%reload_ext hastega_magic").error is None
    assert notebook("[1, 2] |> sum").error is None


def test_reloading_works(notebook):
    notebook.run("%reload_ext hastega_magic")
    notebook("y = range(3) |> sum")
    assert notebook.ns["y"] == 3


def test_unloading_what_is_not_loaded(shell):
    hastega_magic.unload_ipython_extension(shell)


def test_last_report_before_any_cell(notebook):
    with pytest.raises(UsageError, match="no %%hastega cell has run yet"):
        hastega_magic.last_report()
    seen = notebook.run("from hastega_magic import last_report\nlast_report()")
    assert seen.out.strip() == "UsageError: no %%hastega cell has run yet"


def test_last_report_without_the_extension(shell):
    with pytest.raises(UsageError, match="%load_ext hastega_magic"):
        hastega_magic.last_report()


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import hastega_magic", "numpy llvmlite IPython hastega_magic.session"),
        ("import hastega_magic.jupyter.completer", "llvmlite pyopencl hastega_magic.jupyter.devices"),
        ("import hastega_magic.jupyter.magics", "numpy llvmlite hastega_magic.session hastega_magic.report"),
    ],
)
def test_imports_wait_until_they_are_needed(code, absent):
    check = f"import sys; {code}; print([name for name in {absent.split()} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_last_report_outside_ipython():
    code = "import hastega_magic\ntry: hastega_magic.last_report()\nexcept Exception as e: print(type(e).__name__, e)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("UsageError ")


INTERRUPTED = """
import os, signal, sys
from IPython.core.interactiveshell import InteractiveShell

class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == "numpy.linalg":
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

shell = InteractiveShell.instance()
sys.meta_path.insert(0, Interrupts())
try:
    shell.run_line_magic("load_ext", "hastega_magic")
except KeyboardInterrupt:
    print("interrupted", "numpy.linalg" in sys.modules)
shell.run_line_magic("load_ext", "hastega_magic")
shell.run_cell("%%hastega --quiet\\ntotal = range(1000) |> map(lambda x: x * x % 7) |> sum")
print(shell.user_ns["total"])
"""


def test_ctrl_c_while_numpy_is_imported_comes_behind_that():
    """A package that is imported by half stays so for as long as the kernel lives."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False
    )
    expected = sum(x * x % 7 for x in range(1000))
    assert done.stdout.split() == ["interrupted", "True", str(expected)], done.stderr
