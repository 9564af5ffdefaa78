"""Links from the cell's text to the lines of every listing, and back."""

from __future__ import annotations

import json
import re

import battery
import grammar
import numpy as np
import pytest
from hypothesis import given

from hastega_magic.compiler import loops
from hastega_magic.compiler.reporting import links
from hastega_magic.report.listing import hot_loop

CELL = """\
p, mu = 6_700_417, 22
ys = (range(1, 0x20001)
      |> map(lambda x: mu * x * (x + 1) % p)
      |> map(lambda x: mu * x * (x + 1) % p))
total = ys |> filter(lambda y: y % 2 == 0) |> sum
"""
LISTINGS = ("fused", "llvm", "asm", "opencl")
CONTROL = re.compile(r"%[it]\.(next|more) = | = phi |^  br ")
# Loop control and addresses, and registers that go to the stack and back.
PLUMBING = re.compile(r"\s+((add|inc|cmp|sub)[lq]\b|j\w+\b|.*\(%rsp\)$|v?k?mov\w+\s+-?\d*\(%rsp\), )")


STAGE = re.compile(r"(map|filter)\(")


def cut(text, span):
    line, col, end_line, end_col = span
    lines = text.split("\n")
    if line == end_line:
        return lines[line - 1][col:end_col]
    return "\n".join([lines[line - 1][col:], *lines[line : end_line - 1], lines[end_line - 1][:end_col]])


def check(report):
    """Every link is well-formed; returns the first pipeline."""
    text = report["cell"]["source"].replace("\r\n", "\n")
    for pipeline in report["pipelines"]:
        spans = [tuple(link["span"]) for link in pipeline["links"]]
        assert spans == sorted(set(spans))
        for link in pipeline["links"]:
            assert set(link) == {"span", "text", *LISTINGS}
            assert link["text"] == cut(text, link["span"])
            assert link["text"].strip()
            assert any(link[name] for name in LISTINGS)
            for name in LISTINGS:
                count = len(pipeline["code"][name].splitlines())
                assert link[name] == sorted(set(link[name]))
                assert all(type(line) is int and 1 <= line <= count for line in link[name])
        json.dumps(pipeline["links"])
    return report["pipelines"][0]


def by_line(pipeline, listing):
    """Line number to the texts that are linked with it."""
    found = {}
    for link in pipeline["links"]:
        for line in link[listing]:
            found.setdefault(line, []).append(link)
    return found


def texts(pipeline, listing, line):
    """What a line comes from, the stages around it left out: they have the lines of all that stands in them."""
    found = {link["text"] for link in by_line(pipeline, listing).get(line, [])}
    return {text for text in found if not STAGE.match(text)} or found


def loop_lines(pipeline, listing):
    """Numbers and texts of the instructions of the hot loop."""
    text = pipeline["code"][listing]
    start, end = hot_loop(text)
    lines = list(enumerate(text.splitlines(), 1))[start:end]
    return [(number, line) for number, line in lines if re.match(r"\s+[%a-z]", line)]


@pytest.mark.parametrize("target", battery.FEATURE_SETS)
def test_every_line_of_the_fused_form_has_a_link(target):
    with battery.on_target(target):
        pipeline = check(battery.run(CELL).report)
    found = by_line(pipeline, "fused")
    lines = pipeline["code"]["fused"].splitlines()
    assert [number for number, line in enumerate(lines, 1) if line and number not in found] == []
    line = 1 + next(number for number, line in enumerate(lines) if "= mod" in line)
    assert texts(pipeline, "fused", line) == {"mu * x * (x + 1) % p"}
    assert {link["span"][0] for link in found[line]} == {3}
    assert texts(pipeline, "fused", 1 + next(n for n, line in enumerate(lines) if "= sum" in line)) == {"sum"}
    assert texts(pipeline, "fused", 3) == {"range(1, 0x20001)"}


@pytest.mark.parametrize("target", battery.FEATURE_SETS)
def test_instructions_of_the_hot_loop_lead_to_their_own_stage(target):
    with battery.on_target(target):
        pipeline = check(battery.run(CELL).report)
    found = by_line(pipeline, "llvm")
    stages = []
    for number, line in loop_lines(pipeline, "llvm"):
        if CONTROL.search(line):
            assert number not in found, line
            continue
        innermost = min(found[number], key=lambda link: len(link["text"]))
        stages.append(innermost["span"][0] if "\n" not in innermost["text"] else 6)
        # What computes a function's value belongs to no other function.
        assert len({link["span"][0] for link in found[number]}) == 1, line
    # In the order of the text: the source, both maps, the filter and the sum (line 5), the stores of ys.
    assert stages == sorted(stages)
    assert set(stages) == {2, 3, 4, 5, 6}


@pytest.mark.parametrize("target", battery.FEATURE_SETS)
def test_instructions_with_a_stages_own_constants_lead_to_it(target):
    """Constants tell independently of any links which stage an instruction belongs to."""
    cell = "range(1, 100001) |> map(lambda x: 19 * x * x % 1009) |> map(lambda y: 23 * y * y % 2003) |> sum"
    with battery.on_target(target):
        pipeline = check(battery.run(cell).report)
    constants = {"x": [], "y": []}
    for name, factor, modulus in (("x", 19, 1009), ("y", 23, 2003)):
        for value in (factor, modulus, -modulus, 2**52 - modulus, (factor << 52) // modulus):
            constants[name].append(f"(i64 {value})")
        for value in (float(factor), float(modulus), -float(modulus), factor / modulus, 1 / modulus):
            bits = np.float64(value).view(np.uint64)
            constants[name].append(f"(double 0x{int(bits):016X})")
    seen = dict.fromkeys(constants, 0)
    for number, line in enumerate(pipeline["code"]["llvm"].splitlines(), 1):
        for name, values in constants.items():
            if any(value in line for value in values):
                linked = texts(pipeline, "llvm", number)
                assert linked, line
                assert all(re.search(rf"\b{name}\b", text) for text in linked), (line, linked)
                seen[name] += 1
    assert min(seen.values()) >= 9


@pytest.mark.parametrize("target", battery.FEATURE_SETS)
def test_assembly_leads_back_to_the_stages(target):
    with battery.on_target(target):
        pipeline = check(battery.run(CELL).report)
    found = by_line(pipeline, "asm")
    working = [(number, line) for number, line in loop_lines(pipeline, "asm") if not PLUMBING.match(line)]
    unlinked = [line for number, line in working if number not in found]
    astray = [
        line
        for number, line in working
        if number in found and len({link["span"][0] for link in found[number]}) > 1
    ]
    assert len(working) > 60
    assert len(unlinked) + len(astray) <= len(working) // 50, (unlinked, astray)
    if target == "host" and battery.target("host").has("avx512ifma"):
        assert unlinked == astray == []
        squares = [number for number, line in working if re.search(r"vpmadd52luq\s+(%zmm\d+), \1, \1", line)]
        assert [found[number][0]["span"][0] for number in squares] == [3] * 8 + [4] * 8
    # What the loop itself needs belongs to nothing.
    code = pipeline["code"]["asm"].splitlines()
    _, end = hot_loop(pipeline["code"]["asm"])
    assert end not in found
    assert re.match(r"\s+j", code[end - 1])
    first = next(n for n, line in enumerate(code, 1) if line.startswith("hastega:"))
    assert not any(number in found for number in range(1, first + 3))


def test_a_smallest_stretch_around_every_operator_leads_to_lines():
    pipeline = check(battery.run(CELL).report)
    by_text = {(link["span"][0], link["text"]): link for link in pipeline["links"]}
    for line in (3, 4):
        for text in ("mu * x", "x + 1", "mu * x * (x + 1)", "mu * x * (x + 1) % p"):
            link = by_text[line, text]
            assert all(link[name] for name in ("fused", "llvm", "asm"))
    assert by_text[5, "y % 2"]["llvm"]
    assert by_text[5, "y % 2 == 0"]["asm"]


def test_identical_functions_are_told_apart():
    pipeline = check(battery.run(CELL).report)
    first, second = (
        {n for link in pipeline["links"] if link["span"][0] == line == link["span"][2] for n in link["llvm"]}
        for line in (3, 4)
    )
    assert first
    assert second
    assert not first & second


OTHER = list(range(100, 130))
NAMES = {"table": [3, -1, 4, 1, -5, 9, 2, 6], "other": OTHER}
SINKS = ("sum", "prod", "min", "max", "count", "any", "all", "mean", "to_list", "reduce(max)")


def well_formed(text, source, **options):
    ran = battery.run(text, {"source": source, **NAMES}, **options)
    if ran.error is not None or not ran.report["pipelines"]:
        return
    pipeline = check(ran.report)
    if not pipeline["loops"] or pipeline["backend"] == "python":
        assert pipeline["links"] == []
        return
    code = pipeline["code"]
    found = by_line(pipeline, "fused")
    lines = [
        (n, line) for n, line in enumerate(code["fused"].splitlines(), 1) if line and "── loop" not in line
    ]
    unlinked = [line for n, line in lines if n not in found]
    assert unlinked == [], code["fused"]
    linked = by_line(pipeline, "llvm")
    for number, line in loop_lines(pipeline, "llvm") if code["llvm"] and hot_loop(code["llvm"]) else ():
        assert number in linked or CONTROL.search(line), line


@battery.examples(60)
@given(grammar.pipelines(grammar.int_expressions(), SINKS), battery.int_sources)
def test_links_of_any_pipeline_over_ints(text, source):
    well_formed(text, source)


@battery.examples(40)
@given(grammar.pipelines(grammar.float_expressions(), ("min", "sum", "to_list")), battery.float_sources)
def test_links_of_any_pipeline_over_floats(text, source):
    well_formed(text, source)


@pytest.mark.parametrize("name", battery.FEATURE_SETS[1:])
def test_links_on_every_target(name):
    @battery.examples(12)
    @given(grammar.pipelines(grammar.int_expressions(), SINKS), battery.int_sources)
    def ints(text, source):
        well_formed(text, source)

    with battery.on_target(name):
        ints()


VALUES = {"narrow": [5, 10**6], "safe": [5, 10**17], "checked": [5, 2**62]}


@pytest.mark.parametrize("kind", VALUES)
def test_the_variant_that_is_shown_is_the_one_that_is_linked(kind):
    loops.clear_cache()
    xs = np.array(VALUES[kind] * 5000)
    cell = "xs |> map(lambda x: (7 * x + 1) // (x + 3))"
    for _ in range(3):  # a later run begins with the variant that fitted
        ran = battery.run(cell, {"xs": xs})
    pipeline = check(ran.report)
    compiled = ran.executions[-1].compiled
    assert compiled.first == list(VALUES).index(kind)
    assert pipeline["code"]["llvm"] == compiled.bodies[compiled.first].program.text
    linked = by_line(pipeline, "llvm")
    for number, line in loop_lines(pipeline, "llvm"):
        assert number in linked or CONTROL.search(line), line
    assert {"7 * x", "7 * x + 1", "x + 3", "(7 * x + 1) // (x + 3)", "xs"} <= {
        link["text"] for link in pipeline["links"] if link["llvm"]
    }
    guards = [n for n, line in enumerate(pipeline["code"]["fused"].splitlines(), 1) if "beyond 64" in line]
    assert len(guards) == 3
    assert {"7 * x"} in [texts(pipeline, "fused", number) for number in guards]
    assert pipeline["code"]["passes"][-1]["name"] == "schedule"
    assert ("assume" in pipeline["code"]["passes"][-1]["text"]) == (kind != "checked")


def test_a_cached_loop_is_linked_to_where_it_stands_now():
    loops.clear_cache()
    first = battery.run("range(1000) |> map(lambda x: x * 3 + 1) |> sum")
    second = battery.run("a = 1\n\n(range(2, 900)\n  |> map(lambda value: value * 3 + 1)\n  |> sum)")
    before, after = check(first.report), check(second.report)
    assert after["cached"]
    assert {link["text"] for link in before["links"]} >= {"range(1000)", "x * 3", "x * 3 + 1", "sum"}
    assert {link["text"] for link in after["links"]} >= {"range(2, 900)", "value * 3", "value * 3 + 1", "sum"}
    assert re.search(r"mul .*; line 4", after["code"]["fused"])
    assert "load range(2, 900)" in after["code"]["fused"]
    assert before["code"]["llvm"] == after["code"]["llvm"]


def test_links_are_made_once(monkeypatch):
    loops.clear_cache()
    made = []
    for name in ("_lines", "_links"):
        original = getattr(links, name)
        monkeypatch.setattr(
            links, name, lambda *args, name=name, original=original: (made.append(name), original(*args))[1]
        )
    names = {"n": 10}
    text = "range(n) |> map(lambda x: x * 3 + 1) |> sum"
    found = [battery.run(text, names).report["pipelines"][0]["links"] for _ in range(3)]
    assert sorted(made) == ["_lines", "_links"]
    assert found[0] == found[1] == found[2]
    battery.run(text + "  # and a remark", names)
    assert sorted(made) == ["_lines", "_links"]
    check(battery.run(text.replace("x", "y"), names).report)  # another text at the same places
    assert sorted(made) == ["_lines", "_links", "_links"]


def test_a_loop_that_was_compiled_quietly_is_linked_too():
    loops.clear_cache()
    quiet = battery.run(CELL, quiet=True)
    (body,) = quiet.executions[0].compiled.bodies.values()
    assert "!dbg" not in body.program.text
    shown = check(battery.run(CELL).report)
    assert shown["cached"]
    assert shown["code"]["llvm"] == body.program.text
    loops.clear_cache()
    other = check(battery.run(CELL).report)
    assert "!dbg" in other["code"]["llvm"]
    assert other["links"] == shown["links"]
    assert other["code"]["asm"] == shown["code"]["asm"]


def test_functions_of_other_texts_are_where_they_are_called():
    session = battery.run("def f(x):\n    y = x * 5\n    return y + 2\n").session
    text = "range(100) |> map(lambda v: f(v) * 3) |> map(f) |> sum"
    pipeline = check(session.run_cell(text).report.to_dict())
    fused = pipeline["code"]["fused"].splitlines()
    kinds = [re.search(r"= (\w+)", line)[1] for line in fused if line.startswith("  %")]
    assert kinds == ["load", "mul", "add", "mul", "mul", "add"]
    start = 3
    assert [texts(pipeline, "fused", start + k) for k in range(6)] == [
        {"range(100)"}, {"f(v)"}, {"f(v)"}, {"f(v) * 3"}, {"map(f)"}, {"map(f)"},
    ]  # fmt: skip


def test_functions_of_the_cell_are_where_they_are_written():
    text = "def f(x):\n    y = x * 5\n    y += 2\n    return y if y > 3 else -y\nrange(100) |> map(f) |> map(abs)"
    pipeline = check(battery.run(text).report)
    found = {link["text"] for link in pipeline["links"]}
    assert {"x * 5", "y += 2", "y > 3", "y if y > 3 else -y", "-y", "map(abs)"} <= found


def test_stages_without_functions():
    names = {"xs": np.arange(5000), "zs": np.arange(6000.0)}
    pipeline = check(
        battery.run("xs |> zip(zs) |> enumerate(3) |> map(lambda i, v: v[0] + v[1] * i)", names).report
    )
    linked = {link["text"]: link for link in pipeline["links"]}
    assert {"xs", "zip(zs)", "enumerate(3)", "v[1] * i", "v[0] + v[1] * i"} <= set(linked)
    assert all(linked[text]["llvm"] and linked[text]["asm"] for text in ("xs", "zip(zs)", "enumerate(3)"))


def test_spans_count_in_characters():
    text = "# π 🙂\r\nxs |> map(lambda ü: ü * 2 + len('é🙂')) if False else 0\r\n(xs |> map(lambda ü: (ü * 3) - 1))"
    pipeline = check(battery.run("xs = range(50)\r\n" + text).report)
    assert {"ü * 3", "(ü * 3) - 1"} <= {link["text"] for link in pipeline["links"]}


def test_a_cell_without_a_loop_has_no_links():
    ran = battery.run("range(3) |> map(lambda x: str(x))")
    assert check(ran.report)["links"] == []
    assert battery.run("range(9) |> map(lambda x: x + 1)", quiet=True).report["pipelines"][0]["links"] == []


def test_the_loop_behind_a_barrier():
    text = "range(9) |> map(lambda x: str(x)) |> map(lambda s: int(s)) |> map(lambda x: x * 2)"
    pipeline = check(battery.run(text).report)
    linked = {link["text"] for link in pipeline["links"]}
    assert "x * 2" in linked
    assert "range(9)" not in linked


def test_the_report_of_the_designs_cell_is_small():
    report = battery.run(CELL, baseline=True).session.last_report
    assert len(json.dumps(report.to_dict())) < 150_000
    assert len(report.to_html()) < 100_000


@pytest.mark.parametrize(
    "cell", [CELL, "xs = range(9000)\nxs |> filter(lambda x: x % 3 == 0) |> map(lambda x: x * 7)"]
)
def test_opencl_lines_lead_to_their_own_stage(cell):
    pytest.importorskip("pyopencl")
    pipeline = check(battery.run(cell, on="opencl").report)
    code = pipeline["code"]["opencl"].splitlines()
    found = by_line(pipeline, "opencl")
    computed = [number for number, line in enumerate(code, 1) if re.search(r"const \w+ v\d+ = ", line)]
    assert len(computed) > 10
    assert [code[number - 1] for number in computed if number not in found] == []
    assert all(len({link["span"][0] for link in found[number]}) == 1 for number in computed)
    stores = [
        number for number, line in enumerate(code, 1) if re.search(r"vstore\w+\(.* r0 \+ |^ *r0\[", line)
    ]
    whole = min(
        (link["span"] for link in pipeline["links"]), key=lambda span: (span[0], span[1], -span[2], -span[3])
    )
    assert stores
    assert all(link["span"] == whole for number in stores for link in found[number])


def test_the_name_of_a_stage_leads_to_all_of_its_code():
    ran = battery.run("(range(100_000) |> map(lambda x: x * 3 + 1) |> filter(lambda x: x % 7 == 0) |> sum)")
    links = {link["text"]: link for link in check(ran.report)["links"]}
    for stage, parts in {
        "map(lambda x: x * 3 + 1)": ("x * 3", "x * 3 + 1"),
        "filter(lambda x: x % 7 == 0)": ("x % 7", "x % 7 == 0"),
    }.items():
        for listing in ("fused", "llvm", "asm", "opencl"):
            inside = {line for part in parts for line in links[part][listing]}
            assert inside
            assert inside <= set(links[stage][listing])
