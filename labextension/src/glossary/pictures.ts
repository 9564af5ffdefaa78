/**
 * Small pictures of what an operation does to lanes: rows of boxes, and arrows where values move.
 * The values are examples, computed here, so that the picture shows the operation and not a decoration.
 */

export interface Row {
  readonly label: string;
  readonly cells: readonly string[];
  /** Lanes that do not count; drawn hatched. */
  readonly dead?: readonly boolean[];
}

/** An arrow from a box of one row to a box of the next. */
export interface Arrow {
  readonly row: number;
  readonly from: number;
  readonly to: number;
}

export interface Picture {
  readonly rows: readonly Row[];
  readonly arrows: readonly Arrow[];
}

type Cell = string | number | boolean;
export const A: readonly number[] = [3, 8, 5, 2];
export const B: readonly number[] = [4, 1, 6, 7];
const C: readonly number[] = [10, 20, 30, 40];
const MASK: readonly boolean[] = [true, false, true, false];

function row(label: string, cells: readonly Cell[], dead?: readonly boolean[]): Row {
  const shown = cells.map(cell => (typeof cell === 'boolean' ? (cell ? '1' : '0') : String(cell)));
  return dead === undefined ? { label, cells: shown } : { label, cells: shown, dead };
}

function picture(rows: readonly Row[], arrows: readonly Arrow[] = []): Picture {
  return { rows, arrows };
}

/** One operand, lane by lane. */
export function map1(symbol: string, f: (a: number) => Cell, a: readonly number[] = A): Picture {
  return picture([row('a', a), row(symbol, a.map(f))]);
}

/** Two operands, lane by lane. */
export function map2(symbol: string, f: (a: number, b: number) => Cell, a = A, b = B): Picture {
  return picture([row('a', a), row('b', b), row(symbol, a.map((x, i) => f(x, b[i] ?? 0)))]);
}

const HOLDS = {
  '=': (a: number, b: number): boolean => a === b,
  '≠': (a: number, b: number): boolean => a !== b,
  '<': (a: number, b: number): boolean => a < b,
  '≤': (a: number, b: number): boolean => a <= b,
  '>': (a: number, b: number): boolean => a > b,
  '≥': (a: number, b: number): boolean => a >= b
};
export type Sign = keyof typeof HOLDS;

/** A comparison of lanes that are smaller, greater and equal. */
export function compare(sign: Sign): Picture {
  return map2(`a ${sign} b ?`, HOLDS[sign], A, [4, 1, 5, 7]);
}

/** How floats become whole numbers. */
export function whole(symbol: string, f: (a: number) => number): Picture {
  return map1(symbol, f, [3.7, 8.2, -5.5, 2.0]);
}

/** Three operands, lane by lane. */
export function map3(symbol: string, f: (a: number, b: number, c: number) => Cell): Picture {
  return picture([row('a', A), row('b', B), row('c', C), row(symbol, A.map((x, i) => f(x, B[i] ?? 0, C[i] ?? 0)))]);
}

/** The high half of a 104-bit product is only seen with large factors. */
export const high = ((): Picture => {
  const shown = ['2⁵¹', '2⁵⁰', '2⁵²−1', '9'];
  const a = [1n << 51n, 1n << 50n, (1n << 52n) - 1n, 9n];
  const b = [4n, 12n, 2n, 7n];
  const sums = a.map((x, i) => String(BigInt(C[i] ?? 0) + ((x * (b[i] ?? 0n)) >> 52n)));
  return picture([row('a', shown), row('b', b.map(String)), row('c', C), row('c + hi(a·b)', sums)]);
})();

/** One value into all lanes. */
export const broadcast = picture(
  [row('one value', [7]), row('lanes', [7, 7, 7, 7])],
  [0, 1, 2, 3].map(to => ({ row: 0, from: 0, to }))
);

/** Lanes taken from other places: result lane i is lane `order[i]`. */
export function move(order: readonly number[], label = 'moved'): Picture {
  const letters = ['p', 'q', 'r', 's'];
  return picture(
    [row('lanes', letters), row(label, order.map(at => letters[at] ?? ''))],
    order.map((from, to) => ({ row: 0, from, to }))
  );
}

/** Lanes whose mask bit is set, packed to the front. */
export const compress = picture(
  [row('lanes', ['p', 'q', 'r', 's'], MASK.map(bit => !bit)), row('packed', ['p', 'r', '', ''], [false, false, true, true])],
  [{ row: 0, from: 0, to: 0 }, { row: 0, from: 2, to: 1 }]
);

/** Each lane from one operand or the other, as its mask bit says. */
export const blend = picture([
  row('mask', MASK),
  row('a (1)', A),
  row('b (0)', B),
  row('chosen', A.map((x, i) => (MASK[i] ? x : (B[i] ?? 0))))
]);

/** Only lanes with a set mask bit are written. */
export const masked = picture([
  row('mask', MASK),
  row('value', A, MASK.map(bit => !bit)),
  row('memory', A.map((x, i) => (MASK[i] ? x : 'kept')), MASK.map(bit => !bit))
]);

export const load = picture(
  [row('memory', ['p', 'q', 'r', 's']), row('lanes', ['p', 'q', 'r', 's'])],
  [0, 1, 2, 3].map(at => ({ row: 0, from: at, to: at }))
);

export const store = picture(
  [row('lanes', ['p', 'q', 'r', 's']), row('memory', ['p', 'q', 'r', 's'])],
  [0, 1, 2, 3].map(at => ({ row: 0, from: at, to: at }))
);

/** Each lane reads its own place. */
export const gather = picture(
  [row('index', [2, 0, 3, 0]), row('table', ['p', 'q', 'r', 's']), row('lanes', ['r', 'p', 's', 'p'])],
  [2, 0, 3, 0].map((from, to) => ({ row: 1, from, to }))
);

/** Lanes that become one value. */
export function fold(symbol: string, f: (a: number, b: number) => number): Picture {
  return picture(
    [row('lanes', A), row(symbol, [A.reduce(f)])],
    [0, 1, 2, 3].map(from => ({ row: 0, from, to: 0 }))
  );
}

/** The mask of a filter: lanes that count, and lanes that do not. */
export const where = picture([row('value', A, A.map(x => x % 2 !== 0)), row('even?', A.map(x => x % 2 === 0))]);

export const plus = (a: number, b: number): number => a + b;
export const minus = (a: number, b: number): number => a - b;
export const product = (a: number, b: number): number => a * b;
