"""Whether a device has the floats that a kernel and its data need."""

from __future__ import annotations

from collections.abc import Sequence

from hastega_magic.errors import NotCompilable, UsageError
from hastega_magic.ir.expr import postorder
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.target import Target
from hastega_magic.types import FLOAT, FLOAT32, FLOAT64, Storage

_NO_FLOAT64 = "{} has no float64, which these operations need"


def check(kernel: Kernel, storages: Sequence[Storage | None], target: Target) -> None:
    """UsageError where the device lacks float64 and the data is float64; NotCompilable where only code needs it.

    NotCompilable also for float32 on a device that takes subnormal numbers for zero.
    """
    if not target.has("denormals") and any(node.type is FLOAT32 for node in postorder(kernel.roots())):
        raise NotCompilable(f"{target.cpu} takes subnormal float32 numbers for zero, which Python does not")
    if target.has("float64"):
        return
    if any(each is not None and each.scalar in (FLOAT, FLOAT64) for each in storages):
        raise UsageError(
            f"{target.cpu} has no float64, and the data is float64: convert it with `.astype(np.float32)`, "
            "or choose `--on parallel`"
        )
    if any(node.type in (FLOAT, FLOAT64) for node in postorder(kernel.roots())):
        raise NotCompilable(_NO_FLOAT64.format(target.cpu))


def check_text(text: str, target: Target) -> None:
    """NotCompilable where code computes in float64 (a check, a correctly rounded quotient) and the device cannot."""
    if "double" in text and not target.has("float64"):
        raise NotCompilable(_NO_FLOAT64.format(target.cpu))


__all__ = ["check", "check_text"]
