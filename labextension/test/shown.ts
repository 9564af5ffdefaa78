/** A report as it is shown, and its tabs. */

import assert from 'node:assert/strict';

import { all, stage } from './page';
import { decode } from '../src/report';
import { reportView } from '../src/view';

export function show(data: unknown): HTMLElement {
  const view = reportView(decode(data), (_, build) => {
    build();
    return () => undefined;
  });
  stage(view.element);
  return view.element;
}

export function tab(name: string): HTMLElement {
  const found = all('[role=tab]').find(each => each.textContent === name);
  assert.ok(found, name);
  found.click();
  return found;
}
