import assert from 'node:assert/strict';
import test from 'node:test';

import { all, hover, one, press, sample, stage } from './page';
import { show, tab } from './shown';
import { decode } from '../src/report';
import { PORTION } from '../src/listing';
import { reportView } from '../src/view';

function lit(pane: string): string[] {
  return all(`.hastega-pane-${pane} .hastega-line.hastega-lit`).map(row => row.dataset['line'] ?? '');
}

test('the first line is the verdict, then the time, the baselines, and the tabs', () => {
  show(sample());
  assert.match(one('.hastega-verdict').textContent ?? '', /^ys, total 1 fused loop · AVX-512/);
  assert.match(one('.hastega-times').textContent ?? '', /kernel/);
  const parts = ['.hastega-verdict', '.hastega-times', '.hastega-baselines', '[role=tablist]'].map(each => one(each));
  parts.slice(1).forEach((each, at) => {
    assert.ok((parts[at]?.compareDocumentPosition(each) ?? 0) & 4, 'in this order');
  });
  assert.match(parts[2]?.textContent ?? '', /÷ ours.*pure Python.*NumPy/);
  const names = all('[role=tab]').map(each => each.textContent);
  assert.deepEqual(names, ['Code', 'Pipeline', 'Passes', 'Size', 'Lanes', 'Times', 'Why']);
});

test('what has no loop is read, not compiled', () => {
  const data = sample();
  const first = data.pipelines[0] ?? {};
  const phases = [{ name: 'parse', seconds: 0.148 }, { name: 'kernel', seconds: 0.02 }];
  data.pipelines[0] = { ...first, loops: 0, backend: 'python', phases, baselines: [] };
  show(data);
  assert.match(one('.hastega-times').textContent ?? '', /reading 148 ms/);
  assert.ok(all('.hastega-bar .hastega-phase0').length === 1);
  data.pipelines[0] = { ...data.pipelines[0], loops: 1 };
  show(data);
  assert.match(one('.hastega-times').textContent ?? '', /compile 148 ms/);
});

test('this run is named as the baselines are', () => {
  const data = sample();
  const first = data.pipelines[0] ?? {};
  const said = (backend: string, threads: number): string => {
    data.pipelines[0] = { ...first, backend, threads };
    show(data);
    assert.equal(one('.hastega-baselines tbody .hastega-how').textContent, one('.hastega-times b').textContent?.replace(/^this run \(|\)$/g, ''));
    return one('.hastega-times b').textContent ?? '';
  };
  assert.equal(said('simd', 1), 'this run (one SIMD thread)');
  assert.equal(said('parallel', 1), 'this run (one SIMD thread)');
  assert.equal(said('parallel', 2), 'this run (parallel)');
  assert.equal(said('opencl', 2), 'this run (OpenCL)');
  assert.equal(said('simd, run again', 1), 'this run (one SIMD thread, run again)');
});

test('more warnings than there is room for are counted, as barriers are', () => {
  const barriers = Array.from({ length: 13 }, () => ({ stage: 'tap(f)', reason: 'it looks', span: [] }));
  show({ cell: { warnings: Array.from({ length: 14 }, () => 'hot') }, pipelines: [{ barriers, warnings: ['warm'] }] });
  assert.deepEqual(all('.hastega-note').slice(11).map(note => note.textContent), ['! hot', '! and 2 more warnings', '! warm']);
  assert.equal(all('.hastega-alert').at(-1)?.textContent, '✗ and 1 more barrier');
});

test('a line under the pointer lights the same computation everywhere', () => {
  show(sample());
  const report = decode(sample());
  const link = report.pipelines[0]?.links.find(each => each.text === 'mu * x * (x + 1) % p');
  assert.ok(link);
  hover(one(`.hastega-pane-fused [data-line="${link.lines.fused[0]}"]`));
  assert.deepEqual(lit('fused'), link.lines.fused.map(String));
  const hot = lit('asm').map(Number);
  assert.ok(hot.length > 3 && hot.every(line => link.lines.asm.includes(line)));
  assert.ok(lit('llvm').length > 3);
  assert.ok(all('.hastega-span.hastega-lit').map(span => span.textContent).join('').includes('% p'));
  assert.match(one('.hastega-card').textContent ?? '', /^mod The remainder.*from line 3: mu \* x \* \(x \+ 1\) % p/);
  assert.ok(one('.hastega-card svg.hastega-picture').getAttribute('aria-label'));
});

test('a token of the cell lights its own lines, and faintly those of its parts', () => {
  show(sample());
  const span = all('.hastega-pane-source [data-line="3"] .hastega-span').find(each => each.textContent === ' % p');
  assert.ok(span);
  hover(span);
  assert.equal(lit('fused').length, 1);
  assert.ok(all('.hastega-pane-fused .hastega-part').length >= 2);
});

test('keys do what the pointer does, and Enter and Escape keep and let go', () => {
  show(sample());
  const listing = one('.hastega-pane-fused [role=listbox]');
  listing.dispatchEvent(new Event('focus'));
  for (let i = 0; i < 5; i += 1) {
    press(listing, 'ArrowDown');
  }
  const active = listing.getAttribute('aria-activedescendant');
  assert.equal(one(`#${active}`).dataset['line'], '6');
  assert.deepEqual(lit('fused'), ['6']);
  assert.match(one('[role=status]').textContent ?? '', /mul/);
  press(listing, 'Enter');
  hover(one('.hastega-pane-fused [data-line="8"]'));
  assert.deepEqual(lit('fused'), ['6']);
  press(listing, 'Escape');
  assert.deepEqual(lit('fused'), []);
  const source = one('.hastega-pane-source [role=listbox]');
  source.dispatchEvent(new Event('focus'));
  press(source, 'ArrowDown');
  press(source, 'ArrowDown');
  press(source, 'ArrowRight');
  const first = all('.hastega-span.hastega-lit').map(each => each.textContent).join('|');
  press(source, 'ArrowRight');
  assert.notEqual(all('.hastega-span.hastega-lit').map(each => each.textContent).join('|'), first);
});

test('one stop for the Tab key in the tabs, arrow keys between them', () => {
  show(sample());
  const heads = all('[role=tab]');
  assert.equal(heads.filter(head => head.tabIndex === 0).length, 1);
  const [first, second] = heads;
  assert.ok(first && second);
  press(first, 'ArrowRight');
  assert.equal(second.getAttribute('aria-selected'), 'true');
  assert.equal(document.activeElement, second);
  assert.equal(one(`#${second.getAttribute('aria-controls')}`).hidden, false);
  assert.equal(one(`#${first.getAttribute('aria-controls')}`).hidden, true);
  press(second, 'End');
  assert.equal(heads[heads.length - 1]?.getAttribute('aria-selected'), 'true');
});

test('folds open, debug locations show when asked for', () => {
  show(sample());
  const pane = one('.hastega-pane-asm');
  const before = all('[data-line]', pane).length;
  const fold = one('.hastega-fold', pane);
  assert.match(fold.textContent ?? '', /^▸ lines 1 to \d+/);
  fold.click();
  assert.ok(all('[data-line]', pane).length > before);
  assert.equal(all('[data-line="1"]', pane).length, 1);
  const llvm = one('.hastega-pane-llvm');
  assert.ok(!(llvm.textContent ?? '').includes('!dbg'));
  all('.hastega-button').find(each => each.textContent === '!dbg')?.click();
  assert.ok((llvm.textContent ?? '').includes('!dbg'));
});

test('a listing can be hidden and shown', () => {
  show(sample());
  const toggle = all('.hastega-button').find(each => each.textContent === 'Assembly');
  assert.ok(toggle);
  toggle.click();
  assert.equal(toggle.getAttribute('aria-pressed'), 'false');
  assert.ok(one('.hastega-pane-asm').hidden);
});

test('long lines are wrapped unless that is switched off', () => {
  show(sample());
  const panes = one('.hastega-panes');
  const toggle = all('.hastega-button').find(each => each.textContent === 'wrap');
  assert.equal(toggle?.getAttribute('aria-pressed'), 'true');
  assert.ok(panes.classList.contains('hastega-wrap'));
  toggle?.click();
  assert.ok(!panes.classList.contains('hastega-wrap'));
  assert.match(one('.hastega-pane-fused [data-line="4"] code').textContent ?? '', /\S {2}; line 3$/);
});

test('a listing that nothing ran waits to be asked for, and says so', () => {
  const data = sample();
  const pipeline = data.pipelines[0] ?? {};
  const opencl = '__kernel void hastega() {}';
  data.pipelines[0] = { ...pipeline, code: { ...(pipeline['code'] as object), opencl, not_run: ['opencl'] } };
  show(data);
  assert.ok(one('.hastega-pane-opencl').hidden);
  assert.ok(!one('.hastega-pane-asm').hidden);
  const toggle = all('.hastega-button').find(each => each.textContent === 'OpenCL C');
  assert.equal(toggle?.getAttribute('aria-pressed'), 'false');
  toggle?.click();
  assert.ok(!one('.hastega-pane-opencl').hidden);
  assert.match(one('.hastega-pane-opencl .hastega-panehead').textContent ?? '', /not run here/);
});

test('the stepper goes through the passes', () => {
  show(sample());
  tab('Passes');
  const steps: string[] = [];
  const next = one<HTMLButtonElement>('[aria-label="The next pass"]');
  for (let i = 0; i < 20; i += 1) {
    steps.push(one('.hastega-toolbar b').textContent ?? '');
    const panel = one('[role=tabpanel]:not([hidden])');
    steps[i] = one('b[role=status]', panel).textContent ?? '';
    if (next.disabled) {
      break;
    }
    next.click();
  }
  assert.match(steps[0] ?? '', /^1\/\d+ pipeline · as written$/);
  const simplify = steps.find(step => step.includes('simplify'));
  assert.match(simplify ?? '', /\+1 −1 lines$/);
  assert.match(steps[steps.length - 1] ?? '', /^(\d+)\/\1 schedule/);
  press(next, 'ArrowLeft');
  assert.match(one('[role=tabpanel]:not([hidden]) b[role=status]').textContent ?? '', /guard/);
});

test('the slider moves the times and names the fastest', () => {
  show(sample());
  tab('Size');
  const slider = one<HTMLInputElement>('input[type=range]');
  const panel = one('[role=tabpanel]:not([hidden])');
  slider.value = slider.min;
  slider.dispatchEvent(new Event('input'));
  assert.equal(one('output', panel).textContent, '10 elements');
  assert.match(one('tr.hastega-best', panel).textContent ?? '', /pure Python/);
  assert.match(slider.getAttribute('aria-valuetext') ?? '', /fastest is pure Python/);
  slider.value = slider.max;
  slider.dispatchEvent(new Event('input'));
  assert.match(one('tr.hastega-best', panel).textContent ?? '', /OpenCL/);
  assert.equal(all('svg.hastega-chart .hastega-dot', panel).length, 11);
  assert.equal(all('.hastega-crossing', panel).length, 3);
  assert.match(panel.textContent ?? '', /parallel is faster than NumPy from ≈ 1\s800 elements on/);
});

test('the lane view steps, and hatches lanes that do not count', () => {
  show(sample());
  tab('Lanes');
  const panel = one('[role=tabpanel]:not([hidden])');
  assert.equal(all('thead th', panel).length, 10);
  const next = one<HTMLButtonElement>('[aria-label="The next step"]', panel);
  while (!next.disabled) {
    next.click();
  }
  assert.equal(all('tr.hastega-now .hastega-dead', panel).length, 1);
  assert.match(one('b', panel).textContent ?? '', /7 of 8 lanes count/);
  assert.match(panel.textContent ?? '', /Hatched lanes do not count there: .* or the source has no more elements/);
});

test('a report of a newer schema shows what is known, and says so', () => {
  const view = show({ ...sample(), schema: 9, wonders: [1], cell: { source: 'x' } });
  assert.match(one('.hastega-note', view).textContent ?? '', /newer version \(schema 9\)/);
  assert.equal(all('[role=tab]', view).length, 7);
});

test('an empty report, and one without anything to show', () => {
  assert.match(show({}).textContent ?? '', /no pipeline ran/);
  assert.match(show({ pipelines: [{}] }).textContent ?? '', /^pipeline did not run$/);
});

test('barriers and warnings stand under the verdict', () => {
  const data = sample();
  data.pipelines[0] = {
    ...data.pipelines[0],
    barriers: [{ stage: 'tap(print)', reason: 'It is observed.', span: [3, 1, 3, 5] }],
    warnings: ['too large'],
    int: { fell_back: true }
  };
  show(data);
  assert.match(one('.hastega-alert').textContent ?? '', /✗ barrier tap\(print\) \(line 3\): It is observed\./);
  assert.match(one('.hastega-note').textContent ?? '', /too large/);
  assert.match(one('.hastega-verdict').textContent ?? '', /✗ 1 barrier/);
});

test('hostile text stays text', () => {
  const evil = '<img src=x onerror="globalThis.harmed=1"><script>globalThis.harmed=1</script>"\'&amp;😀 שלום \u202eevil';
  const poison = (value: unknown): unknown => {
    if (typeof value === 'string') {
      return evil;
    }
    if (Array.isArray(value)) {
      return value.map(poison);
    }
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, poison(each)]));
    }
    return value;
  };
  const root = show(poison(sample()));
  for (const head of all('[role=tab]')) {
    head.click();
    for (const row of all('[data-line]').slice(0, 30)) {
      hover(row);
    }
  }
  assert.equal(root.querySelectorAll('img, script, iframe, a, object, embed, style, link').length, 0);
  for (const element of root.querySelectorAll('*')) {
    for (const { name, value } of Array.from(element.attributes)) {
      assert.ok(!name.startsWith('on') && name !== 'href' && name !== 'src', name);
      assert.ok(name === 'style' ? /^width: [\d.e-]+%;$|^width: 0px;$/.test(value) : true, `${name}=${value}`);
    }
  }
  assert.equal((globalThis as Record<string, unknown>)['harmed'], undefined);
  assert.ok((root.textContent ?? '').includes('<img src=x'));
  assert.ok((root.textContent ?? '').includes('שלום'));
  const obeyed = Array.from(root.querySelectorAll('*')).filter(
    element => element.childElementCount === 0 && (element.textContent ?? '').includes('\u202e')
  );
  assert.deepEqual(obeyed.map(element => element.outerHTML), [], 'direction characters are shown, not obeyed');
});

test('a thousand stages stay light', () => {
  const data = sample();
  const pipeline = data.pipelines[0];
  assert.ok(pipeline);
  const count = 1000;
  const nodes = Array.from({ length: count }, (_, i) => ({ id: `n${i}`, kind: 'stage', label: `map(f${i})` }));
  const text = Array.from({ length: 4 * count }, (_, i) => `  %${i}: int = add %${i}, 1  ; line ${i}`).join('\n');
  data.pipelines[0] = {
    ...pipeline,
    stages: nodes.map(node => node.label),
    graph: { before: { nodes, edges: nodes.slice(1).map((node, i) => [`n${i}`, node.id, 'int']) } },
    code: { fused: text, llvm: text, asm: text, opencl: text, passes: [{ name: 'a', text }, { name: 'b', text: text.replace(/add/g, 'mul') }] },
    links: Array.from({ length: count }, (_, i) => ({ span: [i + 1, 0, i + 1, 5], text: 'x', fused: [i + 1], asm: [i + 1], llvm: [], opencl: [] })),
    barriers: nodes.map(() => ({ stage: 's', reason: 'r', span: [] }))
  };
  (data as Record<string, unknown>)['cell'] = { source: Array.from({ length: count }, () => 'x + 1').join('\n') };
  const root = show(data);
  for (const head of all('[role=tab]')) {
    head.click();
  }
  hover(one('.hastega-pane-source [data-line="5"]'));
  assert.deepEqual(lit('fused'), ['5']);
  assert.ok(all('.hastega-pane-fused [data-line]').length === PORTION);
  assert.ok(root.querySelectorAll('*').length < 20000);
  assert.match(root.textContent ?? '', /and 960 nodes more/);
});

test('what was cut is marked where it is missing, counted whole, and said', () => {
  const data = sample();
  const pipeline = data.pipelines[0] ?? {};
  const code = pipeline['code'] as Record<string, unknown>;
  const fused = 'fused\n  %0: int = load xs\n; … 29 600 lines left out: %hastega report --save FILE.html\n  y = array %0';
  const passes = [{ name: 'pipeline', doc: '', text: 'a\n; … 7 more lines: %hastega report --save FILE.html' }];
  data.pipelines[0] = {
    ...pipeline,
    code: { ...code, fused, passes },
    barriers: Array.from({ length: 20 }, () => ({ stage: 's', reason: 'r', span: [] })),
    cut: { 'code.fused': 29603, barriers: 999, 'code.passes.pipeline': 8 }
  };
  const root = show(data);
  assert.match(one('.hastega-verdict').textContent ?? '', /✗ 999 barriers/);
  assert.match(root.textContent ?? '', /✗ and 987 more barriers/);
  const head = one('.hastega-pane-fused .hastega-panehead').textContent ?? '';
  assert.match(head, /29\s603 lines/);
  assert.match(head, /cut to 4/);
  assert.equal(one('.hastega-pane-fused .hastega-listing .hastega-cut').textContent, fused.split('\n')[2]);
  assert.equal(one('[data-line="3"]', one('.hastega-pane-fused')).querySelectorAll('.hastega-op').length, 0);
  assert.match(root.textContent ?? '', /to keep the notebook small: %hastega report --save FILE\.html writes all of it/);
  tab('Passes');
  assert.match(one('.hastega-diff .hastega-cut').textContent ?? '', /7 more lines/);
  show(sample());
  assert.equal(all('.hastega-cut').length, 0);
});

test('what is not on the screen is not built', () => {
  const waiting: (() => void)[] = [];
  const view = reportView(decode(sample()), (_, build) => {
    waiting.push(build);
    return () => waiting.splice(0);
  });
  stage(view.element);
  assert.match(view.element.textContent ?? '', /1 fused loop/);
  assert.equal(all('[role=tab]').length, 0);
  assert.ok(view.element.querySelectorAll('*').length < 40);
  waiting.forEach(build => build());
  assert.equal(all('[role=tab]').length, 7);
  view.dispose();
  assert.equal(waiting.length, 0);
});

test('many pipelines: the first is open, the others open on a click', () => {
  const data = sample();
  data.pipelines = Array.from({ length: 5 }, () => data.pipelines[0] ?? {});
  show(data);
  const bodies = all('.hastega-body');
  assert.deepEqual(bodies.map(body => body.hidden), [false, true, true, true, true]);
  const more = one('[aria-expanded]');
  more.click();
  assert.equal(more.getAttribute('aria-expanded'), 'true');
  assert.equal(bodies[1]?.hidden, false);
  const ids = all('[id]').map(each => each.id);
  assert.equal(new Set(ids).size, ids.length);
});

test('every control has a name', () => {
  show(sample());
  for (const head of all('[role=tab]')) {
    head.click();
  }
  for (const control of all('button, input, [role=listbox], [role=tabpanel], [role=img]')) {
    const label = control.getAttribute('aria-label') ?? control.getAttribute('aria-labelledby') ?? control.textContent;
    const tied = control.id !== '' && document.querySelector(`label[for="${control.id}"]`) !== null;
    assert.ok(tied || (label !== null && label.trim() !== ''), control.outerHTML.slice(0, 120));
  }
});

test('that no pipeline ran is said where no note says why', () => {
  const said = (data: object): string => reportView(decode(data)).element.textContent ?? '';
  assert.match(said({ cell: {} }), /no pipeline ran that is written in this cell/);
  const told = said({ cell: { warnings: ['The function has not been called yet.'] } });
  assert.match(told, /has not been called yet/);
  assert.doesNotMatch(told, /no pipeline ran/);
});
