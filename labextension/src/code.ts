/** The linked panes: a line under the pointer, in any of them, lights the same computation in all. */

import { hotLoop, Kind, kinds, KINDS, machine, Machine, withoutDebug } from './classify';
import { isMark, total, WHERE } from './cut';
import { button, Child, cls, h, oneLine, visible } from './dom';
import { explain, operation } from './glossary';
import { LinkIndex } from './links';
import { Listing, Pointed } from './listing';
import { draw } from './picture';
import { PaneKey, Pipeline, Report, Target, TARGETS } from './report';
import { plural } from './units';

const TITLES: Readonly<Record<PaneKey, string>> = {
  source: 'Cell',
  fused: 'Fused IR',
  llvm: 'LLVM IR',
  asm: 'Assembly',
  opencl: 'OpenCL C'
};

interface Pane {
  readonly key: PaneKey;
  readonly lines: readonly string[];
  readonly listing: Listing;
}

export class CodeView {
  readonly element: HTMLElement;
  private readonly _index: LinkIndex;
  private readonly _panes: Pane[] = [];
  private readonly _machine: Machine;
  private readonly _card = h('div', { class: cls('card') });
  private readonly _status = h('div', { role: 'status', class: cls('unseen') });
  private _pinned = false;
  private _debug = false;
  /** Which of a source line's links the left and right arrow keys have reached. */
  private _step = -1;

  constructor(report: Report, pipeline: Pipeline) {
    this._index = new LinkIndex(pipeline.links);
    this._machine = machine(pipeline.code.asm);
    const bar = h('div', { class: cls('toolbar'), role: 'group', 'aria-label': 'Which listings are shown' });
    // The cell and the fused IR are short: they stand above each other, the long listings beside them.
    const short = h('div', { class: cls('pane', 'short') });
    const grid = h('div', { class: cls('panes', 'wrap') }, short);
    for (const key of ['source', ...TARGETS] as const) {
      const text = key === 'source' ? report.source : pipeline.code[key];
      if (text.trim() === '') {
        continue;
      }
      const box = this._pane(pipeline, key, text);
      (key === 'source' || key === 'fused' ? short : grid).append(box);
      if (key !== 'source') {
        // What nothing ran comes when it is asked for.
        const ran = !pipeline.code.notRun.includes(key);
        box.hidden = !ran;
        bar.append(toggle(TITLES[key], `Show or hide: ${TITLES[key]}${ran ? '' : ' (for comparison: not run here)'}`, ran, on => (box.hidden = !on)));
      }
    }
    if (pipeline.code.llvm.includes('!dbg')) {
      bar.append(
        toggle('!dbg', 'Show the debug locations of LLVM IR, from which the links are made', false, on => {
          this._debug = on;
          this._panes.find(pane => pane.key === 'llvm')?.listing.refresh();
        })
      );
    }
    bar.append(toggle('wrap', 'Break long lines; without it they are read by scrolling sideways', true, on => grid.classList.toggle(cls('wrap'), on)));
    bar.append(toggle('taller', 'Show more lines of each listing', false, on => grid.classList.toggle(cls('tall'), on)));
    bar.append(legend());
    this.element = h('div', { class: cls('codeview') }, bar, this._card, this._status, grid);
    this.element.addEventListener('keydown', event => {
      if (event.key === 'Escape' && this._pinned) {
        this._pinned = false;
        this._show(null);
        event.stopPropagation();
      }
    });
    this._hint();
  }

  private _pane(pipeline: Pipeline, key: PaneKey, text: string): HTMLElement {
    const lines = text.replace(/\n+$/, '').split('\n');
    const hot = key === 'source' || key === 'fused' ? null : hotLoop(key, text);
    const coloured = key === 'source' || key === 'fused' ? {} : { kinds: kinds(key, text) };
    const listing = new Listing({
      label: `${TITLES[key]}, ${plural(lines.length, 'line')}. Arrow keys light what belongs to a line, Enter keeps it lit.`,
      lines,
      hot,
      ...coloured,
      render: (line, at) => this._render(key, line, at),
      point: at => this._point(key, at),
      pin: at => this._pin(key, at),
      ...(key === 'source' ? { sideways: (line: number, step: number) => this._sideways(line, step) } : {})
    });
    this._panes.push({ key, lines, listing });
    const head = h('div', { class: cls('panehead') }, h('b', {}, TITLES[key]));
    const count = plural(total(pipeline, `code.${key}`, lines.length), 'line');
    head.append(h('span', { class: cls('faint') }, hot === null ? count : `hot loop of ${count}`));
    if (pipeline.code.notRun.includes(key)) {
      head.append(h('span', { class: cls('cut'), title: 'For comparison: no back end ran it in this cell' }, 'not run here'));
    }
    if (pipeline.cut.has(`code.${key}`)) {
      head.append(h('span', { class: cls('cut'), title: WHERE }, `cut to ${lines.length}`));
    }
    if (hot !== null) {
      head.append(toggle('all', `Show all lines of ${TITLES[key]}, not only the hot loop`, false, on => listing.reset(on)));
    }
    return h('div', { class: cls('pane', `pane-${key}`) }, head, listing.element);
  }

  private _render(key: PaneKey, text: string, line: number): Child[] {
    if (key !== 'source' && isMark(text)) {
      return [h('span', { class: cls('cut') }, visible(text))];
    }
    if (key === 'source') {
      return this._index.segments(text, line).map(part => {
        const shown = visible(part.text);
        return part.id < 0 ? shown : h('span', { class: cls('span'), 'data-link': part.id }, shown);
      });
    }
    const shown = this._shown(key, text);
    const name = key === 'opencl' ? '' : operation(key, shown);
    const at = name === '' ? -1 : shown.indexOf(name, Math.max(0, shown.indexOf('= ') + 1));
    if (at < 0) {
      return [visible(shown)];
    }
    const word = h('span', { class: cls('op') }, name);
    return [visible(shown.slice(0, at)), word, visible(shown.slice(at + name.length))];
  }

  /** The line as a pane shows it: without what takes room and tells nothing. */
  private _shown(key: Target, text: string): string {
    switch (key) {
      case 'asm':
        return columns(text);
      case 'llvm':
        return this._debug ? text : withoutDebug(text);
      case 'fused':
        return text.replace(/ {3,}; /, '  ; '); // the remark is in a column of its own, too far right for a pane
      case 'opencl':
        return text;
    }
  }

  private _ids(key: PaneKey, at: Pointed): number[] {
    if (key !== 'source') {
      return this._index.at(key, at.line);
    }
    const span = at.key ? null : at.element.closest<HTMLElement>('[data-link]');
    return span === null ? this._index.at('source', at.line) : [Number(span.dataset['link'])];
  }

  private _point(key: PaneKey, at: Pointed | null): void {
    if (at?.key) {
      this._pinned = false;
    }
    if (!this._pinned && at !== null) {
      this._step = -1;
      this._show({ key, at, ids: this._ids(key, at) });
    }
  }

  private _pin(key: PaneKey, at: Pointed): void {
    this._pinned = !this._pinned || !at.key;
    this._show({ key, at, ids: this._ids(key, at) });
  }

  private _sideways(line: number, step: number): void {
    const ids = this._index.at('source', line);
    if (ids.length === 0) {
      return;
    }
    this._step = (this._step + step + ids.length) % ids.length;
    const element = this._panes[0]?.listing.row(line);
    const id = ids[this._step];
    if (element !== undefined && id !== undefined) {
      this._show({ key: 'source', at: { line, element, key: true }, ids: [id] });
    }
  }

  private _show(what: { key: PaneKey; at: Pointed; ids: readonly number[] } | null): void {
    const lit = this._index.lit(what?.ids ?? []);
    for (const pane of this._panes) {
      if (pane.key === 'source') {
        this._lightSource(pane.listing, lit.ids);
      } else {
        // Parts are what a span of the cell is made of; from a line of a listing only its own computation is meant.
        const parts = what?.key === 'source' ? lit.parts[pane.key] : new Set<number>();
        pane.listing.light(lit.lines[pane.key], parts, pane.key !== what?.key && what !== null);
      }
    }
    this.element.classList.toggle(cls('pinned'), this._pinned);
    if (what === null) {
      this._hint();
    } else {
      this._tell(what.key, what.at, what.ids);
    }
  }

  private _lightSource(listing: Listing, ids: ReadonlySet<number>): void {
    for (const span of listing.element.querySelectorAll<HTMLElement>('[data-link]')) {
      span.classList.toggle(cls('lit'), this._index.covers(ids, Number(span.dataset['link'])));
    }
  }

  private _hint(): void {
    const linked = this._index.links.length > 0;
    this._card.replaceChildren(
      h(
        'div',
        { class: cls('faint') },
        linked
          ? 'Point at a line, or move through a listing with the arrow keys: the same computation lights up in all of them. A click (or Enter) keeps it lit, Esc lets it go.'
          : 'Point at a line: its operation is explained here. (This report holds no links between the listings.)'
      )
    );
  }

  /** What the line does and where it comes from, in the card above the panes and for a screen reader. */
  private _tell(key: PaneKey, at: Pointed, ids: readonly number[]): void {
    const text = this._panes.find(pane => pane.key === key)?.lines[at.line - 1] ?? '';
    const known = key === 'source' ? null : explain(key, text, this._machine);
    const left = h('div', { class: cls('explained') });
    if (known !== null) {
      left.append(h('div', {}, h('code', { class: cls('op') }, visible(known.name)), ` ${known.says}`));
    }
    const links = ids.map(id => this._index.links[id]).filter(link => link !== undefined);
    const inner = links[links.length - 1];
    if (inner !== undefined) {
      const counts = TARGETS.filter(target => inner.lines[target].length > 0).map(
        (target: Target) => `${TITLES[target]} ${plural(inner.lines[target].length, 'line')}`
      );
      const where = h('div', {}, 'from line ', h('b', {}, String(inner.span.line)), ': ');
      where.append(h('code', { dir: 'ltr' }, oneLine(inner.text, 90)));
      const more = links.length > 1 ? ` and ${plural(links.length - 1, 'other place')}` : '';
      where.append(h('span', { class: cls('faint') }, `${more} → ${counts.join(', ') || 'no line of its own'}`));
      left.append(where);
    } else if (this._index.links.length > 0) {
      left.append(h('div', { class: cls('faint') }, 'No part of the cell of its own: it keeps the loop going.'));
    }
    if (this._pinned) {
      left.append(h('div', { class: cls('faint') }, 'Kept lit: Esc, or a click elsewhere, lets it go.'));
    }
    this._card.replaceChildren(left);
    if (known?.picture) {
      this._card.append(draw(known.picture));
    }
    if (at.key) {
      this._status.textContent = left.textContent;
    }
  }
}

/** A line of assembly with its tabs as blanks, so that operands stand in a column of their own. */
function columns(line: string): string {
  const [name = '', ...rest] = line.replace(/^\t/, '').split('\t');
  const indent = line.startsWith('\t') ? '  ' : '';
  return rest.length === 0 ? indent + name : `${indent}${name.padEnd(12)} ${rest.join(' ')}`;
}

function toggle(label: string, says: string, on: boolean, change: (on: boolean) => void): HTMLElement {
  const made = button(label, says, () => {
    const now = made.getAttribute('aria-pressed') !== 'true';
    made.setAttribute('aria-pressed', String(now));
    change(now);
  });
  made.setAttribute('aria-pressed', String(on));
  return made;
}

function legend(): HTMLElement {
  const items = KINDS.map(({ kind, letter, says }: { kind: Kind; letter: string; says: string }) =>
    h('span', { class: cls(kind), title: says }, h('span', { class: cls('badge') }, letter), kind)
  );
  return h('span', { class: cls('legend') }, ...items);
}
