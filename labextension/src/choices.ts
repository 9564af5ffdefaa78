/** How a loop was shared among back ends, repeated, and which schedules of it were tried: tables of what was measured. */

import { cls, h, oneLine } from './dom';
import { fields, Fields, list, number, text, whole } from './fields';
import * as units from './units';
import { backendName } from './verdict';

/** What one back end computed; `failed`: why it did not compute all that was meant for it. */
export interface Share {
  readonly backend: string;
  readonly device: string;
  readonly elements: number;
  readonly seconds: number;
  readonly failed: string;
}

/** A schedule that was tried: the median of its runs, the fastest and the slowest. */
export interface Candidate {
  readonly schedule: string;
  readonly seconds: number;
  readonly spread: readonly number[];
  readonly chosen: boolean;
  readonly note: string;
}

/** How often each loop ran, and the running time with the fastest and with the slowest run of each. */
export interface Repeated {
  readonly runs: number;
  readonly low: number;
  readonly high: number;
}

/** The runs that a pipeline's JSON tells of; null where each loop ran once. */
export function repeated(data: Fields): Repeated | null {
  const found = fields(data['repeated']);
  const runs = whole(found['runs']);
  const [low, high] = list(found['spread'], item => number(item));
  return runs > 1 && low !== undefined && high !== undefined ? { runs, low, high } : null;
}

/** The shares in a pipeline's JSON; none where one back end computed it. */
export function shares(data: Fields): Share[] {
  return list(fields(data['split'])['parts'], item => {
    const part = fields(item);
    return {
      backend: text(part['backend']),
      device: text(part['device']),
      elements: Math.max(0, whole(part['elements'])),
      seconds: Math.max(0, number(part['seconds'])),
      failed: text(part['failed'])
    };
  });
}

/** The schedules in a pipeline's JSON, the compiler's own first; none where nothing was tuned. */
export function tried(data: Fields): Candidate[] {
  return list(fields(data['tuning'])['tried'], item => {
    const each = fields(item);
    return {
      schedule: text(each['schedule']),
      seconds: Math.max(0, number(each['seconds'])),
      spread: list(each['spread'], value => number(value)),
      chosen: each['chosen'] === true,
      note: text(each['note'])
    };
  });
}

/** Who computed how much, and how fast. */
export function shareTable(parts: readonly Share[]): HTMLElement {
  const all = parts.reduce((sum, part) => sum + part.elements, 0);
  const rows = parts.map(part => [
    backendName(part.backend),
    units.grouped(part.elements),
    all > 0 ? `${units.digits((100 * part.elements) / all, 2)} %` : '',
    part.seconds > 0 ? units.seconds(part.seconds) : '–',
    part.seconds > 0 && part.elements > 0 ? units.seconds(part.seconds / part.elements) : '',
    oneLine(part.device, 60) + (part.failed ? ` · ✗ ${oneLine(part.failed)}` : '')
  ]);
  return table(['back end', 'elements', 'share', 'time', 'for each', 'on'], rows);
}

/** The compiler's own schedule, then the others from the fastest on. */
export function triedTable(candidates: readonly Candidate[]): HTMLElement {
  const best = candidates.find(each => each.chosen)?.seconds ?? 0;
  const order = (each: Candidate): number => (each.seconds > 0 ? each.seconds : Infinity);
  const [own, ...others] = candidates;
  const sorted = others.sort((a, b) => order(a) - order(b));
  const rows = (own === undefined ? [] : [own, ...sorted]).map(each => {
    const [low, high] = each.spread;
    const said = [each === own ? "the compiler's own" : '', each.chosen ? '✓ chosen' : '', oneLine(each.note)];
    return [
      oneLine(each.schedule, 100),
      each.seconds > 0 ? units.seconds(each.seconds) : '–',
      low !== undefined && high !== undefined ? `${units.seconds(low)} to ${units.seconds(high)}` : '',
      best > 0 && each.seconds > 0 ? `${units.times(each.seconds / best)} ×` : '',
      said.filter(part => part !== '').join(' · ')
    ];
  });
  return table(['schedule', 'time', 'spread', '÷ chosen', ''], rows);
}

/** Names in the first column, remarks in the last, figures between them. */
function table(names: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  const body = rows.map(row =>
    h('tr', {}, ...row.map((cell, at) =>
      at === 0
        ? h('th', { scope: 'row' }, cell)
        : h('td', { class: cls(at === row.length - 1 ? 'how' : 'number-cell') }, cell)))
  );
  const head = h('tr', {}, ...names.map(name => h('th', { scope: 'col' }, name)));
  return h('div', { class: cls('scroll') },
    h('table', { class: cls('table') }, h('thead', {}, head), h('tbody', {}, ...body)));
}
