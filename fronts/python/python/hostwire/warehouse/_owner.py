"""Owners: they load row groups into their memory, and put them where credits say."""

import math
import struct

import pyarrow.parquet as pq

from ..errors import CallerError, Error, PeerLost
from . import _tpch
from ._catalogue import Entries
from ._memory import CONSUMER, LEAVE, LOAD, MOVE, TO_CONSUMER, TO_OWNER, command_of, moves_of
from ._pieces import pack, plain, plain_schema, statistics

# The first byte of an answer.
DONE, REFUSED = b"\0", b"\1"
# An answer begins with the number of its command.
_NUMBER = struct.Struct("<I")
# A file with at least as many row groups for each owner is distributed by whole row groups.
_WHOLE_FROM = 4


def serve(memory):
    """Does what the consumer asks for until it says that this is all: whether all PEs leave together
    then."""
    parts = _tpch.Parts()
    try:
        while True:
            message = _message(memory.job)
            if message[0] == MOVE:
                _move(memory, message)
            elif message[0] == LOAD:
                command = command_of(message)
                answer = _NUMBER.pack(command["number"]) + _load(memory, command, parts)
                memory.job.send(CONSUMER, answer, TO_CONSUMER)
                # The consumer waits for this word.
                memory.loaded.fetch_add(CONSUMER, 1, memory.job.pe)
            elif message[0] == LEAVE:
                return command_of(message)["in_peace"]
    finally:
        parts.clear()


def numbered(answer):
    """The number of the command that is answered, and the answer."""
    return _NUMBER.unpack_from(answer)[0], answer[_NUMBER.size :]


def _message(job):
    """The next message of the consumer."""
    while True:
        try:
            return job.recv(CONSUMER, TO_OWNER).data
        except PeerLost as lost:
            if lost.pe == CONSUMER:
                raise


def _move(memory, message):
    store, pool = memory.store.local, memory.pool
    number, parts = moves_of(message, len(store), len(pool))
    # A credit without parts only asks to confirm that all before it are used.
    parts = parts or [(0, 0, 0)]
    for begin, to, nbytes in parts[:-1]:
        pool.put(CONSUMER, store[begin : begin + nbytes], to)
    begin, to, nbytes = parts[-1]
    # The signal is never visible before the puts above: docs/memory-model.md.
    pool.put_signal(
        CONSUMER, store[begin : begin + nbytes], memory.done, number, to, signal_index=memory.job.pe
    )


def _load(memory, command, parts):
    """The answer to a command to load."""
    try:
        return DONE + _Loader(memory, command, parts).run()
    except (Error, OSError, ValueError, ArithmeticError, RuntimeError) as error:
        parts.clear()
        return REFUSED + str(error).encode()


class _Loader:
    """Loads what of a table belongs to this PE."""

    def __init__(self, memory, command, parts):
        self._memory = memory
        self._parts = parts
        self._name = command["table"]
        self._rows_max = command["rows_max"]
        self._copies = command["copies"]
        self._owners = command["owners"]
        self._place = self._owners.index(memory.job.pe)
        self._at, self._end = command["range"]
        self._room_bytes = self._end - self._at
        self._source = command["source"]
        self._entries = None
        self._schema = None
        self._rows = 0

    def run(self):
        if "scale" in self._source:
            self._load_generated()
        else:
            self._load_files()
        return self._entries.to_bytes()

    def _copy_of(self, turn):
        """Which copy of the `turn`-th part this PE has; None if it has none."""
        copy = (self._place - turn) % len(self._owners)
        return copy if copy < self._copies else None

    def _begin(self, schema):
        schema = plain_schema(schema)
        if self._schema is None:
            self._schema = schema
            self._entries = Entries(self._name, schema)
        elif schema != self._schema:
            raise CallerError(f"the files of {self._name} do not have the same columns")

    def _load_generated(self):
        """TPC-H: the owners make as many parts as there are owners."""
        parts = len(self._owners)
        for part in range(parts):
            copy = self._copy_of(part)
            if copy is not None:
                self._load_part(part, copy)
        if self._schema is None:
            # Small tables have one part. An owner without rows knows the columns, too.
            self._load_part(0, None)
        if self._source["is_last"]:
            self._parts.clear()

    def _load_part(self, part, copy):
        made = self._parts.file(self._name, self._source, part, len(self._owners))
        if made is None:
            return
        with pq.ParquetFile(made) as file:
            self._begin(file.schema_arrow)
            if copy is not None:
                self._keep_all(file, part, copy)

    def _keep_all(self, file, part, copy):
        number = 0
        for group in range(file.num_row_groups):
            for batch in self._slices(file, group):
                self._keep((part, number, copy), batch)
                number += 1

    def _load_files(self):
        groups = []
        for path in self._source["files"]:
            with pq.ParquetFile(path) as file:
                self._begin(file.schema_arrow)
                lengths = [
                    file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)
                ]
            groups += [(path, group, rows) for group, rows in enumerate(lengths) if rows]
        whole = len(groups) >= _WHOLE_FROM * len(self._owners)
        turn = 0
        for part, (path, group, rows) in enumerate(groups):
            slices = self._slices_of(rows)
            turns = [part] * slices if whole else list(range(turn, turn + slices))
            turn += slices
            copies = [self._copy_of(each) for each in turns]
            if all(copy is None for copy in copies):
                continue
            with pq.ParquetFile(path) as file:
                for number, batch in enumerate(self._slices(file, group)):
                    if copies[number] is not None:
                        self._keep((part, number, copies[number]), batch)

    def _slices_of(self, rows):
        return math.ceil(rows / self._rows_max)

    def _slices(self, file, group):
        """The row group of a file as record batches of about the same length."""
        table = file.read_row_group(group)
        if not table.num_rows:
            return
        step = math.ceil(table.num_rows / self._slices_of(table.num_rows))
        table = plain(table, self._schema)
        for begin in range(0, table.num_rows, step):
            yield table.slice(begin, step)

    def _keep(self, key, batch):
        """Copies some rows into the memory."""
        pieces, packed = pack(batch)
        begin, end = self._at, self._at + len(packed)
        if end > self._end:
            raise CallerError(
                f"the memory of PE {self._memory.job.pe} is full: {self._room_bytes} bytes do not "
                f"hold its part of {self._name} (--memory)"
            )
        self._memory.store.local[begin:end] = packed
        found = [statistics(column) for column in batch.columns]
        self._entries.add((*key, batch.num_rows, begin, len(packed)), pieces, found)
        self._at = end
        self._rows += batch.num_rows if key[2] == 0 else 0
        self._memory.loaded.put(CONSUMER, [self._rows], self._memory.job.pe)
