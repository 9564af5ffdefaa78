"""The calling convention between generated CPU code and the runtime: one array of 8-byte words.

`void hastega(ptr words, ptr scratch)` is called by every thread with the same words and a scratch area of its own.
Threads claim blocks through shared counters: of their own part of the blocks first, then of others', or in order where
results are packed. All words are int64 or addresses.
"""

from __future__ import annotations

from itertools import pairwise

from hastega_magic.ir.counted import end_soon
from hastega_magic.ir.expr import postorder
from hastega_magic.ir.kernel import Accumulate, Kernel, Store
from hastega_magic.ir.scan import ROW
from hastega_magic.ir.schedule import BLOCK, HANDOVER, VIRTUAL_LANES
from hastega_magic.records import cached_property, dataclass

ENTRY = "hastega"

LENGTH, BLOCKS, BLOCK_LIST, STATUS, SHARED, COUNTS, ORIGIN, HANDED, OTHERS, SPAN, BACK = range(11)
"""Words: elements; blocks to run; their numbers (int64 each; 0: all in order); a status byte per block; the
shared words; per
block and packed group the number of elements kept; the number of the first element (not zero where a
source comes in pieces); how many blocks are claimed at once, and handed over where results are packed; how many other
parts of the blocks there are than a thread's own, where they are not claimed in order, and how long each is; not zero
where each part is gone through from its end."""

HEADER = 11

NEXT, STOP, TURN, FLAGS, POSITIONS = 0, 8, 16, 24, 32
"""Shared words, each on a cache line of its own (offsets in words): next block to claim, request to stop, blocks
published in order,
disjunction of all statuses, and the elements published per packed group (8 words apart)."""

CLAIMS = POSITIONS
"""Where nothing is packed: of each part, 8 words apart, how many of its blocks were claimed."""

MOST_PARTS = 8
"""Of blocks, a power of two. A thread that finds its part done looks into all others, so there are not to be many."""

LINE = 8

SLACK = VIRTUAL_LANES
"""Elements that a packed store may write past the last kept one."""

ROOM = BLOCK + SLACK + BLOCK // ROW + SLACK
"""8-byte places for a block of a packed store in a thread's scratch: elements, then a total for each row of them."""

ALIGNMENT = 64
"""Of a thread's scratch: vectors in it do not lie across cache lines."""

OWN = ALIGNMENT
"""Bytes at the beginning of a thread's scratch: the first word is its number, which is read where there are parts."""


def aligned(address: int) -> int:
    """The first aligned address from here on."""
    return -(-address // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True)
class Layout:
    """Where a kernel's operands stand among the words.

    A source takes two words: base address and stride in bytes, or start and step of a range. A table takes three:
    base, stride, length. A store takes one: the result's address. An accumulation takes one: the address of its
    partial results, one or two words per block. `groups` maps the stores with a mask, or with running values, to
    packed groups.
    """

    sources: int
    tables: int
    stores: tuple[Store, ...]
    folds: tuple[Accumulate, ...]
    groups: tuple[int | None, ...]
    turns: bool = False
    """Whether elements make turns of loops of their own."""
    lasting: bool = False
    """Whether these may be many, so that a block may take any time."""
    grain: int = 1
    """Blocks that a thread claims at once at most, where nothing is packed."""
    trailing: bool = False
    """Whether packed results are written while their thread computes what it claims next, so that it packs into one
    half of its scratch and writes from the other."""

    def source(self, slot: int) -> int:
        """First word of a source."""
        return HEADER + 2 * slot

    def table(self, slot: int) -> int:
        """First word of a table."""
        return HEADER + 2 * self.sources + 3 * slot

    def store(self, number: int) -> int:
        """The word of store number `number`."""
        return HEADER + 2 * self.sources + 3 * self.tables + number

    @cached_property
    def rooms(self) -> tuple[tuple[Store, ...], ...]:
        """The stores, in their order, by the arrays that their results lie in: those of a record in one."""
        places = [place for place, store in enumerate(self.stores) if store.fields == 1 or not store.part]
        return tuple(self.stores[place:end] for place, end in pairwise([*places, len(self.stores)]))

    def fold(self, number: int) -> int:
        """The word of accumulation number `number`."""
        return self.store(len(self.stores)) + number

    @property
    def words(self) -> int:
        """How many words there are."""
        return self.fold(len(self.folds))

    @property
    def group_count(self) -> int:
        """How many different masks stores are packed under."""
        return 1 + max((group for group in self.groups if group is not None), default=-1)

    def carry(self, number: int) -> int:
        """The shared word that holds the running value of store number `number` after the blocks published so far."""
        return POSITIONS + LINE * (max(1, self.group_count) + number)

    @cached_property
    def shared_words(self) -> int:
        """Size of the shared area."""
        if not self.group_count:
            return CLAIMS + LINE * MOST_PARTS
        running = any(store.running for store in self.stores)
        return self.carry(len(self.stores) if running else 0)

    @property
    def _packed(self) -> int:
        return sum(group is not None for group in self.groups)

    @property
    def handover(self) -> int:
        """Blocks at most that a thread hands over at once."""
        return max(1, HANDOVER // max(1, self._packed))

    def handed(self, blocks: int, threads: int) -> int:
        """Blocks to claim at once: every thread is to get several such runs, and some blocks may take any time."""
        if self.lasting:
            return 1
        if self.group_count:
            return max(1, min(self.handover, blocks // (4 * threads)))
        return max(1, min(self.grain, blocks // (8 * threads)))

    def parts(self, blocks: int, threads: int) -> tuple[int, int]:
        """How many others there are than a thread's own, which it may have in its caches, and the blocks of each.

        Where there are results, parts gained nothing.
        """
        count = 1 if self.stores else min(threads, MOST_PARTS)
        return count - 1, -(-blocks // count)

    @property
    def half_bytes(self) -> int:
        """Room for what a thread packs at once of a store; such halves follow each other where results trail."""
        return self.handover * ROOM * 8

    @property
    def room_bytes(self) -> int:
        """A packed store's part of the scratch."""
        return self.half_bytes * (2 if self.trailing else 1)

    @cached_property
    def scratch_bytes(self) -> int:
        """Scratch that a thread needs: its number, and of every packed store room for what it hands over at once."""
        return OWN + self._packed * self.room_bytes


def layout(kernel: Kernel) -> Layout:
    """The layout of a kernel's words, which a kernel that runs again and again keeps."""
    found: Layout | None = vars(kernel).get("_layout")
    if found is None:
        found = vars(kernel)["_layout"] = _layout(kernel)
    return found


def _layout(kernel: Kernel) -> Layout:
    stores = tuple(sorted(kernel.of(Store), key=lambda store: store.slot))
    masks: list[object] = []
    groups: list[int | None] = []
    for store in stores:
        if store.mask is None and not store.running:
            groups.append(None)
            continue
        if store.mask not in masks:
            masks.append(store.mask)
        groups.append(masks.index(store.mask))
    # Of a loop that no element makes there is no guard.
    steps = [root for store in stores if store.step is not None for root in store.step.roots()]
    roots = [*kernel.roots(), *steps]
    turns = any(node.op == "turns" for node in postorder(roots))
    running = any(store.running for store in stores)
    return Layout(
        len(kernel.sources),
        len(kernel.tables),
        stores,
        tuple(kernel.of(Accumulate)),
        tuple(groups),
        turns,
        turns and not end_soon(roots),
        kernel.schedule.grain,
        bool(masks) and kernel.schedule.stream and not (turns or running or kernel.schedule.refill),
    )
