"""The kernel "Python 3 (Hastega)": IPython's own, in which `|>` works in every cell.

It is started by `python -m hastega_magic.jupyter.kernel -f CONNECTION_FILE`, as its kernelspec says, which comes with
the wheel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp

import hastega_magic
from hastega_magic.jupyter.completer import stage_at
from hastega_magic.syntax.reading.names import shadowed


class HastegaKernel(IPythonKernel):
    """Loads the extension, which finds `pipes_everywhere` and switches `%hastega on`: again after a reload."""

    implementation = "hastega"
    implementation_version = hastega_magic.__version__
    pipes_everywhere = True

    def __init__(self, **kwargs: Any) -> None:
        """Start as IPython's kernel does."""
        super().__init__(**kwargs)  # pyright: ignore[reportUnknownMemberType]
        shell: Any = self.shell
        shell.extension_manager.load_extension("hastega_magic")

    @property
    def banner(self) -> str:
        """What consoles print first."""
        usual = cast(Any, super()).banner
        return f"{usual}Hastega {hastega_magic.__version__}: `xs |> map(f) |> sum` works in every cell.\n"

    def do_inspect(
        self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Sequence[str] = ()
    ) -> Any:
        """What Shift-Tab shows: of a stage what it does, not Python's function of the same name."""
        row = stage_at(code, cursor_pos)
        if row is None or row.name in shadowed(cast(Any, self.shell).user_ns):
            return cast(Any, super()).do_inspect(code, cursor_pos, detail_level, omit_sections)
        return {"status": "ok", "found": True, "data": {"text/plain": row.help}, "metadata": {}}


if __name__ == "__main__":
    launch: Any = IPKernelApp.launch_instance  # pyright: ignore[reportUnknownMemberType]
    launch(kernel_class=HastegaKernel)
