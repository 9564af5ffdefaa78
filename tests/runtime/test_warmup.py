"""What is made ready beside the imports of a first cell."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest


def output(code: str) -> str:
    """What a fresh process prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


JOIN = """
    def join():
        for each in threading.enumerate():
            if each.name == "hastega_ahead":
                each.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux which libraries are loaded")
def test_the_library_is_there_before_anyone_imports_what_drives_it():
    code = """
    import sys, threading
    from pathlib import Path
    from hastega_magic.runtime import warmup
    """
    more = """
    warmup.load_library()
    join()
    print("libllvmlite" in Path("/proc/self/maps").read_text(), "llvmlite" in sys.modules)
    warmup.make_ready()
    join()
    print("llvmlite.binding" in sys.modules, "hastega_magic.runtime.cpu" in sys.modules)
    from hastega_magic.session import Session
    print(Session({}).run_cell("range(5) |> map(lambda x: x * x) |> sum").value)
    """
    assert output(code + JOIN + more).split() == ["True", "False", "True", "False", "30"]


def test_modules_are_imported_while_the_next_code_is_made():
    code = """
    import sys, threading
    from hastega_magic.runtime import warmup, cpu
    """
    more = """
    warmup.import_while_compiling("hastega_magic.report.page", "hastega_magic.nothing")
    print("hastega_magic.report.page" in sys.modules)
    cpu.compile_text("define void @hastega(ptr %words, ptr %scratch) { ret void }")
    join()
    print("hastega_magic.report.page" in sys.modules)
    sys.modules.pop("hastega_magic.report.page")
    cpu.compile_text("define void @hastega(ptr %words, ptr %scratch) { ret void }")
    join()
    print("hastega_magic.report.page" in sys.modules)
    """
    assert output(code + JOIN + more).split() == ["False", "True", "False"]


def test_without_the_library_nothing_happens():
    code = """
    import sys, threading
    sys.modules["llvmlite"] = None
    from hastega_magic.runtime import warmup
    """
    more = """
    warmup.load_library()
    warmup.make_ready()
    join()
    print("quiet")
    """
    assert output(code + JOIN + more) == "quiet\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_forked_meanwhile_compiles():
    code = """
    import os
    from hastega_magic.runtime import warmup
    warmup.load_library()
    warmup.make_ready()
    child = os.fork()
    from hastega_magic.session import Session
    total = Session({}).run_cell("range(5) |> map(lambda x: x * x) |> sum").value
    if child == 0:
        os._exit(total)
    print(total, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert output(code).split() == ["30", "30"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_ctrl_c_while_a_fork_waits_leaves_no_lock_behind():
    code = """
    import os, signal, threading, time
    from hastega_magic.runtime import warmup

    warmup._begin(lambda: time.sleep(1.0))  # holds the lock
    time.sleep(0.1)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    child = os.fork()  # what a hook raises is printed
    if child == 0:
        os._exit(0 if warmup._LOCK.acquire(timeout=5) else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), warmup._LOCK.locked())
    """
    assert output(code).split() == ["0", "False"]
