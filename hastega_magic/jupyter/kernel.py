"""The kernel "Python 3 (Hastega)": IPython's own, in which `|>` works in every cell.

It is started by `python -m hastega_magic.jupyter.kernel -f CONNECTION_FILE`, as its kernelspec says, which comes with
the wheel.
"""

from __future__ import annotations

from typing import Any, cast

from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp

import hastega_magic
from hastega_magic.jupyter.everywhere import as_bars


class HastegaKernel(IPythonKernel):
    """Loads the extension, and switches `%hastega on`."""

    implementation = "hastega"
    implementation_version = hastega_magic.__version__

    def __init__(self, **kwargs: Any) -> None:
        """Start as IPython's kernel does."""
        super().__init__(**kwargs)  # pyright: ignore[reportUnknownMemberType]
        shell: Any = self.shell
        shell.extension_manager.load_extension("hastega_magic")
        shell.run_line_magic("hastega", "on")

    @property
    def banner(self) -> str:
        """What consoles print first."""
        usual = cast(Any, super()).banner
        return f"{usual}Hastega {hastega_magic.__version__}: `xs |> map(f) |> sum` works in every cell.\n"

    def do_is_complete(self, code: str) -> Any:
        """Whether a console is to run the code or to wait for more; to IPython a pipe is an error."""
        return cast(Any, super()).do_is_complete(as_bars(code))


if __name__ == "__main__":
    launch: Any = IPKernelApp.launch_instance  # pyright: ignore[reportUnknownMemberType]
    launch(kernel_class=HastegaKernel)
