"""Where nodes come from: for a node of a later form, the nodes of the loop as it was written that it computes.

    written     %1 = mul 22, %0     %3 = mul %1, %2     %4 = mod %3, 7
    lowered     %1 = madd52lo ...   from %3             %4 = madd52lo ...   from %4

Places in a cell are not kept with nodes beyond the written form: code is compiled once and used for every loop
of the same structure, wherever it stands. The written form of that loop says where its nodes stand now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hastega_magic.errors import Span
from hastega_magic.ir.expr import Expr
from hastega_magic.ir.loop import everything

Origins = Mapping[Expr, tuple[Expr, ...]]

UNNAMED = frozenset({"const", "table", "length", "carry", "outer"})
"""Leaves that listings show where they are used; they come from no place of their own."""


def themselves(roots: Iterable[Expr]) -> Origins:
    """The origins in the written form: every node is its own."""
    return {node: (node,) for node in everything(roots) if node.op not in UNNAMED}


def moved(origins: Origins, new: Iterable[tuple[Expr, Expr]], roots: Iterable[Expr]) -> Origins:
    """Origins in a form with these roots, given pairs of a node before and one that stands for it.

    A node that stands for none comes from what the nodes that use it come from.
    """
    found: dict[Expr, dict[Expr, None]] = {}
    for old, image in new:
        if old in origins:
            found.setdefault(image, {}).update(dict.fromkeys(origins[old]))
    return inherited(roots, found)


def inherited(roots: Iterable[Expr], known: Mapping[Expr, Iterable[Expr]]) -> Origins:
    """What is known of the nodes below the roots, and for the others that of the nodes that use them.

    A load is the same in every form, also where only a check looks at it.
    """
    order = list(everything(roots))
    found: dict[Expr, tuple[Expr, ...]] = {}
    pending: dict[Expr, dict[Expr, None]] = {}
    for node in reversed(order):  # users come before what they use
        own = known.get(node, (node,) if node.op == "load" else None)
        found[node] = mine = tuple(pending.get(node, ()) if own is None else own)
        for arg in node.args:
            if arg not in known and arg.op != "load" and arg.op not in UNNAMED:
                pending.setdefault(arg, {}).update(dict.fromkeys(mine))
    return {node: places for node, places in found.items() if places}


def placed(origins: Origins, spans: Mapping[Expr, Sequence[Span]]) -> dict[Expr, tuple[Span, ...]]:
    """The places of nodes, given those of the written nodes."""
    found: dict[Expr, tuple[Span, ...]] = {}
    for node, sources in origins.items():
        places = dict.fromkeys(span for source in sources for span in spans.get(source, ()))
        if places:
            found[node] = tuple(places)
    return found
