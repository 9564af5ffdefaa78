"""Where what was compiled cannot be kept, it is compiled all the same."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("pyopencl")

CELL = """
from hastega_magic.session import Options, Session
session = Session({}, Options(on="opencl", baseline=False))
session.run_cell("total = range(100_003) |> map(lambda x: x * 3 + 1) |> sum")
print(session.namespace["total"], session.last_report.pipelines[0].backend)
"""


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("no folder")
    places = {"XDG_CACHE_HOME": str(tmp_path / "file"), "POCL_CACHE_DIR": str(tmp_path / "pocl")}
    ran = subprocess.run(
        [sys.executable, "-c", CELL],
        env={**os.environ, **places}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.stdout.split() == [str(sum(x * 3 + 1 for x in range(100_003))), "opencl"]
    assert "Error" not in ran.stderr
