"""What other languages and libraries call what is written otherwise here: for who tries a name that is no stage."""

from __future__ import annotations

from collections.abc import Mapping

from hastega_magic.syntax.stages import STAGES

_ROWS: tuple[tuple[str, str], ...] = (
    ("map(f)", "transform pmap fmap"),
    ("map(f), or filter(f)", "select"),
    ("filter(f)", "keep keep_if find_all grep"),
    ("filter(lambda x: not ...)", "reject filter_not remove_if filterfalse"),
    ("filter(f) |> first", "find detect find_first"),
    ("zip(other) |> map(f)", "zip_with map2"),
    ("enumerate", "with_index indexed zip_with_index each_with_index"),
    ("astype('float64')", "cast to_float to_int"),
    ("clip(lo, hi)", "clamp saturate"),
    ("take(n)", "head limit slice_head"),
    ("drop(n)", "skip offset"),
    ("drop(1), or reverse |> take(n) |> reverse", "tail"),
    ("drop(n) |> first", "nth element_at"),
    ("drop(1)", "rest tl"),
    ("first", "hd"),
    ("take_while(f)", "span"),
    ("drop_while(f)", "skip_while"),
    ("step(n)", "step_by take_every take_nth stride"),
    ("reverse", "rev flip"),
    ("window(n)", "windows windowed sliding sliding_window rolling"),
    ("window(2)", "pairwise adjacent"),
    ("window(2) |> map(lambda a, b: b - a)", "diff"),
    ("chunk(n)", "chunks chunked batched batch chunk_every chunks_of grouped each_slice"),
    ("scan(f)", "accumulate scanl scan_left reductions"),
    ("scan(lambda a, b: a * b)", "cumprod"),
    ("scan(max)", "cummax"),
    ("scan(min)", "cummin"),
    ("cumsum", "cumulative_sum running_sum running_total prefix_sum partial_sum"),
    ("reduce(f, init)", "fold foldl fold_left inject aggregate"),
    ("reverse |> reduce(f, init)", "foldr fold_right"),
    ("count", "length size"),
    ("filter(f) |> count", "count_if count_where"),
    ("map(f) |> sum", "sum_by"),
    ("sum", "total"),
    ("prod", "product"),
    ("mean", "average avg"),
    ("var", "variance"),
    ("std", "stddev stdev"),
    ("statistics.median", "median"),
    ("statistics.mode", "mode"),
    ("np.quantile(q)", "quantile"),
    ("np.percentile(q)", "percentile"),
    ("min", "minimum amin"),
    ("max", "maximum amax"),
    ("min(key=f)", "min_by"),
    ("max(key=f)", "max_by"),
    ("argmin", "idxmin"),
    ("argmax", "idxmax"),
    ("map(f) |> any", "some exists any_match contains"),
    ("map(f) |> all", "every for_all all_match"),
    ("bincount", "tally frequencies histogram value_counts"),
    ("dot(other)", "inner inner_product dot_product"),
    ("tap(print)", "inspect peek"),
    ("a `for` loop over it", "each for_each"),
    ("to_list", "collect as_list"),
    ("set", "unique distinct uniq to_set"),
    ("sorted", "sort_by order_by arrange"),
    ("sorted(key=f) |> itertools.groupby(key=f)", "group_by"),
    ("a comprehension, [y for x in xs for y in f(x)]", "flat_map concat_map mapcat flatten"),
    ("map(str) |> ', '.join", "join mk_string intercalate"),
)
"""What is written here, and the names that it has elsewhere: in Elixir, Haskell, Scala, Rust, Ruby, JavaScript, SQL,
itertools, dplyr, pandas, polars and others."""


def _plain(name: str) -> str:
    """`flatMap`, `flat_map` and `FlatMap` are one."""
    return name.replace("_", "").casefold()


_HERE: Mapping[str, str] = {
    **{_plain(name): form for form, names in _ROWS for name in names.split()},
    **{_plain(name): name for name in STAGES},
}

_HOLDERS = frozenset({"Enum", "Stream", "Flow", "Seq", "List", "Iter", "Pelemay", "Hastega"})
"""Modules and types whose functions are stages elsewhere."""


def written_here(name: str) -> str | None:
    """What is written here for a name that is no stage; None for a name of which nothing is known."""
    holder, _, function = name.rpartition(".")
    if holder and holder not in _HOLDERS:
        return None
    return _HERE.get(_plain(function))


_OF_A_FUNCTION: Mapping[str, str] = {
    **{
        name: f"map({{}}) |> {name}"
        for name, row in STAGES.items()
        if row.sink and not row.functions and name != "dot"
    },
    **{name: f"{name}(key={{}})" for name in ("min", "max")},
    **{name: f"filter({{}}) |> {name}" for name in ("count", "first", "last")},
    **{name: f"{name}_while({{}})" for name in ("take", "drop")},
    "cumsum": "map({}) |> cumsum",
}


def of_a_function(stage: str, function: str) -> str | None:
    """How a stage that takes no function is written with one; None where that would mean nothing."""
    form = _OF_A_FUNCTION.get(stage)
    return None if form is None else form.format(function if len(function) <= _SHORT else "f")


_SHORT = 50
"""A function that is longer is not written out once more."""


__all__ = ["of_a_function", "written_here"]
