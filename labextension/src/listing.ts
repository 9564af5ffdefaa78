/**
 * A listing as a list box: one stop for the Tab key, arrow keys from line to line, folds for what is cold or long.
 *
 * Only lines that are open are in the page; a fold opens in portions, so a listing of any length stays light.
 */

import { Kind, KINDS, Range } from './classify';
import { Child, cls, h, OWN_KEYS, unique } from './dom';

/** How many lines a fold opens at once, and how many are shown at first. */
export const PORTION = 300;

export interface Pointed {
  readonly line: number;
  readonly element: Element;
  /** By a key rather than by the mouse. */
  readonly key: boolean;
}

export interface ListingOptions {
  readonly label: string;
  readonly lines: readonly string[];
  readonly kinds?: readonly Kind[];
  /** What is open at first; everything, if null. */
  readonly hot: Range | null;
  /** A line's content; `line` counts from 1. */
  readonly render: (text: string, line: number) => readonly Child[];
  readonly point: (at: Pointed | null) => void;
  readonly pin: (at: Pointed) => void;
  /** Left and right arrow keys. */
  readonly sideways?: (line: number, step: number) => void;
}

const LETTERS = new Map(KINDS.map(({ kind, letter, says }) => [kind, { letter, says }]));

export class Listing {
  readonly element: HTMLElement;
  private readonly _options: ListingOptions;
  private readonly _lines = new Map<number, HTMLElement>();
  private _lit: ReadonlySet<number> = new Set();
  private _parts: ReadonlySet<number> = new Set();
  private _active: HTMLElement | null = null;

  constructor(options: ListingOptions) {
    this._options = options;
    this.element = h('div', {
      role: 'listbox',
      tabindex: 0,
      dir: 'ltr',
      class: cls('listing'),
      'aria-label': options.label,
      ...OWN_KEYS
    });
    this.reset(false);
    this.element.addEventListener('mouseover', event => this._over(event));
    this.element.addEventListener('mouseleave', () => options.point(null));
    this.element.addEventListener('click', event => this._click(event));
    this.element.addEventListener('keydown', event => this._key(event));
    this.element.addEventListener('focus', () => this._pointActive());
    this.element.addEventListener('blur', () => options.point(null));
  }

  /** Show all lines (in portions), or the hot ones with the rest folded. */
  reset(all: boolean): void {
    const { lines, hot } = this._options;
    this._lines.clear();
    this._activate(null);
    this.element.replaceChildren();
    const range = all || hot === null ? { start: 0, end: lines.length } : hot;
    if (range.start > 0) {
      this.element.append(this._fold(0, range.start));
    }
    this._append(range.start, range.end, this.element, null);
    if (range.end < lines.length) {
      this.element.append(this._fold(range.end, lines.length));
    }
    this.light(this._lit, this._parts);
  }

  /** Fill the rows of the lines anew, after `render` changed its mind. */
  refresh(): void {
    for (const [line, row] of this._lines) {
      const code = row.lastElementChild;
      code?.replaceChildren(...this._content(line).filter(child => child !== null));
    }
  }

  /** Light lines, numbered from 1; `parts` more faintly. Brings the first of them into the listing's view. */
  light(lit: ReadonlySet<number>, parts: ReadonlySet<number>, reveal = false): void {
    for (const line of [...this._lit, ...this._parts]) {
      this._lines.get(line)?.classList.remove(cls('lit'), cls('part'));
    }
    this._lit = lit;
    this._parts = parts;
    for (const line of parts) {
      this._lines.get(line)?.classList.add(cls('part'));
    }
    for (const line of lit) {
      this._lines.get(line)?.classList.add(cls('lit'));
    }
    for (const fold of this.element.querySelectorAll<HTMLElement>(`.${cls('fold')}`)) {
      this._tell(fold);
    }
    if (reveal) {
      this._reveal(lit.size > 0 ? lit : parts);
    }
  }

  /** The element of a line, if it is open. */
  row(line: number): HTMLElement | undefined {
    return this._lines.get(line);
  }

  private _content(line: number): readonly Child[] {
    return this._options.render(this._options.lines[line - 1] ?? '', line);
  }

  private _row(at: number): HTMLElement {
    const line = at + 1;
    const kind = this._options.kinds?.[at] ?? 'none';
    const badge = LETTERS.get(kind);
    const row = h(
      'div',
      { role: 'option', id: unique('line'), 'data-line': line, class: `${cls('line')} ${cls(kind)}`, 'aria-selected': 'false' },
      h('span', { class: cls('number'), 'aria-hidden': 'true' }, String(line)),
      this._options.kinds === undefined
        ? null
        : h('span', { class: cls('badge'), title: badge?.says ?? '', 'aria-label': badge ? kind : '' }, badge?.letter ?? ''),
      h('code', { class: cls('code') }, ...this._content(line))
    );
    this._lines.set(line, row);
    return row;
  }

  /** Rows for lines from `start` to `end`, at most a portion of them and a fold for the rest. */
  private _append(start: number, end: number, parent: HTMLElement, before: Node | null): void {
    const stop = Math.min(end, start + PORTION);
    const made = document.createDocumentFragment();
    for (let at = start; at < stop; at += 1) {
      made.append(this._row(at));
    }
    if (stop < end) {
      made.append(this._fold(stop, end));
    }
    parent.insertBefore(made, before);
  }

  private _fold(start: number, end: number): HTMLElement {
    const row = h('div', {
      role: 'option',
      id: unique('fold'),
      class: cls('fold'),
      'data-start': start,
      'data-end': end,
      'aria-selected': 'false'
    });
    this._tell(row);
    return row;
  }

  private _tell(fold: HTMLElement): void {
    const [start, end] = [Number(fold.dataset['start']), Number(fold.dataset['end'])];
    const inside = Array.from(this._lit).filter(line => line > start && line <= end).length;
    const linked = inside > 0 ? `, ${inside} of them linked` : '';
    const words = `▸ ${end - start === 1 ? `line ${end}` : `lines ${start + 1} to ${end}`}${linked}`;
    fold.classList.toggle(cls('lit'), inside > 0);
    if (fold.textContent !== words) {
      fold.textContent = words;
      fold.title = 'Open these lines';
    }
  }

  private _open(fold: HTMLElement): void {
    const start = Number(fold.dataset['start']);
    const after = fold.nextSibling;
    fold.remove();
    this._append(start, Number(fold.dataset['end']), this.element, after);
    this.light(this._lit, this._parts);
    this._activate(this._lines.get(start + 1) ?? null);
  }

  private _pointed(row: HTMLElement, element: Element, key: boolean): Pointed {
    return { line: Number(row.dataset['line']), element, key };
  }

  private _rowOf(event: Event): { row: HTMLElement; element: Element } | null {
    const element = event.target instanceof Element ? event.target : null;
    const row = element?.closest<HTMLElement>('[role=option]') ?? null;
    return element === null || row === null || !this.element.contains(row) ? null : { row, element };
  }

  private _over(event: Event): void {
    const found = this._rowOf(event);
    if (found?.row.dataset['line'] !== undefined) {
      this._options.point(this._pointed(found.row, found.element, false));
    }
  }

  private _click(event: Event): void {
    const found = this._rowOf(event);
    if (found === null) {
      return;
    }
    if (found.row.classList.contains(cls('fold'))) {
      this._open(found.row);
    } else {
      this._activate(found.row);
      this._options.pin(this._pointed(found.row, found.element, false));
    }
  }

  private _activate(row: HTMLElement | null): void {
    this._active?.classList.remove(cls('active'));
    this._active?.setAttribute('aria-selected', 'false');
    this._active = row;
    if (row === null) {
      this.element.removeAttribute('aria-activedescendant');
      return;
    }
    row.classList.add(cls('active'));
    row.setAttribute('aria-selected', 'true');
    this.element.setAttribute('aria-activedescendant', row.id);
  }

  private _pointActive(): void {
    if (this._active === null) {
      const first = this.element.querySelector<HTMLElement>('[data-line]');
      this._activate(first ?? (this.element.firstElementChild as HTMLElement | null));
    }
    const row = this._active;
    if (row?.dataset['line'] !== undefined) {
      this._options.point(this._pointed(row, row, true));
    }
  }

  private _key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const row = this._active;
    const rows = Array.from(this.element.children) as HTMLElement[];
    const at = row === null ? -1 : rows.indexOf(row);
    const goal: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + 15,
      PageUp: at - 15,
      Home: 0,
      End: rows.length - 1
    };
    const next = goal[event.key];
    if (next !== undefined) {
      this._activate(rows[Math.max(0, Math.min(rows.length - 1, next))] ?? null);
      this._within(this._active);
      this._pointActive();
    } else if ((event.key === 'Enter' || event.key === ' ') && row !== null) {
      if (row.classList.contains(cls('fold'))) {
        this._open(row);
        this._pointActive();
      } else {
        this._options.pin(this._pointed(row, row, true));
      }
    } else if ((event.key === 'ArrowLeft' || event.key === 'ArrowRight') && row?.dataset['line'] !== undefined) {
      this._options.sideways?.(Number(row.dataset['line']), event.key === 'ArrowRight' ? 1 : -1);
    } else {
      return;
    }
    // The notebook has its own meaning for these keys.
    event.preventDefault();
    event.stopPropagation();
  }

  /** Scroll the listing, and nothing else, until the row is in its view. */
  private _within(row: HTMLElement | null): void {
    if (row === null) {
      return;
    }
    const top = row.offsetTop;
    if (top < this.element.scrollTop) {
      this.element.scrollTop = top;
    } else if (top + row.offsetHeight > this.element.scrollTop + this.element.clientHeight) {
      this.element.scrollTop = top + row.offsetHeight - this.element.clientHeight;
    }
  }

  private _reveal(lines: ReadonlySet<number>): void {
    const rows = Array.from(lines)
      .sort((a, b) => a - b)
      .map(line => this._lines.get(line))
      .filter(row => row !== undefined);
    const [low, high] = [this.element.scrollTop, this.element.scrollTop + this.element.clientHeight];
    const seen = rows.some(row => {
      const top = row.offsetTop;
      return top >= low && top + row.offsetHeight <= high;
    });
    if (!seen && rows[0] !== undefined) {
      this.element.scrollTop = rows[0].offsetTop - 20;
    }
  }
}
