target triple = "x86_64-unknown-linux-gnu"

declare <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64>, <8 x i64>, <8 x i64>)
declare <8 x i64> @llvm.x86.avx512.vpmadd52h.uq.512(<8 x i64>, <8 x i64>, <8 x i64>)
declare <8 x i64> @llvm.umin.v8i64(<8 x i64>, <8 x i64>)
declare i64 @llvm.vector.reduce.add.v8i64(<8 x i64>)

define i64 @ys_total(ptr %ys, i64 %start, i64 %stop) {
entry:
  %s0 = insertelement <8 x i64> poison, i64 %start, i64 0
  %s1 = shufflevector <8 x i64> %s0, <8 x i64> poison, <8 x i32> zeroinitializer
  %first = add <8 x i64> %s1, <i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8>
  br label %loop

loop:
  %i = phi i64 [ %start, %entry ], [ %i.next, %loop ]
  %x = phi <8 x i64> [ %first, %entry ], [ %x.next, %loop ]
  %acc0 = phi <8 x i64> [ zeroinitializer, %entry ], [ %acc0.next, %loop ]
  %acc1 = phi <8 x i64> [ zeroinitializer, %entry ], [ %acc1.next, %loop ]
  %acc2 = phi <8 x i64> [ zeroinitializer, %entry ], [ %acc2.next, %loop ]
  %acc3 = phi <8 x i64> [ zeroinitializer, %entry ], [ %acc3.next, %loop ]
  %x0 = add <8 x i64> %x, <i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>
  %t0.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %x0, <8 x i64> %x0, <8 x i64> %x0)
  %q0.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52h.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t0.0, <8 x i64> <i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748>)
  %v0.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t0.0, <8 x i64> <i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22>)
  %r0.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %v0.0, <8 x i64> %q0.0, <8 x i64> <i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079>)
  %t0.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %r0.0, <8 x i64> %r0.0, <8 x i64> %r0.0)
  %q0.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52h.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t0.1, <8 x i64> <i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748>)
  %v0.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t0.1, <8 x i64> <i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22>)
  %r0.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %v0.1, <8 x i64> %q0.1, <8 x i64> <i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079>)
  %m0 = and <8 x i64> %r0.1, <i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495>
  %d0 = sub <8 x i64> %m0, <i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417>
  %y0 = call <8 x i64> @llvm.umin.v8i64(<8 x i64> %m0, <8 x i64> %d0)
  %o0 = add i64 %i, 0
  %p0 = getelementptr i64, ptr %ys, i64 %o0
  store <8 x i64> %y0, ptr %p0, align 64
  %b0 = and <8 x i64> %y0, <i64 1, i64 1, i64 1, i64 1, i64 1, i64 1, i64 1, i64 1>
  %c0 = icmp eq <8 x i64> %b0, zeroinitializer
  %k0 = select <8 x i1> %c0, <8 x i64> %y0, <8 x i64> zeroinitializer
  %acc0.next = add <8 x i64> %acc0, %k0
  %x1 = add <8 x i64> %x, <i64 8, i64 8, i64 8, i64 8, i64 8, i64 8, i64 8, i64 8>
  %t1.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %x1, <8 x i64> %x1, <8 x i64> %x1)
  %q1.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52h.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t1.0, <8 x i64> <i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748>)
  %v1.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t1.0, <8 x i64> <i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22>)
  %r1.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %v1.0, <8 x i64> %q1.0, <8 x i64> <i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079>)
  %t1.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %r1.0, <8 x i64> %r1.0, <8 x i64> %r1.0)
  %q1.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52h.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t1.1, <8 x i64> <i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748>)
  %v1.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t1.1, <8 x i64> <i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22>)
  %r1.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %v1.1, <8 x i64> %q1.1, <8 x i64> <i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079>)
  %m1 = and <8 x i64> %r1.1, <i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495>
  %d1 = sub <8 x i64> %m1, <i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417>
  %y1 = call <8 x i64> @llvm.umin.v8i64(<8 x i64> %m1, <8 x i64> %d1)
  %o1 = add i64 %i, 8
  %p1 = getelementptr i64, ptr %ys, i64 %o1
  store <8 x i64> %y1, ptr %p1, align 64
  %b1 = and <8 x i64> %y1, <i64 1, i64 1, i64 1, i64 1, i64 1, i64 1, i64 1, i64 1>
  %c1 = icmp eq <8 x i64> %b1, zeroinitializer
  %k1 = select <8 x i1> %c1, <8 x i64> %y1, <8 x i64> zeroinitializer
  %acc1.next = add <8 x i64> %acc1, %k1
  %x2 = add <8 x i64> %x, <i64 16, i64 16, i64 16, i64 16, i64 16, i64 16, i64 16, i64 16>
  %t2.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %x2, <8 x i64> %x2, <8 x i64> %x2)
  %q2.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52h.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t2.0, <8 x i64> <i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748>)
  %v2.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t2.0, <8 x i64> <i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22>)
  %r2.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %v2.0, <8 x i64> %q2.0, <8 x i64> <i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079>)
  %t2.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %r2.0, <8 x i64> %r2.0, <8 x i64> %r2.0)
  %q2.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52h.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t2.1, <8 x i64> <i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748>)
  %v2.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t2.1, <8 x i64> <i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22>)
  %r2.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %v2.1, <8 x i64> %q2.1, <8 x i64> <i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079>)
  %m2 = and <8 x i64> %r2.1, <i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495>
  %d2 = sub <8 x i64> %m2, <i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417>
  %y2 = call <8 x i64> @llvm.umin.v8i64(<8 x i64> %m2, <8 x i64> %d2)
  %o2 = add i64 %i, 16
  %p2 = getelementptr i64, ptr %ys, i64 %o2
  store <8 x i64> %y2, ptr %p2, align 64
  %b2 = and <8 x i64> %y2, <i64 1, i64 1, i64 1, i64 1, i64 1, i64 1, i64 1, i64 1>
  %c2 = icmp eq <8 x i64> %b2, zeroinitializer
  %k2 = select <8 x i1> %c2, <8 x i64> %y2, <8 x i64> zeroinitializer
  %acc2.next = add <8 x i64> %acc2, %k2
  %x3 = add <8 x i64> %x, <i64 24, i64 24, i64 24, i64 24, i64 24, i64 24, i64 24, i64 24>
  %t3.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %x3, <8 x i64> %x3, <8 x i64> %x3)
  %q3.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52h.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t3.0, <8 x i64> <i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748>)
  %v3.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t3.0, <8 x i64> <i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22>)
  %r3.0 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %v3.0, <8 x i64> %q3.0, <8 x i64> <i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079>)
  %t3.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %r3.0, <8 x i64> %r3.0, <8 x i64> %r3.0)
  %q3.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52h.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t3.1, <8 x i64> <i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748, i64 14787018748>)
  %v3.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> zeroinitializer, <8 x i64> %t3.1, <8 x i64> <i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22, i64 22>)
  %r3.1 = call <8 x i64> @llvm.x86.avx512.vpmadd52l.uq.512(<8 x i64> %v3.1, <8 x i64> %q3.1, <8 x i64> <i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079, i64 4503599620670079>)
  %m3 = and <8 x i64> %r3.1, <i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495, i64 4503599627370495>
  %d3 = sub <8 x i64> %m3, <i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417, i64 6700417>
  %y3 = call <8 x i64> @llvm.umin.v8i64(<8 x i64> %m3, <8 x i64> %d3)
  %o3 = add i64 %i, 24
  %p3 = getelementptr i64, ptr %ys, i64 %o3
  store <8 x i64> %y3, ptr %p3, align 64
  %b3 = and <8 x i64> %y3, <i64 1, i64 1, i64 1, i64 1, i64 1, i64 1, i64 1, i64 1>
  %c3 = icmp eq <8 x i64> %b3, zeroinitializer
  %k3 = select <8 x i1> %c3, <8 x i64> %y3, <8 x i64> zeroinitializer
  %acc3.next = add <8 x i64> %acc3, %k3
  %x.next = add <8 x i64> %x, <i64 32, i64 32, i64 32, i64 32, i64 32, i64 32, i64 32, i64 32>
  %i.next = add i64 %i, 32
  %more = icmp ult i64 %i.next, %stop
  br i1 %more, label %loop, label %done

done:
  %a01 = add <8 x i64> %acc0.next, %acc1.next
  %a23 = add <8 x i64> %acc2.next, %acc3.next
  %a = add <8 x i64> %a01, %a23
  %sum = call i64 @llvm.vector.reduce.add.v8i64(<8 x i64> %a)
  ret i64 %sum
}
