import assert from 'node:assert/strict';
import test from 'node:test';

import { all, one, sample } from './page';
import { show, tab } from './shown';

test('who computed what, and the schedules that were tried, have tabs of their own', () => {
  const data = sample();
  const [first] = data.pipelines;
  assert.ok(first);
  Object.assign(first, {
    backend: 'all',
    split: {
      parts: [
        { backend: 'parallel', device: 'a CPU', elements: 300, seconds: 3e-3 },
        { backend: 'opencl:0', device: 'a <b>GPU</b>', elements: 100, seconds: 1e-3, failed: 'it caught fire' }
      ]
    },
    tuning: {
      tried: [
        { schedule: '8 lanes × 8', seconds: 2e-3, spread: [1e-3, 3e-3] },
        { schedule: '32 lanes × 2', note: 'it did not run' },
        { schedule: '16 lanes × 2', seconds: 1e-3, spread: [1e-3, 1e-3], chosen: true }
      ]
    }
  });
  show(data);
  assert.match(one('.hastega-verdict').textContent ?? '', /shared by a CPU and a <b>GPU<\/b>/);
  tab('Shares');
  const rows = (): string[] => all('[role=tabpanel]:not([hidden]) tbody tr').map(row => row.textContent ?? '');
  assert.match(rows()[0] ?? '', /300.*75.*%.*3\.00 ms.*10\.0 µs.*a CPU/);
  assert.match(rows()[1] ?? '', /25.*%.*✗ it caught fire/);
  tab('Schedules');
  assert.match(rows()[0] ?? '', /8 lanes × 8.*2\.0 ×.*the compiler's own/);
  assert.match(rows()[1] ?? '', /16 lanes × 2.*✓ chosen/);
  assert.match(rows()[2] ?? '', /32 lanes × 2.*it did not run/);
});

test('who computed nothing shared nothing', () => {
  const data = sample();
  const parts = [
    { backend: 'parallel', device: 'a CPU', elements: 300, seconds: 3e-3 },
    { backend: 'opencl:0', device: 'a GPU', elements: 0, seconds: 0 }
  ];
  Object.assign(data.pipelines[0] ?? {}, { backend: 'all', split: { parts } });
  show(data);
  assert.match(one('.hastega-verdict').textContent ?? '', /all of it computed by a CPU ·/);
});

test('shares and schedules may be of any kind', () => {
  for (const odd of [7, null, [], { parts: 'x', tried: {} }, { parts: [3, null], tried: [[], { spread: 'x', seconds: -1 }] }]) {
    const data = sample();
    Object.assign(data.pipelines[0] ?? {}, { split: odd, tuning: odd });
    show(data);
    for (const name of all('[role=tab]').map(each => each.textContent ?? '')) {
      tab(name);
    }
  }
});
