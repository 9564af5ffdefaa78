import collections
import math
import random

import numpy as np
import pytest

from hastega_magic.errors import NotCompilable
from hastega_magic.types import INT


class Count(int):
    """A number that may do as it likes."""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lambda x: print(x)", "`print` is called, a side effect: observation"),
        ("lambda x: random.random()", "random.random` is called"),
        ("lambda x: log.append(x)", "method `log.append`"),
        ("lambda x: x.to_bytes()", "method `x.to_bytes`"),
        ("lambda x: np.random.rand()", "observation"),
        ("lambda x: math.gamma(x)", "`math.gamma` has no compiled form"),
        ("lambda x: 'a'", "a string takes part"),
        ("lambda x: None", "returns None"),
        ("lambda x: x + None", "None takes part"),
        ("lambda x: 1j if x else 1.5", "complex"),
        ("lambda x: d[x]", "an empty dict"),
        ("lambda x: s + x", "`s` is a str, not a number"),
        ("lambda x: x + missing", "`missing` is not defined"),
        ("lambda x: x.shape", "attribute `x.shape`"),
        ("lambda x: [x]", "a list is built"),
        ("lambda x: Pair(x, 1)", "a named tuple, `Pair`"),
        ("lambda x: (x, Pair(x, 1))", "a named tuple, `Pair`"),
        ("lambda x: (lambda **a: x)()", "any number of named arguments"),
        ("lambda x: x if x > 1 else x > 0 and 0.5", "a bool, an int or a float"),
        ("lambda x: arr[x if x > 1 else 0.5]", "of type int for some elements and float for others"),
        ("lambda x: (x, 1) if x > 1 else x", "a tuple for some"),
        ("lambda x: x ** 'a'", "a string takes part"),
        ("lambda x: x & 1.5", "integers, not floats"),
        ("lambda x: x in s", "`in` looks into `s`, a str"),
        ("lambda x: x in many", "`in` looks into `many`, 65 items"),
        ("lambda x: x is x", "write `==`"),
        ("lambda x: t", "the result is `t`, a list"),
        ("lambda x: ()", "empty tuple"),
        ("lambda x, y=0.5: (x, 1)[y]", "no constant"),
        ("lambda x: (x, 1)[2]", "beyond its end"),
        ("lambda x: x[0]", "a number is subscripted"),
        ("lambda x: x(1)", "is called"),
        ("lambda x: t[0.5]", "with a float"),
        ("lambda x: t[1:]", "a slice"),
        ("lambda x: round(x, -2)", "to -2 digits"),
        ("lambda x: (x,) < 1", "a tuple and a number are compared"),
        ("lambda x: max(x, 2, default=1)", "keyword"),
        ("lambda x, y: x", "without its argument `y`"),
        ("lambda: 1", "takes 0"),
        ("lambda x: x |> g", "a pipeline inside"),
        ("lambda x: i + x", "`i` is a Count, not"),
        ("lambda x: undefined(x)", "`undefined` is not defined"),
        ("lambda x: sum((w := v) for v in range(x))", "assignment inside a generator"),
        ("lambda x: min(x > 1, x, 0.5)", "a bool, an int or a float"),
        ("lambda x: sum(v for v in s)", "a loop over `s`, a str"),
        ("lambda x: arr[x > 1]", "mask"),
        ("def f(x):\n  global g\n  g = x\n  return x", "global variable"),
        ("def f(x):\n  t[0] = x\n  return x", "an element is assigned"),
        ("def f(x):\n  o.a = x\n  return x", "an attribute is assigned"),
        ("def f(x):\n  o.a += x\n  return x", "an attribute"),
        ("def f(x):\n  if x: return 1", "returns None for some"),
        ("def f(x):\n  for i in x: pass\n  return x", "over a number"),
        ("def f(x):\n  x + 1", "returns None"),
        ("def f(x):\n  return", "returns None"),
        ("def f(x):\n  a, b = x\n  return a", "no tuple"),
        ("def f(x):\n  a, b = 1, 2, x\n  return a", "3 values"),
        ("def f(x):\n  y = y + x\n  return y", "before it is assigned"),
        ("def f(x): return f(x - 1)", "calls itself"),
        ("def f(x):\n  with x: pass\n  return x", "`with`"),
        ("def g(x): return h(x)\ndef h(x): return g(x)\ndef f(x): return g(x)", "calls itself"),
        ("def f(x):\n  try: y = 1\n  except E: pass\n  return x", "`try`"),
        ("def g(a): return a\ndef f(x): return g(x, b=1)", "`b`"),
    ],
)
def test_what_is_left_to_python(graph, text, words):
    names = {
        "random": random,
        "math": math,
        "np": np,
        "log": [],
        "d": {},
        "s": "",
        "t": [1, 2],
        "many": list(range(65)),
        "i": Count(3),
        "o": Count,
        "arr": np.arange(3),
        "Pair": collections.namedtuple("Pair", "x y"),  # noqa: PYI024
    }
    with pytest.raises(NotCompilable, match=words) as caught:
        graph(text, INT, **names)
    assert not str(caught.value).endswith(".")
