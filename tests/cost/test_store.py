import json
import os
import threading

import pytest
from machines import GPU, machine

from hastega_magic.cost.store import Store, damaged, folder, last_calibration

MACHINE = machine(GPU)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "cache", MACHINE.identity)


def test_what_is_kept_is_there_for_the_next_process(store):
    assert store.machine() is None
    assert store.said == ""
    assert store.keep(MACHINE)
    again = Store(store.place, MACHINE.identity)
    assert again.machine() == MACHINE
    assert last_calibration(store.place, "A CPU") == MACHINE.calibrated
    assert last_calibration(store.place, "Another") == ""
    other = Store(store.place, machine(threads=3).identity)
    assert other.machine() is None, "another number of threads is another machine"


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[1, 2]", '{"machine": 3}', '{"machine": {"schema": 1}}', "[" * 100_000, "\x00\xff"],
)
def test_a_damaged_file_is_ignored_told_of_and_made_anew(store, text):
    store.place.mkdir()
    store.file.write_text(text, encoding="utf-8")
    assert store.machine() is None
    if text != "null" or store.said:
        assert "ignored" in store.said
    assert last_calibration(store.place, "A CPU") == ""
    assert [file for file, _ in damaged(store.place)] == ([] if "schema" in text else [store.file])
    assert store.keep(MACHINE)
    assert damaged(store.place) == []
    assert store.said == ""
    assert store.machine() == MACHINE


@pytest.mark.parametrize("text", ['{"learned": {}}', '{"machine": {"schema": 0}}', '{"machine": null}'])
def test_files_without_figures_and_of_other_versions_are_not_damaged(store, text):
    store.place.mkdir()
    store.file.write_text(text, encoding="utf-8")
    assert damaged(store.place) == []
    assert damaged(store.place / "nowhere") == []


def test_a_file_of_another_machine_is_foreign(store):
    assert store.keep(MACHINE)
    data = json.loads(store.file.read_text())
    data["machine"]["identity"]["threads"] = 64
    store.file.write_text(json.dumps(data))
    assert store.machine() is None
    assert "another machine" in store.said


def test_two_writers_lose_nothing(store):
    def count(name):
        mine = Store(store.place, MACHINE.identity)
        for _ in range(25):
            assert mine.update(
                lambda data: {**data, name: data.get(name, 0) + 1, "all": data.get("all", 0) + 1}
            )

    threads = [threading.Thread(target=count, args=(f"writer {number}",)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    found = store.read()
    assert found["all"] == 100
    assert [found[f"writer {number}"] for number in range(4)] == [25] * 4
    assert sorted(each.name for each in store.place.iterdir()) == ["lock", store.file.name]


def test_a_folder_that_cannot_be_written_to_keeps_figures_in_memory(tmp_path):
    (tmp_path / "file").write_text("in the way")
    store = Store(tmp_path / "file" / "cache", MACHINE.identity)
    assert not store.keep(MACHINE)
    assert "cannot be written to" in store.said
    assert store.machine() == MACHINE


def test_an_interrupt_leaves_the_old_file(store):
    assert store.keep(MACHINE)

    def interrupted(data):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.update(interrupted)
    assert store.machine() == MACHINE
    assert store.update(dict), "the lock is free again"
    assert sorted(each.name for each in store.place.iterdir()) == ["lock", store.file.name]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork")  # Python and JAX warn of it
def test_a_process_that_was_forked_meanwhile_does_not_keep_the_lock(store):
    child, (read, write) = 0, os.pipe()

    def change(data):
        nonlocal child
        child = os.fork()
        if not child:  # lives on until it is told
            os.read(read, 1)
            os._exit(0)
        return data

    store.update(change)
    writer = threading.Thread(target=store.update, args=(dict,), daemon=True)
    writer.start()
    writer.join(30)
    free = not writer.is_alive()
    os.write(write, b"x")
    os.waitpid(child, 0)
    assert free


def test_the_folder_is_where_the_system_keeps_caches(tmp_path):
    assert folder({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "hastega"
    assert folder({"XDG_CACHE_HOME": "relative"}).parts[-2:] == (".cache", "hastega")
    assert folder({}).parts[-2:] == (".cache", "hastega")
