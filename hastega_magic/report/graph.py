"""A layered layout, from top to bottom, for the small directed graphs of pipelines.

Each node's layer is the longest path to it. Edges that skip layers get an empty place in each layer
between, so that no line runs through a box. The order in a layer follows the mean position of the
neighbours above, then below.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from hastega_magic.records import dataclass

Edge = tuple[str, str]


@dataclass(frozen=True)
class Place:
    """A node's box: its centre `x`, its upper edge `y`, and its size, in pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """Where the boxes are, the points that each edge passes through, and the size of the whole, in pixels."""

    places: Mapping[str, Place]
    paths: Mapping[Edge, tuple[tuple[float, float], ...]]
    width: float
    height: float


def layered(
    sizes: Mapping[str, tuple[float, float]],
    edges: Sequence[Edge],
    *,
    gap: float = 24,
    drop: float = 40,
    bend: float = 10,
) -> Layout:
    """Lay out nodes of the given `(width, height)`.

    `gap` is the room between boxes side by side, `drop` that between layers, `bend` the width left for a
    passing edge. Edges that would close a cycle, and those that name unknown nodes, are left out.
    """
    edges = _acyclic(sizes, edges)
    rank = _ranks(sizes, edges)
    layers: list[list[str]] = [[] for _ in range(max(rank.values(), default=-1) + 1)]
    for node in sizes:
        layers[rank[node]].append(node)
    boxes = dict(sizes)
    chains: dict[Edge, list[str]] = {}
    for number, (a, b) in enumerate(edges):
        chain = [a]
        for layer in range(rank[a] + 1, rank[b]):
            passing = f"\0{number}\0{layer}"
            boxes[passing] = (bend, 0.0)
            layers[layer].append(passing)
            chain.append(passing)
        chains[a, b] = [*chain, b]
    links = [(p, q) for chain in chains.values() for p, q in pairwise(chain)]
    _order(layers, links)
    centre = _columns(layers, links, boxes, gap)
    return _assemble(layers, boxes, centre, chains, drop)


def _acyclic(nodes: Iterable[str], edges: Sequence[Edge]) -> list[Edge]:
    """The edges, each once, without those that lead back."""
    known = list(nodes)
    after: dict[str, list[str]] = {node: [] for node in known}
    kept: list[Edge] = []

    def reaches(start: str, goal: str) -> bool:
        seen, todo = {start}, [start]
        while todo:
            node = todo.pop()
            if node == goal:
                return True
            fresh = [n for n in after[node] if n not in seen]
            seen.update(fresh)
            todo += fresh
        return False

    for a, b in dict.fromkeys(edges):
        if a in after and b in after and not reaches(b, a):
            after[a].append(b)
            kept.append((a, b))
    return kept


def _ranks(nodes: Iterable[str], edges: Sequence[Edge]) -> dict[str, int]:
    """The length of the longest path to each node.

    Sources that stand alone move down to just above their reader.
    """
    rank = dict.fromkeys(nodes, 0)
    for _ in rank:
        changed = False
        for a, b in edges:
            if rank[b] <= rank[a]:
                rank[b] = rank[a] + 1
                changed = True
        if not changed:
            break
    entered = {b for _, b in edges}
    for node in rank:
        if node not in entered:
            rank[node] = max(0, min((rank[b] - 1 for a, b in edges if a == node), default=0))
    return rank


def _order(layers: list[list[str]], links: Sequence[Edge]) -> None:
    """Sort each layer by the mean position of its neighbours, downwards and upwards a few times."""
    for _ in range(3):
        for down in (True, False):
            sweep = range(1, len(layers)) if down else range(len(layers) - 2, -1, -1)
            for i in sweep:
                if len(layers[i]) < 2:  # most layers of most pipelines
                    continue
                other = {n: p for p, n in enumerate(layers[i - 1 if down else i + 1])}
                here = {n: p for p, n in enumerate(layers[i])}
                mean = {
                    n: _mean([other[a if down else b] for a, b in links if (b if down else a) == n], here[n])
                    for n in layers[i]
                }
                layers[i].sort(key=lambda n, mean=mean, here=here: (mean[n], here[n]))


def _mean(values: Sequence[float], default: float) -> float:
    return sum(values) / len(values) if values else default


def _columns(
    layers: Sequence[Sequence[str]],
    links: Sequence[Edge],
    boxes: Mapping[str, tuple[float, float]],
    gap: float,
) -> dict[str, float]:
    """The centre of each box: packed, then drawn under its parents as far as the order leaves room."""
    centre: dict[str, float] = {}
    for layer in layers:
        total = sum(boxes[n][0] for n in layer) + gap * (len(layer) - 1)
        left = -total / 2
        for node in layer:
            centre[node] = left + boxes[node][0] / 2
            left += boxes[node][0] + gap
    above: dict[str, list[str]] = {node: [] for node in centre}
    below: dict[str, list[str]] = {node: [] for node in centre}
    for a, b in links:
        above[b].append(a)
        below[a].append(b)
    # Downwards only: a chain stays straight under its beginning, and a fork opens evenly below it.
    for layer in layers:
        wish = [_mean([centre[n] for n in above[node] or below[node]], centre[node]) for node in layer]
        spread = _apart([boxes[n][0] for n in layer], wish, gap)
        centre.update(zip(layer, spread, strict=True))
    left = min((x - boxes[n][0] / 2 for n, x in centre.items()), default=0.0)
    return {node: x - left for node, x in centre.items()}


def _apart(widths: Sequence[float], wish: Sequence[float], gap: float) -> list[float]:
    """Positions in order, `gap` apart, each near its wish: the mean of a push right and a push left."""
    right, left = list(wish), list(wish)
    for i in range(1, len(wish)):
        right[i] = max(wish[i], right[i - 1] + (widths[i - 1] + widths[i]) / 2 + gap)
    for i in range(len(wish) - 2, -1, -1):
        left[i] = min(wish[i], left[i + 1] - (widths[i] + widths[i + 1]) / 2 - gap)
    return [(a + b) / 2 for a, b in zip(right, left, strict=True)]


def _assemble(
    layers: Sequence[Sequence[str]],
    boxes: Mapping[str, tuple[float, float]],
    centre: Mapping[str, float],
    chains: Mapping[Edge, Sequence[str]],
    drop: float,
) -> Layout:
    places: dict[str, Place] = {}
    top = 0.0
    for layer in layers:
        tallest = max((boxes[n][1] for n in layer), default=0.0)
        for node in layer:
            width, height = boxes[node]
            # A passing edge runs down the whole layer; a low box stands in its middle.
            y = top if not height else top + (tallest - height) / 2
            places[node] = Place(centre[node], y, width, height or tallest)
        top += tallest + drop
    paths: dict[Edge, tuple[tuple[float, float], ...]] = {}
    for edge, chain in chains.items():
        points: list[tuple[float, float]] = []
        for i, node in enumerate(chain):
            at = places[node]
            if i:
                points.append((at.x, at.y))
            if i < len(chain) - 1:
                points.append((at.x, at.y + at.height))
        paths[edge] = tuple(points)
    width = max((p.x + p.width / 2 for p in places.values()), default=0.0)
    real = {node: place for node, place in places.items() if boxes[node][1] > 0}
    return Layout(real, paths, width, max(0.0, top - drop))
