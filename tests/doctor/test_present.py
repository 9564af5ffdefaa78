"""How an examination looks: order, alignment, HTML that any front end takes, JSON."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from hastega_magic.doctor import judge, present
from hastega_magic.doctor.icd import IcdFile
from hastega_magic.doctor.model import Table
from hastega_magic.doctor.tables import html, lines


class Checked(HTMLParser):
    """Tags are balanced; their names and styles are collected."""

    def __init__(self, text):
        super().__init__()
        self.open, self.names, self.styles = [], set(), []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.names.add(tag)
        assert {name for name, _ in attrs} <= {"style", "dir", "scope"}
        self.styles += [value for name, value in attrs if name == "style"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def spoilt(machine):
    """One error, one warning, and names that would be markup."""
    name = "<script>alert(1)</script>\u202e"
    device = replace(machine.device, name=name, float64=False)
    failed = {"trial": {"backend": "opencl:0", "state": "fails", "text": name}}
    return judge(machine.but(opencl=machine.opencl_answer((device,), trials=[failed])))


def test_problems_come_first_then_what_works_then_facts(spoilt):
    text = present.to_text(spoilt)
    order = [
        text.index(part)
        for part in ("✗ error:", "! warning:", "Tried:", "✓ parallel", "Python\n", "OpenCL devices")
    ]
    assert order == sorted(order)
    assert text.startswith("hastega doctor: something that is needed does not work, 1 error, 1 warning\n")
    assert "\u202e" not in text


def test_a_machine_on_which_all_is_well_says_so(machine):
    text = present.to_text(judge(machine.healthy))
    assert text.startswith("hastega doctor: everything that is needed works\n\nTried:")
    assert "labextension              not installed" in text
    text = present.to_text(judge(machine.but(opencl=None, needed=("parallel",), icd=(), wheel=None)))
    assert "– opencl    absent" in text


def test_commands_stand_on_lines_of_their_own(machine):
    found = judge(machine.without_devices())
    [command] = found.problems[0].mend
    assert f"\n      {command}\n" in present.to_text(found)
    assert f">{command}</pre>" in present.to_html(found)


def test_html_needs_nothing_and_leaks_nothing(spoilt):
    checked = Checked(present.to_html(spoilt))
    assert checked.names <= {
        "div",
        "b",
        "pre",
        "details",
        "summary",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    for style in checked.styles:
        assert ("background:#" in style) == bool(re.search(r"(?<!-)color:#", style)), (
            "ink is set with its background"
        )
    assert "<script" not in present.to_html(spoilt)


def test_columns_are_aligned():
    table = Table("t", (("a", "bb", "c"), ("long", "漢", "d")), ("x", "y", "z"))
    assert lines(table, indent="") == ["x     y   z", "a     bb  c", "long  漢  d"]
    assert lines(Table("t", ())) == []
    Checked(html(table))


def test_json_holds_everything(machine, spoilt):
    for found in (spoilt, judge(machine.healthy), judge(machine.but(opencl=None, needed=("parallel",)))):
        data = json.loads(json.dumps(found.to_dict()))
        assert data["schema"] == 1
        assert data["ok"] is found.ok
        assert [each["id"] for each in data["problems"]] == [each.id for each in found.problems]
        assert data["facts"]["cpu"]["isa"] == "AVX2"
        assert data["facts"]["packages"]["numpy"] == "2.0"
    assert data["facts"]["opencl"] is None


def test_what_cannot_be_encoded_is_shown_all_the_same(machine):
    odd = IcdFile("/etc/\udcff.icd", "lib\x1b[31m.so", is_read=True, trouble="bad\nworse")
    found = judge(machine.but(icd=(*machine.healthy.icd, odd)))
    present.to_text(found).encode()
    present.to_html(found).encode()
    assert "\x1b" not in present.to_text(found)
