"""The native code of `pool.py`: helpers that wait for a call, and a leader who makes it and takes part in it.

`@hastega(state, who)`: the state that all share, and which of them this is: 0 leads one call and returns when it is
done, or dismisses the others; these help until then. -1: whoever sleeps looks for a call again for a while.
"""

from __future__ import annotations

CALLS, JOINED, DONE, ASLEEP = range(0, 32, 8)
"""Words that threads write to, each on a cache line of its own: calls so far; the number of the one that can be joined,
above 32 bits for how many helpers did, and whether it is closed; those that are done with it; helpers that sleep."""

CALL, DISMISSED = 32, 33
"""The address of what is called, and whether helpers are to leave instead."""

FUNCTION, WORDS, FOLD, FOLDED, SCRATCH = range(5)
"""The call: code and its first argument; code that the leader goes on with when all are done, if any, and its first
argument; for each thread the second argument of the call."""

CLOSED = 1 << 30
"""Set in JOINED when the leader has nothing left to do: whoever comes later has nothing to do either.

From the start where helpers are to leave: one that was late for the call before would make that one again.
"""

_SPINS = 8000
"""Looks, with a pause each, before a thread sleeps: some 120 to 350 µs, in which the next cell of a loop will come."""

_WAIT, _WAKE, _ALL = 128, 129, 2147483647
"""FUTEX_WAIT and FUTEX_WAKE within one process, and everybody (`man 2 futex`)."""

_FUTEX = {"x86_64": 202, "aarch64": 98}
"""The number of the system call, by architecture."""

_TEXT = """
declare i64 @syscall(i64, ...)
{declared}
define void @hastega(ptr %state, ptr %who) {{
entry:
  %index = ptrtoint ptr %who to i64
  %joined.at = getelementptr i64, ptr %state, i64 {JOINED}
  %done.at = getelementptr i64, ptr %state, i64 {DONE}
  %asleep.at = getelementptr i64, ptr %state, i64 {ASLEEP}
  %call.at = getelementptr i64, ptr %state, i64 {CALL}
  %dismissed.at = getelementptr i64, ptr %state, i64 {DISMISSED}
  %scratch.place = add i64 %index, {SCRATCH}
  %leads = icmp eq i64 %index, 0
  br i1 %leads, label %lead, label %follow

lead:
  %ends.word = load atomic i64, ptr %dismissed.at monotonic, align 8
  %ends = icmp ne i64 %ends.word, 0
  store atomic i32 0, ptr %done.at monotonic, align 64
  %before = load atomic i32, ptr %state monotonic, align 64
  %number = add i32 %before, 1
  %number.wide = zext i32 %number to i64
  %open = shl i64 %number.wide, 32
  %shut = or i64 %open, {CLOSED}
  %opened = select i1 %ends, i64 %shut, i64 %open
  store atomic i64 %opened, ptr %joined.at release, align 64
  %counted.call = atomicrmw add ptr %state, i32 1 seq_cst
  %asleep = load atomic i32, ptr %asleep.at seq_cst, align 64
  %somebody = icmp ne i32 %asleep, 0
  br i1 %somebody, label %wake, label %own
wake:
  {wake_all}
  br label %own
own:
  br i1 %ends, label %leave, label %part
part:
  %led = load ptr, ptr %call.at, align 8
{leader_part}
  %closing = atomicrmw or ptr %joined.at, i64 {CLOSED} acq_rel
  %helpers = trunc i64 %closing to i32
  br label %await
await:
  %await.turn = phi i32 [ 0, %part ], [ %await.next, %await.pause ], [ 0, %await.sleep ]
  %await.done = load atomic i32, ptr %done.at acquire, align 64
  %complete = icmp eq i32 %await.done, %helpers
  br i1 %complete, label %finish, label %await.more
await.more:
  %await.tired = icmp uge i32 %await.turn, {_SPINS}
  br i1 %await.tired, label %await.sleep, label %await.pause
await.pause:
  {pause}
  %await.next = add i32 %await.turn, 1
  br label %await
await.sleep:
  %await.value = zext i32 %await.done to i64
  {wait_done}
  br label %await
finish:
  %fold.at = getelementptr i64, ptr %led, i64 {FOLD}
  %folded.at = getelementptr i64, ptr %led, i64 {FOLDED}
  %fold = load ptr, ptr %fold.at, align 8
  %folded = load ptr, ptr %folded.at, align 8
  %folds = icmp ne ptr %fold, null
  br i1 %folds, label %go.on, label %leave
go.on:
  call void %fold(ptr %folded, ptr null)
  br label %leave

follow:
  %rouses = icmp slt i64 %index, 0
  br i1 %rouses, label %rouse, label %idle
rouse:
  %sleepers = load atomic i32, ptr %asleep.at seq_cst, align 64
  %sleeping = icmp ne i32 %sleepers, 0
  br i1 %sleeping, label %rouse.all, label %leave
rouse.all:
  {rouse_all}
  br label %leave

idle:
  %seen = phi i32 [ 0, %follow ], [ %now, %late ], [ %call, %told ]
  br label %watch
watch:
  %watch.turn = phi i32 [ 0, %idle ], [ %watch.next, %watch.pause ], [ 0, %watch.sleep ]
  %now = load atomic i32, ptr %state acquire, align 64
  %called = icmp ne i32 %now, %seen
  br i1 %called, label %come, label %watch.more
watch.more:
  %watch.tired = icmp uge i32 %watch.turn, {_SPINS}
  br i1 %watch.tired, label %watch.sleep, label %watch.pause
watch.pause:
  {pause}
  %watch.next = add i32 %watch.turn, 1
  br label %watch
watch.sleep:
  %counted = atomicrmw add ptr %asleep.at, i32 1 seq_cst
  %watch.value = zext i32 %seen to i64
  {wait_call}
  %uncounted = atomicrmw sub ptr %asleep.at, i32 1 seq_cst
  br label %watch
come:
  %dismissed = load atomic i64, ptr %dismissed.at monotonic, align 8
  %leaves = icmp ne i64 %dismissed, 0
  br i1 %leaves, label %leave, label %join
join:
  %others = atomicrmw add ptr %joined.at, i64 1 acq_rel
  %count = trunc i64 %others to i32
  %closed = icmp uge i32 %count, {CLOSED}
  br i1 %closed, label %late, label %help
late:
  br label %idle
help:
  %call.wide = lshr i64 %others, 32
  %call = trunc i64 %call.wide to i32
  %joins = load ptr, ptr %call.at, align 8
{helper_part}
  %finished = atomicrmw add ptr %done.at, i32 1 acq_rel
  {wake_leader}
  br label %told
told:
  br label %idle

leave:
  ret void
}}
"""


def supported(triple: str) -> bool:
    """Whether the text can be written for this target: Linux, on an architecture whose system calls are known."""
    return triple.partition("-")[0] in _FUTEX and "linux" in triple


def text(triple: str) -> str:
    """LLVM IR for a target that is supported."""
    architecture = triple.partition("-")[0]
    number = _FUTEX[architecture]

    def futex(name: str, at: str, operation: int, value: str) -> str:
        last = "ptr null, ptr null, i64 0"
        return f"%{name} = call i64 (i64, ...) @syscall(i64 {number}, ptr {at}, i64 {operation}, i64 {value}, {last})"

    x86 = architecture == "x86_64"
    hint = "call void @llvm.x86.sse2.pause()" if x86 else "call void @llvm.aarch64.hint(i32 1)"
    declared = "declare void @llvm.x86.sse2.pause()" if x86 else "declare void @llvm.aarch64.hint(i32)"

    def part(name: str) -> str:
        """Take part in the call whose address has this name."""
        lines = [
            f"  %{name}.{word} = load ptr, ptr %{name}.{word}.at, align 8"
            for word in ("function", "words", "scratch")
        ]
        return f"""
  %{name}.function.at = getelementptr i64, ptr %{name}, i64 {FUNCTION}
  %{name}.words.at = getelementptr i64, ptr %{name}, i64 {WORDS}
  %{name}.scratch.at = getelementptr i64, ptr %{name}, i64 %scratch.place
{chr(10).join(lines)}
  call void %{name}.function(ptr %{name}.words, ptr %{name}.scratch)"""

    return _TEXT.format(
        **{name: value for name, value in globals().items() if isinstance(value, int)},
        declared=declared,
        leader_part=part("led"),
        helper_part=part("joins"),
        pause=hint,
        wake_all=futex("woken", "%state", _WAKE, str(_ALL)),
        rouse_all=futex("roused", "%state", _WAKE, str(_ALL)),
        wake_leader=futex("told.leader", "%done.at", _WAKE, "1"),
        wait_done=futex("awaited", "%done.at", _WAIT, "%await.value"),
        wait_call=futex("watched", "%state", _WAIT, "%watch.value"),
    )


__all__ = [
    "CALL", "CALLS", "DISMISSED", "FOLD", "FOLDED", "FUNCTION", "JOINED", "SCRATCH", "WORDS", "supported", "text",
]  # fmt: skip
