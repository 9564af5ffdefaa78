import assert from 'node:assert/strict';
import test from 'node:test';

import { otherwise, taken } from '../src/otherwise';
import { decode, Pipeline } from '../src/report';
import { all, one } from './page';
import { show, tab } from './shown';

const curve = (backend: string, n: number): object => ({ backend, points: [[10, n * 10], [1e6, n * 1e6]], measured: [] });
const cell = (more: object): object => ({
  loops: 1,
  backend: 'simd',
  elements: 5000,
  phases: [{ name: 'kernel', seconds: 4e-3 }],
  baselines: [{ backend: 'python', seconds: 5e-4, elements: 5000, equal: true }],
  cost: { chosen: 'simd', curves: [curve('python', 1e-6), curve('simd', 1e-7)] },
  ...more
});

function said(more: object = {}): [string, string[]] {
  const [pipeline] = decode({ pipelines: [cell(more)] }).pipelines as [Pipeline];
  const { model } = pipeline;
  assert.ok(model);
  return [taken(pipeline, model), otherwise(pipeline, model)];
}

test('what was measured stands beside predictions that it contradicts', () => {
  const sentence = 'Measured otherwise: over 5\u202f000 elements one SIMD thread 4.00 ms (predicted 500 µs), pure Python 500 µs (predicted 5.00 ms)';
  assert.deepEqual(said(), ['predicted', [sentence]]);
  assert.deepEqual(said({ phases: [{ name: 'kernel', seconds: 1e-4 }] }), ['predicted', []]);
  assert.deepEqual(said({ phases: [{ name: 'kernel', seconds: 5.2e-4 }] }), ['predicted', []]); // too near to tell
  assert.deepEqual(said({ int: { fell_back: true } }), ['predicted if all integers fit 64 bits', [sentence]]);
  assert.deepEqual(said({ barriers: [{ stage: 'tap(f)', reason: 'it looks' }] }), ['predicted without what Python runs at barriers', []]);
  assert.deepEqual(said({ cost: { chosen: 'all', curves: [curve('python', 1e-6), curve('simd', 1e-7)] } }), ['predicted', []]);
});

test('back ends that were fitted are compared where both were measured', () => {
  const model = { n: [100], rows: [{ backend: 'numpy', phases: [{ name: 'kernel', a: 1e-8, b: 0 }], points: [[100, 1e-3]] }] };
  const curves = [{ ...curve('simd', 1e-7), measured: [[100, 1e-4]] }];
  const [, found] = said({ baselines: [], model, cost: { chosen: 'simd', curves } });
  assert.deepEqual(found, ['Measured otherwise: over 100 elements one SIMD thread 100 µs (predicted 10.0 µs), NumPy 1.00 ms (fitted 1.00 µs)']);
});

test('the tab says how its sentences are to be taken', () => {
  const more = { curves: [curve('python', 1e-6), { backend: 'simd', points: [[10, 1e-4], [1e6, 1e-1]], measured: [] }], chosen: 'simd' };
  show({ pipelines: [cell({ cost: more })] });
  tab('Size');
  assert.match(one('[role=tabpanel]:not([hidden])').textContent ?? '', /Break-even, predicted:one SIMD thread is faster than pure Python from ≈ 3\s200 elements on/);
  assert.match(all('.hastega-note').at(-1)?.textContent ?? '', /^Measured otherwise: over/);
});
