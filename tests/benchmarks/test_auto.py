"""How `--on auto` is judged: by what other cells have taught, never by a cell's own runs."""

import pytest
from machines import machine

from hastega_magic.benchmarks import auto
from hastega_magic.compiler.choice import costs


@pytest.fixture
def known(monkeypatch):
    monkeypatch.delenv(costs.AUTO, raising=False)
    monkeypatch.setattr(costs._KNOWN, "machine", machine(threads=2, start=1e-9))
    monkeypatch.setattr(auto, "_SHORT", 0.0)
    monkeypatch.setattr(auto, "SIZES", (10, 50_000))


def test_a_cell_is_predicted_with_what_the_cells_before_have_taught(known, monkeypatch, capsys):
    cells = auto.CELLS
    monkeypatch.setattr(auto, "CELLS", [cells[0], cells[5]])
    before, foreseen = dict(costs.learned().loops), []
    own = auto._foreseen

    def seen(*args):
        foreseen.append(own(*args))
        return foreseen[-1]

    monkeypatch.setattr(auto, "_foreseen", seen)
    rows = auto.rows(50_000, "", 2, 2)
    assert {row.workload for row in rows} == {cells[0].name, cells[5].name}
    assert {row.n for row in rows} == {10, 50_000}
    assert all(row.equal for row in rows)
    half = len(foreseen) // 2
    assert all(each.corrected.seconds == each.bare.seconds for each in foreseen[:half]), (
        "of no size of its own"
    )
    assert any(each.corrected.seconds != each.bare.seconds for each in foreseen[half:])
    assert costs.learned().loops == before, "nothing stays"
    said = capsys.readouterr().out
    assert "from the calibration alone: auto within" in said
    assert said.count("within 30 %") == 2
    assert sum("by the calibration alone" in row.note for row in rows) == 2 * 2 * 2


def test_what_is_said_of_ratios():
    judged = auto.Judged([(1.0, "a"), (1.2, "b"), (1.3, "c"), (2.5, "d")], [0.69, 0.71, 1.0, 1.3, 1.31])
    assert judged.near == "within 1.25 × of the best back end in 2 of 4 cells (50 %)"
    assert judged.far == "beyond 2 × in 1; at worst 2.50 × (d)"
    assert judged.close == "within 30 % in 3 of 5 runs (60 %)"
    assert auto.Judged().near.endswith("0 of 0 cells (0 %)")
