"""How row groups come to the consumer: by puts of their owners, for credits that it gives.

A *stream* brings row groups of a table in order. It has some *slots* of the consumer's buffers. A
free slot is a credit that goes to the owner of the next row group; a slot that an engine holds is
none. Engines that hold on to batches get copies from then on, so streams go on and the buffers do
not grow.
"""

import collections
import contextlib
import threading
import time

import numpy as np
import pyarrow as pa

from ..errors import CallerError, PeerLost
from ._errors import Damaged
from ._memory import TO_OWNER, add_part, move_message
from ._pieces import array_of, checksum
from ._ranges import Ranges

# How soon a stream notices that another one has found an owner lost.
_LOOK_S = 0.2
# A stream takes at most one part in so many of the buffers, but at least one slot.
_SHARE = 8
_SLOTS_MIN = 4


class Counts:
    """What has moved."""

    def __init__(self):
        self.batches = 0
        self.rows = 0
        self.moved_bytes = 0
        # Part of `moved_bytes`: copied out of the buffers because an engine held on to batches.
        self.copied_bytes = 0
        # The bytes of all opened streams; equal to `moved_bytes` when all are complete.
        self.asked_bytes = 0
        # The time that streams waited for row groups, all streams together.
        self.waited_s = 0.0
        # Row groups that statistics excluded.
        self.pruned_groups = 0
        # Row groups that came from another owner because theirs was lost, and damaged ones that were
        # asked for again.
        self.lost_groups = 0
        self.damaged_groups = 0
        self.buffers_bytes = 0
        self.buffers_most_bytes = 0


class Flow:
    """The credits of the consumer."""

    def __init__(self, memory):
        self.memory = memory
        self.owners = memory.owners()
        self.lost = set()
        self.counts = Counts()
        # Held for a few instructions; no Python object with a finaliser of ours is dropped meanwhile.
        self._lock = threading.Lock()
        # Held while `sweep` takes slots back.
        self._sweeping = threading.Lock()
        self._ranges = Ranges(len(memory.pool))
        # The number of the last credit of each owner, sent or not.
        self._numbers = dict.fromkeys(self.owners, 0)
        self._order = {pe: threading.Lock() for pe in self.owners}
        # The buffers, and the words that owners write.
        self.pool = memory.pool.local
        self.address = self.pool.ctypes.data
        # Streams that have ended. Appended to from finalisers, in any thread, where no lock may be
        # taken; `sweep` does the rest.
        self.ended = collections.deque()
        # Ended streams of which engines still hold slots.
        self._held = []

    def alive(self, group):
        """Where a row group still is."""
        return [home for home in group.homes if home[0] not in self.lost]

    def take(self, nbytes, wanted):
        """Up to `wanted` slots of `nbytes`. Raises CallerError if there is not even one."""
        self.sweep()
        with self._lock:
            share = len(self.pool) // _SHARE
            wanted = max(1, min(wanted, share // max(nbytes, 1)))
            slots = []
            while len(slots) < wanted:
                at = self._ranges.take(nbytes)
                if at is None:
                    break
                slots.append(at)
            self._count()
        if not slots:
            raise CallerError(
                f"the buffers of {len(self.pool)} bytes have no room for batches of {nbytes} bytes "
                f"beside those that are in use (--buffers)"
            )
        return slots

    def _count(self):
        used = len(self.pool) - self._ranges.free_bytes
        self.counts.buffers_bytes = used
        self.counts.buffers_most_bytes = max(self.counts.buffers_most_bytes, used)

    def enter(self, catalogue):
        """A stream of a table begins: its memory is not given back before `sweep` has seen the end of it."""
        with self._lock:
            if not catalogue.is_dropped:
                catalogue.streams += 1
                return
        raise CallerError(f"the table {catalogue.name} was dropped")

    def drop(self, catalogue):
        """No stream of a table begins any more. Those that there are go on."""
        with self._lock:
            catalogue.is_dropped = True

    def sweep(self):
        """Takes back the slots of streams that have ended. What Ctrl-C ends is done by the next one."""
        with self._sweeping:
            while self.ended:
                each = self.ended[0]
                while each.flying:
                    # The owner may still store into it.
                    self._settle(each.flying[0])
                    each.free.append(each.flying.popleft().slot)
                with self._lock:
                    self._held.append(self.ended.popleft())
                    each.catalogue.streams -= 1
        with self._lock:
            for each in self._held:
                while each.returned:
                    each.free.append(each.returned.popleft())
                    each.held -= 1
                while each.free:
                    self._ranges.give(each.free.pop(), each.nbytes)
            self._held = [each for each in self._held if each.held]
            self._count()

    def ask(self, credit, parts):
        """Gives the owner at `credit.home` a credit. Raises PeerLost."""
        pe = credit.home[0]
        # Messages go out in the order of their numbers. No reply needs this lock.
        with self._order[pe]:
            # Ctrl-C may interrupt anywhere, so a number is never used twice: the number of a message that was not
            # sent is skipped. `is_sent` is None while it is unknown.
            self._numbers[pe] += 1
            credit.is_sent = None
            credit.number = self._numbers[pe]
            try:
                self.memory.job.send(pe, move_message(credit.number, parts), TO_OWNER)
            except PeerLost as lost:
                self.lost.add(lost.pe)
                raise
            credit.is_sent = True

    def _settle(self, credit):
        """Waits until no owner stores into the slot of a credit."""
        if credit.is_sent is None:
            # If the owner got the credit, it has used it when it has used the next one.
            with contextlib.suppress(PeerLost):
                self.ask(credit, [])
        if credit.is_sent is not False:
            self.wait(credit.home[0], credit.number)

    def wait(self, pe, number):
        """Waits until PE `pe` has used its credit: whether it has. If not, it is lost."""
        done = self.memory.done
        while pe not in self.lost:
            try:
                if done.wait_until(">=", number, pe, timeout_s=_LOOK_S):
                    return True
            except PeerLost as lost:
                self.lost.add(lost.pe)
        # The row group may have come before the loss.
        return done.test(">=", number, pe)


class _Credit:
    """A row group that is on its way into a slot."""

    __slots__ = ("group", "home", "is_sent", "number", "slot", "tried")

    def __init__(self, group, slot):
        self.group = group
        self.slot = slot
        self.home = None
        self.number = 0
        self.is_sent = False
        self.tried = set()


class _Slot:
    """Keeps a slot taken for as long as arrays lie in it."""

    __slots__ = ("_at", "_returned")

    def __init__(self, at, returned):
        self._at = at
        self._returned = returned

    def __del__(self):
        # Appending is all that is safe here: finalisers run at any place.
        self._returned.append(self._at)


class _Slots:
    """The slots of a stream."""

    def __init__(self, catalogue, nbytes):
        self.catalogue = catalogue
        self.nbytes = nbytes
        self.free = []
        # The credits that are under way, in order.
        self.flying = collections.deque()
        # How many slots engines hold, and the slots that they have given back.
        self.held = 0
        self.returned = collections.deque()


class Stream:
    """Iterates over record batches: the columns `columns`, by number, of row groups.

    Used by one thread at a time. Slots that engines hold when it ends come back later.
    """

    def __init__(self, flow, catalogue, groups, columns):
        self._flow = flow
        self._name = catalogue.name
        self.schema = pa.schema([catalogue.schema.field(column) for column in columns])
        self._columns = columns
        # The row group of the batch that came last.
        self.group = None
        self._groups = collections.deque(groups)
        self._has_ended = False
        flow.enter(catalogue)
        # From here on `end` ends the stream, also if there is no room.
        self._slots = _Slots(catalogue, max(map(self._bytes_of, groups), default=0))
        if self._groups and self._columns:
            wanted = min(len(groups), max(_SLOTS_MIN, 2 * len(flow.owners) + 2))
            self._slots.free = flow.take(self._slots.nbytes, wanted)
        # An engine holds at most half of the slots.
        self._held_max = len(self._slots.free) // 2

    @property
    def bytes_left(self):
        """What has not been asked for."""
        return sum(map(self._bytes_of, self._groups))

    def _bytes_of(self, group):
        return sum(group.pieces[column].nbytes for column in self._columns)

    def __iter__(self):
        return self

    def __next__(self):
        if self._has_ended:
            raise StopIteration
        try:
            if not self._columns:
                return self._of_rows_alone()
            self._give_credits()
            if not self._slots.flying:
                raise StopIteration
            return self._next()
        except BaseException:
            self.end()
            raise

    def _of_rows_alone(self):
        """Nothing moves where only rows are counted."""
        if not self._groups:
            raise StopIteration
        self.group = self._groups.popleft()
        empty = pa.array([{}] * self.group.rows, pa.struct([]))
        return pa.RecordBatch.from_struct_array(empty)

    def _give_credits(self):
        slots = self._slots
        while slots.returned:
            slots.free.append(slots.returned.popleft())
            slots.held -= 1
        while slots.free and self._groups:
            credit = _Credit(self._groups.popleft(), slots.free.pop())
            slots.flying.append(credit)
            self._ask(credit)

    def _ask(self, credit):
        """Asks a home of a row group for it, one that has not been asked if possible."""
        group = credit.group
        while True:
            # An earlier credit has been used, or its owner is lost.
            credit.is_sent = False
            homes = self._flow.alive(group)
            if not homes:
                self._refuse(group)
            # The homes that have been asked come last.
            credit.home = min(homes, key=lambda home: home[0] in credit.tried)
            pe, begin = credit.home
            parts, to = [], credit.slot
            for column in self._columns:
                piece = group.pieces[column]
                if piece.nbytes:
                    add_part(parts, begin + piece.at, to, piece.nbytes)
                    to += piece.nbytes
            if not parts:
                credit.number = 0
                return
            try:
                self._flow.ask(credit, parts)
            except PeerLost:
                continue
            self._flow.counts.lost_groups += group.homes[0][0] in self._flow.lost
            return

    def _refuse(self, group):
        pe = group.homes[0][0]
        only = [each for each in (group, *self._groups) if not self._flow.alive(each)]
        where = " and ".join(f"PE {home[0]}" for home in group.homes)
        is_one = len(group.homes) == 1
        error = PeerLost(
            f"{where} {'is' if is_one else 'are'} lost, and with {'it' if is_one else 'them'} "
            f"{len(only)} row groups that this query of {self._name} needs; a warehouse that is "
            f"loaded with {'--copies 2' if is_one else 'more copies'} goes on without"
        )
        error.pe = pe
        raise error

    def _next(self):
        # It stays under way until it has come, also if an exception ends this call.
        credit = self._slots.flying[0]
        counts = self._flow.counts
        while True:
            pe = credit.home[0]
            begin = time.perf_counter()
            has_come = self._flow.wait(pe, credit.number)
            counts.waited_s += time.perf_counter() - begin
            if not has_come:
                self._ask(credit)
                continue
            damage = self._damage(credit)
            if damage is None:
                self._slots.flying.popleft()
                return self._batch(credit)
            counts.damaged_groups += 1
            credit.tried.add(pe)
            if all(home[0] in credit.tried for home in self._flow.alive(credit.group)):
                raise Damaged(pe, damage)
            self._ask(credit)

    def _damage(self, credit):
        """What is wrong with what has come."""
        at = credit.slot
        for column in self._columns:
            piece = credit.group.pieces[column]
            got = checksum(self._flow.pool[at : at + piece.nbytes])
            if got != piece.checksum:
                field = self.schema.field(self._columns.index(column))
                return (
                    f"row group {credit.group.label} of {self._name}, column {field.name}, is "
                    f"damaged: its checksum is {got:016x}, not {piece.checksum:016x}; it came from "
                    f"PE {credit.home[0]}"
                )
            at += piece.nbytes
        return None

    def _batch(self, credit):
        flow, slots, group, at = self._flow, self._slots, credit.group, credit.slot
        self.group = group
        nbytes = self._bytes_of(group)
        # At the end of the table the last slots are not needed as credits.
        if slots.held < self._held_max or not self._groups:
            slots.held += 1
            owner = (_Slot(at, slots.returned), flow.pool)
            memory = pa.foreign_buffer(flow.address + at, nbytes, owner)
        else:
            memory = pa.allocate_buffer(nbytes)
            np.copyto(np.frombuffer(memory, "uint8"), flow.pool[at : at + nbytes])
            flow.counts.copied_bytes += nbytes
            slots.free.append(at)
        arrays, begin = [], 0
        for place, column in enumerate(self._columns):
            piece = group.pieces[column]
            buffer = memory.slice(begin, piece.nbytes)
            try:
                arrays.append(array_of(self.schema.field(place).type, piece, buffer))
            except pa.ArrowInvalid as error:
                pe = credit.home[0]
                text = f"the catalogue of PE {pe} does not fit column {place} of {self._name}"
                raise Damaged(pe, f"{text}: {error}") from error
            begin += piece.nbytes
        counts = flow.counts
        counts.batches += 1
        counts.rows += group.rows
        counts.moved_bytes += nbytes
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def end(self):
        """Ends the stream. Takes no time and no lock: `Flow.sweep` gives the slots back."""
        if not self._has_ended:
            self._has_ended = True
            self._groups.clear()
            self._flow.ended.append(self._slots)

    def __del__(self):
        # Not if `__init__` failed.
        if hasattr(self, "_slots"):
            self.end()
