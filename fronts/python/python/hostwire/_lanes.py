"""The memory of groups: each has a slot of the arena of each of its members, and its native part,
`_hostwire.Lanes`, does the rest."""

import threading

from ._hostwire import Lanes
from .errors import CallerError

# The memory for the lanes of one group, and the most groups. Pages take memory when they are first used.
SLOT_BYTES = 2 << 20
SLOTS_MAX = 48
# For each PE: words for four buffers, for the pieces that it has taken, and for its leave.
_WORDS_PER_PE = 6


class Arena:
    """The slots of this PE. All PEs of the job make theirs together, once."""

    def __init__(self, job):
        # A quarter stays for the program. All heaps have the same size, so all PEs have the same number.
        slots = min(SLOTS_MAX, job.free_bytes * 3 // 4 // SLOT_BYTES)
        if slots < 1:
            raise CallerError(
                f"the symmetric heap has {job.free_bytes} free bytes; groups need {2 * SLOT_BYTES} "
                "or more (hostwire run --heap, or HOSTWIRE_HEAP)"
            )
        self.job = job
        self._slot_words = _WORDS_PER_PE * job.pes
        self._data = job.zeros(slots * SLOT_BYTES, "uint8")
        self._words = job.zeros(slots * self._slot_words, "uint64")
        self._free = list(range(slots - 1, -1, -1))
        # Slots of ended groups, each with lanes that say whether other members may still write there.
        self._ended = []
        self._lock = threading.Lock()
        self._made = 0

    def take(self):
        """A slot whose words are zero, and a number that no other group has that begins here."""
        with self._lock:
            quiet = [ended for ended in self._ended if ended[1].are_quiet()]
            self._ended = [ended for ended in self._ended if ended not in quiet]
            self._free += [slot for slot, _ in quiet]
            if not self._free:
                raise CallerError(
                    "too many groups at a time; a larger heap (hostwire run --heap, or "
                    f"HOSTWIRE_HEAP) has room for more, {SLOTS_MAX} at most"
                )
            self._made += 1
            slot, number = self._free.pop(), self._made
        begin = slot * self._slot_words
        self._words.local[begin : begin + self._slot_words] = 0
        return slot, self.job.pe << 16 | number & 0xFFFF

    def give_back(self, slot, lanes):
        """The slot may be taken again, as soon as no member writes there any more."""
        with self._lock:
            self._ended.append((slot, lanes))

    def lanes(self, rank, pes, slots, number):
        """The lanes of member `rank`: `pes` and `slots` are those of all members, by rank, and
        `number` is that of the group, the same at all."""
        arena = self._data, SLOT_BYTES, self._words, self._slot_words
        return Lanes(arena, rank, pes, slots, number)
