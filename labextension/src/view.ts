/** A whole report: the verdict at once, everything else when it comes into view. */

import { shareTable, triedTable } from './choices';
import { CodeView } from './code';
import { total, WHERE } from './cut';
import { button, cls, h, oneLine, unique } from './dom';
import { baselines, phases, timeBar } from './figures';
import { graphs } from './graph';
import { measureButton } from './kernel';
import { laneView } from './lanes';
import { passes } from './passes';
import { Pipeline, Report, SCHEMA } from './report';
import { sizes } from './size';
import { Tab, tabs } from './tabs';
import * as units from './units';
import { about, reasons, title, verdict } from './verdict';

/** So many pipelines of a cell are open at first; the others show their verdict and open on a click. */
const OPEN = 2;
/** More barriers than this are counted, not listed. */
const MOST = 12;

/** Runs `build` when the element is (nearly) on the screen. Returns what ends the waiting. */
export type WhenSeen = (element: Element, build: () => void) => () => void;

/** Waits with the browser's own observer; where there is none, builds at once. */
export const whenSeen: WhenSeen = (element, build) => {
  if (typeof IntersectionObserver === 'undefined') {
    build();
    return () => undefined;
  }
  const observer = new IntersectionObserver(
    entries => {
      if (entries.some(entry => entry.isIntersecting)) {
        observer.disconnect();
        build();
      }
    },
    { rootMargin: '400px' }
  );
  observer.observe(element);
  return () => observer.disconnect();
};

export interface ReportView {
  readonly element: HTMLElement;
  /** Stop waiting for parts that never came into view. */
  readonly dispose: () => void;
}

export function reportView(report: Report, seen: WhenSeen = whenSeen): ReportView {
  const root = h('div', { class: cls('report'), role: 'region', 'aria-label': 'Hastega report', dir: 'ltr' });
  const stops: (() => void)[] = [];
  if (report.schema > SCHEMA) {
    root.append(note(`This report was written by a newer version (schema ${report.schema}). What is newer than schema ${SCHEMA} is not shown.`));
  }
  root.append(...notes(report.warnings));
  if (report.pipelines.length === 0 && root.childElementCount === 0) {
    // Notes say why, as of a function that was not called.
    root.append(h('div', {}, 'Hastega: no pipeline ran that is written in this cell.'));
  }
  report.pipelines.forEach((pipeline, at) => {
    const body = h('div', { class: cls('body'), id: unique('body') });
    const open = report.pipelines.length <= OPEN || at === 0;
    const build = once(() => fill(body, report, pipeline));
    body.hidden = !open;
    const head = heading(pipeline, body, open ? null : build);
    root.append(h('section', { class: cls('pipeline') }, head, ...troubles(pipeline), body));
    if (open) {
      stops.push(seen(body, build));
    }
  });
  root.append(...about(report).slice(0, MOST).map(text => h('div', { class: cls('faint', 'about') }, text)));
  const measure = measureButton(report);
  if (measure !== null) {
    root.append(measure);
  }
  return { element: root, dispose: () => stops.forEach(stop => stop()) };
}

function once(build: () => void): () => void {
  let done = false;
  return () => {
    if (!done) {
      done = true;
      build();
    }
  };
}

function note(text: string): HTMLElement {
  return h('div', { class: cls('note') }, text);
}

function notes(warnings: readonly string[]): HTMLElement[] {
  const rest = warnings.length - MOST;
  const out = warnings.slice(0, MOST).map(text => note(`! ${oneLine(text)}`));
  return rest > 0 ? [...out, note(`! and ${units.plural(rest, 'more warning')}`)] : out;
}

/** The line of verdict; `build`: what a button before it makes and shows, null where all is shown already. */
function heading(pipeline: Pipeline, body: HTMLElement, build: (() => void) | null): HTMLElement {
  const line = h('div', { class: cls('verdict') });
  const name = h('bdi', {}, h('b', {}, title(pipeline)));
  if (build !== null) {
    const more = button('▸', 'Show or hide this pipeline', () => {
      build();
      body.hidden = !body.hidden;
      more.textContent = body.hidden ? '▸' : '▾';
      more.setAttribute('aria-expanded', String(!body.hidden));
    }, { 'aria-expanded': 'false', 'aria-controls': body.id, 'aria-label': `Details of ${title(pipeline)}` });
    line.append(more);
  }
  line.append(name);
  verdict(pipeline).forEach((part, at) => {
    line.append(at === 0 ? ' ' : ' · ', h('span', part.bad ? { class: cls('bad') } : {}, part.text));
  });
  return line;
}

function troubles(pipeline: Pipeline): HTMLElement[] {
  const out = pipeline.barriers.slice(0, MOST).map(barrier =>
    h('div', { class: cls('alert') }, '✗ barrier ', h('code', { dir: 'ltr' }, oneLine(barrier.stage, 80)),
      `${barrier.line ? ` (line ${barrier.line})` : ''}: ${oneLine(barrier.reason)}`)
  );
  const rest = total(pipeline, 'barriers', pipeline.barriers.length) - out.length;
  if (rest > 0) {
    out.push(h('div', { class: cls('alert') }, `✗ and ${units.plural(rest, 'more barrier')}`));
  }
  return [...out, ...notes(pipeline.warnings)];
}

function fill(body: HTMLElement, report: Report, pipeline: Pipeline): void {
  const times = timeBar(pipeline);
  body.replaceChildren(...(times === null ? [] : [times]));
  if (pipeline.baselines.length > 0) {
    body.append(baselines(pipeline));
  }
  const all = sections(report, pipeline);
  if (all.length > 0) {
    body.append(tabs(`Details of ${title(pipeline)}`, all));
  }
  if (pipeline.cut.size > 0) {
    body.append(h('div', { class: cls('faint', 'shortened') }, `Long parts are cut, to keep the notebook small: ${WHERE}.`));
  }
}

function sections(report: Report, pipeline: Pipeline): Tab[] {
  const { code, model, lanes } = pipeline;
  const out: Tab[] = [];
  const add = (when: unknown, label: string, hint: string, build: () => Node): void => {
    if (when) {
      out.push({ label, hint, build });
    }
  };
  add(code.fused || code.llvm || code.asm || code.opencl, 'Code', 'The cell beside what became of it, line by line', () => new CodeView(report, pipeline).element);
  add(pipeline.before.nodes.length + pipeline.after.nodes.length, 'Pipeline', 'Stages before and after fusion', () => graphs(pipeline) ?? h('div'));
  add(code.passes.length, 'Passes', 'What each pass of the compiler changed', () => passes(pipeline));
  add(model, 'Size', 'Other numbers of elements, and where one back end overtakes another', () => sizes(pipeline, model ?? { n: [], rows: [] }));
  add(lanes, 'Lanes', 'One vector, step by step', () => laneView(lanes ?? { lanes: 0, total: 0, steps: [] }));
  add(pipeline.phases.length, 'Times', 'Each phase with the bytes it moved', () => phases(pipeline));
  add(pipeline.shares.length, 'Shares', 'Who computed how much, and how fast', () => shareTable(pipeline.shares));
  add(pipeline.tried.length, 'Schedules', 'What was tried to make it faster', () => triedTable(pipeline.tried));
  const why = reasons(pipeline);
  add(why.length, 'Why', 'Why the code is as it is', () => h('ul', { class: cls('plain') }, ...why.map(text => h('li', {}, text))));
  return out;
}
