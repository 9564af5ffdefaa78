"""The file of findings: replaced as a whole, nothing lost between kernels, ignored where it is damaged."""

import json
import subprocess
import sys

import pytest

from hastega_magic.tuning.store import Store


def test_what_is_put_in_is_there(tmp_path):
    store = Store(tmp_path / "deep" / "file.json")
    assert store.read() == {}
    assert store.update(lambda data: data | {"a": 1})
    assert Store(store.file).update(lambda data: data | {"b": [2.5, "x"]})
    assert store.read() == {"a": 1, "b": [2.5, "x"]}
    assert store.said == ""
    assert {each.name for each in store.file.parent.iterdir()} == {"file.json", "lock"}


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", "\x00\xff", '{"a": ' * 100_000])
def test_a_damaged_file_is_ignored_said_so_and_made_anew(tmp_path, text):
    store = Store(tmp_path / "file.json")
    store.file.write_bytes(text.encode("latin-1"))
    assert store.read() == {}
    assert "ignored" in store.said
    assert store.update(lambda data: data | {"a": 1})
    assert json.loads(store.file.read_text()) == {"a": 1}


def test_a_place_that_cannot_be_written_to_is_made_up_for(tmp_path):
    (tmp_path / "folder").write_text("no folder")
    store = Store(tmp_path / "folder" / "file.json")
    assert not store.update(lambda data: data | {"a": 1})
    assert "cannot be written" in store.said
    assert not store.update(lambda data: data | {"b": 2})
    assert store.read() == {"a": 1, "b": 2}


def test_a_change_that_fails_leaves_the_file(tmp_path):
    store = Store(tmp_path / "file.json")
    store.update(lambda data: {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        store.update(lambda data: {"a": float("nan")})
    assert store.read() == {"a": 1}
    assert not list(tmp_path.glob("*.new"))


def test_two_processes_lose_nothing(tmp_path):
    program = (
        "import sys; from pathlib import Path; from hastega_magic.tuning.store import Store\n"
        "for n in range(40): Store(Path(sys.argv[1])).update(lambda data: data | {f'{sys.argv[2]}{n}': n})"
    )
    file = tmp_path / "file.json"
    running = [subprocess.Popen([sys.executable, "-c", program, str(file), name]) for name in "ab"]
    assert [each.wait(60) for each in running] == [0, 0]
    assert len(Store(file).read()) == 80
