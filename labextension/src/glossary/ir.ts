/** Operations of this compiler's own IR, as the fused form and the kernel print them. */

import { Explanation, find, table } from './entry';
import * as p from './pictures';

const COMPARES = 'Compares: a bit for each lane.';
const WRAPS = 'Arithmetic modulo 2⁶⁴, where it is known that nothing is lost.';
const ROUNDS = 'Rounds to a whole number.';

const OPERATIONS = table([
  ['load', 'Takes the next elements of a source into lanes; a range is computed, not read.', p.load],
  ['add', 'Adds. The range in brackets is what values can have.', p.map2('a + b', p.plus)],
  ['sub', 'Subtracts.', p.map2('a − b', p.minus)],
  ['mul', 'Multiplies.', p.map2('a · b', p.product)],
  ['sqr', 'Multiplies a value with itself.', p.map1('a²', a => a * a)],
  ['neg', 'The negative.', p.map1('−a', a => -a)],
  ['pos', 'The value itself.'],
  ['abs|fabs|math_fabs', 'The absolute value.', p.map1('|a|', Math.abs, [-3, 8, -5, 2])],
  ['truediv|fdiv', 'Divides to a float.', p.map2('a / b', (a, b) => (a / b).toFixed(2))],
  ['floordiv', 'Divides and rounds down, as Python does.', p.map2('a // b', (a, b) => Math.floor(a / b))],
  ['mod', 'The remainder of floor division: for a positive divisor it is never negative, as in Python.', p.map2('a % b', (a, b) => a % b)],
  ['pow|power|float_pow|math_pow|wrapping_pow', 'Raises to a power.', p.map2('a ** b', (a, b) => a ** b, [3, 8, 5, 2], [2, 1, 2, 3])],
  ['min|umin', 'The smaller of two values; the unsigned one corrects a remainder without a branch.', p.map2('min', Math.min)],
  ['max', 'The larger of two values.', p.map2('max', Math.max)],
  ['eq', COMPARES, p.compare('=')],
  ['ne', COMPARES, p.compare('≠')],
  ['lt|ult', COMPARES, p.compare('<')],
  ['le', COMPARES, p.compare('≤')],
  ['gt', COMPARES, p.compare('>')],
  ['ge', COMPARES, p.compare('≥')],
  ['and', 'Bitwise and; of conditions: both hold. `x % 2` becomes `x and 1`.', p.map2('a and b', (a, b) => a & b)],
  ['or', 'Bitwise or; of conditions: either holds.', p.map2('a or b', (a, b) => a | b)],
  ['xor', 'Bitwise exclusive or.', p.map2('a xor b', (a, b) => a ^ b)],
  ['invert|not', 'Turns all bits, or a condition, around.'],
  ['shl|wrapping_shl', 'Shifts left: multiplies by a power of two.', p.map1('a << 1', a => a << 1)],
  ['shr|ashr|lshr', 'Shifts right.', p.map1('a >> 1', a => a >> 1)],
  ['select', 'Takes each lane from one of two values: an `if` without a branch.', p.blend],
  ['gather', 'Reads each lane from its own place of a captured array.', p.gather],
  ['madd52lo', 'Adds the low half of a 52-bit product: the machine\'s exact integer multiplication.', p.map3('c + lo(a·b)', (a, b, c) => c + a * b)],
  ['madd52hi', 'Adds the high half of a 52-bit product: estimates a quotient without dividing.', p.high],
  ['reciprocal_estimate', 'Estimates 1 / x to 14 bits, in a fraction of a division\'s time; what is made of it does not depend on the estimate.', p.map1('1 / x', a => (1 / a).toFixed(4))],
  ['fma', 'Multiplies and adds with a single rounding.', p.map3('a·b + c', (a, b, c) => a * b + c)],
  ['wrapping_add', WRAPS, p.map2('a + b', p.plus)],
  ['wrapping_sub', WRAPS, p.map2('a − b', p.minus)],
  ['wrapping_mul', WRAPS, p.map2('a · b', p.product)],
  ['(?:int|exact|uint)_(?:to_)?float|to_float(?:32|64)', 'Converts to a float.'],
  ['float_to_u?int|int|bool_to_int', 'Converts to an integer.'],
  ['floor(?:_int)?', ROUNDS, p.whole('floor', Math.floor)],
  ['ceil(?:_int)?', ROUNDS, p.whole('ceil', Math.ceil)],
  ['trunc', ROUNDS, p.whole('trunc', Math.trunc)],
  ['round_int|rint', ROUNDS],
  ['isnan|isinf|isfinite|truth', 'Asks about a value: a bit for each lane.'],
  ['f?sqrt', 'The square root.', p.map1('√a', Math.sqrt, [9, 4, 25, 16])],
  ['float_bits|bits_float', 'Reads the same bits as another type.'],
  ['(?:math_)?copysign', 'The size of one float with the sign of another.'],
  ['(?:math_)?(?:exp|expm1|exp2|sinh|cosh|tanh|log|log1p|log2|log10|sin|cos|tan|atan|atan2|asin|acos)', 'An elementary function, at most 1 ulp off; the schedule pass replaces it with arithmetic.'],
  ['param', 'What the function of a stage is given.'],
  ['return', 'What the function of a stage gives.'],
  ['source', 'Where the elements come from.'],
  ['map', 'A stage: computes each element anew.'],
  ['filter', 'A stage: keeps elements; after fusion it is a mask on lanes.', p.where],
  ['array|to_list|store', 'Writes the elements of a result.', p.store],
  ['sum|accumulate', 'Adds into lanes that are folded together at the end; masked lanes count as nothing.', p.fold('sum', p.plus)],
  ['prod', 'Multiplies into lanes that are folded together at the end.', p.fold('product', p.product)],
  ['count|mean|any|all|reduce|var|std|dot|first|last|argmin|argmax|bincount', 'A sink: makes one result of all elements.'],
  ['guard', 'Watches for elements for which Python would raise or need more than 64 bits; Python then evaluates their block.'],
  ['assume', 'Tests that the elements of a block lie in a range; other blocks run another body.'],
  ['evaluate', 'Computed for what it may raise, though no result needs it.'],
  ['table', 'A captured array that the loop reads.']
]);

/** What an operation of the fused IR or the kernel does. */
export function ir(name: string): Explanation | null {
  return find(OPERATIONS, name);
}
