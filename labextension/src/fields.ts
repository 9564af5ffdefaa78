/** Reading data of any kind: what is not as expected becomes empty. */

export type Fields = Readonly<Record<string, unknown>>;

export function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function list<T>(value: unknown, one: (item: unknown) => T): T[] {
  return Array.isArray(value) ? value.map(item => one(item)) : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

export function number(value: unknown, otherwise = 0): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

export function whole(value: unknown, otherwise = 0): number {
  return Math.trunc(number(value, otherwise));
}
