"""Pieces: the Arrow buffers of one column of a row group, behind each other in memory."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from ..errors import CallerError

# Where each buffer begins: what Arrow recommends, and enough for every type.
ALIGN_BYTES = 64
# Longer texts are no statistics.
_STATISTIC_BYTES = 256

_checks = pa.types


def rounded(nbytes):
    return -(-nbytes // ALIGN_BYTES) * ALIGN_BYTES


def plain_type(kind, name):
    """The type in which a column is kept: without dictionaries and views.

    Raises CallerError for types that the warehouse does not take.
    """
    if _checks.is_dictionary(kind):
        return plain_type(kind.value_type, name)
    if kind == pa.string_view():
        return pa.string()
    if kind == pa.binary_view():
        return pa.binary()
    if _checks.is_struct(kind):
        return pa.struct([field.with_type(plain_type(field.type, name)) for field in kind])
    for is_list, make in (
        (_checks.is_list, pa.list_),
        (_checks.is_large_list, pa.large_list),
        (_checks.is_fixed_size_list, lambda field: pa.list_(field, kind.list_size)),
    ):
        if is_list(kind):
            field = kind.value_field
            return make(field.with_type(plain_type(field.type, name)))
    if _checks.is_map(kind):
        key, item = (
            field.with_type(plain_type(field.type, name)) for field in (kind.key_field, kind.item_field)
        )
        return pa.map_(key, item, kind.keys_sorted)
    if _checks.is_nested(kind) or isinstance(kind, pa.BaseExtensionType) or _is_unknown(kind):
        raise CallerError(
            f"column {name}: expected numbers, times, texts, bytes, or lists, structs and maps of them, got "
            f"the type {kind}"
        )
    return kind


def _is_unknown(kind):
    flat = (_checks.is_primitive, _checks.is_null, _checks.is_decimal, _checks.is_string)
    flat += (_checks.is_binary, _checks.is_large_string, _checks.is_large_binary)
    flat += (_checks.is_fixed_size_binary,)
    return not any(check(kind) for check in flat)


def plain_schema(schema):
    """The schema in which a table is kept."""
    fields = [field.with_type(plain_type(field.type, field.name)) for field in schema]
    names = [field.name for field in fields]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise CallerError(f"the table has several columns {twice[0]}")
    return pa.schema([field.remove_metadata() for field in fields])


def plain(table, schema):
    """A table in its plain schema. Only columns of other types are cast: Arrow makes arrays of nulls too short or too
    long that lie in others, also when it casts them to the type that they have."""
    if table.column_names != schema.names:
        raise CallerError(f"expected rows with the columns {schema.names}, got {table.column_names}")
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema) if columns else table.cast(schema)


def statistic_type(kind):
    """The type of least and greatest values; Arrow's null type where there are none."""
    has_none = _checks.is_nested(kind) or _checks.is_null(kind)
    return pa.null() if has_none or _checks.is_interval(kind) else kind


def statistics(array):
    """The least and the greatest value as Arrow scalars: null ones if they say nothing."""
    array = _one(array)
    kind = statistic_type(array.type)
    none = pa.scalar(None, kind)
    if kind == pa.null() or array.null_count == len(array):
        return none, none
    if _checks.is_floating(kind) and pc.any(pc.is_nan(array)).as_py():
        # Engines order NaN differently.
        return none, none
    try:
        both = pc.min_max(array)
    except pa.ArrowNotImplementedError:
        return none, none
    for value in both.values():
        buffer = value.as_buffer() if hasattr(value, "as_buffer") else None
        if buffer is not None and buffer.size > _STATISTIC_BYTES:
            return none, none
    return both["min"], both["max"]


def counts(kind):
    """How many buffers and arrays a column has, with its children."""
    buffers, nodes = kind.num_buffers, 1
    for child in range(kind.num_fields):
        more = counts(kind.field(child).type)
        buffers, nodes = buffers + more[0], nodes + more[1]
    return buffers, nodes


def _nodes(array):
    """`length, nulls` of an array and its children."""
    found = [len(array), array.null_count]
    if _checks.is_struct(array.type):
        children = [array.field(child) for child in range(array.type.num_fields)]
    else:
        children = [array.values] if array.type.num_fields else []
    for child in children:
        found += _nodes(child)
    return found


def compact(array):
    """The same values, in buffers that hold nothing else."""
    batch = pa.RecordBatch.from_arrays([array], ["column"])
    return pa.ipc.read_record_batch(batch.serialize(), batch.schema).column(0)


class Piece:
    """What is known of a piece: where it lies in its row group, and how to make an array of it.

    `buffers` has the bytes of each buffer, or -1 where Arrow has none; `nodes` the lengths and the
    numbers of nulls of the array and its children.
    """

    __slots__ = ("at", "buffers", "checksum", "nbytes", "nodes", "ranges")

    def __init__(self, at, nbytes, checksum, buffers, nodes):
        self.at = at
        self.nbytes = nbytes
        self.checksum = checksum
        self.buffers = buffers
        self.nodes = nodes
        begins = np.cumsum([0] + [rounded(max(each, 0)) for each in buffers]).tolist()
        self.ranges = [
            None if size < 0 else (begin, size) for begin, size in zip(begins, buffers, strict=False)
        ]

    @property
    def end(self):
        return self.at + self.nbytes


def size_of(buffers):
    """The bytes of a piece."""
    return sum(rounded(max(each, 0)) for each in buffers)


def pack(table):
    """The columns of some rows, one after the other: their Pieces, and their bytes."""
    arrays = [compact(_one(column)) for column in table.columns]
    sizes = [[-1 if each is None else each.size for each in array.buffers()] for array in arrays]
    packed = np.zeros(sum(map(size_of, sizes)), "uint8")
    pieces, at = [], 0
    for array, own in zip(arrays, sizes, strict=True):
        begin = at
        for buffer in array.buffers():
            if buffer is not None and buffer.size:
                packed[at : at + buffer.size] = np.frombuffer(buffer, "uint8")
                at += rounded(buffer.size)
        pieces.append(Piece(begin, at - begin, checksum(packed[begin:at]), own, _nodes(array)))
    return pieces, packed


def _one(column):
    """The chunks of a column as one array."""
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def checksum(memory):
    return xxhash.xxh3_64_intdigest(memory)


def array_of(kind, piece, buffer):
    """The array of a piece whose bytes are in `buffer`, without a copy.

    Raises pyarrow.ArrowInvalid if they are too few.
    """
    buffers = [None if each is None else buffer.slice(*each) for each in piece.ranges]
    if not kind.num_fields:
        length, nulls = piece.nodes
        array = pa.Array.from_buffers(kind, length, buffers, nulls)
    else:
        array = _nested(kind, iter(piece.nodes), iter(buffers))
    array.validate()
    return array


def _nested(kind, nodes, buffers):
    length, nulls = next(nodes), next(nodes)
    own = [next(buffers) for _ in range(kind.num_buffers)]
    fields = [kind.field(child).type for child in range(kind.num_fields)]
    children = [_nested(field, nodes, buffers) for field in fields]
    return pa.Array.from_buffers(kind, length, own, nulls, 0, children or None)
