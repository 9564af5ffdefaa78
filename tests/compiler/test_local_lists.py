"""Lists that are built inside functions, variables of outer functions, stars, and recursions that end."""

import math
import textwrap

import pytest

from tests.compiler.battery import assert_interpreted, assert_like_python

BODIES = {
    "filled by turns": """
        a = [0] * 4
        for i in range(4):
            a[i] = x * i
        return sum(a)
    """,
    "filled by more turns": """
        a = [0] * 20
        for i in range(20):
            a[i] += x * i
        return sum(a) + max(a) + a[x % 20]
    """,
    "a list that grows in a while": """
        a = [x]
        while len(a) < 9:
            a.append(a[-1] + 1)
        return len(a) + a[x % 9]
    """,
    "a comprehension with a condition": """
        a = [v * x for v in range(12) if v % 2]
        return sum(a) + len(a) + min(a) + (x in a)
    """,
    "a comprehension within": """
        return sum([i * j for i in (1, 2) for j in range(i, 4)]) + x
    """,
    "counts": """
        n = [0, 0, 0]
        for i in range(x):
            n[i * i % 3] += 1
        return n[0] * 100 + n[1] * 10 + n[2]
    """,
    "two names": """
        a = [1, 2]
        b = a
        b[0] = x
        b.append(3)
        return a[0] * 10 + len(a) + (a is b)
    """,
    "changed by a branch": """
        a = [1, 2]
        if x > 3:
            a[0] = x
        else:
            a[1] += x / 2
        return a[0] + a[1]
    """,
    "one of two lists": """
        b = [1, x]
        c = [x, 2]
        a = b if x % 2 else c
        return a[0] * 3 + a[1]
    """,
    "unpacking with a star": """
        a, *b, c = (x, 1, 2, 3)
        b.append(7)
        return a + b[-1] + len(b) + c
    """,
    "stars in displays": """
        t = (1, x)
        return sum([*t, 3, *range(3)]) + len((*t, *t))
    """,
    "changed by a function": """
        def g(a, v):
            a.append(v)
            return a
        m = [1]
        k = g(m, x)
        k[0] = 5
        return m[0] + m[1] + len(m)
    """,
    "changed by a function that returns early": """
        def g(a):
            if x > 4:
                a[0] = 1
                return 2
            a[0] = 3
            return 4
        m = [0]
        r = g(m)
        return r * 10 + m[0]
    """,
    "a variable of the outer function": """
        t = 0
        def g(y):
            nonlocal t
            if y > 3:
                t += 1
                return
            t += y
        g(x)
        g(2)
        for i in range(x):
            g(i)
        return t
    """,
    "a variable of the outermost function": """
        t = x
        def g():
            nonlocal t
            t += 1
            def h():
                nonlocal t
                t *= 2
            h()
            return t
        return g() + g() + t
    """,
    "a list of lists": """
        g = [[0] * 3 for _ in range(3)]
        for i in range(3):
            for j in range(3):
                g[i][j] = i * x + j
        return sum(sum(r) for r in g) + g[1][x % 3]
    """,
    "one list in a list three times": """
        g = [[0] * 3] * 3
        g[0][1] = x
        return g[2][1] + g[1][0]
    """,
    "methods": """
        a = [x, 1, 2]
        b = a.pop()
        c = a.pop(0)
        a.insert(0, 5)
        a.extend((7, 8))
        a.reverse()
        d = a.copy()
        a.clear()
        return b * 100 + c * 10 + d[0] + len(d) + len(a) + (1 if a else 0)
    """,
    "an index out of bounds is assigned": """
        a = [1, 2]
        a[x - 3] = 5
        return a[0]
    """,
    "an index out of bounds": """
        a = [1, 2]
        return a[x - 3]
    """,
    "a return in a loop with a list": """
        for i in range(x):
            a = [i, 1]
            if i > 5: return a[0]
        return 0
    """,
    "a return from a loop that changes a list": """
        a = [0]
        def g():
            for i in range(x):
                a[0] += 1
                if i > 5: return i
            return -1
        r = g()
        return r * 100 + a[0]
    """,
    "any number of arguments": """
        def va(*a): return a[0] + len(a)
        t = (x, 1)
        return va(*t, 2) + va(x)
    """,
    "arguments by name and behind a star": """
        def k(a, *r, b=2): return a * b + sum(r)
        return k(x, 1, 2, b=3) + k(x)
    """,
    "list and tuple": """
        a = list(range(5))
        b = tuple(v * x for v in a)
        return a[x % 5] + b[2] + sorted(v * x % 3 for v in range(6))[2]
    """,
    "a change behind an and": """
        a = [1, x, 5]
        r = x > 3 and a.reverse()
        return a[0]
    """,
    "a recursion": """
        def p(b, n): return 1 if n == 0 else b * p(b, n - 1)
        return p(x, 5)
    """,
    "two recursions": """
        def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
        return f(9) + x
    """,
    "items of two types": """
        a = [0] * 3
        a[x % 3] = 0.5
        return a[0] + a[1] * 2 + a[2]
    """,
    "a list of None": """
        a = [None] * 2
        a[0] = x
        return a[0]
    """,
    "an item beside a pop": """
        a = [1, 2]
        a[0] += a.pop()
        return a[0] + x
    """,
    "in place": """
        a = [1]
        b = a
        a += [x]
        a += (3,)
        return sum(b)
    """,
    "read by a lambda": """
        a = [x]
        f = lambda: a[0]
        a[0] = 7
        return f() + x
    """,
    "items change places in a while": """
        s = [0, 1]
        n = x
        while n > 0:
            s[0], s[1] = s[1], s[0] + s[1]
            n -= 1
        return s[0]
    """,
    "sorting": """
        a = [5, x, 2, x * 3 % 7]
        for i in range(4):
            for j in range(3):
                if a[j] > a[j + 1]:
                    a[j], a[j + 1] = a[j + 1], a[j]
        return a[0] * 1000 + a[1] * 100 + a[2] * 10 + a[3]
    """,
    "a break": """
        a = [0] * 3
        for i in range(30):
            a[i % 3] = i
            if i * i > x: break
        return a[0] + 10 * a[1] + 100 * a[2]
    """,
}
LEFT = {
    "a length that depends on the element": """
        a = [1, 2]
        if x > 3:
            a.append(1)
        return len(a)
    """,
    "one of two lists is changed": """
        b = [1]
        c = [2]
        a = b if x % 2 else c
        a[0] = 9
        return b[0]
    """,
    "changed while it is gone through": """
        a = [1, 2, 3]
        s = 0
        for v in a:
            a[2] = 10
            s += v
        return s + x
    """,
    "grown while it is gone through": """
        a = [1, 2]
        s = 0
        for v in a:
            if len(a) < 5: a.append(v + x)
            s += v
        return s
    """,
    "a length that hangs on a condition": """
        a = [1]
        if (b := a.append(x)) is None and x > 2 and a.pop() > 3: a.append(4)
        else: a = a + [6]
        return a[-1]
    """,
    "a pop behind an and": """
        a = [1, x, 5]
        r = x > 3 and a.pop(0)
        return len(a)
    """,
}
ON_OPENCL = ("filled by turns", "counts", "a list of lists", "sorting")
FLOATS = [0.0, -0.0, 1.5, -2.5, 5e-324, 1e308, -math.inf, math.inf, math.nan, 3.0]
EDGES = [0, 1, -1, 7, 2**31, -(2**31), 2**53 + 1, 2**62, -(2**62)]


def cell(body, source="xs"):
    return f"def f(x):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n{source} |> map(f) |> to_list\n"


@pytest.mark.parametrize(
    ("name", "on"), [*((name, "parallel") for name in BODIES), *((name, "opencl") for name in ON_OPENCL)]
)
def test_as_python_has_it(name, on):
    ran = assert_like_python(cell(BODIES[name]), {"xs": list(range(20))}, on=on)
    if ran.error is None:
        assert [each["barriers"] for each in ran.report["pipelines"]] == [[]]
        assert_interpreted(ran)


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_to_python_is_right_too(name):
    ran = assert_like_python(
        cell(LEFT[name].replace("a.append(v + x)", "a.append(3)")), {"xs": list(range(20))}
    )
    assert [each["barriers"] for each in ran.report["pipelines"]] != [[]]


@pytest.mark.parametrize("on", ["parallel", "opencl"])
@pytest.mark.parametrize("first", ["(1, 2, 3)[x % 2]", "{0: 1, 1: 2}[x % 2]"])
def test_a_loop_that_no_element_makes(first, on):
    body = f"""
        if {first} < 5:
            return 1
        for i in range(x):
            for j in (1, 2, x):
                x = j if 10 > i else x + 1
        return x
    """
    assert_like_python(cell(body), {"xs": list(range(40))}, on=on, quiet=True)


HARD = """
    a = [x, 0, x * 0.5]
    b = a
    for i in range(3):
        b[i] = -a[i - 1]
    a += [x + v for v in (1, 0.25)]
    first, *rest = a
    return (first, rest[0], rest[-1], max(rest), sum(a), x in a, a[1] if x else 7)
"""


@pytest.mark.parametrize("values", [FLOATS, EDGES, [True, False]], ids=["floats", "ints", "bools"])
def test_hard_values(values):
    assert_like_python(cell(HARD), {"xs": values}, quiet=True)
