"""Collective operations of a group, on bytes, over its lanes.

Values are arrays of `uint8` whose elements lie behind each other. What combines does it by
`combine(out, left, right)`, which computes `out = left (op) right` element by element; `out` may be
either of the two. All ranks combine in the order of ranks, so all get the same bits.
"""

from ._lanes import ALIGN_BYTES, KINDS, Lanes

# All-reduces up to this size send all to all, at once. Larger ones move less by two steps.
ONE_SHOT_BYTES = 64 << 10
# A larger one goes in pieces of at most this size: in one, ranks wait for each other; in small ones,
# what was put is still in the cache when it is combined. Fitted.
PIECE_BYTES = 256 << 10

_ALL_REDUCE = KINDS.index("all_reduce")
_REDUCE = KINDS.index("reduce")
_REDUCE_SCATTER = KINDS.index("reduce_scatter")
_BARRIER = KINDS.index("barrier")


class Collectives:
    """The operations of one member. One at a time; after an error, none."""

    def __init__(self, lanes: Lanes):
        self.lanes = lanes
        self.rank, self.size = lanes.rank, lanes.size
        # Each rank begins with another, so that they do not all put to the same one.
        self._others = [(self.rank + step) % self.size for step in range(1, self.size)]
        self._one_shot_bytes = min(ONE_SHOT_BYTES, lanes.buffer_bytes)
        self._piece_bytes = min(PIECE_BYTES, lanes.buffer_bytes)

    def all_reduce(self, values, combine):
        """Combines `values` of all ranks, in place."""
        if self.size == 1:
            return
        if values.size <= self._one_shot_bytes:
            # Nobody is waited for if there is nothing.
            if values.size:
                for other in self._others:
                    self.lanes.put(other, values, _ALL_REDUCE)
                self._combine(values, combine, _ALL_REDUCE)
            return
        block = self._piece_bytes * self.size
        for begin in range(0, values.size, block):
            self._reduce_block(values[begin : begin + block], combine)

    def _reduce_block(self, block, combine):
        """Each rank combines a piece of its own, and puts it to all."""
        step = -(-block.size // self.size)
        step = -(-step // ALIGN_BYTES) * ALIGN_BYTES
        pieces = [block[rank * step : (rank + 1) * step] for rank in range(self.size)]
        own = pieces[self.rank]
        for other in self._others:
            if pieces[other].size:
                self.lanes.put(other, pieces[other], _ALL_REDUCE)
        if own.size:
            self._combine(own, combine, _ALL_REDUCE)
            for other in self._others:
                self.lanes.put(other, own, _ALL_REDUCE)
        for other in self._others:
            if pieces[other].size:
                self._copy(other, pieces[other], _ALL_REDUCE)

    def _combine(self, own, combine, kind):
        """Takes values from all others, and combines them with `own`, in the order of ranks."""
        total = None
        for rank in range(self.size):
            values = own if rank == self.rank else self.lanes.take(rank, own.size, kind)
            if total is None:
                total, first = values, rank
                continue
            # What has been combined so far is in a buffer of the first rank, then in `own`.
            out = own if rank >= self.rank else total
            combine(out, total, values)
            total = out
            if rank != self.rank:
                self.lanes.release(rank)
            if out is own and first is not None:
                if first != self.rank:
                    self.lanes.release(first)
                first = None

    def _copy(self, source, out, kind):
        out[:] = self.lanes.take(source, out.size, kind)
        self.lanes.release(source)

    def reduce(self, values, combine, root):
        """Combines `values` of all ranks in those of rank `root`. Those of the others stay."""
        for begin in range(0, values.size, self.lanes.buffer_bytes):
            piece = values[begin : begin + self.lanes.buffer_bytes]
            if self.rank == root:
                self._combine(piece, combine, _REDUCE)
            else:
                self.lanes.put(root, piece, _REDUCE)

    def reduce_scatter(self, values, out, combine):
        """Combines `values[i]` of all ranks in `out` of rank `i`."""
        out[:] = values[self.rank]
        if self.size == 1:
            return
        step = self._piece_bytes
        longest = max(part.size for part in values)
        for begin in range(0, longest, step):
            for other in self._others:
                piece = values[other][begin : begin + step]
                if piece.size:
                    self.lanes.put(other, piece, _REDUCE_SCATTER)
            own = out[begin : begin + step]
            if own.size:
                self._combine(own, combine, _REDUCE_SCATTER)

    def exchange(self, values, outs, name):
        """Sends `values[i]` to rank `i`, and receives `outs[i]` from it. Any of them may be empty."""
        kind = KINDS.index(name)
        if outs[self.rank].size:
            outs[self.rank][:] = values[self.rank]
        step = self.lanes.buffer_bytes
        longest = max(part.size for part in (*values, *outs))
        for begin in range(0, longest, step):
            for other in self._others:
                piece = values[other][begin : begin + step]
                if piece.size:
                    self.lanes.put(other, piece, kind)
            for other in reversed(self._others):
                piece = outs[other][begin : begin + step]
                if piece.size:
                    self._copy(other, piece, kind)

    def barrier(self):
        """Waits for all ranks."""
        nothing = self.lanes.nothing
        distance = 1
        while distance < self.size:
            to, source = (self.rank + distance) % self.size, (self.rank - distance) % self.size
            self.lanes.put(to, nothing, _BARRIER)
            self.lanes.take(source, 0, _BARRIER)
            self.lanes.release(source)
            distance *= 2
