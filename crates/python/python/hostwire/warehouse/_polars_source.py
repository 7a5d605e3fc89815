"""Tables of a warehouse for Polars: as a source of its streaming engine."""

import datetime
import decimal
import functools
import json
import operator

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from polars.io.plugins import register_io_source

_SIGNS = {
    "Lt": operator.lt,
    "LtEq": operator.le,
    "Gt": operator.gt,
    "GtEq": operator.ge,
    "Eq": operator.eq,
}
# The same comparison with its sides exchanged.
_TURNED = {"Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq", "Eq": "Eq"}


def frame(table):
    """A lazy frame over a table."""
    schema = pl.from_arrow(table.schema.empty_table()).schema

    def source(with_columns, predicate, n_rows, batch_size):
        names = table.names if with_columns is None else with_columns
        groups = None
        if predicate is not None:
            wanted = set(names) | set(predicate.meta.root_names())
            columns = [name for name in table.names if name in wanted]
            groups = _implied(predicate, table.schema)
        else:
            columns = list(names)
        left = n_rows
        for batch in table.scanner(columns, only_groups_of=groups).to_batches():
            found = pl.from_arrow(batch)
            del batch
            if predicate is not None:
                found = found.filter(predicate)
            if left is not None:
                found = found.head(left)
                left -= len(found)
            yield found.select(names)
            if left == 0:
                return

    return register_io_source(source, schema=schema)


def _implied(predicate, schema):
    """What of a predicate of Polars can be said to Arrow: each row that Polars keeps matches it. None
    if nothing can."""
    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
    except (ValueError, pl.exceptions.PolarsError):
        return None
    known = [said for part in _conjuncts(tree) if (said := _comparison(part, schema)) is not None]
    return functools.reduce(operator.and_, known) if known else None


def _conjuncts(tree):
    binary = tree.get("BinaryExpr") if isinstance(tree, dict) else None
    if isinstance(binary, dict) and binary.get("op") == "And":
        return _conjuncts(binary["left"]) + _conjuncts(binary["right"])
    return [tree]


def _comparison(tree, schema):
    """`column < literal` and the like, as an expression of Arrow."""
    binary = tree.get("BinaryExpr") if isinstance(tree, dict) else None
    if not isinstance(binary, dict) or binary.get("op") not in _SIGNS:
        return None
    left, right, sign = binary["left"], binary["right"], binary["op"]
    if _column(left) is None:
        left, right, sign = right, left, _TURNED[sign]
    name, value = _column(left), _literal(right)
    if name is None or value is None or name not in schema.names:
        return None
    try:
        scalar = pa.scalar(value).cast(schema.field(name).type)
    except (pa.ArrowException, ValueError):
        return None
    return _SIGNS[sign](pc.field(name), scalar)


def _column(tree):
    name = tree.get("Column") if isinstance(tree, dict) else None
    return name if isinstance(name, str) else None


def _literal(tree):
    literal = tree.get("Literal") if isinstance(tree, dict) else None
    if not isinstance(literal, dict):
        return None
    # Without and with a type of its own.
    scalar = literal.get("Dyn", literal.get("Scalar"))
    if not isinstance(scalar, dict) or len(scalar) != 1:
        return None
    (kind, value), *_ = scalar.items()
    if kind.startswith(("Int", "UInt")) and isinstance(value, int):
        return value
    if kind == "String" and isinstance(value, str):
        return value
    if kind == "Date" and isinstance(value, int):
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=value)
    if kind == "Decimal" and isinstance(value, list) and len(value) == 3:
        return decimal.Decimal(value[0]).scaleb(-value[2])
    return None
