"""What stages are given is not asked for its truth or its text: arrays have no truth, and others' may be user code."""

import numpy as np
import pytest

from hastega_magic.session import Options, Session


class Silent:
    """An object that has no truth and no text."""

    def __bool__(self):
        raise RuntimeError("asked whether it is true")

    def __repr__(self):
        raise RuntimeError("asked for its text")

    __str__ = __repr__


class Row(list):
    """A list that has neither."""

    __bool__, __repr__, __str__ = Silent.__bool__, Silent.__repr__, Silent.__repr__


def both(text, **names):
    """What the cell gives on compiled code, and in Python: a value or an error's words."""
    found = []
    for on in ("parallel", "python"):
        namespace = {"np": np, "table": np.array([1, 2, 4, 8]), "silent": Silent(), "row": Row([3, 2, 1, 7])}
        session = Session(namespace, Options(on=on, baseline=False))
        try:
            value = session.run_cell("[1, 2, 3] |> " + text).value
            found.append(value.tolist() if isinstance(value, np.ndarray) else value)
        except Exception as error:
            found.append((type(error), str(error)))
        assert session.last.report.to_text()
    return found


@pytest.mark.parametrize(
    "stage",
    ["map(table.item)", "map(table.__getitem__)", "filter(table.__contains__) |> to_list", "map(table.searchsorted)",
     "scan(table.__getitem__)", "max(key=table.item)", "map(row.__getitem__)", "map(lambda x: row[x])"],
)  # fmt: skip
def test_methods_of_what_has_no_truth_are_called(stage):
    found, expected = both(stage)
    assert found == expected


@pytest.mark.parametrize(
    "stage",
    ["clip(silent, 3)", "scan(lambda a, x: a + x, silent)", "reduce(lambda a, x: x, silent)", "take(silent)"],
)
def test_reasons_do_not_ask_for_the_text_of_objects(stage):
    found, expected = both(stage)
    assert found == expected
