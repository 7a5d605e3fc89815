"""Tables of a warehouse as datasets of pyarrow: what DuckDB, DataFusion and others read.

A dataset is asked for columns and a filter. Row groups that the filter cannot match by their
statistics, and columns that nobody wants, do not move.
"""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads

from ..errors import CallerError
from ._flow import Stream
from ._pruning import Pruning


class Table(pads.Dataset):
    """A table of a warehouse, as a `pyarrow.dataset.Dataset`.

    `columns` and `filter` of `scanner`, `to_batches`, `to_table` and `count_rows` are those of pyarrow;
    other arguments of pyarrow's methods are taken and change nothing. `names` has the columns.
    """

    def __init__(self, flow, catalogue, watch=None):
        self._flow = flow
        self._catalogue = catalogue
        self._pruning = Pruning(catalogue)
        # Told of each batch, and of errors.
        self._watch = watch

    def _watched(self, watch):
        return Table(self._flow, self._catalogue, watch)

    def __reduce__(self):
        raise TypeError("a table of a warehouse stays with its job: ask it by Arrow Flight")

    @property
    def name(self):
        """The name of the table."""
        return self._catalogue.name

    @property
    def schema(self):
        """Its columns, as a `pyarrow.Schema`."""
        return self._catalogue.schema

    @property
    def names(self):
        """The names of its columns."""
        return self.schema.names

    @property
    def nbytes(self):
        """The bytes of one copy, in Arrow's format."""
        return self._catalogue.nbytes

    @property
    def rows(self):
        """How many rows it has."""
        return self._catalogue.rows

    @property
    def row_groups(self):
        """How many row groups it has."""
        return len(self._catalogue.row_groups)

    def scanner(self, columns=None, filter=None, *, only_groups_of=None, part=0, parts=1, **_):
        """`columns` of the rows that `filter` matches. With `only_groups_of`, all rows of the row groups
        that may have a row that this filter matches. With `parts`, one of so many parts of the table."""
        return Scanner(self, columns, filter, only_groups_of, (part, parts))

    def to_batches(self, columns=None, filter=None, **_):
        """Streams record batches."""
        return self.scanner(columns, filter).to_batches()

    def to_table(self, columns=None, filter=None, **_):
        """All of it, in the memory of this process."""
        return self.scanner(columns, filter).to_table()

    def head(self, num_rows, columns=None, filter=None, **_):
        """The first rows that come."""
        return self.scanner(columns, filter).head(num_rows)

    def count_rows(self, filter=None, **_):
        """How many rows `filter` matches."""
        return self.scanner([], filter).count_rows()

    def get_fragments(self, filter=None):
        """The table as one fragment."""
        yield _Fragment(self)

    def __repr__(self):
        return f"<hostwire.warehouse.Table {self.name}: {self._catalogue.rows} rows>"


class _Fragment:
    """A table as a fragment of itself. Its scanner is called with a schema first."""

    def __init__(self, table):
        self._table = table
        self.physical_schema = table.schema
        self.partition_expression = pc.scalar(True)

    def scanner(self, schema=None, columns=None, filter=None, **_):
        return self._table.scanner(columns, filter)


class Scanner:
    """Some columns of the rows that a filter matches; what `Table.scanner` gives."""

    def __init__(self, table, columns, filter, only_groups_of=None, part=(0, 1)):
        self._table = table
        if isinstance(filter, pa.Scalar):
            # DataFusion passes a scalar for a condition that is always the same.
            filter = pc.scalar(filter.as_py())
        self._filter = filter
        self._only_groups_of = filter if only_groups_of is None else only_groups_of
        self._part = part
        names = table.names if columns is None else list(columns)
        missing = [name for name in names if name not in table.names]
        if missing or isinstance(columns, dict):
            what = missing[0] if missing else "expressions"
            raise CallerError(f"expected names of columns of {table.name}, got {what}")
        self._names = names
        # The row groups in which the filter matches every row.
        self._whole = frozenset()

    @property
    def dataset_schema(self):
        """The columns of the table."""
        return self._table.schema

    @property
    def projected_schema(self):
        """The columns that come."""
        return pa.schema([self._table.schema.field(name) for name in self._names])

    def _stream(self):
        table, catalogue = self._table, self._table._catalogue
        part, parts = self._part
        pruning = table._pruning
        groups = range(part, table.row_groups, parts)
        columns = {table.names.index(name) for name in self._names}
        if self._only_groups_of is not None:
            groups = pruning.may_match(self._only_groups_of, groups)
        chosen = [catalogue.row_groups[group] for group in groups]
        if self._filter is not None:
            columns.update(pruning.columns_of(self._filter))
            whole = pruning.all_match(self._filter, groups)
            self._whole = {catalogue.row_groups[group] for group in whole}
        columns = sorted(columns)
        stream = Stream(table._flow, catalogue, chosen, columns)
        counts = table._flow.counts
        counts.pruned_groups += len(range(part, table.row_groups, parts)) - len(chosen)
        counts.asked_bytes += stream.bytes_left
        return stream

    def to_batches(self):
        """Streams record batches. What a batch lies in is given back when it is dropped."""
        watch, stream = self._table._watch, None
        try:
            stream = self._stream()
            for batch in stream:
                if watch is not None:
                    watch.batch_came()
                # Filters only where needed, since it copies.
                if self._filter is not None and stream.group not in self._whole:
                    batch = batch.filter(self._filter)
                if batch.schema.names != self._names:
                    batch = batch.select(self._names)
                yield batch
                del batch
        except Exception as error:
            if watch is not None:
                watch.failed(error)
            raise
        finally:
            if stream is not None:
                stream.end()

    def to_reader(self):
        """The same as `pyarrow.RecordBatchReader`."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self.to_batches())

    def to_table(self):
        """All of it, in the memory of this process."""
        return self.to_reader().read_all()

    def head(self, num_rows):
        """The first rows that come."""
        batches, left = [], num_rows
        for batch in self.to_batches():
            if left <= 0:
                break
            batches.append(batch.slice(0, left))
            left -= len(batches[-1])
        return pa.Table.from_batches(batches, self.projected_schema)

    def count_rows(self):
        """How many rows match."""
        return sum(batch.num_rows for batch in self.to_batches())
