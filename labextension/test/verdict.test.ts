import assert from 'node:assert/strict';
import test from 'node:test';

import { all, sample } from './page';
import { show } from './shown';
import { decode } from '../src/report';
import { heldAgainst, parted, phaseName, reasons, verdict } from '../src/verdict';

test('phases have the words of the text and HTML forms', () => {
  assert.deepEqual(['convert_in', 'call', 'kernel'].map(phaseName), ['convert in', 'everything else', 'kernel']);
});

test('a stage that is computed one element after the other is named', () => {
  const scalarOps = ['vdivsd', 'scan(lambda a, x: a / x)', 'scan(lambda a, x: a - x)', 'reduce(f, 1)'];
  const vector = { lanes: 8, in_flight: 8, isa: 'AVX-512', scalar_ops: scalarOps };
  const [pipeline] = decode({ pipelines: [{ loops: 1, backend: 'simd', threads: 1, vector }] }).pipelines;
  assert.ok(pipeline);
  const words = verdict(pipeline).map(part => part.text);
  assert.deepEqual(words, ['1 fused loop', 'AVX-512, 8 lanes × 8', 'serial scan', 'serial reduce', '1 thread']);
});

test('a loop that plain Python computed says so, and what it was compiled to', () => {
  const found = decode({ pipelines: [{ loops: 1, backend: 'python', threads: 1, vector: { lanes: 8, in_flight: 8, isa: 'AVX-512' } }] });
  const [pipeline] = found.pipelines;
  assert.ok(pipeline);
  const words = verdict(pipeline).map(part => part.text);
  assert.deepEqual(words, ['1 fused loop', 'compiled to AVX-512, 8 lanes × 8', 'computed by plain Python, which is faster here']);
  assert.ok(verdict(pipeline).every(part => !part.bad));
  const row = { backend: 'python', seconds: 2, spread: [], elements: 5, extrapolated: false, equal: true, phases: [], note: '' };
  const compared = { ...pipeline, phases: [{ name: 'kernel', seconds: 4, bytes: 0, python: 0 }], baselines: [row, { ...row, backend: 'numpy' }] };
  assert.deepEqual(verdict(compared).map(part => part.text).slice(3), ['4.00 s', '2.0 × slower than NumPy ✓']); // not than itself
  assert.deepEqual(compared.baselines.map(each => heldAgainst(compared, each)), [0, 4]);
  const wrong = { ...compared, baselines: [{ ...row, equal: false }] };
  assert.equal(verdict(wrong).at(-1)?.text, '✗ pure Python gave another result');
});

test('a pipeline that raised says so first, and one of NumPy has words of its own', () => {
  const words = (data: object): string[] => {
    const [pipeline] = decode({ pipelines: [data] }).pipelines;
    assert.ok(pipeline);
    return verdict(pipeline).map(part => part.text);
  };
  assert.deepEqual(words({ raised: 'ValueError' }), ['✗ raised ValueError']);
  assert.deepEqual(words({ raised: 'KeyboardInterrupt', loops: 1, backend: 'simd' }), ['✗ interrupted', '1 fused loop']);
  assert.deepEqual(words({}), ['did not run']);
  assert.deepEqual(words({ raised: 'ValueError', loops: 1, backend: 'simd', threads: 1 }), ['✗ raised ValueError', '1 fused loop', '1 thread']);
  assert.deepEqual(words({ backend: 'numpy', device: 'NumPy' }), ['no compiled loop', 'computed by NumPy, array by array']);
  const barriers = [{ stage: 'tap(f)', reason: 'it looks', span: [] }];
  assert.deepEqual(words({ backend: 'numpy', barriers }), ['no compiled loop', 'computed by NumPy and Python', '✗ 1 barrier']);
  const phases = [{ name: 'parse', seconds: 1, bytes: 0 }]; // of a cell that was read, and no more
  assert.deepEqual(words({ backend: 'python', phases }), ['no compiled loop', 'ran in Python']);
  assert.deepEqual(words({ backend: 'simd', loops: 1, phases }), ['1 fused loop', '1.00 s to compile, once']);
});

test('what bounds an element is among the reasons, where it was predicted', () => {
  const why = (cost: object): string[] => decode({ pipelines: [{ why: ['So it is.'], cost }] }).pipelines.flatMap(reasons);
  assert.deepEqual(why({ bound: 'memory', operations: 2.5, bytes: 24 }), [
    'So it is.', 'An element takes 2.5 operations and 24 bytes of memory; predicted to be bound by memory.'
  ]);
  assert.match(why({ bound: 'launch' })[1] ?? '', /takes no operation and no byte of memory/);
  assert.deepEqual(why({ operations: 'many' }), ['So it is.']);
});

test('what a cell waited for beside its pipelines is said once, below them', () => {
  const phases = [{ name: 'load', seconds: 0.139 }, { name: 'device', seconds: 0.312 }, { name: 'parse', seconds: 0.0011 }, { name: 'baselines', seconds: 1.02 }];
  const said = (cell: object): (string | null)[] => {
    show({ ...sample(), cell });
    return all('.hastega-pipeline ~ .hastega-about').map(each => each.textContent);
  };
  assert.deepEqual(said({ phases, why: ['A sentence about the cell.'] }), [
    'Beside the pipelines: loading the compiler 139 ms, once; starting OpenCL 312 ms, once; reading the cell 1.10 ms; timing the baselines 1.02 s.',
    'A sentence about the cell.'
  ]);
  assert.deepEqual(said({ phases: [{ name: 'parse', seconds: 0.0049 }] }), []);
  assert.deepEqual(said({ phases: [{ name: 'constructor', seconds: 1 }] }), ['Beside the pipelines: constructor 1.00 s.']);
});

test('what Python took is one phase, behind the first in which it took part', () => {
  const phases = [{ name: 'kernel', seconds: 4, bytes: 8, python: 1 }, { name: 'convert_out', seconds: 3, bytes: 0, python: 2 }];
  const found = parted(phases).map(({ name, seconds }) => [name, seconds]);
  assert.deepEqual(found, [['kernel', 3], ['python', 3], ['convert_out', 1]]);
});
