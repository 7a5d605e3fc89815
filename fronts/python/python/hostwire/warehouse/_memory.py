"""The symmetric memory of a warehouse, and what its PEs tell each other.

PE 0 is the *consumer*: engines run there. All others are *owners* of row groups; in a job of one PE
it is both. A *credit* is the right to send into one buffer of the consumer: a message that says
which bytes of the owner go where.
"""

import json
import struct

from ..errors import CallerError

CONSUMER = 0

# Tags of messages.
TO_OWNER = 0x77686F
TO_CONSUMER = 0x776863

# The first byte of a message to an owner.
MOVE, LOAD, LEAVE = 1, 2, 3

_MOVE_HEAD = struct.Struct("<BxxxIQ")
_MOVE_PART = struct.Struct("<QQQ")
# Memory that the warehouse leaves for control words and for other arrays of the program.
_SPARE_BYTES = 1 << 20
_LEAST_BYTES = 4 << 20


class Memory:
    """What all PEs of a warehouse have. Collective."""

    def __init__(self, job, buffer_bytes, store_bytes=None):
        free = job.free_bytes - _SPARE_BYTES
        if free < _LEAST_BYTES:
            raise CallerError(
                f"the symmetric heap has {job.free_bytes} free bytes; a warehouse needs "
                f"{_SPARE_BYTES + _LEAST_BYTES} or more (hostwire run --heap, or HOSTWIRE_HEAP)"
            )
        store_bytes = free if store_bytes is None else store_bytes
        # If there is no room for both, the buffers get up to half of it.
        buffer_bytes = min(buffer_bytes, max(free // 2, free - store_bytes)) // 64 * 64
        store_bytes = min(store_bytes, free - buffer_bytes) // 64 * 64
        self.job = job
        # The buffers of the consumer; nothing on owners.
        self.pool = job.zeros(buffer_bytes, "uint8")
        # The row groups of an owner; nothing on the consumer.
        self.store = job.zeros(store_bytes, "uint8")
        # On the consumer: the number of the last credit that each owner has used, and its number of loaded rows.
        self.done = job.zeros(job.pes, "uint64")
        self.loaded = job.zeros(job.pes, "uint64")

    def owners(self):
        """The owners, in an order in which neighbours are on different hosts if possible."""
        if self.job.pes == 1:
            return [CONSUMER]
        by_node = {}
        for pe in range(1, self.job.pes):
            by_node.setdefault(self.job.node(pe), []).append(pe)
        hosts = list(by_node.values())
        longest = max(map(len, hosts))
        return [host[turn] for turn in range(longest) for host in hosts if turn < len(host)]


def add_part(parts, begin, to, nbytes):
    """Adds a part, to the one before it if it follows that in both memories: one long put takes less time
    than several."""
    if parts:
        last_begin, last_to, last_nbytes = parts[-1]
        if (last_begin + last_nbytes, last_to + last_nbytes) == (begin, to):
            parts[-1] = (last_begin, last_to, last_nbytes + nbytes)
            return
    parts.append((begin, to, nbytes))


def move_message(number, parts):
    """A credit: its number, which is above that of the one before, and `parts`: `(from, to, bytes)`."""
    packed = [_MOVE_PART.pack(*part) for part in parts]
    return _MOVE_HEAD.pack(MOVE, len(packed), number) + b"".join(packed)


def moves_of(message, store_bytes, pool_bytes):
    """The number and the parts of a credit. Raises CallerError if it names what is not there."""
    _, count, number = _MOVE_HEAD.unpack_from(message)
    if len(message) != _MOVE_HEAD.size + count * _MOVE_PART.size:
        raise CallerError(f"a credit for {count} parts has {len(message)} bytes")
    parts = list(_MOVE_PART.iter_unpack(message[_MOVE_HEAD.size :]))
    for begin, to, nbytes in parts:
        if begin + nbytes > store_bytes or to + nbytes > pool_bytes:
            raise CallerError(f"a credit names {nbytes} bytes at {begin} for {to}")
    return number, parts


def command_message(what, command):
    return bytes([what]) + json.dumps(command).encode()


def command_of(message):
    return json.loads(message[1:])
