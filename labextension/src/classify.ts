/** What a line of a listing is: vector, scalar, memory or branch; its operation; where the hot loop lies. */

import { Target } from './report';

export type Kind = 'vector' | 'scalar' | 'memory' | 'branch' | 'none';

/** What each kind is called, with the letter that stands beside its lines. */
export const KINDS: readonly { readonly kind: Kind; readonly letter: string; readonly says: string }[] = [
  { kind: 'vector', letter: 'V', says: 'vector: several elements at once' },
  { kind: 'scalar', letter: 'S', says: 'scalar: one value' },
  { kind: 'memory', letter: 'M', says: 'memory: reads or writes it' },
  { kind: 'branch', letter: 'B', says: 'branch: decides what runs next' }
];

export type Machine = 'x86' | 'arm';

const X86_BRANCH = /^(j[a-z]+|call[a-z]*|ret[a-z]*|loop[a-z]*|syscall)$/;
const ARM_BRANCH = /^(b|b\.[a-z]+|bl|blr|br|ret|cbn?z|tbn?z)$/;
const X86_VECTOR = /%[xyz]mm\d|%k\d/;
const ARM_VECTOR = /\b[vz]\d+\.|\bq\d+\b/;
const SCALAR_FLOAT = /^v?(add|sub|mul|div|sqrt|min|max|mov|cvt\w*2|ucomi|comi|fn?m(?:add|sub)\d*|rndscale|round|cmp\w*|cvtt?)s[sd]$/;

/** Which machine an assembly listing is for: AT&T registers begin with `%`. */
export function machine(assembly: string): Machine {
  return /%[re]?[a-ds][xi]p?\b|%[xyz]mm\d|%r\d/.test(assembly) ? 'x86' : 'arm';
}

/** The text of a line before its comment. */
function bare(line: string): string {
  const cut = line.search(/\s#|\/\/|;/);
  return (line.startsWith('#') ? '' : cut < 0 ? line : line.slice(0, cut)).trim();
}

/** The instruction's name in a line of assembly; "" for labels, directives and comments. */
export function mnemonic(line: string): string {
  const text = bare(line);
  if (text === '' || text.startsWith('.') || /^[^\s]+:$/.test(text)) {
    return '';
  }
  const words = text.split(/\s+/);
  const first = words[0] ?? '';
  return /^(lock|rep|repe|repne)$/.test(first) ? (words[1] ?? first) : first;
}

function assembly(line: string, target: Machine): Kind {
  const name = mnemonic(line);
  if (name === '') {
    return 'none';
  }
  const text = bare(line);
  if ((target === 'x86' ? X86_BRANCH : ARM_BRANCH).test(name)) {
    return 'branch';
  }
  // `lea` computes an address and touches nothing; a constant from the pool is an operand, not traffic.
  const touches = target === 'x86' ? /\(/.test(text) && !/^(lea|nop)/.test(name) : /\[/.test(text);
  if (touches && !/\(%rip\)/.test(text)) {
    return 'memory';
  }
  const vector = (target === 'x86' ? X86_VECTOR : ARM_VECTOR).test(text) && !SCALAR_FLOAT.test(name);
  return vector ? 'vector' : 'scalar';
}

/** The operation of a line of LLVM IR: `add`, `phi`, `llvm.umin.v8i64`; "" for labels and the like. */
export function llvmOperation(line: string): string {
  const text = line.trim();
  const found = /^(?:[%@][\w.$"-]+\s*=\s*)?(?:(?:tail|musttail|notail)\s+)?([a-z]\w*)\b/.exec(text);
  if (found === null || /^[\w.$-]+:/.test(text)) {
    return '';
  }
  const name = found[1] ?? '';
  if (name === 'call') {
    return /@"?([\w.$-]+)/.exec(text)?.[1] ?? name;
  }
  return /^(define|declare|attributes|target|source_filename)$/.test(name) || text.startsWith('@') ? '' : name;
}

const LLVM_MEMORY = /^(load|store|alloca|fence|cmpxchg|atomicrmw)$|^llvm\.(masked|memcpy|memset|prefetch)/;

function llvm(line: string): Kind {
  const name = llvmOperation(line);
  if (name === '') {
    return 'none';
  }
  if (/^(br|switch|ret|indirectbr|unreachable)$/.test(name)) {
    return 'branch';
  }
  if (LLVM_MEMORY.test(name)) {
    return 'memory';
  }
  return /<\d+ x /.test(line) ? 'vector' : 'scalar';
}

function opencl(line: string): Kind {
  const text = line.trim();
  if (text === '' || /^[#{}/*]/.test(text) || text.startsWith('__kernel') || !/[;{]$/.test(text)) {
    return 'none';
  }
  if (/^(if|for|while|switch|return|break|continue|do|else|goto|barrier)\b/.test(text)) {
    return 'branch';
  }
  if (/\b(vload|vstore|prefetch|async_work_group_copy|atomic_)\w*\(/.test(text) || /^\w+\[[^\]]*\]\s*[-+*|&^]?=[^=]/.test(text)) {
    return 'memory';
  }
  return /\b(char|uchar|short|ushort|int|uint|long|ulong|float|double|half)(2|3|4|8|16)\b/.test(text) ? 'vector' : 'scalar';
}

function fused(line: string): Kind {
  const name = irOperation(line);
  return /^(load|store|gather|array|to_list)$/.test(name) ? 'memory' : 'none';
}

/** The operation of a line of our own IR: `madd52lo`, `load`, `sum`; "" for headings. */
export function irOperation(line: string): string {
  const text = line.split(' ;')[0]?.trim() ?? '';
  const defined = /^(?:%\d+: [^=]*|[\w, ]+) = ([a-z_]\w*)/.exec(text);
  return defined?.[1] ?? /^(accumulate|store|guard|assume|evaluate|source|table|map|filter|return)\b/.exec(text)?.[1] ?? '';
}

/** The kind of each line of a listing. */
export function kinds(target: Target, text: string): Kind[] {
  const lines = text.split('\n');
  const cpu = target === 'asm' ? machine(text) : 'x86';
  return lines.map(line => {
    switch (target) {
      case 'asm':
        return assembly(line, cpu);
      case 'llvm':
        return llvm(line);
      case 'opencl':
        return opencl(line);
      default:
        return fused(line);
    }
  });
}

/** Lines from `start` to `end` of a listing, from 0, the end exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

const LABEL = /^\s*(?:"([^"]+)"|([\w.$%-]+)):/;
const JUMP = /^\s*(?:j[a-z]+|b(?:\.[a-z]+)?|cbn?z|tbn?z)\s+(?:[\w#]+,\s*)*(\.?[A-Za-z_][\w.$]*)\s*(?:[#;/@].*)?$/;
const TERMINATOR = /label\s+%(?:"([^"]+)"|([\w.$-]+))/g;
const WIDE = /[%\s,{]([xyz])mm\d|\bv\d+\.\d+[bhsd]\b|\bq\d+\b|<\d+ x /g;
const WIDTH: Readonly<Record<string, number>> = { x: 1, y: 2, z: 4 };

/** How much vector work a line does: the width of its widest register. */
function weight(line: string): number {
  return Math.max(0, ...Array.from(line.matchAll(WIDE), found => WIDTH[found[1] ?? ''] ?? 2));
}

/** Above the second of several listings, as `compiler/reporting/stacked.py` writes it. */
const SECOND = /^(?:;|#|\/\/) ── loop 2 of \d+: /m;

/**
 * The innermost loop with the most vector work, as in the static form: a loop is a branch back to a label
 * above it. In OpenCL C it is the innermost `for` with the most lines. Of those that are nearly as long and
 * heavy it is the first: the one for the last elements comes after it. Where the listings of several loops
 * stand one below the other it is the first one's, in each of them. Null where there is no loop.
 */
export function hotLoop(target: Target, text: string): Range | null {
  const lines = (text.split(SECOND)[0] ?? '').split('\n');
  const loops = target === 'opencl' ? braces(lines) : target === 'fused' ? [] : jumps(lines);
  const inner = loops.filter(
    a => !loops.some(b => (a.start !== b.start || a.end !== b.end) && a.start <= b.start && b.end <= a.end)
  );
  const work = (range: Range): number =>
    target === 'opencl' ? 0 : lines.slice(range.start, range.end).reduce((sum, line) => sum + weight(line), 0);
  const sizes = inner.sort((a, b) => a.start - b.start).map(range => ({ range, heavy: work(range), long: range.end - range.start }));
  const best = sizes.reduce((a, b) => (b.heavy > a.heavy || (b.heavy === a.heavy && b.long > a.long) ? b : a), { heavy: 0, long: 0 });
  return sizes.find(each => 5 * each.heavy >= 4 * best.heavy && 5 * each.long >= 4 * best.long)?.range ?? null;
}

function jumps(lines: readonly string[]): Range[] {
  let labels = new Map<string, number>();
  const loops: Range[] = [];
  lines.forEach((line, at) => {
    const label = LABEL.exec(line);
    if (label !== null) {
      labels.set((label[1] ?? label[2] ?? '').replace(/^%/, ''), at);
    }
    if (line.startsWith('define ')) {
      labels = new Map(); // names of blocks are local to a function
    }
    const jump = JUMP.exec(line);
    const targets = jump !== null ? [jump[1]] : Array.from(line.matchAll(TERMINATOR), found => found[1] ?? found[2]);
    for (const name of targets) {
      const start = labels.get(name ?? '');
      if (start !== undefined) {
        loops.push({ start, end: at + 1 });
      }
    }
  });
  return loops;
}

function braces(lines: readonly string[]): Range[] {
  const open: { at: number; loop: boolean }[] = [];
  const loops: Range[] = [];
  lines.forEach((line, at) => {
    for (const brace of line.match(/[{}]/g) ?? []) {
      if (brace === '{') {
        open.push({ at, loop: /\b(for|while)\b/.test(line) });
      } else {
        const begun = open.pop();
        if (begun?.loop) {
          loops.push({ start: begun.at, end: at + 1 });
        }
      }
    }
  });
  return loops;
}

/** The line without its debug location, which only links need: `, !dbg !7`. */
export function withoutDebug(line: string): string {
  return line.replace(/,? !dbg !\d+/g, '');
}
