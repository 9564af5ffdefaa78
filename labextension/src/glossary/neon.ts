/** Instructions of AArch64: NEON's most common ones and the scalar ones around them. */

import { Explanation, find, table } from './entry';
import * as p from './pictures';

const COMPARES = 'Compares, lane by lane: a lane of ones where it holds.';
const ROUNDS = 'Rounds floats to whole numbers.';

const VECTOR = table([
  ['f?add', 'Adds, lane by lane.', p.map2('a + b', p.plus)],
  ['f?sub', 'Subtracts, lane by lane.', p.map2('a − b', p.minus)],
  ['f?mul', 'Multiplies, lane by lane.', p.map2('a · b', p.product)],
  ['f?mla|fmadd', 'Multiplies and adds, lane by lane.', p.map3('a·b + c', (a, b, c) => a * b + c)],
  ['f?mls|fn?msub', 'Multiplies and subtracts, lane by lane.'],
  ['[us]ml[as]?l2?', 'Multiplies narrow lanes to products of twice their width.'],
  ['fdiv', 'Divides, lane by lane; many times slower than a multiplication.', p.map2('a / b', (a, b) => (a / b).toFixed(2))],
  ['fsqrt', 'The square root of each lane.', p.map1('√a', Math.sqrt, [9, 4, 25, 16])],
  ['[usf]min(?:nm)?v?', 'The smaller of two values, lane by lane (with v: of all lanes).', p.map2('min', Math.min)],
  ['[usf]max(?:nm)?v?', 'The larger of two values, lane by lane (with v: of all lanes).', p.map2('max', Math.max)],
  ['f?abs', 'The absolute value of each lane.', p.map1('|a|', Math.abs, [-3, 8, -5, 2])],
  ['f?neg', 'The negative of each lane.', p.map1('−a', a => -a)],
  ['f?cmeq', COMPARES, p.compare('=')],
  ['f?cm(?:ge|hs)', COMPARES, p.compare('≥')],
  ['f?cm(?:gt|hi)', COMPARES, p.compare('>')],
  ['f?cmle', COMPARES, p.compare('≤')],
  ['f?cmlt', COMPARES, p.compare('<')],
  ['cmtst', COMPARES],
  ['bsl|bit|bif', 'Takes each bit from one of two registers, as a mask says: an `if` without a branch.', p.blend],
  ['and|bic|orr|orn|eor|not|mvn', 'A bitwise operation on all lanes.', p.map2('a and b', (a, b) => a & b)],
  ['[us]?shl|shll2?|ushll2?|sshll2?', 'Shifts lanes left (ll: into lanes twice as wide).', p.map1('a << 1', a => a << 1)],
  ['[us]shr|[us]sra|shrn2?', 'Shifts lanes right.', p.map1('a >> 1', a => a >> 1)],
  ['dup', 'Copies one value into all lanes.', p.broadcast],
  ['movi|mvni|fmov', 'Puts a constant into all lanes, or moves one value.', p.broadcast],
  ['ext', 'Shifts two joined registers by lanes.', p.move([1, 2, 3, 3], 'shifted')],
  ['zip[12]|uzp[12]|trn[12]', 'Interleaves the lanes of two registers, or takes them apart.'],
  ['rev\\d+|tbl|tbx', 'Puts parts of a register into another order.', p.move([1, 0, 3, 2], 'shuffled')],
  ['addp|addv|faddp|saddlv|uaddlv', 'Adds neighbouring lanes, or all of them.', p.fold('sum', p.plus)],
  ['xtn2?|[us]qxtn2?|fcvtn2?', 'Narrows lanes to half their width.'],
  ['uxtl2?|sxtl2?|fcvtl2?', 'Widens lanes to twice their width.'],
  ['fcvt\\w*|[us]cvtf', 'Converts between integers and floats, or between widths.'],
  ['frintm', ROUNDS, p.whole('floor', Math.floor)],
  ['frintp', ROUNDS, p.whole('ceil', Math.ceil)],
  ['frintz', ROUNDS, p.whole('trunc', Math.trunc)],
  ['frint\\w', ROUNDS],
  ['ld1r', 'Loads one value into all lanes.', p.broadcast],
  ['ld[1-4]', 'Loads lanes from memory.', p.load],
  ['st[1-4]', 'Stores lanes to memory.', p.store],
  ['umov|smov|ins|mov', 'Moves one lane, or a whole register.']
]);

const SCALAR = table([
  ['ldp|ldn?r\\w*|ldur\\w*', 'Loads a register (or a pair) from memory.', p.load],
  ['stn?p|str\\w*|stur\\w*', 'Stores a register (or a pair) to memory.', p.store],
  ['ldadd\\w*|ld[ax]+r\\w*|st[lx]+r\\w*|cas\\w*|swp\\w*', 'Reads and changes memory in one indivisible step between threads.'],
  ['adrp?', 'Computes an address.'],
  ['cmp|cmn|tst|ccmp|fcmp', 'Compares two values for the branch that follows.'],
  ['csel|csinc|cset|cinc|csetm|fcsel', 'Chooses by the comparison before it, without a branch.'],
  ['[us]div', 'Divides integers: scalar.'],
  ['madd|msub|mneg|[us]mulh|[us]m\\w*l', 'Multiplies integers: scalar.'],
  ['adds?|subs?|adcs?|sbcs?|negs?', 'Adds or subtracts integers: here mostly counters and addresses.'],
  ['lsl|lsr|asr|ror|[us]bfx|[us]bfiz|bfi|bfxil|clz|rbit', 'Shifts or picks bits of one integer.'],
  ['movz|movk|movn|sxt[bhw]|uxt[bhw]', 'Puts a constant into a register, or widens one.'],
  ['prfm', 'Asks for memory that will be needed soon.'],
  ['dmb|dsb|isb|yield|nop', 'Orders memory between threads, or does nothing.'],
  ['b|b\\.[a-z]+|cbn?z|tbn?z', 'Goes on at another place, for most of them if a comparison held; back to a label above is a loop.'],
  ['blr?|br', 'Calls a function, or goes on at an address.'],
  ['ret', 'Returns to the caller.']
]);

/** What an AArch64 instruction does; `vector`: whether its line names vector registers. */
export function neon(name: string, vector: boolean): Explanation | null {
  const [first, second] = vector ? [VECTOR, SCALAR] : [SCALAR, VECTOR];
  return find(first, name) ?? find(second, name);
}
