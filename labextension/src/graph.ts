/** The pipeline as boxes and arrows, before and after fusion. */

import { cls, h, oneLine, svg, unique, visible } from './dom';
import { Graph, GraphEdge, GraphNode, Pipeline } from './report';
import * as units from './units';

/** A picture of more boxes than this is no picture; the rest is told in words. */
const MOST = 40;
const CHAR = 6.7;
/** A character of a label, and how many of them a label has at most. */
const SMALL = 6;
const LABEL = 48;
const LINE = 15;

interface Placed {
  readonly node: GraphNode;
  readonly lines: readonly { text: string; code: boolean }[];
  readonly width: number;
  readonly height: number;
  x: number;
  y: number;
}

/** Both graphs side by side; null where the report has none. */
export function graphs(pipeline: Pipeline): HTMLElement | null {
  const root = h('div', { class: cls('graphs') });
  for (const [caption, graph] of [['Before fusion, as written', pipeline.before], ['After fusion, as run', pipeline.after]] as const) {
    if (graph.nodes.length > 0) {
      root.append(h('figure', {}, h('figcaption', {}, h('b', {}, caption)), drawn(graph, caption)));
    }
  }
  return root.childElementCount > 0 ? root : null;
}

function drawn(graph: Graph, caption: string): HTMLElement {
  const shown = graph.nodes.slice(0, MOST);
  const known = new Set(shown.map(node => node.id));
  const edges = graph.edges.filter(edge => known.has(edge.source) && known.has(edge.target));
  const left = graph.nodes.length - shown.length;
  const picture = draw({ nodes: shown, edges }, caption);
  return h('div', {}, picture, left > 0 ? h('div', { class: cls('faint') }, `and ${units.plural(left, 'node')} more`) : null);
}

/** For each node, how many arrows the longest way to it has. */
function ranks(graph: Graph): Map<string, number> {
  const rank = new Map(graph.nodes.map(node => [node.id, 0]));
  for (let turn = 0; turn < graph.nodes.length; turn += 1) {
    let changed = false;
    for (const edge of graph.edges) {
      const least = (rank.get(edge.source) ?? 0) + 1;
      if ((rank.get(edge.target) ?? 0) < least && least <= graph.nodes.length) {
        rank.set(edge.target, least);
        changed = true;
      }
    }
    if (!changed) {
      break;
    }
  }
  return rank;
}

function texts(node: GraphNode): { text: string; code: boolean }[] {
  const kind = node.kind === 'barrier' ? '✗ barrier: runs in Python' : node.kind === 'stage' ? '' : oneLine(node.kind, 20);
  const out = kind ? [{ text: kind, code: false }] : [];
  for (const line of visible(node.label || node.id).split('⟨U+000A⟩').join('\n').split('\n').slice(0, 12)) {
    out.push({ text: oneLine(line, 44), code: true });
  }
  const facts = [node.type, node.range].filter(Boolean).join(' ');
  const amount = node.elements >= 0 ? units.plural(node.elements, 'element') : '';
  const bytes = node.bytes > 0 ? units.size(node.bytes) : '';
  for (const text of [facts, [amount, bytes].filter(Boolean).join(' · '), node.reason]) {
    if (text) {
      out.push({ text: oneLine(text, 48), code: false });
    }
  }
  return out;
}

function draw(graph: Graph, caption: string): SVGElement {
  const rank = ranks(graph);
  const rows: Placed[][] = [];
  for (const node of graph.nodes) {
    const lines = texts(node);
    const width = Math.max(110, 22 + CHAR * Math.max(...lines.map(line => Array.from(line.text).length)));
    const placed = { node, lines, width, height: lines.length * LINE + 12, x: 0, y: 0 };
    (rows[rank.get(node.id) ?? 0] ??= []).push(placed);
  }
  const filled = rows.filter(row => row !== undefined && row.length > 0);
  const places = place(filled, graph);
  const labels = graph.edges.flatMap(edge => labelled(edge, places, graph.edges.filter(other => other.target === edge.target).length > 1));
  // Labels may reach beyond the boxes, on either side.
  const from = Math.min(0, ...labels.map(label => (label.anchor === 'end' ? label.x - label.width : label.x) - 4));
  const to = Math.max(...filled.map(row => span(row) + 12), ...labels.map(label => (label.anchor === 'end' ? label.x : label.x + label.width) + 4));
  const width = to - from;
  const height = Math.max(...Array.from(places.values(), each => each.y + each.height)) + 8;
  const tip = unique('tip');
  const marker = { id: tip, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' };
  const names = graph.nodes.map(node => oneLine(node.label || node.id, 60)).join(' → ');
  const root = svg(
    'svg',
    { class: cls('graph'), role: 'img', 'aria-label': `${caption}: ${names}`, width, height, viewBox: `${from} 0 ${width} ${height}` },
    svg('marker', marker, svg('path', { d: 'M0 0 L8 4 L0 8 z', class: cls('tip') }))
  );
  for (const edge of graph.edges) {
    const ends = ended(edge, places);
    if (ends === null) {
      continue;
    }
    const { x1, y1, x2, y2, half } = ends;
    root.append(svg('path', { d: `M${x1} ${y1} C${x1} ${half} ${x2} ${half} ${x2} ${y2}`, class: cls('edge'), 'marker-end': `url(#${tip})` }));
  }
  for (const { x, y, anchor, text, whole } of labels) {
    root.append(svg('text', { x, y, 'text-anchor': anchor, class: cls('label', 'halo') }, text, svg('title', {}, whole)));
  }
  for (const each of places.values()) {
    root.append(svg('rect', { x: each.x, y: each.y, width: each.width, height: each.height, rx: 4, class: cls('box', `box-${known(each.node.kind)}`) }));
    each.lines.forEach((line, at) => {
      root.append(svg('text', { x: each.x + 10, y: each.y + 17 + at * LINE, class: cls(line.code ? 'mono' : 'label') }, line.text));
    });
  }
  return root;
}

interface Ends {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  /** The height of the arrow's middle. */
  readonly half: number;
}

function ended(edge: GraphEdge, places: ReadonlyMap<string, Placed>): Ends | null {
  const [from, to] = [places.get(edge.source), places.get(edge.target)];
  if (from === undefined || to === undefined) {
    return null;
  }
  const [y1, y2] = [from.y + from.height, to.y - 1];
  return { x1: middle(from), y1, x2: middle(to), y2, half: (y1 + y2) / 2 };
}

interface Label {
  readonly x: number;
  readonly y: number;
  readonly anchor: 'start' | 'end';
  readonly text: string;
  readonly whole: string;
  readonly width: number;
}

/**
 * Beside the arrow's middle; of a fork or a join beside its own end, on the outer side, where the arrow is upright and
 * labels stay apart. `joins`: whether other arrows end there, too.
 */
function labelled(edge: GraphEdge, places: ReadonlyMap<string, Placed>, joins: boolean): Label[] {
  const ends = ended(edge, places);
  if (ends === null || edge.label === '') {
    return [];
  }
  const leans = Math.abs(ends.x2 - ends.x1) > 1;
  const anchor = leans && (joins ? ends.x1 < ends.x2 : ends.x2 < ends.x1) ? 'end' : 'start';
  const x = (joins ? ends.x1 : ends.x2) + (anchor === 'end' ? -8 : 8);
  const y = !leans ? ends.half + 4 : joins ? ends.y1 + 14 : ends.y2 - 9;
  const text = oneLine(edge.label, LABEL);
  return [{ x, y, anchor, text, whole: oneLine(edge.label), width: SMALL * Array.from(text).length }];
}

function known(kind: string): string {
  return ['source', 'stage', 'sink', 'result', 'barrier'].includes(kind) ? kind : 'stage';
}

function span(row: readonly Placed[]): number {
  return row.reduce((sum, each) => sum + each.width + 24, -24);
}

function middle(placed: Placed | undefined): number {
  return placed === undefined ? 0 : placed.x + placed.width / 2;
}

/** Give each box its place: rows from the top, boxes of a row in the order of the boxes above them. */
function place(rows: readonly Placed[][], graph: Graph): Map<string, Placed> {
  const places = new Map<string, Placed>();
  const drop = graph.edges.some(edge => edge.label !== '') ? 34 : 24;
  const widest = Math.max(...rows.map(row => span(row)));
  let y = 4;
  for (const row of rows) {
    const above = (each: Placed): number => {
      const parents = graph.edges.filter(edge => edge.target === each.node.id).map(edge => middle(places.get(edge.source)));
      return parents.length > 0 ? parents.reduce((a, b) => a + b, 0) / parents.length : 0;
    };
    row.sort((a, b) => above(a) - above(b));
    let x = 4 + (widest - span(row)) / 2;
    for (const each of row) {
      each.x = x;
      each.y = y;
      x = each.x + each.width + 24;
      places.set(each.node.id, each);
    }
    y += Math.max(...row.map(each => each.height)) + drop;
  }
  return places;
}
