/** The cost model's arithmetic: times for any number of elements, and where one back end overtakes another. */

import { Model, ModelRow } from './curves';

/** A time below which no curve is drawn, in seconds: a fit may go negative where nothing was measured. */
const LEAST = 1e-9;

export interface Crossing {
  readonly n: number;
  readonly seconds: number;
  /** The back end that is faster below, and the one that is faster above. */
  readonly from: string;
  readonly to: string;
}

/** The time of a back end for n elements, in seconds: predicted where there is a prediction; no phase takes less than nothing. */
export function cost(row: ModelRow, n: number): number {
  if (row.curve !== undefined && row.curve.length > 1) {
    return Math.max(LEAST, along(row.curve, n));
  }
  return Math.max(LEAST, row.phases.reduce((sum, phase) => sum + Math.max(0, phase.a * n + phase.b), 0));
}

/** Between points of a curve logarithms are interpolated; behind the last one, time grows with n. */
function along(curve: readonly (readonly [number, number])[], n: number): number {
  const first = curve[0] ?? [1, LEAST];
  const last = curve[curve.length - 1] ?? first;
  if (n <= first[0]) {
    return first[1];
  }
  for (let i = 1; i < curve.length; i += 1) {
    const [low, short] = curve[i - 1] ?? first;
    const [high, long] = curve[i] ?? last;
    if (n <= high && low < high) {
      return short * (long / short) ** (Math.log(n / low) / Math.log(high / low));
    }
  }
  return (last[1] * n) / last[0];
}

/** The smallest and the largest size to draw: what was measured, and a decade or two beyond. */
export function extent(model: Model): readonly [number, number] {
  const sizes = [...model.n, ...model.rows.flatMap(row => row.points.map(([n]) => n))];
  const low = Math.min(10, ...sizes);
  const high = Math.max(1e9, ...sizes);
  return [Math.max(1, low), high];
}

/** The fastest back end for n elements. */
export function fastest(model: Model, n: number): ModelRow | undefined {
  return least(model.rows, n);
}

/** Where the fastest back end changes, from small sizes to large ones. */
export function crossings(model: Model): Crossing[] {
  return changes(model, model.rows);
}

/** Where the lines of two back ends meet, whatever others take there. */
export function meetings(model: Model, one: string, other: string): Crossing[] {
  return changes(model, model.rows.filter(row => row.backend === one || row.backend === other));
}

function changes(model: Model, rows: readonly ModelRow[]): Crossing[] {
  const [low, high] = extent(model).map(Math.log) as [number, number];
  const samples = Array.from({ length: 401 }, (_, i) => low + ((high - low) * i) / 400);
  const sizes = samples.map(Math.exp);
  const out: Crossing[] = [];
  let before: ModelRow | undefined;
  samples.forEach((next, i) => {
    const after = ahead(rows, sizes.slice(i), before);
    if (before !== undefined && after !== undefined && after !== before) {
      const n = Math.exp(meet(before, after, samples[i - 1] ?? next, next));
      out.push({ n, seconds: cost(after, n), from: before.backend, to: after.backend });
    }
    before = after;
  });
  return out;
}

/** The row that takes the least time for n elements; `held` where none takes less. */
function least(rows: readonly ModelRow[], n: number, held?: ModelRow): ModelRow | undefined {
  return rows.reduce((best, row) => (best === undefined || cost(row, n) < cost(best, n) ? row : best), held);
}

/**
 * The fastest row of the first of the sizes; `held` where none is faster. Of lines that are one there it is the one
 * that leaves the others behind when they part, if they meet again; else one of those left behind, so that the
 * parting is told (`cost/curve.py`).
 */
function ahead(rows: readonly ModelRow[], sizes: readonly number[], held?: ModelRow): ModelRow | undefined {
  const [here = 1] = sizes;
  const best = least(rows, here, held);
  const alike = rows.filter(row => best !== undefined && cost(row, here) === cost(best, here));
  if (best === held || alike.length < 2) {
    return best;
  }
  const parted = sizes.findIndex(n => new Set(alike.map(row => cost(row, n))).size > 1);
  const there = sizes[parted] ?? here;
  const first = least(alike, there);
  if (parted < 0 || first === undefined || sizes.slice(parted).some(n => least(alike, n, first) !== first)) {
    return first;
  }
  return alike.find(row => cost(row, there) > cost(first, there));
}

/** The logarithm of the size where two back ends take the same time, between two such logarithms. */
function meet(a: ModelRow, b: ModelRow, low: number, high: number): number {
  for (let i = 0; i < 50; i += 1) {
    const middle = (low + high) / 2;
    if (cost(a, Math.exp(middle)) <= cost(b, Math.exp(middle))) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return (low + high) / 2;
}
