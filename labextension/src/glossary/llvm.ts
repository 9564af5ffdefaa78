/** Operations of LLVM IR, and the intrinsics that our code calls. */

import { Explanation, find, table } from './entry';
import * as p from './pictures';

const ROUNDS = 'Rounds floats to whole numbers.';

const OPERATIONS = table([
  ['add', 'Adds integers.', p.map2('a + b', p.plus)],
  ['sub', 'Subtracts integers.', p.map2('a − b', p.minus)],
  ['mul', 'Multiplies integers and keeps the low half of each product.', p.map2('a · b', p.product)],
  ['[us]div', 'Divides integers; it truncates, so Python\'s `//` needs more than this.'],
  ['[us]rem', 'The remainder of an integer division, with the sign of the dividend, unlike Python\'s `%`.'],
  ['fadd', 'Adds floats.', p.map2('a + b', p.plus)],
  ['fsub', 'Subtracts floats.', p.map2('a − b', p.minus)],
  ['fmul', 'Multiplies floats.', p.map2('a · b', p.product)],
  ['fdiv', 'Divides floats, correctly rounded.', p.map2('a / b', (a, b) => (a / b).toFixed(2))],
  ['frem', 'The remainder of a float division.'],
  ['fneg', 'Flips the sign of a float.', p.map1('−a', a => -a)],
  ['and', 'Bitwise and; on masks: lanes for which both conditions hold.', p.map2('a and b', (a, b) => a & b)],
  ['or', 'Bitwise or; on masks: lanes for which either condition holds.', p.map2('a or b', (a, b) => a | b)],
  ['xor', 'Bitwise exclusive or; with all ones it is "not".', p.map2('a xor b', (a, b) => a ^ b)],
  ['shl', 'Shifts left: multiplies by a power of two.', p.map1('a << 1', a => a << 1)],
  ['lshr', 'Shifts right and fills with zeros.', p.map1('a >> 1', a => a >> 1)],
  ['ashr', 'Shifts right and keeps the sign: floor division by a power of two.', p.map1('a >> 1', a => a >> 1, [-8, 6, -4, 2])],
  ['icmp', 'Compares integers: one bit (i1) for each lane.'],
  ['fcmp', 'Compares floats: one bit (i1) for each lane; `o` and `u` say what NaN gives.'],
  ['select', 'Takes each lane from one of two values, as a mask says: an `if` without a branch.', p.blend],
  ['phi', 'The value depends on where control came from: this is how a loop carries a value from one turn to the next.'],
  ['load', 'Reads memory.', p.load],
  ['store', 'Writes memory.', p.store],
  ['getelementptr', 'Computes an address; it reads nothing.'],
  ['alloca', 'Takes memory from the stack.'],
  ['atomicrmw', 'Reads and changes memory in one indivisible step: how threads claim their next block.'],
  ['cmpxchg', 'Exchanges memory in one indivisible step if it holds what was expected.'],
  ['fence', 'Orders memory between threads.'],
  ['insertelement', 'Puts one value into a lane of a vector; with a shuffle after it, into all of them.'],
  ['extractelement', 'Takes one lane out of a vector.'],
  ['shufflevector', 'Puts lanes into another order; a mask of zeros copies lane 0 into all.', p.broadcast],
  ['sext', 'Widens signed integers.'],
  ['zext', 'Widens unsigned integers; of a mask: 0 or 1.'],
  ['trunc', 'Keeps the low bits of integers.'],
  ['sitofp|uitofp', 'Converts integers to floats.'],
  ['fptosi|fptoui', 'Converts floats to integers, truncating.'],
  ['fpext|fptrunc', 'Converts between float32 and float64.'],
  ['bitcast|ptrtoint|inttoptr|freeze|addrspacecast', 'Reads the same bits as another type; no instruction comes of it.'],
  ['extractvalue|insertvalue', 'Takes a part out of a structure, or puts one in.'],
  ['br', 'Goes to another block, or to one of two as a bit says; back to a block above it is a loop.'],
  ['switch', 'Goes to one of several blocks.'],
  ['ret', 'Returns to the caller.'],
  ['unreachable', 'A place that is never reached.'],
  ['call', 'Calls a function.'],
  ['llvm\\.x86\\.avx512\\.vpmadd52l\\..*', 'Adds the low half of a 52-bit × 52-bit product: exact integer arithmetic below 2⁵².', p.map3('c + lo(a·b)', (a, b, c) => c + a * b)],
  ['llvm\\.x86\\.avx512\\.vpmadd52h\\..*', 'Adds the high half of a 52-bit × 52-bit product: how a quotient is estimated without a division.', p.high],
  ['llvm\\.[us]min\\..*|llvm\\.minnum\\..*|llvm\\.minimum\\..*', 'The smaller of two values, lane by lane.', p.map2('min', Math.min)],
  ['llvm\\.[us]max\\..*|llvm\\.maxnum\\..*|llvm\\.maximum\\..*', 'The larger of two values, lane by lane.', p.map2('max', Math.max)],
  ['llvm\\.f?abs\\..*', 'The absolute value, lane by lane.', p.map1('|a|', Math.abs, [-3, 8, -5, 2])],
  ['llvm\\.fma\\..*|llvm\\.fmuladd\\..*', 'Multiplies and adds floats with a single rounding.', p.map3('a·b + c', (a, b, c) => a * b + c)],
  ['llvm\\.sqrt\\..*', 'The square root, lane by lane.', p.map1('√a', Math.sqrt, [9, 4, 25, 16])],
  ['llvm\\.floor\\..*', ROUNDS, p.whole('floor', Math.floor)],
  ['llvm\\.ceil\\..*', ROUNDS, p.whole('ceil', Math.ceil)],
  ['llvm\\.trunc\\..*', ROUNDS, p.whole('trunc', Math.trunc)],
  ['llvm\\.(?:rint|round|nearbyint|roundeven)\\..*', ROUNDS],
  ['llvm\\.copysign\\..*', 'The size of one float with the sign of another.'],
  ['llvm\\.[us](?:add|sub|mul)\\.with\\.overflow\\..*', 'Integer arithmetic that also says whether the result did not fit.'],
  ['llvm\\.[us](?:add|sub)\\.sat\\..*', 'Integer arithmetic that stops at the largest value.'],
  ['llvm\\.masked\\.load\\..*', 'Reads only the lanes that a mask names: the last, incomplete vector.', p.masked],
  ['llvm\\.masked\\.store\\..*', 'Writes only the lanes that a mask names: the last, incomplete vector.', p.masked],
  ['llvm\\.masked\\.gather\\..*', 'Reads each lane from an address of its own: `table[x]`.', p.gather],
  ['llvm\\.masked\\.scatter\\..*', 'Writes each lane to an address of its own: the results of elements that were done at different times.'],
  ['llvm\\.masked\\.expandload\\..*|llvm\\.x86\\.avx512\\.mask\\.expand\\..*', 'Spreads values over the lanes whose mask bit is set: the next elements into lanes that are done.'],
  ['llvm\\.x86\\.avx512\\.rcp14\\..*', 'Estimates 1 / x to 14 bits; a few multiply-adds make the quotient of integers of it.', p.map1('1 / x', a => (1 / a).toFixed(4))],
  ['llvm\\.masked\\.compressstore\\..*|llvm\\.x86\\.avx512\\.mask\\.compress\\..*', 'Packs the lanes whose mask bit is set: this is how a filter keeps its elements.', p.compress],
  ['llvm\\.vector\\.reduce\\.f?add\\..*', 'Adds all lanes.', p.fold('sum', p.plus)],
  ['llvm\\.vector\\.reduce\\..*', 'Folds all lanes into one value.', p.fold('max', Math.max)],
  ['llvm\\.ctpop\\..*|llvm\\.ctlz\\..*|llvm\\.cttz\\..*', 'Counts bits: here mostly how many lanes a mask names.'],
  ['llvm\\.prefetch\\..*', 'Asks for memory that will be needed soon.'],
  ['llvm\\..*', 'An intrinsic: a function that the compiler turns into instructions itself.']
]);

const SCALARS: Readonly<Record<string, string>> = {
  i1: 'bits',
  i8: '8-bit integers',
  i16: '16-bit integers',
  i32: '32-bit integers',
  i64: '64-bit integers',
  i128: '128-bit integers',
  half: 'float16',
  float: 'float32',
  double: 'float64',
  ptr: 'addresses'
};

const SIGNS: Readonly<Record<string, p.Sign>> = { eq: '=', ne: '≠', lt: '<', le: '≤', gt: '>', ge: '≥' };

/** Of a comparison its line says which one it is: `icmp sgt`, `fcmp contract olt`. */
function compared(line: string): Partial<Explanation> {
  const sign = SIGNS[/\b[if]cmp (?:[a-z]+ )*?[suo]?(eq|ne|lt|le|gt|ge) /.exec(line)?.[1] ?? ''];
  return sign === undefined ? {} : { picture: p.compare(sign) };
}

/** What an operation of LLVM IR does, and on how many lanes its line lets it. */
export function llvm(name: string, line: string): Explanation | null {
  const known = find(OPERATIONS, name);
  const found = known === null ? null : { ...known, ...compared(line) };
  const vector = /<(\d+) x (\w+)>/.exec(line);
  const scalar = vector === null ? undefined : SCALARS[vector[2] ?? ''];
  if (found === null || vector === null || scalar === undefined) {
    return found;
  }
  return { ...found, says: `${found.says} Here: ${vector[1] ?? ''} lanes of ${scalar}.` };
}
