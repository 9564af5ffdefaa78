/** What an operation in a line of a listing does: one sentence, and a picture of its lanes where one helps. */

import { irOperation, llvmOperation, Machine, mnemonic } from '../classify';
import { Target } from '../report';
import { Explanation } from './entry';
import { ir } from './ir';
import { llvm } from './llvm';
import { neon } from './neon';
import { opencl } from './opencl';
import { x86 } from './x86';

export type { Explanation } from './entry';

/** The name of the operation in a line: what the glossary is asked about; "" where there is none. */
export function operation(target: Target, line: string): string {
  switch (target) {
    case 'asm':
      return mnemonic(line);
    case 'llvm':
      return llvmOperation(line);
    case 'fused':
      return irOperation(line);
    case 'opencl':
      return opencl(line)?.name ?? '';
  }
}

/** The explanation of a line; null where it holds no operation, or one that nobody has written about yet. */
export function explain(target: Target, line: string, machine: Machine): Explanation | null {
  const name = operation(target, line);
  if (name === '') {
    return null;
  }
  switch (target) {
    case 'asm':
      return machine === 'x86' ? x86(name, line) : neon(name, /\b[vzq]\d+\b|\bv\d+\./.test(line));
    case 'llvm':
      return llvm(name, line);
    case 'fused':
      return ir(name);
    case 'opencl':
      return opencl(line);
  }
}
