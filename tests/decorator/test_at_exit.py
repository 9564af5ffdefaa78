"""What a script leaves behind when the interpreter ends is let go of as without us: files are written to their end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = """
import os, sys

class Told:
    def __del__(self):
        os.write(1, b"gone")

told, factor = Told(), 3
written = open(sys.argv[1], "w")
written.write("all of it")
n = int(sys.argv[2])
{}
"""
_USES = {
    "decorated": """
from hastega_magic import hastega
@hastega
def total(xs):
    return sum([x * factor for x in xs])
total(list(range(n)))
""",
    "method": """
from hastega_magic import hastega
class Owner:
    @hastega
    def total(self, xs):
        return [y for y in (x * factor for x in xs) if y % 2]
Owner().total(range(n))
""",
    "lazy": """
from hastega_magic import pipe
for _ in range(2):
    repr(pipe(range(n)).map(lambda x: x * factor).sum())
""",
    "session": """
from hastega_magic.session import Session
session = Session(globals())
for _ in range(3):
    session.run_cell('''
def f():
    return range(n) |> map(lambda x: x * factor) |> sum
y = range(n) |> map(lambda x: x * factor) |> sum
f()''')
""",
    "called while it ends": """
import atexit
@atexit.register
def late():
    assert total(range(n)) == sum(x * factor for x in range(n))
from hastega_magic import hastega
@hastega
def total(xs):
    return sum([x * factor for x in xs])
total(range(n))
""",
}


@pytest.mark.parametrize("n", [10, 20_000])
@pytest.mark.parametrize("use", _USES)
def test_files_are_written_and_finalisers_called(tmp_path: Path, use: str, n: int) -> None:
    script, file = tmp_path / "script.py", tmp_path / "written"
    script.write_text(_SCRIPT.format(_USES[use]))
    command = [sys.executable, str(script), str(file), str(n)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("gone", "")
    assert file.read_text() == "all of it"
