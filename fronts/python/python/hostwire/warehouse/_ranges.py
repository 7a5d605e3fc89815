"""Which parts of a memory are free."""

import bisect


class Ranges:
    """The free ranges of `nbytes` bytes. Lengths are rounded up to multiples of `align_bytes`."""

    def __init__(self, nbytes, align_bytes=64):
        self._align_bytes = align_bytes
        # In order, and no two of them touch.
        self._free = [(0, nbytes)] if nbytes else []

    @property
    def free_bytes(self):
        return sum(end - begin for begin, end in self._free)

    def largest(self):
        """The longest free range: `(begin, end)`."""
        return max(self._free, key=lambda each: each[1] - each[0], default=(0, 0))

    def _rounded(self, nbytes):
        return -(-nbytes // self._align_bytes) * self._align_bytes

    def take(self, nbytes):
        """The begin of a range of `nbytes`, of the first that is long enough; None if none is."""
        nbytes = self._rounded(nbytes)
        for place, (begin, end) in enumerate(self._free):
            if end - begin >= nbytes:
                self._cut(place, begin, begin + nbytes)
                return begin
        return None

    def take_at(self, begin, nbytes):
        """Takes the range that begins at `begin`, which is free."""
        place = bisect.bisect_right(self._free, (begin, float("inf"))) - 1
        self._cut(place, begin, begin + self._rounded(nbytes))

    def _cut(self, place, begin, end):
        first, last = self._free[place]
        rest = [(first, begin), (end, last)]
        self._free[place : place + 1] = [each for each in rest if each[0] < each[1]]

    def give(self, begin, nbytes):
        """Makes a range that was taken free again."""
        end = begin + self._rounded(nbytes)
        if begin == end:
            return
        place = bisect.bisect_left(self._free, (begin, end))
        if place < len(self._free) and self._free[place][0] == end:
            end = self._free.pop(place)[1]
        if place and self._free[place - 1][1] == begin:
            begin = self._free.pop(place - 1)[0]
            place -= 1
        self._free.insert(place, (begin, end))
