import assert from 'node:assert/strict';
import test from 'node:test';

import { all, one, sample, stage } from './page';
import { Cell, followKernel, measureButton, withWidgets } from '../src/kernel';
import { decode } from '../src/report';
import { reportView } from '../src/view';

class Signal<T> {
  private readonly _slots = new Set<(sender: unknown, value: T) => void>();

  get count(): number {
    return this._slots.size;
  }

  connect(slot: (sender: unknown, value: T) => void): boolean {
    this._slots.add(slot);
    return true;
  }

  disconnect(slot: (sender: unknown, value: T) => void): boolean {
    return this._slots.delete(slot);
  }

  emit(value: T): void {
    this._slots.forEach(slot => slot(this, value));
  }
}

/** A notebook of cells with these texts; each cell's node holds what is put into it. */
function notebook(...texts: string[]) {
  const node = document.createElement('div');
  const cells = texts.map(text => {
    let now = text;
    const cell: Cell = {
      node: document.createElement('div'),
      model: { sharedModel: { getSource: () => now, setSource: (value: string) => void (now = value) } }
    };
    node.append(cell.node);
    return cell;
  });
  const kernel = { status: 'idle' };
  const session = {
    session: { kernel: kernel as { status: string } | null },
    statusChanged: new Signal<string>(),
    kernelChanged: new Signal<{ oldValue: unknown; newValue: unknown }>()
  };
  const ran: number[] = [];
  const content = { widgets: cells, activeCellIndex: 0, deselectAll: () => undefined };
  const stop = followKernel({ node, content }, session, () => ran.push(content.activeCellIndex));
  const now = (status: string): void => {
    kernel.status = status;
    session.statusChanged.emit(status);
  };
  stage(node);
  return { node, cells, session, ran, now, stop };
}

function panel(): HTMLElement {
  const made = document.createElement('div');
  made.className = 'hastega-widgets';
  made.append(document.createElement('button'), document.createElement('progress'));
  return made;
}

for (const status of ['autorestarting', 'restarting', 'terminating', 'dead']) {
  test(`a panel whose kernel is ${status} says so, once`, () => {
    const { cells, now } = notebook('%%hastega --widgets', '1');
    cells[0]?.node.append(panel());
    now('busy');
    now('idle');
    assert.equal(all('.hastega-gone').length, 0);
    now(status);
    now(status);
    assert.match(one('.hastega-gone [role=status]').textContent ?? '', /The kernel is gone.*Run the cell again/);
    assert.equal(all('[role=status]').length, 1);
    assert.ok(one('.hastega-gone button').hasAttribute('inert'));
    assert.ok(!one('.hastega-lost').hasAttribute('inert'));
  });
}

test('a panel of the next kernel is left alone', () => {
  const { cells, now } = notebook('%%hastega --widgets', '%%hastega --widgets');
  cells[0]?.node.append(panel());
  now('autorestarting');
  now('idle');
  cells[1]?.node.append(panel());
  assert.equal(all('.hastega-gone').length, 1);
  assert.ok(!one('.hastega-gone').contains(cells[1]?.node ?? null));
});

test('another kernel, or none, leaves panels behind; the first kernel does not', () => {
  const { cells, session } = notebook('%%hastega --widgets');
  cells[0]?.node.append(panel());
  session.kernelChanged.emit({ oldValue: null, newValue: {} });
  assert.equal(all('.hastega-gone').length, 0);
  session.session.kernel = null;
  session.kernelChanged.emit({ oldValue: {}, newValue: null });
  assert.equal(all('.hastega-gone').length, 1);
});

test('the notebook is marked as living while its kernel lives', () => {
  const { node, now, session, stop } = notebook('1');
  const living = (): boolean => node.classList.contains('hastega-living');
  assert.ok(living());
  now('dead');
  assert.ok(!living());
  now('starting');
  assert.ok(living());
  stop();
  assert.equal(session.statusChanged.count + session.kernelChanged.count, 0);
});

test('the button gives the cell of its report the option, and runs that cell', () => {
  const { cells, ran } = notebook('1', '%%hastega --on simd\ny = 1');
  const data = { ...sample(), cell: { source: '%%hastega --on simd\ny = 1', measurable: true } };
  cells[1]?.node.append(reportView(decode(data)).element);
  one('.hastega-measure').click();
  assert.equal(cells[1]?.model.sharedModel.getSource(), '%%hastega --widgets --on simd\ny = 1');
  assert.equal(cells[0]?.model.sharedModel.getSource(), '1');
  assert.deepEqual(ran, [1]);
});

test('under a cell that is not the report\'s own the button changes nothing, and says why', () => {
  const { cells, ran } = notebook('%hastega report');
  cells[0]?.node.append(reportView(decode({ ...sample(), cell: { source: '%%hastega\ny = 1', measurable: true } })).element);
  one('.hastega-measure').click();
  assert.equal(cells[0]?.model.sharedModel.getSource(), '%hastega report');
  assert.deepEqual(ran, []);
  assert.match(document.body.textContent ?? '', /not the one of this report/);
});

test('a cell with a panel or without anything to measure gets no button, nor does a text that is no cell of ours', () => {
  const made = (source: string, measurable: unknown = true) => measureButton(decode({ cell: { source, measurable }, pipelines: [{ loops: 1 }] }));
  assert.ok(made('%%hastega\nx = 1'));
  for (const source of ['%%hastega --widgets\nx', '%%hastega_kernel llvm y', 'x = 1', '']) {
    assert.equal(made(source), null, source);
  }
  for (const odd of [false, null, 'yes']) {
    assert.equal(made('%%hastega\nx = 1', odd), null, 'nothing ran that could be measured');
  }
  assert.equal(withWidgets('%%hastega'), '%%hastega --widgets');
  assert.equal(withWidgets('%%hastega --widgets'), '%%hastega --widgets');
  assert.equal(withWidgets('# %%hastega'), null);
});
