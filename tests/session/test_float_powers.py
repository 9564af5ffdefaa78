"""Powers of ints with a negative exponent are floats, beside functions whose last bit is the loop's own as well."""

import math

import pytest

from hastega_magic.session import Session

XS = [6] * 298 + [-8, -2]
FUNCTIONS = [
    "math.exp(x) + x ** x",
    "math.exp(x) if x ** x else 0.0",
    "math.erf(x) if pow(x, x) else 0.0",
    "math.sin(x) * k ** x",
    "math.exp(x * 0.5) if (x + 1) ** (x - 1) > 0.5 else 0.0",
    "(math.exp(x), x ** x > 1)",
]


@pytest.mark.parametrize("form", ["xs |> map(lambda x: {}) |> to_list", "[{} for x in xs]"])
@pytest.mark.parametrize("text", FUNCTIONS)
def test_they_are_no_ints_in_blocks_that_python_evaluates(form, text):
    names = {"xs": XS, "k": 3, "math": math}
    expected = eval(f"[{text} for x in xs]", names)
    Session(names).run_cell(f"found = {form.format(text)}")
    for ours, theirs in zip(names["found"], expected, strict=True):
        pairs = zip(ours, theirs, strict=True) if isinstance(theirs, tuple) else [(ours, theirs)]
        assert all(type(a) is type(b) and math.isclose(a, b, rel_tol=1e-15) for a, b in pairs)


def test_they_are_keys_as_python_has_them():
    names = {"zs": [12] * 60, "ws": [-3] * 44 + [-8], "math": math}
    Session(names).run_cell("found = {pow(x, y): math.cbrt(y) for x in zs for y in ws}")
    assert [*names["found"]] == [pow(12, -3), pow(12, -8)]
