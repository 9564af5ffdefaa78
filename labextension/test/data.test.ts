import assert from 'node:assert/strict';
import test from 'node:test';

import { cost, crossings, extent, fastest } from '../src/cost';
import { diff, shortened } from '../src/diff';
import { oneLine } from '../src/dom';
import { contains, LinkIndex } from '../src/links';
import { about, breakEven, bySize } from '../src/ranges';
import { decode, Link, Model } from '../src/report';
import * as units from '../src/units';
import { compared, heldAgainst, reasons, remarks, steps, verdict } from '../src/verdict';
import { sample } from './page';

test('a real report is read whole', () => {
  const report = decode(sample());
  const pipeline = report.pipelines[0];
  assert.ok(pipeline);
  assert.equal(pipeline.name, 'ys, total');
  assert.equal(pipeline.loops, 1);
  assert.ok(pipeline.links.length > 5);
  assert.ok(pipeline.links.every(link => link.text.length > 0));
  assert.equal(pipeline.lanes?.lanes, 8);
  assert.equal(pipeline.model?.rows.length, 4);
});

test('anything at all can be read', () => {
  const junk: unknown[] = [
    null, undefined, 7, 'text', [], {}, { pipelines: 3 }, { pipelines: [null, 4, 'x', []] }, { cell: [] },
    { pipelines: [{ links: [{}, { span: [1] }, { span: [2, 5, 1, 0] }, { span: ['a', 0, 1, 2] }, null] }] },
    { pipelines: [{ model: { rows: [{ backend: 'x' }] }, lanes: { steps: 'no' }, code: { passes: [1] } }] },
    { pipelines: [{ graph: { before: { nodes: [{ id: 'a' }], edges: [['a', 'missing']] } } }] },
    { pipelines: [{ phases: [{ name: 'kernel', seconds: 'NaN' }], vector: { lanes: '8' } }] }
  ];
  for (const each of junk) {
    const report = decode(each);
    for (const pipeline of report.pipelines) {
      assert.deepEqual(pipeline.links, []);
      assert.equal(pipeline.model, null);
      assert.equal(pipeline.lanes, null);
      assert.deepEqual(pipeline.before.edges, []);
      assert.equal(verdict(pipeline)[0]?.text, 'did not run');
    }
  }
});

test('numbers have a unit and three digits', () => {
  assert.equal(units.seconds(0.0148), '14.8 ms');
  assert.equal(units.seconds(24.1), '24.1 s');
  assert.equal(units.seconds(0.0009996), '1.00 ms');
  assert.equal(units.seconds(9.996), '10.0 s');
  assert.equal(units.seconds(192), '3.20 min');
  assert.equal(units.seconds(-1), '0 s');
  assert.equal(units.size(268435456), '268 MB');
  assert.equal(units.size(999), '999 B');
  assert.equal(units.rate(268e6, 0.0148), '18.1 GB/s');
  assert.equal(units.rate(8, 0.1), '');
  assert.equal(units.times(1630.4), '1\u202f630');
  assert.equal(units.grouped(33554432), '33\u202f554\u202f432');
  assert.equal(units.amount(950), '950');
  assert.equal(units.amount(33554432), '33.6 million');
  assert.equal(units.digits(0.00001234), '0.0000123');
});

test('the verdict says it in the order of the other forms', () => {
  const [pipeline] = decode(sample()).pipelines;
  assert.ok(pipeline);
  const words = verdict(pipeline).map(part => part.text);
  assert.equal(words[0], '1 fused loop');
  assert.match(words[1] ?? '', /^AVX-512, 8 lanes × \d/);
  assert.equal(words[2], '2 threads');
  assert.ok(words.some(word => /× pure Python [≈✓]$/.test(word)), words.join(' · '));
  assert.equal(steps(pipeline.phases)[0]?.name, 'compile');
  assert.ok(reasons(pipeline).some(reason => reason.startsWith('Vectorised')));
});

test('what ran at once counts once', () => {
  const data = sample();
  const phases = [{ name: 'to_device', seconds: 2 }, { name: 'kernel', seconds: 3 }, { name: 'compile', seconds: 9 }];
  data.pipelines[0] = { ...data.pipelines[0], phases, overlapped: 1.5, baselines: [] };
  const [pipeline] = decode(data).pipelines;
  assert.ok(pipeline);
  assert.ok(verdict(pipeline).some(part => part.text === '3.50 s'));
  assert.ok(reasons(pipeline).includes('Transfers, kernel and conversions ran at once: together 5.00 s, the run took 3.50 s.'));
});

test('what Python takes for its stages is no kernel', () => {
  const data = sample();
  const phases = [{ name: 'kernel', seconds: 7.5, bytes: 8, python: 7 }, { name: 'convert_out', seconds: 1 }];
  data.pipelines[0] = { ...data.pipelines[0], phases, baselines: [] };
  const [pipeline] = decode(data).pipelines;
  assert.ok(pipeline);
  assert.deepEqual(
    steps(pipeline.phases).map(({ name, seconds, bytes }) => [name, seconds, bytes]),
    [['kernel', 0.5, 8], ['Python', 7, 0], ['convert out', 1, 0]]
  );
  data.pipelines[0] = { ...data.pipelines[0], phases: [{ name: 'kernel', seconds: 7, python: 7 }] };
  assert.deepEqual(steps(decode(data).pipelines[0]?.phases ?? []).map(step => step.name), ['Python']);
});

test('a time that is the median of several runs says so', () => {
  const data = sample();
  const phases = [{ name: 'kernel', seconds: 3 }];
  const said = (repeated: unknown): string | undefined => {
    data.pipelines[0] = { ...data.pipelines[0], phases, baselines: [], repeated };
    const [pipeline] = decode(data).pipelines;
    return pipeline && verdict(pipeline).at(-1)?.text;
  };
  assert.equal(said({ runs: 5, spread: [2, 4.5] }), '3.00 s, the median of 5 runs (2.00 s to 4.50 s)');
  for (const odd of [undefined, 3, { runs: 1, spread: [2, 4] }, { runs: 5, spread: [2] }]) {
    assert.equal(said(odd), '3.00 s');
  }
});

test('a baseline with another result has no ratio', () => {
  const base = { backend: 'numpy', seconds: 2, spread: [], elements: 5, extrapolated: false, equal: false, phases: [], note: '' };
  assert.equal(compared(base, 1), '✗ NumPy gave another result');
  assert.equal(compared({ ...base, elements: 0 }, 1), '✗ NumPy did not run');
  assert.equal(compared({ ...base, equal: true }, 1), '2.0 × NumPy ✓');
  assert.equal(compared({ ...base, equal: true, seconds: 0.5 }, 1), '2.0 × slower than NumPy ✓');
  assert.equal(compared({ ...base, equal: true, backend: '__proto__' }, 1), '2.0 × __proto__ ✓');
});

test('transfers alone are told without what launches take', () => {
  const moved = [['to_device', 1.2e-3], ['fuse', 24e-3], ['from_device', 0.5e-3]].map(([name, seconds]) => ({ name: String(name), seconds: Number(seconds), bytes: 0, python: 0 }));
  const empty = { backend: 'empty', seconds: 26e-3, spread: [], elements: 9, extrapolated: false, equal: true, phases: moved, note: '' };
  assert.equal(compared(empty, 10e-3), 'transfers alone 17 % of it');
  assert.equal(compared({ ...empty, phases: [] }, 10e-3), 'transfers alone 26.0 ms');
  assert.equal(compared({ ...empty, phases: [] }, 52e-3), 'transfers alone 50 % of it');
});

test('our own run again is a time, not a rival, and what was run as it was is held against it', () => {
  const row = { seconds: 2, spread: [], elements: 5, extrapolated: false, equal: true, phases: [], note: '' };
  const rows = ['simd', 'parallel, run again', 'empty', 'python'].map(backend => ({ ...row, backend, seconds: backend.endsWith('again') ? 0.5 : 2 }));
  const data = sample();
  data.pipelines[0] = { ...data.pipelines[0], phases: [{ name: 'kernel', seconds: 4 }], baselines: rows };
  const [pipeline] = decode(data).pipelines;
  assert.ok(pipeline);
  assert.deepEqual(verdict(pipeline).slice(-4).map(part => part.text), [
    '4.0 × one SIMD thread when run again ✓', '500 ms when run again ✓', 'transfers alone 50 % of it', '2.0 × slower than pure Python ✓'
  ]);
  assert.deepEqual(pipeline.baselines.map(each => remarks(pipeline, each)), ['÷ run again · ✓ equal', '✓ equal', '✓ equal', '✓ equal']);
  const failed = { ...pipeline, baselines: pipeline.baselines.map(each => ({ ...each, equal: each.backend === 'simd' })) };
  assert.deepEqual(failed.baselines.map(each => heldAgainst(failed, each)), [4, 4, 4, 4]);
  assert.equal(verdict(failed).at(-4)?.text, '2.0 × slower than one SIMD thread ✓');
});

test('what the report says of integers is not said twice', () => {
  const [pipeline] = decode(sample()).pipelines;
  assert.ok(pipeline);
  assert.equal(reasons(pipeline).filter(each => each.startsWith('Integers')).length, 1);
  const int = { mode: 'exact', proved: false, guarded: true, fellBack: false };
  assert.ok(reasons({ ...pipeline, int }).includes('No guard fired: every integer did fit.'));
  assert.ok(!reasons({ ...pipeline, int, backend: 'python' }).some(text => text.includes('fired'))); // no loop ran
  assert.ok(!reasons({ ...pipeline, int: { ...int, mode: 'wrap' } }).some(each => each.startsWith('No guard')));
});

test('a difference turns the one text into the other', () => {
  // A small generator with a fixed seed: many pairs, the same each time.
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  for (let round = 0; round < 300; round += 1) {
    const text = (): string[] => Array.from({ length: random(12) }, () => 'abcd'[random(4)] ?? '');
    const [before, after] = [text(), text()];
    const changes = diff(before, after);
    assert.deepEqual(changes.filter(c => c.sign !== '+').map(c => c.text), before);
    assert.deepEqual(changes.filter(c => c.sign !== '-').map(c => c.text), after);
  }
});

test('a difference is the shortest one, and its context is cut', () => {
  const before = Array.from({ length: 50 }, (_, i) => `line ${i}`);
  const after = before.map((line, i) => (i === 20 ? 'other' : line));
  const changes = diff(before, after);
  assert.equal(changes.filter(c => c.sign === '+').length, 1);
  assert.equal(changes.filter(c => c.sign === '-').length, 1);
  const cut = shortened(changes);
  assert.deepEqual(cut.map(c => c.sign), ['@', ' ', ' ', '-', '+', ' ', ' ', '@']);
  assert.equal(cut[0]?.text, '18 unchanged lines');
});

test('long texts without a common line are compared in little time and memory', () => {
  const before = Array.from({ length: 5000 }, (_, i) => `a${i}`);
  const after = Array.from({ length: 5000 }, (_, i) => `b${i}`);
  assert.equal(diff(before, after).length, 10000);
});

function linked(span: readonly [number, number, number, number], lines: Partial<Link['lines']>): Link {
  const [line, col, endLine, endCol] = span;
  return { span: { line, col, endLine, endCol }, text: '', lines: { fused: [], llvm: [], asm: [], opencl: [], ...lines } };
}

test('a token of the cell leads to the smallest span around it', () => {
  const index = new LinkIndex([
    linked([1, 0, 1, 11], { fused: [4] }),
    linked([1, 4, 1, 11], { fused: [3], asm: [7, 8] }),
    linked([1, 5, 1, 10], { fused: [2], asm: [6] })
  ]);
  assert.deepEqual(index.segments('x * (x + 1) % p', 1).map(s => [s.text, s.id]), [
    ['x * ', 0], ['(', 1], ['x + 1', 2], [')', 1], [' % p', -1]
  ]);
  const lit = index.lit([1]);
  assert.deepEqual(Array.from(lit.lines.fused), [3]);
  assert.deepEqual(Array.from(lit.parts.fused), [2]);
  assert.deepEqual(Array.from(lit.lines.asm), [7, 8]);
  assert.deepEqual(index.at('asm', 6), [2]);
  assert.deepEqual(index.at('source', 1), [0, 1, 2]);
  assert.ok(index.covers(new Set([1]), 2));
  assert.ok(!index.covers(new Set([2]), 1));
});

test('columns count code points, and spans may cover several lines', () => {
  const index = new LinkIndex([linked([1, 4, 1, 6], { fused: [1] }), linked([2, 3, 4, 2], { fused: [2] })]);
  assert.deepEqual(index.segments('s="😀"+x', 1).map(s => [s.text, s.id]), [['s="😀', -1], ['"+', 0], ['x', -1]]);
  assert.deepEqual(index.segments('    middle', 3).map(s => [s.text, s.id]), [['    ', -1], ['middle', 1]]);
  assert.deepEqual(index.segments('abcd', 4).map(s => [s.text, s.id]), [['ab', 1], ['cd', -1]]);
  assert.deepEqual(index.segments('', 3), []);
});

test('every line that a real link names exists, and every span has its text', () => {
  const report = decode(sample());
  const source = report.source.split('\n');
  const [pipeline] = report.pipelines;
  assert.ok(pipeline);
  for (const link of pipeline.links) {
    for (const key of ['fused', 'llvm', 'asm', 'opencl'] as const) {
      const count = pipeline.code[key].split('\n').length;
      assert.ok(link.lines[key].every(line => line <= count), key);
    }
    if (link.span.line === link.span.endLine) {
      const text = Array.from(source[link.span.line - 1] ?? '').slice(link.span.col, link.span.endCol).join('');
      assert.equal(text, link.text);
    }
    assert.ok(contains(link.span, link.span));
  }
});

const model: Model = {
  n: [100, 1e6],
  rows: [
    { backend: 'python', phases: [{ name: 'kernel', a: 1e-6, b: 0 }], points: [[100, 1e-4]] },
    { backend: 'parallel', phases: [{ name: 'kernel', a: 1e-9, b: 1e-3 }, { name: 'convert_out', a: 0, b: -1 }], points: [] }
  ]
};

test('break-even is where the lines cross', () => {
  const [python, parallel] = model.rows;
  assert.ok(python && parallel);
  assert.equal(cost(parallel, 1e6), 1e-3 + 1e-3); // a phase never takes less than nothing
  const found = crossings(model);
  assert.equal(found.length, 1);
  assert.equal(found[0]?.from, 'python');
  assert.equal(found[0]?.to, 'parallel');
  assert.ok(Math.abs((found[0]?.n ?? 0) / (1e-3 / (1e-6 - 1e-9)) - 1) < 1e-6);
  assert.equal(fastest(model, 10)?.backend, 'python');
  assert.deepEqual(extent(model), [10, 1e9]);
});

test('lines that meet twice have a range, and those of one meeting an end', () => {
  const line = (backend: string, ...curve: [number, number][]) => ({ backend, phases: [], points: [], curve });
  const simd = line('simd', [1, 1e-5], [1e5, 1.2e-4], [1e9, 1]);
  const parallel = line('parallel', [1, 5e-6], [1e5, 2e-4], [1e9, 0.1]);
  const said = (...rows: Model['rows'][number][]): string[] => {
    const drawn = { n: [1000], rows };
    return breakEven(drawn, crossings(drawn)).map(each => `${each.name} ${each.rest}`);
  };
  const [low, high] = crossings({ n: [1000], rows: [simd, parallel] }).map(each => about(each.n));
  assert.ok(low && high);
  assert.deepEqual(said(simd, parallel), [`one SIMD thread is faster than parallel from ${low} to ${high} elements`]);
  assert.deepEqual(said(parallel, simd), [`parallel is faster than one SIMD thread up to ${low} elements and from ${high} elements on`]);
  // A third line may hide where they meet first.
  const numpy = line('numpy', [1, 1], [760, 3e-5], [1e9, 1e3]);
  const three = said(parallel, simd, numpy);
  assert.ok(three.includes(`parallel is faster than one SIMD thread up to ${low} elements and from ${high} elements on`), three.join('; '));
  assert.deepEqual(said(simd, line('numpy', [1, 1e-3], [1e9, 1e-1])).map(each => each.replace(/from .*/, '')), ['NumPy is faster than one SIMD thread ']);
});

test('lines that are one at first part without a meeting, or tell of it where they do not meet again', () => {
  const line = (backend: string, ...curve: [number, number][]) => ({ backend, phases: [], points: [], curve });
  const simd = line('simd', [1, 1e-5], [1000, 1e-4], [1e9, 10]);
  const later = line('parallel', [1, 1e-5], [1000, 1e-4], [2000, 1e-3], [1e9, 1]);
  const sooner = line('parallel', [1, 1e-5], [1000, 1e-4], [1e9, 1]);
  for (const [rows, from] of [[[simd, later], 550_000], [[later, simd], 550_000], [[simd, sooner], 1000], [[sooner, simd], 1000]] as const) {
    const found = crossings({ n: [1000], rows });
    assert.deepEqual(found.map(({ from: slower, to }) => [slower, to]), [['simd', 'parallel']]);
    assert.ok(Math.abs(Math.log((found[0]?.n ?? 0) / from)) < 0.5, String(found[0]?.n));
    assert.deepEqual(breakEven({ n: [1000], rows }, found).map(each => `${each.name} ${each.rest}`.replace(/≈ [\d\u202f]+/, 'n')), [
      'parallel is faster than one SIMD thread from n elements on'
    ]);
  }
  assert.deepEqual(crossings({ n: [1000], rows: [simd, { ...simd, backend: 'parallel' }] }), []);
  // They may be one where a third line falls behind both.
  const python = line('python', [1, 1e-6], [1e9, 1e4]);
  for (const rows of [[later, python, simd], [python, simd, later]]) {
    assert.deepEqual(crossings({ n: [1000], rows }).map(({ from, to }) => [from, to]), [['python', 'simd'], ['simd', 'parallel']]);
  }
});

test('ranges that touch are one, and many are not told one by one', () => {
  const turns = (own: boolean, ...sizes: number[]): string =>
    bySize('simd', 'parallel', sizes.map((n, at) => {
      const [from = '', to = ''] = (at % 2 === 0) === own ? ['parallel', 'simd'] : ['simd', 'parallel'];
      return { n, seconds: 1, from, to };
    }));
  assert.equal(turns(false, 3, 10, 21, 120), 'faster than parallel up to ≈ 21 elements and from ≈ 120 elements on');
  assert.equal(turns(true, 100, 105), 'slower than parallel for almost every size');
  assert.equal(turns(false, 100, 105), 'faster than parallel for almost every size');
  assert.equal(turns(true, 100, 200, 400, 800, 1600, 3200), 'faster than parallel by turns from ≈ 100 to ≈ 3\u202f200 elements');
  assert.equal(turns(false, 100, 200, 400, 800), 'faster than parallel up to ≈ 100 elements, by turns from ≈ 100 to ≈ 800 elements and from there on');
});

test('predicted lines come with what was measured, and fitted ones with back ends that are not predicted', () => {
  const cost_ = {
    chosen: 'parallel',
    curves: [
      { backend: 'python', points: [[1, 1e-6], [1000, 1e-3]], measured: [] },
      { backend: 'parallel', points: [[1000, 2e-5], [1, 1e-5], ['no', 3], [1e6, -1]], measured: [[500, 3e-5]] },
      { backend: 'short', points: [[1, 1]], measured: [] }
    ]
  };
  const fitted = {
    n: [100],
    rows: [
      { backend: 'cpython', predicted: 'python', phases: [{ name: 'kernel', a: 1e-6, b: 0 }], points: [[100, 1e-4]] },
      { backend: 'parallel', phases: [{ name: 'kernel', a: 1e-6, b: 0 }], points: [[500, 3e-5]] },
      { backend: 'numpy', phases: [{ name: 'kernel', a: 1e-8, b: 1e-5 }], points: [[100, 1e-5]] }
    ]
  };
  const found = decode({ pipelines: [{ cost: cost_, model: fitted }] }).pipelines[0]?.model;
  assert.ok(found);
  assert.deepEqual(found.rows.map(row => row.backend), ['parallel', 'python', 'numpy']);
  assert.deepEqual(found.rows.map(row => row.points.length), [1, 1, 1]);
  assert.deepEqual(found.n, [100, 500]);
  const [parallel, python] = found.rows;
  assert.ok(parallel && python);
  assert.ok(Math.abs(cost(python, 10) / 1e-5 - 1) < 1e-9); // between two points, logarithms are interpolated
  assert.equal(cost(parallel, 0.5), 1e-5);
  assert.equal(cost(parallel, 1e6), 2e-2); // behind the last one, time grows with the elements
  assert.equal(decode({ pipelines: [{ cost: { curves: 'no' }, model: fitted }] }).pipelines[0]?.model?.rows.length, 3);
});

test('the digits of a number stay together', () => {
  assert.equal(oneLine('a \t b\n from 3\u202f500\u2003on '), 'a b from 3\u202f500 on');
});
