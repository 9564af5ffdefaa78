"""Beside the text that ran, the report has the loop's text for the other back ends, with links of its own."""

import re

import pytest

from hastega_magic.compiler.reporting import links
from hastega_magic.session import Options, Session

CELL = """\
ys = (range(50_000)
      |> map(lambda x: x * 3 % 1009)
      |> map(lambda x: x + 2 ** 20)
      |> filter(lambda x: x % 5 > 1))
"""


def pipeline_of(**options):
    session = Session({})
    report = session.run_cell(CELL, options=Options(baseline=False, **options)).report
    expected = [x for x in ((x * 3 % 1009) + 2**20 for x in range(50_000)) if x % 5 > 1]
    assert session.namespace["ys"].tolist() == expected
    return report.to_dict()["pipelines"][0]


def lines_of(pipeline, line):
    """By listing, the lines of code that come from a line of the cell."""
    found = {}
    for name in ("fused", "llvm", "asm", "opencl"):
        code = pipeline["code"][name].splitlines()
        numbers = {
            number
            for link in pipeline["links"]
            if link["span"][0] == link["span"][2] == line
            for number in link[name]
        }
        found[name] = [code[number - 1] for number in sorted(numbers)]
    return found


def check_texts(pipeline):
    code = pipeline["code"]
    assert "define" in code["llvm"]
    assert re.search(r"\bret\w*\b", code["asm"])
    assert "__kernel" in code["opencl"]
    for line in (2, 3, 4):
        assert all(lines_of(pipeline, line).values()), f"line {line} is linked in every listing"
    # The constant of the third line alone stands in the lines that are said to come from it.
    assert any("1048576" in text for text in lines_of(pipeline, 3)["opencl"])
    assert not any("1048576" in text for text in lines_of(pipeline, 2)["opencl"])
    assert any("1048576" in text for text in lines_of(pipeline, 3)["llvm"])
    assert not any("1048576" in text for text in lines_of(pipeline, 2)["llvm"])


def test_without_being_asked_the_kernel_of_a_gpu_is_shown_as_not_run():
    pipeline = pipeline_of()
    check_texts(pipeline)
    code = pipeline["code"]
    assert code["not_run"] == ["opencl"]
    assert code["opencl"].startswith("// for any GPU; not run in this cell")
    assert "get_local_id" in code["opencl"]


def test_compared_with_opencl_the_kernel_is_that_of_the_device():
    pytest.importorskip("pyopencl")
    compared, ran = pipeline_of(compare=("opencl",)), pipeline_of(on="opencl")
    check_texts(compared)
    assert "not_run" not in compared["code"]
    assert compared["code"]["opencl"] == ran["code"]["opencl"]


def test_on_opencl_the_cpu_code_is_shown_as_not_run():
    pytest.importorskip("pyopencl")
    pipeline = pipeline_of(on="opencl")
    check_texts(pipeline)
    assert pipeline["code"]["not_run"] == ["llvm", "asm"]
    assert pipeline["code"]["asm"].startswith("# for this CPU (")
    both = pipeline_of(on="opencl", compare=("parallel",))
    assert "not_run" not in both["code"]
    assert both["code"]["llvm"] == pipeline_of()["code"]["llvm"]


def test_what_is_shown_of_a_known_loop_follows_what_this_cell_asks_for():
    pytest.importorskip("pyopencl")
    session = Session({})
    shown = [
        session.run_cell(CELL, options=Options(baseline=False, compare=compare)).report.to_dict()[
            "pipelines"
        ][0]["code"]
        for compare in ((), ("opencl",), ())
    ]
    assert [code.get("not_run") for code in shown] == [["opencl"], None, ["opencl"]]
    assert shown[0] == shown[2]


def test_quiet_cells_have_nothing_made(monkeypatch):
    def fail(*_):
        raise AssertionError("nobody looks")

    monkeypatch.setattr(links, "others", fail)
    Session({}).run_cell(CELL.replace("1009", "1013"), options=Options(quiet=True))


def test_the_html_says_what_did_not_run():
    session = Session({})
    html = session.run_cell(CELL, options=Options(baseline=False)).report.to_html()
    assert re.search(r"<b>OpenCL C</b> <span[^>]*>\d+ lines, not run in this cell</span>", html)
    assert "lines, as run" in html
