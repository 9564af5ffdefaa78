	.file	"<string>"
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_0:
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	6
	.quad	7
	.quad	8
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0
.LCPI0_1:
	.quad	14787018748
.LCPI0_2:
	.quad	22
.LCPI0_3:
	.quad	4503599620670079
.LCPI0_4:
	.quad	4503599627370495
.LCPI0_5:
	.quad	6700417
.LCPI0_6:
	.quad	1
.LCPI0_7:
	.quad	8
.LCPI0_8:
	.quad	16
.LCPI0_9:
	.quad	24
.LCPI0_10:
	.quad	32
	.section	.ltext,"axl",@progbits
	.globl	ys_total
	.p2align	4
	.type	ys_total,@function
ys_total:
	.cfi_startproc
	vpbroadcastq	%rsi, %zmm0
	movabsq	$.LCPI0_0, %rax
	vpaddq	(%rax), %zmm0, %zmm1
	vpxor	%xmm0, %xmm0, %xmm0
	movabsq	$.LCPI0_1, %rax
	vpbroadcastq	(%rax), %zmm2
	movabsq	$.LCPI0_2, %rax
	vpbroadcastq	(%rax), %zmm3
	movabsq	$.LCPI0_3, %rax
	vpbroadcastq	(%rax), %zmm4
	movabsq	$.LCPI0_4, %rax
	vpbroadcastq	(%rax), %zmm5
	movabsq	$.LCPI0_5, %rax
	vpbroadcastq	(%rax), %zmm6
	movabsq	$.LCPI0_6, %rax
	vpbroadcastq	(%rax), %zmm7
	movabsq	$.LCPI0_7, %rax
	vpbroadcastq	(%rax), %zmm8
	movabsq	$.LCPI0_8, %rax
	vpbroadcastq	(%rax), %zmm9
	movabsq	$.LCPI0_9, %rax
	vpbroadcastq	(%rax), %zmm10
	movabsq	$.LCPI0_10, %rax
	vpbroadcastq	(%rax), %zmm11
	vpxor	%xmm12, %xmm12, %xmm12
	vpxor	%xmm13, %xmm13, %xmm13
	vpxor	%xmm14, %xmm14, %xmm14
	.p2align	4
.LBB0_1:
	vmovdqa64	%zmm1, %zmm15
	vpmadd52luq	%zmm1, %zmm1, %zmm15
	vpxord	%xmm16, %xmm16, %xmm16
	vpmadd52huq	%zmm2, %zmm15, %zmm16
	vpxord	%xmm17, %xmm17, %xmm17
	vpmadd52luq	%zmm3, %zmm15, %zmm17
	vpmadd52luq	%zmm4, %zmm16, %zmm17
	vpmadd52luq	%zmm17, %zmm17, %zmm17
	vpxor	%xmm15, %xmm15, %xmm15
	vpmadd52huq	%zmm2, %zmm17, %zmm15
	vpxord	%xmm16, %xmm16, %xmm16
	vpmadd52luq	%zmm3, %zmm17, %zmm16
	vpmadd52luq	%zmm4, %zmm15, %zmm16
	vpandq	%zmm5, %zmm16, %zmm15
	vpsubq	%zmm6, %zmm15, %zmm16
	vpminuq	%zmm16, %zmm15, %zmm15
	vmovdqa64	%zmm15, (%rdi,%rsi,8)
	vptestnmq	%zmm7, %zmm15, %k1
	vpaddq	%zmm15, %zmm0, %zmm0 {%k1}
	vpaddq	%zmm8, %zmm1, %zmm15
	vpmadd52luq	%zmm15, %zmm15, %zmm15
	vpxord	%xmm16, %xmm16, %xmm16
	vpmadd52huq	%zmm2, %zmm15, %zmm16
	vpxord	%xmm17, %xmm17, %xmm17
	vpmadd52luq	%zmm3, %zmm15, %zmm17
	vpmadd52luq	%zmm4, %zmm16, %zmm17
	vpmadd52luq	%zmm17, %zmm17, %zmm17
	vpxor	%xmm15, %xmm15, %xmm15
	vpmadd52huq	%zmm2, %zmm17, %zmm15
	vpxord	%xmm16, %xmm16, %xmm16
	vpmadd52luq	%zmm3, %zmm17, %zmm16
	vpmadd52luq	%zmm4, %zmm15, %zmm16
	vpandq	%zmm5, %zmm16, %zmm15
	vpsubq	%zmm6, %zmm15, %zmm16
	vpminuq	%zmm16, %zmm15, %zmm15
	vmovdqa64	%zmm15, 64(%rdi,%rsi,8)
	vptestnmq	%zmm7, %zmm15, %k1
	vpaddq	%zmm15, %zmm12, %zmm12 {%k1}
	vpaddq	%zmm9, %zmm1, %zmm15
	vpmadd52luq	%zmm15, %zmm15, %zmm15
	vpxord	%xmm16, %xmm16, %xmm16
	vpmadd52huq	%zmm2, %zmm15, %zmm16
	vpxord	%xmm17, %xmm17, %xmm17
	vpmadd52luq	%zmm3, %zmm15, %zmm17
	vpmadd52luq	%zmm4, %zmm16, %zmm17
	vpmadd52luq	%zmm17, %zmm17, %zmm17
	vpxor	%xmm15, %xmm15, %xmm15
	vpmadd52huq	%zmm2, %zmm17, %zmm15
	vpxord	%xmm16, %xmm16, %xmm16
	vpmadd52luq	%zmm3, %zmm17, %zmm16
	vpmadd52luq	%zmm4, %zmm15, %zmm16
	vpandq	%zmm5, %zmm16, %zmm15
	vpsubq	%zmm6, %zmm15, %zmm16
	vpminuq	%zmm16, %zmm15, %zmm15
	vpaddq	%zmm10, %zmm1, %zmm16
	vpmadd52luq	%zmm16, %zmm16, %zmm16
	vpxord	%xmm17, %xmm17, %xmm17
	vpmadd52huq	%zmm2, %zmm16, %zmm17
	vpxord	%xmm18, %xmm18, %xmm18
	vpmadd52luq	%zmm3, %zmm16, %zmm18
	vpmadd52luq	%zmm4, %zmm17, %zmm18
	vpmadd52luq	%zmm18, %zmm18, %zmm18
	vpxord	%xmm16, %xmm16, %xmm16
	vpmadd52huq	%zmm2, %zmm18, %zmm16
	vpxord	%xmm17, %xmm17, %xmm17
	vpmadd52luq	%zmm3, %zmm18, %zmm17
	vmovdqa64	%zmm15, 128(%rdi,%rsi,8)
	vptestnmq	%zmm7, %zmm15, %k1
	vpmadd52luq	%zmm4, %zmm16, %zmm17
	vpandq	%zmm5, %zmm17, %zmm16
	vpsubq	%zmm6, %zmm16, %zmm17
	vpminuq	%zmm17, %zmm16, %zmm16
	vmovdqa64	%zmm16, 192(%rdi,%rsi,8)
	vpaddq	%zmm15, %zmm13, %zmm13 {%k1}
	vptestnmq	%zmm7, %zmm16, %k1
	vpaddq	%zmm16, %zmm14, %zmm14 {%k1}
	vpaddq	%zmm11, %zmm1, %zmm1
	addq	$32, %rsi
	cmpq	%rdx, %rsi
	jb	.LBB0_1
	vpaddq	%zmm12, %zmm0, %zmm0
	vpaddq	%zmm14, %zmm13, %zmm1
	vpaddq	%zmm1, %zmm0, %zmm0
	vextracti64x4	$1, %zmm0, %ymm1
	vpaddq	%zmm1, %zmm0, %zmm0
	vextracti128	$1, %ymm0, %xmm1
	vpaddq	%xmm1, %xmm0, %xmm0
	vpshufd	$238, %xmm0, %xmm1
	vpaddq	%xmm1, %xmm0, %xmm0
	vmovq	%xmm0, %rax
	vzeroupper
	retq
.Lfunc_end0:
	.size	ys_total, .Lfunc_end0-ys_total
	.cfi_endproc

	.section	".note.GNU-stack","",@progbits
