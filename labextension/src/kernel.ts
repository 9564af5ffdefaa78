/**
 * What needs a living kernel: the button that asks for a panel, and the word that a panel's kernel is gone.
 *
 * A renderer of reports knows no kernel. So the button is shown where an element around it has the class
 * `hastega-living`, which this module keeps on every notebook, and a press is an event that bubbles up to there.
 * Widgets whose kernel died stay as they were, a bar at 40 % for ever: nobody but the front end can say so.
 */

import { button, cls, h } from './dom';
import { Report } from './report';

const ASKED = 'hastega-measure';
const MAGIC = /^(\s*%%hastega)(?=\s|$)(.*)/;
const ALIVE = new Set(['starting', 'idle', 'busy']);
const GONE = new Set(['restarting', 'autorestarting', 'terminating', 'dead']);
const LOST = 'The kernel is gone: this panel measures no more, and a measurement under way is lost. Run the cell again for a new one.';

/** Signals as Lumino has them. */
interface Signal<T> {
  connect(slot: (sender: unknown, value: T) => void): boolean;
  disconnect(slot: (sender: unknown, value: T) => void): boolean;
}

/** As much of a notebook's session as is looked at. */
export interface Session {
  readonly session: { readonly kernel: { readonly status: string } | null } | null;
  readonly statusChanged: Signal<string>;
  readonly kernelChanged: Signal<{ readonly oldValue: unknown; readonly newValue: unknown }>;
}

export interface Cell {
  readonly node: HTMLElement;
  readonly model: { readonly sharedModel: { getSource(): string; setSource(text: string): void } };
}

/** As much of a notebook as is looked at. Cells that are far from the screen may not be in the page, but are here. */
export interface Notebook {
  readonly node: HTMLElement;
  readonly content: { readonly widgets: readonly Cell[]; activeCellIndex: number; deselectAll(): void };
}

/** "Measure…": runs the report's cell again with `--widgets`. Null where there is nothing to measure, or a panel already. */
export function measureButton(report: Report): HTMLElement | null {
  const source = MAGIC.exec(report.source);
  if (source === null || !report.measurable || (source[2] ?? '').includes('--widgets')) {
    return null;
  }
  const says = 'Add --widgets to the first line of the cell and run it again: a panel to choose back end, threads and size, and to measure';
  const made = button('Measure with other choices…', says, () => made.dispatchEvent(new CustomEvent(ASKED, { bubbles: true })));
  made.classList.add(cls('measure'));
  return made;
}

/** The text of a cell with `--widgets` in its first line; null where it is no cell of ours. */
export function withWidgets(text: string): string | null {
  const found = MAGIC.exec(text);
  if (found === null) {
    return null;
  }
  return (found[2] ?? '').includes('--widgets') ? text : text.replace(MAGIC, '$1 --widgets$2');
}

/** Follow a notebook's kernel; `run` runs the notebook's active cell. Returns what ends it. */
export function followKernel(notebook: Notebook, session: Session, run: () => void): () => void {
  const update = (): void => {
    notebook.node.classList.toggle(cls('living'), ALIVE.has(session.session?.kernel?.status ?? ''));
  };
  const status = (_: unknown, now: string): void => {
    if (GONE.has(now)) {
      lose(notebook);
    }
    update();
  };
  const kernel = (_: unknown, change: { readonly oldValue: unknown }): void => {
    if (change.oldValue) {
      lose(notebook);
    }
    update();
  };
  const asked = (event: Event): void => {
    const at = notebook.content.widgets.findIndex(cell => cell.node.contains(event.target as Node));
    const text = notebook.content.widgets[at]?.model.sharedModel;
    const wanted = text === undefined ? null : withWidgets(text.getSource());
    if (text === undefined || wanted === null) {
      (event.target as HTMLElement).replaceWith(h('div', { class: cls('faint') }, 'The cell above is not the one of this report: give that one the option --widgets.'));
      return;
    }
    text.setSource(wanted);
    notebook.content.deselectAll();
    notebook.content.activeCellIndex = at;
    run();
  };
  session.statusChanged.connect(status);
  session.kernelChanged.connect(kernel);
  notebook.node.addEventListener(ASKED, asked);
  update();
  return () => {
    session.statusChanged.disconnect(status);
    session.kernelChanged.disconnect(kernel);
    notebook.node.removeEventListener(ASKED, asked);
  };
}

/** Say on each panel of the notebook that it is dead, and take its controls out of use. */
function lose(notebook: Notebook): void {
  for (const cell of notebook.content.widgets) {
    for (const panel of cell.node.querySelectorAll<HTMLElement>(`.${cls('widgets')}:not(.${cls('gone')})`)) {
      panel.classList.add(cls('gone'));
      for (const child of Array.from(panel.children)) {
        child.toggleAttribute('inert', true);
      }
      panel.prepend(h('div', { class: cls('report', 'lost') }, h('div', { class: cls('note'), role: 'status' }, LOST)));
    }
  }
}
