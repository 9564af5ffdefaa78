"""`%%hastega xs |> sum` on one line: IPython says "did you mean the line magic", which does something else.

The magic is called with a blank as its cell, and says itself what is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hastega_magic.jupyter.shell import Shell

_BEGINS, _ENDS = "get_ipython().run_cell_magic('hastega', ", ", '')\n"
"""How IPython writes out such a cell."""

NONE = " "
"""The cell that the magic is given; any other ends with a line feed."""


def _with_a_body(lines: list[str]) -> list[str]:
    """What a shell calls with a cell's lines, cell magics written out."""
    if len(lines) == 1 and lines[0].startswith(_BEGINS) and lines[0].endswith(_ENDS):
        return [f"{lines[0].removesuffix(_ENDS)}, {NONE!r})\n"]
    return lines


def install(shell: Shell) -> None:
    """From the next cell on."""
    shell.input_transformer_manager.line_transforms.append(_with_a_body)


def remove(shell: Shell) -> None:
    """Leave such cells to IPython again."""
    found = shell.input_transformer_manager.line_transforms
    found[:] = [each for each in found if each is not _with_a_body]


__all__ = ["NONE", "install", "remove"]
