/** The figures of a report: the time bar, the baselines, the phases. Every picture is also said in words. */

import { cls, h } from './dom';
import { Phase, Pipeline } from './report';
import * as units from './units';
import { backendName, facts, heldAgainst, parted, phaseName, remarks, runningTime, Step, steps } from './verdict';

const BARS = 'bars: logarithmic, hatched ones extrapolated';

/** A class for each part, so that a phase has one colour everywhere. */
function part(name: string): string {
  const known = ['compile', 'convert in', 'to device', 'kernel', 'from device', 'convert out', 'Python'].indexOf(name === 'reading' ? 'compile' : name);
  return cls('part-of-time', `phase${known < 0 ? 7 : known}`);
}

/** What computed this run, in words: all threads may have been one. */
function ours({ backend, threads }: Pipeline): string {
  return backendName(backend === 'parallel' && threads === 1 ? 'simd' : backend);
}

/** Bars of phases to one scale: this run, and each back end that says its phases. Null where nothing took time. */
export function timeBar(pipeline: Pipeline): HTMLElement | null {
  const rows: [string, Step[]][] = [[`this run${ours(pipeline) ? ` (${ours(pipeline)})` : ''}`, steps(pipeline.phases, pipeline.loops ? 'compile' : 'reading')]];
  for (const each of pipeline.baselines) {
    if (each.equal && each.phases.length > 0) {
      rows.push([backendName(each.backend), steps(each.phases)]);
    }
  }
  const shown = rows.filter(([, all]) => all.length > 0);
  if (shown.length === 0) {
    return null;
  }
  const sum = (all: readonly Step[]): number => all.reduce((so, step) => so + step.seconds, 0);
  const longest = Math.max(...shown.map(([, all]) => sum(all)));
  const root = h('div', { class: cls('times') });
  for (const [place, [name, all]] of shown.entries()) {
    const time = sum(all);
    const bar = h('div', { class: cls('bar'), 'aria-hidden': 'true' });
    const legend = h('div', { class: cls('parts') });
    for (const step of all) {
      const share = Math.round((100 * step.seconds) / time);
      const percent = share >= 1 ? `${share} %` : 'under 1 %';
      const wide = (100 * step.seconds) / longest;
      const piece = h('span', { class: part(step.name), title: `${step.name}: ${facts(step)}` }, wide > 9 ? step.name : '');
      piece.style.width = `${wide}%`;
      bar.append(piece);
      legend.append(
        h('span', {}, h('span', { class: `${cls('swatch')} ${part(step.name)}`, 'aria-hidden': 'true' }),
          h('b', {}, step.name), ` ${facts(step)} `, h('span', { class: cls('faint') }, percent))
      );
    }
    const atOnce = place === 0 ? pipeline.overlapped : 0;
    const said =
      atOnce > 0
        ? ` ${units.seconds(Math.max(0, time - atOnce))}; phases to scale, ${units.seconds(time)} had they not run at once`
        : ` ${units.seconds(time)} in all, to scale`;
    root.append(
      h('div', {}, h('b', {}, name), h('span', { class: cls('faint') }, said)),
      bar,
      legend
    );
  }
  return root;
}

/** Times on a logarithmic scale, ours first, each with its ratio and how it was measured. */
export function baselines(pipeline: Pipeline): HTMLElement {
  const running = runningTime(pipeline);
  const rows = [
    { name: 'this run', seconds: running, ours: 0, mark: '', how: ours(pipeline), kind: 'ours' },
    ...pipeline.baselines.map(each => ({
      name: backendName(each.backend),
      seconds: each.equal ? each.seconds : 0,
      ours: heldAgainst(pipeline, each),
      mark: each.extrapolated ? ' ≈' : ' ✓',
      how: remarks(pipeline, each),
      kind: each.extrapolated ? 'guessed' : 'measured'
    }))
  ];
  const logs = rows.filter(row => row.seconds > 0).map(row => Math.log10(row.seconds));
  const low = Math.min(...logs) - 0.3;
  const span = Math.max(...logs, low + 1) - low;
  const body = h('tbody');
  for (const row of rows) {
    const bar = h('div', { class: cls('rule', row.kind), 'aria-hidden': 'true' });
    bar.style.width = row.seconds > 0 ? `${Math.max(1, (100 * (Math.log10(row.seconds) - low)) / span)}%` : '0';
    const ratio = row.seconds > 0 && row.ours > 0 ? `${units.times(row.seconds / row.ours)} ×` : '';
    body.append(
      h('tr', {},
        h('th', { scope: 'row' }, row.name),
        h('td', { class: cls('number-cell') }, row.seconds > 0 ? `${units.seconds(row.seconds)}${row.mark}` : '–'),
        h('td', { class: cls('number-cell') }, ratio),
        h('td', { class: cls('wide') }, bar),
        h('td', { class: cls('how') }, row.how))
    );
  }
  return h('div', { class: cls('baselines') },
    h('div', { class: cls('scroll') },
      h('table', { class: cls('table') }, head('baseline', 'time', '÷ ours', BARS, 'how'), body)),
    h('div', { class: cls('faint') }, '✓ checked equal to our result · ≈ extrapolated from a part of the input')
  );
}

function head(...names: readonly string[]): HTMLElement {
  return h('thead', {}, h('tr', {}, ...names.map(name => h('th', { scope: 'col', class: name === BARS ? cls('wide') : false }, name))));
}

/** Each phase with its time, what it moved, and how fast. */
export function phases(pipeline: Pipeline): HTMLElement {
  const body = h('tbody');
  const add = (phase: Phase): void => {
    body.append(
      h('tr', {},
        h('th', { scope: 'row' }, phaseName(phase.name)),
        h('td', { class: cls('number-cell') }, units.seconds(phase.seconds)),
        h('td', { class: cls('number-cell') }, phase.bytes > 0 ? units.size(phase.bytes) : ''),
        h('td', { class: cls('number-cell') }, units.rate(phase.bytes, phase.seconds)))
    );
  };
  parted(pipeline.phases).forEach(add);
  return h('table', { class: cls('table') }, head('phase', 'time', 'bytes', 'rate'), body);
}
