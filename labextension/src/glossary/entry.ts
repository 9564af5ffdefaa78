/** What a glossary is made of: patterns for names, a sentence each, and a picture where one helps. */

import { Picture } from './pictures';

export interface Entry {
  /** What the whole name has to match. */
  readonly name: RegExp;
  /** One sentence. `{1}` stands for what the first group of the pattern matched, as a type's name. */
  readonly says: string;
  readonly picture?: Picture;
}

export interface Explanation {
  readonly name: string;
  readonly says: string;
  readonly picture: Picture | null;
}

/** A table row: the name's pattern without its anchors, the sentence, the picture. */
export type Line = readonly [string, string, Picture?];

export function table(lines: readonly Line[]): readonly Entry[] {
  return lines.map(([name, says, picture]) => {
    const entry = { name: new RegExp(`^(?:${name})$`), says };
    return picture === undefined ? entry : { ...entry, picture };
  });
}

/** The first entry that matches; `types` spells out what the pattern's group matched. */
export function find(
  entries: readonly Entry[],
  name: string,
  types: Readonly<Record<string, string>> = {}
): Explanation | null {
  for (const entry of entries) {
    const found = entry.name.exec(name);
    if (found !== null) {
      const says = entry.says.replace(/\{(\d)\}/g, (_, group: string) => {
        const part = found[Number(group)] ?? '';
        return Object.prototype.hasOwnProperty.call(types, part) ? (types[part] ?? '') : part;
      });
      return { name, says, picture: entry.picture ?? null };
    }
  }
  return null;
}
