/**
 * Elements from data. Text enters the page as text nodes and attribute values alone, never as markup, so that
 * no name or string of a notebook can become an element, a handler or an address.
 */

export type Child = Node | string | null;
export type Attributes = Readonly<Record<string, string | number | boolean>>;

const SVG = 'http://www.w3.org/2000/svg';

/** Characters that would be invisible or would reorder what stands beside them, such as U+202E. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff\ud800-\udfff\u{e0000}-\u{e007f}]/gu;

/** The text with its control and direction characters made visible: `⟨U+202E⟩`. */
export function visible(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(HIDDEN, found => `⟨U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** The text on one line, with single blanks for all white space, cut after `most` characters. */
export function oneLine(text: string, most = 400): string {
  const flat = Array.from(visible(text).trim().replace(/[^\S\u00a0\u202f]+/g, ' '));
  return flat.length <= most ? flat.join('') : `${flat.slice(0, most - 1).join('')}…`;
}

function fill<T extends Element>(element: T, attributes: Attributes, children: readonly Child[]): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  for (const child of children) {
    if (child !== null) {
      element.append(child);
    }
  }
  return element;
}

/** An HTML element. Attributes that are `false` are left out, `true` ones are empty. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag: string, attributes: Attributes = {}, ...children: readonly Child[]): SVGElement {
  return fill(document.createElementNS(SVG, tag) as SVGElement, attributes, children);
}

/** The class attribute of our elements: each name with our prefix, so that nothing leaks in or out. */
export function cls(...names: readonly string[]): string {
  return names.map(name => `hastega-${name}`).join(' ');
}

/**
 * For elements with a use of their own for the arrow keys. In command mode the notebook takes these keys, wherever
 * the focus is, before any other listener sees them. It leaves an element alone that has this attribute and the focus.
 */
export const OWN_KEYS: Attributes = { 'data-lm-suppress-shortcuts': 'true' };

let used = 0;

/** An id that no other element of the page has. */
export function unique(stem: string): string {
  used += 1;
  return `hastega-${stem}-${used}`;
}

/** A push button. */
export function button(label: string, title: string, press: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = h('button', { type: 'button', class: cls('button'), title, ...OWN_KEYS, ...attributes }, label);
  made.addEventListener('click', press);
  return made;
}
