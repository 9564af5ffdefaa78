/** Times over numbers of elements, as the report holds them: fitted to what was measured, or predicted by the cost model. */

import { fields, list, number, text } from './fields';

/** What a phase of a back end costs for n elements: `a` seconds per element and `b` seconds once. */
export interface ModelPhase {
  readonly name: string;
  readonly a: number;
  readonly b: number;
}

/** A back end in the cost model. `points` are measured: elements and seconds in all. */
export interface ModelRow {
  readonly backend: string;
  readonly phases: readonly ModelPhase[];
  readonly points: readonly (readonly [number, number])[];
  /** Predicted: elements and seconds, in rising order; empty where only a fit is known. */
  readonly curve?: readonly (readonly [number, number])[];
  /** Its name among the curves of the cost model, where that is another one. */
  readonly predicted?: string;
}

/** Fitted or predicted times over sizes; `n` are the sizes that were measured, in rising order. */
export interface Model {
  readonly n: readonly number[];
  readonly rows: readonly ModelRow[];
  /** Whether the first line is that of the back end that computed this run, by the cost model. */
  readonly own?: boolean;
}

/** The lines to draw; null where there are none. */
export function curves(fitted: unknown, cost: unknown): Model | null {
  return drawn(model(fitted), cost);
}

function model(value: unknown): Model | null {
  const data = fields(value);
  const rows = list(data['rows'], item => {
    const row = fields(item);
    return {
      backend: text(row['backend']),
      phases: list(row['phases'], each => {
        const part = fields(each);
        return { name: text(part['name']), a: number(part['a']), b: number(part['b']) };
      }),
      points: points(row['points']),
      predicted: text(row['predicted'])
    };
  }).filter(row => row.backend !== '' && row.phases.length > 0);
  const sizes = list(data['n'], item => number(item)).filter(n => n > 0);
  return rows.length > 0 ? { n: sizes.sort((a, b) => a - b), rows } : null;
}

/** Pairs of elements and seconds; what is none is dropped. */
function points(value: unknown): (readonly [number, number])[] {
  return list(value, each => {
    const [n, seconds] = list(each, part => number(part));
    return [n ?? 0, seconds ?? 0] as const;
  }).filter(([n, seconds]) => n > 0 && seconds > 0);
}

/** What is drawn: the cost model's predictions where there are any, else fitted lines, with all that was measured. */
function drawn(fitted: Model | null, value: unknown): Model | null {
  const cost = fields(value);
  const chosen = text(cost['chosen']);
  const left = new Map((fitted?.rows ?? []).map(row => [row.predicted || row.backend, row]));
  const rows: ModelRow[] = list(cost['curves'], item => {
    const row = fields(item);
    const backend = text(row['backend']);
    return { backend, phases: [] as ModelPhase[], points: points(row['measured']), curve: points(row['points']).sort((a, b) => a[0] - b[0]) };
  }).filter(row => row.backend !== '' && row.curve.length > 1)
    .sort((a, b) => Number(b.backend === chosen) - Number(a.backend === chosen))
    .map(row => {
      const known = left.get(row.backend);
      left.delete(row.backend);
      const seen = new Map([...row.points, ...(known?.points ?? [])].map(point => [point.join(' '), point]));
      return { ...row, phases: known?.phases ?? [], points: [...seen.values()] };
    });
  if (rows.length === 0) {
    return fitted;
  }
  const all = [...rows, ...left.values()];
  const sizes = new Set(all.flatMap(row => row.points.map(([n]) => n)));
  return { n: [...sizes].sort((a, b) => a - b), rows: all, own: all[0]?.backend === chosen };
}
