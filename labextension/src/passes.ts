/** The pass stepper: what each pass did to the program, as a difference or as a whole. */

import { isMark } from './cut';
import { button, cls, h, oneLine, OWN_KEYS, visible } from './dom';
import { Change, diff, shortened } from './diff';
import { Pipeline } from './report';
import { stepper } from './stepper';

const SIGNS: Readonly<Record<Change['sign'], string>> = { '+': 'added', '-': 'removed', ' ': 'kept', '@': 'gap' };
/** A difference longer than this is cut; the whole text is one click away. */
const MOST = 500;

export function passes(pipeline: Pipeline): HTMLElement {
  const all = pipeline.code.passes;
  let at = 0;
  let whole = false;
  const doc = h('div', { class: cls('doc') });
  const text = h('div', { class: `${cls('listing')} ${cls('diff')}`, dir: 'ltr', tabindex: 0, role: 'region', 'aria-label': 'What the pass did', ...OWN_KEYS });
  const track = h('ol', { class: cls('track') });
  const mode = button('whole text', 'Show the whole program after this pass, not only what changed', () => {
    whole = !whole;
    mode.setAttribute('aria-pressed', String(whole));
    steps.go(at);
  });
  mode.setAttribute('aria-pressed', 'false');
  const differences = all.map((step, i) => {
    let made: Change[] | undefined;
    const before = i === 0 ? pipeline.code.pipeline : (all[i - 1]?.text ?? '');
    return () => (made ??= diff(lines(before), lines(step.text)));
  });
  const items = all.map((step, i) => {
    const item = h('li', {}, button(`${i + 1} ${oneLine(step.name, 40)}`, oneLine(step.doc), () => steps.go(i)));
    track.append(item);
    return item;
  });

  function show(next: number): string {
    at = next;
    const step = all[at];
    if (step === undefined) {
      return '';
    }
    const changes = differences[at]?.() ?? [];
    const [added, removed] = [count(changes, '+'), count(changes, '-')];
    const told = added + removed > 0 ? `+${added} −${removed} lines` : at === 0 ? 'as written' : 'changed nothing here';
    doc.textContent = visible(step.doc);
    items.forEach((item, i) => item.firstElementChild?.setAttribute('aria-current', i === at ? 'step' : 'false'));
    const asText: Change[] = lines(step.text).map(line => ({ sign: ' ', text: line }));
    const shown = whole || added + removed === 0 ? asText : shortened(changes);
    text.replaceChildren(...shown.slice(0, MOST).map(row));
    if (shown.length > MOST) {
      text.append(h('div', { class: cls('fold') }, `… ${shown.length - MOST} more lines`));
    }
    text.scrollTop = 0;
    return `${at + 1}/${all.length} ${visible(step.name)} · ${told}`;
  }

  const steps = stepper({ count: all.length, what: 'pass', show, more: [mode], body: [doc, text] });
  steps.element.prepend(track);
  steps.go(0);
  return steps.element;
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
    h('code', { class: isMark(change.text) ? cls('code', 'cut') : cls('code') }, visible(change.text))
  );
}
