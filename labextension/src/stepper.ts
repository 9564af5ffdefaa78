/** One step after the other: buttons back and forth, the arrow keys, and a line that says where one is. */

import { button, cls, h } from './dom';
import { moved } from './tabs';

export interface StepperOptions {
  readonly count: number;
  /** What one goes through: "pass", "step". */
  readonly what: string;
  /** Show a step, counted from 0; returns what is said of it beside the buttons. */
  readonly show: (at: number) => string;
  /** Stand behind the words. */
  readonly more?: readonly HTMLElement[];
  /** What the buttons move; the arrow keys count anywhere in it. */
  readonly body: readonly (Node | null)[];
}

export interface Stepper {
  readonly element: HTMLElement;
  /** Show a step (the nearest there is). */
  readonly go: (at: number) => void;
}

export function stepper(options: StepperOptions): Stepper {
  const { count, what, show } = options;
  let at = 0;
  const place = h('b', { role: 'status' });
  const back = button('◀', `The ${what} before (left arrow)`, () => go(at - 1), { 'aria-label': `The ${what} before` });
  const forth = button('▶', `The next ${what} (right arrow)`, () => go(at + 1), { 'aria-label': `The next ${what}` });
  const bar = h('div', { class: cls('toolbar'), role: 'group', 'aria-label': 'Steps' }, back, forth, place, ...(options.more ?? []));
  const element = h('div', {}, bar, ...options.body);

  function go(next: number): void {
    at = Math.max(0, Math.min(count - 1, next));
    back.disabled = at === 0;
    forth.disabled = at >= count - 1;
    place.textContent = count > 0 ? show(at) : '';
  }

  element.addEventListener('keydown', event => {
    const next = moved(event.key, at, count);
    // No turning from the last to the first: a step back is a step back.
    if ((event.key === 'ArrowLeft' || event.key === 'ArrowRight') && Math.abs(next - at) === 1) {
      event.preventDefault();
      event.stopPropagation();
      go(next);
    }
  });
  return { element, go };
}
