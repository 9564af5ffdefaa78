"""What this package uses of IPython's shell, with types, which IPython does not give."""

from __future__ import annotations

from typing import Any, Protocol


class Shell(Protocol):
    """The part of `InteractiveShell` that the magics need."""

    config: Any
    user_ns: dict[str, Any]
    configurables: list[Any]
    events: Any
    compile: Any
    history_manager: Any
    displayhook: Any
    display_pub: Any
    magics_manager: Any
    InteractiveTB: Any
    SyntaxTB: Any
    Completer: Any
    input_transformer_manager: Any
    input_transformers_cleanup: list[Any]
    input_transformers_post: list[Any]
    ast_node_interactivity: str

    def transform_cell(self, raw_cell: str) -> str:
        """The cell as Python, with magics written out."""
        ...

    def set_next_input(self, s: str, replace: bool = False) -> None:
        """Put text into a new cell, or into the next prompt."""
        ...

    def run_line_magic(self, magic_name: str, line: str) -> object:
        """Run a magic as if its line were in a cell."""
        ...

    def register_magics(self, *classes: type) -> None:
        """Make instances of these classes, and their magics known."""
        ...
