/** The N slider: how long each back end would take for another number of elements, and where one overtakes another. */

import { chart, pen } from './chart';
import { cost, crossings, extent, fastest } from './cost';
import { cls, h, OWN_KEYS, svg, unique } from './dom';
import { otherwise, taken } from './otherwise';
import { breakEven } from './ranges';
import { Pipeline } from './report';
import { Model, ModelRow } from './curves';
import * as units from './units';
import { backendName, phaseName } from './verdict';

/** Positions of the slider in a factor of ten. */
const FINE = 20;

export function sizes(pipeline: Pipeline, model: Model): HTMLElement {
  const { elements } = pipeline;
  const [low, high] = extent(model);
  const found = crossings(model);
  const picture = chart(model, found);
  const name = unique('n');
  const slider = h('input', {
    type: 'range',
    id: name,
    class: cls('slider'),
    min: Math.round(Math.log10(low) * FINE),
    max: Math.round(Math.log10(high) * FINE),
    step: 1,
    ...OWN_KEYS
  });
  const start = elements >= low && elements <= high ? elements : (model.n[model.n.length - 1] ?? low);
  slider.value = String(Math.round(Math.log10(start) * FINE));
  const output = h('output', { for: name });
  const body = h('tbody');
  const rows = model.rows.map((row, at) => {
    const cells = { time: h('td', { class: cls('number-cell') }), ratio: h('td', { class: cls('number-cell') }), parts: h('td') };
    body.append(h('tr', {}, h('th', { scope: 'row' }, key(at), ` ${backendName(row.backend)}`), cells.time, cells.ratio, cells.parts));
    return { row, cells };
  });
  const update = (n: number): void => {
    const best = fastest(model, n);
    output.textContent = `${units.amount(n)} elements`;
    slider.setAttribute('aria-valuetext', `${units.amount(n)} elements; the fastest is ${best ? backendName(best.backend) : 'none'}`);
    for (const { row, cells } of rows) {
      const time = cost(row, n);
      cells.time.textContent = `≈ ${units.seconds(time)}`;
      cells.ratio.textContent = row === best ? 'fastest' : best ? `${units.times(time / cost(best, n))} ×` : '';
      cells.parts.textContent = parts(row, n);
      cells.time.parentElement?.classList.toggle(cls('best'), row === best);
    }
    picture.mark(n);
  };
  slider.addEventListener('input', () => update(Math.max(1, Math.round(10 ** (Number(slider.value) / FINE)))));
  update(start); // the cell's own number, until the slider is moved
  const named = breakEven(model, found).map(({ name, rest }) => h('li', {}, h('b', {}, name), ` ${rest}`));
  const word = taken(pipeline, model);
  const how = word === '' ? '' : `, ${word}`;
  const only = fastest(model, low);
  const predicted = model.rows.some(row => (row.curve ?? []).length > 1);
  return h(
    'div',
    {},
    h('div', { class: cls('sliderow') }, h('label', { for: name }, 'elements'), slider, output),
    h('div', { class: cls('scroll') }, picture.element),
    h('div', { class: cls('scroll') },
      h('table', { class: cls('table') },
        h('thead', {}, h('tr', {}, ...['back end', 'time', '', model.rows.some(row => row.phases.length > 0) ? 'of which' : ''].map(text => h('th', { scope: 'col' }, text)))), body)),
    named.length > 0
      ? h('div', {}, `Break-even${how}:`, h('ul', { class: cls('plain') }, ...named))
      : h('div', {}, `${only ? backendName(only.backend) : 'No back end'} is the fastest for every size drawn${how}.`),
    ...otherwise(pipeline, model).map(text => h('div', { class: cls('note') }, text)),
    h('div', { class: cls('faint') }, `Lines: ${predicted ? 'predicted by the cost model' : 'fitted, seconds per element and seconds once for each phase'}. Small rings: measured on this machine, and beyond them it is an extrapolation. Filled dots: what the lines say for the slider's number.`)
  );
}

/** A short piece of a back end's curve. */
function key(at: number): SVGElement {
  const { dash, name } = pen(at);
  return svg('svg', { width: 26, height: 10, 'aria-hidden': 'true' }, svg('line', { x1: 0, y1: 5, x2: 26, y2: 5, class: name, 'stroke-dasharray': dash }));
}

/** What a phase takes; where the time is predicted, its part of what was measured. */
function amount(row: ModelRow, seconds: number, whole: number): string {
  return (row.curve ?? []).length > 1 ? `${units.digits((100 * seconds) / whole, 2)} %` : units.seconds(seconds);
}

/** The phases of a time that matter: `kernel 12.1 ms, from device 3.2 ms`. */
function parts(row: ModelRow, n: number): string {
  const each = row.phases.map(phase => ({ name: phase.name, seconds: Math.max(0, phase.a * n + phase.b) }));
  const whole = each.reduce((sum, phase) => sum + phase.seconds, 0);
  return each
    .filter(phase => phase.seconds >= whole * 0.02)
    .map(phase => `${phaseName(phase.name)} ${amount(row, phase.seconds, whole)}`)
    .join(', ');
}
