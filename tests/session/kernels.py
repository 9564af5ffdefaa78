"""What a kernel of the notebook knows, and another one that begins does not."""

from __future__ import annotations

from hastega_magic.compiler.choice import costs, schedule_store
from hastega_magic.compiler.loops import clear_cache


def as_another_kernel() -> None:
    """Forget what was measured, tuned and compiled, as another kernel begins."""
    costs.forget()
    schedule_store.forget()
    clear_cache()
