"""The process that tries an edited kernel: what is told where it ends before its time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hastega_magic.compiler.editing import edited
from hastega_magic.compiler.editing.trial import Tried
from hastega_magic.session import Options, Session


def test_what_the_process_itself_raises_is_told(monkeypatch: pytest.MonkeyPatch):
    """CPython crashed behind it, as a thread waits for stdin, and the crash was all that was told of."""
    session = Session({"xs": np.arange(9000)}, Options(on="simd", baseline=False, quiet=True))
    session.run_cell("ys = xs |> map(lambda x: x * 3 + 1)")
    (kept,) = session.kept
    write = edited.write_columns

    def beyond_its_end(*given: Any) -> Any:
        return tuple((source, replace(slab, offset=2**40)) for source, slab in write(*given))

    monkeypatch.setattr(edited, "write_columns", beyond_its_end)
    with pytest.raises(edited.KernelError) as raised:
        edited.run_edited(kept, "llvm", edited.text_of(kept, "llvm"))
    message = str(raised.value)
    assert message.startswith("the process that tried the edited kernel failed while")
    assert message.endswith("(ValueError: mmap length is greater than file size); this notebook is as it was")


def test_what_llvm_says_before_it_ends_the_process_is_told() -> None:
    errors = "LLVM ERROR: Cannot select: intrinsic %llvm.nowhere\nPLEASE submit a bug report\n #0 0x7f"
    tried = Tried("compiling", ended="crashed (SIGABRT)", errors=errors)
    assert str(edited.error_of(tried, "")) == (
        "the process that tried the edited kernel crashed (SIGABRT) while compiling "
        "(LLVM ERROR: Cannot select: intrinsic %llvm.nowhere); this notebook is as it was"
    )
