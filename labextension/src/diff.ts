/** What changed between two texts, line by line: the shortest edit script (Myers 1986), cut to its context. */

export interface Change {
  readonly sign: '+' | '-' | ' ' | '@';
  readonly text: string;
}

/** Beyond so many edits the middle counts as replaced: nobody reads such a diff line by line. */
const MOST_EDITS = 600;

/** All lines of both texts, each marked as kept, removed or added. */
export function diff(before: readonly string[], after: readonly string[]): Change[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) {
    head += 1;
  }
  let tail = 0;
  const room = Math.min(before.length, after.length) - head;
  while (tail < room && before[before.length - 1 - tail] === after[after.length - 1 - tail]) {
    tail += 1;
  }
  const keep = (text: string): Change => ({ sign: ' ', text });
  return [
    ...before.slice(0, head).map(keep),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(keep)
  ];
}

function middle(old: readonly string[], young: readonly string[]): Change[] {
  const trace: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  const most = Math.min(MOST_EDITS, old.length + young.length);
  for (let edits = 0; edits <= most; edits += 1) {
    trace.push(new Map(reach));
    for (let k = -edits; k <= edits; k += 2) {
      let x = down(reach, k, edits) ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1;
      while (x < old.length && x - k < young.length && old[x] === young[x - k]) {
        x += 1;
      }
      reach.set(k, x);
      if (x >= old.length && x - k >= young.length) {
        return script(old, young, trace);
      }
    }
    reach = new Map(reach);
  }
  return [
    ...old.map((text): Change => ({ sign: '-', text })),
    ...young.map((text): Change => ({ sign: '+', text }))
  ];
}

/** Whether diagonal `k` is best reached by a line of the new text, rather than by leaving one of the old out. */
function down(reach: ReadonlyMap<number, number>, k: number, edits: number): boolean {
  return k === -edits || (k !== edits && (reach.get(k - 1) ?? 0) < (reach.get(k + 1) ?? 0));
}

function script(old: readonly string[], young: readonly string[], trace: readonly Map<number, number>[]): Change[] {
  const out: Change[] = [];
  let x = old.length;
  let y = young.length;
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const reach = trace[edits] ?? new Map<number, number>();
    const k = x - y;
    const from = down(reach, k, edits) ? k + 1 : k - 1;
    const startX = edits === 0 ? 0 : (reach.get(from) ?? 0);
    const startY = edits === 0 ? 0 : startX - from;
    while (x > startX && y > startY && old[x - 1] === young[y - 1]) {
      x -= 1;
      y -= 1;
      out.push({ sign: ' ', text: old[x] ?? '' });
    }
    if (edits > 0) {
      if (x === startX) {
        y -= 1;
        out.push({ sign: '+', text: young[y] ?? '' });
      } else {
        x -= 1;
        out.push({ sign: '-', text: old[x] ?? '' });
      }
    }
  }
  return grouped(out.reverse());
}

/** Removed lines before the added ones that replace them. */
function grouped(changes: readonly Change[]): Change[] {
  const out: Change[] = [];
  let added: Change[] = [];
  for (const change of changes) {
    if (change.sign === '+') {
      added.push(change);
    } else if (change.sign === '-') {
      out.push(change);
    } else {
      out.push(...added, change);
      added = [];
    }
  }
  return [...out, ...added];
}

/** Changes with `context` kept lines around them; an `@` line tells how many others were left out. */
export function shortened(changes: readonly Change[], context = 2): Change[] {
  const near = new Set<number>();
  changes.forEach((change, at) => {
    if (change.sign !== ' ') {
      for (let i = at - context; i <= at + context; i += 1) {
        near.add(i);
      }
    }
  });
  const out: Change[] = [];
  let skipped = 0;
  const flush = (): void => {
    if (skipped > 0) {
      out.push({ sign: '@', text: `${skipped} unchanged line${skipped === 1 ? '' : 's'}` });
      skipped = 0;
    }
  };
  changes.forEach((change, at) => {
    if (near.has(at)) {
      flush();
      out.push(change);
    } else {
      skipped += 1;
    }
  });
  flush();
  return out;
}
