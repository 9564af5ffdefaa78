"""The native code of `overlapped.py` that knows how lists are laid out: those that are read, and the one made."""

from __future__ import annotations

OF_LISTS = """
; Whether all lists are long enough for the chunks before the one to stop before; then rows have their items' addresses.
; With the GIL, which is held until the chunks are done: no other thread, and no handler of signals, runs in between.
define internal i1 @look(ptr %job) {{
entry:
  %size = word i64 of %job at {CHUNK}
  %length = word i64 of %job at {LENGTH}
  %stop = word i64 of %job at {STOP}
  %end = mul i64 %stop, %size
  %short = icmp slt i64 %length, %end
  %most = select i1 %short, i64 %length, i64 %end
  %lists = word i64 of %job at {LISTS}
  %heads = word ptr of %job at {HEADS}
  %bases = word ptr of %job at {BASES}
  %own = word i64 of %job at {KERNEL_WORDS}
  br label %head
head:
  %s = phi i64 [ 0, %entry ], [ %s.next, %there ]
  %over = icmp uge i64 %s, %lists
  br i1 %over, label %fine, label %each
each:
  %pair = mul i64 %s, 2
  %many.at.at = getelementptr ptr, ptr %heads, i64 %pair
  %many.at = load ptr, ptr %many.at.at
  %many = load i64, ptr %many.at
  %enough = icmp sge i64 %many, %most
  br i1 %enough, label %there, label %wrong
there:
  %items.at.at = getelementptr ptr, ptr %many.at.at, i64 1
  %items.at = load ptr, ptr %items.at.at
  %items = load i64, ptr %items.at
  %along = mul i64 %s, {READER_WORDS}
  %place = add i64 %along, %own
  %base.at = getelementptr i64, ptr %bases, i64 %place
  store i64 %items, ptr %base.at
  %s.next = add i64 %s, 1
  br label %head
fine:
  ret i1 true
wrong:
  ret i1 false
}}

define internal void @fit(ptr %job) {{
entry:
  %list = word ptr of %job at {LIST}
  %size.at = getelementptr i8, ptr %list, i64 16
  %items.at = getelementptr i8, ptr %list, i64 24
  %room.at = getelementptr i8, ptr %list, i64 32
  %size = load i64, ptr %size.at
  %items = load ptr, ptr %items.at
  %none = icmp eq i64 %size, 0
  br i1 %none, label %empty, label %some
empty:
  %free = word ptr of %job at {FREE}
  store ptr null, ptr %items.at
  store i64 0, ptr %room.at
  call void %free(ptr %items)
  ret void
some:
  %realloc = word ptr of %job at {REALLOC}
  %bytes = mul i64 %size, 8
  %moved = call ptr %realloc(ptr %items, i64 %bytes)
  %failed = icmp eq ptr %moved, null
  br i1 %failed, label %end, label %fitted
fitted:
  store ptr %moved, ptr %items.at
  store i64 %size, ptr %room.at
  br label %end
end:
  ret void
}}
"""

__all__ = ["OF_LISTS"]
