/** Numbers for people: two or three digits, a unit, and narrow spaces between groups of thousands. */

const THIN = '\u202f';

/** An integer with its digits in groups of three: 33 554 432. */
export function grouped(value: number): string {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
}

/** A positive number rounded to `count` significant digits, without exponent: 1 630, 21.0, 0.0142. */
export function digits(value: number, count = 3): string {
  if (!Number.isFinite(value) || value <= 0) {
    return '0';
  }
  const rounded = Number(value.toPrecision(count));
  const decimals = Math.min(20, Math.max(0, count - 1 - Math.floor(Math.log10(rounded))));
  const [before = '0', after] = rounded.toFixed(decimals).split('.');
  return grouped(Number(before)) + (after === undefined ? '' : `.${after}`);
}

const TIMES: readonly (readonly [number, number, string])[] = [
  [999.5e-9, 1e9, 'ns'],
  [999.5e-6, 1e6, 'µs'],
  [999.5e-3, 1e3, 'ms'],
  [119.5, 1, 's'],
  [7170, 1 / 60, 'min']
];

/** A duration in seconds as 14.8 ms, 24.1 s, 3.20 min. */
export function seconds(value: number): string {
  if (!(value > 0)) {
    return '0 s';
  }
  for (const [limit, factor, unit] of TIMES) {
    if (value < limit) {
      return `${digits(value * factor)} ${unit}`;
    }
  }
  return `${digits(value / 3600)} h`;
}

/** A number of bytes in decimal units: 268 MB. */
export function size(value: number): string {
  if (value < 1000) {
    return `${Math.max(0, Math.round(value))} B`;
  }
  const units = ['kB', 'MB', 'GB', 'TB', 'PB'];
  let scaled = value / 1000;
  while (scaled >= 999.5 && units.length > 1) {
    scaled /= 1000;
    units.shift();
  }
  return `${digits(scaled)} ${units[0] ?? ''}`;
}

/** Bytes per second: 18.1 GB/s; "" where a few bytes make no rate. */
export function rate(bytes: number, duration: number): string {
  return bytes >= 1000 && duration > 0 ? `${size(bytes / duration)}/s` : '';
}

/** A ratio: 1 630, 21, 4.2. */
export function times(factor: number): string {
  return digits(factor, factor >= 99.5 ? 3 : 2);
}

/** 1 loop, 2 loops. */
export function plural(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** A count of elements as a reader says it: 950, 12 thousand, 33.6 million. */
export function amount(value: number): string {
  for (const [limit, unit] of [[1e12, 'trillion'], [1e9, 'billion'], [1e6, 'million'], [1e4, 'thousand']] as const) {
    if (value >= limit * 0.9995) {
      return `${digits(value / (unit === 'thousand' ? 1e3 : limit))} ${unit}`;
    }
  }
  return grouped(value);
}
