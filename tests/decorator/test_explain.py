"""What `explain()` tells of the last call."""

import numpy as np

from hastega_magic import hastega


def test_explain_says_that_figures_are_of_an_earlier_call():
    @hastega
    def total(xs):
        return sum(x + 1 for x in xs)

    xs = np.arange(3000)
    total(xs)
    assert "the figures are those" not in total.explain().to_text()
    for _ in range(3):
        total(xs)
    text = " ".join(total.explain().to_text().split())
    assert (
        "This pipeline ran in this form before; the figures are those of its first run, the last one took"
        in text
    )
