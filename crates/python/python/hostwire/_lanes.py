"""Lanes between the members of a group, over symmetric memory.

A *group* is any set of PEs, and PEs outside it take no part in making it: what the members need to
know of each other they exchange by other means. Each member has a *slot* of its arena, and each
pair of members a *lane* in each direction: two buffers in the slot of the receiver, a word for each
that says what is in it, and in the slot of the sender a word by which the receiver gives buffers
back. All of it is puts.
"""

import threading
import time

import numpy as np

from .errors import CallerError

# Memory for the lanes of one group, and so many groups. Pages take memory when they are first used.
SLOT_BYTES = 2 << 20
SLOTS_MAX = 48
# Parts of a buffer and of a block of values begin at multiples of this: any element fits.
ALIGN_BYTES = 64

# What the word of a buffer says: bytes, the operation, and the number of the piece.
_LEN_BITS = 24
_KIND_BITS = 4
_LEN_MASK = (1 << _LEN_BITS) - 1
_KIND_MASK = (1 << _KIND_BITS) - 1
_NUMBER_MASK = (1 << (64 - _LEN_BITS - _KIND_BITS)) - 1

# The operations, to notice that members call different ones.
KINDS = (
    "nothing",
    "all_reduce",
    "reduce",
    "reduce_scatter",
    "all_gather",
    "all_to_all",
    "broadcast",
    "gather",
    "scatter",
    "barrier",
)


class Arena:
    """The slots of this PE. All PEs of the job make theirs together, once."""

    def __init__(self, job):
        # A quarter stays for the program. All heaps are alike, so the number is.
        slots = min(SLOTS_MAX, job.free_bytes * 3 // 4 // SLOT_BYTES)
        if slots < 1:
            raise CallerError(
                f"the symmetric heap has {job.free_bytes} free bytes; groups need {2 * SLOT_BYTES} "
                "or more (hostwire run --heap, or HOSTWIRE_HEAP)"
            )
        self.job = job
        self.words_per_slot = 3 * job.pes
        self.data = job.zeros(slots * SLOT_BYTES, "uint8")
        self.words = job.zeros(slots * self.words_per_slot, "uint64")
        self._free = list(range(slots - 1, -1, -1))
        # Slots of groups that have ended: with them, whether others may still write there.
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
        begin = slot * self.words_per_slot
        self.words.local[begin : begin + self.words_per_slot] = 0
        return slot, self.job.pe << 16 | number & 0xFFFF

    def give_back(self, slot, lanes):
        """The slot may be taken again, as soon as no member writes there any more."""
        with self._lock:
            self._ended.append((slot, lanes))


class Lanes:
    """The lanes of this member: `pes` and `slots` are those of all members, by rank."""

    def __init__(self, arena, rank, pes, slots):
        size = len(pes)
        self.rank, self.size, self.pes = rank, size, pes
        # Two buffers for each member, each the same at all.
        self.buffer_bytes = SLOT_BYTES // (2 * size) // ALIGN_BYTES * ALIGN_BYTES
        if self.buffer_bytes == 0:
            raise CallerError(f"a group has {SLOT_BYTES // 2 // ALIGN_BYTES} members at most")
        self._data, self._words = arena.data, arena.words
        self._slot_words = arena.words_per_slot
        self._job_pes = arena.job.pes
        self._local_words = arena.words.local
        own = slots[rank]
        # Where things are here. Words: two for each member that sends, then one for each that this
        # one sends to.
        data = own * SLOT_BYTES
        self._word_base = own * self._slot_words
        self._taken_base = self._word_base + 2 * self._job_pes
        local = arena.data.local
        lane_bytes = 2 * self.buffer_bytes
        self._buffers = [
            [local[begin : begin + self.buffer_bytes] for begin in (at, at + self.buffer_bytes)]
            for at in (data + member * lane_bytes for member in range(size))
        ]
        # Where this member's things are at the others.
        self._far_data = [slot * SLOT_BYTES + rank * lane_bytes for slot in slots]
        self._far_word = [slot * self._slot_words + 2 * rank for slot in slots]
        self._far_taken = [slot * self._slot_words + 2 * self._job_pes + rank for slot in slots]
        self._sent = [0] * size
        self._known_taken = [0] * size
        self._received = [0] * size
        self._last_words = [[0, 0] for _ in range(size)]
        self.nothing = np.empty(0, np.uint8)
        self._waits = (self._deadline_of(None), None)

    @staticmethod
    def _deadline_of(timeout_s):
        return None if timeout_s is None else time.monotonic() + timeout_s

    def limit(self, timeout_s):
        """All waits from here on end after so many seconds together; never, if that is None."""
        self._waits = (self._deadline_of(timeout_s), timeout_s)

    def put(self, to, values, kind):
        """Sends `values`, bytes, at most a buffer, to member `to`. Waits for a free buffer."""
        number = self._sent[to]
        if number - self._known_taken[to] >= 2:
            self._await_room(to, number - 1)
        number += 1
        size_bytes = values.size
        half = number & 1
        word = ((number & _NUMBER_MASK) << _KIND_BITS | kind) << _LEN_BITS | size_bytes
        pe, signal_index = self.pes[to], self._far_word[to] + half
        index = self._far_data[to] + half * self.buffer_bytes
        self._data.put_signal(pe, values, self._words, word, index, signal_index)
        self._sent[to] = number

    def take(self, source, size_bytes, kind):
        """The next values of member `source`, here, until `release`. Waits for them."""
        number = self._received[source] + 1
        half = number & 1
        last = self._last_words[source]
        index = self._word_base + 2 * source + half
        self._await(self._words, "!=", last[half], index, source)
        word = int(self._local_words[index])
        got = word & _LEN_MASK
        got_kind = word >> _LEN_BITS & _KIND_MASK
        if got_kind != kind or got != size_bytes:
            name = KINDS[got_kind] if got_kind < len(KINDS) else f"operation {got_kind}"
            raise CallerError(
                f"rank {source} (PE {self.pes[source]}) sent {got} bytes in {name}; this rank "
                f"expects {size_bytes} in {KINDS[kind]}: all ranks have to call the same "
                "operations, in the same order, with the same sizes"
            )
        if word >> (_LEN_BITS + _KIND_BITS) != number & _NUMBER_MASK:
            raise CallerError(f"rank {source} (PE {self.pes[source]}) is out of step")
        last[half] = word
        return self._buffers[source][half][:size_bytes]

    def release(self, source):
        """Gives the buffer back that `take` gave last."""
        number = self._received[source] + 1
        self._received[source] = number
        pe, index = self.pes[source], self._far_taken[source]
        # A signal is not seen before what this member has done with the buffer.
        self._data.put_signal(pe, self.nothing, self._words, number, 0, index)

    def are_quiet(self):
        """Whether all that this member has sent was taken: nobody writes its slot any more."""
        taken = self._local_words[self._taken_base : self._taken_base + self.size]
        return taken.tolist() == self._sent

    def _await_room(self, to, number):
        """Waits until member `to` has taken piece `number`, so that its buffer is free."""
        index = self._taken_base + to
        self._await(self._words, ">=", number, index, to)
        # What a peer says is only compared: a wrong one harms no more than its own data.
        self._known_taken[to] = min(int(self._local_words[index]), self._sent[to])

    def _await(self, words, sign, value, index, member):
        deadline, timeout_s = self._waits
        if deadline is None:
            words.wait_until(sign, value, index)
            return
        left_s = max(0.0, deadline - time.monotonic())
        if not words.wait_until(sign, value, index, left_s):
            raise TimeoutError(
                f"rank {member} (PE {self.pes[member]}) has not done its part within "
                f"{timeout_s:g} s"
            )
