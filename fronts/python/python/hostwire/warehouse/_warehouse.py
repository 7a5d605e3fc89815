"""The warehouse, as its consumer sees it."""

import contextlib
import os
import signal
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import tqdm

from .. import _job
from ..errors import CallerError, EnvironmentFault, PeerError, PeerLost
from . import _catalogue, _engines, _owner, _tpch
from ._dataset import Table
from ._flow import Flow
from ._memory import CONSUMER, LEAVE, LOAD, TO_CONSUMER, TO_OWNER, Memory, command_message
from ._pieces import pack, plain, plain_schema, statistics
from ._ranges import Ranges

BUFFER_BYTES = 256 << 20
# Rows of a row group: one of TPC-H's lineitem then has some MiB, and three of each owner fit a cache.
ROWS_MAX = 65536
_LOOK_S = 0.1
# A query that takes longer than this shows a bar.
_LONG_S = 1.0


def run(main, *, buffer_bytes=BUFFER_BYTES, store_bytes=None, progress=None):
    """Runs a warehouse on the PEs of this job. Collective.

    PE 0 calls `main` with the Warehouse, and gets what it returns; the other PEs hold the tables until
    it returns, and get None. A job of one PE does both. `buffer_bytes` bounds the memory into which
    tables are streamed, `store_bytes` that for the tables of each owner; both lie in the symmetric heap
    (`hostwire run --heap`), and tables may have what is left of it by default. Loads and long queries draw
    a bar on the text file `progress` if it is a terminal. (The launcher gives a PE none: its `sys.stderr` is
    a pipe.)
    """
    job = _job.Job()
    is_peaceful = False
    if job.pe != CONSUMER and threading.current_thread() is threading.main_thread():
        # Ctrl-C goes to all processes of a terminal. Only the consumer ends by it; it lets the owners go.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        memory = Memory(job, buffer_bytes, store_bytes)
        result = None
        if job.pe != CONSUMER:
            is_peaceful = _owner.serve(memory)
        else:
            warehouse = Warehouse(memory, progress)
            try:
                result = main(warehouse)
            except BaseException:
                warehouse._leave(in_peace=False)
                raise
            is_peaceful = warehouse._leave(in_peace=True)
        return result
    finally:
        # If PEs are missing, no PE can leave in peace.
        if is_peaceful:
            job.close()
        else:
            job.abandon()


class Warehouse:
    """The tables of a job; `run` makes it. `tables` has them by name, as `pyarrow` datasets."""

    def __init__(self, memory, progress=None):
        self._memory = memory
        self._job = memory.job
        self._flow = Flow(memory)
        self._progress = progress
        self._stores = {pe: Ranges(len(memory.store)) for pe in self._flow.owners}
        # The ranges of each table: `(pe, begin, bytes)`; and those of dropped tables, with their catalogues.
        self._used = {}
        self._dropped = []
        # Protects these and `tables`. Never held during a wait for other PEs.
        self._lock = threading.Lock()
        self.tables = {}
        self.scale = 1.0
        self._loads = 0
        self._thread = None
        if memory.job.pes == 1:
            self._thread = threading.Thread(target=_owner.serve, args=(memory,), daemon=True)
            self._thread.start()

    @property
    def owners(self):
        """The PEs that hold tables."""
        return list(self._flow.owners)

    @property
    def buffer_bytes(self):
        """The memory into which tables are streamed: no more is used, however long they are."""
        return len(self._memory.pool)

    @property
    def buffers(self):
        """That memory, as an array of bytes that may be read: to pin it for a GPU, for example."""
        pool = self._memory.pool.local.view()
        pool.flags.writeable = False
        return pool

    @property
    def store_bytes(self):
        """The memory for tables of each owner."""
        return len(self._memory.store)

    def load_tpch(self, scale=1.0, *, tables=_tpch.TABLES, copies=1, rows_max=ROWS_MAX, scratch=None):
        """Loads the tables of TPC-H at a scale factor. Each owner makes its part with tpchgen-cli, in a
        folder below `scratch` (that for temporary files) that is removed."""
        if not 0 < scale < 1e6:
            raise CallerError(f"scale: expected a number above 0, got {scale}")
        tables = list(tables)
        for name in tables:
            if name not in _tpch.TABLES:
                raise CallerError(f"TPC-H has no table {name}")
        _tpch.generator()
        for name in tables:
            source = {"scale": scale, "scratch": scratch, "tables": list(tables)}
            source["is_last"] = name == tables[-1]
            self._load(name, source, copies, rows_max, _tpch.rows_about(name, scale))
        self.scale = scale

    def load(self, name, files, *, copies=1, rows_max=ROWS_MAX):
        """Loads Parquet files with the same columns as table `name`. The hosts of all owners have to see
        the files under these names.

        Their row groups are spread over the owners, and so are the rows of few large ones, in pieces of at
        most `rows_max` rows. With `copies=2` each row group has two owners, on different hosts if possible.
        Dictionaries become plain columns. Rows keep no order.
        """
        files = [os.fspath(os.path.abspath(path)) for path in files]
        if not files:
            raise CallerError("expected one or more files")
        rows = _rows_of(files)
        self._load(name, {"files": files}, copies, rows_max, rows)

    def _may_load(self, name, copies, rows_max):
        """The owners that are there, if a table may be loaded so."""
        owners = [pe for pe in self._flow.owners if pe not in self._flow.lost]
        if not name.isidentifier():
            raise CallerError(f"expected a word as the name of a table, got {name!r}")
        self._check_new(name)
        if not 1 <= copies <= len(owners):
            raise CallerError(f"copies: expected 1 to {len(owners)}, the owners, got {copies}")
        if not 1 <= rows_max < 1 << 31:
            raise CallerError(f"rows_max: expected a number from 1 on, got {rows_max}")
        self._take_back()
        return owners

    def _check_new(self, name):
        if name in self.tables:
            raise CallerError(f"there is a table {name}; drop it first")

    def _load(self, name, source, copies, rows_max, rows):
        owners = self._may_load(name, copies, rows_max)
        command = {"table": name, "source": source, "copies": copies, "owners": owners}
        command["rows_max"] = rows_max
        self._loads += 1
        command["number"] = self._loads
        self._memory.loaded.local[:] = 0
        # Takes all free memory until the size of the table is known.
        ranges = {}
        with self._lock:
            for pe in owners:
                begin, end = ranges[pe] = self._stores[pe].largest()
                if begin < end:
                    self._stores[pe].take_at(begin, end - begin)
        used = [(pe, begin, end - begin) for pe, (begin, end) in ranges.items()]
        try:
            catalogue = self._loaded(command, owners, ranges, rows)
            ends = {pe: begin for pe, (begin, _) in ranges.items()}
            for group in catalogue.row_groups:
                for pe, at in group.homes:
                    ends[pe] = max(ends[pe], at + group.nbytes)
            self._keep(catalogue, [(pe, begin, ends[pe] - begin) for pe, begin, _ in used])
        except BaseException:
            self._give(used)
            raise
        self._give([(pe, ends[pe], end - ends[pe]) for pe, (_, end) in ranges.items()])

    def _loaded(self, command, owners, ranges, rows):
        """The catalogue of a table that owners load into these ranges."""
        name = command["table"]
        for pe in owners:
            own = {**command, "range": ranges[pe]}
            self._job.send(pe, command_message(LOAD, own), TO_OWNER)
        with _bar(self._progress, f"load {name}", rows, " rows", delay_s=0) as bar:
            answers = self._answers(command, bar)
        refused = [answer[1:].decode() for answer in answers if answer[:1] != _owner.DONE]
        if refused:
            raise CallerError(f"loading {name}: {refused[0]}")
        found = [
            (pe, *_catalogue.read(answer[1:], pe, len(self._memory.store)))
            for pe, answer in zip(owners, answers, strict=True)
        ]
        return _catalogue.merged(found)

    def _answers(self, command, bar):
        """What the owners answer, in their order. All of them, also if one is lost: no answer stays."""
        answers, lost = [], None
        for pe in command["owners"]:
            try:
                answers.append(self._answer(pe, command, bar))
            except PeerLost as error:
                lost = error
        if lost is not None:
            raise lost
        return answers

    def _answer(self, pe, command, bar):
        """What PE `pe` answers; draws how far all are meanwhile."""
        loaded = self._memory.loaded
        while True:
            before = int(loaded.local[pe])
            if self._job.try_probe(pe, TO_CONSUMER) is not None:
                number, answer = _owner.numbered(self._job.recv(pe, TO_CONSUMER).data)
                if number == command["number"]:
                    return answer
                # This answer is of a load that Ctrl-C has ended.
                continue
            bar.update(int(loaded.local.sum()) - bar.n)
            try:
                loaded.wait_until("!=", before, pe, timeout_s=_LOOK_S)
            except PeerLost as lost:
                self._flow.lost.add(lost.pe)
            if pe in self._flow.lost:
                error = PeerLost(f"PE {pe} is lost while it loads its part of {command['table']}")
                error.pe = pe
                raise error

    def _keep(self, catalogue, used):
        """Makes a table of a catalogue whose row groups lie in these ranges."""
        with self._lock:
            self._check_new(catalogue.name)
            self._used[catalogue.name] = used
            self.tables[catalogue.name] = Table(self._flow, catalogue)

    def _give(self, ranges):
        with self._lock:
            for pe, begin, nbytes in ranges:
                self._stores[pe].give(begin, nbytes)

    def _take_back(self):
        """Gives the memory of dropped tables back that nobody reads any more."""
        self._flow.sweep()
        with self._lock:
            unread = [used for catalogue, used in self._dropped if not catalogue.streams]
            self._dropped = [each for each in self._dropped if each[0].streams]
        for used in unread:
            self._give(used)

    def insert(self, name, batches, schema, *, copies=1, rows_max=ROWS_MAX):
        """Makes a table of record batches of this process: they are put to the owners in turn. Several threads may
        do it at the same time."""
        schema = plain_schema(schema)
        owners = self._may_load(name, copies, rows_max)
        entries = {pe: _catalogue.Entries(name, schema) for pe in owners}
        used = []
        try:
            for number, batch in enumerate(_slices(batches, schema, rows_max)):
                pieces, packed = pack(batch)
                found = [statistics(column) for column in batch.columns]
                for copy in range(copies):
                    pe = owners[(number + copy) % len(owners)]
                    with self._lock:
                        at = self._stores[pe].take(len(packed))
                    if at is None:
                        raise CallerError(f"the memory of PE {pe} is full: no room for {name} (--memory)")
                    used.append((pe, at, len(packed)))
                    self._memory.store.put(pe, packed, at)
                    entries[pe].add((number, 0, copy, batch.num_rows, at, len(packed)), pieces, found)
            self._job.quiet()
            found = [
                (pe, *_catalogue.read(entries[pe].to_bytes(), pe, len(self._memory.store))) for pe in owners
            ]
            self._keep(_catalogue.merged(found), used)
        except BaseException:
            # Afterwards no put stores there any more.
            with contextlib.suppress(PeerError):
                self._job.quiet()
            self._give(used)
            raise

    def drop(self, name):
        """Drops a table. Streams of it that have begun go on; its memory is given back behind them."""
        with self._lock:
            if name not in self.tables:
                raise CallerError(f"there is no table {name}")
            catalogue = self.tables.pop(name)._catalogue
            self._flow.drop(catalogue)
            self._dropped.append((catalogue, self._used.pop(name)))
        self._take_back()

    def query(self, text, *, engine="duckdb", threads=None):
        """The result of a query, as a `pyarrow.Table`.

        `text` is SQL, or `q1` to `q22` for the queries of TPC-H; `engine` one of `duckdb`, `datafusion`
        and `polars`. The engine has `threads` threads, by default as many as it likes (Polars always).
        Tables are streamed to it as it reads them.

        Raises CallerError for what the engine refuses, PeerLost if an owner is lost whose row groups have
        no other, Damaged if row groups are not what was loaded and have no other owner.
        """
        with _bar(self._progress, _short(text), 0, "B", delay_s=_LONG_S) as bar:
            watch = _Watch(self._flow.counts, bar)
            tables = {name: table._watched(watch) for name, table in self.tables.items()}
            try:
                result = _engines.run(engine, text, tables, self.scale, threads)
                # After an exception `Flow.take` does it.
                self._flow.sweep()
                return result
            except (CallerError, EnvironmentFault, PeerError, KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:
                # A panic of Rust is no Exception.
                # Engines tell what a stream raised in their own words.
                if watch.failure is not None:
                    raise watch.failure from error
                raise CallerError(f"{engine}: {error}") from error

    @property
    def counts(self):
        """What has moved to this process: `batches`, `rows`, `moved_bytes`, `copied_bytes`, `waited_s`,
        `pruned_groups`, `lost_groups`, `damaged_groups`, `buffers_most_bytes`."""
        return self._flow.counts

    def reset_counts(self):
        """Begins to count from 0."""
        self._flow.counts.__init__()

    def report(self):
        """What has moved, and how much memory that took, as a line."""
        counts = self.counts
        words = [
            f"{_bytes(counts.moved_bytes)} moved in {counts.batches} row groups",
            f"through at most {_bytes(counts.buffers_most_bytes)} of {_bytes(self.buffer_bytes)} of buffers",
            f"streams waited {counts.waited_s:.3f} s",
        ]
        if counts.pruned_groups:
            words.append(f"{counts.pruned_groups} row groups spared by statistics")
        if counts.copied_bytes:
            words.append(f"{_bytes(counts.copied_bytes)} copied because the engine kept batches")
        if counts.lost_groups:
            words.append(f"{counts.lost_groups} row groups of another owner: theirs is lost")
        if counts.damaged_groups:
            words.append(f"{counts.damaged_groups} row groups asked for again: they were damaged")
        return "; ".join(words)

    def _leave(self, in_peace):
        """Lets the owners go. Whether all can leave together."""
        if in_peace:
            # Owners may still store into slots of streams that engines have dropped.
            self._flow.sweep()
        in_peace = in_peace and not self._flow.lost
        for pe in self._flow.owners:
            if pe in self._flow.lost:
                continue
            try:
                command = command_message(LEAVE, {"in_peace": in_peace})
                self._job.send(pe, command, TO_OWNER)
            except PeerLost:
                in_peace = False
        if self._thread is not None:
            self._thread.join()
        return in_peace


class _Watch:
    """Sees the streams of a query."""

    def __init__(self, counts, bar):
        self._counts = counts
        self._bar = bar
        self._moved, self._asked = counts.moved_bytes, counts.asked_bytes
        self.failure = None

    def batch_came(self):
        self._bar.total = self._counts.asked_bytes - self._asked
        self._bar.update(self._counts.moved_bytes - self._moved - self._bar.n)

    def failed(self, error):
        self.failure = self.failure or error


def _bar(file, what, total, unit, delay_s):
    """A bar on a file that is a terminal; nothing elsewhere."""
    tqdm.tqdm.monitor_interval = 0
    return tqdm.tqdm(
        desc=what,
        total=total,
        unit=unit,
        unit_scale=True,
        delay=delay_s,
        leave=False,
        file=file,
        disable=True if file is None else None,
    )


def _short(text):
    text = " ".join(text.split())
    return text if len(text) <= 24 else f"{text[:21]}..."


def _bytes(nbytes):
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if nbytes >= size:
            return f"{nbytes / size:.1f} {unit}"
    return f"{nbytes} B"


def _rows_of(files):
    """How many rows Parquet files have; None if this host does not see them."""
    try:
        return sum(pq.read_metadata(path).num_rows for path in files)
    except (OSError, pa.ArrowException):
        return None


def _slices(batches, schema, rows_max):
    """The rows as tables of up to `rows_max` rows."""
    for batch in batches:
        table = plain(pa.Table.from_batches([batch]), schema)
        for begin in range(0, table.num_rows, rows_max):
            yield table.slice(begin, rows_max).combine_chunks()
