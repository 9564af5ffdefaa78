/** What the cost model says of one element: how much is computed and moved, and what takes the longest. */

import { fields, number, text } from './fields';

/** `by`: "arithmetic", "memory", ...; `bytes` between memory and registers. */
export interface Bound {
  readonly operations: number;
  readonly bytes: number;
  readonly by: string;
}

/** Of the report's `cost`; null where nothing was predicted. */
export function boundOf(value: unknown): Bound | null {
  const cost = fields(value);
  const by = text(cost['bound']);
  return by === '' ? null : { operations: number(cost['operations']), bytes: number(cost['bytes']), by };
}
