"""What is known of a table: its schema, and of each row group where it lies, its statistics and
checksums.

The catalogue is an Arrow table with a row for each row group, and travels as Arrow's IPC stream
behind a checksum.
"""

import struct

import pyarrow as pa

from ..errors import CallerError
from ._errors import Damaged
from ._pieces import Piece, checksum, counts, plain_schema, size_of, statistic_type

_HEAD = struct.Struct("<8sQ")
_MAGIC = b"hw-table"
_NAME, _SCHEMA = b"hostwire.table", b"hostwire.schema"
_FIXED = [
    # The row group's place in the table: a part of the table, and a number in that part.
    pa.field("part", pa.uint32()),
    pa.field("number", pa.uint32()),
    # 0, or the number of the copy.
    pa.field("copy", pa.uint32()),
    pa.field("rows", pa.uint32()),
    # Where it begins in the owner's memory.
    pa.field("at", pa.uint64()),
    pa.field("nbytes", pa.uint64()),
]
_SIZES = pa.list_(pa.int64())


def _fields(schema):
    fields = list(_FIXED)
    for place, field in enumerate(schema):
        kind = statistic_type(field.type)
        fields += [
            pa.field(f"at.{place}", pa.uint64()),
            pa.field(f"nbytes.{place}", pa.uint64()),
            pa.field(f"checksum.{place}", pa.uint64()),
            pa.field(f"buffers.{place}", _SIZES),
            pa.field(f"nodes.{place}", _SIZES),
            pa.field(f"least.{place}", kind),
            pa.field(f"greatest.{place}", kind),
        ]
    return fields


class Entries:
    """Collects the row groups of an owner, and makes bytes of them."""

    def __init__(self, name, schema):
        self._name = name
        self._schema = schema
        self._columns = [[] for _ in _fields(schema)]

    def add(self, fixed, pieces, statistics):
        """`fixed` in the order of the first columns; a piece and its least and greatest value for
        each column of the table."""
        row = list(fixed)
        for piece, (least, greatest) in zip(pieces, statistics, strict=True):
            row += [piece.at, piece.nbytes, piece.checksum, piece.buffers, piece.nodes]
            row += [least, greatest]
        for column, value in zip(self._columns, row, strict=True):
            column.append(value)

    def to_bytes(self):
        fields = _fields(self._schema)
        metadata = {_NAME: self._name.encode(), _SCHEMA: self._schema.serialize().to_pybytes()}
        schema = pa.schema(fields, metadata)
        arrays = [
            pa.array(values, field.type)
            for field, values in zip(fields, self._columns, strict=True)
        ]
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, schema) as stream:
            stream.write_table(pa.Table.from_arrays(arrays, schema=schema))
        body = sink.getvalue().to_pybytes()
        return _HEAD.pack(_MAGIC, checksum(body)) + body


def read(data, pe, store_bytes):
    """The name, the schema and the rows that PE `pe` has sent, checked.

    Raises Damaged if they are not a catalogue of memory of `store_bytes` bytes.
    """
    if len(data) < _HEAD.size:
        raise Damaged(pe, f"the catalogue of PE {pe} has {len(data)} bytes, which are too few")
    magic, expected = _HEAD.unpack_from(data)
    if magic != _MAGIC:
        raise Damaged(pe, f"the catalogue of PE {pe} begins with {magic!r}, not {_MAGIC!r}")
    body = memoryview(data)[_HEAD.size :]
    got = checksum(body)
    if got != expected:
        raise Damaged(
            pe, f"the catalogue of PE {pe} has the checksum {got:016x}, not {expected:016x}"
        )
    return read_body(body, pe, store_bytes)


def read_body(body, pe, store_bytes):
    """As `read`, of what is behind the checksum."""
    try:
        with pa.ipc.open_stream(body) as stream:
            metadata = stream.schema.metadata or {}
            name = metadata[_NAME].decode()
            schema = pa.ipc.read_schema(pa.py_buffer(metadata[_SCHEMA]))
            rows = stream.read_all()
        rows.validate(full=True)
        if plain_schema(schema) != schema:
            raise Damaged(pe, f"the catalogue of PE {pe} has types that are not kept so")
    except KeyError as error:
        raise Damaged(pe, f"the catalogue of PE {pe} has no {error.args[0]!r}") from error
    except (pa.ArrowException, CallerError, ValueError, OSError) as error:
        raise Damaged(pe, f"the catalogue of PE {pe} cannot be read: {error}") from error
    expected = pa.schema(_fields(schema))
    if rows.schema.remove_metadata() != expected:
        raise Damaged(pe, f"the catalogue of PE {pe} has other columns than its table asks for")
    statistical = ("least.", "greatest.")
    for column in rows.column_names:
        if not column.startswith(statistical) and rows[column].null_count:
            raise Damaged(pe, f"the catalogue of PE {pe} leaves out a value of {column}")
    for row in _without_statistics(rows).to_pylist():
        _check(row, schema, pe, store_bytes)
    return name, schema, rows


def _without_statistics(rows):
    names = [name for name in rows.column_names if not name.startswith(("least.", "greatest."))]
    return rows.select(names)


def _check(row, schema, pe, store_bytes):
    """Raises Damaged for a row group that cannot lie where it says."""

    def refuse(what):
        raise Damaged(
            pe, f"the catalogue of PE {pe}, row group {row['part']}.{row['number']}: {what}"
        )

    if row["at"] + row["nbytes"] > store_bytes:
        refuse(f"{row['nbytes']} bytes at {row['at']} do not lie in {store_bytes}")
    for place, field in enumerate(schema):
        buffers, nodes = row[f"buffers.{place}"], row[f"nodes.{place}"]
        at, nbytes = row[f"at.{place}"], row[f"nbytes.{place}"]
        if None in buffers or None in nodes:
            refuse(f"column {field.name} leaves out a size")
        expected = counts(field.type)
        if (len(buffers), len(nodes)) != (expected[0], 2 * expected[1]):
            refuse(f"column {field.name} has {len(buffers)} buffers, not {expected[0]}")
        if min(buffers) < -1 or max(buffers) > nbytes or size_of(buffers) != nbytes:
            refuse(f"the buffers of column {field.name} do not make its {nbytes} bytes")
        if at % 64 or at + nbytes > row["nbytes"]:
            refuse(f"column {field.name} lies outside its row group")
        if nodes[0] != row["rows"] or min(nodes) < 0:
            refuse(f"column {field.name} has {nodes[0]} rows, not {row['rows']}")


class RowGroup:
    """Some rows of a table: its pieces, and its homes: `(pe, at)`."""

    __slots__ = ("homes", "label", "nbytes", "pieces", "rows")

    def __init__(self, label, rows, nbytes, homes, pieces):
        self.label = label
        self.rows = rows
        self.nbytes = nbytes
        self.homes = homes
        self.pieces = pieces


class Catalogue:
    """A table: `name`, `schema`, `row_groups`, and statistics."""

    def __init__(self, name, schema, row_groups, statistics):
        self.name = name
        self.schema = schema
        self.row_groups = row_groups
        # The least and the greatest values of each column, as Arrow arrays over the row groups.
        self.statistics = statistics
        # The number of open streams, and whether no more may begin: kept by `Flow`.
        self.streams = 0
        self.is_dropped = False

    @property
    def rows(self):
        return sum(group.rows for group in self.row_groups)

    @property
    def nbytes(self):
        """The bytes of one copy."""
        return sum(group.nbytes for group in self.row_groups)


def merged(found):
    """The catalogue of what the owners have sent: `(pe, name, schema, rows)` for each.

    Row groups come in turn from all owners, so that a stream of them keeps all owners busy.
    """
    _, name, schema, _ = found[0]
    for pe, _, other, _ in found[1:]:
        if other != schema:
            raise Damaged(pe, f"PE {pe} has other columns of {name} than PE {found[0][0]}")
    # The homes of each row group, by its key, and the order of row groups.
    homes, order = {}, []
    for turn, (pe, _, _, rows) in enumerate(found):
        keys = rows.select(["part", "number", "copy", "at"]).to_pylist()
        primary = 0
        for place, key in enumerate(keys):
            own = (key["part"], key["number"])
            homes.setdefault(own, []).append((key["copy"], pe, key["at"], turn, place))
            if key["copy"] == 0:
                order.append((primary, turn, place, own))
                primary += 1
    order.sort()
    begins = [0]
    for *_, rows in found:
        begins.append(begins[-1] + rows.num_rows)
    everything = pa.concat_tables([rows.replace_schema_metadata() for *_, rows in found])
    places = [begins[turn] + place for _, turn, place, _ in order]
    chosen = everything.take(pa.array(places, pa.int64()))
    groups = []
    for row, (_, _, _, own) in zip(_without_statistics(chosen).to_pylist(), order, strict=True):
        pieces = [
            Piece(*(row[f"{what}.{place}"] for what in _PIECE)) for place in range(len(schema))
        ]
        where = [(pe, at) for _, pe, at, *_ in sorted(homes[own])]
        label = f"{own[0]}.{own[1]}"
        groups.append(RowGroup(label, row["rows"], row["nbytes"], where, pieces))
    statistics = [
        tuple(chosen[f"{what}.{place}"].combine_chunks() for what in ("least", "greatest"))
        for place in range(len(schema))
    ]
    return Catalogue(name, schema, groups, statistics)


_PIECE = ("at", "nbytes", "checksum", "buffers", "nodes")
