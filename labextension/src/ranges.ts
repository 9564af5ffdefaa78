/** Over which numbers of elements one of two back ends is the faster one, in the words of `hastega_magic/report/sizes.py`. */

import { Crossing, meetings } from './cost';
import { Model } from './curves';
import * as units from './units';
import { backendName } from './verdict';

/** Two sizes can be told apart where their logarithms are at least so far apart. */
export const CLEAR = Math.log(1.1);
/** Elements below which no size is told. */
const LEAST = 10;
/** Ranges of sizes that a reader keeps in mind. */
const MOST = 2;

/** A sentence about the back end that it begins with. */
export interface Said {
  readonly name: string;
  readonly rest: string;
}

type Range = readonly [number, number];

/** Where back ends that are the fastest for some size overtake one another. `found`: where the fastest one changes. */
export function breakEven(model: Model, found: readonly Crossing[]): Said[] {
  const pairs = new Map<string, Crossing>();
  for (const each of found) {
    const key = JSON.stringify([each.from, each.to].sort());
    pairs.set(key, pairs.get(key) ?? each);
  }
  return Array.from(pairs.values(), ({ from, to, n }) => {
    const met = meetings(model, from, to);
    if (met.length < 2) {
      return { name: backendName(to), rest: `is faster than ${backendName(from)} from ${about(n)} elements on` };
    }
    const [one, other] = from === model.rows[0]?.backend ? [from, to] : [to, from]; // the cell's own is told of others
    return { name: backendName(one), rest: `is ${bySize(one, backendName(other), met)}` };
  });
}

/** Over which numbers of elements the back end is the faster one of two whose lines meet several times. */
export function bySize(own: string, other: string, met: readonly Crossing[]): string {
  const found = ranges(own, met);
  const [first, last] = [found[0], found[found.length - 1]];
  if (first === undefined || last === undefined || (found.length === 1 && first[0] === 0 && first[1] === Infinity)) {
    return `${first === undefined ? 'slower' : 'faster'} than ${other} for almost every size`;
  }
  if (found.length <= MOST) {
    return `faster than ${other} ${found.map(range).join(' and ')}`;
  }
  const turns = `by turns from ${about(first[0] || first[1])} to ${about(last[1] < Infinity ? last[1] : last[0])} elements`;
  const before = first[0] ? '' : `up to ${about(first[1])} elements, `;
  return `faster than ${other} ${before}${turns}${last[1] === Infinity ? ' and from there on' : ''}`;
}

/** Where it is the faster one, without gaps and ranges too narrow to be told from their ends. */
function ranges(own: string, met: readonly Crossing[]): Range[] {
  const found: Range[] = [];
  let start = met[0]?.to === own ? Infinity : 0;
  for (const each of met) {
    const n = each.n > LEAST ? each.n : 0;
    if (each.to === own) {
      start = n;
    } else if (start < Infinity) {
      found.push([start, n]);
      start = Infinity;
    }
  }
  if (start < Infinity) {
    found.push([start, Infinity]);
  }
  const merged: Range[] = [];
  for (const [low, high] of found) {
    const before = merged[merged.length - 1];
    if (before !== undefined && touch(before[1], low)) {
      merged[merged.length - 1] = [before[0], high];
    } else if (!touch(low, high)) {
      merged.push([low, high]);
    }
  }
  return merged;
}

function touch(low: number, high: number): boolean {
  return high <= low || (low > 0 && high < Infinity && Math.log(high / low) < CLEAR);
}

/** A number of elements, to two digits. */
export function about(n: number): string {
  return `≈ ${units.digits(Math.max(n, LEAST), 2)}`;
}

function range([low, high]: Range): string {
  if (low === 0) {
    return `up to ${about(high)} elements`;
  }
  return high === Infinity ? `from ${about(low)} elements on` : `from ${about(low)} to ${about(high)} elements`;
}
