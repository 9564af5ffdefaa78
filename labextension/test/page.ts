/** A page without a browser, and the report that the tests look at: a real one, with sizes and lanes added. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { JSDOM } from 'jsdom';

const dom = new JSDOM('<!doctype html><body></body>', { pretendToBeVisual: true });
const names = ['window', 'document', 'Node', 'Element', 'HTMLElement', 'SVGElement', 'DocumentFragment', 'MouseEvent', 'KeyboardEvent', 'Event', 'CustomEvent'] as const;
for (const name of names) {
  Object.defineProperty(globalThis, name, { value: (dom.window as unknown as Record<string, unknown>)[name], configurable: true, writable: true });
}

/** The tests are compiled into build/test; the data stays where it is. */
const DATA = join(__dirname, '..', '..', 'test', 'logistic.json');

/** The JSON of the report, anew for each test. */
export function sample(): Record<string, unknown> & { pipelines: Record<string, unknown>[] } {
  return JSON.parse(readFileSync(DATA, 'utf8')) as Record<string, unknown> & { pipelines: Record<string, unknown>[] };
}

export function stage(element: Element): void {
  document.body.replaceChildren(element);
}

export function one<T extends Element = HTMLElement>(selector: string, root: ParentNode = document): T {
  const found = root.querySelector<T>(selector);
  if (found === null) {
    throw new Error(`nothing matches ${selector}`);
  }
  return found;
}

export function all(selector: string, root: ParentNode = document): HTMLElement[] {
  return Array.from(root.querySelectorAll<HTMLElement>(selector));
}

export function press(element: Element, key: string): void {
  element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}

export function hover(element: Element): void {
  element.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
}
