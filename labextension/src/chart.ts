/** The chart of the cost model: a curve for each back end on logarithmic axes, dots where it was measured. */

import { cost, Crossing, extent } from './cost';
import { cls, svg } from './dom';
import { breakEven } from './ranges';
import { Model } from './curves';
import { about } from './ranges';
import * as units from './units';
import { backendName } from './verdict';

const WIDTH = 680;
const HEIGHT = 270;
const BOX = { left: 62, right: 14, top: 12, bottom: 34 };
/** About how wide a character of a crossing's words is, and where these are tried, from its ring. */
const CHARACTER = 6.6;
const BESIDE = [20, -13, 36, -29, 52, -45];
/** Dashes tell the curves apart where colours do not. */
const DASHES = ['', '7 3', '2 3', '9 3 2 3', '4 2', '1 2'];

export interface Chart {
  readonly element: SVGElement;
  /** Move the vertical line to n elements. */
  readonly mark: (n: number) => void;
}

/** The dash pattern and colour class of a back end's curve, for the chart and for its legend. */
export function pen(at: number): { readonly dash: string; readonly name: string } {
  return { dash: DASHES[at % DASHES.length] ?? '', name: cls('curve', `curve${at % 6}`) };
}

export function chart(model: Model, found: readonly Crossing[]): Chart {
  const [low, high] = extent(model).map(Math.log10) as [number, number];
  const sizes = Array.from({ length: 61 }, (_, i) => 10 ** (low + ((high - low) * i) / 60));
  const times = model.rows.flatMap(row => [...sizes.map(n => cost(row, n)), ...row.points.map(([, s]) => s)]);
  const bottom = Math.floor(Math.log10(Math.min(...times)));
  const top = Math.max(bottom + 1, Math.ceil(Math.log10(Math.max(...times))));
  const x = (n: number): number => BOX.left + ((Math.log10(n) - low) / (high - low)) * (WIDTH - BOX.left - BOX.right);
  const y = (s: number): number => HEIGHT - BOX.bottom - ((Math.log10(s) - bottom) / (top - bottom)) * (HEIGHT - BOX.top - BOX.bottom);
  const said = breakEven(model, found).map(({ name, rest }) => `${name} ${rest}`);
  const label = `Time over the number of elements, both logarithmic. ${said.join('; ') || 'One back end is the fastest for all sizes.'}`;
  const root = svg('svg', { class: cls('chart'), role: 'img', 'aria-label': label, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT });

  const every = Math.ceil((top - bottom) / 7);
  for (let power = bottom; power <= top; power += every) {
    const at = y(10 ** power);
    root.append(svg('line', { x1: BOX.left, x2: WIDTH - BOX.right, y1: at, y2: at, class: cls('grid') }));
    root.append(svg('text', { x: BOX.left - 6, y: at + 4, 'text-anchor': 'end', class: cls('label') }, decade(power)));
  }
  for (let power = Math.ceil(low); power <= high; power += 1) {
    const at = x(10 ** power);
    root.append(svg('line', { x1: at, x2: at, y1: BOX.top, y2: HEIGHT - BOX.bottom, class: cls('grid') }));
    root.append(svg('text', { x: at, y: HEIGHT - BOX.bottom + 14, 'text-anchor': 'middle', class: cls('label') }, power < 4 ? String(10 ** power) : `10${raised(power)}`));
  }
  root.append(svg('text', { x: (BOX.left + WIDTH) / 2, y: HEIGHT - 4, 'text-anchor': 'middle', class: cls('label') }, 'elements'));

  const cursor = svg('line', { y1: BOX.top, y2: HEIGHT - BOX.bottom, class: cls('cursor') });
  const beads = svg('g', {});
  model.rows.forEach((row, at) => {
    const { dash, name } = pen(at);
    const points = sizes.map(n => `${x(n).toFixed(1)},${y(cost(row, n)).toFixed(1)}`).join(' ');
    root.append(svg('polyline', { points, class: name, 'stroke-dasharray': dash }));
    for (const [n, s] of row.points) {
      const dot = svg('circle', { cx: x(n), cy: y(s), r: 3.5, class: `${name} ${cls('dot')}` });
      dot.append(svg('title', {}, `${backendName(row.backend)}: ${units.amount(n)} elements, ${units.seconds(s)}, measured`));
      root.append(dot);
    }
  });
  // Words stand on no ring either; its middle is a little above theirs.
  const taken = found.map(each => ({ from: x(each.n) - 8, to: x(each.n) + 8, y: y(each.seconds) + 3 }));
  for (const each of found) {
    const [cx, cy] = [x(each.n), y(each.seconds)];
    root.append(svg('circle', { cx, cy, r: 7, class: cls('crossing') }));
    const text = `${backendName(each.to)} from ${about(each.n)}`;
    const wide = CHARACTER * text.length;
    const end = cx + 10 + wide > WIDTH - BOX.right;
    const [from, to] = end ? [cx - 10 - wide, cx - 10] : [cx + 10, cx + 10 + wide];
    // Below the ring or above it, not on the axis, nor on another's words.
    const free = BESIDE.map(step => cy + step).find(
      at => at > BOX.top + 8 && at < HEIGHT - BOX.bottom - 4 && !taken.some(other => from < other.to && other.from < to && Math.abs(at - other.y) < 14)
    );
    if (free !== undefined) {
      taken.push({ from, to, y: free });
      root.append(svg('text', { x: end ? to : from, y: free, 'text-anchor': end ? 'end' : 'start', class: cls('crossing-label') }, text));
    }
  }
  root.append(cursor, beads);
  const mark = (n: number): void => {
    cursor.setAttribute('x1', String(x(n)));
    cursor.setAttribute('x2', String(x(n)));
    beads.replaceChildren(
      ...model.rows.map((row, at) => svg('circle', { cx: x(n), cy: y(cost(row, n)), r: 4, class: `${pen(at).name} ${cls('bead')}` }))
    );
  };
  return { element: root, mark };
}

function decade(power: number): string {
  const [unit, shift] = power >= 0 ? ['s', 0] : power >= -3 ? ['ms', 3] : power >= -6 ? ['µs', 6] : ['ns', 9];
  return `${units.grouped(10 ** (power + Number(shift)))} ${unit}`;
}

/** A power's digits as superscripts. */
export function raised(power: number): string {
  return Array.from(String(power), digit => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] ?? digit).join('');
}
