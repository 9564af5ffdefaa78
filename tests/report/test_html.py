from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from hastega_magic.report import Report, breakeven, charts, html, listing, listing_html
from hastega_magic.report.model import Code, Phase, PipelineReport

VOID = {"img", "br"}
TAGS = {
    "div", "span", "b", "code", "details", "summary", "pre", "table", "tr", "td", "th", "ul", "li", "img",
}  # fmt: skip
# What JupyterLab's sanitizer keeps in an untrusted notebook.
STYLES = {
    "background", "border", "border-left", "border-collapse", "color", "cursor", "font-size", "height",
    "font-family", "line-height", "margin", "margin-top", "max-height", "max-width", "opacity", "overflow", "padding",
    "text-align", "vertical-align", "white-space",
}  # fmt: skip


class Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.images: list[tuple[str, str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in {"style", "dir", "alt", "src"}, name
            if name == "style":
                assert {part.split(":")[0] for part in value.split(";") if part} <= STYLES, value
        if tag == "img":
            self.images.append((dict(attrs)["alt"], dict(attrs)["src"]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def check(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert not checker.open
    for alt, src in checker.images:
        assert alt.strip()
        head, _, data = src.partition(",")
        assert head == "data:image/svg+xml;base64"
        root = ET.fromstring(base64.b64decode(data).decode("utf-8"))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert b"currentColor" not in base64.b64decode(data)
    return checker


def svgs(html: str) -> list[str]:
    return [base64.b64decode(src.partition(",")[2]).decode() for _, src in check(html).images]


def test_only_tags_and_styles_that_survive_an_untrusted_notebook(sample):
    for report in (sample.logistic(), sample.troubled(), Report()):
        check(report.to_html())
        check(report.to_html(full=True))


def test_sections_stand_in_order(sample):
    html = sample.logistic().to_html()
    names = [
        "Pipeline",
        "Baselines",
        "Break-even",
        "Times and transfers",
        "Fused IR",
        "Passes",
        "LLVM IR",
        "Assembly",
        "Lanes",
        "Why",
    ]
    found = [html.index(f'<summary style="cursor:pointer"><b>{name}</b>') for name in names]
    assert found == sorted(found)
    assert html.index("1 fused loop") < html.index("<img") < found[0]
    assert "OpenCL" not in html
    assert "4 stages, before and after fusion" in html
    (pipeline,) = sample.logistic().pipelines
    other = replace(pipeline, code=replace(pipeline.code, opencl="kernel void f() {}"))
    assert "<b>OpenCL C</b>" in Report(pipelines=(other,)).to_html()


def test_nothing_in_user_text_becomes_markup(sample):
    evil = "</pre></details><script>alert('x')</script><img src=x onerror=\"y\">&amp;\u202e\x00\ud800 ☃ 🚀"
    data = sample.logistic().to_dict()

    def poison(value: object) -> object:
        if isinstance(value, str):
            return value + evil
        if isinstance(value, list):
            return [poison(item) for item in value]
        if isinstance(value, dict):
            return {key: poison(item) for key, item in value.items()}
        return value

    report = Report.from_dict(poison(data))  # type: ignore[arg-type]
    for page in (report.to_html(), report.to_html(full=True)):
        checker = check(page)
        assert "<script" not in page
        assert "\u202e" not in page
        assert "\x00" not in page
        page.encode("utf-8")
        assert any("<script>alert('x')</script>" in text for text in checker.text)
        assert any("⟨U+202E⟩" in text for text in checker.text)
    report.to_page().encode("utf-8")
    assert "<script" not in report.to_page()
    report.to_text().encode("utf-8")
    assert "\u202e" not in report.to_text()


def test_lines_of_sentences_do_not_end_between_a_number_and_its_unit(sample):
    report = sample.logistic()
    pipeline = replace(
        report.pipelines[0], warnings=("from ≈ 46\u202f000 on 2.26 ms, 40.6 GB/s, 5 % of 3 stages",)
    )
    text = html.render_html(replace(report, pipelines=(pipeline,)))
    assert "from ≈\u00a046\u202f000 on 2.26\u00a0ms, 40.6\u00a0GB/s, 5\u00a0% of 3 stages" in text
    head = text.partition("</div>")[0]
    assert "14.8\u00a0ms" in head
    assert not re.search(r" ·|\d (ms|×)", head)


def test_sizes(sample):
    assert len(sample.logistic().to_html()) < 80_000
    (pipeline,) = sample.logistic().pipelines
    code = pipeline.code
    long = replace(code, llvm=code.llvm * 20, asm=code.asm * 20, fused=code.fused * 200)
    wide = replace(long, llvm="@t = constant [" + "i64 1, " * 100_000 + "]\n" + long.llvm)
    cut = Report(pipelines=(replace(pipeline, code=wide),))
    assert len(cut.to_html()) < 100_000
    assert "more characters" in cut.to_html()
    assert "%hastega report --save" in cut.to_html()
    whole = cut.to_html(full=True)
    assert "%hastega report --save" not in whole
    assert len(whole) > len(wide.llvm)


def test_many_groups_share_the_room(sample):
    (pipeline,) = sample.logistic().pipelines
    report = Report(pipelines=tuple(replace(pipeline, name=f"p{i}") for i in range(4)))
    assert len(report.to_html()) < 4 * 52_000


def test_rendering_again_draws_nothing_anew(sample):
    report = sample.logistic()
    page = report.to_html()
    drawn = [
        each
        for module in (breakeven, charts, listing_html, html, listing)
        for each in vars(module).values()
        if hasattr(each, "cache_info") and each.__module__ == module.__name__
    ]
    before = [each.cache_info() for each in drawn]
    assert report.to_html() == page
    after = [each.cache_info() for each in drawn]
    assert [each.misses for each in after] == [each.misses for each in before]
    assert sum(each.hits for each in after) > sum(each.hits for each in before) + 5


def test_the_hot_loop_comes_first(sample):
    html = sample.logistic().to_html()
    assembly = html[html.index("<b>Assembly</b>") :]
    assert "The hot loop, lines 69 to 149 of 166, of which the first 80 are shown:" in assembly
    assert assembly.index("vpmadd52luq") < assembly.index(".rodata")


def test_a_pass_shows_what_it_changed(sample):
    html = sample.logistic().to_html()
    assert "1. infer  no change" in html
    assert "2. simplify  +3 −3 lines" in html
    assert "- %3: int [0, 6700416] = filter %2: x % 2 == 0</span>" in html
    assert "+ %3: int [0, 6700416] = filter %2: x &amp; 1 == 0</span>" in html


def test_alt_texts_hold_the_figures(sample):
    alts = [alt for alt, _ in check(sample.logistic().to_html()).images]
    assert any("kernel 14.8 ms, 268 MB, 18.1 GB/s" in alt for alt in alts)
    assert any("pure Python 24.1 s ≈" in alt for alt in alts)
    assert any("range(1, 33554433) → map(" in alt for alt in alts)


def test_the_time_bar_is_to_scale(sample):
    bar = svgs(sample.logistic().to_html())[0]
    widths = [float(w) for w in re.findall(r"width='([\d.]+)' height='22'", bar)]
    assert len(widths) == 3
    assert widths[1] / widths[0] == pytest.approx(14.8 / 19.7, rel=0.01)


def test_phases_that_ran_at_once_are_not_summed_up_to_the_runs_time(sample):
    (pipeline,) = sample.logistic().pipelines
    phases = (Phase("to_device", 0.04, 10**8), Phase("kernel", 0.03, 0), Phase("from_device", 0.03, 10**8))
    ours = replace(pipeline, backend="opencl", phases=phases, overlapped=0.055)
    other = replace(pipeline.baselines[1], backend="opencl:1", seconds=0.05, phases=phases)
    page = Report(pipelines=(replace(ours, baselines=(other,)),)).to_html()
    bar = svgs(page)[0]
    assert "this run (OpenCL): 45.0 ms; phases to scale, 100 ms had they not run at once" in bar
    assert "opencl:1: 50.0 ms; phases to scale, 100 ms had they not run at once" in bar
    assert "in all" not in bar
    assert "40.0 ms, 89 %" in bar, "parts of the run"
    assert "45.0 ms; phases to scale, 100 ms had they not run at once: to device 40.0 ms" in page


def test_back_ends_compared_get_a_row_to_the_same_scale(sample):
    (pipeline,) = sample.logistic().pipelines
    phases = (Phase("to_device", 0.02, 10**8), Phase("kernel", 0.03, 0), Phase("from_device", 0.0462, 10**8))
    other = replace(pipeline.baselines[1], backend="opencl", seconds=0.0962, phases=phases)
    report = Report(pipelines=(replace(pipeline, baselines=(other,)),))
    bar = svgs(report.to_html())[0]
    assert "OpenCL: 96.2 ms in all" in bar
    widths = [float(w) for w in re.findall(r"width='([\d.]+)' height='22'", bar)]
    assert widths[4] / widths[1] == pytest.approx(0.03 / 0.0148, rel=0.02)
    assert "5.00 GB/s" in bar


def luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_ink_is_readable_wherever_a_colour_is_set(sample):
    seen = 0
    for report in (sample.logistic(), sample.troubled()):
        html = report.to_html()
        for style in set(re.findall(r'style="([^"]*)"', html)):
            ink, ground = (re.search(rf"(?:^|;){p}:(#\w{{6}})", style) for p in ("color", "background"))
            assert bool(ink) == bool(ground), style  # one alone would depend on the page's theme
            if ink and ground:
                seen += 1
                assert contrast(ink[1], ground[1]) >= 4.5, style
        for svg in svgs(html):
            card = re.search(r"rx='6' fill='(#\w{6})'", svg)
            assert card
            for ink in set(re.findall(r"<text [^>]*fill='(#\w{6})'", svg)):
                assert contrast(ink, card[1]) >= 4.5
    assert seen >= 4


def test_a_page_is_a_whole_document(sample):
    page = sample.logistic().to_page()
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>Hastega: ys, total</title>" in page
    assert "lambda y: y % 2 == 0" in page
    assert "http" not in re.sub(r"base64,[^\"]*", "", page)
    assert page.rstrip().endswith("</html>")


def test_a_cell_without_pipelines():
    assert "no pipeline" in Report().to_html()
    assert "no pipeline" in Report().to_text()
    assert "did not run" in Report(pipelines=(PipelineReport(name="x", code=Code(llvm="; x")),)).to_html()


@pytest.mark.parametrize(
    ("loops", "said"), [(1, "the loop that all stages became"), (3, "3 loops, one after the other")]
)
def test_the_heading_of_the_ir_counts_the_loops(loops, said):
    pipeline = PipelineReport(name="s", loops=loops, code=Code(fused="s = sum %0"))
    html = Report(pipelines=(pipeline,)).to_html()
    assert f'<b>Fused IR</b> <span style="opacity:0.8;font-size:12px">{said}</span>' in html


def test_what_has_no_loop_is_read_and_not_compiled(sample):
    (pipeline,) = sample.logistic().pipelines
    phases = Phase("parse", 0.148), Phase("kernel", 0.02)
    for loops, there, missing in ((0, "reading", "compile"), (1, "compile", "reading")):
        read = replace(pipeline, loops=loops, backend="python", phases=phases, baselines=())
        page = Report(pipelines=(read,)).to_html()
        assert f"Time, to scale. this run (pure Python): {there} 148 ms" in page
        assert f"{missing} 148 ms" not in page + Report(pipelines=(read,)).to_text()
        assert there in svgs(page)[0]


def test_what_python_takes_for_its_stages_is_no_kernel(sample):
    (pipeline,) = sample.logistic().pipelines
    phases = Phase("compile", 0.1), Phase("kernel", 7.001, 8 * 10**5, 7.0), Phase("convert_out", 0.001)
    report = Report(pipelines=(replace(pipeline, phases=phases, baselines=()),))
    text, page = report.to_text(), report.to_html()
    assert re.search(r"kernel +1.00 ms +800 kB +800 MB/s\n +Python +7.00 s\n +convert out", text)
    bar = svgs(page)[0]
    assert "kernel" in bar
    assert "7.00 s, 99 %" in bar
    assert "Python" in bar
    alone = Report(pipelines=(replace(pipeline, phases=(Phase("kernel", 7.0, 0, 7.0),), baselines=()),))
    assert "kernel " not in alone.to_text().split("phase ")[1].split("\n\n")[0]
    assert Report.from_dict(report.to_dict()) == report
    assert report.to_dict()["pipelines"][0]["phases"][1] == {
        "name": "kernel", "seconds": 7.001, "bytes": 8 * 10**5, "python": 7.0,
    }  # fmt: skip
    assert "python" not in report.to_dict()["pipelines"][0]["phases"][2]
