"""What llvmlite says of itself and of the host's CPU."""

from __future__ import annotations

from hastega_magic.records import dataclass

_TRIPLES = ("x86_64", "aarch64", "nvptx64-nvidia-cuda", "amdgcn-amd-amdhsa", "spirv64", "wasm32")
"""One triple of each target that a kernel could be compiled for."""


@dataclass(frozen=True)
class CpuFacts:
    """The CPU as LLVM names it, `isa` as kernels use it, and the targets that LLVM was built with."""

    llvmlite: str
    llvm: str
    triple: str
    name: str
    isa: str
    features: tuple[str, ...]
    targets: tuple[str, ...]


def inspect() -> CpuFacts:
    """Ask llvmlite; raises what its import and LLVM raise."""
    import llvmlite
    import llvmlite.binding as llvm

    from hastega_magic.runtime.cpu import host

    target = host()
    llvm.initialize_all_targets()
    return CpuFacts(
        llvmlite=str(llvmlite.__version__), llvm=".".join(map(str, llvm.llvm_version_info)), triple=target.triple,
        name=target.cpu, isa=target.isa, features=tuple(sorted(target.features)),
        targets=tuple(filter(None, map(_target, _TRIPLES))),
    )  # fmt: skip


def _target(triple: str) -> str:
    import llvmlite.binding as llvm

    try:
        return llvm.Target.from_triple(triple).name
    except RuntimeError:  # LLVM was built without it
        return ""


__all__ = ["CpuFacts", "inspect"]
