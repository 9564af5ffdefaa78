/** The pass stepper: what each pass did to the program, as a difference or as a whole. */

import { button, cls, h, oneLine, OWN_KEYS, visible } from './dom';
import { Change, diff, shortened } from './diff';
import { Pipeline } from './report';
import { moved } from './tabs';

const SIGNS: Readonly<Record<Change['sign'], string>> = { '+': 'added', '-': 'removed', ' ': 'kept', '@': 'gap' };
/** A difference longer than this is cut; the whole text is one click away. */
const MOST = 500;

export function passes(pipeline: Pipeline): HTMLElement {
  const all = pipeline.code.passes;
  let at = 0;
  let whole = false;
  const place = h('b', { role: 'status' });
  const doc = h('div', { class: cls('doc') });
  const text = h('div', { class: `${cls('listing')} ${cls('diff')}`, dir: 'ltr', tabindex: 0, role: 'region', 'aria-label': 'What the pass did', ...OWN_KEYS });
  const track = h('ol', { class: cls('track') });
  const back = button('◀', 'The pass before (left arrow)', () => go(at - 1), { 'aria-label': 'The pass before' });
  const forth = button('▶', 'The next pass (right arrow)', () => go(at + 1), { 'aria-label': 'The next pass' });
  const mode = button('whole text', 'Show the whole program after this pass, not only what changed', () => {
    whole = !whole;
    mode.setAttribute('aria-pressed', String(whole));
    go(at);
  });
  mode.setAttribute('aria-pressed', 'false');
  const differences = all.map((step, i) => {
    let made: Change[] | undefined;
    const before = i === 0 ? pipeline.code.pipeline : (all[i - 1]?.text ?? '');
    return () => (made ??= diff(lines(before), lines(step.text)));
  });
  const items = all.map((step, i) => {
    const item = h('li', {}, button(`${i + 1} ${oneLine(step.name, 40)}`, oneLine(step.doc), () => go(i)));
    track.append(item);
    return item;
  });

  function go(next: number): void {
    at = Math.max(0, Math.min(all.length - 1, next));
    const step = all[at];
    if (step === undefined) {
      return;
    }
    const changes = differences[at]?.() ?? [];
    const [added, removed] = [count(changes, '+'), count(changes, '-')];
    const told = added + removed > 0 ? `+${added} −${removed} lines` : at === 0 ? 'as written' : 'changed nothing here';
    place.textContent = `${at + 1}/${all.length} ${visible(step.name)} · ${told}`;
    doc.textContent = visible(step.doc);
    back.disabled = at === 0;
    forth.disabled = at === all.length - 1;
    items.forEach((item, i) => item.firstElementChild?.setAttribute('aria-current', i === at ? 'step' : 'false'));
    const asText: Change[] = lines(step.text).map(line => ({ sign: ' ', text: line }));
    const shown = whole || added + removed === 0 ? asText : shortened(changes);
    text.replaceChildren(...shown.slice(0, MOST).map(row));
    if (shown.length > MOST) {
      text.append(h('div', { class: cls('fold') }, `… ${shown.length - MOST} more lines`));
    }
    text.scrollTop = 0;
  }

  const bar = h('div', { class: cls('toolbar'), role: 'group', 'aria-label': 'Passes' }, back, forth, place, mode);
  const root = h('div', {}, track, bar, doc, text);
  root.addEventListener('keydown', event => {
    const next = moved(event.key, at, all.length);
    if ((event.key === 'ArrowLeft' || event.key === 'ArrowRight') && Math.abs(next - at) === 1) {
      event.preventDefault();
      event.stopPropagation();
      go(next);
    }
  });
  go(0);
  return root;
}

function lines(text: string): string[] {
  return text.replace(/\n+$/, '').split('\n');
}

function count(changes: readonly Change[], sign: Change['sign']): number {
  return changes.filter(change => change.sign === sign).length;
}

function row(change: Change): HTMLElement {
  const sign = change.sign === '-' ? '−' : change.sign === '@' ? '⋯' : change.sign;
  return h(
    'div',
    { class: `${cls('line')} ${cls(SIGNS[change.sign])}` },
    h('span', { class: cls('badge') }, sign),
    h('code', { class: cls('code') }, visible(change.text))
  );
}
