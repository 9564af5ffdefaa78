/** The lane view: one vector step of the loop after the other, on the cell's own first elements. */

import { cls, h, oneLine, visible } from './dom';
import { explain } from './glossary';
import { Lanes } from './report';
import { stepper } from './stepper';

/** As many steps before the current one are kept in sight. */
const HISTORY = 4;

export function laneView(lanes: Lanes): HTMLElement {
  const all = lanes.steps;
  const says = h('div', { class: cls('doc') });
  const table = h('table', { class: cls('lanes') });
  const numbers = Array.from({ length: lanes.lanes }, (_, i) => h('th', { scope: 'col' }, `lane ${i}`));
  const head = h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'line'), h('th', { scope: 'col' }, 'step'), ...numbers));
  const body = h('tbody');
  table.append(head, body);

  function show(at: number): string {
    const step = all[at];
    const alive = step?.active.filter(Boolean).length ?? 0;
    says.textContent = (step && explain('fused', step.text, 'x86')?.says) ?? '';
    const rows = all.slice(Math.max(0, at - HISTORY), at + 1).map((each, i, shown) => {
      const cells = Array.from({ length: lanes.lanes }, (_, lane) => {
        const on = each.active[lane] ?? true;
        const value = oneLine(each.values[lane] ?? '', 24);
        return h('td', { class: cls(on ? 'lane' : 'dead'), title: on ? value : 'does not count' }, value);
      });
      const now = i === shown.length - 1;
      return h('tr', now ? { class: cls('now'), 'aria-current': 'step' } : {},
        h('td', { class: cls('number') }, String(each.line || '')),
        h('th', { scope: 'row' }, h('code', { dir: 'ltr' }, visible(oneLine(each.text, 70)))),
        ...cells);
    });
    body.replaceChildren(...rows);
    return `step ${at + 1}/${all.length} · ${alive} of ${lanes.lanes} lanes count`;
  }

  const steps = stepper({
    count: all.length,
    what: 'step',
    show,
    body: [
      says,
      h('div', { class: cls('scroll') }, table),
      h('div', { class: cls('faint') }, 'Each column is a lane: one element of the first vector. Line numbers are those of the fused IR.'),
      all.some(step => step.active.includes(false))
        ? h('div', { class: cls('faint') }, 'Hatched lanes do not count there: a filter left them out, the other branch was taken, or the source has no more elements.')
        : null,
      lanes.total > all.length ? h('div', { class: cls('faint') }, `The first ${all.length} of ${lanes.total} steps.`) : null
    ]
  });
  steps.go(0);
  return steps.element;
}
