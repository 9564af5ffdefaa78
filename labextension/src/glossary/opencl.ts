/** OpenCL C: what the built-in functions and qualifiers of our kernels mean. */

import { Explanation, find, table } from './entry';
import * as p from './pictures';

const ROUNDS = 'Rounds floats to whole numbers.';

const NAMES = table([
  ['get_global_id', 'The number of this work-item among all: which block it computes.'],
  ['get_local_id', 'The number of this work-item in its group.'],
  ['get_group_id|get_num_groups|get_local_size|get_global_size', 'Says which group of work-items this is, or how many there are.'],
  ['barrier|work_group_barrier|mem_fence', 'Waits until all work-items of the group are here: they share memory.'],
  ['work_group_\\w+|sub_group_\\w+', 'Computed by all work-items of a group together.', p.fold('sum', p.plus)],
  ['atomic_\\w+|atom_\\w+', 'Reads and changes memory in one indivisible step between work-items.'],
  ['vload\\d+', 'Loads consecutive elements into the lanes of a vector.', p.load],
  ['vstore\\d+', 'Stores the lanes of a vector as consecutive elements.', p.store],
  ['convert_\\w+', 'Converts each lane to another type.'],
  ['as_\\w+', 'Reads the same bits as another type; costs nothing.'],
  ['select', 'Takes each lane from one of two values, as a mask says: an `if` without a branch.', p.blend],
  ['bitselect', 'Takes each bit from one of two values, as a mask says.', p.blend],
  ['fma|fused_\\w+|mad|__builtin_fma', 'Multiplies and adds with a single rounding.', p.map3('a·b + c', (a, b, c) => a * b + c)],
  ['mul_hi', 'The high half of a product.'],
  ['mad_hi|mad_sat|mul24|mad24', 'Multiplies (and adds) integers.'],
  ['f?min', 'The smaller of two values, lane by lane.', p.map2('min', Math.min)],
  ['f?max', 'The larger of two values, lane by lane.', p.map2('max', Math.max)],
  ['clamp', 'Keeps values between two limits.'],
  ['f?abs', 'The absolute value.', p.map1('|a|', Math.abs, [-3, 8, -5, 2])],
  ['floor', ROUNDS, p.whole('floor', Math.floor)],
  ['ceil', ROUNDS, p.whole('ceil', Math.ceil)],
  ['trunc', ROUNDS, p.whole('trunc', Math.trunc)],
  ['rint|round', ROUNDS],
  ['sqrt|native_\\w+|half_\\w+', 'A function of the device.'],
  ['isnan|isinf|isfinite|isequal|isless', 'Asks about floats, lane by lane.'],
  ['popcount|clz|ctz|rotate', 'Counts or turns bits.'],
  ['any|all', 'Whether any lane, or every lane, is set.'],
  ['prefetch|async_work_group_copy', 'Asks for memory that will be needed soon.'],
  ['__kernel', 'A function that the host starts, once for each work-item.'],
  ['__global', 'Memory that all work-items see: the arrays.'],
  ['__local', 'Memory that the work-items of a group share.'],
  ['restrict', 'A promise that no other name leads to the same memory.'],
  ['for|while', 'A loop: one turn for each step over the work-item\'s elements.'],
  ['if', 'A branch: work-items that disagree wait for each other.'],
  ['(?:u?(?:char|short|int|long)|float|double|half)(?:2|3|4|8|16)', 'A vector type: so many lanes, computed together.']
]);

/** What the first known word of a line of OpenCL C means. */
export function opencl(line: string): Explanation | null {
  const words = line.match(/[A-Za-z_]\w*/g) ?? [];
  const called = line.match(/[A-Za-z_]\w*(?=\()/g) ?? [];
  for (const word of [...called, ...words]) {
    const found = find(NAMES, word);
    if (found !== null) {
      return found;
    }
  }
  return null;
}
