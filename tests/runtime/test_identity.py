"""Which machine this is."""

from __future__ import annotations

import pytest

from hastega_magic.runtime import identity


@pytest.mark.parametrize("form", ["dist-info/METADATA", "egg-info/PKG-INFO"])
def test_versions_are_read_from_either_form(tmp_path, monkeypatch, form):
    folder, name = form.split("/")
    there = tmp_path / f"of_nobody-9.8.{folder}"
    there.mkdir()
    (there / name).write_text("Metadata-Version: 1.1\nName: of-nobody\nVersion: 9.8\n\nVersion: 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert identity._version("of-nobody") == "9.8"


def test_what_is_not_there_or_damaged_has_none(tmp_path, monkeypatch):
    (tmp_path / "of_nobody-9.8.dist-info").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert identity._version("of-nobody") == ""
    assert identity._version("not-there") == ""
