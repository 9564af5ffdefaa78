/**
 * What a report says first: the line of verdict, the parts of the time bar, the baselines in words.
 *
 * The words are those of the text and HTML forms (`hastega_magic/report/verdict.py`). `✓` means compared and
 * equal, `≈` extrapolated, `✗` something cost time or went wrong; words beside every mark say the same.
 */

import { total } from './cut';
import { oneLine } from './dom';
import { Baseline, Phase, Pipeline, Report } from './report';
import * as units from './units';

/** How the row of the cell's own back end ends, which was measured as the others were. */
const AGAIN = ', run again';
const COMPILING = new Set(['parse', 'infer', 'fuse', 'codegen', 'compile']);
const BACKENDS: Readonly<Record<string, string>> = {
  python: 'pure Python',
  numpy: 'NumPy',
  simd: 'one SIMD thread',
  opencl: 'OpenCL',
  'opencl:0': 'OpenCL'
};
const PHASES: Readonly<Record<string, string>> = {
  convert_in: 'convert in',
  to_device: 'to device',
  from_device: 'from device',
  convert_out: 'convert out',
  python: 'Python',
  call: 'everything else'
};

/** The phases of a cell in words. */
const BESIDES: Readonly<Record<string, (time: string) => string>> = {
  load: time => `loading the compiler ${time}, once`,
  device: time => `starting OpenCL ${time}, once`,
  parse: time => `reading the cell ${time}`,
  baselines: time => `timing the baselines ${time}`
};
/** Seconds that nobody notices; of a cell's phases that take less together nothing is said. */
const WAITED = 0.005;

/** A piece of a line; `bad` where it names what costs or breaks. */
export interface Part {
  readonly text: string;
  readonly bad: boolean;
}

/** A part of the time bar, in seconds and bytes. */
export interface Step {
  readonly name: string;
  readonly seconds: number;
  readonly bytes: number;
}

/** A back end's name in a sentence, also of its row that was run again. */
export function backendName(name: string): string {
  const plain = name.endsWith(AGAIN) ? name.slice(0, -AGAIN.length) : name;
  const known = Object.prototype.hasOwnProperty.call(BACKENDS, plain) ? (BACKENDS[plain] ?? '') : oneLine(plain);
  return known + name.slice(plain.length);
}

export function phaseName(name: string): string {
  return Object.prototype.hasOwnProperty.call(PHASES, name) ? (PHASES[name] ?? '') : oneLine(name);
}

/** The names that the group assigns. */
export function title(pipeline: Pipeline): string {
  return oneLine(pipeline.name, 60) || oneLine(pipeline.results.join(', '), 60) || 'pipeline';
}

/** The sentences about the cell as a whole: what was waited for beside its pipelines, and its "Why". */
export function about({ phases, why }: Report): string[] {
  const spent = phases.filter(each => each.seconds > 0);
  const waited = spent.map(({ name, seconds }) => {
    const time = units.seconds(seconds);
    return Object.prototype.hasOwnProperty.call(BESIDES, name) ? BESIDES[name]?.(time) : `${phaseName(name)} ${time}`;
  });
  const noticed = spent.reduce((so, each) => so + each.seconds, 0) >= WAITED;
  return [...(noticed ? [`Beside the pipelines: ${waited.join('; ')}.`] : []), ...why.map(text => oneLine(text))];
}

function sum(phases: readonly Phase[], compiling: boolean): number {
  return phases.filter(p => COMPILING.has(p.name) === compiling).reduce((so, p) => so + p.seconds, 0);
}

/** The running time in seconds, transfers and conversions included, what ran at once counted once. */
export function runningTime(pipeline: Pipeline): number {
  return Math.max(0, sum(pipeline.phases, false) - pipeline.overlapped);
}

/** The phases, and behind the first in which Python took part, all that it took, as one phase by itself. */
export function parted(phases: readonly Phase[]): Phase[] {
  const shared = phases.filter(phase => phase.python > 0);
  const taken = shared.reduce((so, each) => so + Math.min(each.seconds, each.python), 0);
  return phases.flatMap(phase => {
    if (phase.python <= 0) {
      return [phase];
    }
    const stages = phase === shared[0] ? [{ name: 'python', seconds: taken, bytes: 0, python: 0 }] : [];
    const native = phase.seconds - phase.python;
    return native > 0 ? [{ ...phase, seconds: native, python: 0 }, ...stages] : stages;
  });
}

/** Everything before the run under one name, then each phase that took any time, in order. */
export function steps(phases: readonly Phase[], before = 'compile'): Step[] {
  const merged = new Map<string, Step>();
  for (const phase of parted(phases)) {
    const name = COMPILING.has(phase.name) ? before : phaseName(phase.name);
    const old = merged.get(name) ?? { name, seconds: 0, bytes: 0 };
    merged.set(name, { name, seconds: old.seconds + phase.seconds, bytes: old.bytes + phase.bytes });
  }
  return Array.from(merged.values()).filter(step => step.seconds > 0);
}

/** `14.8 ms, 268 MB, 18.1 GB/s`, without what is not known. */
export function facts(step: Step): string {
  const moved = step.bytes > 0 ? [units.size(step.bytes), units.rate(step.bytes, step.seconds)] : [];
  return [units.seconds(step.seconds), ...moved].filter(part => part !== '').join(', ');
}

/** `AVX-512, 8 lanes × 8`: instruction set, elements in a register, registers in flight. */
export function registers(pipeline: Pipeline): string {
  const { lanes, bits, inFlight, isa } = pipeline.vector;
  if (lanes <= 0) {
    return '';
  }
  if (lanes === 1) {
    return 'scalar code';
  }
  const name = oneLine(isa) || (bits ? `${bits}-bit vectors` : 'vectors');
  return `${name}, ${lanes} lanes${inFlight > 1 ? ` × ${inFlight}` : ''}`;
}

/** The stages whose functions are applied to one element after the other, beside vectors: `scan`, `reduce`. */
function inOrder(pipeline: Pipeline): string[] {
  const { lanes, scalarOps } = pipeline.vector;
  const names = lanes > 1 ? scalarOps.map(op => oneLine(op).split('(')[0]) : [];
  return Array.from(new Set(names)).filter(name => name === 'scan' || name === 'reduce');
}

/** Whether plain Python computed the compiled loop's values, and the baseline is that once more. */
function itself(pipeline: Pipeline, baseline: Baseline): boolean {
  return pipeline.backend === 'python' && pipeline.loops > 0 && baseline.backend === 'python';
}

/**
 * The seconds of ours that a baseline is to be held against.
 *
 * Another compiled back end was run as our own was "run again": as a whole call, with warm memory. All others are held
 * against this run. 0 where the baseline is what computed this run, too: the same once more is neither faster nor slower.
 */
export function heldAgainst(pipeline: Pipeline, baseline: Baseline): number {
  return itself(pipeline, baseline) ? 0 : runAgain(pipeline, baseline) || runningTime(pipeline);
}

/** The seconds of ours run again, where the baseline is held against these; else 0. */
function runAgain(pipeline: Pipeline, baseline: Baseline): number {
  if (['python', 'numpy', 'empty'].includes(baseline.backend) || baseline.backend.endsWith(AGAIN)) {
    return 0;
  }
  return pipeline.baselines.find(each => each.backend.endsWith(AGAIN) && each.equal && each.seconds > 0)?.seconds ?? 0;
}

/** A baseline in the verdict: `21 × NumPy ✓`. One with another result shows no time. `when`: which run of ours. */
export function compared(baseline: Baseline, running: number, when = ''): string {
  const name = backendName(baseline.backend);
  if (!baseline.equal) {
    return baseline.elements ? `✗ ${name} gave another result` : `✗ ${name} did not run`;
  }
  const mark = baseline.extrapolated ? '≈' : '✓';
  if (baseline.backend.endsWith(AGAIN) && baseline.seconds > 0) {
    return `${units.seconds(baseline.seconds)} when run again ${mark}`;
  }
  if (running <= 0 || baseline.seconds <= 0) {
    return `${name} ${mark}`;
  }
  const ratio = baseline.seconds / running;
  if (baseline.backend === 'empty') {
    // Launches are no transfers, and another time they may have taken longer than all of this run.
    const transfers = baseline.phases.filter(phase => ['to_device', 'from_device'].includes(phase.name));
    const moving = transfers.reduce((sum, phase) => sum + phase.seconds, 0) || baseline.seconds;
    return moving > running
      ? `transfers alone ${units.seconds(moving)}`
      : `transfers alone ${units.digits((100 * moving) / running, 2)} % of it`;
  }
  return `${ratio < 0.95 ? `${units.times(1 / ratio)} × slower than` : `${units.times(ratio)} ×`} ${name}${when} ${mark}`;
}

/** What is said behind a time that is the median of several runs. */
function ofRuns({ repeated }: Pipeline): string {
  if (repeated === null) {
    return '';
  }
  const { runs, low, high } = repeated;
  return `, the median of ${units.plural(runs, 'run')} (${units.seconds(low)} to ${units.seconds(high)})`;
}

/** The line of verdict after the name, as parts to be joined by " · ". */
export function verdict(pipeline: Pipeline): Part[] {
  const parts: Part[] = [];
  const say = (text: string, bad = false): void => {
    if (text !== '') {
      parts.push({ text, bad });
    }
  };
  const { loops, backend } = pipeline;
  if (pipeline.raised !== '') {
    say(pipeline.raised === 'KeyboardInterrupt' ? '✗ interrupted' : `✗ raised ${oneLine(pipeline.raised)}`, true);
  }
  const ran = backend !== '' || loops > 0 || pipeline.raised === '';
  say(!ran ? '' : loops === 1 ? '1 fused loop' : loops > 1 ? `${loops} loops` : backend ? 'no compiled loop' : 'did not run');
  const chosen = backend === 'python' && loops > 0; // compiled, and computed by Python because that is sooner done
  if (chosen) {
    const code = registers(pipeline);
    say(code === '' ? 'compiled' : `compiled to ${code}`);
    say('computed by plain Python, which is faster here');
  } else if (loops) {
    say(registers(pipeline));
    inOrder(pipeline).forEach(name => say(`serial ${name}`));
  }
  const family = backend.startsWith('opencl:') ? 'opencl' : backend;
  if (backend === 'python' && !chosen) {
    say('ran in Python', true);
  } else if (backend === 'all' && pipeline.shares.length > 0) {
    const computing = pipeline.shares.filter(part => part.elements > 0);
    const sharing = (computing.length > 0 ? computing : pipeline.shares).map(part => oneLine(part.device));
    say(`${sharing.length === 1 ? 'all of it computed by' : 'shared by'} ${sharing.join(' and ')}`);
  } else if (family === 'numpy') {
    say(pipeline.barriers.length > 0 ? 'computed by NumPy and Python' : 'computed by NumPy, array by array');
  } else if (family === 'opencl') {
    const device = oneLine(pipeline.device);
    say(device ? `${backendName(family)} on ${device}` : backendName(family));
  }
  if (pipeline.threads > 0 && loops && !chosen) {
    say(units.plural(pipeline.threads, 'thread'));
  }
  const barriers = total(pipeline, 'barriers', pipeline.barriers.length);
  if (barriers > 0) {
    say(`✗ ${units.plural(barriers, 'barrier')}`, true);
  }
  if (pipeline.int.fellBack) {
    say('✗ integers recomputed exactly in Python', true);
  }
  const running = runningTime(pipeline);
  const compiling = sum(pipeline.phases, true);
  say(running > 0 ? units.seconds(running) + ofRuns(pipeline) : '');
  const compiled = compiling > 0 && loops > 0 && !pipeline.cached; // what has no loop was read, not compiled
  say(compiled ? `${units.seconds(compiling)} to compile, once` : '');
  for (const each of pipeline.baselines.filter(each => !(each.equal && itself(pipeline, each)))) {
    say(compared(each, heldAgainst(pipeline, each), runAgain(pipeline, each) > 0 ? ' when run again' : ''), !each.equal);
  }
  return parts;
}

/** How a baseline was measured; `÷ run again`: its ratio is to ours run again, not to this run as those of other rows are. */
export function remarks(pipeline: Pipeline, baseline: Baseline): string {
  if (!baseline.equal) {
    return oneLine(baseline.note) || '✗ another result than ours, so its time says nothing';
  }
  const parts = baseline.seconds > 0 && runAgain(pipeline, baseline) > 0 ? ['÷ run again'] : [];
  if (baseline.extrapolated) {
    parts.push(`≈ from ${units.plural(baseline.elements, 'element')}`);
  }
  parts.push(oneLine(baseline.note) || (baseline.extrapolated ? '✓ equal on these' : '✓ equal'));
  const [low, high] = baseline.spread;
  if (low !== undefined && high !== undefined && high > low) {
    parts.push(`${units.seconds(low)} to ${units.seconds(high)}`);
  }
  return parts.join(' · ');
}

/** The sentences of "Why": those of the report, then what its figures say. */
export function reasons(pipeline: Pipeline): string[] {
  const out = pipeline.why.map(sentence => oneLine(sentence));
  if (pipeline.bound !== null) {
    const { operations, bytes, by } = pipeline.bound;
    const computed = operations ? `${units.digits(operations, 2)} operations` : 'no operation';
    const moved = bytes ? `${units.digits(bytes, 2)} bytes` : 'no byte';
    out.push(`An element takes ${computed} and ${moved} of memory; predicted to be bound by ${oneLine(by)}.`);
  }
  if (pipeline.overlapped > 0) {
    const running = runningTime(pipeline);
    const together = units.seconds(running + pipeline.overlapped);
    out.push(`Transfers, kernel and conversions ran at once: together ${together}, the run took ${units.seconds(running)}.`);
  }
  const { int, vector } = pipeline;
  if (int.fellBack) {
    out.push("Integers: some did not fit 64 bits, and were recomputed exactly with Python's own.");
  } else if (int.guarded && int.mode !== 'wrap' && pipeline.raised === '' && pipeline.backend !== 'python') {
    out.push('No guard fired: every integer did fit.');
  }
  if (vector.lanes > 1) {
    const stayed = vector.scalarOps.map(op => oneLine(op)).join(', ');
    const wide = vector.bits ? ` of ${vector.bits} bits` : '';
    const rest = stayed ? `what stayed scalar: ${stayed}` : 'no operation of the loop body stayed scalar';
    out.push(`Vectorised: ${registers(pipeline)} registers${wide}${vector.inFlight > 1 ? ' in flight' : ''}; ${rest}.`);
  } else if (vector.lanes === 1) {
    out.push('Not vectorised: the loop body is scalar code.');
  }
  const mix = Array.from(pipeline.instructions).filter(([, count]) => count > 0);
  if (mix.length > 0) {
    const words = mix.map(([kind, count]) => `${units.grouped(count)} ${oneLine(kind)}`);
    out.push(`Instructions of the hot loop: ${words.join(', ')}.`);
  }
  return out;
}
