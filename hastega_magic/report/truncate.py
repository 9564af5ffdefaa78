"""Graphs that are too long to be looked at, shortened in the middle."""

from __future__ import annotations

from hastega_magic.report import units
from hastega_magic.report.memo import once
from hastega_magic.report.model import Graph, GraphEdge, GraphNode

FEW = 18
"""Boxes that are drawn under a cell."""

WHOLE = 200
"""Boxes that are drawn in a report of its own: the layout of more takes too long, and nobody follows it."""

_MORE = "more"


@once
def few_nodes(graph: Graph, most: int = FEW) -> Graph:
    """The graph, or its first and last nodes with one between them that counts the others.

    Of the nodes that are left out, barriers are said to be among them.
    """
    if len(graph.nodes) <= most:
        return graph
    head = most * 2 // 3
    tail = most - head - 1
    gone = graph.nodes[head:-tail]
    barriers = sum(node.kind == "barrier" for node in gone)
    said = f"… {units.plural(len(gone), 'more stage')}"
    said += f", {units.plural(barriers, 'barrier')} among them" if barriers else ""
    more = GraphNode(_MORE, "stage", said)
    hidden = {node.id for node in gone}
    edges: dict[tuple[str, str], GraphEdge] = {}
    for edge in graph.edges:
        source = _MORE if edge.source in hidden else edge.source
        target = _MORE if edge.target in hidden else edge.target
        if source != target:
            edges.setdefault((source, target), GraphEdge(source, target, edge.label))
    return Graph((*graph.nodes[:head], more, *graph.nodes[-tail:]), tuple(edges.values()))
