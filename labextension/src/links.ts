/** Which lines belong together: an index over the links of a pipeline. */

import { Link, PaneKey, Span, TARGETS, Target } from './report';

/** What to light up: spans of the source and lines of the listings; `parts` belong to what the spans contain. */
export interface Lit {
  readonly ids: ReadonlySet<number>;
  readonly lines: Readonly<Record<Target, ReadonlySet<number>>>;
  readonly parts: Readonly<Record<Target, ReadonlySet<number>>>;
}

/** A run of characters of one source line that have the same innermost link; -1: none. */
export interface Segment {
  readonly text: string;
  readonly id: number;
}

function before(aLine: number, aCol: number, bLine: number, bCol: number): boolean {
  return aLine < bLine || (aLine === bLine && aCol <= bCol);
}

/** Whether the outer span contains the inner one; each contains itself. */
export function contains(outer: Span, inner: Span): boolean {
  return (
    before(outer.line, outer.col, inner.line, inner.col) &&
    before(inner.endLine, inner.endCol, outer.endLine, outer.endCol)
  );
}

export class LinkIndex {
  readonly links: readonly Link[];
  /** For each link, the links within its span, itself included. */
  private readonly _within: readonly (readonly number[])[];
  private readonly _byLine: Readonly<Record<Target, ReadonlyMap<number, readonly number[]>>>;
  /** Ids from the outermost to the innermost span. */
  private readonly _order: readonly number[];

  constructor(links: readonly Link[]) {
    this.links = links;
    const extent = (span: Span): number => (span.endLine - span.line) * 1e6 + span.endCol - span.col;
    this._order = links
      .map((_, id) => id)
      .sort((a, b) => extent(this._span(b)) - extent(this._span(a)));
    this._within = nested(links);
    this._byLine = {
      fused: byLine(links, 'fused'),
      llvm: byLine(links, 'llvm'),
      asm: byLine(links, 'asm'),
      opencl: byLine(links, 'opencl')
    };
  }

  private _span(id: number): Span {
    return this.links[id]?.span ?? { line: 0, col: 0, endLine: 0, endCol: 0 };
  }

  /** The links of a line, numbered from 1, of any pane; for the source all whose spans touch it. */
  at(pane: PaneKey, line: number): number[] {
    if (pane !== 'source') {
      const all = this._byLine[pane].get(line) ?? [];
      // A stage has the lines of all that stands in it: a line comes from the innermost of its links.
      return all.filter(id => !all.some(other => other !== id && this._strictly(id, other)));
    }
    return this._order.filter(id => this._span(id).line <= line && line <= this._span(id).endLine);
  }

  private _strictly(outer: number, inner: number): boolean {
    const [around, within] = [this._span(outer), this._span(inner)];
    return contains(around, within) && !contains(within, around);
  }

  /** What belongs to some links. */
  lit(ids: readonly number[]): Lit {
    const lines = empty();
    const parts = empty();
    for (const id of ids) {
      for (const target of TARGETS) {
        this.links[id]?.lines[target].forEach(line => lines[target].add(line));
      }
    }
    for (const inner of new Set(ids.flatMap(id => this._within[id] ?? []))) {
      for (const target of TARGETS) {
        for (const line of this.links[inner]?.lines[target] ?? []) {
          if (!lines[target].has(line)) {
            parts[target].add(line);
          }
        }
      }
    }
    return { ids: new Set(ids), lines, parts };
  }

  /** Whether lighting these links lights a segment whose innermost link is `id`. */
  covers(ids: ReadonlySet<number>, id: number): boolean {
    return id >= 0 && Array.from(ids).some(outer => contains(this._span(outer), this._span(id)));
  }

  /** A source line, numbered from 1, cut where the innermost link changes. */
  segments(text: string, line: number): Segment[] {
    const letters = Array.from(text); // columns count code points, not UTF-16 units
    const owner = new Array<number>(letters.length).fill(-1);
    for (const id of this.at('source', line)) {
      const span = this._span(id);
      owner.fill(id, span.line === line ? span.col : 0, span.endLine === line ? span.endCol : letters.length);
    }
    owner.fill(-1, 0, letters.findIndex(letter => letter.trim() !== '')); // nobody means the indentation
    const out: Segment[] = [];
    let start = 0;
    for (let at = 1; at <= letters.length; at += 1) {
      if (at === letters.length || owner[at] !== owner[start]) {
        out.push({ text: letters.slice(start, at).join(''), id: owner[start] ?? -1 });
        start = at;
      }
    }
    return out;
  }
}

function empty(): Record<Target, Set<number>> {
  return { fused: new Set(), llvm: new Set(), asm: new Set(), opencl: new Set() };
}

function byLine(links: readonly Link[], target: Target): Map<number, number[]> {
  const out = new Map<number, number[]>();
  links.forEach((link, id) => {
    for (const line of link.lines[target]) {
      const known = out.get(line);
      if (known === undefined) {
        out.set(line, [id]);
      } else {
        known.push(id);
      }
    }
  });
  return out;
}

/** For each link the links within it. Sorted by beginning, those follow it directly: no pair is tried twice. */
function nested(links: readonly Link[]): number[][] {
  const order = links.map((link, id) => ({ span: link.span, id }));
  order.sort(
    (a, b) =>
      a.span.line - b.span.line ||
      a.span.col - b.span.col ||
      b.span.endLine - a.span.endLine ||
      b.span.endCol - a.span.endCol
  );
  const out = links.map((_, id) => [id]);
  order.forEach(({ span, id }, at) => {
    for (let next = at + 1; next < order.length; next += 1) {
      const other = order[next];
      if (other === undefined || !before(other.span.line, other.span.col, span.endLine, span.endCol)) {
        break;
      }
      if (contains(span, other.span)) {
        out[id]?.push(other.id);
      }
    }
  });
  return out;
}
