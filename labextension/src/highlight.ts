/** What to colour in a cell of the language: the magic's line, each `|>`, and the name of the stage after it. */

export interface Mark {
  readonly from: number;
  readonly to: number;
  readonly kind: 'magic' | 'option' | 'pipe' | 'stage' | 'sink' | 'tap';
}

const MAGIC = /^\s*%%hastega\b/;
const SINKS = new Set(
  ('sum prod min max count mean var std any all argmin argmax first last reduce dot bincount to_list').split(' ')
);
/** A string (its prefix, then three quotes or one), a comment, or a pipe with the name after it. */
const TOKEN =
  /("""|''')(?:\\[^]|(?!\1)[^])*(?:\1|$)|"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?|#[^\n]*|\|>(?:\s*([A-Za-z_][\w.]*))?/g;

/** Whether the text is a cell of the language. */
export function isHastega(text: string): boolean {
  return MAGIC.test(text);
}

/** Marks in rising order, none of them in a string or a comment; none at all in other cells. */
export function marks(text: string): Mark[] {
  const magic = MAGIC.exec(text);
  if (magic === null) {
    return [];
  }
  const end = text.indexOf('\n', magic[0].length);
  const head = end < 0 ? text.length : end;
  const from = magic[0].length - '%%hastega'.length;
  const out: Mark[] = [{ from, to: magic[0].length, kind: 'magic' }];
  for (const option of text.slice(magic[0].length, head).matchAll(/(?<=\s)\S+/g)) {
    const at = magic[0].length + option.index;
    out.push({ from: at, to: at + option[0].length, kind: 'option' });
  }
  TOKEN.lastIndex = head;
  for (let found = TOKEN.exec(text); found !== null; found = TOKEN.exec(text)) {
    const name = found[2];
    if (!found[0].startsWith('|>')) {
      continue;
    }
    out.push({ from: found.index, to: found.index + 2, kind: 'pipe' });
    if (name !== undefined) {
      const to = found.index + found[0].length;
      out.push({ from: to - name.length, to, kind: SINKS.has(name) ? 'sink' : name === 'tap' ? 'tap' : 'stage' });
    }
  }
  return out;
}
