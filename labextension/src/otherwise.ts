/** The lines over numbers of elements, held against what was measured (`hastega_magic/report/mispredicted.py`). */

import { cost } from './cost';
import { Model, ModelRow } from './curves';
import { CLEAR } from './ranges';
import { Pipeline } from './report';
import * as units from './units';
import { backendName, heldAgainst } from './verdict';

/** Elements, what our own back end and another took for them, and a mark where that is extrapolated. */
type Both = readonly [number, number, number, string];

/** How what predicted lines say is to be taken: nobody counts what Python computes again, and runs at barriers. */
export function taken(pipeline: Pipeline, model: Model): string {
  if (model.rows.every(row => lined(row) === 'fitted')) {
    return '';
  }
  const word = lined(model.rows[0]);
  if (pipeline.barriers.length > 0) {
    return `${word} without what Python runs at barriers`;
  }
  return pipeline.int.fellBack && word === 'predicted' ? 'predicted if all integers fit 64 bits' : word;
}

/** A sentence for each back end that took more, or less, than the cell's own, while the lines say the opposite. */
export function otherwise(pipeline: Pipeline, model: Model): string[] {
  const [own, ...rest] = model.rows;
  if (own === undefined || model.own !== true || pipeline.barriers.length > 0) {
    return [];
  }
  return rest.flatMap(row => {
    const [n, mine, theirs, mark] = beside(pipeline, row) ?? ofPoints(own, row);
    const measured = n > 0 ? Math.log(mine / theirs) : 0;
    if (Math.abs(measured) <= CLEAR || measured > 0 === cost(own, n) > cost(row, n)) {
      return [];
    }
    const said = (each: ModelRow, seconds: number, before: string): string =>
      `${backendName(each.backend)} ${before}${units.seconds(seconds)} (${lined(each)} ${units.seconds(cost(each, n))})`;
    return [`Measured otherwise: over ${units.grouped(Math.trunc(n))} elements ${said(own, mine, '')}, ${said(row, theirs, mark)}`];
  });
}

/** As the line of verdict compares them. */
function beside(pipeline: Pipeline, row: ModelRow): Both | null {
  const found = pipeline.baselines.find(each => each.backend === row.backend && each.equal && each.seconds > 0);
  const mine = found === undefined ? 0 : heldAgainst(pipeline, found);
  return found !== undefined && mine > 0 && pipeline.elements > 0 ? [pipeline.elements, mine, found.seconds, found.extrapolated ? '≈ ' : ''] : null;
}

/** At the largest size at which both were measured; of no elements where there is none. */
function ofPoints(own: ModelRow, row: ModelRow): Both {
  const [mine, theirs] = [new Map(own.points), new Map(row.points)];
  const n = Math.max(0, ...Array.from(mine.keys()).filter(each => theirs.has(each)));
  return [n, mine.get(n) ?? 0, theirs.get(n) ?? 0, ''];
}

function lined(row: ModelRow | undefined): string {
  return (row?.curve ?? []).length > 1 ? 'predicted' : 'fitted';
}
