"""Complex numbers beside real ones, as Python computes with them since 3.14, on every version."""

import battery
import numpy as np
import pytest

from hastega_magic.ops.complex_numbers import real_quotient
from hastega_magic.syntax.operations import complex_numbers

REAL_OPERANDS = (
    "z + x",
    "x + z",
    "z - x",
    "x - z",
    "z * x",
    "x * z",
    "z / x",
    "x / z",
    "z * w",
    "z / w",
    "z ** 3",
)


def c99(text, z, w, x):
    """As Python computes it since 3.14 where no infinity is recovered: a real operand has no imaginary part."""
    if text.startswith("x / "):
        return real_quotient(x, z.real, z.imag)
    return {
        "z + x": lambda: complex(z.real + x, z.imag), "x + z": lambda: complex(x + z.real, z.imag),
        "z - x": lambda: complex(z.real - x, z.imag), "x - z": lambda: complex(x - z.real, -z.imag),
        "z * x": lambda: complex(z.real * x, z.imag * x), "x * z": lambda: complex(x * z.real, x * z.imag),
        "z / x": lambda: complex(z.real / x, z.imag / x),
        "z * w": lambda: z * w, "z / w": lambda: z / w, "z ** 3": lambda: z**3,
    }[text]()  # fmt: skip


@pytest.mark.parametrize("on", ["simd", "opencl"])
@pytest.mark.parametrize("text", REAL_OPERANDS)
def test_real_operands_as_since_3_14(monkeypatch, text, on):
    """On every version: signs of zeros tell the rules apart."""
    if on == "opencl":
        pytest.importorskip("pyopencl")
    monkeypatch.setattr(complex_numbers, "_REAL_APART", True)
    parts = (0.0, -0.0, 1.5, -2.0, 1e100, 5e-324)
    zs = [complex(a, b) for a in parts for b in parts if a or b]
    names = {"zs": np.array(zs), "ws": np.array(zs[::-1]), "xs": np.array([each.imag or 3.0 for each in zs])}
    ran = battery.run(f"zs |> zip(ws, xs) |> map(lambda z, w, x: {text})", names, on=on)
    assert ran.report["pipelines"][0]["barriers"] == []
    wanted = [c99(text, *each) for each in zip(zs, zs[::-1], names["xs"].tolist(), strict=True)]
    assert battery.same(ran.value, np.array(wanted))
