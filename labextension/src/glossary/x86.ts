/** Instructions of x86-64, in AT&T's order (sources first, the target last): SSE2, AVX2, AVX-512, and scalar ones. */

import { Explanation, find, Line, table } from './entry';
import * as p from './pictures';

const TYPES: Readonly<Record<string, string>> = {
  b: '8-bit integers',
  w: '16-bit integers',
  d: '32-bit integers',
  q: '64-bit integers',
  ps: 'float32',
  pd: 'float64',
  ss: 'float32',
  sd: 'float64',
  dq: '32-bit integers'
};

const INTEGERS = 'Compares {1}, lane by lane, into a mask register: one bit for each lane.';
const FLOATS = 'Compares {1}, lane by lane, into a mask.';
/** How names say which comparison it is: `n` is "not". */
const COMPARISONS: readonly (readonly [string, p.Sign])[] = [
  ['eq', '='], ['neq', '≠'], ['lt', '<'], ['le', '≤'], ['gt', '>'], ['ge', '≥'], ['nlt', '≥'], ['nle', '>'], ['ngt', '≤'], ['nge', '<']
];

const VECTOR = table([
  ['vpmadd52luq', 'Multiplies the low 52 bits of two lanes and adds the low half of the 104-bit product to a third: exact integer arithmetic below 2⁵².', p.map3('c + lo(a·b)', (a, b, c) => c + a * b)],
  ['vpmadd52huq', 'Multiplies the low 52 bits of two lanes and adds the high half of the 104-bit product to a third: how a quotient is estimated without a division.', p.high],
  ['vrcp14([ps][sd])', 'Estimates 1 / x to 14 bits for {1}: a few multiply-adds make the quotient of integers of it, in place of a slow division.', p.map1('1 / x', a => (1 / a).toFixed(4))],
  ['v?padds?([bwdq])', 'Adds the {1} of two registers, lane by lane.', p.map2('a + b', p.plus)],
  ['v?psubs?([bwdq])', 'Subtracts {1}, lane by lane.', p.map2('a − b', p.minus)],
  ['v?pmull([wdq])', 'Multiplies {1}, lane by lane, and keeps the low half of each product.', p.map2('a · b', p.product)],
  ['v?pmul(?:u|)(dq)', 'Multiplies the low {1} of each 64-bit lane to a whole 64-bit product: long multiplications are built from it.', p.map2('a · b', p.product)],
  ['v?pmulh(?:u|rs|)w', 'Multiplies 16-bit integers and keeps the high half of each product.'],
  ['v?pmadd(?:wd|ubsw)', 'Multiplies small integers lane by lane and adds neighbouring products.'],
  ['v?pands?(?:[dq])?', 'Bitwise and of two registers: masks bits out, or joins two conditions.', p.map2('a and b', (a, b) => a & b)],
  ['v?pandn(?:[dq])?', 'Bitwise and with the complement of one operand.', p.map2('¬a and b', (a, b) => ~a & b)],
  ['v?por(?:[dq])?', 'Bitwise or of two registers.', p.map2('a or b', (a, b) => a | b)],
  ['v?pxor(?:[dq])?', 'Bitwise exclusive or; of a register with itself it is the usual way to make zeros.', p.map2('a xor b', (a, b) => a ^ b)],
  ['vpternlog[dq]', 'Any bitwise function of three registers in one instruction, chosen by an 8-bit table.'],
  ['v?(?:and|andn|or|xor)(ps|pd)', 'A bitwise operation on {1} registers: clears or flips signs, or joins masks.'],
  ['v?psllv?([wdq])', 'Shifts {1} left: multiplies by a power of two.', p.map1('a << 1', a => a << 1)],
  ['v?psrlv?([wdq])', 'Shifts {1} right and fills with zeros.', p.map1('a >> 1', a => a >> 1)],
  ['v?psrav?([wdq])', 'Shifts {1} right and keeps the sign.', p.map1('a >> 1', a => a >> 1, [-8, 6, -4, 2])],
  ['v?ps[lr]ldq', 'Shifts a whole 128-bit register by bytes.'],
  ['vpro[lr]v?([dq])', 'Rotates the bits of {1}.'],
  ['v?pminu([bwdq])', 'The smaller of two unsigned {1}, lane by lane; min(x, x − p) is a correction by p without a branch.', p.map2('min', Math.min)],
  ['v?pmins([bwdq])', 'The smaller of two {1}, lane by lane.', p.map2('min', Math.min)],
  ['v?pmaxu([bwdq])', 'The larger of two unsigned {1}, lane by lane.', p.map2('max', Math.max)],
  ['v?pmaxs([bwdq])', 'The larger of two {1}, lane by lane.', p.map2('max', Math.max)],
  ['v?pabs([bwdq])', 'The absolute value of {1}, lane by lane.', p.map1('|a|', Math.abs, [-3, 8, -5, 2])],
  ['v?pcmpeq([bwdq])', 'Compares {1} for equality: one mask bit (or a lane of ones) for each.', p.compare('=')],
  ...COMPARISONS.flatMap(([word, sign]): Line[] => [
    [`vpcmp${word}u?([bwdq])`, INTEGERS, p.compare(sign)],
    [`v?cmp${word}\\w*(ps|pd)`, FLOATS, p.compare(sign)]
  ]),
  ['v?pcmpgt([bwdq])', 'Compares {1}: a mask bit (or a lane of ones) where the one is greater.', p.compare('>')],
  ['vpcmpu?([bwdq])', INTEGERS],
  ['v?cmp\\w*(ps|pd)', FLOATS],
  ['vptestn?m([bwdq])', 'Tests the bits of {1}: a mask bit where their bitwise and is zero (n) or not. `x % 2 == 0` becomes this.', p.where],
  ['v?ptest|vtestp[sd]', 'Tests whether any bit of a register is set, for the branch that follows.'],
  ['v?pmovmskb|v?movmskp[sd]', 'Collects the sign bits of all lanes as an integer.'],
  ['vpmov[bwdq]2m', 'Turns the sign bits of all lanes into a mask register.'],
  ['vpmovm2([bwdq])', 'Turns mask bits into lanes of ones and zeros ({1}).'],
  ['vpbroadcast([bwdq])|vbroadcasts[sd]', 'Copies one value into all lanes.', p.broadcast],
  ['vbroadcast[if]\\d+x\\d+|vbroadcast[if]128', 'Copies a part of a register into all its parts.', p.broadcast],
  ['v?movddup|v?movs[lh]dup', 'Copies every second lane over its neighbour.', p.move([0, 0, 2, 2], 'doubled')],
  ['vpcompress([bwdq])|vcompressp[sd]', 'Packs the lanes whose mask bit is set to the front: this is how a filter keeps its elements.', p.compress],
  ['vpexpand([bwdq])|vexpandp[sd]', 'Spreads packed values over the lanes whose mask bit is set.'],
  ['vpblendm?([bwdq]{1,2}|vb)?|v?blendv?m?p[sd]|v?pblend(?:vb|w)', 'Takes each lane from one of two registers, as a mask says: an `if` without a branch.', p.blend],
  ['vpermt2(?:[bwdq]|p[sd])|vpermi2(?:[bwdq]|p[sd])', 'Picks each lane from two registers by index.', p.move([2, 0, 3, 1], 'picked')],
  ['vperm(?:[bwdq]|p[sd]|il\\w*|2[fi]128)', 'Puts lanes into another order.', p.move([2, 0, 3, 1], 'permuted')],
  ['v?pshufb|v?pshuf(?:d|lw|hw)|v?shufp[sd]|vshuf[if]\\d+x\\d+', 'Puts parts of a register into another order.', p.move([1, 0, 3, 2], 'shuffled')],
  ['v?p?unpck[lh]\\w*', 'Interleaves the lanes of two registers.'],
  ['v?palignr|valign[dq]', 'Shifts two joined registers by lanes: a window over neighbours.', p.move([1, 2, 3, 3], 'shifted')],
  ['vextract[if]\\d+(?:x\\d+)?', 'Takes a part out of a wide register: the first step of folding lanes together.', p.move([2, 3], 'upper half')],
  ['vinsert[if]\\d+(?:x\\d+)?', 'Puts a small register into a part of a wide one.'],
  ['v?pextr[bwdq]|v?extractps', 'Takes one lane out of a vector register.'],
  ['v?pinsr[bwdq]|v?insertps', 'Puts one value into a lane of a vector register.'],
  ['v?cvt(?:t|)pd2u?(dq|qq)|v?cvtt?pd2u?qq', 'Converts float64 to integers, lane by lane.', p.map1('int(a)', Math.trunc, [3.7, 8.2, -5.5, 2.0])],
  ['v?cvtu?(?:dq|qq)2p[sd]', 'Converts integers to floats, lane by lane.'],
  ['v?cvtps2pd', 'Widens float32 to float64, lane by lane.'],
  ['v?cvtpd2ps', 'Rounds float64 to float32, lane by lane.'],
  ['v?cvt\\w+', 'Converts between integers and floats, or between widths.'],
  ['v?pmovsx[bwdq]{2}', 'Widens signed integers: half as many lanes, twice as wide.'],
  ['v?pmovzx[bwdq]{2}', 'Widens unsigned integers: half as many lanes, twice as wide.'],
  ['vpmovu?s?[wdq][bwd]', 'Narrows integers: the low bits of each lane.'],
  ['v?pack[us]s\\w+', 'Narrows integers with saturation.'],
  ['v?add(ps|pd)', 'Adds {1}, lane by lane.', p.map2('a + b', p.plus)],
  ['v?sub(ps|pd)', 'Subtracts {1}, lane by lane.', p.map2('a − b', p.minus)],
  ['v?mul(ps|pd)', 'Multiplies {1}, lane by lane.', p.map2('a · b', p.product)],
  ['v?div(ps|pd)', 'Divides {1}, lane by lane, correctly rounded; many times slower than a multiplication.', p.map2('a / b', (a, b) => (a / b).toFixed(2))],
  ['v?min(ps|pd)', 'The smaller of two {1}, lane by lane.', p.map2('min', Math.min)],
  ['v?max(ps|pd)', 'The larger of two {1}, lane by lane.', p.map2('max', Math.max)],
  ['v?sqrt(ps|pd)', 'The square root of {1}, lane by lane.', p.map1('√a', Math.sqrt, [9, 4, 25, 16])],
  ['vfn?madd\\d+(ps|pd)', 'Multiplies and adds {1} with a single rounding.', p.map3('a·b + c', (a, b, c) => a * b + c)],
  ['vfn?msub\\d+(ps|pd)', 'Multiplies and subtracts {1} with a single rounding.', p.map3('a·b − c', (a, b, c) => a * b - c)],
  ['v?h(?:add|sub)p[sd]|v?phadd[wd]', 'Adds neighbouring lanes.'],
  ['vrndscale(ps|pd)|v?round(ps|pd)', 'Rounds floats to whole numbers: floor, ceiling or nearest, as its constant says.', p.map1('floor', Math.floor, [3.7, 8.2, -5.5, 2.0])],
  ['vr(?:cp|sqrt)14?(ps|pd)', 'A quick estimate of a reciprocal, to be refined.'],
  ['vgetexpp[sd]|vgetmantp[sd]|vscalefp[sd]', 'Takes floats apart into mantissa and exponent, or puts them together.'],
  ['vfixupimmp[sd]|vrangep[sd]|vreducep[sd]|vfpclassp[sd]', 'Handles special float values such as NaN and infinities.'],
  ['vplzcnt([dq])', 'Counts the leading zeros of {1}.'],
  ['vpopcnt([bwdq])', 'Counts the set bits of {1}.'],
  ['vpconflict[dq]', 'Finds lanes with equal values.'],
  ['vp?gather[dq](?:[dq]|p[sd])', 'Loads each lane from an address of its own: `table[x]`. One read per lane, so slower than a plain load.', p.gather],
  ['vp?scatter[dq](?:[dq]|p[sd])', 'Stores each lane to an address of its own.'],
  ['vmovnt(?:dq|p[sd])|v?movntdqa?|movnti\\w?', 'Writes past the caches: results that are not read again soon do not push out what is.', p.store],
  ['v?pmaskmov[dq]|vmaskmovp[sd]', 'Loads or stores only the lanes that a mask names.', p.masked],
  ['v?mov(?:dq[au]\\d*|[au]p[sd])', 'Moves a whole vector register, or loads or stores one; with a mask only the lanes it names.', p.load],
  ['v?mov[dq]', 'Moves one value from memory or a general register into a vector register, or back.'],
  ['v?mov[lh]p[sd]|v?mov(?:lhps|hlps)', 'Moves half of a vector register.'],
  ['vzero(?:upper|all)', 'Clears the upper halves of the vector registers, so that older code after it runs at full speed.']
]);

const MASKS = table([
  ['kmov[bwdq]', 'Moves a mask register: one bit for each lane.'],
  ['kandn?[bwdq]', 'And of two masks: lanes for which both conditions hold.'],
  ['kx?n?or[bwdq]', 'Combines two masks, one bit for each lane.'],
  ['knot[bwdq]', 'Turns a mask around.'],
  ['ko?r?test[bwdq]', 'Tests whether a mask is empty or full, for the branch that follows.'],
  ['kshift[lr][bwdq]|kunpck\\w+|kadd[bwdq]', 'Shifts or joins mask registers.']
]);

const SCALAR = table([
  ['v?(add|sub|mul|div|sqrt|min|max)(ss|sd)', '{1} of one {2}: scalar, the upper lanes are not used.'],
  ['vfn?m(?:add|sub)\\d+(ss|sd)', 'Multiplies and adds one {1} with a single rounding: scalar.'],
  ['v?mov(ss|sd)', 'Moves one {1}.'],
  ['v?u?comi(ss|sd)', 'Compares two {1} for the branch that follows: scalar.'],
  ['mov[sz][bwl][wlq]|movslq|cltq|cqto|cwtl|cltd', 'Widens an integer register.'],
  ['mov(?:abs)?[bwlq]?', 'Moves a value between registers, or loads or stores one.'],
  ['lea[lq]', 'Computes an address, or does a small sum, without touching memory.'],
  ['xadd[bwlq]', 'Adds and returns the old value; with `lock` in one indivisible step: how threads claim blocks.'],
  ['cmpxchg\\w*|xchg[bwlq]?', 'Exchanges values; with `lock` in one indivisible step between threads.'],
  ['inc[bwlq]|add[bwlq]', 'Adds integers: here mostly counters and addresses.'],
  ['dec[bwlq]|sub[bwlq]', 'Subtracts integers.'],
  ['imul[bwlq]|mul[bwlq]|mulxq', 'Multiplies integers: scalar.'],
  ['i?div[bwlq]', 'Divides integers: scalar, and one of the slowest instructions.'],
  ['(and|or|xor|not|neg)[bwlq]', 'Bitwise or sign operation on one integer; `xor` of a register with itself makes zero.'],
  ['(sh|sa|ro|rc)[lr]x?[bwlq]?|sh[lr]d[lq]', 'Shifts or rotates one integer.'],
  ['cmp[bwlq]', 'Compares two integers for the jump that follows.'],
  ['test[bwlq]', 'Tests bits for the jump that follows; of a register with itself: is it zero?'],
  ['cmov(n?[a-z]+?)[wlq]?', 'Moves only if the comparison before it held: a choice without a branch.'],
  ['set(n?[a-z]+)', 'Sets a byte to 1 if the comparison before it held, else to 0.'],
  ['bt[src]?[wlq]|tzcnt[lq]|lzcnt[lq]|popcnt[lq]|bs[fr][lq]|blsr[lq]|bzhi[lq]|p(?:ext|dep)[lq]', 'Counts or picks bits of one integer.'],
  ['adc[bwlq]|sbb[bwlq]', 'Adds or subtracts with the carry of the instruction before: integers wider than a register.'],
  ['push[wq]|pop[wq]', 'Saves a register on the stack, or brings it back: once per call, not per element.'],
  ['prefetch\\w+', 'Asks for memory that will be needed soon.'],
  ['[lms]fence|pause', 'Orders memory between threads, or waits for another one.'],
  ['nop[wlq]?', 'Does nothing: fills space so that a loop begins at a good address.'],
  ['ud2', 'Stops the program: a place that is never reached.'],
  ['rep|lock', 'A prefix: repeats the instruction, or makes it indivisible.']
]);

const BRANCHES = table([
  ['jmp[q]?', 'Goes on at another place.'],
  ['j(n?[a-z]+)', 'Goes to the label if the comparison before it held; back to a label above it is a loop.'],
  ['call[q]?', 'Calls a function.'],
  ['ret[q]?', 'Returns to the caller.']
]);

/** What the x86-64 instruction of a line does; `movq` is of both worlds, so the line's registers say which. */
export function x86(name: string, line: string): Explanation | null {
  const tables = /%[xyz]?mm\d/.test(line) ? [VECTOR, MASKS, SCALAR, BRANCHES] : [SCALAR, MASKS, BRANCHES, VECTOR];
  for (const each of tables) {
    const found = find(each, name, TYPES);
    if (found !== null) {
      return found;
    }
  }
  return null;
}
