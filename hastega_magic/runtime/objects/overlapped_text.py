"""The native code of `overlapped.py`: chunks claimed by all threads, and objects made of them, in order, by one.

`@hastega(job, own)`: `job` are the words that all threads share, `own` whether this thread makes the objects, and
its scratch.
"""

from __future__ import annotations

from hastega_magic.ir import abi
from hastega_magic.runtime.objects import overlapped_words
from hastega_magic.runtime.objects.overlapped_lists import OF_LISTS
from hastega_magic.runtime.objects.words import written_out

_TEXT = """
{yields}
define internal void @rest(i64 %turn) {{
  {pause}
  %long = icmp ugt i64 %turn, 200
  br i1 %long, label %yield, label %end
yield:
  {yield}
  br label %end
end:
  ret void
}}

define internal i64 @claim(ptr %job) {{
entry:
  %next.at = getelementptr i64, ptr %job, i64 {NEXT}
  %made.at = getelementptr i64, ptr %job, i64 {MADE}
  %stop = word i64 of %job at {STOP}
  %ring = word i64 of %job at {RING}
  br label %again
again:
  %next = load atomic i64, ptr %next.at monotonic, align 8
  %made = load atomic i64, ptr %made.at acquire, align 8
  %end = add i64 %made, %ring
  %there = icmp slt i64 %next, %stop
  %room = icmp slt i64 %next, %end
  %both = and i1 %there, %room
  br i1 %both, label %try, label %none
try:
  %more = add i64 %next, 1
  %pair = cmpxchg ptr %next.at, i64 %next, i64 %more acq_rel monotonic
  %won = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %won, label %mine, label %again
mine:
  ret i64 %next
none:
  ret i64 -1
}}

define internal void @compute(ptr %job, i64 %chunk, ptr %scratch) {{
entry:
  %size = word i64 of %job at {CHUNK}
  %length = word i64 of %job at {LENGTH}
  %first = mul i64 %chunk, %size
  %left = sub i64 %length, %first
  %whole = icmp sge i64 %left, %size
  %count = select i1 %whole, i64 %size, i64 %left
  %ring = word i64 of %job at {RING}
  %place = urem i64 %chunk, %ring
  %width = word i64 of %job at {WIDTH}
  %rows = word ptr of %job at {ROWS}
  %row.first = mul i64 %place, %width
  %row = getelementptr i64, ptr %rows, i64 %row.first
  %bases = word ptr of %job at {BASES}
  %steps = word ptr of %job at {STEPS}
  %rings = word ptr of %job at {RINGS}
  br label %fill
fill:
  %w = phi i64 [ 0, %entry ], [ %w.next, %fill ]
  %base.at = getelementptr i64, ptr %bases, i64 %w
  %base = load i64, ptr %base.at
  %step.at = getelementptr i64, ptr %steps, i64 %w
  %step = load i64, ptr %step.at
  %stride.at = getelementptr i64, ptr %rings, i64 %w
  %stride = load i64, ptr %stride.at
  %along = mul i64 %step, %chunk
  %around = mul i64 %stride, %place
  %moved = add i64 %base, %along
  %word = add i64 %moved, %around
  %word.at = getelementptr i64, ptr %row, i64 %w
  store i64 %word, ptr %word.at
  %w.next = add i64 %w, 1
  %filled = icmp uge i64 %w.next, %width
  br i1 %filled, label %set, label %fill
set:
  %row.length = getelementptr i64, ptr %row, i64 {abi_LENGTH}
  store i64 %count, ptr %row.length
  %up = add i64 %count, {last_of_block}
  %blocks = lshr i64 %up, {block_bits}
  %row.blocks = getelementptr i64, ptr %row, i64 {abi_BLOCKS}
  store i64 %blocks, ptr %row.blocks
  %shared = word ptr of %row at {abi_SHARED}
  %bytes = word i64 of %job at {SHARED_BYTES}
  call void @llvm.memset.p0.i64(ptr %shared, i8 0, i64 %bytes, i1 false)
  %lists = word i64 of %job at {LISTS}
  %readers = word ptr of %job at {READERS}
  %own = word i64 of %job at {KERNEL_WORDS}
  br label %lists.head
lists.head:
  %s = phi i64 [ 0, %set ], [ %s.next, %read.done ]
  %s.over = icmp uge i64 %s, %lists
  br i1 %s.over, label %run, label %read
read:
  %reader.first = mul i64 %s, {READER_WORDS}
  %reader.place = add i64 %reader.first, %own
  %words = getelementptr i64, ptr %row, i64 %reader.place
  %count.at = getelementptr i64, ptr %words, i64 1
  store i64 %count, ptr %count.at
  %reader.at = getelementptr ptr, ptr %readers, i64 %s
  %reader = load ptr, ptr %reader.at
  call void %reader(ptr %words, ptr null)
  %got = word i64 of %words at 4
  %all = icmp eq i64 %got, %count
  br i1 %all, label %read.done, label %wrong
read.done:
  %s.next = add i64 %s, 1
  br label %lists.head
run:
  %kernel = word ptr of %job at {KERNEL}
  call void %kernel(ptr %row, ptr %scratch)
  %flags = word i64 of %shared at {abi_FLAGS}
  %fine = icmp eq i64 %flags, 0
  br i1 %fine, label %computed, label %wrong
computed:
  %done = word ptr of %job at {DONE}
  %done.place = getelementptr i64, ptr %done, i64 %place
  %number = add i64 %chunk, 1
  store atomic i64 %number, ptr %done.place release, align 8
  ret void
wrong:
  %failed.at = getelementptr i64, ptr %job, i64 {FAILED}
  store atomic i64 {WRONG}, ptr %failed.at release, align 8
  ret void
}}

define internal void @help(ptr %job, ptr %scratch) {{
entry:
  %state.at = getelementptr i64, ptr %job, i64 {STATE}
  %active.at = getelementptr i64, ptr %job, i64 {ACTIVE}
  %here.at = getelementptr i64, ptr %job, i64 {HERE}
  %came = atomicrmw add ptr %here.at, i64 1 seq_cst
  br label %look
look:
  %turn = phi i64 [ 0, %entry ], [ %turn.next, %idle ], [ 0, %leave.again ]
  %state = load atomic i64, ptr %state.at seq_cst, align 8
  switch i64 %state, label %idle [ i64 {OPEN}, label %enter
                                   i64 {OVER}, label %end ]
idle:
  call void @rest(i64 %turn)
  %turn.next = add i64 %turn, 1
  %bored = icmp ugt i64 %turn.next, {patience}
  br i1 %bored, label %end, label %look
enter:
  ; Counted before the state is looked at again: who closes waits until nobody is counted.
  %before = atomicrmw add ptr %active.at, i64 1 seq_cst
  br label %work
work:
  %waited = phi i64 [ 0, %enter ], [ 0, %worked ], [ %waited.next, %nothing ]
  %still = load atomic i64, ptr %state.at seq_cst, align 8
  %open = icmp eq i64 %still, {OPEN}
  br i1 %open, label %take, label %leave
take:
  %chunk = call i64 @claim(ptr %job)
  %none = icmp slt i64 %chunk, 0
  br i1 %none, label %nothing, label %worked
worked:
  call void @compute(ptr %job, i64 %chunk, ptr %scratch)
  br label %work
nothing:
  call void @rest(i64 %waited)
  %waited.next = add i64 %waited, 1
  br label %work
leave:
  %after = atomicrmw sub ptr %active.at, i64 1 seq_cst
  br label %leave.again
leave.again:
  br label %look
end:
  ret void
}}

define internal void @lead(ptr %job, ptr %scratch) {{
entry:
  %state.at = getelementptr i64, ptr %job, i64 {STATE}
  %active.at = getelementptr i64, ptr %job, i64 {ACTIVE}
  %made.at = getelementptr i64, ptr %job, i64 {MADE}
  %failed.at = getelementptr i64, ptr %job, i64 {FAILED}
  %stop = word i64 of %job at {STOP}
  %ring = word i64 of %job at {RING}
  %rows = word ptr of %job at {ROWS}
  %width = word i64 of %job at {WIDTH}
  %done = word ptr of %job at {DONE}
  %size = word i64 of %job at {CHUNK}
  %length = word i64 of %job at {LENGTH}
  %count.place = word i64 of %job at {COUNT_AT}
  %packed = icmp sge i64 %count.place, 0
  %store = word i64 of %job at {STORE}
  %make = word ptr of %job at {MAKE}
  %maker = word ptr of %job at {MAKER}
  %maker.count = getelementptr i64, ptr %maker, i64 1
  %maker.data = getelementptr i64, ptr %maker, i64 2
  %maker.done = getelementptr i64, ptr %maker, i64 6
  %own = word i64 of %job at {OWN}
  %own.objects.to = getelementptr i64, ptr %maker, i64 7
  %own.count.to = getelementptr i64, ptr %maker, i64 8
  %own.numbers.to = getelementptr i64, ptr %maker, i64 9
  %list = word ptr of %job at {LIST}
  %list.size = getelementptr i8, ptr %list, i64 16
  %list.items = getelementptr i8, ptr %list, i64 24
  %items = load ptr, ptr %list.items
  %from = load i64, ptr %made.at
  %there = call i1 @look(ptr %job)
  br i1 %there, label %open, label %short
short:
  store atomic i64 {WRONG}, ptr %failed.at release, align 8
  ret void
open:
  store atomic i64 {OPEN}, ptr %state.at seq_cst, align 8
  br label %head
head:
  %chunk = phi i64 [ %from, %open ], [ %chunk.next, %next ]
  %over = icmp sge i64 %chunk, %stop
  br i1 %over, label %close, label %begin
begin:
  %place = urem i64 %chunk, %ring
  %done.place = getelementptr i64, ptr %done, i64 %place
  %number = add i64 %chunk, 1
  br label %look
look:
  %waited = phi i64 [ 0, %begin ], [ 0, %helped ], [ %waited.next, %wait ]
  %computed = load atomic i64, ptr %done.place acquire, align 8
  %ready = icmp eq i64 %computed, %number
  br i1 %ready, label %objects, label %unready
unready:
  %failed = load atomic i64, ptr %failed.at acquire, align 8
  %fine = icmp eq i64 %failed, 0
  br i1 %fine, label %help, label %close
help:
  %claimed = call i64 @claim(ptr %job)
  %none = icmp slt i64 %claimed, 0
  br i1 %none, label %wait, label %helped
helped:
  call void @compute(ptr %job, i64 %claimed, ptr %scratch)
  br label %look
wait:
  call void @rest(i64 %waited)
  %waited.next = add i64 %waited, 1
  br label %look
objects:
  %row.first = mul i64 %place, %width
  %row = getelementptr i64, ptr %rows, i64 %row.first
  br i1 %packed, label %kept, label %all
kept:
  %shared = word ptr of %row at {abi_SHARED}
  %kept.at = getelementptr i64, ptr %shared, i64 %count.place
  %kept.count = load i64, ptr %kept.at
  br label %make.them
all:
  %first = mul i64 %chunk, %size
  %left = sub i64 %length, %first
  %whole = icmp sge i64 %left, %size
  %all.count = select i1 %whole, i64 %size, i64 %left
  br label %make.them
make.them:
  %count = phi i64 [ %kept.count, %kept ], [ %all.count, %all ]
  %so.far = load i64, ptr %list.size
  %into = getelementptr ptr, ptr %items, i64 %so.far
  store ptr %into, ptr %maker
  store i64 %count, ptr %maker.count
  %data.at = getelementptr i64, ptr %row, i64 %store
  %data = load i64, ptr %data.at
  store i64 %data, ptr %maker.data
  %own.words = getelementptr i64, ptr %row, i64 %own
  %own.objects = word i64 of %own.words at 0
  %own.count = word i64 of %own.words at 1
  %own.numbers = word i64 of %own.words at 2
  store i64 %own.objects, ptr %own.objects.to
  store i64 %own.count, ptr %own.count.to
  store i64 %own.numbers, ptr %own.numbers.to
  call void %make(ptr %maker, ptr null)
  %new = load i64, ptr %maker.done
  %size.now = add i64 %so.far, %new
  store i64 %size.now, ptr %list.size
  %enough = icmp eq i64 %new, %count
  br i1 %enough, label %next, label %no.memory
no.memory:
  store atomic i64 {NO_MEMORY}, ptr %failed.at release, align 8
  br label %close
next:
  %chunk.next = add i64 %chunk, 1
  store atomic i64 %chunk.next, ptr %made.at release, align 8
  br label %head
close:
  store atomic i64 {CLOSED}, ptr %state.at seq_cst, align 8
  br label %gone
gone:
  %turn = phi i64 [ 0, %close ], [ %turn.next, %still ]
  %active = load atomic i64, ptr %active.at seq_cst, align 8
  %alone = icmp eq i64 %active, 0
  br i1 %alone, label %end, label %still
still:
  call void @rest(i64 %turn)
  %turn.next = add i64 %turn, 1
  br label %gone
end:
  ret void
}}

define void @{entry}(ptr %job, ptr %own) {{
  %role = load i64, ptr %own
  %scratch = word ptr of %own at 1
  switch i64 %role, label %wait [ i64 {HELPS}, label %help
                                  i64 {LEADS}, label %lead
                                  i64 {FITS}, label %fit ]
help:
  call void @help(ptr %job, ptr %scratch)
  ret void
lead:
  call void @lead(ptr %job, ptr %scratch)
  ret void
fit:
  call void @fit(ptr %job)
  ret void
wait:
  ; Until so many have come, but not for long: a core may be busy.
  %here.at = getelementptr i64, ptr %job, i64 {HERE}
  br label %look
look:
  %turn = phi i64 [ 0, %wait ], [ %turn.next, %rest ]
  %here = load atomic i64, ptr %here.at acquire, align 8
  %enough = icmp sge i64 %here, %role
  %late = icmp ugt i64 %turn, {courtesy}
  %go = or i1 %enough, %late
  br i1 %go, label %end, label %rest
rest:
  call void @rest(i64 %turn)
  %turn.next = add i64 %turn, 1
  br label %look
end:
  ret void
}}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""

_PATIENCE = 20_000
"""How often a helper looks in vain before it leaves."""

_COURTESY = 2_000
"""How often the leader looks whether the helpers have come."""


def text(triple: str, block: int) -> str:
    """The module for a target; `block`: elements of a block, a power of two."""
    windows = "windows" in triple
    x86 = triple.startswith("x86_64")
    names = {
        name: value
        for name, value in vars(overlapped_words).items()
        if name.isupper() and isinstance(value, int)
    }
    text = (OF_LISTS + _TEXT).format(
        **names,
        entry=abi.ENTRY,
        abi_LENGTH=abi.LENGTH,
        abi_BLOCKS=abi.BLOCKS,
        abi_SHARED=abi.SHARED,
        abi_FLAGS=abi.FLAGS,
        last_of_block=block - 1,
        block_bits=block.bit_length() - 1,
        patience=_PATIENCE,
        courtesy=_COURTESY,
        pause="call void @llvm.x86.sse2.pause()" if x86 else "",
        yields=("declare void @llvm.x86.sse2.pause()\n" if x86 else "")
        + ("" if windows else "declare i32 @sched_yield()"),
        **{"yield": "" if windows else "%yielded = call i32 @sched_yield()"},
    )
    return written_out(text)
