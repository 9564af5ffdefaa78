import assert from 'node:assert/strict';
import test from 'node:test';

import { hotLoop, kinds, machine, withoutDebug } from '../src/classify';
import { explain, operation } from '../src/glossary';
import { isHastega, marks } from '../src/highlight';
import { decode, Target } from '../src/report';
import { sample } from './page';

const X86 = `hastega:
\tpushq\t%rbp
\tmovq\t(%rdi), %rax
.LBB0_4:
\tcmpq\t%rax, %r8
\tjae\t.LBB0_6
\tvpaddq\t%zmm1, %zmm17, %zmm17
\tvmovdqu64\t%zmm17, (%rsi,%rax,8)
\tleaq\t(%r15,%rsi), %r13
\tvaddsd\t%xmm0, %xmm1, %xmm1
\tvpbroadcastq\t.LCPI0_1(%rip), %zmm2
\tjb\t.LBB0_4
.LBB0_6:
\tretq`;

const ARM = `f:
.L1:
\tldr\tq0, [x0], #16
\tadd\tv0.2d, v0.2d, v1.2d
\tsubs\tx1, x1, #1
\tb.ne\t.L1
\tret`;

test('instructions are told apart', () => {
  assert.equal(machine(X86), 'x86');
  assert.deepEqual(kinds('asm', X86), [
    'none', 'scalar', 'memory', 'none', 'scalar', 'branch', 'vector', 'memory', 'scalar', 'scalar', 'vector', 'branch', 'none', 'branch'
  ]);
  assert.equal(machine(ARM), 'arm');
  assert.deepEqual(kinds('asm', ARM), ['none', 'none', 'memory', 'vector', 'scalar', 'branch', 'branch']);
});

test('LLVM IR and OpenCL C too', () => {
  const llvm = [
    'define void @f(ptr %p) {', 'main:', '  %i = phi i64 [ 0, %a ], [ %n, %main ]', '  %v = add <8 x i64> %a, %b, !dbg !7',
    '  store i64 0, ptr %p', '  %c = call <8 x i64> @llvm.umin.v8i64(<8 x i64> %a, <8 x i64> %b)', '  br i1 %m, label %main, label %x', '}'
  ];
  assert.deepEqual(kinds('llvm', llvm.join('\n')), ['none', 'none', 'scalar', 'vector', 'memory', 'vector', 'branch', 'none']);
  assert.equal(withoutDebug(llvm[3] ?? ''), '  %v = add <8 x i64> %a, %b');
  const opencl = ['for (int i = 0; i < 8; ++i) {', 'const long8 v5 = a + b;', 'vstore8(v5, 0, r0 + at);', 'const long at = 1;', '}'];
  assert.deepEqual(kinds('opencl', opencl.join('\n')), ['branch', 'vector', 'memory', 'scalar', 'none']);
});

test('the hot loop is the inner one with the vectors', () => {
  assert.deepEqual(hotLoop('asm', X86), { start: 3, end: 12 });
  assert.deepEqual(hotLoop('asm', ARM), { start: 1, end: 6 });
  assert.equal(hotLoop('asm', 'f:\n\tretq'), null);
  assert.deepEqual(hotLoop('opencl', 'void f() {\n  for (;;) {\n    for (;;) {\n      a;\n    }\n  }\n}'), { start: 2, end: 5 });
  // Of several listings the first one's, whatever the second does.
  const heavier = X86.replaceAll('vpaddq', 'vpaddq\t%zmm1, %zmm17, %zmm17\n\tvpaddq');
  assert.deepEqual(hotLoop('asm', `# ── loop 1 of 2: map(f)\n${X86}\n# ── loop 2 of 2: sum\n${heavier.repeat(2)}`), { start: 4, end: 13 });
  const [pipeline] = decode(sample()).pipelines;
  const lines = pipeline?.code.llvm.split('\n') ?? [];
  const found = hotLoop('llvm', pipeline?.code.llvm ?? '');
  assert.ok(found);
  assert.match(lines[found.start] ?? '', /^main:/);
  assert.match(lines[found.end - 1] ?? '', /^\s+br .*label %main/);
});

test('the glossary knows every operation of a real report', () => {
  const [pipeline] = decode(sample()).pipelines;
  assert.ok(pipeline);
  for (const target of ['fused', 'llvm', 'asm'] as Target[]) {
    const unknown = new Set<string>();
    let known = 0;
    for (const line of pipeline.code[target].split('\n')) {
      const name = operation(target, line);
      if (name !== '') {
        if (explain(target, line, machine(pipeline.code.asm)) === null) {
          unknown.add(name);
        } else {
          known += 1;
        }
      }
    }
    assert.deepEqual(Array.from(unknown), [], target);
    assert.ok(known > 5, target);
  }
});

test('the glossary says what an instruction does, with a picture that is right', () => {
  const add = explain('asm', '\tvpaddq\t%zmm1, %zmm2, %zmm3', 'x86');
  assert.equal(add?.says, 'Adds the 64-bit integers of two registers, lane by lane.');
  assert.deepEqual(add?.picture?.rows.map(row => row.cells), [['3', '8', '5', '2'], ['4', '1', '6', '7'], ['7', '9', '11', '9']]);
  const high = explain('asm', '\tvpmadd52huq\t%zmm1, %zmm2, %zmm3', 'x86');
  assert.deepEqual(high?.picture?.rows[3]?.cells, ['12', '23', '31', '40']);
  assert.match(explain('llvm', '  %v = mul <4 x double> %a, %b', 'x86')?.says ?? '', /Here: 4 lanes of float64\.$/);
  assert.match(explain('asm', '\tfadd\tv0.2d, v0.2d, v1.2d', 'arm')?.says ?? '', /^Adds/);
  assert.match(explain('asm', '\tldr\tx0, [x1]', 'arm')?.says ?? '', /^Loads/);
  assert.match(explain('fused', '  %4: int [0, 6700416] = mod %3, 6700417   ; line 3', 'x86')?.says ?? '', /remainder/);
  assert.match(explain('fused', '  total = sum %8 where %10', 'x86')?.says ?? '', /^Adds into lanes/);
  assert.match(explain('opencl', '  const double8 v = convert_double8(w);', 'x86')?.says ?? '', /^Converts/);
  assert.equal(explain('asm', '.LBB0_4:', 'x86'), null);
  assert.equal(explain('asm', '\tconstructor\t%zmm1', 'x86'), null);
});

test('a plain movq is no vector instruction, one with a vector register is', () => {
  for (const line of ['movq\t(%rdi), %rax', 'movq\t%rax, %rcx', 'movq\t$7, 8(%rsp)']) {
    assert.equal(explain('asm', `\t${line}`, 'x86')?.says, 'Moves a value between registers, or loads or stores one.', line);
  }
  for (const line of ['movq\t%xmm0, %rax', 'vmovq\t(%rdi), %xmm1', 'movd\t%eax, %xmm2']) {
    assert.match(explain('asm', `\t${line}`, 'x86')?.says ?? '', /vector register, or back\.$/, line);
  }
  assert.match(explain('asm', '\tvzeroupper', 'x86')?.says ?? '', /^Clears/);
});

test('common instructions of SSE2, AVX2, AVX-512 and NEON are all known', () => {
  const x86 = `paddd paddq mulpd addps vfmadd231pd vdivpd vsqrtps vpcmpgtq vpcmpltuq vcmpltpd kandw kortestb vpcompressq vpblendmq
    vblendvpd vpermq vpshufd vextracti64x4 vextracti128 vpextrq vpinsrq vcvttpd2dq vcvtqq2pd vpmovsxdq vpmovqd vpgatherqq
    vmovntdq vmovdqa64 movdqu movups movapd vzeroupper vpternlogq vpsrlq vpsraq vpminuq vpmuludq vptestnmq vptestmq addsd cvtsi2sd
    imulq idivq cmovaeq setb xaddq incq leaq prefetcht0 jae jmp callq retq pushq popq vrndscalepd vroundpd vpabsq vpandnq vpor
    vmovq vmovd vpbroadcastd vbroadcastsd vpmulld vpmullq vinserti128 vfnmadd213pd vpsllq vpermt2q valignq vfmadd213sd`;
  for (const name of x86.split(/\s+/)) {
    assert.notEqual(explain('asm', `\t${name}\t%rax, %rbx`, 'x86'), null, name);
  }
  const neon = `add sub mul mla fadd fmul fmla fdiv fsqrt smax umin cmgt cmeq fcmge bsl and orr eor shl sshr ushr dup movi ext zip1
    uzp2 addp addv xtn uxtl sxtl scvtf fcvtzs frintm ld1 st1 umov`;
  for (const name of neon.split(/\s+/)) {
    assert.notEqual(explain('asm', `\t${name}\tv0.2d, v1.2d`, 'arm'), null, name);
  }
});

test('cells of the language are marked, and nothing else', () => {
  assert.ok(isHastega('%%hastega'));
  assert.ok(isHastega('\n %%hastega --on simd\nx'));
  assert.ok(!isHastega('%%hastega_kernel llvm k'));
  assert.ok(!isHastega('x = "%%hastega"'));
  assert.deepEqual(marks('x |> map(f)'), []);
  const text = '%%hastega --on simd\n# a |> b\ns = "|> map" \'\'\'\n|> x\'\'\'\ny = (xs\n  |> map(f)\n  |>  sum) | z |> tap(print)';
  const found = marks(text).map(mark => [mark.kind, text.slice(mark.from, mark.to)]);
  assert.deepEqual(found, [
    ['magic', '%%hastega'], ['option', '--on'], ['option', 'simd'],
    ['pipe', '|>'], ['stage', 'map'], ['pipe', '|>'], ['sink', 'sum'], ['pipe', '|>'], ['tap', 'tap']
  ]);
});

test('marks rise and never overlap, whatever is typed', () => {
  for (const body of ['|>|>|>', '"|>', "'''|> map", '\\"|> map', '|>\n\n sum', '😀 |> map', '|> map.x.y(', '#|>', '"\\']) {
    let last = 0;
    for (const mark of marks(`%%hastega\n${body}`)) {
      assert.ok(mark.from >= last && mark.to >= mark.from, body);
      last = mark.to;
    }
  }
});

test('the picture of a comparison, or of a rounding, is of that one', () => {
  const last = (target: Target, line: string): string => {
    const row = explain(target, line, 'x86')?.picture?.rows.at(-1);
    return row === undefined ? '' : `${row.label} ${row.cells.join('')}`;
  };
  assert.equal(last('fused', '  %3: bool = gt %2, 1000  ; line 3'), 'a > b ? 0100');
  assert.equal(last('fused', '  %3: bool = le %2, 1000  ; line 3'), 'a ≤ b ? 1011');
  assert.equal(last('fused', '  %3: bool = ne %2, 1000  ; line 3'), 'a ≠ b ? 1101');
  assert.equal(last('llvm', '  %v168 = icmp sgt <8 x i64> %v160, splat (i64 1000)'), 'a > b ? 0100');
  assert.equal(last('llvm', '  %v1 = fcmp contract olt <8 x double> %v2, %v3'), 'a < b ? 1001');
  assert.equal(last('llvm', '  %v1 = fcmp une double %v2, %v3'), 'a ≠ b ? 1101');
  assert.equal(last('llvm', '  %v1 = fcmp uno double %v2, %v3'), '');
  assert.equal(last('asm', '\tvpcmpgtq\t%zmm6, %zmm15, %k1'), 'a > b ? 0100');
  assert.equal(last('asm', '\tvpcmpltuq\t%zmm3, %zmm0, %k1'), 'a < b ? 1001');
  assert.equal(last('asm', '\tvcmpnltpd\t%zmm2, %zmm25, %k7'), 'a ≥ b ? 0110');
  assert.equal(last('asm', '\tvcmpneq_oqpd\t%zmm2, %zmm25, %k7'), 'a ≠ b ? 1101');
  assert.equal(last('asm', '\tvcmpunordpd\t%zmm2, %zmm25, %k7'), '');
  assert.equal(last('fused', '  %1: int = ceil_int %0'), 'ceil 49-52');
  assert.equal(last('fused', '  %1: int = wrapping_add %0, %0'), 'a + b 79119');
});

test('of two loops that are nearly alike the first is hot: the other one takes the last elements', () => {
  const loop = (name: string, vectors: number): string[] => [
    `${name}:`, ...Array.from({ length: vectors }, () => '  %a = add <8 x i64> %b, %c'), `  br i1 %d, label %${name}, label %done`
  ];
  const text = (main: number, tail: number): string => ['define void @f() {', ...loop('main', main), ...loop('tail', tail), '}'].join('\n');
  assert.deepEqual(hotLoop('llvm', text(20, 24)), { start: 1, end: 23 });
  assert.deepEqual(hotLoop('llvm', text(20, 30)), { start: 23, end: 55 });
});
