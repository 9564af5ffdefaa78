"""`--no-fuse`: each stage is a loop of its own, those over tuples too, and gives what the fused loop gives."""

import numpy as np
import pytest

from hastega_magic.session import Options, Session

NAMES = {
    "xs": np.arange(-40, 9000),
    "ys": np.arange(9040) * 0.5,
    "pairs": [(n, n * 0.25) for n in range(900)],
}


def ran(cell: str, **options: object):
    result = Session(dict(NAMES)).run_cell(cell, options=Options(on="simd", baseline=False, **options))
    (pipeline,) = result.report.pipelines
    return result.value, pipeline


@pytest.mark.parametrize(
    ("stages", "loops"),
    [
        ("xs |> zip(ys) |> map(lambda a, b: a * b)", 2),
        ("xs |> zip(ys) |> filter(lambda a, b: a < b) |> map(lambda t: t[0] - 1) |> sum", 4),
        ("xs |> enumerate |> map(lambda i, x: (i, x * 2)) |> drop(3) |> map(lambda t: t[1])", 4),
        ("xs |> window(3) |> map(sum) |> max", 3),
        ("xs |> chunk(4) |> map(lambda w: w[0] * w[3]) |> to_list", 3),
        ("pairs |> map(lambda a, b: a - b)", 1),
    ],
)
def test_stages_over_tuples_are_loops(stages: str, loops: int) -> None:
    found, pipeline = ran(stages, fuse=False)
    assert ([each.reason for each in pipeline.barriers], pipeline.loops) == ([], loops)
    wanted, _ = ran(stages)
    assert type(found) is type(wanted)
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("fuse", [True, False])
def test_elements_are_counted_where_they_were_made(fuse: bool) -> None:
    look = "" if not fuse else " |> tap(lambda t: None)"
    with pytest.raises(ZeroDivisionError) as caught:
        ran(f"xs |> filter(_ >= 0) |> enumerate{look} |> map(lambda i, x: 1 // (x - 7))", fuse=fuse)
    made = "tap(lambda t: None)" if fuse else "enumerate"
    assert f"element 7 of what `{made}` gives, which is (7, 7)" in caught.value.__notes__[0]
