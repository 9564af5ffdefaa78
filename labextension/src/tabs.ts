/** Tabs after the WAI-ARIA pattern: one stop for the Tab key, arrow keys between the tabs, panels made when first shown. */

import { cls, h, OWN_KEYS, unique } from './dom';

export interface Tab {
  readonly label: string;
  /** A few words on what is behind the tab, shown as its tooltip. */
  readonly hint: string;
  readonly build: () => Node;
}

export function tabs(label: string, all: readonly Tab[]): HTMLElement {
  const bar = h('div', { role: 'tablist', class: cls('tabs'), 'aria-label': label });
  const root = h('div', {}, bar);
  const made = all.map(tab => {
    const panel = h('div', { role: 'tabpanel', id: unique('panel'), class: cls('panel'), tabindex: -1, hidden: true });
    const head = h(
      'button',
      { type: 'button', role: 'tab', id: unique('tab'), class: cls('tab'), title: tab.hint, 'aria-controls': panel.id, ...OWN_KEYS },
      tab.label
    );
    panel.setAttribute('aria-labelledby', head.id);
    bar.append(head);
    root.append(panel);
    return { head, panel, build: tab.build, built: false };
  });
  const show = (chosen: number): void => {
    made.forEach((each, at) => {
      const on = at === chosen;
      each.head.setAttribute('aria-selected', String(on));
      each.head.tabIndex = on ? 0 : -1;
      each.panel.hidden = !on;
      if (on && !each.built) {
        each.built = true;
        each.panel.append(each.build());
      }
    });
  };
  made.forEach((each, at) => {
    each.head.addEventListener('click', () => show(at));
    each.head.addEventListener('keydown', event => {
      const next = moved(event.key, at, made.length);
      const target = made[next];
      if (target !== undefined && next !== at) {
        event.preventDefault();
        event.stopPropagation();
        show(next);
        target.head.focus();
      }
    });
  });
  show(0);
  return root;
}

/** Where an arrow key leads from a place in a row. */
export function moved(key: string, at: number, count: number): number {
  switch (key) {
    case 'ArrowRight':
      return (at + 1) % count;
    case 'ArrowLeft':
      return (at + count - 1) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return at;
  }
}
