"""Compaction: the values under a mask, which lie at their elements' own places, moved together in order.

The loop left a column of 64 mask bits per virtual lane; transposed they are rows of 64 neighbouring elements.
"""

from __future__ import annotations

from hastega_magic.ir.device import GROUP
from hastega_magic.ir.schedule import BLOCK

_WORDS = {1: "uchar", 4: "uint", 8: "ulong"}

_PARAMETERS = """const long length, __global const ulong *restrict columns, __global const long *restrict starts,
        __global const {word} *restrict from, __global {word} *restrict to"""

_ITEMS = """__kernel void pack{size}({parameters}) {{
    const long number = get_global_id(0);
    ulong rows[64];
    for (int l = 0; l < 64; ++l) rows[l] = columns[number * 64 + l];
    ulong bits = 0x00000000ffffffffUL;
    for (int j = 32; j != 0; j >>= 1, bits ^= bits << j) {{
        for (int k = 0; k < 64; k = (k + j + 1) & ~j) {{
            const ulong changed = ((rows[k] >> j) ^ rows[k + j]) & bits;
            rows[k] ^= changed << j;
            rows[k + j] ^= changed;
        }}
    }}
    long place = starts[number];
    for (int row = 0; row < 64; ++row) {{
        const long at = number * {block} + row * 64;
        ulong left = rows[row];
        if (left == ~0UL) {{
            for (int l = 0; l < 64; ++l) to[place + l] = from[at + l];
            place += 64;
        }} else while (left) {{
            to[place++] = from[at + popcount((left & -left) - 1)];
            left &= left - 1;
        }}
    }}
}}
"""

_GROUPS = """__kernel __attribute__((reqd_work_group_size({group}, 1, 1)))
void pack{size}({parameters}) {{
    const int lane = get_local_id(0);
    const long number = get_group_id(0);
    __local ulong column[64];
    __local ulong rows[64];
    __local long places[64];
    column[lane] = columns[number * 64 + lane];
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong mine = 0;
    for (int l = 0; l < 64; ++l) mine |= (column[l] >> lane & 1UL) << l;
    rows[lane] = mine;
    places[lane] = popcount(mine);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < 64; step *= 2) {{
        const long before = lane >= step ? places[lane - step] : 0L;
        barrier(CLK_LOCAL_MEM_FENCE);
        places[lane] += before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }}
    for (int row = 0; row < 64; ++row) {{
        const ulong all = rows[row];
        if (all >> lane & 1UL) {{
            const long start = starts[number] + places[row] - (long)popcount(all);
            const ulong below = all & ((1UL << lane) - 1);
            to[start + (long)popcount(below)] = from[number * {block} + row * 64 + lane];
        }}
    }}
}}
"""


def emit(sizes: set[int], groups: bool) -> str:
    """Kernels `pack<size>` for the element sizes, in the form for GPUs or for CPUs."""
    form = _GROUPS if groups else _ITEMS
    return "\n".join(
        form.format(size=size, parameters=_PARAMETERS.format(word=_WORDS[size]), block=BLOCK, group=GROUP)
        for size in sorted(sizes)
    )
