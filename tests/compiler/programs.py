"""Bodies of functions from a grammar: assignments, branches, loops, `match`, generators; `v` is the element."""

from hypothesis import strategies as st

NAMES = ("a", "b", "c")


@st.composite
def expressions(draw, kind, depth=2):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        if draw(st.booleans()):
            return draw(st.sampled_from((*NAMES, "v")))
        return (
            str(draw(st.integers(-9, 9))) if kind == "int" else repr(draw(st.sampled_from((0.5, -1.25, 3.0))))
        )
    left, right = draw(expressions(kind, depth - 1)), draw(expressions(kind, depth - 1))
    choice = draw(st.integers(0, 6))
    if choice < 3:
        return f"({left} {draw(st.sampled_from('+-*'))} {right})"
    if choice == 3:
        return f"({left} if {draw(conditions(kind, depth - 1))} else {right})"
    if choice == 4:
        element = f"{draw(st.sampled_from(NAMES))} - i * {left}"
        call = draw(
            st.sampled_from(("sum({})", "max(({}), default=3)", "any({})", "all({})", "min(({}), default=c)"))
        )
        made = f"{element} for i in range({draw(st.sampled_from(('k', '11')))}) if i % 2 or {right} > i"
        decides = "any" in call or "all" in call
        return f"({left} if {call.format(made)} else a)" if decides else f"({call.format(made)})"
    if choice == 5:
        return draw(st.sampled_from(CALLS[kind])).format(left, right)
    if kind == "int":
        return f"({left} {draw(st.sampled_from(('//', '%', '&', '|')))} {draw(st.sampled_from(('7', '-3', 'b')))})"
    return f"abs({left})"


@st.composite
def conditions(draw, kind, depth=1):
    if depth > 0 and draw(st.integers(0, 2)) == 0:
        word = draw(st.sampled_from(("and", "or")))
        return f"({draw(conditions(kind, depth - 1))} {word} {draw(conditions(kind, depth - 1))})"
    left, right = draw(expressions(kind, 1)), draw(expressions(kind, 1))
    form = draw(st.sampled_from(("{0} < {1}", "{0} <= {1}", "{0} == {1}", "{0} != {1}", "{0} > {1}", *TESTS)))
    return form.format(left, right)


@st.composite
def blocks(draw, kind, depth, in_loop):
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        choice = draw(st.integers(0, 10))
        if choice < 3 or depth == 0:
            name, value = draw(st.sampled_from(NAMES)), draw(expressions(kind))
            if in_loop and kind == "int":  # else squares of squares take Python for ever
                lines.append(f"{name} = ({value}) % 65521 - 30000")
            else:
                lines.append(f"{name} {draw(st.sampled_from(('=', '+=', '-=')))} {value}")
        elif choice < 5:
            lines.append(f"if {draw(conditions(kind))}:")
            lines += indented(draw(blocks(kind, depth - 1, in_loop)))
            if draw(st.booleans()):
                lines += ["else:", *indented(draw(blocks(kind, depth - 1, in_loop)))]
        elif choice == 5:
            turns = draw(st.sampled_from(("3", "12", "k", "10, 0, -1")))
            lines.append(f"for i{depth} in range({turns}):")
            lines += indented(draw(blocks(kind, depth - 1, True)))
            lines += draw(otherwise(kind, depth))
        elif choice == 6:
            lines += [f"w{depth} = 0", f"while w{depth} < {draw(st.sampled_from(('4', '15', 'k')))}:"]
            lines += indented([f"w{depth} += 1", *draw(blocks(kind, depth - 1, True))])
            lines += draw(otherwise(kind, depth))
        elif choice == 7:
            lines.append(f"match {draw(st.sampled_from(('v', 'a', 'b % 3')))}:")
            for pattern in draw(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3)):
                lines.append(f"    case {pattern}:")
                lines += indented(indented(draw(blocks(kind, depth - 1, in_loop))))
            lines += ["    case _:", *indented(indented(draw(blocks(kind, depth - 1, in_loop))))]
        elif choice == 8:
            lines.append(f"for {draw(st.sampled_from(ITERABLES)).format(depth)}:")
            lines += indented(draw(blocks(kind, depth - 1, True)))
        elif choice == 9:
            lines += ["best = None", f"for i{depth} in range({draw(st.sampled_from(('k', '12')))}):"]
            value = draw(expressions(kind, 1))
            lines += [f"    d = ({value}) - i{depth}", "    if best is None or d < best:", "        best = d"]
            lines.append(
                f"{draw(st.sampled_from(NAMES))} = {draw(expressions(kind, 1))} if best is None else best"
            )
        else:
            word = draw(st.sampled_from(("break", "continue") if in_loop else ("return",)))
            lines.append(f"if {draw(conditions(kind))}:")
            lines += indented([word if word != "return" else f"return {draw(expressions(kind))}"])
    return lines


@st.composite
def otherwise(draw, kind, depth):
    """Sometimes a loop's `else`."""
    return ["else:", *indented(draw(blocks(kind, depth - 1, False)))] if draw(st.booleans()) else []


CALLS = {
    "int": (
        "math.gcd({0}, {1})", "math.isqrt(abs({0}))", "({0} % 50) ** (abs({1}) % 4)", "min({0}, {1}, 3)",
        "divmod({0}, 7)[0]", "({0}).bit_length()", "(a := {0} % 99)", "pow({0} % 40, 5, 31)",
        "(a, {0}, 4)[({1}) % 3]",
    ),
    "float": (
        "min({0}, {1}, 3.0)", "math.hypot({0}, {1})", "(a := {0} / 3.0)", "(a, {0}, 4.0)[k % 3]",
    ),
}  # fmt: skip
TESTS = (
    "a < {0} <= {1}", "{0} in (1, {1}, c)", "{0} not in (2, {1})", "{0} in range(-9, 20, 3)", "(a, {0}) < (b, {1})",
    "(b := {0}) != {1}", "b is not None",
)  # fmt: skip
PATTERNS = ("0", "1 | -2 | 0.5", "w if w > 2", "-1.5 | 3 as w", "w if w == a")
ITERABLES = (
    "i{0} in reversed(range(k))", "i{0}, j{0} in zip(range(k), range(30, 3, -4))", "i{0} in (4, v, -1)",
    "i{0}, j{0} in enumerate(range(2, k), 5)", "i{0} in reversed(range(-3, k, 2))",
)  # fmt: skip


def indented(lines):
    return ["    " + line for line in lines]


@st.composite
def programs(draw, kind):
    start = "0" if kind == "int" else "0.0"
    size = "k = abs(v) % 13" if kind == "int" else "k = 9"
    body = [f"a = v\nb = {start}\nc = v + v\n{size}", *draw(blocks(kind, 2, False))]
    return "\n".join([*body, f"return {draw(expressions(kind))}"])
